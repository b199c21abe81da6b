"""How many blocks a choice needs, from public things alone.

Fewer blocks have more rows each and choose better; too few cannot be told apart from noise. So these are the least at which the
choice comes through with the chance SURE, or SURER, even if the share DISAGREE of the blocks takes something else.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpstats.foundations.accepted import Blocks
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import AUTO_OR_WHOLE
from dpstats.foundations.registry import AUTO, Parameter
from dpstats.mechanisms.propose_test_release import distance_for
from dpstats.statistics.aggregation.choices import stability_test
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.selection.bounded_sets import steps_needed

DISAGREE = Fraction(1, 5)
SURE = 0.95
SURER = 0.99
"""For a choice among few options, which takes few blocks."""
SHARE_ERROR = 0.2
LEAST_BLOCKS, MOST_BLOCKS = 10, 100_000


def checked_blocks(value: object) -> int | str:
    """A number of blocks, or "auto"."""
    if value == AUTO and isinstance(value, str):
        return AUTO
    if type(value) is not int or not LEAST_BLOCKS <= value <= MOST_BLOCKS:
        raise InvalidParameterError(
            f"blocks must be 'auto', or a whole number from {LEAST_BLOCKS} to {MOST_BLOCKS:,}, got {value!r}."
        )
    return value


BLOCKS = Parameter(
    "blocks",
    "how many random blocks of rows vote; 'auto' takes the least that comes through if a fifth of them disagree",
    checked_blocks,
    AUTO,
    AUTO_OR_WHOLE,
    takes=Blocks,
)


def blocks_for_stable(epsilon: Fraction, delta: Fraction) -> int:
    """For the most frequent vote, whatever it is, by a test of its lead; all who disagree may have the same rival."""
    lead = 2 * distance_for(stability_test(epsilon, delta), SURE) - 1
    return _within(lead / (1 - 2 * DISAGREE))


def blocks_for_options(epsilon: Fraction, options: int) -> int:
    """For the winner among public options, by report-noisy-max; all who disagree may have the same rival."""
    lead = 2 / float(epsilon) * math.log(options / (2 * (1 - SURER)))
    return _within(lead / float(1 - 2 * DISAGREE))


def blocks_for_share(epsilon: Fraction) -> int:
    """For a noisy share of the blocks whose noise stays below SHARE_ERROR with the chance SURE."""
    return _within(-math.log(1 - SURE) / float(epsilon) / SHARE_ERROR)


def blocks_for_marks(epsilon: Fraction, features: int) -> int:
    """For a majority on each feature, by noise on all counts at once; having an answer is one more."""
    return _within(noise_on_counts(epsilon, features + 1) / float(Fraction(1, 2) - DISAGREE))


def blocks_for_bounded_sets(epsilon: Fraction, features: int, at_most: int) -> int:
    """For a majority on each feature, by a draw among all sets of at most `at_most`; having an answer is one more feature."""
    return _within(steps_needed(features + 1, at_most + 1, epsilon, SURE) / float(Fraction(1, 2) - DISAGREE))


def noise_on_counts(epsilon: Fraction, features: int) -> float:
    """The noise on all counts stays below this with the chance SURE: its largest coordinate is about a sum of exponentials."""
    return float(special.gammaincinv(features + 1, SURE)) / float(epsilon)


def _within(blocks: Fraction | float) -> int:
    return min(max(math.ceil(blocks), LEAST_BLOCKS), MOST_BLOCKS)
