"""Levels of categories that are found privately, before a formula is fitted.

Claim      (epsilon, delta)-DP for the choice of all levels together
Neighbors  ADD_REMOVE of one row
Why        A row has one label in each category, so that the choice in one of them is (epsilon, delta)-DP
           (mechanisms/thresholding.py); the prices of the categories add up to the stated one. What is made of the labels and
           their noisy counts, in which order and how many of them, looks at no row
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from dpstats.accounting.groups import row_cost, steps_between
from dpstats.engines.cells import ColumnType
from dpstats.engines.expressions import Expression
from dpstats.engines.expressions.language import ColumnReference
from dpstats.engines.formulas.design import Design
from dpstats.engines.formulas.factors import CategoryFactor
from dpstats.engines.groups.keys import count_keys
from dpstats.engines.stores.store import Store
from dpstats.engines.views import TableView
from dpstats.foundations.keys import Label, in_key_order
from dpstats.foundations.privacy import spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question
from dpstats.mechanisms.thresholding import choose_keys, rows_for

LEVELS_SHARE = Fraction(1, 10)
"""The part of epsilon that a private choice of levels gets; the fit gets the rest."""


class LevelPrice(NamedTuple):
    """What the choice of one category's levels may spend on a row."""

    epsilon: Fraction
    delta: Fraction

    def describe(self, question: Question) -> str:
        """What the choice shows, and what it costs, in words."""
        share = "half" if question.method.needs_delta else "all"
        return (
            f"chosen privately: a label of {rows_for(self.epsilon, self.delta):,} rows is found with probability 0.95 or more; "
            f"{LEVELS_SHARE} of epsilon and {share} of delta went into the choice"
        )


def split_price(question: Question, categories: int) -> tuple[LevelPrice, Question]:
    """What each of some categories may spend, and the question with what is left of its price."""
    epsilon = question.epsilon * LEVELS_SHARE
    delta = question.delta / 2 if question.method.needs_delta else question.delta
    amount = row_cost(epsilon / categories, delta / categories, steps_between(question.neighbors, 1))
    rest = question.cost - replace(question.cost, epsilon=epsilon, delta=delta)
    return LevelPrice(spendable_epsilon(amount.epsilon), spendable_delta(amount.delta)), replace(question, cost=rest)


def choose_levels(
    store: Store, view: TableView, design: Design, price: LevelPrice, most_features: int, source: RandomSource
) -> Design | None:
    """The design with levels that many rows have, sorted; None where a category has fewer than two, or they cannot be made few
    enough."""
    most = most_features + 1  # labels that a design can have: one of them is the reference
    found = {each.key: dict(_common_labels(store, view, each, price, source).most_common(most)) for each in design.unknown}
    if any(len(labels) < 2 for labels in found.values()):
        return None
    while True:
        chosen = design.with_levels({key: in_key_order(labels) for key, labels in found.items()})
        if 1 <= len(chosen.features) <= most_features:
            return chosen
        key = max(found, key=lambda each: len(found[each]))
        if len(found[key]) <= 2:
            return None
        rarest = min(found[key], key=lambda label: found[key][label])
        found[key] = {label: noisy_count for label, noisy_count in found[key].items() if label != rarest}


def _common_labels(
    store: Store, view: TableView, category: CategoryFactor, price: LevelPrice, source: RandomSource
) -> Counter[Label]:
    """The labels of a category that many rows have, each with its noisy count."""
    node, name = category.node, category.key
    if not isinstance(node, ColumnReference):
        view = replace(view, derived={**view.derived, name: Expression(node)})
    kind = ColumnType.TEXT if node.type is ColumnType.UNDECLARED else node.type
    raw_counts = {label: raw_count for (label,), raw_count in count_keys(store, view, [name], [kind]).items()}
    return Counter(choose_keys(raw_counts, price.epsilon, price.delta, source))
