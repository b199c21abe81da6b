"""Quantiles with a private test first: the methods of locations.py by name.

Claim      (epsilon, delta)-DP; a list of quantiles shares both among them
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        locations.py; the scale that "ptr" proposes from is a universal interquartile range
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.pipelines.together import Levels
from dpstats.mechanisms.propose_test_release import REFUSED
from dpstats.statistics.propose_test_release.answers import for_each, tested_answer, tested_method
from dpstats.statistics.propose_test_release.locations import (
    TEST_SHARE,
    QuantileStatistic,
    fitting_bound,
    location_cascade,
    needed_steps,
    printed_width,
    quantile_by_bound,
    quantile_if_stable,
)
from dpstats.statistics.propose_test_release.proposals import buy_scale
from dpstats.statistics.propose_test_release.scales import RangeStatistic, printed_grid, printed_threshold, scale_cascade
from dpstats.statistics.propose_test_release.setting import Setting, take_setting
from dpstats.statistics.quantiles import MEDIAN, QUANTILE
from dpstats.statistics.scale import LOWER_QUARTILE, UPPER_QUARTILE

Locate = Callable[[QuantileStatistic, Setting], Any]


def _register(name: str, locate: Locate, what: str, *, counted: bool) -> None:
    """Both statistics by one method; `counted` where it proposes from the number of rows."""

    @tested_method(name, what, MEDIAN, QUANTILE)
    def run(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
        wanted = question.arguments.get("q", Fraction(1, 2))
        several = wanted if isinstance(wanted, tuple) else (wanted,)
        setting = take_setting(column, question, rng, counted=counted, parts=len(several))

        def one(quantile: Fraction) -> Any:
            return locate(QuantileStatistic(quantile), setting)

        outcome = for_each(several, one) if isinstance(wanted, tuple) else one(wanted)
        return tested_answer(outcome, question, setting)


def locate_dwork_lei(place: QuantileStatistic, setting: Setting) -> Any:
    """Algorithm M: the scale by Algorithm S, then bins of scale * n**(-1/3), tested under two discretisations."""
    quartiles = RangeStatistic(LOWER_QUARTILE, UPPER_QUARTILE)
    pipeline = Levels(
        scale_cascade(quartiles, printed_grid(setting.rows), printed_threshold(setting.rows)),
        location_cascade(place, lambda scale: printed_width(scale, setting.rows)),
    )
    return setting.run(pipeline, (LOWER_QUARTILE, place.quantile, UPPER_QUARTILE))


def locate_ptr(place: QuantileStatistic, setting: Setting) -> Any:
    """One test of the distance to a table whose local sensitivity exceeds a bound that is proposed from a private scale."""
    scale, rest = buy_scale(setting, LOWER_QUARTILE)
    if scale is None:
        return REFUSED
    needed = needed_steps(rest.epsilon * TEST_SHARE, rest.delta, 0)
    return quantile_by_bound(place, fitting_bound(place, scale, needed, rest.rows), rest)


_register("dwork-lei", locate_dwork_lei, "Algorithm M, the scale by Algorithm S", counted=True)
_register("ptr", locate_ptr, "one test against a bound that is proposed from a private scale", counted=True)
_register("stable", quantile_if_stable, "the value itself without noise, for data with many ties", counted=False)
