"""Broken twins of selections: each makes one known mistake, and the privacy tests must refute it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

from dpstats.statistics.selection.printed_samples import PrintedDesign
from tests.laws.selections import Marks, bounded_set_law, printed_law


def broken_set_law(raw_marks: Marks, at_most: int, epsilon: Fraction) -> dict[Hashable, Fraction]:
    """Mistake: the whole of epsilon in the exponent, as if a changed block moved the steps of all sets the same way."""
    return bounded_set_law(raw_marks, at_most, 2 * epsilon)


def broken_printed_law(raw_counts: Mapping[str, int], design: PrintedDesign) -> dict[Hashable, float]:
    """Mistake: noise for a lead that moves by m q, as if a row were in m q samples and took votes from the first one only."""
    return printed_law(raw_counts, design, narrower=4)
