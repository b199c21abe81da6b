"""A row's scores and statistics, and a block's estimate, are the same bits wherever they stand, whatever stands beside them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.scipy_family import scipy_family
from tests.statistics.likelihood.score_rows import NAMED, WITH_SCORES, WITH_STATISTICS, Case, engine_sheet

LENGTHS = (1, 2, 3, 5, 8, 15, 16, 17, 33, 67)
BLOCK = 40


def bits(numbers: Floats) -> bytes:
    """The bits of numbers, those of NaN being one and the same."""
    return np.where(np.isnan(numbers), np.nan, numbers).tobytes()


def stands_alone(of_rows: Callable[[Floats], Floats], rows: Floats, beside: list[Floats]) -> bool:
    """Whether each row gets the same bits alone and at several places of arrays of several lengths."""
    alone = [bits(of_rows(engine_sheet(rows[place : place + 1]))[0]) for place in range(len(rows))]
    for others, length in itertools.product(beside, LENGTHS):
        for begin in range(0, len(rows), length):
            here = rows[begin : begin + length]
            for before in (0, 1, length // 2):
                shown = np.vstack([others[:before], here, others[: length - len(here)]])
                found = of_rows(engine_sheet(shown))
                if any(bits(found[before + place]) != alone[begin + place] for place in range(len(here))):
                    return False
    return True


@pytest.mark.parametrize("case", WITH_SCORES, ids=str)
def test_scores_of_a_row_do_not_know_its_neighbours(case: Case) -> None:
    rows = np.vstack([case.rows(23, seed=3), case.ugly_rows()[:8]])
    beside = [np.resize(case.ugly_rows(), (70, case.columns)), case.rows(70, seed=4)]
    for theta in (case.theta, case.theta * 1.37):
        assert stands_alone(partial(case.family.scores, theta=theta), rows, beside)


@pytest.mark.parametrize("case", WITH_SCORES, ids=str)
def test_turned_scores_of_a_row_do_not_know_its_neighbours_and_add_up(case: Case) -> None:
    """A row that is added moves others to another place; the sum must move by that row's own part all the same."""
    rows = np.vstack([case.rows(23, seed=3), case.ugly_rows()[:8]])
    beside = [np.resize(case.ugly_rows(), (70, case.columns)), case.rows(70, seed=4)]
    for scores in case.scores(case.theta * 1.07):
        assert stands_alone(scores.turned, rows, beside)
        parts = [scores(engine_sheet(rows[place : place + 1])) for place in range(len(rows))]
        for first in range(len(rows)):
            assert (scores(engine_sheet(rows[first:])) == np.sum(parts[first:], axis=0)).all()


@pytest.mark.parametrize("case", WITH_STATISTICS, ids=str)
def test_statistics_of_a_row_do_not_know_its_neighbours(case: Case) -> None:
    rows = np.vstack([case.rows(23, seed=3), case.ugly_rows()[:8]])
    beside = [np.resize(case.ugly_rows(), (70, case.columns)), case.rows(70, seed=4)]
    with np.errstate(all="ignore"):
        assert stands_alone(case.family.statistics, rows, beside)


def test_an_impossible_row_does_not_change_how_scipy_takes_powers_of_the_others() -> None:
    """A fixed power of exactly 2 is a square where all rows are possible, and a power where they are not."""
    law = Case(scipy_family("weibull_min", {"f0": 2, "floc": 0}, workers=0))
    rows = law.rows(300)
    alone = law.family.scores(rows, law.theta)
    beside = law.family.scores(np.vstack([rows, [[-1.0]]]), law.theta)
    assert bits(alone) == bits(beside[:-1])


def test_sums_that_know_their_neighbours_are_found_out() -> None:
    assert not stands_alone(lambda rows: rows - rows.mean(), np.arange(1.0, 9.0)[:, None], [np.ones((70, 1))])


def layouts(block: Floats, others: Floats, ugly: Floats) -> list[tuple[RowBlocks, int]]:
    """One block in several companies, and its number there."""
    generator, size = np.random.default_rng(8), len(block)
    found = [(RowBlocks(block, np.zeros(size, dtype=np.int64), 1), 0)]
    for blocks, own, beside in ((2, 0, others[:11]), (3, 2, others), (7, 3, np.vstack([others, ugly])), (129, 64, others)):
        places = generator.integers(0, blocks - 1, len(beside))
        numbers = np.concatenate([np.where(places >= own, places + 1, places), np.full(size, own)])
        order = np.argsort(generator.random(len(numbers)), kind="stable")
        kept = np.sort(np.flatnonzero(order >= len(beside)))
        order[kept] = np.arange(len(beside), len(numbers))  # rows of the block keep their order
        found.append((RowBlocks(np.vstack([beside, block])[order], numbers[order], blocks), own))
    return found


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_the_estimate_of_a_block_does_not_know_the_other_blocks(case: Case) -> None:
    for seed in range(3):
        block = case.rows(BLOCK, seed=seed)
        votes = [case.family.fit_blocks(blocks)[own] for blocks, own in layouts(block, case.rows(400, seed=9), case.ugly_rows())]
        assert np.isfinite(votes[0]).all()
        assert {bits(vote) for vote in votes} == {bits(votes[0])}


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_a_block_with_an_absurd_row_does_not_know_the_other_blocks(case: Case) -> None:
    for row in case.ugly_rows()[:: case.columns * 2]:
        block = np.vstack([case.rows(BLOCK, seed=1), row[None, :]])
        votes = [case.family.fit_blocks(blocks)[own] for blocks, own in layouts(block, case.rows(100, seed=9), case.ugly_rows())]
        assert {bits(vote) for vote in votes} == {bits(votes[0])}
