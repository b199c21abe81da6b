"""Numbers of units by octaves of their rows: exact in every store, and moved by one unit in one place."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.units import contributions
from dpstats.engines.units.contributions import MissingUnit
from dpstats.engines.units.octaves import count_octaves
from dpstats.foundations.errors import DataFileError
from dpstats.mechanisms.unit_octaves import octave_ends
from tests.engines.units.test_contributions import UNITS, ListedStore, bound, table

ENDS = octave_ends(5)


def counted(units: list[Any], missing: MissingUnit = MissingUnit.DROP, lengths: list[int] | None = None) -> list[int]:
    rows = [(unit, value) for value, unit in enumerate(units)]
    raw_counts: list[int] = count_octaves(ListedStore(rows, lengths or []), bound(missing=missing), ENDS).tolist()
    return raw_counts


def test_octaves_end_at_powers_of_two_and_at_the_cap() -> None:
    assert [octave_ends(most) for most in (1, 2, 3, 4, 5, 64)] == [
        (1,),
        (1, 2),
        (1, 2, 3),
        (1, 2, 4),
        (1, 2, 4, 5),
        (1, 2, 4, 8, 16, 32, 64),
    ]


def test_every_unit_is_counted_in_the_octave_of_its_rows() -> None:
    sizes = {f"unit {size} {copy}": size for size in (1, 2, 3, 4, 5, 6, 20) for copy in range(size)}
    raw_counts = count_octaves(ListedStore(table(sizes), [3, 0, 50, 1]), bound(), ENDS)
    assert raw_counts.tolist() == [1, 2, 3 + 4, 5, 6 + 20]
    assert count_octaves(ListedStore([]), bound(), ENDS).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("missing", "expected"),
    [(MissingUnit.DROP, [1, 1, 0, 0, 0]), (MissingUnit.EACH, [4, 1, 0, 0, 0]), (MissingUnit.TOGETHER, [1, 1, 1, 0, 0])],
)
def test_rows_without_an_id_count_as_they_are_bounded(missing: MissingUnit, expected: list[int]) -> None:
    assert counted(["a", "b", "b", None, None, None, 1j, 1j], missing) == expected


@given(st.lists(UNITS, max_size=25), st.lists(st.integers(0, 6), max_size=6), st.sampled_from(MissingUnit), UNITS)
@settings(max_examples=150)
def test_one_unit_moves_one_count_by_one(units: list[Any], lengths: list[int], missing: MissingUnit, gone: Any) -> None:
    with_unit = counted(units, missing, lengths)
    if gone is None and missing is MissingUnit.EACH and None in units:  # where one such row is a unit
        place = units.index(None)
        rest = units[:place] + units[place + 1 :]
    else:
        rest = [unit for unit in units if unit != gone]
    without = counted(rest, missing)
    moves = [here - there for here, there in zip(with_unit, without, strict=True)]
    is_nobody = gone == 1j or (gone is None and missing is MissingUnit.DROP) or gone not in units
    assert sorted(moves) == [0] * 5 if is_nobody else sorted(moves) == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("room", [48, 48 * 7, 48 * 100])
@pytest.mark.parametrize("missing", MissingUnit)
def test_little_room_takes_more_passes_and_changes_nothing(
    room: int, missing: MissingUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [*(unit for unit, _ in table({str(number): 1 + number % 7 for number in range(60)})), None, None, 1j]
    expected = counted(units, missing)
    monkeypatch.setattr(contributions, "ROOM_BYTES", room)
    store = ListedStore([(unit, value) for value, unit in enumerate(units)], [13] * 9)
    assert count_octaves(store, bound(missing=missing), ENDS).tolist() == expected
    assert (len(store.passes) > 1) == (room < 48 * 60)
    assert all(columns == ["unit"] for columns in store.passes)


def test_units_whose_first_words_agree_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = contributions.unit_marks

    def alike(ids: Any, how: Any) -> Any:
        raw_firsts, raw_seconds = marks(ids, how)
        return np.full_like(raw_firsts, 7), raw_seconds

    monkeypatch.setattr("dpstats.engines.units.octaves.unit_marks", alike)
    units = [unit for unit, _ in table({"a": 1, "b": 2, "c": 5, "d": 9})]
    assert counted(units, lengths=[2, 2, 2]) == [1, 1, 0, 1, 1]


def test_a_table_that_changes_between_passes_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contributions, "ROOM_BYTES", 48 * 3)
    store = ListedStore(table({str(number): 1 for number in range(20)}))
    inner = store.batches

    def growing(columns: Any) -> Any:
        store.rows.append(("more", 99))
        return inner(columns)

    store.batches = growing  # type: ignore[method-assign]
    with pytest.raises(DataFileError, match="changed while it was being read"):
        count_octaves(store, bound(), ENDS)


def test_sizes_agree_with_a_count_by_hand() -> None:
    rng = np.random.default_rng(5)
    units = rng.zipf(1.6, 3000).tolist()
    sizes = Counter(units).values()
    firsts = (0, *ENDS)
    expected = [sum(low < size <= high for size in sizes) for low, high in zip(firsts, (*ENDS, 10**9), strict=True)]
    assert counted(units) == expected
