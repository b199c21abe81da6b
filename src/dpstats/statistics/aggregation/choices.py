"""Choices: one label of what the blocks voted for.

Claim      `choose_option`, `popularity`: epsilon-DP; `choose_stable`: (epsilon, delta)-DP
Neighbors  At most `overlap` votes changed, each in any way; the number of blocks is public
Why        `overlap` changed votes move the count of any label by at most that, up or down. `choose_option` is report noisy max
           of the counts of public options, and of the votes for none. `choose_stable` releases the mode, whatever label it is, if
           a test shows that its lead would outlast a changed row. `popularity` is a noisy count
Numerics   Counts are whole numbers, and ties are settled by the labels alone; noise is exact
No reply   Where votes for none of the options win; a failed test. Costs the same as an answer, and says only that
Source     choices.proof.md; Dwork & Roth 2014, section 7.1 (with what noise: docs/errata.md#noisy-argmax) and Algorithm 14 (in
           how many runs: docs/errata.md#sample-runs)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.keys import key_order
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Refusal
from dpstats.foundations.results import Interval
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.distance_tests import BestTest, noise_quantile
from dpstats.mechanisms.noisy_max import noisy_max
from dpstats.mechanisms.propose_test_release import REASON
from dpstats.statistics.aggregation.replies import LabelReply, label_of

UNSTABLE = Refusal(
    REASON,
    "The most frequent answer must lead clearly. More blocks, fewer rows that change it, or a larger epsilon or delta make a "
    "reply likelier; a choice from a public list of options needs no lead, and fails only where most blocks choose none of them.",
)
NONE_OF_THEM = Refusal(
    "Most blocks chose none of the options, by noisy counts.",
    "Try the function on made-up rows of the same form: it must return one of the options, as they are listed.",
)
SHARE_ERROR = "the noise: the share of these very blocks"


@dataclass(frozen=True)
class Popularity:
    """The noisy share of the blocks that voted for a label."""

    share: float
    interval: Interval | None


def choose_option(
    raw_labels: Sequence[object], options: Sequence[object], epsilon: Fraction, rng: RandomSource, overlap: int = 1
) -> object | Refusal:
    """The option that nearly the most blocks voted for, as it stands in `options`; a refusal where that is none of them.

    A block without an answer has None, and votes for none of the options, as a label does that is not listed.
    """
    keys = checked_options(options)
    raw_counts = Counter(label_of(raw) for raw in raw_labels)
    raw_listed = [raw_counts[key] for key in keys]
    raw_scores = [*raw_listed, len(raw_labels) - sum(raw_listed)]
    place = noisy_max(raw_scores, sensitivity=overlap, epsilon=epsilon, rng=rng).value
    return NONE_OF_THEM if place == len(keys) else options[place]


def checked_options(options: Sequence[object]) -> tuple[LabelReply, ...]:
    """The labels of a public list of options."""
    keys = [label_of(option) for option in options]
    if any(key is None for key in keys):
        raise InvalidParameterError("options must hold texts, numbers, bools, or tuples of those.")
    if not keys or len(set(keys)) < len(keys):
        raise InvalidParameterError("options must hold at least one label, and different ones.")
    return tuple(key for key in keys if key is not None)


def choose_stable(
    raw_labels: Sequence[object], overlap: int, epsilon: Fraction, delta: Fraction, rng: RandomSource
) -> LabelReply | Refusal:
    """The label that most blocks voted for, whatever it is, if a test shows that it leads clearly; whole numbers come as ints.

    A block without an answer has None. No answer is a label like others, and if most blocks have none the test has failed.
    """
    raw_counts = Counter(label_of(raw) for raw in raw_labels)
    test = stability_test(epsilon, delta)
    passed = test.passes(min(raw_steps_to_another(raw_counts, overlap), test.cap), rng)
    raw_mode = _leaders(raw_counts)[0][0] if raw_counts else None
    return raw_mode if passed and raw_mode is not None else UNSTABLE


def stability_test(epsilon: Fraction, delta: Fraction) -> BestTest:
    """The test of the mode's steps to another mode; its `pass_probability` is that of a lead, by `steps_of_lead`."""
    return BestTest(epsilon, delta, unstable_at=1)


def steps_of_lead(lead: int, overlap: int) -> int:
    """The fewest changed rows that end a lead of `lead` votes; each takes two votes per block from it."""
    return -(-lead // (2 * overlap))


def raw_steps_to_another(raw_counts: Counter[LabelReply | None], overlap: int) -> int:
    """A lower bound, at least 1, on the changed rows before another label leads; 0 where there are no votes."""
    raw_leaders = _leaders(raw_counts)
    if not raw_leaders:
        return 0
    (mode, first), (rival, second) = (*raw_leaders, (None, 0))[:2]
    later = len(raw_leaders) > 1 and _order(rival) > _order(mode)  # it must have more votes then, not as many
    return steps_of_lead(first - second + later, overlap)


def popularity(
    raw_labels: Sequence[object],
    winner: object,
    overlap: int,
    epsilon: Fraction,
    rng: RandomSource,
    level: Fraction | None = Fraction(95, 100),
) -> Popularity:
    """The share of the blocks that voted for a label that has been released, or is public."""
    key, blocks, scale = label_of(winner), len(raw_labels), overlap / epsilon
    raw_count = sum(label_of(raw) == key for raw in raw_labels)
    noisy_count = raw_count + int(sample_discrete_laplace(scale, 1, rng)[0])
    interval = None
    if level is not None:
        reach = noise_quantile(scale, (1 - level) / 2) - 1
        ends = _share(noisy_count - reach, blocks), _share(noisy_count + reach, blocks)
        interval = Interval(*ends, float(level), SHARE_ERROR, "the share of the blocks")
    return Popularity(_share(noisy_count, blocks), interval)


def _share(units: int, whole: int) -> float:
    """A noisy number of units as a share of the whole, from 0 to 1."""
    return min(max(units, 0), whole) / whole if whole else 0.0


def _leaders(raw_counts: Counter[LabelReply | None]) -> list[tuple[LabelReply | None, int]]:
    """The two labels that have the most votes, with their votes; among equals the smaller label first."""
    return sorted(raw_counts.items(), key=lambda item: (-item[1], _order(item[0])))[:2]


def _order(label: LabelReply | None) -> tuple[bool, tuple[bool, tuple[tuple[bool, Any], ...]]]:
    """The place of a label among all labels; no answer comes before them."""
    return label is not None, key_order(() if label is None else label)
