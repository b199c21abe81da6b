"""The archive's form of an answer: a plain document from which the very same answer is made again.

Floats are kept as their shortest decimals, which name them exactly, costs as exact rationals. An answer is archived whole, with
its card, because that is what was released; giving it out again is post-processing and spends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.results import Interval, NoReply, Release

Result = Release | NoReply | GroupedRelease
_FORMER_ROWS = re.compile(r"at most ([\d,]+) of each (.+)")


class Revives(Protocol):
    """A statistic, of rows or of graphs, as far as the archive needs it."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def revive(self) -> Callable[[Any], Any]:
        """Makes the value of a release again from its plain form."""
        ...


FROM_ARCHIVE = ("archive", "this very question was answered before; it gets the same answer, and nothing was spent")
NOT_ARCHIVED = ("not archived", "the ledger could not take this answer; the same question will cost again")


def document_of(result: Result) -> dict[str, Any]:
    """A result as plain values."""
    if isinstance(result, GroupedRelease):
        return {
            "question": result.question,
            "by": list(result.by),
            "groups": [[_plain(key), document_of(reply)] for key, reply in result.items()],
            "cost": _plain_cost(result.cost),
            "notes": [list(note) for note in result.notes],
        }
    document: dict[str, Any] = {"question": result.question, "method": result.method, "cost": _plain_cost(result.cost)}
    if isinstance(result, NoReply):
        return {**document, "reason": result.reason, "advice": result.advice}
    interval, several = result.interval, result.intervals
    return {
        **document,
        "value": _plain(result.value),
        "claim": result.claim,
        "interval": None if interval is None else _plain([interval.low, interval.high, interval.level]),
        "covers": "" if interval is None else interval.covers,
        **({"of": interval.of} if interval is not None and interval.of else {}),
        **({"rough": True} if result.rough else {}),
        **({"unknown": result.unknown} if result.unknown else {}),
        **({"intervals": [_plain_interval(each) for each in several]} if several else {}),
        "notes": [list(note) for note in result.notes],
    }


def result_of(document: Mapping[str, Any], statistic: Revives) -> Result:
    """The result that a document of `document_of` was made from; only private results are archived."""
    plain = document["cost"]
    cost = PrivacyCost(Fraction(plain["epsilon"]), Fraction(plain["delta"]), plain["neighbors"], plain["unit"])
    if "groups" in document:
        replies = {_revived(key): result_of(reply, statistic) for key, reply in document["groups"]}
        notes = _revived(document["notes"])
        inner = [_rows_used(reply) for _, reply in document["groups"]]
        question = f"{document['question']}{next(filter(None, inner), '')}"
        return GroupedRelease(question, tuple(document["by"]), replies, cost, notes)  # type: ignore[arg-type]
    if "reason" in document:
        return NoReply(document["question"], cost, document["method"], document["reason"], document["advice"], True)
    return Release(
        question=f"{document['question']}{_rows_used(document)}",
        value=statistic.revive(_revived(document["value"])),
        cost=cost,
        method=document["method"],
        claim=document["claim"],
        private=True,
        interval=None if document["interval"] is None else _single_interval(document),
        intervals=tuple(Interval(*_revived(each)) for each in document.get("intervals", ())),
        notes=_revived(document["notes"]),
        rough=document.get("rough", False),
        unknown=document.get("unknown", ""),
    )


def _rows_used(document: Mapping[str, Any]) -> str:
    """What the line of an answer says of its rows, where an earlier release has written it on the card alone."""
    notes = dict(document.get("notes", ()))
    found = _FORMER_ROWS.fullmatch(str(notes.get("rows used", "")))
    return "" if found is None else f" (at most {found[1]} row{'' if found[1] == '1' else 's'} of each {found[2]})"


def _plain_interval(interval: Interval) -> list[Any]:
    named = [interval.of] if interval.of else []
    return [*_plain([interval.low, interval.high, interval.level]), interval.covers, *named]


def _single_interval(document: Mapping[str, Any]) -> Interval:
    return Interval(*_revived([*document["interval"], document["covers"], document.get("of", "")]))


def noted(result: Result, heading: str, words: str) -> Result:
    """The result with a word about the archive on its card."""
    if isinstance(result, NoReply):
        return replace(result, advice=f"{result.advice} ({words})")
    return replace(result, notes=(*result.notes, (heading, words)))


def noted_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document of an archived answer, with the word on its card that it comes from the archive: what `noted` says of it."""
    heading, words = FROM_ARCHIVE
    if "reason" in document:
        return {**document, "advice": f"{document['advice']} ({words})"}
    return {**document, "notes": [*document["notes"], [heading, words]]}


def is_from_archive(result: Result) -> bool:
    """Whether a result was answered before, so that nothing was spent for it now."""
    if isinstance(result, NoReply):
        return result.advice.endswith(f"({FROM_ARCHIVE[1]})")
    return FROM_ARCHIVE in result.notes


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {"fields": {str(name): _plain(item) for name, item in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a released value of type {type(value).__name__} has no plain form.")


def _revived(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(_revived(item) for item in plain)
    if isinstance(plain, Mapping):
        if "float" in plain:
            return float(plain["float"])
        return {name: _revived(item) for name, item in plain["fields"].items()}
    return plain


def _plain_cost(cost: PrivacyCost) -> dict[str, str]:
    return {
        "epsilon": str(cost.epsilon),
        "delta": str(cost.delta),
        "neighbors": cost.neighbors.value,
        "unit": cost.unit,
    }
