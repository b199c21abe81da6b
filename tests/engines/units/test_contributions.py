"""At most k rows of each unit: chosen by a keyed hash from the unit's own rows, whatever else the table holds."""

from __future__ import annotations

import pickle
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.cells import ColumnType, present_cells
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.engines.units import bitmaps, contenders, contributions
from dpstats.engines.units.bitmaps import Bitmap
from dpstats.engines.units.contenders import Contenders, crowded, few_of_each, thinned
from dpstats.engines.units.contributions import Bound, BoundedStore, MissingUnit, row_marks, unit_marks
from dpstats.engines.units.ids import UnitIds
from dpstats.engines.units.siphash import Words
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError

KEY = bytes(range(32))
TEXT, NUMBER, INTEGER, UNDECLARED = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.UNDECLARED
Row = tuple[Any, Any]


class ListedStore(LocalStore):
    """Rows (unit, value) in batches of some lengths; counts its passes and remembers what was read."""

    def __init__(self, rows: Sequence[Row], lengths: Iterable[int] = (), units: Any = list, in_memory: bool = False) -> None:
        self.columns = {"unit": UNDECLARED, "value": INTEGER}
        self.rows = list(rows)
        self.lengths = list(lengths)
        self.units = units
        self.in_memory = in_memory
        self.passes: list[list[str]] = []

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        self.passes.append(list(columns))
        rows = self.rows
        for length in [*self.lengths, len(rows)]:
            part, rows = rows[:length], rows[length:]
            held = {
                "unit": self.units([unit for unit, _ in part]),
                "value": pa.array([value for _, value in part], type=pa.int64()),
            }
            yield Batch({name: held[name] for name in columns}, len(part))


def bound(rows: int = 2, kind: ColumnType = UNDECLARED, missing: MissingUnit = MissingUnit.DROP, key: bytes = KEY) -> Bound:
    return Bound("unit", kind, rows, (("value", INTEGER), ("unit", kind)), missing, key)


def values_of(batch: Batch) -> list[Any]:
    cells = batch.cells("value", INTEGER)
    return [value if there else None for value, there in zip(cells.raw_values.tolist(), present_cells(cells), strict=True)]


def kept(store: LocalStore, how: Bound) -> list[Row]:
    """The rows that stay, as they are in the table: the values must tell the rows apart."""
    by_value = {value: unit for unit, value in store.rows}
    return [(by_value[value], value) for batch in BoundedStore(store, how).batches(["value"]) for value in values_of(batch)]


def table(sizes: Mapping[Any, int], seed: int = 1) -> list[Row]:
    """Units of some sizes, shuffled, every row with its own value."""
    units = [unit for unit, size in sizes.items() for _ in range(size)]
    rows = [(unit, value) for value, unit in enumerate(units)]
    random.Random(seed).shuffle(rows)
    return rows


def by_unit(rows: Iterable[Row]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for unit, value in rows:
        found[unit].append(value)
    return {unit: sorted(values) for unit, values in found.items()}


def test_a_unit_keeps_all_its_rows_or_as_many_as_it_may() -> None:
    sizes = {f"unit {size} {copy}": size for size in range(8) for copy in range(5)}
    for rows in (1, 2, 3, 7, 100):
        found = by_unit(kept(ListedStore(table(sizes), [3, 0, 50, 1]), bound(rows)))
        assert {unit: len(found.get(unit, [])) for unit in sizes} == {unit: min(rows, size) for unit, size in sizes.items()}


def test_the_rows_that_stay_keep_their_order_and_their_other_columns() -> None:
    rows = table({"a": 5, "b": 1, "c": 9})
    store = BoundedStore(ListedStore(rows, [4, 4]), bound())
    seen = []
    for batch in store.batches(["unit", "value"]):
        units = batch.cells("unit", TEXT)
        assert batch.rows == len(units) == len(values_of(batch))
        seen += list(zip([units.raw_labels[code] for code in units.raw_codes], values_of(batch), strict=True))
        assert len(batch.identities("unit", TEXT)) == batch.rows
    assert seen == [row for row in rows if row in set(seen)]
    assert seen == kept(ListedStore(rows), bound())
    assert sum(batch.rows for batch in store.batches([])) == len(seen)


UNITS = st.sampled_from(["a", "b", "c", 7, None, 1j])  # a complex number is no id that can be read


@given(st.lists(UNITS, max_size=25), st.lists(st.integers(0, 6), max_size=6), st.integers(1, 3), st.data())
@settings(max_examples=150)
def test_what_stays_of_a_unit_depends_on_its_own_rows_alone(
    units: list[Any], lengths: list[int], rows: int, data: st.DataObject
) -> None:
    policy = data.draw(st.sampled_from(MissingUnit))
    how = bound(rows, missing=policy)
    whole = [(unit, value) for value, unit in enumerate(units)]
    found = by_unit(kept(ListedStore(whole, lengths), how))
    mixed = data.draw(st.permutations(whole))
    assert by_unit(kept(ListedStore(mixed, lengths[::-1]), how)) == found  # neither order nor batches matter
    gone = data.draw(UNITS)
    without = by_unit(kept(ListedStore([row for row in mixed if row[0] != gone]), how))
    assert without == {unit: values for unit, values in found.items() if unit != gone}  # nor do the rows of others


def all_kept(rows: Sequence[Row], how: Bound) -> Counter[Row]:
    """The rows that stay, by what the store itself says of them; units by their text."""
    found: Counter[Row] = Counter()
    for batch in BoundedStore(ListedStore(rows, [4]), how).batches(["unit", "value"]):
        units = batch.cells("unit", TEXT)
        texts = [*units.raw_labels, None]
        found.update(zip([texts[code] for code in units.raw_codes.tolist()], values_of(batch), strict=True))
    return found


@given(st.lists(st.tuples(UNITS, st.integers(0, 2)), max_size=15), st.integers(1, 3), st.data())
@settings(max_examples=150)
def test_tables_that_differ_by_a_unit_differ_afterwards_by_at_most_k_rows(rows: list[Row], k: int, data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from(MissingUnit))
    unit = data.draw(UNITS)
    smaller = [row for row in rows if row[0] != unit]
    if unit is None and policy is MissingUnit.EACH and len(smaller) < len(rows):
        place = next(place for place, row in enumerate(rows) if row[0] is None)
        smaller = rows[:place] + rows[place + 1 :]
    bounded = [all_kept(part, bound(k, missing=policy)) for part in (rows, data.draw(st.permutations(smaller)))]
    assert bounded[1] <= bounded[0]
    assert (bounded[0] - bounded[1]).total() <= k


def test_rows_without_a_unit_go_or_stay_each_or_share_one_bound() -> None:
    rows = table({None: 9, "a": 5})
    sizes = {
        policy: {unit: len(values) for unit, values in by_unit(kept(ListedStore(rows), bound(missing=policy))).items()}
        for policy in MissingUnit
    }
    assert sizes == {MissingUnit.DROP: {"a": 2}, MissingUnit.EACH: {None: 9, "a": 2}, MissingUnit.TOGETHER: {None: 2, "a": 2}}


@pytest.mark.parametrize("policy", MissingUnit)
def test_rows_whose_id_cannot_be_read_go_whatever_becomes_of_those_without(policy: MissingUnit) -> None:
    rows = table({None: 3, "a": 3, ("ward", 9): 3, 1j: 3})
    readable = [row for row in rows if row[0] in (None, "a")]
    assert kept(ListedStore(rows, [2, 5]), bound(missing=policy)) == kept(ListedStore(readable), bound(missing=policy))
    inner = ListedStore(table({"a": 2, 1j: 9}))
    assert {unit for unit, _ in kept(inner, bound(missing=policy))} == {"a"}
    assert inner.passes == [["unit"], ["value"]]  # they crowd no unit


CONTAINERS: list[tuple[str, Any, ColumnType, list[Any]]] = [
    ("ints", lambda units: np.array(units, dtype=np.int64), INTEGER, [1, 2, 2**60, 2**60 + 1, -1]),
    ("uint64", lambda units: np.array(units, dtype=np.uint64), INTEGER, [1, 2**64 - 1, 2**64 - 2]),
    ("ints with nulls", lambda units: pl.Series(units, dtype=pl.Int64), INTEGER, [1, 2, None]),
    ("floats with NaN", lambda units: np.array(units, dtype=np.float64), NUMBER, [0.5, 2.0, None, float("inf")]),
    ("texts", lambda units: pl.Series(units, dtype=pl.String), TEXT, ["", "a", "b", None]),
    ("texts of numbers", lambda units: pa.array(units, type=pa.string()), NUMBER, ["1", "2.5", str(2**53), str(2**53 + 1)]),
    ("list of wholes", list, UNDECLARED, [2**60, 2**60 + 1, 7, None]),
    ("categories", lambda units: pl.Series(units, dtype=pl.Categorical), TEXT, ["a", "b", None]),
    ("wide wholes", lambda units: pl.Series(units, dtype=pl.Int128), INTEGER, [2**100, 2**100 + 1, None]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "units"), [case[1:] for case in CONTAINERS], ids=[case[0] for case in CONTAINERS])
def test_ids_of_every_type_make_units_of_their_own(make: Any, kind: ColumnType, units: list[Any]) -> None:
    rows = table(dict.fromkeys(units, 4))
    found = by_unit(kept(ListedStore(rows, [3, 5], make), bound(3, kind, MissingUnit.TOGETHER)))
    assert {unit: len(values) for unit, values in found.items()} == dict.fromkeys(units, 3)


def test_numbers_that_are_equal_are_one_unit() -> None:
    rows = [(unit, value) for value, unit in enumerate([7, 7.0, "7", True, 1])]
    assert len(kept(ListedStore(rows), bound(1))) == 2


def test_another_key_keeps_other_rows_and_each_row_has_the_same_chance() -> None:
    rows = table({"a": 6, "b": 3})
    draws = 1200
    times: Counter[Any] = Counter()
    choices = set()
    for number in range(draws):
        found = by_unit(kept(ListedStore(rows), bound(2, key=number.to_bytes(16, "big"))))
        times.update(value for values in found.values() for value in values)
        choices.add(tuple(found["a"]))
    assert len(choices) == 15  # every pair of six
    for unit, value in rows:
        share = 2 / (6 if unit == "a" else 3)
        assert abs(times[value] - draws * share) < 5 * (draws * share * (1 - share)) ** 0.5


def test_nothing_is_read_before_the_first_batch_and_the_search_is_done_once() -> None:
    inner = ListedStore(table({"a": 5}))
    store = BoundedStore(inner, bound())
    assert (store.columns, store.in_memory, inner.passes) == (inner.columns, False, [])
    assert store.repeatable() is store
    assert BoundedStore(ListedStore([], in_memory=True), bound()).in_memory
    for _ in range(2):
        list(store.batches(["value"]))
    assert inner.passes == [["unit"], ["unit", "value"], ["value"], ["value"]]


SEARCHES: list[tuple[str, Mapping[Any, int], MissingUnit, list[list[str]]]] = [
    ("no unit has too many", {"a": 2, "b": 1, "c": 2}, MissingUnit.DROP, [["unit"]]),
    ("one has too many", {"a": 3, "b": 1}, MissingUnit.DROP, [["unit"], ["unit", "value"]]),
    ("no id, and they go", {"a": 2, None: 9}, MissingUnit.DROP, [["unit"]]),
    ("no id, and they stay", {"a": 2, None: 9}, MissingUnit.EACH, [["unit"]]),
    ("no id, and they are one", {"a": 2, None: 9}, MissingUnit.TOGETHER, [["unit"], ["unit", "value"]]),
    ("no id, and few", {"a": 2, None: 2}, MissingUnit.TOGETHER, [["unit"]]),
    ("no rows", {}, MissingUnit.DROP, [["unit"]]),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "policy", "search"), [case[1:] for case in SEARCHES], ids=[case[0] for case in SEARCHES])
def test_other_columns_than_the_ids_are_read_only_if_a_unit_has_too_many_rows(
    sizes: Mapping[Any, int], policy: MissingUnit, search: list[list[str]]
) -> None:
    inner = ListedStore(table(sizes), [2, 3])
    found = by_unit(kept(inner, bound(2, missing=policy)))
    assert inner.passes == [*search, ["value"]]
    assert {unit: len(values) for unit, values in found.items()} == {
        unit: size if unit is None and policy is MissingUnit.EACH else min(2, size)
        for unit, size in sizes.items()
        if unit is not None or policy is not MissingUnit.DROP
    }


def test_only_the_rows_of_units_that_have_too_many_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[Any] = []

    def watched(batch: Batch, how: Bound) -> Words:
        marked.extend(values_of(batch))
        return row_marks(batch, how)

    monkeypatch.setattr(contributions, "row_marks", watched)
    rows = table({"heavy": 7, "other": 3, **{f"unit {number}": 1 + number % 2 for number in range(500)}})
    kept(ListedStore(rows, [100] * 4), bound(2))
    assert marked == [value for unit, value in rows if unit in ("heavy", "other")]


class CountRows:
    """A job: how many rows there are."""

    def scan(self, batches: Iterable[Batch]) -> int:
        return sum(batch.rows for batch in batches)

    def merge(self, parts: Sequence[int]) -> int:
        return sum(parts)


def test_jobs_see_the_rows_that_stay() -> None:
    assert BoundedStore(ListedStore(table({"a": 5, "b": 1})), bound()).run(CountRows(), []) == 3
    assert BoundedStore(ListedStore([]), bound()).run(CountRows(), []) == 0


@pytest.mark.parametrize("policy", MissingUnit)
def test_a_small_room_takes_more_passes_and_changes_nothing(policy: MissingUnit, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table({**{f"unit {number}": number % 7 for number in range(100)}, "heavy": 200, None: 60})
    how = bound(2, missing=policy)
    truth, few = kept(ListedStore(rows), how), kept(ListedStore(rows[:30]), how)
    monkeypatch.setattr(contributions, "ROOM_BYTES", 32 * 40)
    monkeypatch.setattr(bitmaps, "_BLOCK", 64)
    held: list[int] = []
    words: list[int] = []

    def counting(parts: Sequence[Contenders], how_many: int, dropped: Bitmap) -> Contenders:
        held.append(sum(map(len, parts)))
        return thinned(parts, how_many, dropped)

    def counting_words(parts: Sequence[Words], most: int) -> Words:
        words.append(sum(part.size for part in parts))
        return few_of_each(parts, most)

    monkeypatch.setattr(contributions, "thinned", counting)
    monkeypatch.setattr(contributions, "few_of_each", counting_words)
    inner = ListedStore(rows, [10] * 60)
    assert kept(inner, how) == truth
    assert inner.passes.count(["unit"]) > 2
    assert inner.passes.count(["unit", "value"]) > 2
    assert max(held) <= 2 * 40 + 10
    assert max(words) <= 2 * 80 + 10
    monkeypatch.setattr(contributions, "ROOM_BYTES", 1)
    assert kept(ListedStore(rows[:30], [4] * 9), how) == few


def test_one_heavy_unit_needs_little_room_and_no_pass_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributions, "ROOM_BYTES", 32 * 100)
    inner = ListedStore(table({"heavy": 3000}), [50] * 60)
    assert len(kept(inner, bound())) == 2
    assert inner.passes == [["unit"], ["unit", "value"], ["value"]]


def test_a_table_in_one_batch_is_searched_in_two_passes_whatever_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributions, "ROOM_BYTES", 1)
    inner = ListedStore(table(dict.fromkeys(range(50), 3)))
    list(BoundedStore(OneBatch(inner), bound()).batches(["value"]))
    assert inner.passes == [["unit"], ["unit", "value"], ["value"]]


class OneBatch(LocalStore):
    """The first batch of a store that has all rows."""

    def __init__(self, inner: ListedStore) -> None:
        self.columns = inner.columns
        self._inner = inner

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        yield next(self._inner.batches(columns))


FULL = 2**64 - 1
MASKS = st.sampled_from([FULL, FULL, 0, 1, 3 << 62, 1 << 63 | 1, 1 << 40 | 1 << 39, 1 << 24 | 1 << 23])


@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", 7, None, 1j]), max_size=40), st.lists(st.integers(0, 9), max_size=8),
    st.integers(1, 4), st.sampled_from(MissingUnit), st.tuples(MASKS, MASKS, MASKS), st.sampled_from([1, 100, 1000, 1 << 28]),
    st.sampled_from([1, 3, 24]),
)  # fmt: skip
@settings(max_examples=400)
def test_the_rows_that_stay_are_those_of_a_slow_search_whatever_the_room_and_the_marks(
    units: list[Any], lengths: list[int], k: int, policy: MissingUnit, masks: tuple[int, int, int], room: int, bits: int
) -> None:
    """Marks of which only a few bits are left fall together often, in the one word or the other."""
    first, second, third = map(np.uint64, masks)
    rows = [(unit, value) for value, unit in enumerate(units)]
    how = bound(k, missing=policy)
    pairs, firsts = contributions.mark_pairs, contributions.mark_firsts

    def few_pairs(*given: Any) -> tuple[Words, Words]:
        raw_first, raw_second = pairs(*given)
        return raw_first & first, raw_second & second

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contributions, "mark_pairs", few_pairs)
        patch.setattr(contributions, "mark_firsts", lambda *given: firsts(*given) & first)
        patch.setattr(contributions, "row_marks", lambda *given: row_marks(*given) & third)
        patch.setattr(contributions, "ROOM_BYTES", room)
        patch.setattr(contenders, "_SIEVE_BITS", bits)
        found = kept(ListedStore(rows, lengths), how)
        assert found == slowly_kept(rows, how)
    if second == third == np.uint64(FULL):
        assert found == kept(ListedStore(rows), how)  # the second word alone tells units apart


def slowly_kept(rows: Sequence[Row], how: Bound) -> list[Row]:
    """One row after the other: the first k of each unit by mark and place."""
    batch = Batch({"unit": [unit for unit, _ in rows], "value": [value for _, value in rows]}, len(rows))
    ids = UnitIds.of(batch, how.unit, how.unit_kind)
    firsts, seconds = (words.tolist() for words in unit_marks(ids, how))
    without, unreadable = ids.raw_without.tolist(), ids.raw_unreadable.tolist()
    marks = contributions.row_marks(batch, how).tolist()
    rivals: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for place in range(len(rows)):
        if unreadable[place]:
            continue
        if not without[place] or how.missing is MissingUnit.TOGETHER:
            rivals[firsts[place], seconds[place]].append((marks[place], place))
        elif how.missing is MissingUnit.EACH:
            rivals[place].append((0, place))
    stay = {place for of_unit in rivals.values() for _, place in sorted(of_unit)[: how.rows]}
    return [row for place, row in enumerate(rows) if place in stay]


@pytest.mark.parametrize("shift", [0, 22, 23, 38, 39, 61])
def test_contenders_are_compared_by_all_their_bits(shift: int) -> None:
    """Words that differ in three bits only, wherever they stand, against a comparison one by one."""
    chance = np.random.default_rng(shift)
    for size, alike in product((0, 1, 5, 30, 200) * 2, (None, 0, 1, 2)):
        words = chance.integers(0, 8, (3, size)).astype(np.uint64) << np.uint64(shift)
        if alike is not None:
            words[alike] = 0  # one of the words tells nothing
        units, seconds, marks = words
        places = np.sort(chance.choice(1000, size, replace=False))
        rows = int(chance.integers(1, 6))
        rivals: dict[Any, list[Any]] = defaultdict(list)
        for unit, second, mark, place in zip(*(part.tolist() for part in (units, seconds, marks, places)), strict=True):
            rivals[unit, second].append((mark, place))
        truth = {place for of_unit in rivals.values() for _, place in sorted(of_unit)[:rows]}
        whole, dropped = Contenders(units, seconds, marks, places), Bitmap()
        middle = size // 2
        parts = [whole.at(np.arange(middle)), whole.at(np.arange(middle, size))]
        assert set(thinned(parts, rows, dropped).raw_places.tolist()) == truth
        assert set(thinned([whole], rows, Bitmap()).raw_places.tolist()) == truth
        gone = dropped.marked(0, 1000)
        assert set(np.flatnonzero(gone).tolist() if gone is not None else []) == set(places.tolist()) - truth


@given(st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=4), st.integers(1, 4))
@settings(max_examples=100)
def test_words_that_stand_too_often_are_found(parts: list[list[int]], rows: int) -> None:
    times = Counter(word for part in parts for word in part)
    few = few_of_each([np.array(part, dtype=np.uint64) for part in parts], rows + 1)
    assert few.tolist() == sorted(word for word in times for _ in range(min(times[word], rows + 1)))
    assert crowded(few, rows).tolist() == sorted(word for word in times if times[word] > rows)


def test_the_first_word_alone_is_the_first_of_the_two() -> None:
    for _, make, kind, units in CONTAINERS:
        batch = Batch({"unit": make(units)}, len(units))
        ids = UnitIds.of(batch, "unit", kind)
        assert contributions.mark_firsts(ids.cells, KEY, 0).tolist() == unit_marks(ids, bound(kind=kind))[0].tolist()


def test_more_rows_than_any_table_has_may_stay() -> None:
    rows = table({"a": 5, "b": 1})
    assert kept(ListedStore(rows, [2]), bound(10**30)) == rows


def test_rows_of_the_same_content_are_interchangeable_but_no_more_than_k_of_them_stay() -> None:
    store = ListedStore([("a", 1)] * 5 + [("b", 1)] * 2)
    assert sum(batch.rows for batch in BoundedStore(store, bound(3)).batches([])) == 5


def test_a_table_that_changes_between_passes_is_refused() -> None:
    inner = ListedStore(table({"a": 5}))
    store = BoundedStore(inner, bound())
    list(store.batches([]))
    for change in (inner.rows[:3], [*inner.rows, ("b", 99)]):
        inner.rows = change
        with pytest.raises(DataFileError, match="changed while it was being read"):
            list(store.batches([]))


def test_a_failed_search_is_made_again() -> None:
    inner = ListedStore(table({"a": 5}))
    inner.units = lambda units: 1 / 0
    store = BoundedStore(inner, bound())
    with pytest.raises(ZeroDivisionError):
        list(store.batches([]))
    inner.units = list
    assert sum(batch.rows for batch in store.batches([])) == 2


def test_threads_share_one_search() -> None:
    inner = ListedStore(table({str(number): 4 for number in range(50)}), [20] * 10)
    store = BoundedStore(inner, bound())
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(store.run(CountRows(), []))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [100] * 8
    assert inner.passes[:2] == [["unit"], ["unit", "value"]]
    assert inner.passes.count(["unit"]) == inner.passes.count(["unit", "value"]) == 1


def test_a_bound_can_be_shipped_and_does_not_show_its_key() -> None:
    how = bound()
    assert pickle.loads(pickle.dumps(how)) == how
    assert "key" not in repr(how)
    assert how.reads == ["unit", "value"]
    batch = Batch({"unit": ["a", None, "a"], "value": [1, 1, 2]}, 3)
    ids = UnitIds.of(batch, "unit", UNDECLARED)
    first, second = unit_marks(ids, how)
    assert ids.raw_without.tolist() == [False, True, False]
    assert first[0] == first[2] != first[1]
    assert second[0] == second[2] != second[1]
    assert len(set(row_marks(batch, how).tolist())) == 3
    again = Bound("unit", UNDECLARED, 2, how.columns[::-1], MissingUnit.DROP, KEY)
    assert row_marks(batch, again).tolist() == row_marks(batch, how).tolist()  # the order of the columns does not matter


def test_a_bound_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="at least one row"):
        bound(0)
    with pytest.raises(InvalidParameterError, match="16 to 64 bytes"):
        bound(key=b"short")
    with pytest.raises(DataTypeError, match="column unit"):
        bound(kind=ColumnType.OTHER)


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(0, 300), st.integers(0, 100))
@settings(max_examples=100)
def test_a_bitmap_remembers_its_places(places: list[int], start: int, length: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bitmaps, "_BLOCK", 64)
        bitmap = Bitmap()
        for part in (places[:10], places[10:]):
            bitmap.mark(np.array(part, dtype=np.int64))
        found = bitmap.marked(start, start + length)
    truth = [place in places for place in range(start, start + length)]
    assert (found is None and not any(truth)) or found.tolist() == truth
