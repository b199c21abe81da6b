"""Every table of measurements in the documentation has a picture below it, and the picture is that of the table as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.make_pictures import PICTURES, Table, draw, measured_columns, number_in, pages, put_links, tables_of

TABLES = [table for page in pages() for table in tables_of(page)]
RENEW = "run python benchmarks/make_pictures.py"
MEASURED = "# Page\n\n| call | ms | met |\n| --- | --- | --- |\n| a | 1.5 | yes |\n| b | 2,000 +- 3 | **no** |\n\nText.\n"
WORDS = "| what | how |\n| --- | --- |\n| columns | by name |\n"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.page.stem}-{table.place}")
def test_a_table_has_its_picture_up_to_date(table: Table) -> None:
    assert table.picture.exists(), RENEW
    assert table.description in table.picture.read_text(encoding="utf-8"), RENEW
    assert table.link in table.page.read_text(encoding="utf-8").split("\n")[table.end : table.end + 2], RENEW


def test_no_picture_of_a_table_is_left_over() -> None:
    stems = {page.stem.lower() for page in pages()}
    numbered = {path for path in PICTURES.glob("*-*.svg") if path.stem.rpartition("-")[0] in stems and path.stem[-1].isdigit()}
    assert numbered <= {table.picture for table in TABLES}


def test_tables_of_measurements_are_told_from_tables_of_words(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{MEASURED}\n```text\n{MEASURED}```\n\n{WORDS}", encoding="utf-8")
    (table,) = tables_of(page)
    assert table.labels() == ["a", "b"]
    assert [table.headings[place] for place in table.measured()] == ["ms"]
    assert measured_columns(["what", "how"], [["columns", "by name"]]) == []


def test_a_changed_table_has_another_description(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(MEASURED, encoding="utf-8")
    before = tables_of(page)[0].description
    page.write_text(MEASURED.replace("1.5", "1.6"), encoding="utf-8")
    assert tables_of(page)[0].description != before


def test_the_link_is_put_below_the_table_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("benchmarks.make_pictures.PICTURES", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(MEASURED, encoding="utf-8")
    for _ in range(2):
        put_links(page, tables_of(page))
    text = page.read_text(encoding="utf-8")
    assert text == MEASURED.replace("**no** |\n", "**no** |\n\n![The table above as a picture](page-1.svg)\n")
    draw(tables_of(page)[0])
    assert tables_of(page)[0].description in (tmp_path / "page-1.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("0.029 +- 0.001", 0.029),
        ("1.02 / 0.97 = 1.05", 1.05),
        ("81,674", 81674.0),
        ("9.1e-05", 9.1e-05),
        ("100.00%", 100.0),
        ("**0.5** (10% reply)", 0.5),
        (".3", 0.3),
        ("no reply", None),
        ("-", None),
        ("", None),
    ],
)
def test_numbers_are_read_as_they_are_written(cell: str, number: float | None) -> None:
    assert number_in(cell) == number
