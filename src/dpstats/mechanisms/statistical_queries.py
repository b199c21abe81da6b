"""Statistical queries: how many rows satisfy each of several conditions, as one vector of noisy counts (SuLQ).

Claim      epsilon-DP with discrete Laplace noise; (epsilon, delta)-DP with discrete Gaussian noise, where a delta is given and
           that is less
Neighbors  ADD_REMOVE, or CHANGE_ONE
Why        Each condition gives 0 or 1 for a row, and at most `most` of them count for any row: the first that give 1. One row
           more moves the vector of counts by at most `most` in l1 norm, and by at most the root of it in Euclidean norm. A
           changed row moves at most twice as many counts by 1, and no more than there are
Numerics   Whole numbers; noise is exact
No reply   Costs the same as an answer: the rows could not be gone through. What goes wrong in a condition is a 0 for its row
Source     statistical_queries.proof.md; Blum, Dwork, McSherry & Nissim 2005 (SuLQ, with continuous noise)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpstats.accounting.concentration import zcdp_within
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import Answer, outcome_of, reply_to
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import sample_discrete_gaussian

METHOD = "statistical queries"
PURE_CLAIM = "epsilon-DP for conditions that look at one row each and keep nothing in mind"
GAUSSIAN_CLAIM = "(epsilon, delta)-DP for conditions that look at one row each and keep nothing in mind"
POLICY = "a condition counts for a row if it gives True or 1; if it gives anything else, or fails, it does not"
PUBLIC = "the conditions, how many there are, and that the rows could be gone through"

Condition = Callable[[Any], object]
Conditions = Sequence[Condition] | Mapping[str, Condition]


def statistical_queries(
    rows: Iterable[Any],
    queries: Conditions,
    *,
    epsilon: object,
    delta: object = 0,
    most: int | None = None,
    neighbors: object = Neighbors.ADD_REMOVE,
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """How many rows satisfy each condition, with noise: a tuple of counts, or a dict where `queries` has names.

    A condition is a function of one row that gives True or False, or 1 or 0; it must depend on that row alone. `most` is how many
    conditions may count for one row: 1 where they exclude each other, as bins do; left out, all of them. Noise grows with it, in
    proportion without delta and with its root where Gaussian noise is less. If a row satisfies more, its first `most` count.
    `rows` is gone through once; that it gives one row after another, whatever they hold, is the caller's affair: if it fails,
    there is no reply, at the same cost.
    """
    named = dict(queries) if isinstance(queries, Mapping) else dict(enumerate(queries))
    if not named or not all(callable(each) for each in named.values()):
        raise InvalidParameterError("queries must be functions of a row, in a list or by name, and at least one.")
    if most is not None and (type(most) is not int or not 1 <= most <= len(named)):
        raise InvalidParameterError(f"most must be a whole number from 1 to {len(named)}, or left out; got {most!r}.")
    counted = len(named) if most is None else most
    allowed, relation = spendable_delta(delta), Neighbors.named(neighbors)
    asked = PrivacyCost(spendable_epsilon(epsilon), allowed, relation)
    moved = counted if relation is Neighbors.ADD_REMOVE else min(2 * counted, len(named))
    scale, variance = noise_for(moved, asked.epsilon, asked.delta)
    source = source_or_system(rng)

    def noisy_counts() -> Answer:
        raw_counts = count_satisfied(rows, list(named.values()), counted)
        if variance is None:
            drawn, noise = sample_discrete_laplace(scale, len(named), source), f"discrete Laplace of scale {decimal_text(scale)}"
        else:
            drawn = sample_discrete_gaussian(variance, len(named), source)
            noise = f"discrete Gaussian of standard deviation {math.sqrt(variance):.6g}"
        noisy = [raw + int(more) for raw, more in zip(raw_counts, drawn.tolist(), strict=True)]
        value = dict(zip(named, noisy, strict=True)) if isinstance(queries, Mapping) else tuple(noisy)
        return Answer(value, notes=(("noise", f"{noise} in each count"), ("policy", POLICY), ("public", PUBLIC)))

    return reply_to(
        f"statistical_queries({len(named)} {'query' if len(named) == 1 else 'queries'}, most={counted})",
        outcome_of(noisy_counts, source),
        cost=PrivacyCost(asked.epsilon, 0 if variance is None else allowed, relation),
        method=METHOD,
        claim=PURE_CLAIM if variance is None else GAUSSIAN_CLAIM,
        private=source.private,
    )


def noise_for(moved: int, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction | None]:
    """The scale of Laplace noise that hides a move of `moved` counts by 1; the variance of Gaussian noise where it is less."""
    scale = moved / epsilon
    variance = moved / (2 * zcdp_within(epsilon, delta)) if delta else None
    return scale, variance if variance is not None and variance < 2 * scale**2 else None


def count_satisfied(rows: Iterable[Any], conditions: Sequence[Condition], most: int) -> list[int]:
    """For each condition the number of rows that satisfy it, of which each counts for its first `most`."""
    raw_counts = [0] * len(conditions)
    for row in rows:
        left = most
        for place, condition in enumerate(conditions):
            if left and _is_satisfied(condition, row):
                raw_counts[place] += 1
                left -= 1
    return raw_counts


def _is_satisfied(condition: Condition, row: Any) -> bool:
    """Whether a condition gives True or 1; whatever goes wrong is the row's own affair, and counts as no."""
    try:
        return bool(condition(row) == 1)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # not only Exception: a panic of a library in Rust is none
        return False
