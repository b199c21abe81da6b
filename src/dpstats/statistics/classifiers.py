"""Classifiers that are sums over columns: the additive classifier, and naive Bayes.

Claim      boosting, counts: epsilon-DP. gaussian_boosting, gaussian_counts: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        Codes of all columns are found first, out of a part of one budget (classification/finding.py). From what is left the
           additive classifier buys noisy sums of residuals by the codes of one column at a time (classification/effects.py),
           naive Bayes a noisy table of classes by codes for each column (classification/tables.py). Last, two counts say how many
           rows the model gets right. Shares of the budget add up to at most 1; all else is arithmetic on what was released
Numerics   Whole numbers and exact noise. A row's residual is computed in floats, from that row and released numbers, rounded to
           2**-20, and its length is checked in whole numbers
No reply   Below a floor of rows; where classes are to be found and fewer than two have many rows. Costs the same as an answer
Source     classification/classifiers.proof.md
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import inner_product
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Outcome, Question, Refusal, method, register
from dpstats.foundations.summaries import CodedTable
from dpstats.foundations.text_tables import counted
from dpstats.statistics.classification.answers import classifier_answer
from dpstats.statistics.classification.effects import DECIMALS, boosted
from dpstats.statistics.classification.finding import find_features
from dpstats.statistics.classification.model import TWO, AdditiveModel
from dpstats.statistics.classification.noise import AGREEMENT_SHARE, UNSEEN, noisy_agreement
from dpstats.statistics.classification.parameters import classifier_statistic
from dpstats.statistics.classification.tables import class_counts, class_tables, log_ratios
from dpstats.statistics.likelihood.logarithms import log_of

Floats = NDArray[np.float64]

_RETURNS = "AdditiveModel with .predict(X), .predict_proba(X), .effects, .to_pandas() and .text()"


ADDITIVE_CLASSIFIER = register(
    classifier_statistic(
        "additive_classifier",
        "A classifier of rows: for each class a sum of effects, one for the value in each column",
        _RETURNS,
        AdditiveModel,
        "boosting",
        "gaussian_boosting",
    )
)
NAIVE_BAYES = register(
    classifier_statistic(
        "naive_bayes",
        "A classifier of rows by how often each class has each value of each column, as if columns were independent",
        _RETURNS,
        AdditiveModel,
        "counts",
        "gaussian_counts",
    )
)


@method(
    ADDITIVE_CLASSIFIER,
    "boosting",
    claim="pure epsilon-DP: private cuts, and whole-number Laplace noise on sums of residuals, one column after the other",
)
def additive_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Effects from sums with Laplace noise."""
    return _additive(table, question, rng)


@method(
    ADDITIVE_CLASSIFIER,
    "gaussian_boosting",
    claim="(epsilon, delta)-DP: private cuts and labels, and whole-number Gaussian noise on sums of residuals, column by column",
    needs_delta=True,
)
def additive_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Effects from sums with Gaussian noise."""
    return _additive(table, question, rng)


@method(
    NAIVE_BAYES,
    "counts",
    claim="pure epsilon-DP: private cuts, and whole-number Laplace noise on a table of classes by values for each column",
)
def naive_bayes_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Tables with Laplace noise."""
    return _naive(table, question, rng)


@method(
    NAIVE_BAYES,
    "gaussian_counts",
    claim="(epsilon, delta)-DP: private cuts and labels, and whole-number Gaussian noise on tables of classes by values",
    needs_delta=True,
)
def naive_bayes_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Tables with Gaussian noise."""
    return _naive(table, question, rng)


def _additive(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    found, budget = find_features(table, question, rng)
    if isinstance(found, Refusal):
        return found
    margins, cycles = boosted(table, found, budget, budget.left - AGREEMENT_SHARE, rng)
    agreement = noisy_agreement(table, found.codings, margins, budget, rng)
    effects = [_by_class(each) for each in margins.effects]
    middles = [np.round(_mean(each, counts), DECIMALS) for each, counts in zip(effects, found.counts, strict=True)]
    base = np.asarray(np.round(np.add.reduce(middles), DECIMALS), dtype=np.float64)
    centred = [np.round(each - middle[:, np.newaxis], DECIMALS) for each, middle in zip(effects, middles, strict=True)]
    model = AdditiveModel(
        "additive classifier", question.columns[-1], found.features, found.classes, base, tuple(centred), agreement
    )
    how = ("steps", f"{counted(cycles, 'cycle')} over {counted(len(found.features), 'column')}")
    return classifier_answer(question, found, model, agreement, how)


def _naive(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    found, budget = find_features(table, question, rng)
    if isinstance(found, Refusal):
        return found
    tables = class_tables(table, found, budget, budget.left - AGREEMENT_SHARE)
    classes = class_counts(tables)
    named = zip(tables, found.counts, found.features, strict=True)
    effects = tuple(log_ratios(each, classes, counts, feature.ordered) for each, counts, feature in named)
    base = np.round(log_of(classes / classes.sum()), 6)
    if len(classes) == TWO:
        base, effects = base - base[0], tuple(each - each[0] for each in effects)
    unseen = AdditiveModel("naive Bayes", question.columns[-1], found.features, found.classes, base, effects, UNSEEN)
    model = replace(unseen, agreement=noisy_agreement(table, found.codings, unseen, budget, rng))
    how = ("noise", f"{tables[0].law} in each cell of {counted(len(tables), 'table')}")
    return classifier_answer(question, found, model, model.agreement, how)


def _mean(effects: Floats, counts: Floats) -> Floats:
    """For each class the mean effect over rows, in a fixed order."""
    return np.array([inner_product(row, counts) for row in effects]) / inner_product(counts, np.ones_like(counts))


def _by_class(directions: Floats) -> Floats:
    """Effects of all classes; of two, zeros for the first."""
    return np.concatenate([np.zeros_like(directions), directions]) if len(directions) == 1 else directions
