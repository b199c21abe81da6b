"""Report noisy max: which candidate scores highest, with one-sided geometric noise.

Claim      epsilon-DP for scores that each move by at most `sensitivity` between neighbours
Neighbors  Whichever relation the caller's sensitivity is true for
Why        Fix everybody else's noise: candidate i wins exactly when its own noise reaches a threshold, and a neighbour moves
           that threshold by at most two sensitivities (one when all scores move the same way). Geometric noise passes a
           threshold that is m units higher with probability at least exp(-m / scale) times as large.
Numerics   Scores are rounded down to sensitivity / 2**16 in exact arithmetic, which keeps the sensitivity at exactly 2**16
           units; the noise is exact; ties go to the smallest index, which the proof allows
Source     Dwork & Roth 2014, Claim 3.9; Ding, Kifer, Steinke & Zhang 2021 (the same law as permute-and-flip, up to the grid,
           hence never worse than the exponential mechanism)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import Release
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import sample_geometric
from dpstats.mechanisms.grid import Grid, positive_rational, refuse_container, take_coordinates

METHOD = "report noisy max"
CLAIM = "epsilon-DP if every score moves by at most sensitivity"
MONOTONIC_CLAIM = "epsilon-DP if every score moves by at most sensitivity, and all of them in the same direction"
POLICY = (
    "a score that is NaN or no number counts as the lowest possible score; magnitudes stop at the largest float, and Decimals "
    "below 1e-5000 are 0"
)

UNITS = 1 << 16
"""Grid units in one sensitivity."""


def noisy_max(
    scores: object,
    *,
    sensitivity: object,
    epsilon: object,
    labels: Sequence[object] | None = None,
    monotonic: bool = False,
    neighbors: object = Neighbors.ADD_REMOVE,
    rng: RandomSource | None = None,
) -> Release:
    """The index (or label) of a candidate with nearly the highest score: epsilon-DP.

    `sensitivity` is how far one unit can move any single score. Say `monotonic=True` only when one unit moves all scores in
    the same direction (counts, for example, when a row is added); the noise is then half as large. The number of
    candidates is public. NaN counts as the lowest possible score: never an error because of a value.
    """
    moved = positive_rational(sensitivity, "sensitivity")
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, neighbors)
    source = source_or_system(rng)
    raw_scores, _ = take_coordinates(scores)
    if labels is not None:
        refuse_container(labels, "labels must be a list")
    if not raw_scores:
        raise InvalidParameterError("noisy_max needs at least one candidate.")
    if labels is not None and len(labels) != len(raw_scores):
        raise InvalidParameterError(f"noisy_max got {counted(len(labels), 'label')} for {counted(len(raw_scores), 'score')}.")
    grid = Grid(moved / UNITS)
    scale = noise_scale(cost.epsilon, monotonic)
    noise = sample_geometric(scale, len(raw_scores), source).tolist()
    winner = first_largest([grid.floor_units(raw) + drawn for raw, drawn in zip(raw_scores, noise, strict=True)])
    return Release(
        question=f"noisy_max({counted(len(raw_scores), 'candidate')}, sensitivity={decimal_text(moved)})",
        value=winner if labels is None else labels[winner],
        cost=cost,
        method=METHOD,
        claim=MONOTONIC_CLAIM if monotonic else CLAIM,
        private=source.private,
        notes=(
            ("noise", f"one-sided geometric of scale {decimal_text(scale * grid.spacing)}, drawn exactly"),
            ("grid", "scores are rounded down to multiples of sensitivity / 2**16"),
            ("policy", POLICY),
        ),
    )


def noise_scale(epsilon: Fraction, monotonic: bool) -> Fraction:
    """The scale of the geometric noise in grid units: as many sensitivities as a threshold can move, over epsilon."""
    return (1 if monotonic else 2) * UNITS / epsilon


def first_largest(noisy_scores: Sequence[int]) -> int:
    """The smallest index at which the maximum is attained."""
    return max(range(len(noisy_scores)), key=lambda index: (noisy_scores[index], -index))
