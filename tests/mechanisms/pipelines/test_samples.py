"""Pipelines on parts, samples and functions of the rows: where every row goes, and that neighbours stay neighbours."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import NoReply
from dpstats.mechanisms import Exact, Step, blocks, levels, parallel, partition, subsample, view
from dpstats.mechanisms.pipelines import together
from dpstats.mechanisms.pipelines.pipeline import Run

FAR = 10**6
TOTAL: Any = {"epsilon": 1, "delta": 1e-6}


def free(_proposal: object) -> int:
    return 0


def show(name: str = "show") -> Step:
    """A step that hands out the rows it sees."""
    return Step(name, lambda rows, bound: Exact(tuple(rows)), lambda rows, bound: FAR, free)


def refuse() -> Step:
    return Step("refuse", lambda rows, bound: 0, lambda rows, bound: 0, free)


def seen(pipeline: Any, rows: Any, seed: int = 7, **more: Any) -> Any:
    return pipeline.run(rows, rng=seeded(seed), **TOTAL, **more).value


def many(pipeline: Any, rows: Any, count: int, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> list[Any]:
    """What so many runs reply, from one allocation and one stream of coins."""
    run = Run(pipeline.allocate(**TOTAL), neighbors, seeded(7))
    return [pipeline.reply(rows, None, run) for _ in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 50])
@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("kind", [list, np.array], ids=["list", "array"])
def test_every_row_is_in_exactly_one_part_in_its_order(count: int, parts: int, kind: Any) -> None:
    pieces = seen(partition(*[show()] * parts), kind(range(count)))
    assert len(pieces) == parts
    assert sorted(itertools.chain(*pieces)) == list(range(count))
    assert all(list(piece) == sorted(piece) for piece in pieces)


@pytest.mark.parametrize("count", [1, 3, 40])
def test_every_row_is_in_exactly_one_block_and_no_block_is_dropped(count: int) -> None:
    values = seen(blocks(count, tuple, show()), list(range(30)))
    assert len(values) == count
    assert sorted(itertools.chain(*values)) == list(range(30))


def test_the_sizes_of_blocks_are_binomial(fit: Callable[..., float]) -> None:
    sizes = [values[0] for values in many(blocks(4, len, show()), list(range(12)), 1_500)]

    def binomial(chance: Fraction) -> dict[object, object]:
        return {k: math.comb(12, k) * chance**k * (1 - chance) ** (12 - k) for k in range(13)}

    assert fit(sizes, binomial(Fraction(1, 4))) > 1e-3
    assert fit(sizes, binomial(Fraction(1, 5))) < 1e-6


def test_a_row_picks_its_part_apart_from_the_other_rows() -> None:
    replies = many(partition(show(), show()), [0, 1], 800)
    both = collections.Counter(tuple(row in first for row in (0, 1)) for first, _ in replies)
    assert set(both) == set(itertools.product((False, True), repeat=2))
    assert all(abs(count - 200) < 4.5 * math.sqrt(150) for count in both.values())


def test_parts_see_their_own_rows_and_a_part_that_refuses_is_none() -> None:
    value = seen(partition(show(), refuse()), list(range(20)))
    assert value[1] is None
    assert len(value[0]) < 20
    assert isinstance(partition(refuse(), refuse()).run([1, 2], **TOTAL), NoReply)
    assert isinstance(levels(partition(show(), refuse()), show()).run([1, 2], **TOTAL), NoReply)


def test_a_sample_under_change_one_has_its_exact_size_and_every_subset_is_as_likely(fit: Callable[..., float]) -> None:
    drawn = many(subsample(Fraction(2, 5), show()), list(range(5)), 1_500, Neighbors.CHANGE_ONE)
    subsets = list(itertools.combinations(range(5), 2))
    assert set(drawn) == set(subsets)
    assert fit([subsets.index(one) for one in drawn], dict.fromkeys(range(10), Fraction(1, 10))) > 1e-3


@pytest.mark.parametrize(("fraction", "count", "size"), [("1/3", 10, 3), (1, 7, 7), ("0.1", 9, 0), ("0.5", 0, 0)])
def test_the_size_of_a_sample_is_rounded_down(fraction: object, count: int, size: int) -> None:
    assert len(seen(subsample(fraction, show()), list(range(count)), neighbors="change_one")) == size


def test_a_sample_under_add_remove_takes_every_row_by_its_own_coin(fit: Callable[..., float]) -> None:
    drawn = many(subsample(Fraction(1, 3), show()), [0, 1, 2], 1_500)
    subsets = [one for size in range(4) for one in itertools.combinations(range(3), size)]
    law = {place: Fraction(2 ** (3 - len(one)), 27) for place, one in enumerate(subsets)}
    assert fit([subsets.index(one) for one in drawn], law) > 1e-3


def test_a_sample_inside_blocks_has_an_exact_size_whatever_the_relation_outside() -> None:
    sampled = subsample(Fraction(1, 2), show())
    assert {len(values) for values in many(blocks(10, len, sampled), list(range(30)), 20)} == {5}
    assert {len(values) for values in many(sampled, list(range(10)), 20)} != {5}


def test_every_part_of_a_parallel_draws_its_own_sample() -> None:
    first, second = seen(parallel(subsample("1/2", show()), subsample("1/2", show())), list(range(60)))
    assert first != second


@pytest.mark.parametrize("failure", [ValueError("row 812"), ZeroDivisionError(), KeyError(3), RecursionError(), MemoryError()])
def test_a_function_that_fails_on_a_block_or_a_row_gives_the_default_and_never_escapes(failure: Exception) -> None:
    def fail(argument: Any) -> int:
        if argument == 812 or (isinstance(argument, list) and 812 in argument):
            raise failure
        return 1

    rows = [812, *range(9)]
    assert sorted(seen(blocks(3, fail, show(), default=-5), rows)) == [-5, 1, 1]
    assert seen(view(fail, show(), default=-5), rows) == (-5, *[1] * 9)
    assert seen(view(fail, show()), rows)[0] == 0


def test_an_error_of_ours_inside_a_block_is_the_default_too() -> None:
    def fail(_block: Any) -> int:
        raise InvalidParameterError("row 812")

    assert seen(blocks(2, fail, show(), default=9), [812]) == (9, 9)


def test_an_empty_block_has_the_default_where_the_function_needs_rows() -> None:
    assert set(seen(blocks(50, min, show(), default=-1), [4, 4, 4])) == {-1, 4}


def test_a_view_maps_each_row_by_itself() -> None:
    calls: list[object] = []

    def square(row: int) -> int:
        calls.append(row)
        return row * row

    assert seen(view(square, show()), np.arange(4)) == (0, 1, 4, 9)
    assert calls == [0, 1, 2, 3]


def test_views_blocks_and_samples_cost_what_is_inside_and_a_sample_less() -> None:
    half = Fraction(1, 2)
    inner = show().prices(Fraction(1), half)
    assert view(abs, show()).prices(Fraction(1), half) == blocks(4, len, show()).prices(Fraction(1), half) == inner
    sampled = subsample("0.1", show()).prices(Fraction(1), half)
    assert sampled.printed == inner.printed
    assert sampled.sharp.epsilon < inner.sharp.epsilon
    assert sampled.sharp.delta == inner.sharp.delta / 10
    parts = partition(show(), show(), show()).prices(Fraction(1), half)
    assert parts.sharp.epsilon == 2
    assert parts.printed.epsilon == 6


def with_coins(pipeline: Any, rows: list[int], coins: list[int]) -> Any:
    """The reply on rows whose coins are given, one for each row."""

    def replay(_limit: int, size: int, _rng: object) -> NDArray[np.int64]:
        assert size == len(coins)
        return np.array(coins, dtype=np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(together, "uniform_indices", replay)
        return many(pipeline, rows, 1)[0]


def differing(one: Sequence[object], other: Sequence[object]) -> int:
    assert len(one) == len(other)
    return sum(a != b for a, b in zip(one, other, strict=True))


@given(data=st.data(), rows=st.lists(st.integers(-9, 9), max_size=9), count=st.integers(1, 4))
@settings(max_examples=40)
def test_with_the_same_coins_a_row_more_or_changed_touches_one_block_and_one_part(data: Any, rows: list[int], count: int) -> None:
    coins = data.draw(st.lists(st.integers(0, count - 1), min_size=len(rows), max_size=len(rows)))
    place = data.draw(st.integers(0, len(rows)))
    more_rows, more_coins = list(rows), list(coins)
    more_rows.insert(place, data.draw(st.integers(-9, 9)))
    more_coins.insert(place, data.draw(st.integers(0, count - 1)))
    changed = list(more_rows)
    changed[place] = 99

    for pipeline in (blocks(count, sum, show()), blocks(count, min, show(), default=-99), partition(*[show()] * count)):
        tables = [(rows, coins), (more_rows, more_coins), (changed, more_coins)]
        before, after, other = (with_coins(pipeline, *table) for table in tables)
        assert differing(before, after) <= 1
        assert differing(after, other) <= 1


def test_the_coins_do_not_look_at_the_rows() -> None:
    first, second = (seen(blocks(5, len, show()), rows) for rows in (list(range(40)), ["x"] * 40))
    assert first == second


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3", None])
def test_a_number_of_blocks_must_be_whole_and_positive(count: Any) -> None:
    with pytest.raises(InvalidParameterError, match="number of blocks must be a positive whole number"):
        blocks(count, len, show())


@pytest.mark.parametrize("fraction", [0, -1, 2, "1.01", Fraction(1, 2**61)])
def test_a_fraction_must_lie_between_0_and_1(fraction: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"fraction must lie between 0 and 1, such as 0\.1"):
        subsample(fraction, show())


def test_a_fraction_must_be_a_number() -> None:
    for fraction in (None, "some", math.nan):
        with pytest.raises(InvalidParameterError, match="fraction must be a"):
            subsample(fraction, show())


def test_a_partition_needs_parts() -> None:
    with pytest.raises(InvalidParameterError, match="give one or more steps, or what cascade"):
        partition()


def test_rows_without_a_length_are_refused_by_their_type() -> None:
    for pipeline in (partition(show(), show()), blocks(2, len, show()), subsample("1/2", show())):
        with pytest.raises(DataTypeError, match="give the rows as a list or an array; got generator"):
            pipeline.run((row for row in range(3)), **TOTAL)


@pytest.mark.parametrize("rows", [None, "abc", {0: 1}, {1, 2}, np.array(3), 7], ids=lambda rows: type(rows).__name__)
def test_rows_in_another_container_are_refused_by_its_type(rows: Any) -> None:
    for pipeline in (partition(show(), show()), blocks(2, len, show()), subsample("1/2", show()), view(abs, show())):
        with pytest.raises(DataTypeError, match=f"got {type(rows).__name__}"):
            pipeline.run(rows, **TOTAL)


@pytest.mark.parametrize("inner", [3, None, len])
def test_what_is_inside_must_be_a_pipeline(inner: Any) -> None:
    for wrap in (lambda: subsample("1/2", inner), lambda: blocks(2, len, inner), lambda: view(abs, inner)):
        with pytest.raises(InvalidParameterError, match="give one or more steps, or what cascade"):
            wrap()


def test_a_view_and_blocks_need_a_function() -> None:
    with pytest.raises(InvalidParameterError, match="give a function of the rows, got int"):
        view(3, show())  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="give a function of the rows, got NoneType"):
        blocks(2, None, show())  # type: ignore[arg-type]


def test_composites_print_as_they_were_put_together() -> None:
    whole = levels(blocks(4, len, show("scale")), subsample("0.1", partition(show("a"), view(abs, show("b")))))
    assert str(whole) == "levels(blocks(4, scale), subsample(0.1, partition(a, view(b))))"
