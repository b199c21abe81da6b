"""Tables of text: columns line up, headings line up, and nothing in a cell reaches HTML as markup."""

from __future__ import annotations

from dpstats.foundations.text_tables import (
    headed_lines,
    html_cell,
    html_named_table,
    html_table,
    ruled_table,
    shortened,
    table_lines,
)


def test_columns_line_up_on_the_left_unless_told_otherwise() -> None:
    assert table_lines([["name", "rows"], ["a", "12,000"], ["longer", ""]]) == ["name    rows", "a       12,000", "longer"]
    assert table_lines([["name", "rows"], ["a", "12,000"]], left={0}) == ["name    rows", "a     12,000"]


def test_texts_stand_below_each_other_behind_their_headings() -> None:
    assert headed_lines({"cost": "epsilon = 1", "method": "universal"}) == ["  cost    epsilon = 1", "  method  universal"]
    assert headed_lines([]) == []


def test_rules_are_as_wide_as_the_widest_line() -> None:
    assert ruled_table(["A heading", "fact: 1"], [["", "coef"], ["x", "1.5"]], ["below"]) == [
        "A heading",
        "=========",
        "fact: 1",
        "=========",
        "   coef",
        "---------",
        "x   1.5",
        "=========",
        "below",
    ]


def test_a_long_text_ends_in_three_dots_at_the_longest_length() -> None:
    assert [shortened("abcdefgh", longest) for longest in (8, 7)] == ["abcdefgh", "abcd..."]


def test_markup_in_a_caption_or_a_cell_is_escaped() -> None:
    tables = [
        html_table("<i>", ["<i>"], [["<i>"]]),
        html_named_table("<i>", ["<i>"], ["<i>"], [["<i>"]]),
        html_cell("td", "<i>", ""),
    ]
    assert not any("<i>" in table for table in tables)
