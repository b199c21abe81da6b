"""The interquartile range without bounds.

Claim      epsilon-DP
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        Both quartiles come from one recursive halving (universal/many.py): an unreported median first, then each quartile
           from its own half; their difference is post-processing
Numerics   Exact draws; one float subtraction of released values
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Statistic, method, register
from dpstats.foundations.summaries import Column
from dpstats.statistics.quantiles import UNIVERSAL_CLAIM, several_quantiles, universal_notes

LOWER_QUARTILE, UPPER_QUARTILE = Fraction(1, 4), Fraction(3, 4)
MEDIAN_SHARE = Fraction(3, 10)
"""Part of epsilon for the median that splits the rows: an error there moves both quartiles alike and cancels in part."""

IQR = register(Statistic("iqr", "The interquartile range: the width of the middle half of the rows", returns="a float"))


@method(IQR, "universal", claim=UNIVERSAL_CLAIM)
def iqr_universal(column: Column, question: Question, rng: RandomSource) -> Answer:
    """The difference of the two universal quartiles."""
    quartiles = several_quantiles(column, question, (LOWER_QUARTILE, UPPER_QUARTILE), rng, MEDIAN_SHARE)
    low, high = quartiles[LOWER_QUARTILE], quartiles[UPPER_QUARTILE]
    notes = (("quartiles", f"{low:.15g} and {high:.15g}"), *universal_notes(question, LOWER_QUARTILE, UPPER_QUARTILE))
    return Answer(high - low, notes=notes)
