"""Answers of classifiers: the floor of rows they take, and what their cards say."""

from __future__ import annotations

from dpstats.accounting.groups import row_cost, steps_between
from dpstats.foundations.registry import Answer, Outcome, Question
from dpstats.foundations.results import value_text
from dpstats.foundations.text_tables import counted
from dpstats.statistics.classification.finding import FoundFeatures
from dpstats.statistics.classification.noise import Agreement
from dpstats.statistics.floors import Floor

FLOOR_NATS, PURE_FLOOR_NATS = 40, 80
"""Rows times epsilon, for each column, below which a classifier is hardly better than the commonest class; with delta and
without."""
ROUGH_NATS = 10
"""The same for rough answers."""


def classifier_answer(
    question: Question, found: FoundFeatures, model: object, agreement: Agreement, how: tuple[str, str]
) -> Outcome:
    """The answer that a model is, with its card; a refusal where rows are too few, as they were counted for the agreement.

    `how` is a line about how it was made.
    """
    price = row_cost(question.epsilon, question.delta, steps_between(question.neighbors, 1))
    features = len(found.features)
    floor = Floor((FLOOR_NATS if price.delta else PURE_FLOOR_NATS) * features, rough_nats=ROUGH_NATS * features)
    rows = counted(max(agreement.rows, 0), "row")
    values = f"{sum(feature.size for feature in found.features):,} in {counted(features, 'column')}; about {rows}"
    notes = (
        ("classes", ", ".join(value_text(label) for label in found.classes)),
        ("values", values),
        how,
        ("agreement", agreement.text()),
        ("quality", "no interval: the agreement is of the same rows, and says a little too much of new ones"),
        ("left out", "rows without one of the classes; a missing cell counts as a value"),
        ("public", "the parameters, names and types of columns; nothing about the rows"),
        ("numerics", "exact noise on whole numbers; the model follows from these and from released numbers"),
    )
    return floor.judge(question, agreement.rows, Answer(model, notes=notes))
