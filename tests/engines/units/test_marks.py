"""Marks: the same for the same value whatever holds it, different for different values, and all others under another key."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers, Opaque
from dpstats.engines.reading import read_cells
from dpstats.engines.units.marks import combine_marks, mark_cells, mark_pairs
from dpstats.engines.units.siphash import siphash

KEY = bytes(range(32))
INF = float("inf")


def marks(cells: Cells, key: bytes = KEY, salt: int = 0) -> list[int]:
    return mark_cells(cells, key, salt).tolist()


def numbers(values: Any, dtype: str) -> list[int]:
    return marks(Numbers(np.array(values, dtype=dtype)))


def sip_of_reference(message: bytes, key: bytes, rounds: int = 1, last_rounds: int = 3) -> int:
    """SipHash as its authors describe it, one message at a time."""
    full = 2**64 - 1

    def turned(word: int, bits: int) -> int:
        return (word << bits | word >> (64 - bits)) & full

    def mix(v: list[int]) -> None:
        v[0], v[2] = (v[0] + v[1]) & full, (v[2] + v[3]) & full
        v[1], v[3] = turned(v[1], 13) ^ v[0], turned(v[3], 16) ^ v[2]
        v[0] = turned(v[0], 32)
        v[2], v[0] = (v[2] + v[1]) & full, (v[0] + v[3]) & full
        v[1], v[3] = turned(v[1], 17) ^ v[2], turned(v[3], 21) ^ v[0]
        v[2] = turned(v[2], 32)

    halves = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    v = [
        b ^ halves[i % 2] for i, b in enumerate((0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573))
    ]
    whole = message + b"\0" * (-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for start in range(0, len(whole), 8):
        word = int.from_bytes(whole[start : start + 8], "little")
        v[3] ^= word
        for _ in range(rounds):
            mix(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(last_rounds):
        mix(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_the_reference_gives_the_published_examples() -> None:
    assert sip_of_reference(bytes(range(15)), bytes(range(16)), 2, 4) == 0xA129CA6149BE45E5  # the paper's appendix A
    assert sip_of_reference(bytes(range(8)), bytes(range(16)), 2, 4) == 0x93F5F5799A932462  # the authors' test vectors


def test_many_messages_are_hashed_as_the_reference_hashes_one() -> None:
    chance = random.Random(5)
    for length in (1, 2, 3):
        rows = [chance.randbytes(8 * length) for _ in range(40_000)]
        words = np.frombuffer(b"".join(rows), dtype="<u8").reshape(-1, length).T
        key = chance.randbytes(16)
        found = siphash([np.ascontiguousarray(word) for word in words], key).tolist()
        for place in (0, 1, 2**14 - 1, 2**14, 2**14 + 1, 39_999):
            assert found[place] == sip_of_reference(rows[place], key)


def test_a_number_has_one_mark_whatever_type_holds_it() -> None:
    types = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
    assert len({tuple(numbers([0, 1, 7, 100], dtype)) for dtype in types}) == 1
    assert marks(read_cells([True, False], ColumnType.BOOLEAN)) == numbers([1, 0], "f8")
    assert marks(read_cells(np.array([True, False]), ColumnType.BOOLEAN)) == numbers([1, 0], "i8")
    assert numbers([-0.0], "f8") == numbers([0], "i8")
    assert numbers([2.0**60, -(2.0**63), 3 * 2.0**61], "f8") == numbers([2**60, -(2**63), 3 * 2**61], "i8")
    assert numbers([2**53 + 1, 2**63 - 1], "i8") == numbers([2**53 + 1, 2**63 - 1], "u8")
    decimals = [Decimal("0.5"), Decimal(7)]
    assert marks(read_cells(pa.array(decimals), ColumnType.NUMBER)) == numbers([0.5, 7], "f8")


def test_whole_numbers_that_no_float_equals_keep_marks_of_their_own() -> None:
    near = [sign * (2**power + offset) for power in range(53, 63) for offset in range(-3, 4) for sign in (1, -1)]
    near += [2**63 - 1, -(2**63) + 1, -(2**63)]
    large = [2**63 + offset for offset in range(5)] + [2**64 - 1 - offset for offset in range(5)]
    found = dict(zip(near, numbers(near, "i8"), strict=True)) | dict(zip(large, numbers(large, "u8"), strict=True))
    assert len(set(found.values())) == len(set(near)) + len(set(large))


def test_a_moment_has_one_mark_whatever_unit_holds_it() -> None:
    moments = ["2024-02-29", "1969-12-31", "0001-01-01", "NaT"]
    units = ["D", "h", "m", "s", "ms", "us"]
    assert len({tuple(marks(Moments(np.array(moments, dtype=f"M8[{unit}]")))) for unit in units}) == 1
    fine = np.array(["2024-02-29T12:00:00.5", "1969-12-31T23:59:59.999"], dtype="M8[ms]")
    assert marks(Moments(fine)) == marks(Moments(fine.astype("M8[us]"))) == marks(Moments(fine.astype("M8[ns]")))
    years = np.array(["2024", "1900"], dtype="M8[Y]")
    assert marks(Moments(years)) == marks(Moments(years.astype("M8[M]"))) == marks(Moments(years.astype("M8[us]")))


def test_extreme_moments_have_marks_too() -> None:
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "as"):
        extreme = np.array([2**63 - 1, -(2**63) + 1, 0], dtype=np.int64).view(f"M8[{unit}]")
        assert len(set(marks(Moments(extreme)))) == 3


def test_texts_are_marked_by_their_characters_and_not_by_their_place_in_the_list() -> None:
    assert marks(Labels(np.array([0, 1, -1, 0]), ["a", "b"])) == marks(Labels(np.array([1, 0, -1, 1]), ["b", "a"]))
    first = marks(read_cells(pl.Series(["x", None, "ä"]), ColumnType.TEXT))
    assert (
        first
        == marks(read_cells(pa.array(["x", None, "ä"]), ColumnType.TEXT))
        == marks(read_cells(["x", None, "ä"], ColumnType.TEXT))
    )
    assert marks(Labels(np.array([0]), ["\ud800"]))


def test_missing_cells_of_every_type_have_one_mark_that_no_other_has() -> None:
    nan = Numbers(np.array([np.nan, 0.0]), np.array([False, True]))
    nothing = {marks(nan)[0], marks(Numbers(np.array([5, 0]), np.array([False, True])))[0], marks(Labels(np.array([-1]), []))[0]}
    nothing |= {marks(Moments(np.array(["NaT"], dtype="M8[us]")))[0], marks(Opaque(np.array([False])))[0]}
    assert len(nothing) == 1
    assert not nothing & {marks(nan)[1], *marks(Labels(np.array([0]), [""])), *marks(Opaque(np.array([True])))}


def test_another_key_another_salt_and_the_second_of_a_pair_give_other_marks() -> None:
    columns: list[Cells] = [
        Numbers(np.arange(50.0)), Labels(np.arange(50), [str(row) for row in range(50)]),
        Moments(np.arange(50).astype("M8[D]")), Numbers(np.array([2**53 + 1])), Opaque(np.array([True, False])),
    ]  # fmt: skip
    for cells in columns:
        first, second = mark_pairs(cells, KEY, 0)
        found = [first.tolist(), second.tolist(), marks(cells, b"k" * 16), marks(cells, KEY, 1)]
        assert len({mark for row in found for mark in row}) == sum(map(len, found))
        assert mark_pairs(cells, KEY, 0)[0].tolist() == found[0]


def test_rows_are_told_apart_by_what_stands_where() -> None:
    a, b = np.array([1, 2, 1]), np.array([2, 1, 1])
    rows = combine_marks([mark_cells(Numbers(a), KEY, 1), mark_cells(Numbers(b), KEY, 2)], KEY, 0)
    assert len(set(rows.tolist())) == 3
    assert combine_marks([mark_cells(Numbers(a), KEY, 1)], KEY, 3).tolist() != mark_cells(Numbers(a), KEY, 1).tolist()


def test_every_bit_of_a_mark_looks_random_whatever_the_values_are() -> None:
    rows = 20_000
    columns = [
        mark_cells(Numbers(np.arange(rows)), KEY, 0),
        mark_cells(Labels(np.arange(rows), [f"{row:05}" for row in range(rows)]), KEY, 0),
    ]
    columns += [np.array([mark_cells(Numbers(np.array([1e300])), row.to_bytes(16, "big"), 0)[0] for row in range(rows // 10)])]
    for found in columns:
        for bit in range(64):
            ones = int(np.count_nonzero(found >> np.uint64(bit) & np.uint64(1)))
            assert abs(ones - found.size / 2) < 6 * (found.size / 4) ** 0.5  # six standard deviations


@given(
    st.lists(
        st.none() | st.floats() | st.integers(-(2**70), 2**70) | st.text(max_size=3) | st.dates() | st.booleans(), max_size=6
    )
)
@settings(max_examples=100)
def test_a_mark_depends_on_its_own_cell_alone(rows: list[Any]) -> None:
    for kind in (ColumnType.TEXT, ColumnType.NUMBER, ColumnType.MOMENT, ColumnType.INTEGER):
        alone = [marks(read_cells([row], kind))[0] for row in rows]
        assert marks(read_cells(rows, kind)) == alone


def test_empty_columns_have_no_marks() -> None:
    for cells in (
        Numbers(np.zeros(0)),
        Labels(np.zeros(0, dtype=np.int64), []),
        Moments(np.zeros(0, dtype="M8[D]")),
        Opaque(np.zeros(0, bool)),
    ):
        assert marks(cells) == []
        assert [part.tolist() for part in mark_pairs(cells, KEY, 0)] == [[], []]


def test_infinities_and_the_date_of_today_are_ordinary() -> None:
    assert len(set(numbers([INF, -INF, 1e308, 5e-324, 0], "f8"))) == 5
    assert len(marks(read_cells([datetime.date(2024, 2, 29)], ColumnType.MOMENT))) == 1
