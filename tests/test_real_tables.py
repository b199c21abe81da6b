"""The page of real tables is that of the kept results, and its measures judge as they say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.make_real_pictures import DRAWN, PAGE, PICTURES, RESULTS, digest, filled
from benchmarks.real_tables.cells import jobs
from benchmarks.real_tables.jobs import Job
from benchmarks.real_tables.measures import CLOSE, NEAR, Cell, Value, _error_ratio, measure, shortfalls
from benchmarks.real_tables.questions import Answered, Question, Reply
from benchmarks.real_tables.report import load, save
from benchmarks.real_tables.tables import Columns

CELLS = load(RESULTS)


def test_the_page_is_made_of_the_results() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, CELLS) == page, "run python benchmarks/make_real_pictures.py"


@pytest.mark.parametrize("name", DRAWN)
def test_the_pictures_are_up_to_date(name: str) -> None:
    assert f"real tables {digest(CELLS)}" in (PICTURES / name).read_text(encoding="utf-8")


def test_the_results_are_those_of_the_cells() -> None:
    assert {cell.name for cell in CELLS} == {job.name_at(epsilon) for job in jobs() for epsilon in job.epsilons}
    assert len(CELLS) >= 40
    assert len({cell.table for cell in CELLS}) >= 12


def test_another_coverage_has_another_digest() -> None:
    value = Value("mean", 1000, 200, 0.95, True, 0, 1, 1, None)
    cell = Cell("mean", "mean", "wine", 100, 1, 200, 1, 0.1, (value,))
    assert digest([cell]) != digest([replace(cell, values=(replace(value, coverage=0.94),))])
    assert digest([cell]) == digest([replace(cell, seconds=0.2)])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"coverage": 0.925}, ["held in 92%"]),
        ({"coverage": 0.925, "chance": True}, ["may be chance"]),
        ({"open": 0.06}, ["open or unknown"]),
        ({"wild": 0.005}, ["nonsense in 0.5%"]),
        ({"error": 1.4}, ["aim 1.3"]),
        ({"error": 1.4, "limit": None}, []),
        ({"squares": 1.6}, ["root mean squared error 1.6"]),
        ({"squares": 1.6, "limit": NEAR}, []),
        ({"coverage": 0.86, "usual_coverage": 0.9}, []),
        ({"coverage": 0.84, "usual_coverage": 0.9}, ["held in 84% (usual 90%)"]),
        ({"coverage": 0.92, "usual_coverage": 0.95}, ["held in 92%"]),
        ({"error": None}, ["infinitely"]),
        ({"replies": 0, "coverage": None, "error": None}, ["no reply"]),
        ({"replies": 0, "coverage": None, "error": None, "limit": None}, []),
        ({"replies": 15, "coverage": 0.0, "error": None, "limit": None}, ["held in 0%"]),
        ({"replies": 9, "coverage": 0.0, "error": None, "limit": None}, []),
    ],
)
def test_a_number_falls_short_of_its_aims(changes: dict[str, object], words: list[str]) -> None:
    value = replace(Value("mean", 5000, 200, 0.95, False, 0.0, 1.2, 1.0, CLOSE), **changes)
    reasons = shortfalls(value, 200)
    assert len(reasons) == len(words)
    assert all(word in reason for word, reason in zip(words, reasons, strict=True))


def made_up(replies: list[Reply | None], coefficients: int = 0, samples: int = 0) -> Cell:
    """A question about wines whose replies are given one by one; where there are no more of them, it raises."""
    left = iter(replies)
    question = Question(
        "mean",
        "proline",
        "wine",
        ("proline",),
        ("mean",),
        lambda rows, **spend: Answered((next(left),)),
        lambda rows: np.array([rows["proline"].mean()]),
        coefficients=coefficients,
    )
    (cell,) = measure(Job(question, 178, (20,)), samples or len(replies))
    return cell


def test_no_reply_is_no_miss_and_an_unknown_interval_is_open() -> None:
    held, missed, unknown = Reply(747.0, 0, 1000), Reply(747.0, 0, 1), Reply(747.0, math.nan, math.nan)
    cell = made_up([held, held, held, missed, unknown, Reply(747.0, 0, math.inf), None, None])
    (value,) = cell.values
    assert (value.replies, value.coverage, value.open) == (6, 4 / 5, 2 / 6)
    assert cell.replies == 6 / 8
    assert value.error is not None
    assert value.error < 1


@pytest.mark.parametrize(
    ("errors", "usual", "ratio"),
    [([2, 2, 8], [1, 1, 1], 2), ([0, 3, 3], [0, 0, 3], 2), ([0, 0], [0, 0], 1), ([1, 1], [0, 0], None)],
)
def test_errors_are_compared_by_medians_or_where_these_are_0_by_means(
    errors: list[float], usual: list[float], ratio: float | None
) -> None:
    assert _error_ratio(np.array(errors), np.array(usual)) == ratio


def test_answers_far_out_are_nonsense() -> None:
    (value,) = made_up([Reply(747.0, 0, 1000), Reply(1e9, 0, 1e10)] * 4).values
    assert (value.wild, value.coverage) == (0.5, 1)


def test_answers_off_by_many_of_their_own_widths_are_nonsense() -> None:
    narrow, wide = Reply(900.0, 890, 910), Reply(900.0, 700, 1100)
    (value,) = made_up([narrow, wide] * 4).values
    assert value.wild == 0.5


def test_a_coverage_is_surely_low_only_where_chance_cannot_explain_it() -> None:
    held, missed = Reply(747.0, 0, 1000), Reply(747.0, 0, 1)
    assert made_up([held] * 80 + [missed] * 20).values[0].surely_below
    assert not made_up([held] * 90 + [missed] * 10).values[0].surely_below


def test_persons_are_drawn_with_all_their_rows() -> None:
    seen: list[Columns] = []

    def ask(rows: Columns, **spend: object) -> Answered:
        seen.append(rows)
        return Answered((Reply(0.0, 0, 1),))

    question = Question(
        "mean", "y", "drawn panel 4 x 0.5", ("person", "x"), ("mean",), ask, lambda rows: np.array([0.5]), unit="person"
    )
    measure(Job(question, 300, (1,)), 1)
    (rows,) = seen
    people, counts = np.unique(rows["person"], return_counts=True)
    assert (len(people), set(counts.tolist())) == (300, {4})


def test_an_error_is_no_reply_and_falls_short() -> None:
    cell = made_up([Reply(747.0, 0, 1000)] * 9, samples=10)
    assert cell.replies == 0.9
    assert cell.short == ("raised in 1 of 10 samples: StopIteration: ",)


def test_regressions_are_asked_for_five_thousand_rows_for_each_coefficient() -> None:
    assert made_up([None]).values[0].limit == CLOSE
    assert made_up([None], coefficients=2).values[0].limit == NEAR


def test_results_come_back_as_they_were_kept(tmp_path: object) -> None:
    path = tmp_path / "results.json"
    save(path, CELLS)
    assert load(path) == CELLS
