"""Every store gives the same raw summaries, the same groups, the same rows per unit and the same answers, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.engines.cells import ColumnType
from dpstats.engines.groups.answers import GroupKeys, answer_groups, count_keys
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.store import Store
from dpstats.engines.views import View
from dpstats.foundations.summaries import Column, WindowRequest
from tests.engines.stores.conftest import Shelf
from tests.engines.stores.makers import MAKERS
from tests.engines.stores.ugly import ROW, ROWS, UGLY, ugly_frame

REQUESTS = [WindowRequest(Fraction(part, 8), margin) for part in (0, 1, 4, 7, 8) for margin in (0, 1, 5)]
CUTS = [float("-inf"), -1, 0, 0.1, 1, 2, 7, 2**53, 2**63, 1e300, float("inf")]
FLOATS = [name for name, ugly in UGLY.items() if ugly.type is ColumnType.NUMBER]
WHOLES = [name for name, ugly in UGLY.items() if ugly.type in (ColumnType.INTEGER, ColumnType.BOOLEAN)]
LABELS = [*FLOATS, *WHOLES, "days", "times", "words", "sizes", "written"]
KEYED = ["ties", "wholes", "flags", "words", "days"]


def schema_of(shelf: Shelf) -> dict[str, ColumnType]:
    """The columns with their true types, declared where the store has none."""
    return {ROW: ColumnType.INTEGER} | {name: ugly.type for name, ugly in UGLY.items() if name not in shelf.maker.lacks}


@cache
def reference(rows: int) -> Store:
    """The table in the plainest of stores."""
    return MAKERS["polars"].make(ugly_frame(rows), None, None)  # type: ignore[arg-type]


def summaries(column: Column) -> list[str]:
    """Everything that can be asked of a column of numbers, in a form that tells every bit."""
    windows = [
        (
            window.raw_rows,
            window.raw_below,
            [(value + 0).hex() if isinstance(value, float) else value for value in values],
            counts,
        )
        for window in column.order_windows(REQUESTS)
        for values, counts in [(window.raw_values.tolist(), window.raw_counts.tolist())]
    ]
    sums = [
        column.sum_between(low, high, unit) for low, high in ((-10, 10), (0, 1e17)) for unit in (Fraction(1), Fraction(1, 1024))
    ]
    return [
        repr(part) for part in (windows, column.counts_below(CUTS), sums, column.most_common(5), column.count(), column.stored())
    ]


@pytest.mark.parametrize("rows", [ROWS, 1, 0])
def test_raw_summaries_of_numbers_are_the_same(shelf: Shelf, rows: int) -> None:
    schema = schema_of(shelf)
    for name in [*FLOATS, *WHOLES] if rows == ROWS else ["floats", "ties"]:
        if name in schema and not (name in shelf.maker.undeclared and name in (*WHOLES, "short floats")):
            found = summaries(open_column(shelf.store(rows), View(schema), name, True))
            assert found == summaries(open_column(reference(rows), View(schema), name, True)), name


def test_labels_and_their_counts_are_the_same(shelf: Shelf) -> None:
    schema = schema_of(shelf)
    for name in [name for name in LABELS if name in schema and not (name == "short floats" and name in shelf.maker.undeclared)]:
        here, there = (open_column(store, View(schema), name, False) for store in (shelf.store(ROWS), reference(ROWS)))
        assert (here.count(), here.stored(), here.most_common(50)) == (there.count(), there.stored(), there.most_common(50)), name


def test_group_keys_and_groups_are_the_same(shelf: Shelf) -> None:
    schema = schema_of(shelf)
    view = View(schema)
    for name in [name for name in KEYED if name in schema]:
        raw_keys = count_keys(reference(ROWS), view, [name], [schema[name]])
        assert count_keys(shelf.store(ROWS), view, [name], [schema[name]]) == raw_keys, name
    raw_keys = count_keys(reference(ROWS), view, ["days", "ties"], [ColumnType.MOMENT, ColumnType.NUMBER])
    keys = GroupKeys(("days", "ties"), (ColumnType.MOMENT, ColumnType.NUMBER), (*raw_keys, ("2000-01-01", 1.0)))

    def look(_: Any, column: Column) -> list[str]:
        return summaries(column)

    here, there = (answer_groups(store, view, keys, "floats", True, look) for store in (shelf.store(ROWS), reference(ROWS)))
    assert here == there


ASKED = (ROW, "constant", "days", "floats", "ties", "words")
"""The columns of the tables that questions are asked of; what is kept of a unit depends on all of them."""


@pytest.fixture(scope="session")
def asked(shelf: Shelf, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A table of a few columns in each kind of store in turn."""
    return shelf.maker.make(ugly_frame().select(ASKED), tmp_path_factory.mktemp("asked"), request)


def session(store: Store, **changes: Any) -> Session:
    types = {name: UGLY[name].type.value if name in UGLY else "integer" for name in ASKED}
    undeclared = {name: types[name] for name, kind in store.columns.items() if kind is ColumnType.UNDECLARED}
    settings = {
        "unit": "row",
        "budget": dp.Budget(epsilon=10**6, delta=0.01),
        "ledger": ":memory:",
        "allow_seeded": True,
        **changes,
    }
    return dp.protect(store, types=undeclared, **settings)


QUESTIONS: dict[str, Callable[[Session], Any]] = {
    "a count": lambda table: table.count(epsilon=1, rng=dp.testing.seeded(1)),
    "a median": lambda table: table.median("floats", epsilon=2, rng=dp.testing.seeded(2)),
    "an iqr by a test": lambda table: table.iqr("ties", epsilon=9, delta=1e-3, method="ptr", rng=dp.testing.seeded(3)),
    "a filter": lambda table: table.where("ties >= 2 and words != 'north'").count(epsilon=1, rng=dp.testing.seeded(4)),
    "a filter on dates": lambda table: table.where("days >= '1970-01-01'").median("ties", epsilon=5, rng=dp.testing.seeded(5)),
    "a derived column": lambda table: table.select(x="log1p(abs(ties)) / (1 + row)").median(
        "x", epsilon=9, rng=dp.testing.seeded(6)
    ),
    "public groups": lambda table: table.group_by("words", keys=["north", "é", "?"]).median(
        "ties", epsilon=3, rng=dp.testing.seeded(7)
    ),
    "private groups": lambda table: table.group_by("ties").count(epsilon=9, delta=1e-3, rng=dp.testing.seeded(8)),
}


def plain(result: Any) -> Any:
    """What a result says, apart from its card."""
    if isinstance(result, dp.GroupedRelease):
        return [(key, plain(reply)) for key, reply in result.items()]
    return "no reply" if isinstance(result, dp.NoReply) else repr(result.value)


@pytest.mark.parametrize("shelf", [label for label, maker in MAKERS.items() if not maker.lacks & set(ASKED)], indirect=True)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("unit", ["row", "constant", "words"])
def test_answers_are_the_same(shelf: Shelf, asked: Store, question: str, unit: str) -> None:
    bound = {} if unit == "row" else {"unit": unit, "max_rows_per_unit": 6, "missing_unit": "each"}
    here, there = (session(store, **bound) for store in (asked, open_store(ugly_frame().select(ASKED))[0]))
    assert plain(QUESTIONS[question](here)) == plain(QUESTIONS[question](there))
