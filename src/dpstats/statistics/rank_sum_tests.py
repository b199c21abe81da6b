"""Mann and Whitney's test, which is Wilcoxon's rank sum test: whether rows of one group tend to be higher than those of another.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added, at half of epsilon
Why        The lead of one group over the other, in pairs over rows, moves by less than 1 with one row, while the rank sum itself
           moves by as much as there are rows. Noise for 1 hides it; the numbers of rows are bought beside it
Numerics   Comparisons are exact, the lead is an exact ratio, noise is exact, on a grid. Floats after that
Source     testing/rank_leads.proof.md; Mann & Whitney 1947; Couch, Kazan, Shi, Bray & Groce 2019 (another private version)
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Reads, method
from dpstats.foundations.summaries import Table, most_rows
from dpstats.mechanisms.discrete_laplace import add_laplace, noisy_counts
from dpstats.mechanisms.grid import grid_for
from dpstats.statistics.by_unit import as_alike
from dpstats.statistics.sign_tests import SHARE_COVERS, count_notes
from dpstats.statistics.testing.parameters import TWO_GROUPS, show_labels
from dpstats.statistics.testing.rank_leads import NoisyLead, raw_lead
from dpstats.statistics.testing.results import ALTERNATIVE, TestResult, answer_of_test, register_test

LEAD_CLAIM = "pure epsilon-DP, no bounds asked, no delta, no refusal: the lead of one group in ranks, with noise"
LEAD_ROWS_SHARE = Fraction(1, 6)
"""The part of epsilon for the numbers of rows."""
LEAD_SENSITIVITY = Fraction(1)
LEAD_LOSS = Fraction(13, 36)

MANN_WHITNEY = register_test(
    "mann_whitney",
    "Whether rows of one group tend to be higher than those of another (Mann and Whitney's test, Wilcoxon's rank sum)",
    (TWO_GROUPS, ALTERNATIVE),
    reads=(Reads.NUMBERS, Reads.LABELS),
    returns="a result with statistic, p_value, estimate (the chance that a row of the first group is higher) and rows (noisy)",
)


@method(MANN_WHITNEY, "laplace", claim=LEAD_CLAIM, loss=LEAD_LOSS, version=2, by_unit=as_alike)
def mann_whitney_laplace(table: Table, question: Question, rng: RandomSource) -> Answer:
    """The lead of one group over the other."""
    groups = question.arguments["groups"]
    columns = table.columns_by_label(0, 1, groups)
    raw_runs = [column.tally() for column in columns]
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    lead = release_lead(raw_lead(*raw_runs), [column.count() for column in columns], epsilon, rng)
    alternative, (one, other) = question.arguments["alternative"], groups
    estimates = f"the chance that a row of {show_labels([one])} is higher than one of {show_labels([other])}, ties counted half"
    judged = lead.divided(most_rows(table))
    tested = judged.statistic(), judged.p_value(alternative)
    result = TestResult("z", *tested, lead.chance, estimates, None, lead.rows, alternative)
    notes = (
        ("p-value", "from the normal law of rank sums and the law of the noise together; ties make it larger than it need be"),
        ("memory", "the different values of the column are held in memory"),
        *count_notes(question),
    )
    return answer_of_test(result, question, notes, judged.interval, SHARE_COVERS)


def release_lead(raw: Fraction, raw_rows: list[int], epsilon: Fraction, rng: RandomSource) -> NoisyLead:
    """The lead and the numbers of rows, for one row added or removed."""
    rows_epsilon = epsilon * LEAD_ROWS_SHARE
    lead_epsilon = epsilon - rows_epsilon
    first, second = noisy_counts(raw_rows, rows_epsilon, rng)
    grid = grid_for(LEAD_SENSITIVITY / lead_epsilon, None, False)
    (noisy_lead,) = add_laplace([raw], LEAD_SENSITIVITY, lead_epsilon, grid, rng)
    return NoisyLead(float(noisy_lead), (float(first), float(second)), float(lead_epsilon), float(rows_epsilon))
