"""Conditions that stores check themselves: the rows that are kept there are those that are kept here, whatever they hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions.expression import condition
from dpstats.engines.stores import sql_conditions
from dpstats.engines.stores.bounding import bounded
from dpstats.engines.stores.filtering import FiltersItself, filter_there
from dpstats.engines.stores.store import Batch, LocalStore, Store
from dpstats.engines.units.contributions import Bound, BoundedStore, FilteredRows, MissingUnit
from dpstats.engines.views import TableView
from tests.engines.stores.makers import MAKERS
from tests.engines.stores.ugly import ROW, UGLY, plain_cells, ugly_frame

MAKERS_THAT_FILTER = ("postgres table", "postgres partitions", "duckdb table")
NUMBERS = ("floats", "short floats", "no floats", "ties", "wholes", "short wholes")
TEXTS = ("words", "blanks", "controls", "no words")
SIGNS = ("<", "<=", ">", ">=", "==", "!=")
UGLY_NUMBERS = sorted(
    {row for name in NUMBERS for row in UGLY[name].rows if row is not None and math.isfinite(row)}
    | {0.1, 0.5, 2.5, 1e308, -1e308, 2**63, -(2**63) - 1, 2**64, 2**53, 2**53 + 1, 1e-320, 3.4e38, 1e19}
)
UGLY_TEXTS = sorted({row for name in TEXTS for row in UGLY[name].rows if row is not None} | {"North", "e", "x", "back\\slash"})


@dataclass(frozen=True)
class RowNumbers:
    """A job: which rows belong to a view."""

    view: TableView

    def scan(self, batches: Iterable[Batch]) -> list[Any]:
        return [row for batch in batches for row in plain_cells(self.view.on(batch).cells(ROW, ColumnType.INTEGER))]

    def merge(self, parts: Sequence[list[Any]]) -> list[Any]:
        return sorted(row for part in parts for row in part)


def kept(store: Store, view: TableView) -> list[Any]:
    return store.run(RowNumbers(view), view.needs([ROW]))


@pytest.fixture(scope="module", params=MAKERS_THAT_FILTER)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    maker = MAKERS[request.param]
    folder: Path = tmp_path_factory.mktemp("filters")
    return maker.make(ugly_frame().drop(maker.lacks), folder, request)


@some.composite
def conditions(draw: Callable[..., Any]) -> str:
    """Comparisons of ugly columns with ugly literals, joined by and, or, not."""
    kind = draw(some.sampled_from(("number", "among", "text", "texts", "and", "or", "not", "missing", "sum")))
    if kind in ("and", "or"):
        return f"({draw(conditions())}) {kind} ({draw(conditions())})"
    if kind == "not":
        return f"not ({draw(conditions())})"
    name = draw(some.sampled_from(TEXTS if kind.startswith("text") else NUMBERS))
    if kind == "missing":
        return f"missing(col({name!r}))"
    literals = some.sampled_from(UGLY_TEXTS if kind.startswith("text") else UGLY_NUMBERS)
    if kind in ("among", "texts"):
        return f"col({name!r}) in [{', '.join(map(repr, draw(some.lists(literals, min_size=1, max_size=3))))}]"
    left = f"col({name!r}) + 1" if kind == "sum" else f"col({name!r})"
    return f"{left} {draw(some.sampled_from(('==', '!=') if kind == 'text' else SIGNS))} {draw(literals)!r}"


@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=some.lists(conditions(), min_size=1, max_size=2))
def test_filters_there_and_here_keep_the_same_rows(store: Store, said: list[str]) -> None:
    view = TableView(store.columns, conditions=tuple(condition(each, store.columns) for each in said))
    assert kept(*filter_there(store, view)) == kept(store, view)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("sign", ["<", *(pytest.param(sign, marks=pytest.mark.long) for sign in SIGNS if sign != "<")])
def test_comparisons_of_numbers_are_made_there_and_are_the_same_for_all_ugly_numbers(store: Store, name: str, sign: str) -> None:
    for number in UGLY_NUMBERS:
        view = TableView(store.columns, conditions=(condition(f"col({name!r}) {sign} {number!r}", store.columns),))
        narrowed, left = filter_there(store, view)
        if not 0 < abs(number) < 1e-307:  # servers need not read numbers close to 0
            assert narrowed is not store
            assert left.needs([]) == [], "the column is not even asked for"
        assert kept(narrowed, left) == kept(store, view)


@pytest.mark.parametrize(
    "text",
    [
        "floats + 1 > 2",
        "1 / floats > 0",
        "decimals > 1",
        "days > '2000-01-01'",
        "flags",
        "not floats > 1",
        "floats > ties",
        "words < 'north'",
        "upper(words) == 'NORTH'",
        "missing(floats)",
        "unsigned > 1",
        "log(floats) < 1 or ties > 1",
    ],
)
def test_what_could_fail_or_differ_there_is_checked_here(store: Store, text: str) -> None:
    if "unsigned" in text and "unsigned" not in store.columns:
        return
    view = TableView(store.columns, conditions=(condition(text, store.columns),))
    narrowed, left = filter_there(store, view)
    assert narrowed is store
    assert left.conditions == view.conditions


def test_a_column_that_was_declared_otherwise_or_derived_is_checked_here(store: Store) -> None:
    told = {**store.columns, "floats": ColumnType.TEXT, "words": ColumnType.NUMBER}
    view = TableView(told, conditions=(condition("floats == '1.5'", told), condition("words > 1", told)))
    assert filter_there(store, view)[0] is store
    derived = TableView(store.columns, {"twice": condition("ties > 1", store.columns)})
    twice = TableView(store.columns, derived.derived, (condition("twice", derived.columns),))
    assert filter_there(store, twice)[0] is store


@pytest.mark.parametrize("rows", [1, 2, 10])
@pytest.mark.parametrize("said", ["floats > 0.5", "words == 'north' and ties > 1", "wholes != 7 and floats + 1 > 2"])
def test_the_rows_of_a_unit_are_chosen_before_a_filter_is_looked_at(store: Store, said: str, rows: int) -> None:
    content = (("floats", ColumnType.NUMBER), ("words", ColumnType.TEXT))
    bound = Bound("ties", ColumnType.NUMBER, rows, content, MissingUnit.DROP, bytes(range(32)))
    view = TableView(store.columns, conditions=(condition(said, store.columns),))
    all_rows = Bound(ROW, ColumnType.INTEGER, rows, content, MissingUnit.DROP, bytes(range(32)))
    for each, keeps_all in ((bound, False), (all_rows, True)):
        chosen = bounded(store, each)
        narrowed, left = filter_there(chosen, view)
        assert isinstance(narrowed, FilteredRows)
        assert narrowed._bounded.raw_keeps_all() == keeps_all
        assert kept(narrowed, left) == kept(chosen, view)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_store_that_filters_before_it_chooses_rows_is_found_out(store: Store, rows: int) -> None:
    bound = Bound("ties", ColumnType.NUMBER, rows, (("floats", ColumnType.NUMBER),), MissingUnit.DROP, bytes(range(32)))
    view = TableView(store.columns, conditions=(condition("floats > 0.5", store.columns),))
    hasty, left = filter_there(store, view)
    assert isinstance(hasty, LocalStore)
    assert kept(BoundedStore(hasty, bound), left) != kept(bounded(store, bound), view)


TWINS: dict[str, tuple[Callable[[str], str], str]] = {
    "NaN is above all numbers": (lambda text: text.replace(" AND \"floats\" <> 'NaN'::float8", ""), "floats > 1"),
    "whole numbers are compared as floats": (lambda text: text.replace("::int8", "::float8"), "wholes == 9007199254740992"),
    "a condition that is unknown holds": (lambda text: f"({text}) IS NOT FALSE", "wholes > 1"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_filter_that_forgets_an_ugly_value_is_found_out(store: Store, twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, said = TWINS[twin]
    honest = sql_conditions.sql_of
    monkeypatch.setattr(sql_conditions, "sql_of", lambda *given: broken(honest(*given) or ""))
    view = TableView(store.columns, conditions=(condition(said, store.columns),))
    assert kept(*filter_there(store, view)) != kept(store, view)


def test_stores_that_do_not_filter_are_left_alone() -> None:
    maker = MAKERS["polars"]
    here = maker.make(ugly_frame(), None, None)  # type: ignore[arg-type]
    assert not isinstance(here, FiltersItself)
    view = TableView(here.columns, conditions=(condition("floats > 1 and ties > 1", here.columns),))
    narrowed, left = filter_there(here, view)
    assert narrowed is here
    assert kept(narrowed, left) == kept(here, view)
