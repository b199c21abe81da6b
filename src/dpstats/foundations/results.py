"""What comes back from a question: a `Release` with a value, or a `NoReply`; each carries a card.

The card is the release's passport: what was asked, what it cost, whom it protects, how, and what it does not cover.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import NoReplyError
from dpstats.foundations.privacy import PrivacyCost

NOT_PRIVATE = "NOT PRIVATE: drawn from a seeded source, for tests only"


@dataclass(frozen=True)
class Interval:
    """A range with its confidence level and what it covers."""

    low: float
    high: float
    level: float
    covers: str

    def __str__(self) -> str:
        return f"{self.low:.6g} to {self.high:.6g} ({100 * self.level:.10g}%)"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"low": _plain(self.low), "high": _plain(self.high), "level": _plain(self.level), "covers": self.covers}


@dataclass(frozen=True)
class Card:
    """A release's passport as headed lines; prints as text, shows as a table in notebooks."""

    title: str
    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        width = max(len(heading) for heading, _ in self.lines)
        return "\n".join([self.title, *(f"  {heading:<{width}}  {text}" for heading, text in self.lines)])

    def to_dict(self) -> dict[str, object]:
        """The headed lines, by heading."""
        return {"title": self.title, **dict(self.lines)}

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left;vertical-align:top">{html.escape(heading)}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for heading, text in self.lines
        )
        return f"<table><caption>{html.escape(self.title)}</caption><tbody>{rows}</tbody></table>"


@dataclass(frozen=True)
class Release:
    """An answer that may be published: its value, its cost, and how it was made."""

    question: str
    value: Any
    """What was released: a number, a tuple of numbers, or a result with named fields, as the statistic says."""
    cost: PrivacyCost
    method: str
    claim: str
    private: bool
    interval: Interval | None = None
    notes: tuple[tuple[str, str], ...] = ()

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.float64]:
        return np.asarray(self.value, dtype=float)

    def __str__(self) -> str:
        within = f", interval {self.interval}" if self.interval else ""
        mark = "" if self.private else f" [{NOT_PRIVATE}]"
        return f"{self.question} = {value_text(self.value)}{within}, cost {self.cost}{mark}"

    def card(self) -> Card:
        """The release's passport."""
        lines = [
            ("value", value_text(self.value)),
            *([("interval", f"{self.interval}; covers {self.interval.covers}")] if self.interval else []),
            *_common_lines(self.cost, self.method, self.private),
            ("claim", self.claim),
            *self.notes,
        ]
        return Card(self.question, tuple(lines))

    def to_dict(self) -> dict[str, object]:
        """Everything on the card as plain values, ready for JSON."""
        return {
            "question": self.question,
            "reply": True,
            "value": _plain(self.value),
            "interval": self.interval.to_dict() if self.interval else None,
            "cost": self.cost.to_dict(),
            "method": self.method,
            "claim": self.claim,
            "private": self.private,
            "notes": dict(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


@dataclass(frozen=True)
class NoReply:
    """An honest refusal. It costs what an answer would have cost and says only what every refusal says."""

    question: str
    cost: PrivacyCost
    method: str
    reason: str
    advice: str
    private: bool

    def __float__(self) -> float:
        raise NoReplyError(f"{self.question} got no reply, so it has no value: {self.advice}")

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        mark = "" if self.private else f" [{NOT_PRIVATE}]"
        return f"{self.question}: no reply, cost {self.cost}. {self.reason} {self.advice}{mark}"

    def card(self) -> Card:
        """The refusal's passport."""
        lines = [
            ("reply", "none"),
            ("reason", self.reason),
            ("advice", self.advice),
            *_common_lines(self.cost, self.method, self.private),
        ]
        return Card(self.question, tuple(lines))

    def to_dict(self) -> dict[str, object]:
        """Everything on the card as plain values, ready for JSON."""
        return {
            "question": self.question,
            "reply": False,
            "reason": self.reason,
            "advice": self.advice,
            "cost": self.cost.to_dict(),
            "method": self.method,
            "private": self.private,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


def value_text(value: object) -> str:
    """A released value for people."""
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return ", ".join(value_text(item) for item in value)
    return str(value)


def _common_lines(cost: PrivacyCost, method: str, private: bool) -> list[tuple[str, str]]:
    return [
        ("cost", str(cost)),
        ("protects", f"neighbours: {cost.neighbors.describe(cost.unit)}"),
        ("method", method),
        ("randomness", "cryptographic, from the operating system" if private else NOT_PRIVATE),
    ]


def _plain(value: object) -> object:
    """The value in the types that JSON has; infinities and NaN, which it has not, and everything else become text."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
