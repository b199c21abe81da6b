"""Entries: the lines of a ledger, each chained to the one before it by a hash.

An entry never changes its meaning: its hash is the SHA-256 of the canonical JSON list of its other fields, in the order in which
they stand below, and its body is canonical JSON. Everything is written in version 3. Version 1 had neither actor nor request, and
its methods all had a loss of 1/2; version 2 was a debit of that form whose cost also named the loss of its method. Both keep
their rules for good. Versions that this release does not know are reported, never guessed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from dpstats.foundations.errors import InvalidParameterError, LedgerError

T = TypeVar("T")

OPEN, DEBIT, ANSWER = "open", "debit", "answer"
AMEND, GRANT, REVOKE, EDITION, PUBLISH, HEAD = "amend", "grant", "revoke", "edition", "publish", "head"
KINDS = (OPEN, DEBIT, ANSWER, AMEND, GRANT, REVOKE, EDITION, PUBLISH, HEAD)
FIRST_VERSION, WITH_LOSS, VERSION = 1, 2, 3
BEFORE_THE_FIRST = "0" * 64
_LONGEST_KEPT = 10_000
"""Letters of an answer's body that is kept in memory once it was checked."""
_PLAIN = frozenset((str, int, bool, type(None)))
_TYPES = [int, int, *[str] * 9]
_AS_IT_IS = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)
_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _refuse(number: str) -> object:
    raise ValueError(f"{number} is not exact")


_READ = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse)


class Entry(NamedTuple):
    """One line of a ledger, as it is stored."""

    sequence: int
    """1 for the first entry of a ledger, and one more for each that follows."""
    version: int
    time: str
    """When it was written, in UTC, by the clock of whoever wrote it."""
    dataset: str
    """The account that it is about: most often that of a data set."""
    kind: str
    key: str
    """Names the question of a debit and of its answer: the same for identical questions. Elsewhere what is granted or amended."""
    body: str
    """Canonical JSON; what is in it depends on the kind."""
    previous: str
    """The hash of the entry before this one."""
    hash: str
    actor: str = ""
    """On whose behalf it was written; empty for the data holder's own program."""
    request: str = ""
    """What the actor calls the question: the same words get the same reply, and pay once."""

    def fault(self) -> str | None:
        """What is wrong with the entry taken by itself, or None."""
        if [type(field) for field in self] != _TYPES:
            return "has a field of the wrong type"
        if self.version not in (FIRST_VERSION, WITH_LOSS, VERSION):
            return f"has the format version {self.version}, which this release of dpstats does not know"
        if self.version != VERSION and (self.actor or self.request):
            return f"names an actor or a request, which version {self.version} does not have"
        if self.hash != self.own_hash():
            return "does not match its hash: it was changed after it was written"
        return None

    def own_hash(self) -> str:
        """The hash of what is in the other fields."""
        who = (self.actor, self.request) if self.version == VERSION else ()
        return digest(_AS_IT_IS.encode(self[:8] + who))

    def content(self) -> dict[str, Any]:
        """The body as plain values; raises `ValueError` where it is no canonical JSON object."""
        try:
            content = _READ.decode(self.body)
            if type(content) is dict and _SORTED.encode(content) == self.body:
                return content
        except (ValueError, RecursionError):
            pass
        raise ValueError("the body is not canonical JSON")

    def read(self, look: Callable[[dict[str, Any]], T], complaint: str) -> T:
        """What `look` finds in the body, if the entry is sound and has it; otherwise a `LedgerError` with the complaint."""
        is_short_answer = self.kind == ANSWER and len(self.body) <= _LONGEST_KEPT
        try:
            content = _answer_content(*self) if is_short_answer else self._sound_content()
            if content is not None:
                return look(content)
        except (KeyError, TypeError, ValueError):
            pass
        raise LedgerError(f"entry {self.sequence} of the ledger {complaint}: run `dpstats ledger verify`.")

    def _sound_content(self) -> dict[str, Any] | None:
        """The body as plain values; None where the entry is not sound."""
        return self.content() if self.fault() is None else None

    def to_dict(self) -> dict[str, Any]:
        """The fields by name; the body stays the text that was hashed."""
        return self._asdict()


@lru_cache(maxsize=512, typed=True)
def _answer_content(*fields: Any) -> dict[str, Any] | None:
    """The body of an answer by its fields, of which none has changed since it was checked; nobody may write to it."""
    return Entry(*fields)._sound_content()


def chained(
    last: Entry | None,
    dataset: str,
    kind: str,
    key: str,
    content: Mapping[str, object],
    *,
    actor: str = "",
    request: str = "",
) -> Entry:
    """The entry that follows `last`, written now."""
    sequence, previous = (last.sequence + 1, last.hash) if last else (1, BEFORE_THE_FIRST)
    time = f"{datetime.now(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    entry = Entry(sequence, VERSION, time, dataset, kind, key, canonical_json(content), previous, "", actor, request)
    return entry._replace(hash=entry.own_hash())


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def canonical_json(value: object) -> str:
    """Plain values as the one JSON text that they have: keys sorted, ASCII, no spaces, no floats."""
    try:
        return _SORTED.encode(exact(value))
    except (ValueError, RecursionError):  # a number of too many digits, or values nested too deeply
        raise InvalidParameterError("what goes into a ledger must be plain values of ordinary size.") from None


def exact(value: object) -> object:
    """Plain values without floats: a number that is not whole becomes its exact text."""
    if type(value) in _PLAIN:
        return value
    if type(value) is dict and all(type(name) is str for name in value):
        return {name: exact(item) for name, item in value.items()}
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (Fraction, Decimal)):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (dict, Mapping)) and all(isinstance(name, str) for name in value):
        return {name: exact(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [exact(item) for item in value]
    raise InvalidParameterError(f"what goes into a ledger must be plain values; {type(value).__name__} is none.")
