"""The row map of estimators: one row more in X or y, in whatever container, is one row more for the statistic and nothing else.

Every public name of `dp.models` is fitted. What is compared is what its statistic would read: no noise is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.audit.proofs import pins
from dpstats.engines import reading
from dpstats.engines.cells import Labels, Moments, Numbers
from dpstats.foundations.registry import Question, Refusal
from dpstats.models import private_estimator, private_regression
from tests.refuted.test_row_map_property import CONTAINERS, WHOLE, Hostile, object_array

LARGE = [2**60, 2**60 + 1]
"""Labels that are one number among floats."""
WITH_LARGE = [kind for kind, each in CONTAINERS.items() if any(element is WHOLE[-1] for element in each.elements)] + [
    "numpy masked"
]
"""Containers that hold them."""


class HostileRow(list[Any]):
    """A row that fails when it is asked how long it is, or for a cell."""

    def __len__(self) -> int:
        raise RuntimeError("Ann's income")

    def __getitem__(self, place: Any) -> Any:
        raise RuntimeError("Ann's income")

    def __iter__(self) -> Any:
        raise RuntimeError("Ann's income")


# What a fit shows to its statistic


@dataclass(frozen=True)
class Shown:
    """What is public about a fit, errors and warnings included, and the cells of each row."""

    public: Any
    raw_rows: list[tuple[Any, ...]]


def shown_by(opened: Any, question: Question) -> Shown:
    """What a statistic can read of the columns that were opened for it."""
    view = replace(opened._view, complete=())
    kinds, raw_columns = [], []
    for name, kind in opened._columns:
        raw_cells: list[Any] = []
        for batch in opened._store.batches([name]):
            parts = view.on(batch).parts(name, kind)
            kinds.append((kind, [_type(part.cells) for part in parts]))
            raw_read = [_values(*part) for part in parts]
            raw_cells += [next((cell for cell in row if cell is not None), None) for row in zip(*raw_read, strict=True)]
        raw_columns.append(raw_cells)
    return Shown((str(question), repr(question.arguments), kinds), list(zip(*raw_columns, strict=True)))


def _type(cells: Any) -> Any:
    return cells.raw_values.dtype if isinstance(cells, (Numbers, Moments)) else type(cells)


def _values(cells: Any, raw_taken: Any) -> list[Any]:
    if isinstance(cells, Labels):
        found = [cells.raw_labels[code] if code >= 0 else None for code in cells.raw_codes.tolist()]
    elif isinstance(cells, (Numbers, Moments)):
        found = [str(value) for value in cells.raw_values]
    else:
        found = [None] * len(cells)
    return found if raw_taken is None else [value if taken else None for value, taken in zip(found, raw_taken, strict=True)]


@pytest.fixture(autouse=True)
def _statistics_that_only_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(question: Question, opened: Any, source: Any) -> Refusal:
        SHOWN.append(shown_by(opened, question))
        return Refusal("It only looked.", "")

    monkeypatch.setattr(Question, "run", look)


SHOWN: list[Shown] = []


def fitted(model: Any, raw_features: Any, raw_outcome: Any) -> Shown:
    """What a fit shows, or the error that it raises; and the warnings."""
    SHOWN.clear()
    error: Any = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            model.fit(raw_features, raw_outcome)
        except dp.NoReplyError:
            pass
        except Exception as raised:
            error = type(raised), str(raised)
    told = [(each.category, str(each.message)) for each in warned]
    learned = repr(model.__dict__.get("classes_")), model.__dict__.get("n_features_in_")
    if error is not None or not SHOWN:
        return Shown((error, told, learned), [])
    return replace(SHOWN[0], public=(SHOWN[0].public, told, learned))


# The property


def broken_by(fit: Callable[[list[Any]], Shown], base: Sequence[Any], odd: Sequence[Any]) -> list[str]:
    """The odd rows, one by one and all together, that change how rows before them are shown, or anything that is public."""
    plain, found = fit([*base]), []
    alone: list[Any] = []
    for added in [*([each] for each in odd), [*odd]]:
        shown = fit([*base, *added])
        if shown.public != plain.public:
            found.append(f"{list(map(type, added))}: {plain.public} became {shown.public}")
        elif shown.raw_rows[: len(base)] != plain.raw_rows:
            found.append(f"{list(map(type, added))}: {plain.raw_rows} became {shown.raw_rows[: len(base)]}")
        elif len(added) == 1:
            alone += shown.raw_rows[len(base) :]
        elif shown.raw_rows[len(base) :] != alone:
            found.append(f"odd rows alone are {alone}, together {shown.raw_rows[len(base) :]}")
    return found


def settings_of(name: str, classes: Sequence[Any]) -> list[dict[str, Any]]:
    """The parameters under which an estimator is tried: where it has classes, listed and left out."""
    if "classes" not in getattr(dp.models, name)().get_params():
        return [{}]
    same = len({*map(type, classes)}) == 1 and isinstance(classes[0], (int, float, str, bytes))
    return [{}, *([{"classes": list(classes)}] if same and classes[0] != classes[1] else [])]


def unfitted(name: str, **words: Any) -> Any:
    return getattr(dp.models, name)(epsilon=1, delta=1e-6, rng=dp.testing.seeded(1), **words)


def outcomes(rows: int) -> list[int]:
    return [1] * rows


def features(rows: int) -> Any:
    return np.full((rows, 2), 0.5)


def as_frame(column: Any, width: int) -> Any:
    """A column several times beside itself, in the two-dimensional container of its library."""
    names = [f"x{place}" for place in range(width)]
    if isinstance(column, (list, tuple)):
        return type(column)(type(column)([cell] * width) for cell in column)
    if isinstance(column, np.ndarray):
        return column[:, None].repeat(width, axis=1)
    if isinstance(column, pl.Series):
        return pl.DataFrame(dict.fromkeys(names, column))
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return pa.table(dict.fromkeys(names, column))
    return pd.DataFrame({name: pd.Series(column) for name in names})


def base_and_odd(kind: str) -> tuple[list[Any], list[Any]]:
    """Plain rows, and the odd ones of which each is added; a container of anything is tried with a few of each kind."""
    container = CONTAINERS[kind]
    base = LARGE if kind in WITH_LARGE else container.elements[:2]
    others = [each for each in container.elements if not any(each is one for one in base)]
    last = others[-3:] if len(container.elements) < 60 else [*others[:: len(others) // 9], others[-1]]
    return [*base, *base], last


@pytest.mark.parametrize("name", dp.models.__all__)
@pytest.mark.parametrize("width", [0, 1], ids=["column", "one-column frame"])
def test_a_row_more_in_y_changes_nothing_about_the_others(name: str, width: int) -> None:
    def fit(rows: list[Any]) -> Shown:
        y = CONTAINERS[kind].make(rows)
        return fitted(unfitted(name, **words), features(len(rows)), as_frame(y, width) if width else y)

    for kind in CONTAINERS:
        base, odd = base_and_odd(kind)
        for words in settings_of(name, base[:2]):
            broken = broken_by(fit, base, odd)
            assert not broken, f"{kind}, {words}: {broken[0]}"


@pytest.mark.parametrize("name", dp.models.__all__)
def test_a_row_more_in_x_changes_nothing_about_the_others(name: str) -> None:
    def fit(rows: list[Any]) -> Shown:
        return fitted(unfitted(name), as_frame(CONTAINERS[kind].make(rows), 2), outcomes(len(rows)))

    read = 0
    for kind in CONTAINERS:
        base, odd = base_and_odd(kind)
        broken = broken_by(fit, base, odd)
        assert not broken, f"{kind}: {broken[0]}"
        read += bool(fit(base).raw_rows)
    assert read > len(CONTAINERS) / 2  # in the others, of texts and dates, the declared type is an error


PLAIN_ROWS = [[1.0, 2.0], [3.0, 4.5], [0.5, 2.0]]
ODD_ROWS: list[Any] = [
    *([], [1.0], [1.0, 2.0, 3.0], (1.0, 2.0), None, 5.0, "ab", {"a": 1, "b": 2}, [None, "x"], [[1.0], [2.0]], [10**400, "5"]),
    *(np.array([1.0, 2.0]), np.array([1.0]), np.array([[1.0, 2.0]]), Hostile(), HostileRow([1.0, 2.0]), [Hostile(), 1.0]),
]
NESTED: dict[str, Callable[[list[Any]], Any]] = {
    "list of lists": list,
    "tuple of lists": tuple,
    "list of tuples": lambda rows: [tuple(rows[0]), *rows[1:]],
    "list of arrays": lambda rows: [np.array(rows[0]), *rows[1:]],
    "object array of rows": object_array,
}


@pytest.mark.parametrize("nested", NESTED)
@pytest.mark.parametrize("name", dp.models.__all__)
def test_a_row_of_another_length_in_a_nested_list_changes_nothing_about_the_others(name: str, nested: str) -> None:
    def fit(rows: list[Any]) -> Shown:
        return fitted(unfitted(name), NESTED[nested](rows), outcomes(len(rows)))

    assert fit(PLAIN_ROWS).raw_rows or nested == "object array of rows"
    broken = broken_by(fit, PLAIN_ROWS, ODD_ROWS)
    assert not broken, broken[0]


@pytest.mark.parametrize("name", dp.models.__all__)
def test_a_row_that_does_not_fit_the_first_is_missing_as_for_the_functions(name: str) -> None:
    shown = fitted(unfitted(name), [*PLAIN_ROWS, *ODD_ROWS[:3]], outcomes(6)).raw_rows
    assert [row[:2] for row in shown[3:]] == [(None, None)] * 3
    assert all(cell is not None for row in shown[:3] for cell in row)


def test_the_proof_of_the_row_map_pins_the_fit_of_every_estimator() -> None:
    pinned = {pin.name for pin in pins(Path(reading.__file__).with_suffix(".proof.md"))}
    for fit in (getattr(dp.models, name).fit for name in dp.models.__all__):
        assert f"{fit.__module__}.{fit.__qualname__}" in pinned


# Labels


@pytest.mark.parametrize("kind", WITH_LARGE)
def test_large_whole_numbers_are_told_apart_with_and_without_a_missing_row(kind: str) -> None:
    make = CONTAINERS[kind].make
    for rows in (LARGE, [*LARGE, None]) if any(each is None for each in CONTAINERS[kind].elements) else (LARGE,):
        shown = fitted(unfitted("LogisticRegression", classes=LARGE), features(len(rows)), make([*rows]))
        assert [row[-1] for row in shown.raw_rows] == ["0.0", "1.0", None][: len(rows)]


@pytest.mark.parametrize("kind", ["arrow int64", "polars Int64", "pandas Int64"])
def test_an_array_made_of_y_is_refuted(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(rows: list[Any]) -> Shown:
        return fitted(unfitted("LogisticRegression", classes=LARGE), features(len(rows)), CONTAINERS[kind].make(rows))

    assert not broken_by(fit, LARGE, [None])
    monkeypatch.setattr(private_regression, "given_outcome", np.asarray)
    assert broken_by(fit, LARGE, [None])


def test_a_width_that_all_rows_decide_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(rows: list[Any]) -> Shown:
        return fitted(unfitted("KMeans"), rows, None)

    monkeypatch.setattr(private_estimator, "given_features", lambda rows: np.array(rows, dtype=object))
    assert broken_by(fit, PLAIN_ROWS, [[1.0]])
