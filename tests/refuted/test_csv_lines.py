"""A broken line of a CSV file is a row whose unit cannot be told: nobody gets past the bound on rows by breaking lines."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.engines.stores.lines import broken_lines
from tests.fresh_ledgers import forget_ledgers_in_memory

HUGE = 10_000  # an epsilon at which noise vanishes
OTHERS = 1_000
BREAKS = {
    "a quoted line break": 'zoe,"first\nsecond",9',
    "a quoted line break with commas after it": 'zoe,"first\nlisa{row},second",9',
    "a quote left open": 'zoe,"first,9',
    "a quote left open before the id": '"zoe{row},first,9',
    "a quote after a closed one": 'zo"e{row}",first,9',
    "a letter after a closed quote": '"zoe"{row},first,9',
    "a cell beyond all measure": 'zoe,"' + "x" * 140_000 + '",9',
    "too few cells": "zoe{row},9",
    "too many cells": "zoe{row},first,9,more",
    "an empty line": "",
}


def used_rows(folder: Path, lines: list[str], missing_unit: str, first: str = "person,note,code") -> tuple[int, int]:
    """How many rows a session uses, and how many of them say 9."""
    file = folder / "visits.csv"
    file.write_text("\n".join([first, *(f"p{row},fine,7" for row in range(OTHERS)), *lines]) + "\n")
    forget_ledgers_in_memory()
    visits = dp.protect(
        file,
        unit="person",
        max_rows_per_unit=1,
        missing_unit=missing_unit,
        budget=dp.Budget(epsilon=10**9, delta=0.01),
        ledger=":memory:",
    )
    return visits.count(epsilon=HUGE).value, visits.where("code == '9'").count(epsilon=HUGE).value


@pytest.mark.parametrize("missing_unit", ["drop", "each", "together"])
@pytest.mark.parametrize("broken", BREAKS)
def test_a_person_of_300_broken_lines_adds_no_more_rows_than_the_bound(tmp_path: Path, broken: str, missing_unit: str) -> None:
    lines = [BREAKS[broken].replace("{row}", str(row)) for row in range(300)]
    rows, nines = used_rows(tmp_path, lines, missing_unit)
    assert OTHERS <= rows <= OTHERS + 1
    assert nines <= 1


@pytest.mark.parametrize("line", ['"zoe",fine,9', '"zoe" , "so, ""fine""" ,9', " zoe,fine,9\r", 'zoe,"",9', "zoe,fi\rne,9"])
def test_a_line_with_closed_quotes_is_a_row_of_its_person(tmp_path: Path, line: str) -> None:
    assert used_rows(tmp_path, [line, "zoe,fine,9"], "each") == (OTHERS + 1, 1)


def test_a_whole_line_without_an_id_is_a_row_without_an_id(tmp_path: Path) -> None:
    assert used_rows(tmp_path, [",fine,9", '"","fine",9'], "each") == (OTHERS + 2, 2)
    assert used_rows(tmp_path, [",fine,9", '"","fine",9'], "together") == (OTHERS + 1, 1)


def test_a_broken_line_is_still_a_row_where_every_row_is_somebody_else(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text('person,note,code\na,fine,7\nb,"open,7\nc\n\n')
    visits = dp.protect(file, unit="row", budget=dp.Budget(epsilon=10**9), ledger=":memory:")
    assert visits.count(epsilon=HUGE).value == 4


@settings(deadline=None)
@given(
    st.lists(st.lists(st.text(alphabet='a", \té1'), min_size=3, max_size=3), min_size=1),
    st.sampled_from(",\t"),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_line_that_was_written_as_csv_is_not_broken_and_one_cell_more_or_less_breaks_it(
    rows: list[list[str]], separator: str, quoting: int
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    block = text.getvalue().encode()
    assert broken_lines(block, separator, 3).to_list() == [False] * len(rows)
    assert broken_lines(block, separator, 2).to_list() == broken_lines(block, separator, 4).to_list() == [True] * len(rows)
