"""Questions about classifiers by a formula: the question of the classifier itself, about columns that the formula derives.

Claim      That of the classifier
Neighbors  ADD_REMOVE or CHANGE_ONE of a unit
Why        A formula that only adds features up names columns, and derives some from one row each, as `with_columns` does. What is
           asked, priced, debited and archived is the classifier on these columns; nothing else sees a row
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dpstats.curator.classifier_words import ClassifierWords
from dpstats.curator.scope import Scope
from dpstats.engines.formulas.main_effects import read_main_effects
from dpstats.engines.formulas.new_rows import derived_rows
from dpstats.foundations.arguments import check_columns
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.registry import Statistic, find_statistic
from dpstats.foundations.results import Release

CLASSIFIERS = {"additive": "additive_classifier", "naive_bayes": "naive_bayes", "tree": "decision_tree"}
"""What a formula with classes can be fitted by, and the statistic behind it."""
Reply = TypeVar("Reply")


@dataclass(frozen=True)
class ClassifierCall:
    """The question that a formula asks, as its classifier takes it; nothing in it comes from data."""

    statistic: Statistic
    scope: Scope
    """With the derived columns."""
    columns: tuple[str, ...]
    """The features, and last the outcome."""
    parameters: Mapping[str, Any]

    def attached(self, reply: Reply) -> Reply:
        """The reply with a model that predicts from the columns of the formula; a refusal as it is."""
        if isinstance(reply, GroupedRelease):
            return replace(reply, replies={key: self.attached(each) for key, each in reply.items()})
        if not isinstance(reply, Release):
            return reply
        rows_of = derived_rows(self.scope.view, self.columns[:-1])
        return replace(reply, value=replace(reply.value, rows_of=rows_of))


def classifier_call(
    asked: ClassifierWords, scope: Scope, keys: Mapping[str, Sequence[Any]], left_out: Sequence[str] = ()
) -> ClassifierCall:
    """The question that a formula asks about a scope; complaints about the formula are raised here.

    `keys` are the labels of columns that are public; `left_out` are columns that "." does not stand for.
    """
    if not isinstance(asked.model, str) or asked.model not in CLASSIFIERS:
        raise UnknownNameError(f"model must be one of {', '.join(map(repr, CLASSIFIERS))}.")
    statistic = find_statistic(CLASSIFIERS[asked.model])
    effects = read_main_effects(asked.formula, scope.columns, levels=asked.levels, known_levels=keys, left_out=left_out)
    if effects.classes is not None and asked.classes is not None:
        raise InvalidParameterError("the classes are listed twice: in the formula, or as classes=[...].")
    classes = effects.classes if asked.classes is None else asked.classes
    columns = (*effects.features, effects.outcome)
    check_columns(statistic, columns)
    parameters = {"classes": classes, "levels": effects.levels or None}
    return ClassifierCall(statistic, scope.with_columns(effects.derived), columns, parameters)
