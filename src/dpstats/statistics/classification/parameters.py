"""Parameters of classifiers: which classes there are, and which labels columns have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpstats.foundations.accepted import Elements
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.json_types import LABEL, NOTHING, either, list_of
from dpstats.foundations.keys import are_distinct, plain_key
from dpstats.foundations.registry import Outcomes, Parameter, Question, Reads, Statistic
from dpstats.statistics.coded.parameters import BOOLEAN, LEVELS, NUMERIC, UNDECLARED, settle_levels

MOST_CLASSES = 50
MOST_FEATURES = 100
MARKS = (0, 1)


def checked_classes(value: object) -> tuple[Any, ...]:
    """The labels of classes; none where they are left out."""
    if value is None:
        return ()
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidParameterError("classes must be a list of labels, such as ['no', 'yes'].")
    given = [plain_key(label) for label in value]
    plain = [label for label in given if label is not None and not isinstance(label, tuple)]
    if len(plain) < len(given) or not 2 <= len(plain) <= MOST_CLASSES or not are_distinct(plain):
        raise InvalidParameterError(f"classes must list from 2 to {MOST_CLASSES} labels, each once, such as ['no', 'yes'].")
    return tuple(plain)


CLASSES = Parameter(
    "classes",
    "the labels that y holds, where they are public: ['no', 'yes']; rows with others are left out. Without it they are 0 and 1 "
    "of a column of numbers, False and True, or declared keys; of labels they are found privately, which needs delta",
    checked_classes,
    None,
    either(list_of(LABEL, 2, MOST_CLASSES), NOTHING),
    by_name=True,
    takes=Elements | None,
)
FEATURE_LEVELS = replace(
    LEVELS,
    help="the labels of features, where they are public: {'region': ['north', 'south']}; other labels count as one. Columns of "
    "True and False have theirs; all others are found privately, which needs delta",
)


def classifier_statistic(name: str, summary: str, returns: str, value: Any, pure: str, gaussian: str) -> Statistic:
    """A statistic of features of any types and an outcome of classes; with delta its method is `gaussian`, without `pure`."""
    return Statistic(
        name,
        summary,
        (CLASSES, FEATURE_LEVELS),
        reads=(Reads.COLUMNS, Reads.LABELS),
        returns=returns,
        value=value,
        revive=value.from_dict,
        prefer=lambda arguments, delta: gaussian if delta else pure,
        settle_columns=settle_classes,
        labelled=lambda arguments: dict(arguments["levels"]),
        outcomes=Outcomes.MARKS,
        most_features=MOST_FEATURES,
    )


def settle_classes(question: Question, kinds: Mapping[str, str], keys: Mapping[str, Sequence[Any]]) -> Question:
    """The question about columns of these types, with all the labels that are known; raises where some can not be found.

    An outcome that declares no type, such as a list, has 0 and 1, or with delta whatever labels are found.
    """
    *features, outcome = question.columns
    question = settle_levels(question, {name: kinds[name] for name in features}, keys)
    if question.arguments["classes"]:
        return question
    classes: tuple[Any, ...] = ()
    if kinds[outcome] == BOOLEAN:
        classes = (False, True)
    elif outcome in keys:
        classes = checked_classes(list(keys[outcome]))
    elif kinds[outcome] in NUMERIC or (kinds[outcome] == UNDECLARED and not question.delta):
        classes = MARKS
    if not classes and not question.delta:
        raise MissingParameterError(
            f"the classes in {outcome!r} are not known. List them if they are public: classes=['no', 'yes']; or have them found "
            "privately, which needs delta: for example delta=1e-6."
        )
    return replace(question, arguments={**question.arguments, "classes": classes})
