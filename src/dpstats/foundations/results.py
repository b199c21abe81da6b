"""What comes back from a question: a `Release` with a value, or a `NoReply`; each carries a card.

The card is the release's passport: what was asked, what it cost, whom it protects, how, and what it does not cover.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import NoReplyError
from dpstats.foundations.picture import Picture, picture_or_file
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.proposals import Proposable, SendProposal
from dpstats.foundations.text_tables import headed_lines, html_cell, html_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # a type checker brings it along; Python 3.11 has no defaults of type variables

    Value = TypeVar("Value", covariant=True, default=Any)
else:
    from typing import TypeVar

    Value = TypeVar("Value", covariant=True)

NOT_PRIVATE = "NOT PRIVATE: drawn from a seeded source, for tests only"

INDEPENDENT = "rows as independent"
"""The heading of the note that errors take rows as independent although units may have several."""

_MOST_SHOWN, _FIRST_SHOWN = 20, 5
_LOUD = ";color:#c00;font-weight:bold"


@dataclass(frozen=True)
class Interval:
    """A range with its confidence level and what it covers."""

    low: float
    high: float
    level: float
    covers: str
    of: str = ""
    """The quantity that it is for, where that is not the value printed before it: "Cramer's V" of a chi-square test."""

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"{self.shown(self.low)} to {self.shown(self.high)} ({100 * self.level:.10g}%)"

    @property
    def named(self) -> str:
        """Both ends for people, after the quantity that they are for where it has another name than the value."""
        return f"of {self.of}: {self}" if self.of else str(self)

    @property
    def has_both_ends(self) -> bool:
        """Whether neither end is unknown, which an infinite one is."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def shown(self, number: object) -> str:
        """A number for people, such as an end: with as many digits as four of the width take."""
        if isinstance(number, float) and math.isinf(number):
            return "unknown"
        width = self.high - self.low
        if not isinstance(number, float) or number.is_integer() or not (math.isfinite(width) and width > 0):
            return value_text(number)
        return value_text(round(number, 3 - math.floor(math.log10(width))))

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        limits = {name: plain_value(getattr(self, name)) for name in ("low", "high", "level")}
        return {**limits, "covers": self.covers, **({"of": self.of} if self.of else {})}


@dataclass(frozen=True, repr=False)
class Card:
    """A release's passport as headed lines; prints as text, shows as a table in notebooks."""

    title: str
    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *headed_lines(self.lines)])

    def __repr__(self) -> str:
        return f"Card({self.title}, {len(self.lines)} lines: print it)"

    def to_dict(self) -> dict[str, object]:
        """The headed lines, by heading."""
        return {"title": self.title, **dict(self.lines)}

    def _repr_html_(self) -> str:
        heads = [html_cell("th", heading, "text-align:left;vertical-align:top") for heading, _ in self.lines]
        texts = [html_cell("td", text, f"text-align:left{_LOUD if NOT_PRIVATE in text else ''}") for _, text in self.lines]
        return html_of(self.title, zip(heads, texts, strict=True))


@dataclass(frozen=True, repr=False)
class Release(Proposable, Generic[Value]):
    """An answer that may be published: its value, its cost, and how it was made."""

    question: str
    value: Value
    """What was released: a number, a tuple of numbers, or a result with named fields, as the statistic says."""
    cost: PrivacyCost
    method: str
    claim: str
    private: bool
    interval: Interval | None = None
    notes: tuple[tuple[str, str], ...] = ()
    intervals: tuple[Interval, ...] = ()
    """Where the value holds several numbers, one for each of them."""
    rough: bool = False
    """Whether the rows times epsilon were too few for a good answer, and a rough one was asked for all the same."""
    unknown: str = ""
    """Why there is no interval although one was asked for."""
    receipt: Mapping[str, object] | None = field(default=None, compare=False)
    """Which entry of the ledger it was paid with, as plain values to keep; None where there is no ledger."""
    send_proposal: SendProposal | None = field(default=None, compare=False)
    """How it reaches the owner of its table, where a service has given it: see `propose`."""

    def __float__(self) -> float:
        return float(self._single())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._single(), digits)

    def __iter__(self) -> Iterator[Any]:
        if not _is_several(self.value):
            raise TypeError("this release holds one value and cannot be taken apart: use .value or float(release).")
        several: Any = self.value
        return iter(several)

    def _single(self) -> Any:
        value: Any = self.value
        if _is_several(value):
            raise TypeError(f"this release holds {len(value)} values: use .value.")
        return value

    def __format__(self, spec: str) -> str:
        return format(self._single(), spec) if spec else str(self)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.float64]:
        return np.asarray(self.value, dtype=float)

    def __str__(self) -> str:
        within = f", interval {self.interval.named}" if self.interval else f", {self._unknown()}" if self.unknown else ""
        rough = " (rough)" if self.rough else ""
        mark = "" if self.private else f" [{NOT_PRIVATE}]"
        again = " (from the archive)" if any(heading == "archive" for heading, _ in self.notes) else ""
        return f"{self.question} = {self.shown_value()}{rough}{within}{self._independent()}, cost {self.cost}{again}{mark}"

    def __repr__(self) -> str:
        return f"Release({self})"

    def shown_value(self) -> str:
        """The value for people, in short; beside an interval with the digits that it makes meaningful."""
        if self.interval is not None and isinstance(self.value, float):
            return self.interval.shown(self.value)
        if isinstance(self.value, tuple) and len(self.intervals) == len(self.value) <= _MOST_SHOWN:
            return ", ".join(within.shown(each) for each, within in zip(self.value, self.intervals, strict=True))
        return _short_text(self.value)

    def _unknown(self) -> str:
        return f"interval unknown: {self.unknown}"

    def _independent(self) -> str:
        """What the printed line says where errors take rows as independent although units may have several."""
        return f" ({INDEPENDENT}: too sure)" if any(heading == INDEPENDENT for heading, _ in self.notes) else ""

    def card(self, *, whole: bool = False) -> Card:
        """The release's passport; of very many values it shows the first few, or with `whole` all of them."""
        lines = [
            ("value", value_text(self.value) if whole and _is_several(self.value) else self.shown_value()),
            *((("interval", f"unknown: {self.unknown}"),) if self.unknown and self.interval is None else ()),
            *_interval_lines(self.interval, self.intervals if whole else self.intervals[:_FIRST_SHOWN], len(self.intervals)),
            *_common_lines(self.cost, self.method, self.private),
            ("claim", claim_text(self.claim, self.private)),
            *self.notes,
        ]
        return Card(self.question, tuple(lines))

    def to_dict(self) -> dict[str, object]:
        """Everything on the card as plain values, ready for JSON."""
        return {
            "question": self.question,
            "reply": True,
            "value": plain_value(self.value),
            "interval": self.interval.to_dict() if self.interval else None,
            **({"interval_unknown": self.unknown} if self.unknown else {}),
            **({"intervals": [each.to_dict() for each in self.intervals]} if self.intervals else {}),
            "rough": self.rough,
            "cost": self.cost.to_dict(),
            "method": self.method,
            "claim": self.claim,
            "private": self.private,
            "notes": dict(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def summary(self) -> str:
        """The value as a table of text with the intervals of this release, where it has one, as a regression has."""
        summary = getattr(self.value, "summary", None)
        if not callable(summary):
            raise TypeError(f"{self.question} has no summary: print the release, or its card().")
        why = f"\nRough: {dict(self.notes).get('rough', 'too few rows at this epsilon')}" if self.rough else ""
        alike = f"\nErrors take {INDEPENDENT}: {dict(self.notes)[INDEPENDENT]}" if self._independent() else ""
        return f"{summary(self.intervals)}{why}{alike}"

    def plot(self, path: str | Path | None = None) -> Picture | None:
        """Draw it into an .svg or .png file, or for a notebook. Needs matplotlib: pip install 'dpstats[plots]'."""
        drawing = import_module("dpstats.pictures.releases")  # above this floor, and loaded only to draw
        return picture_or_file(path, lambda target: drawing.plot_answers(target, [self]))

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


@dataclass(frozen=True, repr=False)
class NoReply:
    """An honest refusal. It costs what an answer would have cost, and says nothing that was not paid for."""

    question: str
    cost: PrivacyCost
    method: str
    reason: str
    advice: str
    private: bool
    receipt: Mapping[str, object] | None = field(default=None, compare=False)
    """Which entry of the ledger it was paid with; None where there is no ledger."""

    def __float__(self) -> float:
        self._complain()

    def __round__(self, digits: int | None = None) -> NoReturn:
        self._complain()

    def __iter__(self) -> Iterator[Any]:
        self._complain()

    def __format__(self, spec: str) -> str:
        if spec:
            self._complain()
        return str(self)

    if not TYPE_CHECKING:  # a type checker is to know that a NoReply has no value

        def __getattr__(self, name: str) -> NoReturn:
            if name in ("value", "interval", "claim", "notes", "summary"):
                hint = "check isinstance(..., dpstats.NoReply)"
                raise AttributeError(f"{self.question} got no reply, so it has no {name}: {hint}.")
            raise AttributeError(f"a NoReply has no {name!r}.")

    def _complain(self) -> NoReturn:
        raise NoReplyError(f"{self.question} got no reply, so it has no value: {self.advice}")

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        mark = "" if self.private else f" [{NOT_PRIVATE}]"
        return f"{self.question}: no reply, cost {self.cost}. {self.reason} {self.advice}{mark}"

    def __repr__(self) -> str:
        mark = "" if self.private else f" [{NOT_PRIVATE}]"
        return f"NoReply({self.question}, cost {self.cost}{mark})"

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
    text = str(value)
    return text if text.isprintable() and text.strip() else ascii(text)  # a label must not be able to write lines of a card


def _interval_lines(single: Interval | None, several: tuple[Interval, ...], how_many: int) -> list[tuple[str, str]]:
    """The card's lines on intervals: one, or each of several with a word on what they cover."""
    lines = [("interval", f"{single.named}; covers {single.covers}")] if single else []
    if several:
        more = f"; {how_many:,} in all" if len(several) < how_many else ""
        of = f"of {several[0].of}: " if several[0].of else ""
        lines.append(("intervals", f"{of}{', '.join(map(str, several))}{more}; each covers {several[0].covers}"))
    return lines


def claim_text(claim: str, private: bool) -> str:
    """The claim as a card may state it: a seeded source earns none."""
    return claim if private else f"none, because the source is seeded; with a private one: {claim}"


def _is_several(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _short_text(value: Any) -> str:
    if not _is_several(value) or len(value) <= _MOST_SHOWN:
        return value_text(value)
    return f"{value_text(list(value[:_FIRST_SHOWN]))}, ... {len(value):,} values in all"


def _common_lines(cost: PrivacyCost, method: str, private: bool) -> list[tuple[str, str]]:
    return [
        ("cost", str(cost)),
        ("protects", f"neighbours: {cost.neighbors.describe(cost.unit)}"),
        ("method", method),
        ("randomness", "cryptographic, from the operating system" if private else NOT_PRIVATE),
    ]


def plain_value(value: object) -> object:
    """The value in the types that JSON has; infinities and NaN, which it has not, and everything else become text."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
