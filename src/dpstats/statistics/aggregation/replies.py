"""What the reply of a block may be: a fixed number of numbers, or a label."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

Reply_co = TypeVar("Reply_co", covariant=True)
Atom = int | float | str
LabelReply = Atom | tuple[Atom, ...]


class ReplyForm(Protocol[Reply_co]):
    """Tells replies from everything else that a function may return."""

    def read(self, raw_plain: object) -> Reply_co | None:
        """Parse a reply (numbers, texts, lists, and {"set": list}); None if it is not a valid one."""
        ...


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
        if isinstance(raw_plain, dict):
            raw_several = self._several(raw_plain.get("set"))
            return None if raw_several is None else tuple(sorted(set(raw_several), key=_order))
        if isinstance(raw_plain, list):
            return self._several(raw_plain)
        return _atom(raw_plain)

    def _several(self, raw_plain: object) -> tuple[Atom, ...] | None:
        raw_atoms = [_atom(each) for each in raw_plain] if isinstance(raw_plain, list) else [None]
        return None if None in raw_atoms else tuple(atom for atom in raw_atoms if atom is not None)


def read_spoken(raw_said: bytes | None, form: ReplyForm[Reply_co]) -> Reply_co | None:
    """The reply in what a worker handed over; None for whatever is no reply, garbage included."""
    if raw_said is None:
        return None
    try:
        return form.read(json.loads(raw_said))
    except (ValueError, RecursionError):
        return None


def _atom(raw_plain: object) -> Atom | None:
    if isinstance(raw_plain, str):
        return raw_plain if _is_unicode(raw_plain) else None
    if isinstance(raw_plain, int):
        return int(raw_plain)
    if not isinstance(raw_plain, float) or math.isnan(raw_plain):
        return None
    return int(raw_plain) if raw_plain.is_integer() else raw_plain


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _order(atom: Atom) -> tuple[bool, float | str]:
    return isinstance(atom, str), atom
