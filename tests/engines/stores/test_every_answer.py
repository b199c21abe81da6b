"""Every store gives the same raw summaries, the same groups, the same rows per unit and the same answers, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import condition
from dpstats.engines.groups.answers import GroupKeys, answer_groups, count_keys
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.bounding import bounded
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.store import Store
from dpstats.engines.tables.groups import answer_group_tables
from dpstats.engines.tables.table import StoreCodes, StoreTable
from dpstats.engines.units.contributions import Bound, MissingUnit
from dpstats.engines.units.octaves import count_octaves
from dpstats.engines.units.sums import UnitSteps
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import (
    BelowScore,
    Clip,
    Coding,
    Column,
    CutCoding,
    LabelCoding,
    PlaceScore,
    SquareOctaves,
    Table,
    WindowRequest,
    units_of,
)
from tests.engines.stores.conftest import Shelf
from tests.engines.stores.makers import MAKERS
from tests.engines.stores.ugly import ROW, ROWS, UGLY, CodeProducts, Products, expected_cells, ugly_frame
from tests.fresh_ledgers import forget_ledgers_in_memory

REQUESTS = [WindowRequest(Fraction(part, 8), margin) for part in (0, 1, 4, 7, 8) for margin in (0, 1, 5)]
CUTS = [float("-inf"), -1, 0, 0.1, 1, 2, 7, 2**53, 2**63, 1e300, float("inf")]
FLOATS = [name for name, ugly in UGLY.items() if ugly.type is ColumnType.NUMBER]
WHOLES = [name for name, ugly in UGLY.items() if ugly.type in (ColumnType.INTEGER, ColumnType.BOOLEAN)]
LABELS = [*FLOATS, *WHOLES, "days", "times", "words", "sizes", "written"]
KEYED = ["ties", "wholes", "flags", "words", "days"]
CLIPS = [Clip(-4, 9, Fraction(1, 2)), Clip(-(2**25), 2**26, Fraction(1024)), Clip(0, 3, Fraction(1, 2**1074))]
PAIRS = [("floats", "ties"), ("wholes", "floats"), ("short wholes", "flags"), ("no floats", "ties")]
WIDE = [("floats", "ties", "constant"), ("ties", "wholes", "flags", "short wholes", "floats"), ("ties", "no floats"), ("ties",)]
LABEL_PAIRS = [("words", "ties"), ("flags", "words"), ("days", "flags"), ("ties", "ties")]
KINDS = {"floats", "ties", "no floats", "wholes", "flags", "days", "words"}
"""A column or two of each kind, for stores whose passes take long; test_every_store.py looks at every cell there."""


def schema_of(shelf: Shelf) -> dict[str, ColumnType]:
    """The columns with their true types, declared where the store has none."""
    return {ROW: ColumnType.INTEGER} | {name: ugly.type for name, ugly in UGLY.items() if name not in shelf.maker.lacks}


def asked_in(shelf: Shelf, names: Sequence[str]) -> list[str]:
    """Those of some columns that a store has and is asked for."""
    return [name for name in names if name in schema_of(shelf) and (shelf.maker.is_local or name in KINDS)]


@cache
def reference(rows: int) -> Store:
    """The table in the plainest of stores."""
    return MAKERS["polars"].make(ugly_frame(rows), None, None)  # type: ignore[arg-type]


@cache
def reference_summaries(rows: int, name: str) -> list[str]:
    """What the plainest of stores says of a column of numbers."""
    return summaries(open_column(reference(rows), TableView({name: UGLY[name].type}), name, True))


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
    powers = [column.power_sums(clip, degree) for clip in CLIPS for degree in (1, 4)]
    raw_values, raw_counts = column.tally()
    tally = [(value + 0).hex() if isinstance(value, float) else value for value in raw_values.tolist()], raw_counts.tolist()
    counts = column.count(), column.stored()
    return [repr(part) for part in (windows, column.counts_below(CUTS), sums, powers, tally, column.most_common(5), counts)]


@pytest.mark.parametrize("rows", [ROWS, 1, 0])
def test_raw_summaries_of_numbers_are_the_same(shelf: Shelf, rows: int) -> None:
    schema = schema_of(shelf)
    for name in asked_in(shelf, [*FLOATS, *WHOLES] if rows == ROWS else ["floats", "ties"]):
        if not (name in shelf.maker.undeclared and name in (*WHOLES, "short floats")):
            found = summaries(open_column(shelf.store(rows), TableView(schema), name, True))
            assert found == reference_summaries(rows, name), name


def test_labels_and_their_counts_are_the_same(shelf: Shelf) -> None:
    schema = schema_of(shelf)
    for name in asked_in(shelf, LABELS):
        if name == "short floats" and name in shelf.maker.undeclared:
            continue
        here, there = (open_column(store, TableView(schema), name, False) for store in (shelf.store(ROWS), reference(ROWS)))
        assert (here.count(), here.stored(), here.most_common(50)) == (there.count(), there.stored(), there.most_common(50)), name


def test_group_keys_and_groups_are_the_same(shelf: Shelf) -> None:
    schema = schema_of(shelf)
    view = TableView(schema)
    for name in asked_in(shelf, KEYED):
        raw_keys = count_keys(reference(ROWS), view, [name], [schema[name]])
        assert count_keys(shelf.store(ROWS), view, [name], [schema[name]]) == raw_keys, name
    raw_keys = count_keys(reference(ROWS), view, ["days", "ties"], [ColumnType.MOMENT, ColumnType.NUMBER])
    keys = GroupKeys(("days", "ties"), (ColumnType.MOMENT, ColumnType.NUMBER), (*raw_keys, ("2000-01-01", 1.0)))

    def look(_: Any, column: Column) -> list[str]:
        return summaries(column)

    here, there = (answer_groups(store, view, keys, "floats", True, look) for store in (shelf.store(ROWS), reference(ROWS)))
    assert here == there


def tables_of(shelf: Shelf, names: tuple[str, str], *numeric: bool) -> list[Table]:
    """Two columns here, and the same two in the plainest of stores."""
    return [StoreTable(store, TableView(schema_of(shelf)), names, numeric) for store in (shelf.store(ROWS), reference(ROWS))]


def rows_with_both(first: str, second: str) -> list[tuple[Any, Any]]:
    """Two columns row by row, as they must be read, but for rows that are missing in one of them."""
    columns = [expected_cells(name, UGLY[name].type).values() for name in (first, second)]
    return [pair for pair in zip(*columns, strict=True) if None not in pair]


def test_power_sums_and_tallies_are_those_of_single_rows(shelf: Shelf) -> None:
    schema = schema_of(shelf)
    for name in asked_in(shelf, [name for name in [*FLOATS, *WHOLES] if name != "unsigned"]):
        rows = [row for row in expected_cells(name, schema[name]).values() if row is not None]
        column = open_column(shelf.store(ROWS), TableView(schema), name, True)
        for clip in CLIPS:
            places = [clip.place(row) for row in rows]
            assert column.power_sums(clip, 3) == tuple(sum(place**power for place in places) for power in range(4)), name
        raw_values, raw_counts = column.tally()
        assert raw_values.tolist() == sorted(set(rows)), name
        assert raw_counts.tolist() == [rows.count(value) for value in sorted(set(rows))], name


def test_pairs_of_numbers_are_those_of_single_rows(shelf: Shelf) -> None:
    clips = CLIPS[0], CLIPS[1]
    for names in [names for names in PAIRS if len(asked_in(shelf, names)) == 2]:
        table, rows = tables_of(shelf, names, True, True)[0], rows_with_both(*names)
        assert sorted(zip(*(side.tolist() for side in table.pairs()), strict=True)) == sorted(rows), names
        places = [(clips[0].place(x), clips[1].place(y)) for x, y in rows]
        truth = tuple(tuple(sum(a**i * b**j for a, b in places) for j in range(3)) for i in range(3))
        assert table.product_sums(clips, 2) == truth, names
        assert [table.column(place).count() for place in (0, 1)] == [len(rows)] * 2, names
        assert [table.column(place).stored() for place in (0, 1)] == [ROWS] * 2, names


def complete_rows(names: Sequence[str]) -> list[list[float]]:
    """Some columns row by row, as floats, but for rows that are missing in one of them."""
    columns = [expected_cells(name, UGLY[name].type).values() for name in names]
    return [[float(cell) for cell in row] for row in zip(*columns, strict=True) if None not in row]


def test_a_matrix_and_sums_over_its_rows_are_those_of_single_rows(shelf: Shelf) -> None:
    for names in [names for names in WIDE if not shelf.maker.lacks & set(names)]:
        table = StoreTable(shelf.store(ROWS), TableView(schema_of(shelf)), names, [True] * len(names))
        matrix, rows, sums = table.matrix(), complete_rows(names), Products(8, 1000)
        assert matrix.dtype == float, names
        assert matrix.shape == (len(rows), len(names)), names
        assert sorted(matrix.tolist()) == sorted(rows), names
        assert table.row_sums(sums) == (sums.by_hand(rows) if rows else (0,) * (1 + len(names) ** 2)), names


def test_columns_and_types_of_pairs_are_the_same(shelf: Shelf) -> None:
    for names in [names for names in PAIRS if len(asked_in(shelf, names)) == 2 and not shelf.maker.undeclared & set(names)]:
        here, there = tables_of(shelf, names, True, True)
        assert [side.dtype for side in here.pairs()] == [side.dtype for side in there.pairs()], names
        for place in (0, 1):
            assert summaries(here.column(place)) == summaries(there.column(place)), names


def test_pairs_of_labels_are_the_same(shelf: Shelf) -> None:
    for names in [names for names in LABEL_PAIRS if not shelf.maker.lacks & set(names)]:
        here, there = tables_of(shelf, names, False, False)
        assert here.label_pairs() == there.label_pairs(), names
        assert here.column(0).most_common(50) == there.column(0).most_common(50), names
        if "days" not in names:
            assert sum(here.label_pairs().values()) == len(rows_with_both(*names))
    if not shelf.maker.lacks & {"words", "ties"}:
        rows = rows_with_both("words", "ties")
        assert tables_of(shelf, ("words", "ties"), False, False)[0].label_pairs() == {pair: rows.count(pair) for pair in rows}


def test_columns_by_label_are_the_same_and_those_of_single_rows(shelf: Shelf) -> None:
    wanted: dict[str, list[Any]] = {"words": ["north", "é", "?"], "ties": [2, 1.0, 9], "flags": [True, 0], "days": ["2024-02-29"]}
    for by, labels in [(by, labels) for by, labels in wanted.items() if not shelf.maker.lacks & {"floats", by}]:
        here, there = tables_of(shelf, ("floats", by), True, False)
        found, expected = (table.columns_by_label(0, 1, labels) for table in (here, there))
        assert [summaries(column) for column in found] == [summaries(column) for column in expected], by
        if by != "days":
            rows = rows_with_both("floats", by)
            assert [column.count() for column in found] == [sum(own == label for _, own in rows) for label in labels], by


@pytest.mark.parametrize(
    "shelf", [label for label, maker in MAKERS.items() if not maker.lacks & {"floats", "words"}], indirect=True
)
def test_tables_by_label_hold_the_rows_of_each_and_the_other_columns(shelf: Shelf) -> None:
    table, _ = tables_of(shelf, ("floats", "words"), True, False)
    rows, sums = rows_with_both("floats", "words"), Products(8, 1000)
    (north, none) = table.tables_by_label(1, ["north", "?"])
    assert north.row_sums(sums) == sums.by_hand([[number] for number, word in rows if word == "north"])
    assert none.row_sums(sums) == (0, 0)
    assert table.without(1).row_sums(sums)[0] >= len(rows)


@pytest.mark.parametrize(
    "shelf", [label for label, maker in MAKERS.items() if not maker.lacks & {"floats", "wholes", "words"}], indirect=True
)
def test_tables_in_groups_are_the_same(shelf: Shelf) -> None:
    schema = schema_of(shelf)
    keys = GroupKeys(("words",), (ColumnType.TEXT,), (("north",), ("é",), ("?",)))

    def look(_: Any, table: Table) -> Any:
        x, y = table.pairs()
        pairs = sorted(zip(x.tolist(), y.tolist(), strict=True))
        assert sorted(table.matrix().tolist()) == sorted([x, float(y)] for x, y in pairs)
        return pairs, table.product_sums((CLIPS[0], CLIPS[1]), 2), table.row_sums(Products(8, 1000))

    here, there = (
        answer_group_tables(store, TableView(schema), keys, ("floats", "wholes"), (True, True), look)
        for store in (shelf.store(ROWS), reference(ROWS))
    )
    assert here == there
    cells = [expected_cells(name, schema[name]).values() for name in ("floats", "wholes", "words")]
    rows = [row for row in zip(*cells, strict=True) if None not in row]
    for (label,), (pairs, _, sums) in here.items():
        assert pairs == sorted((x, y) for x, y, word in rows if word == label)
        assert sums == (Products(8, 1000).by_hand(pairs) if pairs else (0,) * 5)


ASKED = (ROW, "constant", "days", "floats", "ties", "words")
"""The columns of the tables that questions are asked of; what is kept of a unit depends on all of them."""


@pytest.fixture(scope="session")
def asked(shelf: Shelf, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A table of a few columns in each kind of store in turn."""
    return shelf.maker.make(ugly_frame().select(ASKED), tmp_path_factory.mktemp("asked"), request)


def session(store: Store, **changes: Any) -> Session:
    forget_ledgers_in_memory()
    types = {name: UGLY[name].type.value if name in UGLY else "integer" for name in ASKED}
    undeclared = {name: types[name] for name, kind in store.columns.items() if kind is ColumnType.UNDECLARED}
    settings = {
        "unit": "row",
        "budget": dp.Budget(epsilon=10**6, delta=0.01),
        "ledger": ":memory:",
        "allow_seeded": True,
        **changes,
    }
    return dp.protect(store, types=undeclared, may_fail=True, **settings)


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


UNITS: dict[str, dict[str, Any]] = {
    "row": {},
    **{unit: {"unit": unit, "max_rows_per_unit": 6, "missing_unit": "each"} for unit in ("constant", "words")},
}


@cache
def expected_answers(unit: str) -> dict[str, Any]:
    """What a table in memory answers, each question in a session of its own."""
    return {
        question: plain(ask(session(open_store(ugly_frame().select(ASKED))[0], **UNITS[unit])))
        for question, ask in QUESTIONS.items()
    }


def shelves_and_units() -> list[tuple[str, str]]:
    """Every store by every unit; Spark, which takes longest, by words alone: tests of its own bound rows of other units."""
    able = [label for label, maker in MAKERS.items() if not maker.lacks & set(ASKED)]
    return [(label, unit) for unit in UNITS for label in able if label != "spark" or unit == "words"]


@pytest.mark.parametrize(("shelf", "unit"), shelves_and_units(), indirect=["shelf"])
def test_answers_are_the_same(shelf: Shelf, asked: Store, unit: str) -> None:
    table = session(asked, **UNITS[unit])  # one for all questions, so that those after the first find the rows bounded
    assert {question: plain(ask(table)) for question, ask in QUESTIONS.items()} == expected_answers(unit)


BY_UNIT = [PlaceScore(CLIPS[0], 3), PlaceScore(CLIPS[0], 3, 9), BelowScore((0.5, 2), 8, 3)]


def squares_by_unit(store: Store, unit: str, missing: MissingUnit, most: int) -> list[SquareOctaves]:
    """What a bounded store says of the scores of a unit's rows."""
    kept = Bound(unit, UGLY[unit].type, most, ((ROW, ColumnType.INTEGER),), missing, bytes(32))
    names = [unit, "ties", "floats"]
    view = TableView(
        {name: UGLY[name].type for name in names}, conditions=(condition("floats != 1", {"floats": ColumnType.NUMBER}),)
    )
    column = open_column(bounded(store, kept), view, "ties", True)
    column.take_units(UnitSteps.of(kept, Fraction(1), 9))  # type: ignore[attr-defined]
    units = units_of(column)
    assert units is not None
    return [units.squares(score) for score in BY_UNIT]


@pytest.mark.parametrize("rows", [ROWS, 0])
def test_every_store_adds_scores_up_by_the_same_units(shelf: Shelf, rows: int) -> None:
    for unit in asked_in(shelf, ["words", "wholes"] if shelf.maker.is_local and rows else ["words"]):
        for missing in MissingUnit if shelf.maker.is_local else [MissingUnit.EACH]:
            found = squares_by_unit(shelf.store(rows), unit, missing, 4)
            assert found == squares_by_unit(reference(rows), unit, missing, 4), (unit, missing)


CODED: dict[str, Coding] = {
    "floats": CutCoding((-1.0, 0.0, 0.1, 7.0), missing=5),
    "wholes": CutCoding((0, 2, 2**40), missing=4),
    "words": LabelCoding(("north", "", "südost"), other=3, missing=4),
    "flags": LabelCoding((0, 1), missing=2),
}


@pytest.mark.parametrize("rows", [ROWS, 1, 0])
def test_every_store_counts_rows_by_the_same_codes(shelf: Shelf, rows: int) -> None:
    held = {name: coding for name, coding in CODED.items() if name not in shelf.maker.lacks}
    numeric = [isinstance(coding, CutCoding) for coding in held.values()]
    sets = [tuple(range(size)) for size in range(len(held) + 1)]
    found = []
    for store in (shelf.store(rows), reference(rows)):
        view = TableView({name: UGLY[name].type for name in held})
        found.append(StoreCodes(store, view, list(held), numeric).code_counts(list(held.values()), sets))
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    assert found[0][0] == rows


@pytest.mark.parametrize("rows", [ROWS, 1, 0])
def test_every_store_adds_up_what_rows_give_by_their_codes(shelf: Shelf, rows: int) -> None:
    coded = {name: coding for name, coding in CODED.items() if name not in shelf.maker.lacks}
    numeric = [isinstance(coding, CutCoding) for coding in coded.values()]
    found = []
    for store in (shelf.store(rows), reference(rows)):
        view = TableView({name: UGLY[name].type for name in coded})
        table = StoreCodes(store, view, list(coded), numeric)
        found.append([table.code_sums(list(coded.values()), CodeProducts(power)) for power in (0, 1, 40)])
    assert found[0] == found[1]
    assert found[0][0][0] == rows


@pytest.mark.parametrize("unit", ["words", "ties", "wholes"])
def test_every_store_counts_units_by_the_same_octaves(shelf: Shelf, unit: str) -> None:
    if unit in shelf.maker.lacks:
        return
    found = []
    for store in (shelf.store(ROWS), reference(ROWS)):
        bound = Bound(unit, UGLY[unit].type, 1, (), MissingUnit.EACH, bytes(32))
        found.append(count_octaves(store, bound, (1, 2, 4, 8)).tolist())
    assert found[0] == found[1]
    assert sum(found[0]) > 1
