"""What the reply of a block may be: a fixed number of numbers, or a label."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dpstats.foundations.keys import Label, labels_of, plain_key
from dpstats.foundations.summaries import label_order

Reply_co = TypeVar("Reply_co", covariant=True)
Atom = int | float | str
LabelReply = Atom | tuple[Atom, ...]


class ReplyForm(Protocol[Reply_co]):
    """Tells replies from everything else that a function may return."""

    def read(self, raw_plain: object) -> Reply_co | None:
        """Parse a reply (numbers, texts, lists, and {"set": list}); None if it is not a valid one."""


@dataclass(frozen=True)
class NumbersForm:
    """`count` finite numbers.

    A list, tuple, array or Series of exactly `count`; where that is 1, also the number itself. Truths count as 0 and 1, fractions
    and decimals as the nearest float. Arrays of two dimensions, texts, NaN and infinities are no answer.
    """

    count: int

    def read(self, raw_plain: object) -> tuple[float, ...] | None:
        """Parse a reply as `count` finite floats; None if it is not one."""
        raw_numbers: list[Any] = raw_plain if isinstance(raw_plain, list) else [raw_plain]
        if len(raw_numbers) != self.count or not all(isinstance(number, (int, float)) for number in raw_numbers):
            return None
        try:
            floats = tuple(float(number) for number in raw_numbers)
        except OverflowError:
            return None
        return floats if all(map(math.isfinite, floats)) else None


@dataclass(frozen=True)
class LabelForm:
    """A number, a text, or several of these; equal labels have one form, so that votes for them can be counted.

    Whole numbers are ints, whatever they came as: 1, 1.0, True and numpy's 1 are the label 1. Lists, tuples, arrays and Series
    are tuples, in their order. A set is a tuple in ascending order, numbers before texts, and so the same label as that tuple.
    A tuple of one is not the label in it. NaN, None, nested lists and texts that are no Unicode are no answer.
    """

    def read(self, raw_plain: object) -> LabelReply | None:
        """The label in its one form."""
        raw_inner = raw_plain.get("set") if isinstance(raw_plain, dict) else raw_plain
        if isinstance(raw_plain, dict) and not isinstance(raw_inner, list):
            return None
        raw_label = label_of(tuple(raw_inner) if isinstance(raw_inner, list) else raw_inner)
        if raw_label is None or not all(_is_unicode(each) for each in labels_of(raw_label) if isinstance(each, str)):
            return None
        return tuple(sorted(set(labels_of(raw_label)), key=label_order)) if isinstance(raw_plain, dict) else raw_label


def label_of(raw: object) -> LabelReply | None:
    """A label of which there is one form: 1, 1.0 and True are the number 1. None for no answer, and for what is no label."""
    key = plain_key(raw)
    if isinstance(key, tuple):
        return tuple(_number(part) for part in key)
    return None if key is None else _number(key)


def _number(label: Label) -> Atom:
    return int(label) if isinstance(label, bool) or (isinstance(label, float) and label.is_integer()) else label


def read_spoken(raw_said: bytes | None, form: ReplyForm[Reply_co]) -> Reply_co | None:
    """The reply in what a worker handed over; None for whatever is no reply, garbage included."""
    if raw_said is None:
        return None
    try:
        return form.read(json.loads(raw_said))
    except (ValueError, RecursionError):
        return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
