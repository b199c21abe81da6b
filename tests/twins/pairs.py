"""Broken twins of covariance and correlation: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.summaries import Clip
from dpstats.foundations.units import in_units
from dpstats.statistics.paired.votes import KENDALL, SPEARMAN
from tests.laws.pairs import JointLaw, Rows, cells_at, joint_law, raw_classes_of

SHORT_KENDALL = replace(KENDALL, l1_sensitivity=dict.fromkeys(Neighbors, Fraction(1)))
"""Mistake: counts the pairs that a new row brings, n of them over n, and forgets that the old ones' share shrinks."""

SHORT_SPEARMAN = replace(SPEARMAN, l1_sensitivity=dict.fromkeys(Neighbors, Fraction(1, 4)))
"""Mistake: the same for triples, n (n + 1) / 4 over n (n + 1)."""

_FINE = 1 << 40


def law_with_public_rows(rows: Rows, epsilon: Fraction, cuts: Sequence[Fraction]) -> JointLaw:
    """Spearman's rho itself with noise for a known number of rows. Mistake: the scale tells how many rows there are.

    For tables without ties.
    """
    agree, against, *_ = raw_classes_of(SPEARMAN, rows)
    value = (agree - against) / (agree + against)
    return joint_law([round(value * _FINE)], _FINE * Fraction(6, len(rows)) / epsilon, [[round(cut * _FINE) for cut in cuts]])


def unclipped_cells(rows: Rows, clips: tuple[Clip, Clip], degree: int) -> list[int]:
    """Product cells. Mistake: rows are put into units and are not cut off, so that beyond the ends weights exceed 1."""
    places = [tuple(in_units(value, clip.unit) - clip.low for value, clip in zip(row, clips, strict=True)) for row in rows]
    return cells_at([(first, second) for first, second in places], clips, degree)
