"""Public things that a test is given: the labels that it compares, numbers under its null hypothesis, choices by name."""

from __future__ import annotations

import datetime
import functools
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpstats.foundations.accepted import Elements, Number, literal_of
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import LABEL, NUMBER, list_of, one_of
from dpstats.foundations.keys import are_distinct, plain_key
from dpstats.foundations.registry import Parameter
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.units import LARGEST_EXACT, float_of_whole

MOST_LABELS = 100
LABELS = list_of(LABEL, 2, MOST_LABELS)
_LARGEST, _SMALLEST = Fraction(sys.float_info.max), Fraction(sys.float_info.min)


def checked_list(value: object, name: str, most: int = MOST_LABELS) -> tuple[Any, ...]:
    """Two to `most` different labels: texts, numbers, bools or dates."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InvalidParameterError(f"{name} must be a list of labels such as ['a', 'b'].")
    labels = tuple(plain_label(item, name) for item in value)
    if not 2 <= len(labels) <= most:
        wanted = "2" if most == 2 else f"2 to {most}"
        raise InvalidParameterError(f"{name} must hold {wanted} labels, got {len(labels)}.")
    if not are_distinct(labels):
        raise InvalidParameterError(f"{name} must hold different labels.")
    return labels


def plain_label(item: object, name: str) -> Any:
    """One label as engines have it: dates and times in ISO form, bools as 0 and 1, whole numbers beyond 2**53 as floats.

    A row must have one label of a list at most, so labels that engines take for the same must be the same here.
    """
    if isinstance(item, datetime.date):
        return item.isoformat().removesuffix("T00:00:00")  # as engines write midnight
    label = plain_key(item)
    if label is None or isinstance(label, tuple):
        raise InvalidParameterError(f"{name} must hold texts, numbers, bools or dates.")
    if isinstance(label, int):
        return int(label) if abs(label) <= LARGEST_EXACT else float_of_whole(int(label))  # or two labels could have the same rows
    return label


def labels_parameter(name: str, help: str, most: int = MOST_LABELS) -> Parameter:
    """A parameter that takes from two to `most` different labels."""
    check = functools.partial(checked_list, name=name, most=most)
    return Parameter(name, help, check, json_type=list_of(LABEL, 2, most), takes=Elements)


TWO_GROUPS = labels_parameter("groups", "the two labels whose rows are compared, such as ['a', 'b']", most=2)


def show_labels(labels: Sequence[Any]) -> str:
    """Labels for a card, which no label can break."""
    texts = [str(label) for label in labels]
    return ", ".join(text if text.isprintable() and text.strip() else ascii(text) for text in texts)


def checked_number(value: object, name: str) -> Fraction:
    """A number that a float can hold: what cannot be computed with is refused before anything is spent."""
    number = exact_rational(value, name)
    if abs(number) > _LARGEST:
        raise InvalidParameterError(f"{name} must be a number of ordinary size, at most about 1.8e308.")
    return number


def null_parameter(name: str) -> Parameter:
    """The number that a parameter of the law is under the null hypothesis."""
    return Parameter(
        name, f"the {name} under the null hypothesis", functools.partial(checked_number, name=name), 0, NUMBER, takes=Number
    )


def checked_scale(value: object) -> Fraction:
    """A positive scale that a float can hold."""
    scale = checked_number(value, "scale")
    if scale < _SMALLEST:
        raise InvalidParameterError(f"scale must be a positive number, got {value}.")
    return scale


def choice_parameter(name: str, help: str, choices: Collection[str], default: str) -> Parameter:
    """A parameter that is one of some names."""

    def check(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise InvalidParameterError(f"{name} must be one of {', '.join(map(repr, choices))}.")
        return value

    return Parameter(name, help, check, default, one_of(choices), takes=literal_of(choices))
