"""Words: how times, amounts and numbers are written on pages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction

from markupsafe import Markup

from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted


def day(time: str) -> str:
    """The day of a time of the ledger: 16 November 2026."""
    at = datetime.fromisoformat(time)
    return f"{at.day} {at:%B %Y}"


def moment(time: str) -> str:
    """A time of the ledger to the minute, in UTC."""
    at = datetime.fromisoformat(time)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def amount(exact: str | int | float | Fraction) -> str:
    """An exact amount as a decimal."""
    return decimal_text(Fraction(exact))


def factor(epsilon: str | int | float | Fraction) -> float:
    """By how much an epsilon lets a probability change at most."""
    return math.exp(min(float(Fraction(epsilon)), _LARGEST_POWER))


def json_text(value: object, indent: int | None = None) -> str:
    """Plain values as JSON, for fields and for people; it is escaped as every other text."""
    return json.dumps(value, indent=indent, ensure_ascii=False)


def opening(words: str) -> str:
    """Words that open a sentence: with a capital."""
    return f"{words[:1].upper()}{words[1:]}"


def coded(words: str) -> Markup:
    """Words in which `names` between backticks are code; everything is escaped."""
    parts = words.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts))


_LARGEST_POWER = 700.0
FILTERS: Mapping[str, Callable[..., str | float]] = {
    "day": day,
    "moment": moment,
    "amount": amount,
    "counted": counted,
    "factor": factor,
    "json_text": json_text,
    "opening": opening,
    "coded": coded,
    "drawn": Markup,
}
"""For templates; `drawn` is for figures of our own alone, in which every text is escaped."""
