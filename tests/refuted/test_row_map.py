"""One row more changes nothing about how the others are read: refutations of that, each as neighbouring tables.

They hold for containers whose elements have no declared type: lists, tuples, object arrays, object Series, CSV files.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.foundations.errors import DataTypeError, DpstatsError
from dpstats.testing import seeded


def object_array(rows: Sequence[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


UNTYPED: dict[str, Callable[[Sequence[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "object array": object_array,
    "object Series": lambda rows: pd.Series(rows, dtype=object),
}


def session_of(table: Any, **words: Any) -> Any:
    return dp.protect(table, unit="row", budget=dp.Budget(epsilon=1000, delta=0.1), ledger=":memory:", allow_seeded=True, **words)


# 1. A float among whole numbers


@pytest.mark.parametrize("container", UNTYPED)
def test_a_float_among_whole_numbers_moves_the_counts_of_a_sign_test_by_one(container: str) -> None:
    """With one seed the noise is the same, so that the noisy counts differ by what the raw ones do."""
    counts = []
    for rows in ([5] * 2000, [5] * 2000 + [7.5]):
        release = dp.sign_test(UNTYPED[container](rows), "5.00000000000000000001", epsilon=0.01, rng=seeded(1))
        assert isinstance(release, dp.Release)
        counts.append(np.array(release.value.rows))
    assert np.abs(counts[1] - counts[0]).sum() <= 1


# 2. A float among whole numbers that floats cannot hold


@pytest.mark.parametrize("container", UNTYPED)
def test_a_float_among_large_whole_numbers_moves_the_gap_of_a_ks_test_by_one_row(container: str) -> None:
    gaps = []
    for rows in ([10**17 + place for place in range(400)], [10**17 + place for place in range(400)] + [0.5]):
        words = {"distribution": "uniform", "loc": 10**17, "scale": 400, "epsilon": 50}
        release = dp.ks_test(UNTYPED[container](rows), **words, rng=seeded(1))
        assert isinstance(release, dp.Release)
        gaps.append(release.value.statistic * release.value.rows[0])
    assert abs(gaps[1] - gaps[0]) <= 1 + 1e-6


# 3. A text among few numbers and many missing rows

SPARSE = [None] * 600 + [1, 2, 3, 4] * 100


def outcome_of(ask: Callable[[], Any]) -> tuple[Any, ...]:
    """How a question ends, as far as that must not depend on a row: the class of an error, or method and cost."""
    try:
        reply = ask()
    except DpstatsError as error:
        return type(error), str(error)
    return type(reply), reply.method, reply.cost


@pytest.mark.parametrize(
    "words", [{}, {"delta": 1e-6}, {"bins": 4}, {"kind": "numbers"}, {"kind": "labels", "delta": 1e-6}], ids=str
)
@pytest.mark.parametrize("container", UNTYPED)
def test_a_text_among_numbers_and_missing_rows_changes_nothing_about_how_a_histogram_ends(
    container: str, words: dict[str, Any]
) -> None:
    ends = [
        outcome_of(lambda rows=rows: dp.histogram(UNTYPED[container](rows), **words, epsilon=1, rng=seeded(1)))  # type: ignore[misc]
        for rows in (SPARSE, [*SPARSE, "x"])
    ]
    assert ends[0] == ends[1]


def asked_of_csv(path: Path, rows: Sequence[Any], *words: str) -> tuple[int, list[str]]:
    """The exit code of `dpstats ask`, and the lines that say what was spent, or what was wrong."""
    path.write_text("\n".join(["x,y", *(f"{'' if row is None else row},1" for row in rows)]) + "\n", encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["ask", str(path), "histogram(x)", "--epsilon", "1", "--seed", "1", "--card", *words])
    said = (out.getvalue() + err.getvalue()).splitlines()
    return code, [line for line in said if line.strip().startswith(("cost", "method", "dpstats:"))]


@pytest.mark.parametrize("words", [(), ("--delta", "1e-6")], ids=str)
def test_a_text_among_the_numbers_of_a_csv_file_changes_nothing_about_how_a_histogram_ends(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """A tie of numbers and texts, which one more text tips."""
    rows = [1, 2, 3, 4] * 50 + ["x"] * 200
    assert asked_of_csv(tmp_path / "a.csv", rows, *words) == asked_of_csv(tmp_path / "b.csv", [*rows, "x"], *words)


# 4. A fraction among the whole numbers of a category

FIVES = [5] * 300 + [6] * 100


def labels_by_function(name: str, series: Any) -> Any:
    """What a function calls the labels of a column, or counts of the listed ones; with one seed the noise is the same."""
    if name == "mode":
        return str(dp.mode(series, epsilon=5, delta=1e-3, rng=seeded(1)).value)
    if name == "histogram":
        found = dp.histogram(series, epsilon=5, delta=1e-3, rng=seeded(1)).value
        return sorted(map(str, found.labels))
    return dp.goodness_of_fit_test(series, {"5": 0.75, "6": 0.25}, epsilon=5, rng=seeded(1)).value.rows


def labels_by_session(name: str, series: Any) -> Any:
    session = session_of(pd.DataFrame({"x": series}))
    if name == "mode":
        return str(session.mode("x", epsilon=5, delta=1e-3, rng=seeded(1)).value)
    if name == "histogram":
        return sorted(map(str, session.histogram("x", epsilon=5, delta=1e-3, rng=seeded(1)).value.labels))
    return session.goodness_of_fit_test("x", {"5": 0.75, "6": 0.25}, epsilon=5, rng=seeded(1)).value.rows


@pytest.mark.parametrize(
    "ask",
    [
        labels_by_function,
        labels_by_session,
    ],
)
@pytest.mark.parametrize("name", ["mode", "histogram", "goodness_of_fit_test"])
def test_a_fraction_among_the_numbers_of_a_category_does_not_rename_the_others(name: str, ask: Callable[[str, Any], Any]) -> None:
    seen = [ask(name, pd.Series(rows, dtype="category")) for rows in (FIVES, [*FIVES, 2.5])]
    assert seen[0] == seen[1]


# The numbers of an undeclared column


def csv_of(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("\n".join(["x,y", *(f"{row},{place}" for place, row in enumerate(rows))]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "rows", [["north", "south", "12 km"] * 400, [f"{place}e{place % 12}" for place in range(1200)]], ids=["texts", "codes"]
)
def test_the_mean_of_an_undeclared_csv_column_is_refused_before_anything_is_spent(rows: list[Any], tmp_path: Path) -> None:
    session = session_of(csv_of(tmp_path / "t.csv", rows))
    before = str(session.remaining)
    with pytest.raises(DataTypeError, match="types="):
        session.mean("x", epsilon=1, rng=seeded(1))
    assert str(session.remaining) == before


@pytest.mark.parametrize(
    "types",
    [
        {"x": "number"},
        "infer",
    ],
    ids=str,
)
def test_the_mean_of_a_csv_column_that_is_declared_or_inferred_is_answered(types: Any, tmp_path: Path) -> None:
    session = session_of(csv_of(tmp_path / "t.csv", [place % 100 for place in range(2000)]), types=types)
    assert session.mean("x", epsilon=5, rng=seeded(1)).value == pytest.approx(49.5, abs=5)


def test_an_undeclared_csv_column_is_asked_about_as_labels(tmp_path: Path) -> None:
    session = session_of(csv_of(tmp_path / "t.csv", ["5", "12 km", "north"] * 400))
    found = session.histogram("x", epsilon=5, delta=1e-3, rng=seeded(1))
    assert set(map(str, found.value.labels)) == {"5", "12 km", "north"}
