"""Student's t test for one sample and Welch's for two, without bounds.

Claim      epsilon-DP, no delta
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        Limits, shells and the cells of a mean (cells.py) are all that is read: the number of rows, their sum and squares. Two
           groups share the cut of all rows and have no row in common, so that the cells of each take all that the cut left;
           statistic and p-value look at the cells
Numerics   Exact from the rows to the noisy cells; floats after that
No reply   Where the noisy number of rows, or that of a group, is too small at this epsilon; costs the same as an answer
Source     t_tests.proof.md; Welch 1947
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, Reads, method
from dpstats.foundations.summaries import Column, Table
from dpstats.foundations.text_tables import counted
from dpstats.statistics.by_unit import with_units
from dpstats.statistics.clipped.cells import release_cells
from dpstats.statistics.clipped.clips import Cut
from dpstats.statistics.clipped.margins import Frame
from dpstats.statistics.floors import Floor
from dpstats.statistics.means import ASTRAY, DEGREE, WHOLE_ERROR, Clipped, clipped_notes
from dpstats.statistics.testing.contrasts import (
    GROUP_NATS,
    LEAST_TAIL,
    SEEN_NATS,
    Contrast,
    difference_at_common_limits,
    mean_of,
)
from dpstats.statistics.testing.group_cuts import draw_group_cut
from dpstats.statistics.testing.one_column import TEST_LOSS, contrast_of, read_for_test
from dpstats.statistics.testing.parameters import TWO_GROUPS, null_parameter, show_labels
from dpstats.statistics.testing.results import ALTERNATIVE, TestResult, answer_of_test, register_test

ROWS_FLOOR, GROUP_FLOOR = Floor(nats=SEEN_NATS), Floor(nats=GROUP_NATS)
"""What limits take, of all rows; and what the mean of a group takes that is cut off at them."""
T_CLAIM = "pure epsilon-DP, no bounds asked, no delta, may refuse: rows are cut off at privately found limits"
T_RETURNS = "a result with statistic, p_value, estimate, df and rows (noisy)"


T_TEST = register_test(
    "t_test",
    "Whether the mean of the rows is a given number (Student's t test; for pairs, of a column of differences)",
    (null_parameter("mean"), ALTERNATIVE),
    returns=T_RETURNS,
)
TWO_SAMPLE_T_TEST = register_test(
    "two_sample_t_test",
    "Whether two groups of rows have the same mean (Welch's t test)",
    (TWO_GROUPS, ALTERNATIVE),
    reads=(Reads.NUMBERS, Reads.LABELS),
    returns=T_RETURNS,
)


@method(T_TEST, "clipped", claim=T_CLAIM, loss=TEST_LOSS, version=5, by_unit=lambda question: 1)
def t_test_clipped(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """The mean of clipped rows against a number."""
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    clipped = read_for_test(column, epsilon, rng)
    contrast = contrast_of(clipped, float(epsilon))
    null, rows = float(question.arguments["mean"]), (contrast.spread.rows,)
    answer = t_answer(contrast, null, question, epsilon, "the mean", rows, clipped_notes(question, clipped))
    if clipped.astray is not None:
        return Floor.refuse(question, answer, clipped.astray, clipped.astray.reason)
    return ROWS_FLOOR.judge(question, clipped.noisy_rows if clipped.cells is None else rows[0], answer)


@method(TWO_SAMPLE_T_TEST, "clipped", claim=T_CLAIM, loss=TEST_LOSS, version=4, by_unit=lambda question: 2)
def two_sample_t_test_clipped(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """The difference of two groups' means; limits are those of all rows, so that groups which are alike lose alike at them."""
    epsilon, groups = row_epsilon(question.epsilon, question.neighbors), question.arguments["groups"]
    drawn = draw_group_cut(table.column(0), epsilon, rng)
    cut, limits, cells_epsilon = drawn.cut, drawn.limits, epsilon - drawn.spent
    columns = table.columns_by_label(0, 1, groups)
    parts = [cells_at(column, cut, limits.noisy_rows, cells_epsilon, rng) for column in columns]
    contrast = difference_at_common_limits(parts[0], parts[1], float(epsilon))
    estimates = f"the mean of {show_labels(groups[:1])} less that of {show_labels(groups[1:])}"
    rows = tuple(mean_of(part, float(epsilon)).spread.rows for part in parts)
    answer = t_answer(contrast, 0.0, question, epsilon, estimates, rows, clipped_notes(question, parts[0]))
    if parts[0].cells is None:
        return ROWS_FLOOR.judge(question, limits.noisy_rows, answer)
    if min(rows) < GROUP_FLOOR.rows_at(question):
        return GROUP_FLOOR.judge(question, min(rows), answer)
    if drawn.astray:
        return Floor.refuse(question, answer, ASTRAY, ASTRAY.reason)
    return ROWS_FLOOR.judge(question, sum(rows), answer)


def cells_at(column: Column, cut: Cut, noisy_rows: int, epsilon: Fraction, rng: RandomSource) -> Clipped:
    """The cells of a group at limits of all rows."""
    clip = cut.clip
    if clip is None:
        return Clipped(cut, None, Frame(float(cut.middle), 0.0), noisy_rows, epsilon)
    cells = with_units(column, clip, release_cells(column, clip, DEGREE, epsilon, rng), rng)
    return Clipped(cut, cells, Frame.of(clip), noisy_rows, epsilon)


def t_answer(
    contrast: Contrast,
    null: float,
    question: Question,
    epsilon: Fraction,
    estimates: str,
    rows: tuple[float, ...],
    notes: tuple[tuple[str, str], ...],
) -> Answer:
    """What is released of a contrast."""
    verdict = "1 less the largest level whose interval leaves the null hypothesis outside: noise and clip are allowed for"
    if not contrast.seen:
        verdict = f"1: fewer than about {counted(SEEN_NATS / float(epsilon), 'row')}, or next to no spread, allow no verdict"
    alternative, df = question.arguments["alternative"], contrast.spread.rows - 1
    tested = contrast.statistic(null), contrast.p_value(null, alternative)
    is_bound = tested[1] <= LEAST_TAIL
    result = TestResult("t", *tested, contrast.value, estimates, df, rows, alternative, p_is_upper_bound=is_bound)
    return answer_of_test(result, question, (("p-value", verdict), *notes), contrast.reach, WHOLE_ERROR)
