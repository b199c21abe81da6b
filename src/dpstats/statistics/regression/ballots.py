"""A ballot: one vote of coefficients for each random block of rows.

A block has as many slots as there are coefficients. It votes for the coefficients that its rows determine, exactly, and abstains
where one of its slots is empty or its rows determine none. An abstention has its place on the ballot like every vote, and a
fixed value there.

Claim      ROWS_SHARE of epsilon for the number of rows, on which the number of blocks depends. Given that, the ballots of two
           neighbours can be drawn together so that they differ in one place at most: to whatever is made of the votes, one row is
           one changed vote. VOTES_SHARE of epsilon for the number of votes, where that is asked for
Neighbors  ADD_REMOVE or CHANGE_ONE, alike
Why        One row changes one block (blocks.py), and what a block votes depends on its own rows alone (solves.py)
Numerics   Exact up to the rounding of votes
Source     short_cut_regression.proof.md; Dwork & Lei 2009, section 4.1
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.regression.blocks import MOST_CELLS, MOST_SLOTS, fill_blocks
from dpstats.statistics.regression.solves import solve_systems

ROWS_SHARE = Fraction(3, 100)
VOTES_SHARE = Fraction(2, 100)


@dataclass(frozen=True)
class Ballot:
    """The votes of all blocks, and the noisy number of rows by which their number was chosen."""

    raw_votes: NDArray[np.float64]
    """Blocks by coefficients, the intercept first; NaN for a block that abstains."""
    noisy_rows: int

    @property
    def blocks(self) -> int:
        """The number of blocks; public, because the noisy number of rows is."""
        return len(self.raw_votes)

    def column(self, place: int) -> VotesColumn:
        """The votes for one coefficient. A block that abstains votes without end, up or down by its place: none is dropped, and
        the median is drawn neither way."""
        far = np.where(np.arange(self.blocks) % 2 == 0, -np.inf, np.inf)
        return VotesColumn(np.where(np.isnan(self.raw_votes[:, place]), far, self.raw_votes[:, place]))

    def full_column(self, place: int) -> VotesColumn:
        """The votes for one coefficient, where a block that abstains votes 0."""
        return VotesColumn(np.nan_to_num(self.raw_votes[:, place], nan=0.0))

    def count_votes(self, epsilon: Fraction, rng: RandomSource) -> int:
        """About how many blocks did not abstain; spends VOTES_SHARE of epsilon."""
        raw_votes = int(np.count_nonzero(~np.isnan(self.raw_votes[:, 0])))
        return noisy_count(raw_votes, epsilon * VOTES_SHARE, rng)


def hold_ballot(raw_matrix: NDArray[np.float64], has_intercept: bool, epsilon: Fraction, rng: RandomSource) -> Ballot:
    """The ballot of rows (features..., outcome); spends ROWS_SHARE of epsilon on its size."""
    size = raw_matrix.shape[1] - 1 + has_intercept
    noisy_rows = max(0, noisy_count(len(raw_matrix), epsilon * ROWS_SHARE, rng))
    raw_blocks = fill_blocks(raw_matrix, min(noisy_rows, MOST_SLOTS, MOST_CELLS // raw_matrix.shape[1]) // size, size, rng)
    return Ballot(raw_votes_of(raw_blocks, has_intercept), noisy_rows)


def raw_votes_of(raw_blocks: NDArray[np.float64], has_intercept: bool) -> NDArray[np.float64]:
    """What each block votes."""
    if has_intercept:
        raw_blocks = np.concatenate([np.ones((*raw_blocks.shape[:2], 1)), raw_blocks], axis=2)
    return solve_systems(raw_blocks)
