"""Algorithm 14 (A_samp) as it is printed: the most frequent answer of very many random samples of the rows.

Claim      (epsilon, delta)-DP
Neighbors  CHANGE_ONE only: the number of runs is a function of the number of rows, which must be public
Why        Samples are drawn by coins that look at no row. Where no row is in more than 2 m q of the m samples, a changed row
           changes at most 2 m q replies, the lead of the first over the second moves by at most 4 m q, and another reply can
           lead on a neighbour only where the lead is at most 4 m q: there the noise passes the threshold with probability at
           most delta / 2. Where some row is in more samples, which the coins alone decide, there is no reply
Numerics   q is rounded down and m up, to rationals and whole numbers; the coins, the lead and the noise, which is discrete
           Laplace of scale 4 m q / epsilon in units of votes, are exact; the threshold is rounded up
No reply   Costs the same as an answer and says only that there is none
Source     printed_samples.proof.md; Dwork & Roth 2014, Algorithm 14 and Theorem 7.3, after Smith & Thakurta 2013
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.keys import key_order
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text, log_bounds
from dpstats.mechanisms.coins import uniform_indices
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.propose_test_release import REASON
from dpstats.statistics.aggregation.evaluation import SECONDS, MadePieces, evaluate
from dpstats.statistics.aggregation.replies import LabelForm, LabelReply

METHOD = "A_samp, as printed"
CLAIM = "(epsilon, delta)-DP, may refuse: the most frequent reply of random samples, without noise, if its lead passes a test"
QUESTION = "printed_samples()"
ADVICE = "More rows do not help where samples disagree. sample_and_aggregate with delta asks far fewer blocks."
AT_ONCE = 1000
"""Samples that are drawn and evaluated together."""
_CHANCE_BITS = 62

Places = NDArray[np.int64]


@dataclass(frozen=True)
class PrintedDesign:
    """What Algorithm 14 does at a public number of rows."""

    rows: int
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        """The chance of a row must be one."""
        if self.rows < 1 or not 0 < self.delta < 1 or self.epsilon <= 0:
            raise InvalidParameterError("A_samp needs a positive epsilon, a delta between 0 and 1, and at least one row.")
        if not 0 < self.chance < 1:
            raise InvalidParameterError(
                "A_samp takes each row with probability epsilon / (64 ln(1/delta)), which must lie between 0 and 1: "
                "choose a smaller epsilon or a smaller delta."
            )

    @cached_property
    def chance(self) -> Fraction:
        """q, the probability of each row to be in a sample."""
        exact = self.epsilon / (64 * log_bounds(1 / self.delta)[1])
        return Fraction(int(exact * (1 << _CHANCE_BITS)), 1 << _CHANCE_BITS)

    @cached_property
    def runs(self) -> int:
        """m, the number of samples."""
        return math.ceil(log_bounds(self.rows / self.delta)[1] / self.chance**2)

    @cached_property
    def most_samples(self) -> int:
        """No row may be in more samples than this."""
        return math.floor(2 * self.runs * self.chance)

    @cached_property
    def scale(self) -> Fraction:
        """The scale of the noise on the lead, in votes."""
        return 4 * self.runs * self.chance / self.epsilon

    @cached_property
    def threshold(self) -> Fraction:
        """The lead with its noise must be above this."""
        return 4 * self.runs * self.chance * (1 + log_bounds(1 / self.delta)[1] / self.epsilon)

    def draw(self, count: int, rng: RandomSource) -> list[Places]:
        """Some samples: the numbers of their rows."""
        limit = int(self.chance * (1 << _CHANCE_BITS))
        return [np.flatnonzero(uniform_indices(1 << _CHANCE_BITS, self.rows, rng) < limit) for _ in range(count)]


def runs_of(rows: int, epsilon: object, delta: object) -> int:
    """How often the function would run; nothing is read and nothing starts."""
    return PrintedDesign(rows, spendable_epsilon(epsilon), _needed(delta)).runs


def printed_samples(
    function: Callable[..., Any],
    take: Callable[[Places], tuple[Any, ...]],
    rows: int,
    *,
    epsilon: object,
    delta: object,
    runs: object = None,
    neighbors: object = Neighbors.CHANGE_ONE,
    seconds: float = SECONDS,
    workers: int | None = None,
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """The most frequent label that `function` has for random samples of the rows, if its lead passes the test.

    `take` makes the arguments of the function from numbers of rows. `runs` must be what `runs_of` says: whoever asks has then
    seen how many there are.
    """
    cost = PrivacyCost(spendable_epsilon(epsilon), _needed(delta), neighbors)
    if cost.neighbors is not Neighbors.CHANGE_ONE:
        raise InvalidParameterError(
            "A_samp as printed is for neighbors='change_one' only: its number of runs depends on the number of rows, which must "
            "be public. sample_and_aggregate with delta keeps it private."
        )
    design = PrintedDesign(rows, cost.epsilon, cost.delta)
    _check_runs(runs, design)
    source = source_or_system(rng)
    raw_replies = _raw_replies(design, function, take, source, seconds, workers)
    raw_winner = None if raw_replies is None else leading_reply(raw_replies, design, source)
    if raw_winner is None:
        return NoReply(QUESTION, cost, METHOD, REASON, ADVICE, source.private)
    return Release(QUESTION, raw_winner, cost, METHOD, CLAIM, source.private, notes=_notes(design))


def leading_reply(raw_replies: Sequence[LabelReply | None], design: PrintedDesign, rng: RandomSource) -> LabelReply | None:
    """The most frequent reply if its lead passes the test; None where not, and where most runs have no reply."""
    raw_counts = Counter(raw_replies)
    ordered = sorted(
        raw_counts.items(), key=lambda item: (-item[1], item[0] is not None, key_order(() if item[0] is None else item[0]))
    )
    raw_lead = ordered[0][1] - (ordered[1][1] if len(ordered) > 1 else 0)
    noisy_lead = raw_lead + int(sample_discrete_laplace(design.scale, 1, rng)[0])
    return ordered[0][0] if noisy_lead > design.threshold else None


def _raw_replies(
    design: PrintedDesign,
    function: Callable[..., Any],
    take: Callable[[Places], tuple[Any, ...]],
    rng: RandomSource,
    seconds: float,
    workers: int | None,
) -> list[LabelReply | None] | None:
    """The replies to all samples, or None once a row has been in too many."""
    samples_of_rows = np.zeros(design.rows, dtype=np.int64)
    raw_replies: list[LabelReply | None] = []
    with Progress(design.runs, work="sampling", pieces="runs") as progress:
        while len(raw_replies) < design.runs:
            samples = design.draw(min(AT_ONCE, design.runs - len(raw_replies)), rng)
            for places in samples:
                samples_of_rows[places] += 1
            if samples_of_rows.max() > design.most_samples:
                return None
            pieces = MadePieces(len(samples), lambda place, drawn=samples: take(drawn[place]))  # type: ignore[misc]
            raw_replies += evaluate([function], pieces, LabelForm(), seconds=seconds, workers=workers, progress=progress)
    return raw_replies


def _check_runs(runs: object, design: PrintedDesign) -> None:
    """Raise unless the number of runs was confirmed."""
    if type(runs) is int and runs == design.runs:
        return
    each = float(design.chance * design.rows)
    raise InvalidParameterError(
        f"A_samp as printed would run the function {design.runs:,} times, each on about {each:,.0f} of the {design.rows:,} rows. "
        f"If that is what you want, say runs={design.runs}. sample_and_aggregate with delta tests the most frequent answer of "
        "a few dozen blocks, at the same claim."
    )


def _needed(delta: object) -> Fraction:
    spendable = spendable_delta(delta)
    if not spendable:
        raise MissingParameterError("A_samp needs delta: for example delta=1e-6.")
    return spendable


def _notes(design: PrintedDesign) -> tuple[tuple[str, str], ...]:
    return (
        ("runs", f"{design.runs:,}, each on a sample that has every row with probability {decimal_text(design.chance)}"),
        ("overlap", f"no row is in more than {design.most_samples:,} samples, or there is no reply"),
        ("test", f"the lead with noise of scale {decimal_text(design.scale)} must pass {decimal_text(design.threshold)} votes"),
        ("no reply", "would have cost the same"),
        ("public", "the parameters and the number of rows"),
        ("numerics", "coins, counts and noise are exact; q is rounded down, the threshold up"),
    )
