"""The analysis of variance: whether several groups of rows have the same mean (Welch's version), without bounds.

Claim      clipped: epsilon-DP. thresholded, which finds the groups: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        As for two groups (t_tests.py): limits of all rows, and then the cells of each group at a clip that follows from them;
           groups have no row in common, so that the cells of each take all that the limits left. Groups that nobody listed are
           labels of many rows, chosen first out of a sixth of epsilon and all of delta. The verdict looks at the cells alone
Numerics   Exact from the rows to the noisy cells; floats after that
No reply   Where the noisy number of rows, or that of a group, is too small at this epsilon, or where fewer than two groups are
           found; costs the same as an answer
Source     analyses_of_variance.proof.md; Welch 1951
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.accounting.groups import row_cost, steps_between
from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import MissingParameterError
from dpstats.foundations.json_types import LABEL, NOTHING, either, list_of
from dpstats.foundations.portable import rounded_errors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, method
from dpstats.foundations.summaries import Table
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.thresholding import choose_keys, rows_for
from dpstats.statistics.by_unit import as_alike
from dpstats.statistics.clipped.margins import spread_of, variance_doubt
from dpstats.statistics.floors import Floor
from dpstats.statistics.means import ASTRAY, WHOLE_ERROR, Clipped, clipped_notes
from dpstats.statistics.t_tests import GROUP_FLOOR, ROWS_FLOOR, T_CLAIM, cells_at
from dpstats.statistics.testing.between_groups import SIMULATED, MeansVerdict, judge_means
from dpstats.statistics.testing.contrasts import difference_at_common_limits, mean_of
from dpstats.statistics.testing.group_cuts import draw_group_cut
from dpstats.statistics.testing.noise import Floats, simulator
from dpstats.statistics.testing.one_column import TEST_LOSS
from dpstats.statistics.testing.parameters import MOST_LABELS, checked_list, show_labels
from dpstats.statistics.testing.results import TestResult, answer_of_test, register_test, simulated_text

FIND_GROUPS_SHARE = Fraction(1, 6)
"""The part of epsilon that finds groups, where none are listed."""
_EVERY_LABEL = 1 << 31


@dataclass(frozen=True)
class GroupsResult(TestResult):
    """A released test of several groups, with their means."""

    groups: tuple[Any, ...] = ()
    means: tuple[float, ...] = ()
    errors: tuple[float, ...] = ()
    """The standard errors of the means, for sampling and noise."""


def _checked_groups(value: object) -> tuple[Any, ...] | None:
    return None if value is None else checked_list(value, "groups")


ANOVA = register_test(
    "anova",
    "Whether several groups of rows have the same mean (one-way analysis of variance, Welch's version)",
    (
        Parameter(
            "groups",
            "the labels whose rows are compared, such as ['a', 'b', 'c']; left out: those of many rows are found, with delta",
            _checked_groups,
            None,
            either(list_of(LABEL, 2, MOST_LABELS), NOTHING),
            takes=Elements | None,
        ),
    ),
    reads=(Reads.NUMBERS, Reads.LABELS),
    returns="a result with statistic (Welch's F), p_value, estimate (eta squared), df, and groups with their means and errors",
    value=GroupsResult,
    prefer=lambda arguments, delta: "thresholded" if arguments["groups"] is None else "clipped",
)


def _check_groups(question: Question) -> None:
    if question.arguments["groups"] is None:
        raise MissingParameterError(
            "anova by method 'clipped' needs groups, the labels whose rows are compared: for example groups=['a', 'b', 'c']. "
            "Left out, they are found privately, which needs delta: leave method out."
        )


@method(
    ANOVA,
    "clipped",
    claim=T_CLAIM,
    loss=TEST_LOSS,
    version=3,
    check=_check_groups,
    by_unit=lambda question: len(question.arguments["groups"]),
)
def anova_clipped(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """Means of public groups."""
    price = row_cost(question.epsilon, question.delta, steps_between(question.neighbors, 1))
    return compare_groups(table, question.arguments["groups"], price.epsilon, question, rng)


@method(
    ANOVA,
    "thresholded",
    claim="(epsilon, delta)-DP, no bounds asked, may refuse: groups of many rows, then means of rows that are cut off",
    needs_delta=True,
    version=3,
    by_unit=as_alike,
)
def anova_thresholded(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """Means of groups that many rows share."""
    price = row_cost(question.epsilon, question.delta, steps_between(question.neighbors, 1))
    find_epsilon = price.epsilon * FIND_GROUPS_SHARE
    found = tuple(choose_keys(dict(table.column(1).most_common(_EVERY_LABEL)), find_epsilon, price.delta, rng))
    listed = question.arguments["groups"]
    groups = found if listed is None else tuple(group for group in listed if group in found)
    if not 2 <= len(groups) <= MOST_LABELS:
        return Refusal(
            f"Fewer than two groups, or more than {MOST_LABELS}, were found.",
            f"A group is found from about {counted(rows_for(find_epsilon, price.delta), 'row')} on; list public labels "
            "(groups=), or ask with a larger epsilon.",
        )
    return compare_groups(table, groups, price.epsilon - find_epsilon, question, rng)


def compare_groups(table: Table, groups: Sequence[Any], epsilon: Fraction, question: Question, rng: RandomSource) -> Outcome:
    """The test on groups that are known, for one row added or removed."""
    drawn = draw_group_cut(table.column(0), epsilon, rng)
    cut, limits = drawn.cut, drawn.limits
    columns = table.columns_by_label(0, 1, groups)
    parts = [cells_at(column, cut, limits.noisy_rows, epsilon - drawn.spent, rng) for column in columns]
    contrasts = [mean_of(part, float(epsilon)) for part in parts]
    rows = tuple(each.spread.rows for each in contrasts)
    seen = parts[0].cells is not None and all(each.seen for each in _pairs(parts, float(epsilon)))
    spreads = [each.spread for each in contrasts]
    judged = judge_means(spreads, _lost(parts, float(epsilon)), simulator(rng), [_doubt(part) for part in parts])
    answer = _answer(judged, groups, contrasts, rows, seen, question, clipped_notes(question, parts[0]))
    if parts[0].cells is None:
        return ROWS_FLOOR.judge(question, limits.noisy_rows, answer)
    if min(rows) < GROUP_FLOOR.rows_at(question):
        return GROUP_FLOOR.judge(question, min(rows), answer)
    if drawn.astray:
        return Floor.refuse(question, answer, ASTRAY, ASTRAY.reason)
    return ROWS_FLOOR.judge(question, sum(rows), answer)


def _pairs(parts: Sequence[Clipped], epsilon: float) -> list[Any]:
    return [difference_at_common_limits(parts[0], part, epsilon) for part in parts[1:]]


def _doubt(part: Clipped) -> float:
    """What the noise may have done to the variance of a group, as a share of it."""
    if part.cells is None:
        return 0.0
    spread = spread_of(part.cells)
    variance = spread.sampling * spread.rows
    return variance_doubt(part.cells) / variance if variance > 0 else 0.0


def _lost(parts: Sequence[Clipped], epsilon: float) -> Floats:
    """By how much the clip may have made each mean too large beside each other one."""
    lost = np.zeros((len(parts), len(parts)))
    for one in range(len(parts)):
        for other in range(one):
            contrast = difference_at_common_limits(parts[one], parts[other], epsilon)
            lost[one, other], lost[other, one] = contrast.lost_below, contrast.lost_above
    return lost


def _answer(
    judged: MeansVerdict,
    groups: Sequence[Any],
    contrasts: Sequence[Any],
    rows: tuple[float, ...],
    seen: bool,
    question: Question,
    notes: tuple[tuple[str, str], ...],
) -> Answer:
    p_value = judged.p_value if seen else 1.0
    is_bound = seen and judged.p_is_upper_bound
    simulated = f"from {SIMULATED:,} sets of means simulated under the null hypothesis, with sampling errors and noise"
    verdict = f"{simulated_text(simulated, p_value, is_upper_bound=is_bound)}; the clip is allowed for"
    result = GroupsResult(
        "F",
        judged.statistic,
        p_value,
        judged.share,
        "the share of the variance that lies between groups",
        judged.df[0],
        rows,
        groups=tuple(groups),
        means=tuple(each.value for each in contrasts),
        errors=rounded_errors([math.sqrt(each.spread.variance) for each in contrasts]),
        p_is_upper_bound=is_bound,
    )
    told = (
        ("p-value", verdict if seen else "1: too few rows, or next to no spread, allow no verdict"),
        ("groups", show_labels(groups)),
    )
    return answer_of_test(result, question, (*told, *notes), judged.interval if seen else lambda level: (0.0, 1.0), WHOLE_ERROR)
