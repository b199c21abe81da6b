"""One question in every group: each group's column is what an array of its rows is, in as few passes as one group needs."""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.cells import Cells, ColumnType, Labels, Numbers
from dpstats.engines.exact import thinned
from dpstats.engines.groups import answers as groups
from dpstats.engines.groups import splits
from dpstats.engines.groups.answers import GroupKeys, Key, answer_groups, count_keys
from dpstats.engines.passes import lockstep
from dpstats.engines.views import CountedCells, TableView
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.summaries import Clip, Column, WindowRequest
from tests.engines.cell_stores import CellStore, Computed, FarStore, moments, numbers, opaque, texts

NUMBER, TEXT, INTEGER = ColumnType.NUMBER, ColumnType.TEXT, ColumnType.INTEGER
MEDIAN = WindowRequest(Fraction(1, 2), 3)
STORES: dict[str, Callable[..., CellStore]] = {
    "streamed": CellStore,
    "far": FarStore,
    "in memory": lambda *rest: CellStore(*rest, in_memory=True),
}


@pytest.fixture(autouse=True)
def _repeatable_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinned, "urandom", random.Random(13).randbytes)


@pytest.fixture(params=["streamed", "split", "far", "in memory"])
def make_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CellStore]:
    """Each way to come to groups: in lockstep from a stream or from afar, split from a stream or in memory."""
    if request.param == "streamed":
        monkeypatch.setattr(groups, "SPLIT_ROWS", -1)
    return STORES["streamed" if request.param == "split" else request.param]


@pytest.fixture
def small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples so small that groups of a few hundred rows have to be passed over, and rows shown often."""
    monkeypatch.setattr(groups, "SPLIT_ROWS", -1)
    monkeypatch.setattr(groups, "_room", lambda count, remote: thinned.Room(60 if remote else 200, 200))
    monkeypatch.setattr(groups, "HELD_ROWS", (100, 1000))


def all_about(key: Key, column: Column) -> dict[str, Any]:
    """Everything that a column of numbers can be asked, in a form that compares."""
    requests = [WindowRequest(Fraction(place, 4), margin) for place in range(5) for margin in (0, 7)]
    windows = column.order_windows(requests)
    return {
        "key": key,
        "windows": [(w.raw_rows, w.raw_below, repr(w.raw_values.tolist()), w.raw_counts.tolist()) for w in windows],
        "below": column.counts_below([0, 1.5, math.inf, 10**400]),
        "sum": column.sum_between(-100, 100, Fraction(1, 64)),
        "powers": column.power_sums(Clip(-6400, 12800, Fraction(1, 64)), 3),
        "tally": [repr(part.tolist()) for part in column.tally()],
        "rows": (column.count(), column.stored()),
        "common": repr(column.most_common(3)),
        "type": column.dtype,
    }


def expected(keys: list[Any], table: Mapping[Any, list[Any]], dtype: str) -> dict[Key, Any]:
    """The same from arrays, given the rows of every key."""
    found = {}
    for key in keys:
        rows = table.get(key, [])
        kept = np.array([row for row in rows if row is not None and row == row], dtype=dtype)
        found[key] = all_about(key, ArrayColumn([kept], len(rows)))
    return found


def rows_by_key(keys: list[Any], rows: list[Any]) -> dict[Any, list[Any]]:
    table: dict[Any, list[Any]] = {}
    for key, row in zip(keys, rows, strict=True):
        table.setdefault(key, []).append(row)
    return table


def test_every_group_has_the_column_of_its_rows(make_store: Callable[..., CellStore], ugly: Any) -> None:
    rows = [float(row) if ugly.type == "decimal" and row is not None else row for row in ugly.rows[:3000]]
    chance = random.Random(3)
    labels = [chance.choice(["a", "b", "b", "c", None]) for _ in rows]
    store = make_store({"by": texts(labels), "x": numbers(rows, ugly.type)}, {"by": TEXT, "x": NUMBER}, [2, 50, 500])
    keys = GroupKeys(("by",), (TEXT,), (("b",), ("a",), ("nobody",)))
    found = answer_groups(store, TableView(store.columns), keys, "x", True, all_about)
    dtype = {"bool": "uint8", "decimal": "float64"}.get(ugly.type, ugly.type)
    table = {(key,): group for key, group in rows_by_key(labels, rows).items()}
    assert found == expected(list(keys.keys), table, dtype)
    assert list(found) == [("b",), ("a",), ("nobody",)]


row_values = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.5, math.inf, -math.inf, math.nan]), st.floats(-50, 50))
key_values = st.sampled_from([None, 7, 7.5, -0.0, math.nan, math.inf, 2**40])


@settings(max_examples=120)
@given(
    rows=st.lists(st.tuples(key_values, st.sampled_from([None, "x", "y", "z"]), row_values), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    way=st.sampled_from(["streamed", "split", "far", "in memory"]),
    room=st.integers(1, 20),
)
def test_groups_of_two_columns_are_exact_however_they_are_computed(
    rows: list[tuple[Any, Any, Any]], cuts: list[int], way: str, room: int
) -> None:
    table = {"n": numbers([row[0] for row in rows]), "t": texts([row[1] for row in rows]), "x": numbers([row[2] for row in rows])}
    keys = GroupKeys(("n", "t"), (NUMBER, TEXT), tuple((n, t) for n in (7.0, 0, math.inf, 1) for t in ("y", "x", "w")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "SPLIT_ROWS", -1 if way == "streamed" else 1000)
        patch.setattr(groups, "_room", lambda count, remote: thinned.Room(room, 2 * room))
        patch.setattr(groups, "HELD_ROWS", (5, 20))
        patch.setattr(groups, "GROUPS_AT_ONCE", 5)
        store = STORES["streamed" if way == "split" else way](table, {"n": NUMBER, "t": TEXT, "x": NUMBER}, cuts)
        found = answer_groups(store, TableView(store.columns), keys, "x", True, all_about)
        counted = count_keys(store, TableView(store.columns), ("n", "t"), (NUMBER, TEXT))
    by_key = rows_by_key([row[:2] for row in rows], [row[2] for row in rows])
    assert found == expected(list(keys.keys), by_key, "float64")
    whole = [(n, t) for n, t, _ in rows if n is not None and n == n and t is not None]
    assert counted == Counter(whole)
    assert all(type(n) is (int if n == int(n) else float) for n, _ in counted if isinstance(n, (int, float)) and math.isfinite(n))


def test_lockstep_makes_as_many_passes_as_the_slowest_group(small_room: None, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 20_000
    chance = np.random.default_rng(3)
    labels = chance.integers(0, 10, count)
    table = {"by": Numbers(labels), "x": Numbers(chance.normal(size=count))}
    keys = GroupKeys(("by",), (INTEGER,), tuple((label,) for label in range(12)))
    for make in (CellStore, FarStore):
        store = make(table, {"by": INTEGER, "x": NUMBER}, range(0, count, 1000))
        view = TableView(store.columns)

        def median(key: Key, column: Column) -> int:
            return column.order_windows([MEDIAN])[0].raw_rows

        split = 1 if make is CellStore else 0  # the try to hold all rows
        found = answer_groups(store, view, keys, "x", True, median)
        assert store.runs == 2 + split
        assert [found[key] for key in keys.keys] == np.bincount(labels, minlength=12).tolist()

        def slow(key: Key, column: Column) -> int:
            return sum(column.sum_between(-9, 9, Fraction(1, 2**place)) for place in range(4 if key == (3,) else 1))

        store.runs = 0
        answer_groups(store, view, keys, "x", True, slow)
        assert store.runs == 4 + split

    monkeypatch.setattr(groups, "GROUPS_AT_ONCE", 5)
    store.runs = 0
    answer_groups(store, view, keys, "x", True, median)
    assert store.runs == 2 + 2 + 1  # the last two groups are empty, which the first pass shows


def test_groups_in_memory_or_few_enough_take_one_pass() -> None:
    table: dict[str, Cells] = {"by": texts(["a", "b"] * 50), "x": numbers(range(100))}
    keys = GroupKeys(("by",), (TEXT,), (("a",), ("b",)))
    for store in (CellStore(table, {"by": TEXT, "x": NUMBER}), CellStore(table, {"by": TEXT, "x": NUMBER}, in_memory=True)):
        answer_groups(store, TableView(store.columns), keys, "x", True, all_about)
        assert store.runs == 1


def test_a_stream_that_is_too_long_to_hold_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "SPLIT_ROWS", 30)
    read = []

    class Noted(CellStore):
        def batches(self, columns: Any) -> Any:
            for batch in super().batches(columns):
                read.append(batch.rows)
                yield batch

    store = Noted({"by": texts(["a"] * 100), "x": numbers(range(100))}, {"by": TEXT, "x": NUMBER}, range(0, 100, 10))
    keys = GroupKeys(("by",), (TEXT,), (("a",),))
    answer_groups(store, TableView(store.columns), keys, "x", True, lambda key, column: column.count())
    assert len(read) == 4 + 10


class OddError(Exception):
    """An error that no code but the tests knows."""


def test_an_error_in_one_group_leaves_the_others_alone(make_store: Callable[..., CellStore]) -> None:
    store = make_store({"by": texts(["a", "b", "c"] * 9), "x": numbers(range(27))}, {"by": TEXT, "x": NUMBER}, [9])
    keys = GroupKeys(("by",), (TEXT,), (("a",), ("b",), ("c",)))
    ended = []

    def answer(key: Key, column: Column) -> int:
        if key == ("a",):
            column.count()
        if key != ("c",):
            raise OddError(key[0])
        ended.append((column.count(), column.sum_between(-1, 99, Fraction(1))))
        return 1

    before = set(threading.enumerate())
    with pytest.raises(OddError, match="a"):
        answer_groups(store, TableView(store.columns), keys, "x", True, answer)
    assert ended == [(9, sum(range(2, 27, 3)))]
    ours = set(threading.enumerate()) - before
    for thread in ours:
        thread.join(timeout=300)
    assert not any(thread.is_alive() for thread in ours)


class Broken(CellStore):
    """A store whose passes fail from the second on."""

    remote = True

    def run(self, job: Any, columns: Any) -> Any:
        if self.runs:
            raise OddError("pass")
        return super().run(job, columns)


def broken_store() -> Broken:
    return Broken({"by": texts(["a", "b"] * 300), "x": numbers(range(600))}, {"by": TEXT, "x": NUMBER})


@pytest.mark.usefixtures("small_room")
def test_an_error_of_a_pass_is_raised_in_every_group_that_waits() -> None:
    keys = GroupKeys(("by",), (TEXT,), (("a",), ("b",), ("nobody",)))

    def answer(key: Key, column: Column) -> Any:
        try:
            return column.order_windows([MEDIAN])[0].raw_rows
        except OddError:
            return "no reply"

    view = TableView({"by": TEXT, "x": NUMBER})
    found = answer_groups(broken_store(), view, keys, "x", True, answer)
    assert found == {("a",): "no reply", ("b",): "no reply", ("nobody",): 0}
    with pytest.raises(OddError, match="pass"):
        answer_groups(broken_store(), view, keys, "x", True, lambda key, column: column.order_windows([MEDIAN]))


@pytest.mark.usefixtures("small_room")
def test_an_interrupt_lets_no_thread_wait_for_ever() -> None:
    ended = threading.Semaphore(0)

    class Interrupted(Broken):
        def run(self, job: Any, columns: Any) -> Any:
            raise KeyboardInterrupt

    def answer(key: Key, column: Column) -> None:
        try:
            for _ in range(3):  # an answer that does not give up
                with contextlib.suppress(BaseException):
                    column.count()
        finally:
            ended.release()

    store = Interrupted({"by": texts(["a", "b"]), "x": numbers([1, 2])}, {"by": TEXT, "x": NUMBER})
    with pytest.raises(KeyboardInterrupt):
        answer_groups(store, TableView(store.columns), GroupKeys(("by",), (TEXT,), (("a",), ("b",))), "x", True, answer)
    assert ended.acquire(timeout=300)
    assert ended.acquire(timeout=300)


@pytest.mark.usefixtures("small_room")
def test_groups_are_answered_in_turns_where_threads_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    start = lockstep._start

    def scarce(runner: Any, *, needed: bool) -> bool:
        if not needed and len(started) % 3 == 2:
            started.append(None)
            return False
        started.append(runner)
        return start(runner, needed=needed)

    monkeypatch.setattr(lockstep, "_start", scarce)
    labels = [index % 10 for index in range(500)]
    store = FarStore({"by": numbers(labels), "x": numbers(range(500))}, {"by": NUMBER, "x": NUMBER}, [100])
    keys = GroupKeys(("by",), (NUMBER,), tuple((label,) for label in range(10)))
    found = answer_groups(store, TableView(store.columns), keys, "x", True, lambda key, column: column.count())
    assert found == {(label,): 50 for label in range(10)}
    assert None in started


def test_labels_can_be_asked_in_every_group(make_store: Callable[..., CellStore]) -> None:
    by = ["a", "b", "a", None, "b", "a"]
    columns: dict[str, tuple[ColumnType, Cells, list[Any]]] = {
        "t": (TEXT, texts(["u", "v", None, "u", "v", "u"]), [("u", 2)]),
        "d": (ColumnType.MOMENT, moments(["2024-01-01", None, "2024-01-01", None, None, "2023-01-01"], "D"), [("2024-01-01", 2)]),
        "n": (NUMBER, numbers([1.5, None, 1.5, 2, None, 0]), [(1.5, 2)]),
    }
    table = {"by": texts(by), **{name: cells for name, (_, cells, _) in columns.items()}, "o": opaque([1, None, None, 1, 1, 1])}
    declared = {"by": TEXT, **{name: kind for name, (kind, _, _) in columns.items()}, "o": ColumnType.OTHER}
    store = make_store(table, declared, [1, 2, 4])
    keys = GroupKeys(("by",), (TEXT,), (("a",), ("nobody",)))
    for name, (_, _, common) in columns.items():
        found = answer_groups(
            store,
            TableView(declared),
            keys,
            name,
            False,
            lambda key, column: (column.most_common(1), column.stored(), column.dtype),
        )
        assert found == {("a",): (common, 3, None), ("nobody",): ([], 0, None)}
    counts = answer_groups(store, TableView(declared), keys, "o", False, lambda key, column: (column.count(), column.stored()))
    assert counts == {("a",): (2, 3), ("nobody",): (0, 0)}


def test_undeclared_labels_can_be_asked_in_every_group() -> None:
    for make in (CellStore, FarStore):
        store = make(
            {"by": texts(["a", "b", "a", "a"]), "x": numbers([7, 7, None, None])},
            {"by": TEXT, "x": ColumnType.UNDECLARED},
            [1],
            texts={"x": texts(["7", "7", "x", None])},
        )
        keys = GroupKeys(("by",), (TEXT,), (("a",),))
        found = answer_groups(
            store, TableView(store.columns), keys, "x", False, lambda key, column: (column.most_common(3), column.count())
        )
        assert found == {("a",): ([(7, 1), ("x", 1)], 2)}


def above_one(cells: Numbers) -> Any:
    return cells.raw_values > 1


def doubled(cells: Numbers) -> Numbers:
    return Numbers(cells.raw_values * 2, cells.raw_present)


def test_keys_and_values_may_be_derived_and_rows_filtered(make_store: Callable[..., CellStore]) -> None:
    store = make_store({"x": numbers([1, 2, 2, 3, 3, 3])}, {"x": NUMBER, "unused": TEXT}, [2])
    view = TableView(
        store.columns, {"two": Computed((("x", NUMBER),), doubled)}, (Computed((("x", NUMBER),), above_one, ColumnType.BOOLEAN),)
    )
    keys = GroupKeys(("two",), (NUMBER,), ((2,), (4,), (6,)))
    found = answer_groups(store, view, keys, "two", True, lambda key, column: column.counts_below([5, 100]))
    assert found == {(2,): [0, 0], (4,): [2, 2], (6,): [0, 3]}
    assert count_keys(store, view, ("two",), (NUMBER,)) == {(4,): 2, (6,): 3}
    assert store.last_columns == ["x"]


KEYED: dict[str, tuple[ColumnType, Cells, dict[Any, int]]] = {
    "texts": (TEXT, texts(["b", "a", None, "b", "", "ä"]), {"b": 2, "a": 1, "": 1, "ä": 1}),
    "floats": (NUMBER, numbers([-0.0, 0.0, 7, None, math.nan, math.inf, 0.1]), {0: 2, 7: 1, math.inf: 1, 0.1: 1}),
    "float32": (NUMBER, numbers([12.99, 12.99, 7], "float32"), {12.99: 2, 7: 1}),
    "wholes": (INTEGER, numbers([3, -2, 3, None, 10**9], "int64"), {3: 2, -2: 1, 10**9: 1}),
    "spread": (
        INTEGER,
        numbers([-(2**62), 2**62 + 1, 2**62, 4], "int64"),
        {-4.61168601842739e18: 1, 4.61168601842739e18: 2, 4: 1},
    ),
    "unsigned": (INTEGER, numbers([2**64 - 1, 2**64 - 2, 1], "uint64"), {1.84467440737096e19: 2, 1: 1}),
    "high": (INTEGER, numbers([2**64 - 1, 2**64 - 2], "uint64"), {1.84467440737096e19: 2}),
    "small": (INTEGER, numbers([-128, 127, 127], "int8"), {-128: 1, 127: 2}),
    "booleans": (ColumnType.BOOLEAN, numbers([True, False, True], "bool"), {True: 2, False: 1}),
    "days": (ColumnType.MOMENT, moments(["2024-02-29", None, "0001-01-01"], "D"), {"2024-02-29": 1, "0001-01-01": 1}),
    "times": (
        ColumnType.MOMENT,
        moments(["2024-02-29T01:02:03.5", "1969-12-31T23:59:59.999999", None]),
        {"2024-02-29T01:02:03.500000".rstrip("0"): 1, "1969-12-31T23:59:59.999999": 1},
    ),
    "zoned": (ColumnType.MOMENT, moments(["2024-02-29T00:00"], "ms", zoned=True), {"2024-02-29T00:00:00+00:00": 1}),
    "months": (ColumnType.MOMENT, moments(["2024-02", "2024-02"], "M"), {"2024-02": 2}),
    "nothing": (NUMBER, numbers([None, None]), {}),
}


@pytest.mark.parametrize("name", list(KEYED))
def test_keys_are_counted_and_found_again_in_their_canonical_form(make_store: Callable[..., CellStore], name: str) -> None:
    kind, cells, counts = KEYED[name]
    store = make_store({"by": cells, "x": numbers([1] * len(cells))}, {"by": kind, "x": NUMBER}, [1])
    view = TableView(store.columns)
    counted = count_keys(store, view, ("by",), (kind,))
    assert counted == {(key,): count for key, count in counts.items()}
    strangers: list[Any] = ["stranger", 12345.678, "2024-02-30", "2024-13", math.nan, -math.inf, "999999999999-01-01", 1e300]
    keys = GroupKeys(("by",), (kind,), (*counted, *((stranger,) for stranger in strangers)))
    found = answer_groups(store, view, keys, "x", True, lambda key, column: column.count())
    assert {key: count for key, count in found.items() if count} == counted
    assert len(found) == len(counted) + len(strangers)


def test_a_key_that_is_given_twice_is_one_group() -> None:
    keys = GroupKeys(("by",), (NUMBER,), ((7,), (7.0,), (True,), (1,), (np.float64(0.0),), (-0.0,), (math.inf,), (10**400,)))
    assert [key[0] for key in keys.keys] == [7, 1, 0, math.inf]
    store = CellStore({"by": numbers([7, 7, 1, 0]), "x": numbers([1, 2, 3, 4])}, {"by": NUMBER, "x": NUMBER})
    found = answer_groups(store, TableView(store.columns), keys, "x", True, lambda key, column: column.count())
    assert found == {(7,): 2, (1,): 1, (0,): 1, (math.inf,): 0}


def test_many_keys_of_several_columns_are_told_apart() -> None:
    chance = np.random.default_rng(17)
    count = 5000
    columns = [chance.integers(0, 300, count) * 10**9, chance.integers(0, 40, count), chance.integers(0, 3, count)]
    store = CellStore(
        {"a": Numbers(columns[0]), "b": Numbers(columns[1].astype(np.float64)), "c": texts([str(label) for label in columns[2]])},
        {"a": INTEGER, "b": NUMBER, "c": TEXT},
        range(0, count, 700),
    )
    view = TableView(store.columns)
    truth = Counter(zip(columns[0].tolist(), columns[1].tolist(), map(str, columns[2].tolist()), strict=True))
    assert count_keys(store, view, ("a", "b", "c"), (INTEGER, NUMBER, TEXT)) == truth
    wanted = list(truth)[::2]
    keys = GroupKeys(("a", "b", "c"), (INTEGER, NUMBER, TEXT), tuple(wanted))
    found = answer_groups(store, view, keys, "b", True, lambda key, column: (column.count(), column.most_common(1)))
    assert found == {key: (truth[key], [(key[1], truth[key])]) for key in wanted}


def test_more_groups_than_sixteen_bits_are_sorted_apart() -> None:
    count = 70_000
    order = np.random.default_rng(2).permutation(count)
    store = CellStore({"by": Numbers(order), "x": Numbers(order * 2)}, {"by": INTEGER, "x": INTEGER}, in_memory=True)
    keys = GroupKeys(("by",), (INTEGER,), tuple((label,) for label in range(count)))
    found = answer_groups(
        store, TableView(store.columns), keys, "x", True, lambda key, column: column.counts_below([2 * int(key[0]), 10**9])
    )
    assert found == {(label,): [0, 1] for label in range(count)}


def test_an_empty_table_has_empty_groups_and_no_keys(make_store: Callable[..., CellStore]) -> None:
    store = make_store({"by": texts([]), "x": numbers([], "int8")}, {"by": TEXT, "x": INTEGER})
    keys = GroupKeys(("by",), (TEXT,), (("a",),))
    found = answer_groups(store, TableView(store.columns), keys, "x", True, all_about)
    assert found == expected([("a",)], {}, "int8")
    assert count_keys(store, TableView(store.columns), ("by",), (TEXT,)) == {}
    assert answer_groups(store, TableView(store.columns), GroupKeys(("by",), (TEXT,), ()), "x", True, all_about) == {}


def test_wrong_keys_and_columns_are_refused_before_a_row_is_read() -> None:
    store = CellStore({"by": texts(["a"]), "x": texts(["b"])}, {"by": TEXT, "x": TEXT})
    with pytest.raises(InvalidParameterError, match="2 labels"):
        GroupKeys(("a", "b"), (TEXT, TEXT), (("x",),))
    with pytest.raises(InvalidParameterError, match="one or more columns"):
        GroupKeys((), (), ())
    with pytest.raises(DataTypeError, match="another type"):
        GroupKeys(("a",), (ColumnType.OTHER,), ())
    with pytest.raises(DataTypeError, match="another type"):
        count_keys(store, TableView(store.columns), ("by",), (ColumnType.OTHER,))
    with pytest.raises(DataTypeError, match="text"):
        answer_groups(store, TableView(store.columns), GroupKeys(("by",), (TEXT,), (("a",),)), "x", True, all_about)
    assert store.runs == 0


def test_a_32_bit_number_has_the_label_that_it_prints_and_no_other() -> None:
    store = CellStore({"by": numbers([12.99], "float32"), "x": numbers([1])}, {"by": NUMBER, "x": NUMBER})
    for label, rows in ((12.99, 1), (12.9900001, 0), (float(np.float32(12.99)), 0), (1e300, 0)):
        keys = GroupKeys(("by",), (NUMBER,), ((label,),))
        assert answer_groups(store, TableView(store.columns), keys, "x", True, lambda _, column: column.count()) == {
            (label,): rows
        }


@pytest.mark.parametrize("lot", [1, 7, 1 << 18])
def test_rows_are_split_alike_in_lots_of_any_size(monkeypatch: pytest.MonkeyPatch, lot: int) -> None:
    monkeypatch.setattr(splits, "SORTED_ROWS", lot)
    monkeypatch.setattr(splits, "ROWS_PER_GROUP", 1)
    chance = np.random.default_rng(6)
    split, other = splits.Split(3), splits.Split(3)
    raw_rows: list[tuple[int, float, str]] = []
    for batch in range(12):
        codes = chance.integers(-1, 3, 20)
        values, places = chance.normal(size=20), chance.integers(0, 2, 20)
        taken = chance.random(20) < 0.8 if batch % 3 else None
        labels_here = [f"text {batch % 4}", "always"]
        parts = [CountedCells(Numbers(values), taken), CountedCells(Labels(places, labels_here), None)]
        (split if batch < 8 else other).add(codes, parts)
        kept = np.ones(20, dtype=bool) if taken is None else taken
        raw_rows += [
            (code, value if is_kept else math.nan, labels_here[place])
            for code, value, place, is_kept in zip(codes, values, places, kept, strict=True)
        ]
    split.absorb(other)
    found = list(split.by_group(all_groups=True))
    assert [rows.group for rows in found] == [0, 1, 2]
    for rows in found:
        here = [(value, text) for code, value, text in raw_rows if code == rows.group]
        raw_numbers, labels = rows.cells
        assert isinstance(raw_numbers, Numbers)
        assert isinstance(labels, Labels)
        assert sorted(raw_numbers.raw_values.tolist()) == sorted(value for value, _ in here if value == value)
        assert sorted(labels.raw_labels[code] for code in labels.raw_codes) == sorted(text for _, text in here)
        assert rows.stored == len(here)
    assert split.rows == 0
