"""Power sums: the same integers as placing the rows one by one and adding up in Python, for every number, type and clip."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.exact import powers
from dpstats.engines.exact.powers import BLOCK_ROWS, Wholes, places_in, power_sums, product_sums
from dpstats.engines.tables.given import as_column
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.summaries import Clip
from dpstats.foundations.units import in_units

INF, NAN = float("inf"), float("nan")
LARGEST = 2**26
TIMES = [float(2**53), -float(2**53), 1e308, -1e308, 5e-324, 0.5, 1.5, 2.5, -0.5, -0.0, 0.0, INF, -INF, NAN, 2.0**-1074, 1e-310]

clips = st.builds(
    lambda steps, low, exponent: Clip(min(low, 2**52 - steps), steps, Fraction(2) ** exponent),
    st.one_of(st.integers(1, 50), st.sampled_from([2**13 - 1, 2**13, 2**13 + 1, LARGEST - 1, LARGEST]), st.integers(1, LARGEST)),
    st.one_of(st.integers(-60, 60), st.integers(-LARGEST, LARGEST), st.integers(-(2**52), 2**52)),
    st.one_of(st.integers(-30, 30), st.integers(-1300, 1100), st.sampled_from([-1074, -1127, 900, 1000, -1000, 1001, -1001])),
)


@st.composite
def rows_near(draw: st.DrawFn, clip: Clip) -> NDArray[Any]:
    """Rows of any type; many of them lie in the clip, at its ends, and halfway between places."""
    halves = st.integers(2 * clip.low - 5, 2 * (clip.low + clip.steps) + 5).map(lambda half: Fraction(half, 2) * clip.unit)
    floats = st.one_of(halves.map(_near), st.sampled_from(TIMES), st.floats())
    kind = draw(st.sampled_from(["float64", "float32", "int64", "uint64", "int8", "near 2**53"]))
    if kind.startswith("float"):
        with np.errstate(all="ignore"):
            return np.array(draw(st.lists(floats, max_size=40)), dtype=np.float64).astype(kind)
    limits = {"int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1), "int8": (-128, 127), "near 2**53": (2**53 - 9, 2**53 + 9)}
    low, high = limits[kind]
    own = st.integers(max(low, min(high, clip.low)), min(high, max(low, clip.low + clip.steps)))
    return np.array(
        draw(st.lists(st.one_of(own, st.integers(low, high)), max_size=40)), dtype="int64" if kind[0] == "n" else kind
    )


def _near(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return INF if number > 0 else -INF


def placed(rows: NDArray[Any], clip: Clip) -> list[int]:
    """Where every row that is not missing lies, one by one."""
    return [clip.place(row) for row in rows if row == row]


@settings(max_examples=600)
@given(data=st.data(), clip=clips, degree=st.integers(0, 4), seed=st.integers(0, 99))
def test_power_sums_are_those_of_single_rows_whatever_the_order_the_chunks_and_the_blocks(
    data: st.DataObject, clip: Clip, degree: int, seed: int
) -> None:
    rows = data.draw(rows_near(clip))
    where = placed(rows, clip)
    truth = tuple(sum(place**power for place in where) for power in range(degree + 1))
    assert places_in(rows, clip).tolist() == where
    assert ArrayColumn([rows]).power_sums(clip, degree) == truth
    shuffled = np.random.default_rng(seed).permutation(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(powers, "BLOCK_ROWS", 7)
        found = power_sums(np.array_split(shuffled, 3), clip, degree)
    assert found == truth
    assert all(type(total) is int for total in found)


@settings(max_examples=200)
@given(data=st.data(), first=clips, second=clips, degree=st.integers(0, 4))
def test_product_sums_are_those_of_single_rows(data: st.DataObject, first: Clip, second: Clip, degree: int) -> None:
    pairs = [data.draw(rows_near(clip)) for clip in (first, second)]
    x, y = (rows[rows == rows] for rows in pairs)
    x, y = x[: y.size], y[: x.size]
    where = list(zip(placed(x, first), placed(y, second), strict=True))
    truth = [[sum(a**i * b**j for a, b in where) for j in range(degree + 1)] for i in range(degree + 1)]
    assert product_sums(x, y, (first, second), degree) == truth
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(powers, "BLOCK_ROWS", 7)
        assert product_sums(x, y, (first, second), degree) == truth


@pytest.mark.parametrize("steps", [1, 2**13, 2**20 + 1, LARGEST - 1, LARGEST])
def test_the_largest_sums_of_full_blocks_are_exact(steps: int) -> None:
    clip = Clip(-5, steps, Fraction(1))
    rows = np.full(2 * BLOCK_ROWS + 3, 1e300)
    rows[0] = 0.0
    top, one = rows.size - 1, 5 if steps > 5 else steps
    assert power_sums([rows], clip, 4) == tuple(top * steps**power + one**power for power in range(5))
    products = product_sums(rows, rows[::-1], (clip, clip), 4)
    expected = [[(top - 1) * steps ** (i + j) + one**i * steps**j + steps**i * one**j for j in range(5)] for i in range(5)]
    assert products == expected


@settings(max_examples=300)
@given(
    numbers=st.lists(st.tuples(st.integers(0, 2**53), st.integers(0, 2**53)), max_size=30),
    copies=st.integers(1, BLOCK_ROWS // 30),
)
def test_a_dot_of_whole_numbers_of_53_digits_is_exact(numbers: list[tuple[int, int]], copies: int) -> None:
    x, y = (np.array([pair[side] for pair in numbers] * copies, dtype=np.float64) for side in (0, 1))
    one, other = Wholes(x, 2**53), Wholes(y, 2**53)
    assert one.dot(other) == copies * sum(a * b for a, b in numbers)
    assert one.sum() == copies * sum(a for a, _ in numbers)


def test_whole_numbers_beyond_2_to_53_lie_where_their_15_digits_do() -> None:
    elsewhere = 0
    for middle in (2**53 + 1, -(2**53) - 1, 10**17 + 3, 2**62 + 12345, -(2**63) + 777777, 2**64 - 99999):
        steps = (-30_000, -300, -7, 0, 5, 60, 2_000, 50_000)
        rows = np.array([middle + step for step in steps], dtype=np.uint64 if middle >= 2**63 else np.int64)
        unit = Fraction(2) ** (abs(middle).bit_length() - 52)
        clip = Clip(max(-(2**52), min(2**52 - 90_000, int(middle / unit) - 45_000)), 90_000, unit)
        found = places_in(rows, clip).tolist()
        assert found == placed(rows, clip)
        elsewhere += found != [clip.place(float(row)) for row in rows.tolist()]
    assert elsewhere >= 2  # the nearest floats are not always the same


@pytest.mark.parametrize("exponent", [-1074, -1100, -1114, -1126, -1127, -1300])
def test_the_smallest_numbers_are_many_of_the_smallest_units(exponent: int) -> None:
    unit = Fraction(2) ** exponent
    places = in_units(5e-324, unit)
    rows = np.array([5e-324, -5e-324, 1e-323, 0.0])
    for low in {min(places, 2**52) - 3, -min(places, 2**52), 0}:
        clip = Clip(low, 6 if low else LARGEST, unit)
        if low + clip.steps <= 2**52:
            assert places_in(rows, clip).tolist() == placed(rows, clip)
            assert power_sums([rows], clip, 1)[1] == sum(placed(rows, clip))


def test_a_lower_degree_is_the_beginning_of_a_higher_one() -> None:
    column = as_column(np.random.default_rng(1).normal(size=20_000))
    clip = Clip(-(2**20), 2**21, Fraction(1, 2**18))
    highest = column.power_sums(clip, 4)
    assert [column.power_sums(clip, degree) for degree in range(4)] == [highest[: degree + 1] for degree in range(4)]


def test_places_are_taken_without_a_warning_and_without_touching_the_rows() -> None:
    rows = np.array([1e308, 5e-324, INF, -INF, NAN, -1e308])
    before = rows.copy()
    for exponent in (-1074, 900):
        as_column(rows).power_sums(Clip(-3, 7, Fraction(2) ** exponent), 3)
    np.testing.assert_array_equal(rows, before)


def test_a_tally_has_every_number_once_in_order_and_in_its_own_type() -> None:
    for rows in (np.array([2.0, -0.0, NAN, 0.0, INF, 2.0, -INF]), np.array([3, 1, 3, 2**62], dtype=np.int64)):
        values, counts = as_column(rows).tally()
        expected = sorted({row.item() for row in rows if row == row})
        assert values.dtype == rows.dtype
        assert values.tolist() == expected
        assert counts.tolist() == [int((rows == value).sum()) for value in expected]
        assert not np.signbit(values[values == 0]).any()
    empty = as_column(np.empty(0, dtype=np.float32)).tally()
    assert empty.raw_values.dtype == np.dtype(np.float32)
    assert empty.raw_values.size == empty.raw_counts.size == 0


@pytest.mark.parametrize(("low", "steps"), [(0, LARGEST + 1), (2**52, 1), (-(2**52) - 1, 1)])
def test_a_clip_that_float64_cannot_hold_is_refused(low: int, steps: int) -> None:
    rows, clip = np.ones(3), Clip(low, steps, Fraction(1))
    with pytest.raises(InvalidParameterError, match=r"2\*\*26"):
        power_sums([rows], clip, 1)
    with pytest.raises(InvalidParameterError, match=r"2\*\*26"):
        product_sums(rows, rows, (Clip(0, 1, Fraction(1)), clip), 1)


def test_a_degree_beyond_four_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="degree of 4"):
        power_sums([np.ones(3)], Clip(0, 1, Fraction(1)), 5)


def test_a_column_of_labels_has_neither_sums_nor_a_tally() -> None:
    column = as_column(["a", "b"], numeric=False)
    with pytest.raises(DataTypeError, match="count and labels only"):
        column.power_sums(Clip(0, 1, Fraction(1)), 1)
    with pytest.raises(DataTypeError, match="count and labels only"):
        column.tally()
