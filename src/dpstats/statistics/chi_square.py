"""Chi-square tests on noisy tables of counts: independence of two columns of labels, and goodness of fit of one.

Claim      epsilon-DP where the labels are public; (epsilon, delta)-DP where they are found by thresholding
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added, at half of epsilon and less than half of delta
Why        A row is in one cell at most, and whole-number Laplace noise of scale 1 / epsilon on every cell hides it. Labels are
           found before that, of each column by chosen keys (mechanisms/thresholding.py) at their shares of epsilon and delta
Numerics   Counts and noise are exact; statistic and p-value are floats made from the noisy table
Source     testing/tables.proof.md; Gaboardi, Lim, Rogers & Vadhan 2016
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.accounting.groups import row_cost, row_epsilon, steps_between
from dpstats.foundations.accepted import Elements, Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import LABEL, NUMBER, either, list_of, object_of, pair_of
from dpstats.foundations.keys import counts_of, label_text
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Refusal, method
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import Column, Table, most_rows
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.mechanisms.thresholding import choose_keys, rows_for
from dpstats.statistics.by_unit import as_alike
from dpstats.statistics.sign_tests import COUNTS_CLAIM, SHARE_COVERS, count_notes
from dpstats.statistics.testing.noise import Floats, simulator
from dpstats.statistics.testing.parameters import LABELS, MOST_LABELS, checked_list, labels_parameter
from dpstats.statistics.testing.results import TWO_SIDED, CountsResult, answer_of_test, register_test, simulated_text
from dpstats.statistics.testing.tables import Expectation, Judged, independent, judge_alike, proportional

FIND_SHARE = Fraction(1, 6)
"""The part of epsilon that finds the labels of one column."""
COUNTS_RETURNS = "a result with statistic, p_value, estimate, df, and the noisy table as counts and expected"
_EVERY_LABEL = 1 << 31
_SURE = Fraction(1, 10**9)


def checked_probabilities(value: object) -> tuple[tuple[Any, Fraction], ...]:
    """Labels with their probabilities: a dict, a list of pairs, or a list of labels that are equally likely."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, str) or not isinstance(value, Iterable):
        raise _no_probabilities()
    else:
        listed = list(value)
        if all(isinstance(item, (list, tuple)) and len(item) == 2 for item in listed):
            pairs = [(label, probability) for label, probability in listed]
        elif any(isinstance(item, float) for item in listed):
            raise _no_probabilities()
        else:
            pairs = [(label, Fraction(1, len(listed))) for label in listed]
    labels = checked_list([label for label, _ in pairs], "probabilities")
    chances = [exact_rational(probability, "a probability") for _, probability in pairs]
    total = sum(chances, Fraction(0))
    if min(chances) <= 0 or abs(total - 1) > _SURE:
        raise InvalidParameterError("probabilities must be positive and add up to 1.")
    return tuple((label, chance / total) for label, chance in zip(labels, chances, strict=True))


def _no_probabilities() -> InvalidParameterError:
    return InvalidParameterError(
        "probabilities must be a dict such as {'a': 0.5, 'b': 0.5}, a list of pairs such as [['a', 0.5], ['b', 0.5]], or a list "
        "of labels that are equally likely."
    )


CHI_SQUARE_TEST = register_test(
    "chi_square_test",
    "Whether two columns of labels are independent of each other (chi-square test), for labels that are public",
    (
        labels_parameter("row_labels", "the labels of the first column that count"),
        labels_parameter("column_labels", "the labels of the second column that count"),
    ),
    reads=(Reads.LABELS, Reads.LABELS),
    returns=COUNTS_RETURNS,
    value=CountsResult,
)
ASSOCIATION_TEST = register_test(
    "association_test",
    "Whether two columns of labels are independent of each other (chi-square test), for labels that are not known beforehand",
    reads=(Reads.LABELS, Reads.LABELS),
    returns=COUNTS_RETURNS,
    value=CountsResult,
)
GOODNESS_OF_FIT_TEST = register_test(
    "goodness_of_fit_test",
    "Whether labels have given probabilities (chi-square test)",
    (
        Parameter(
            "probabilities",
            "the probability of each label, such as {'a': 0.5, 'b': 0.5}, or a list of equally likely labels",
            checked_probabilities,
            json_type=either(object_of(NUMBER), list_of(pair_of(LABEL, NUMBER), 2), LABELS),
            takes=Mapping[Any, Number] | Elements,
        ),
    ),
    reads=(Reads.LABELS,),
    returns=COUNTS_RETURNS,
    value=CountsResult,
)


@method(CHI_SQUARE_TEST, "laplace", claim=COUNTS_CLAIM, version=2, by_unit=as_alike)
def chi_square_laplace(table: Table, question: Question, rng: RandomSource) -> Answer:
    """Independence on the noisy table of public labels."""
    labels = question.arguments["row_labels"], question.arguments["column_labels"]
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    return independence_answer(table.label_pairs(), labels, epsilon, question, rng, most_rows(table))


@method(
    ASSOCIATION_TEST,
    "thresholded",
    claim="(epsilon, delta)-DP, may refuse: labels that many rows share, then noisy counts of their pairs",
    needs_delta=True,
    version=2,
    by_unit=as_alike,
)
def association_thresholded(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Independence on the noisy table of the labels that many rows share."""
    price = row_cost(question.epsilon, question.delta, steps_between(question.neighbors, 1))
    raw_pairs = table.label_pairs()
    find_epsilon = price.epsilon * FIND_SHARE
    found: list[tuple[Any, ...]] = []
    for place in (0, 1):
        raw_labels: Counter[Any] = Counter()
        for raw_pair, raw_count in raw_pairs.items():
            raw_labels[raw_pair[place]] += raw_count
        found.append(tuple(choose_keys(raw_labels, find_epsilon, price.delta / 2, rng)))
    if not all(2 <= len(labels) <= MOST_LABELS for labels in found):
        needed = rows_for(find_epsilon, price.delta / 2)
        return Refusal(
            f"Fewer than two labels, or more than {MOST_LABELS}, were found in one of the columns.",
            f"A label is found from about {counted(needed, 'row')} on; name public labels to chi_square_test, or ask with a "
            "larger epsilon.",
        )
    return independence_answer(raw_pairs, (found[0], found[1]), price.epsilon - 2 * find_epsilon, question, rng, most_rows(table))


@method(GOODNESS_OF_FIT_TEST, "laplace", claim=COUNTS_CLAIM, version=2, by_unit=as_alike)
def goodness_of_fit_laplace(column: Column, question: Question, rng: RandomSource) -> Answer:
    """Given probabilities against the noisy counts of their labels."""
    labels, chances = zip(*question.arguments["probabilities"], strict=True)
    raw_counts = counts_of(dict(column.most_common(_EVERY_LABEL)), labels)
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    noisy = np.array([noisy_counts(raw_counts, epsilon, rng)], dtype=np.float64)
    expectation = proportional(np.array([[float(chance) for chance in chances]]))
    return counts_answer(noisy, expectation, ((), labels), len(labels) - 1, epsilon, question, rng, most_rows(column))


def independence_answer(
    raw_pairs: Mapping[tuple[Any, Any], int],
    labels: tuple[tuple[Any, ...], tuple[Any, ...]],
    epsilon: Fraction,
    question: Question,
    rng: RandomSource,
    alike: int = 1,
) -> Answer:
    """The test of independence on the pairs of some labels; `alike` rows may be of one unit, and all the same."""
    down, across = labels
    raw_by_text = {(label_text(row), label_text(column)): count for (row, column), count in raw_pairs.items()}
    raw_counts = [raw_by_text.get((label_text(row), label_text(column)), 0) for row in down for column in across]
    noisy = np.array(noisy_counts(raw_counts, epsilon, rng), dtype=np.float64).reshape(len(down), len(across))
    return counts_answer(noisy, independent, labels, (len(down) - 1) * (len(across) - 1), epsilon, question, rng, alike)


def counts_answer(
    noisy: Floats,
    expectation: Expectation,
    labels: tuple[tuple[Any, ...], tuple[Any, ...]],
    df: int,
    epsilon: Fraction,
    question: Question,
    rng: RandomSource,
    alike: int = 1,
) -> Answer:
    """What is released of a noisy table, of which `alike` rows may be of one unit, and all the same."""
    judged = judge_alike(noisy, expectation, float(epsilon), simulator(rng), alike)
    down, across = labels
    most = min(len(down), len(across)) - 1 if down else 0
    name, scale, largest = ("Cramer's V", most**-0.5, 1.0) if down else ("Cohen's w", 1.0, math.inf)
    result = counts_result(noisy, judged, min(judged.effect * scale, largest), name, df, (float(noisy.sum()),), labels)
    left_out = ("other labels", "rows that have one are left out")
    notes = (*simulation_notes(judged), left_out, *count_notes(question))

    def ends(level: float) -> tuple[float, float]:
        low, high = judged.effect_interval(level, df)
        return min(low * scale, largest), min(high * scale, largest)

    return answer_of_test(result, question, notes, ends, SHARE_COVERS)


def counts_result(
    noisy: Floats,
    judged: Judged,
    estimate: float,
    estimates: str,
    df: int,
    rows: tuple[float, ...],
    labels: tuple[tuple[Any, ...], tuple[Any, ...]],
) -> CountsResult:
    """The result of a chi-square test with its noisy table and the expected one."""
    tables = (tuple(map(tuple, table.tolist())) for table in (noisy, judged.expected))
    verdict = "chi2", judged.statistic, judged.p_value
    return CountsResult(
        *verdict, estimate, estimates, df, rows, TWO_SIDED, *labels, *tables, p_is_upper_bound=judged.p_is_upper_bound
    )


def simulation_notes(judged: Judged) -> tuple[tuple[str, str], ...]:
    """The card's lines on statistic and p-value."""
    simulated = f"from {judged.simulated:,} tables simulated under the null hypothesis, each with noise"
    return (
        ("statistic", "sum of (noisy - expected)**2 / (expected + variance of the noise)"),
        ("p-value", simulated_text(simulated, judged.p_value, is_upper_bound=judged.p_is_upper_bound)),
    )
