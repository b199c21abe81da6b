"""Finding the codes of features and the classes, out of a part of a classifier's budget.

Claim      All that is bought here and from the budget handed on is together epsilon-DP without delta, and else (epsilon,
           delta)-DP: but for an event of probability delta / 2 it is rho-zCDP, with rho = zcdp_within(epsilon, delta / 2)
Neighbors  ADD_REMOVE of one row
Why        Codes are found and counted out of a budget of their own (synthetic/finding.py), a quarter of the whole; what it leaves
           goes to the other one. How much that is depends on what was released, and never exceeds the whole
Numerics   Exact; codes follow from released numbers
No reply   Where fewer than two classes are found, or more than a classifier takes; costs the same as an answer
Source     classifiers.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.concentration import zcdp_within
from dpstats.accounting.groups import row_cost, steps_between
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question, Refusal
from dpstats.foundations.summaries import CodedTable, Coding, LabelCoding
from dpstats.statistics.classification.features import CodedFeature
from dpstats.statistics.classification.parameters import MARKS, MOST_CLASSES
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget
from dpstats.statistics.coded.parameters import levels_of
from dpstats.statistics.synthetic.columns import MeasuredColumn, rows_of
from dpstats.statistics.synthetic.finding import CodeFinding, Wish

Floats = NDArray[np.float64]
Budget = PureTableBudget | ConcentratedTableBudget

FINDING_SHARE = Fraction(1, 4)
"""The part of a budget that codes may take; they leave about half of it."""
NO_CLASSES = Refusal(
    "Fewer than two classes have many rows.",
    "The cost is spent; where the classes are public, list them: classes=['no', 'yes'].",
)
TOO_MANY_CLASSES = Refusal(
    f"More than {MOST_CLASSES} classes have many rows.",
    "The cost is spent; list the classes that matter: classes=['north', 'south'].",
)


@dataclass(frozen=True)
class FoundFeatures:
    """What rows are to a classifier: the codes of their features, and their classes."""

    features: tuple[CodedFeature, ...]
    counts: tuple[Floats, ...]
    """About how many rows each code of a feature has, at least 1."""
    classes: tuple[Any, ...]
    codings: tuple[Coding, ...]
    """How rows get their codes: features, and last the class."""
    rows: float
    """About how many rows there are."""
    variances: tuple[float, ...]
    """About the variance of the noise in each feature's counts."""


def find_features(table: CodedTable, question: Question, rng: RandomSource) -> tuple[FoundFeatures | Refusal, Budget]:
    """Find the codes of all columns; what is left to spend goes with them."""
    price = row_cost(question.epsilon, question.delta, steps_between(question.neighbors, 1))
    kind: type[Budget] = ConcentratedTableBudget if price.delta else PureTableBudget
    whole = zcdp_within(price.epsilon, price.delta / 2) if price.delta else price.epsilon
    finding_budget = kind(whole * FINDING_SHARE, rng)
    outcome = question.columns[-1]
    classes = question.arguments["classes"] or (() if price.delta else MARKS)
    levels = levels_of(question) | ({outcome: classes} if classes else {})
    finding = CodeFinding(table, Wish(question.columns, levels), finding_budget, price.delta / 2, rng)
    found = finding.fine_columns()
    noisy = finding.counted(found)
    rows = rows_of(noisy)
    budget = kind(whole * (1 - FINDING_SHARE * (1 - finding_budget.left)), rng)
    classes = classes or found[-1].labels
    if not 2 <= len(classes) <= MOST_CLASSES:
        return NO_CLASSES if len(classes) < 2 else TOO_MANY_CLASSES, budget
    measured = [MeasuredColumn.of(fine, each, rows) for fine, each in zip(found[:-1], noisy[:-1], strict=True)]
    features = tuple(CodedFeature.of(column) for column in measured)
    codings = [feature.coding(dtype) for feature, dtype in zip(features, finding.types, strict=False)]
    counts = [np.bincount(column.merged, weights=column.counts, minlength=column.size) for column in measured]
    return FoundFeatures(
        features,
        tuple(np.maximum(each, 1.0) for each in counts),
        classes,
        (*codings, LabelCoding(classes)),
        rows,
        tuple(column.noisy.law.variance for column in measured),
    ), budget
