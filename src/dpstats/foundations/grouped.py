"""What comes back from one question that was asked in every group: a reply for each key, and one cost for all of them.

A row lies in one group, so all groups together cost what one of them does (accounting/groups.proof.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.keys import in_key_order, labels_of
from dpstats.foundations.picture import Picture, picture_or_file
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.proposals import Proposable, SendProposal
from dpstats.foundations.results import (
    INDEPENDENT,
    NOT_PRIVATE,
    Card,
    Interval,
    NoReply,
    Release,
    Value,
    claim_text,
    plain_value,
    value_text,
)
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import counted, free_name, html_cell, html_of, table_lines

MOST_SHOWN = 60
"""Lines of groups that are printed; `rows` and `to_dict` have them all."""

NO_REPLY = "no reply"
_REFUSALS_SHOWN = 2
"""Groups without a reply whose reasons are printed; each reply has its own."""

_LOUD = ";color:#c00;font-weight:bold"


@dataclass(frozen=True, repr=False)
class GroupedRelease(Proposable, Mapping[Any, Release[Value] | NoReply], Tabular):
    """The replies of all groups, by key, in the order of the keys: a label for one column, a tuple of labels for several."""

    question: str
    by: tuple[str, ...]
    """The columns that the keys come from."""
    replies: Mapping[Any, Release[Value] | NoReply]
    cost: PrivacyCost
    """What all groups cost together."""
    notes: tuple[tuple[str, str], ...] = ()
    private: bool = True
    """Whether every reply was drawn from a secret source."""
    receipt: Mapping[str, object] | None = field(default=None, compare=False)
    """Which entry of the ledger all of it was paid with; None where there is no ledger."""
    send_proposal: SendProposal | None = field(default=None, compare=False)
    """How it reaches the owner of its table, where a service has given it: see `propose`."""

    def __post_init__(self) -> None:
        if any(isinstance(key, tuple) == (len(self.by) == 1) or len(labels_of(key)) != len(self.by) for key in self.replies):
            raise InvalidParameterError("a key has one label for each column of `by`; of a single column it is the label itself.")
        object.__setattr__(self, "replies", {key: self.replies[key] for key in in_key_order(self.replies)})
        object.__setattr__(self, "private", self.private and all(reply.private for reply in self.replies.values()))

    def __getitem__(self, key: object) -> Release[Value] | NoReply:
        return self.replies[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.replies)

    def __len__(self) -> int:
        return len(self.replies)

    def __bool__(self) -> bool:
        return True  # that there is no group to show is an answer too

    @property
    def values_by_key(self) -> dict[Any, Value | None]:
        """The released value of each group, None where there was no reply."""
        return {key: None if isinstance(reply, NoReply) else reply.value for key, reply in self.items()}

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict for each group, ready for a data frame: the key columns, the value, and the interval if there is any.

        Of regressions there is one for each coefficient, with its name; where an answer is rough, each says whether it is. A
        value is None where there was no reply. A key column that is called "name", "value", "low", "high" or "rough" keeps its
        name, and the other one gets an underscore. (polars reads the types off the first rows unless told
        infer_schema_length=None.)
        """
        name, value, low, high, rough = (free_name(word, self.by) for word in ("name", "value", "low", "high", "rough"))
        named, bounded, marked = self._has_names(), self._has_intervals(), self._has_rough()
        rows = []
        for key, reply in self.items():
            for part in _parts(reply):
                row = dict(zip(self.by, labels_of(key), strict=True))
                row |= {name: part.name} if named else {}
                row[value] = _cell(part.value)
                if bounded:
                    row |= {low: part.interval.low, high: part.interval.high} if part.interval else {low: None, high: None}
                if marked:
                    row[rough] = isinstance(reply, Release) and reply.rough
                rows.append(row)
        return rows

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of `rows`, by name."""
        return columns_of(self.rows())

    def __str__(self) -> str:
        lines = [f"  {line}" for line in table_lines([self._headings(), *self._shown_rows()])]
        return "\n".join([self.question, *lines, *self._foot()])

    def __repr__(self) -> str:
        mark = "" if self.private else f" [{NOT_PRIVATE}]"
        return f"GroupedRelease({self.question}, {counted(len(self), 'group')}, cost {self.cost}{mark}: print it)"

    def card(self) -> Card:
        """The passport of all replies together; each reply has its own card as well."""
        releases = [reply for reply in self.values() if isinstance(reply, Release)]
        methods = dict.fromkeys(reply.method for reply in self.values())
        claims = dict.fromkeys(claim_text(reply.claim, self.private) for reply in releases)
        lines = [
            ("replies", f"{len(releases):,} of {counted(len(self), 'group')} by {', '.join(map(value_text, self.by))}"),
            ("cost", f"{self.cost}, for all groups together"),
            ("protects", f"neighbours: {self.cost.neighbors.describe(self.cost.unit)}"),
            *([("method", ", ".join(methods))] if methods else []),
            ("randomness", "cryptographic, from the operating system" if self.private else NOT_PRIVATE),
            *([("claim", "; ".join(claims))] if claims else []),
            *((INDEPENDENT, text) for text in self._too_sure()),
            *self.notes,
        ]
        return Card(self.question, tuple(lines))

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values, ready for JSON; the groups as a list of keys and replies."""
        return {
            "question": self.question,
            "by": list(self.by),
            "groups": [{"key": plain_value(labels_of(key)), **reply.to_dict()} for key, reply in self.items()],
            "cost": self.cost.to_dict(),
            "private": self.private,
            "notes": dict(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def plot(self, path: str | Path | None = None) -> Picture | None:
        """Draw it into an .svg or .png file, or for a notebook. Needs matplotlib: pip install 'dpstats[plots]'."""
        drawing = import_module("dpstats.pictures.releases")  # above this floor, and loaded only to draw
        return picture_or_file(path, lambda target: drawing.plot_answers(target, [self]))

    def _repr_html_(self) -> str:
        rows = [_html_cells("td", row) for row in self._shown_rows()]
        foot = [_html_cells("td", [line], columns=len(self._headings())) for line in self._foot()]
        return html_of(self.question, rows, _html_cells("th", self._headings()), foot)

    def _headings(self) -> list[str]:
        name = ["name"] if self._has_names() else []
        return [*map(value_text, self.by), *name, "value", *(["interval"] if self._has_intervals() else [])]

    def _shown_rows(self) -> Iterator[list[str]]:
        """The lines of the groups that are shown; the key stands on the first line of its group."""
        named, bounded = self._has_names(), self._has_intervals()
        for key, reply in list(self.items())[: self._groups_shown()]:
            labels = [value_text(label) for label in labels_of(key)]
            for part in _parts(reply):
                text = NO_REPLY if isinstance(reply, NoReply) else part.shown(reply)
                name = [value_text(part.name) if part.name else ""] if named else []
                yield [*labels, *name, text, *([self._interval_text(reply, part)] if bounded else [])]
                labels = [""] * len(labels)

    @staticmethod
    def _interval_text(reply: Release | NoReply, part: _ShownValue) -> str:
        if isinstance(reply, NoReply):
            return ""
        return part.interval.named if part.interval else "unknown"

    def _has_rough(self) -> bool:
        return any(isinstance(reply, Release) and reply.rough for reply in self.values())

    def _groups_shown(self) -> int:
        return max(1, MOST_SHOWN // max((len(_parts(reply)) for reply in self.values()), default=1))

    def _has_names(self) -> bool:
        return any(part.name is not None for reply in self.values() for part in _parts(reply))

    def _has_intervals(self) -> bool:
        return any(part.interval for reply in self.values() for part in _parts(reply))

    def _foot(self) -> list[str]:
        notes = [reply.notes for reply in self.values() if isinstance(reply, Release)]
        reliable = dict.fromkeys(text.partition(";")[0] for each in notes for heading, text in each if heading == "reliable from")
        lines = [f"... {len(self):,} groups in all"] if len(self) > self._groups_shown() else []
        lines += [f"no group to show; {text}" for heading, text in self.notes if heading == "groups" and not self.replies]
        lines += [f"reliable from {text}, in each group" for text in reliable]
        lines += [f"{INDEPENDENT}: {text}" for text in self._too_sure()]
        lines += self._refusals()
        lines += [text for heading, text in self.notes if heading == "archive"]
        return [*lines, f"cost {self.cost}, for all groups together", *([] if self.private else [NOT_PRIVATE])]

    def _too_sure(self) -> list[str]:
        """The warnings of answers whose errors take a unit's rows as independent, each once."""
        notes = [note for reply in self.values() if isinstance(reply, Release) for note in reply.notes]
        return list(dict.fromkeys(text for heading, text in notes if heading == INDEPENDENT))

    def _refusals(self) -> list[str]:
        """What the first groups without a reply were told."""
        refused = [(key, reply) for key, reply in self.items() if isinstance(reply, NoReply)]
        told = [f"{value_text(list(labels_of(key)))}: {reply.reason} {reply.advice}" for key, reply in refused[:_REFUSALS_SHOWN]]
        more = len(refused) - len(told)
        return [*told, *([f"{counted(more, 'more group')} got no reply"] if more else [])]


class _ShownValue(NamedTuple):
    """What stands in one line: a value, or one of those that it names, with its interval."""

    name: str | None
    value: Any
    interval: Interval | None

    def shown(self, reply: Release) -> str:
        """The value for people."""
        text = reply.shown_value() if self.name is None else f"{self.value:.6g}"
        return f"{text} (rough)" if reply.rough else text


def _parts(reply: Release | NoReply) -> list[_ShownValue]:
    """The lines of a reply: one, or where its value names several numbers, as a regression does, one for each of them."""
    if isinstance(reply, NoReply):
        return [_ShownValue(None, None, None)]
    if not hasattr(reply.value, "named_values"):
        return [_ShownValue(None, reply.value, reply.interval)]
    values = reply.value.named_values()
    intervals = reply.intervals if len(reply.intervals) == len(values) else [None] * len(values)
    return [_ShownValue(name, value, interval) for (name, value), interval in zip(values, intervals, strict=True)]


def _html_cells(tag: str, cells: Sequence[str], columns: int = 1) -> list[str]:
    return [html_cell(tag, cell, f"text-align:left{_LOUD if NOT_PRIVATE in cell else ''}", columns) for cell in cells]


def _cell(value: Any) -> Any:
    """A released value as data frames take it."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
