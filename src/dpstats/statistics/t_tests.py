"""Student's t test for one sample and Welch's for two, without bounds.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        The cells of the mean (means.py) are all that is read: its limits, the number of rows, their sum and squares. Two
           groups have no row in common, so that each is read at the whole of epsilon; statistic and p-value look at the cells
Numerics   Exact from the rows to the noisy cells; floats after that
Source     t_tests.proof.md; Welch 1947
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Reads, method
from dpstats.foundations.summaries import Column, Table
from dpstats.statistics.means import CLIPPED_CLAIM, CLIPPED_LOSS, DEGREE, WHOLE_ERROR, clipped_for, clipped_notes
from dpstats.statistics.testing.contrasts import SEEN_NATS, WIDE_ROOM, Contrast, difference_of, mean_of
from dpstats.statistics.testing.parameters import TWO_GROUPS, null_parameter, show_labels
from dpstats.statistics.testing.results import ALTERNATIVE, TestResult, answer_of_test, register_test

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


@method(T_TEST, "clipped", claim=CLIPPED_CLAIM, loss=CLIPPED_LOSS)
def t_test_clipped(column: Column, question: Question, rng: RandomSource) -> Answer:
    """The mean of clipped rows against a number."""
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    clipped = clipped_for(column, epsilon, rng, DEGREE, WIDE_ROOM)
    contrast = mean_of(clipped, float(epsilon))
    null, rows = float(question.arguments["mean"]), (contrast.spread.rows,)
    return t_answer(contrast, null, question, epsilon, "the mean", rows, clipped_notes(question, clipped))


@method(TWO_SAMPLE_T_TEST, "clipped", claim=CLIPPED_CLAIM, loss=CLIPPED_LOSS)
def two_sample_t_test_clipped(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The difference of two groups' means; the limits of each group are its own."""
    epsilon, groups = row_epsilon(question.epsilon, question.neighbors), question.arguments["groups"]
    parts = [clipped_for(column, epsilon, rng, DEGREE, WIDE_ROOM) for column in table.columns_by_label(0, 1, groups)]
    means = [mean_of(part, float(epsilon)) for part in parts]
    contrast = difference_of(means[0], means[1])
    estimates = f"the mean of {show_labels(groups[:1])} less that of {show_labels(groups[1:])}"
    limits = "; ".join(
        f"{show_labels([group])}: {float(part.cut.low):.6g} to {float(part.cut.high):.6g}"
        for group, part in zip(groups, parts, strict=True)
    )
    notes = [note for note in clipped_notes(question, parts[0]) if note[0] != "limits"]
    rows = tuple(mean.spread.rows for mean in means)
    return t_answer(contrast, 0.0, question, epsilon, estimates, rows, (("limits", limits), *notes))


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
        verdict = f"1: fewer than about {SEEN_NATS / float(epsilon):,.0f} rows, or next to no spread, allow no verdict"
    alternative, df = question.arguments["alternative"], contrast.spread.rows - 1
    tested = contrast.statistic(null), contrast.p_value(null, alternative)
    result = TestResult("t", *tested, contrast.value, estimates, df, rows, alternative)
    return answer_of_test(result, question, (("p-value", verdict), *notes), contrast.reach, WHOLE_ERROR)
