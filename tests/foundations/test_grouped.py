"""Grouped releases: a reply for each key in public order, one cost, and the marks of every reply."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.grouped import MOST_SHOWN, GroupedRelease
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import NOT_PRIVATE, Interval, NoReply, Release

COST = PrivacyCost(0.5, 1e-6, "add_remove", "person")
EVIL = "<script>alert('1')</script>&\"x\""


def released(value: Any, *, private: bool = True, interval: Interval | None = None) -> Release:
    return Release("median(income)", value, COST, "universal", "pure epsilon-DP", private, interval)


def refused(*, private: bool = True) -> NoReply:
    return NoReply("median(income)", COST, "universal", "The test failed.", "Ask with more epsilon.", private)


def by_region(replies: Any, **more: Any) -> GroupedRelease:
    return GroupedRelease("median(income) by region", ("region",), replies, COST, **more)


def by_region_and_year(private: bool = True) -> GroupedRelease:
    replies: dict[Any, Release | NoReply] = {
        ("south", 2021): refused(private=private),
        ("north", 2020): released(41.5, interval=Interval(40, 43.25, 0.95, "the noise"), private=private),
        ("north", 2019): released(3, private=private),
    }
    return GroupedRelease("median(income) by region, year", ("region", "year"), replies, COST, (("keys", "public"),), private)


def strictly(text: str) -> Any:
    return json.loads(text, parse_constant=pytest.fail)


# A mapping


def test_it_is_a_mapping_in_the_order_of_the_keys() -> None:
    grouped = by_region({"south": released(2), 10: released(1), "north": refused(), 2.5: released(0)})
    assert list(grouped) == [2.5, 10, "north", "south"]
    assert len(grouped) == 4
    assert grouped["south"].value == 2
    assert "west" not in grouped
    with pytest.raises(KeyError):
        _ = grouped["west"]
    assert [type(reply) for reply in grouped.values()] == [Release, Release, NoReply, Release]


def test_the_order_of_the_replies_that_came_in_does_not_show() -> None:
    replies = {"b": released(2), "a": released(1), "c": refused()}
    backwards = dict(reversed(replies.items()))
    assert str(by_region(replies)) == str(by_region(backwards))
    assert by_region(replies).to_json() == by_region(backwards).to_json()


def test_values_by_key_have_none_where_there_was_no_reply() -> None:
    assert by_region_and_year().values_by_key == {("north", 2019): 3, ("north", 2020): 41.5, ("south", 2021): None}


def test_no_group_at_all_is_still_an_answer() -> None:
    grouped = by_region({})
    assert grouped
    assert len(grouped) == len(grouped.rows()) == 0
    assert str(grouped).splitlines()[1:] == ["  region  value", "cost epsilon = 0.5, delta = 0.000001, for all groups together"]
    assert grouped.card().to_dict()["replies"] == "0 of 0 groups by region"


@pytest.mark.parametrize(
    ("by", "key"), [(("region",), ("north",)), (("region", "year"), "north"), (("region", "year"), ("north", 2020, 1)), ((), "a")]
)
def test_a_key_has_a_label_for_each_column(by: tuple[str, ...], key: Any) -> None:
    with pytest.raises(InvalidParameterError, match="one label for each column of `by`"):
        GroupedRelease("q", by, {key: released(1)}, COST)


def test_it_is_frozen_and_can_be_copied_with_other_notes() -> None:
    grouped = by_region_and_year()
    with pytest.raises(dataclasses.FrozenInstanceError):
        grouped.private = True  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(grouped)) == copy.deepcopy(grouped) == grouped
    noted = dataclasses.replace(grouped, notes=(*grouped.notes, ("archive", "answered before")))
    assert noted.card().to_dict()["archive"] == "answered before"
    assert noted.replies == grouped.replies


# For people


def test_it_prints_as_an_aligned_table_with_its_cost() -> None:
    assert str(by_region_and_year()) == (
        "median(income) by region, year\n"
        "  region  year  value     interval\n"
        "  north   2019  3         unknown\n"
        "  north   2020  41.5      40 to 43.25 (95%)\n"
        "  south   2021  no reply\n"
        "south, 2021: The test failed. Ask with more epsilon.\n"
        "cost epsilon = 0.5, delta = 0.000001, for all groups together"
    )
    shown = "GroupedRelease(median(income) by region, year, 3 groups, cost epsilon = 0.5, delta = 0.000001: print it)"
    assert repr(by_region_and_year()) == shown


def test_the_card_has_one_cost_for_all_groups() -> None:
    assert str(by_region_and_year().card()) == (
        "median(income) by region, year\n"
        "  replies     2 of 3 groups by region, year\n"
        "  cost        epsilon = 0.5, delta = 0.000001, for all groups together\n"
        "  protects    neighbours: one person added or removed; the number of rows is private\n"
        "  method      universal\n"
        "  randomness  cryptographic, from the operating system\n"
        "  claim       pure epsilon-DP\n"
        "  keys        public"
    )


def test_very_many_groups_are_shortened_for_people_and_kept_for_programs() -> None:
    grouped = by_region({number: released(number) for number in range(1_000)})
    assert len(str(grouped).splitlines()) == 1 + 1 + MOST_SHOWN + 2
    assert "... 1,000 groups in all" in str(grouped)
    assert "... 1,000 groups in all" in grouped._repr_html_()
    assert len(grouped.rows()) == len(strictly(grouped.to_json())["groups"]) == 1_000
    assert "groups in all" not in str(by_region({number: released(number) for number in range(MOST_SHOWN)}))


def test_many_values_in_a_group_are_shortened_too() -> None:
    grouped = by_region({"north": released(tuple(range(100)))})
    assert "0, 1, 2, 3, 4, ... 100 values in all" in str(grouped)
    assert grouped.rows()[0]["value"] == list(range(100))


@pytest.mark.parametrize("label", ["a\n  cost  epsilon = 0", "\x1b[31mred", "", "  "])
def test_a_label_or_a_column_cannot_write_lines_of_its_own(label: str) -> None:
    grouped = GroupedRelease("q", (label,), {label: released(label)}, COST)
    assert str(grouped).count(ascii(label)) == 3
    assert len(str(grouped).splitlines()) == 4
    assert str(grouped.card()).count("\n") == len(grouped.card().lines)
    assert list(grouped) == [label]


class Tags(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_malicious_labels_columns_values_and_questions_are_escaped() -> None:
    grouped = GroupedRelease(EVIL, (EVIL,), {EVIL: released(EVIL)}, COST)
    page = Tags()
    page.feed(grouped._repr_html_())
    assert set(page.tags) <= {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"}
    assert page.text.count(EVIL) == 4


def test_seeded_replies_are_marked_everywhere() -> None:
    marked, clean = by_region_and_year(private=False), by_region_and_year()
    for show in (str, repr, lambda grouped: str(grouped.card()), lambda grouped: grouped._repr_html_()):
        assert NOT_PRIVATE in show(marked)
        assert "NOT PRIVATE" not in show(clean)
    assert f'color:#c00;font-weight:bold">{NOT_PRIVATE}' in marked._repr_html_()
    assert "#c00" not in clean._repr_html_()
    assert strictly(marked.to_json())["private"] is False
    assert str(marked.card().to_dict()["claim"]).startswith("none, because the source is seeded")


def test_one_seeded_reply_is_enough_for_the_mark() -> None:
    assert not by_region({"a": released(1), "b": released(2, private=False)}).private
    assert not by_region({"a": released(1)}, private=False).private
    assert by_region({"a": released(1), "b": refused()}).private


# For programs


def test_json_is_the_dictionary_and_comes_back_the_same() -> None:
    grouped = by_region_and_year()
    document = strictly(grouped.to_json())
    assert document == grouped.to_dict()
    assert document["by"] == ["region", "year"]
    assert [group["key"] for group in document["groups"]] == [["north", 2019], ["north", 2020], ["south", 2021]]
    assert [group["reply"] for group in document["groups"]] == [True, True, False]
    assert document["groups"][1]["interval"]["high"] == 43.25
    assert document["cost"] == COST.to_dict()
    assert document["notes"] == {"keys": "public"}
    assert strictly(by_region({math.inf: released(math.nan)}).to_json())["groups"][0]["key"] == ["inf"]


def test_rows_have_the_key_columns_the_value_and_the_interval_where_there_is_one() -> None:
    assert by_region_and_year().rows() == [
        {"region": "north", "year": 2019, "value": 3, "low": None, "high": None},
        {"region": "north", "year": 2020, "value": 41.5, "low": 40, "high": 43.25},
        {"region": "south", "year": 2021, "value": None, "low": None, "high": None},
    ]
    assert by_region({"a": released(np.float64(0.5))}).rows() == [{"region": "a", "value": 0.5}]


def test_a_key_column_keeps_its_name_and_loses_nothing_to_the_value() -> None:
    interval = Interval(0.0, 2.0, 0.9, "the noise")
    grouped = GroupedRelease("q", ("value", "low"), {("a", 7): released(1.0, interval=interval)}, COST)
    assert grouped.rows() == [{"value": "a", "low": 7, "value_": 1.0, "low_": 0.0, "high": 2.0}]


def test_data_frames_take_the_rows() -> None:
    rows = by_region_and_year().rows()
    frame = pd.DataFrame(rows)
    assert list(frame.columns) == ["region", "year", "value", "low", "high"]
    assert frame["value"].tolist()[:2] == [3.0, 41.5]
    assert pl.DataFrame(rows, infer_schema_length=None)["value"].to_list() == [3.0, 41.5, None]
    late = by_region({number: released(number if number < 500 else 0.5) for number in range(501)}).rows()
    assert pl.DataFrame(late, infer_schema_length=None)["value"].to_list()[-1] == 0.5


class Line:
    """A value that names its numbers."""

    def __init__(self, intercept: float, slope: float) -> None:
        self.numbers = (("Intercept", intercept), ("age", slope))

    def named_values(self) -> tuple[tuple[str, float], ...]:
        return self.numbers


def fitted(intercept: float, slope: float, **more: Any) -> Release:
    return dataclasses.replace(released(Line(intercept, slope)), **more)


def test_numbers_with_names_have_a_line_and_a_row_each() -> None:
    ends = (Interval(0.0, 2.0, 0.9, "noise"), Interval(2.0, 4.0, 0.9, "noise"))
    grouped = by_region({"a": fitted(1.0, 3.0, intervals=ends), "b": refused(), "c": fitted(1 / 3, 2.5)})
    assert str(grouped).splitlines()[1:7] == [
        "  region  name       value     interval",
        "  a       Intercept  1         0 to 2 (90%)",
        "          age        3         2 to 4 (90%)",
        "  b                  no reply",
        "  c       Intercept  0.333333  unknown",
        "          age        2.5       unknown",
    ]
    assert grouped.rows()[:3] == [
        {"region": "a", "name": "Intercept", "value": 1.0, "low": 0.0, "high": 2.0},
        {"region": "a", "name": "age", "value": 3.0, "low": 2.0, "high": 4.0},
        {"region": "b", "name": None, "value": None, "low": None, "high": None},
    ]
    assert len(grouped.rows()) == 5
    assert grouped._repr_html_().count("<tr>") == 1 + 5 + len(grouped._foot())


def test_as_many_lines_are_shown_whatever_a_group_has() -> None:
    grouped = by_region({number: fitted(0.0, 1.0) for number in range(MOST_SHOWN)})
    assert str(grouped).count("Intercept") == MOST_SHOWN // 2
    assert f"... {MOST_SHOWN} groups in all" in str(grouped)
