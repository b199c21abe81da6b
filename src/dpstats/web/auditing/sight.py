"""Which answers auditors see: those that everybody who may ask shares, and those that were published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpstats.curator.catalog.policy import SHARED, Policy
from dpstats.curator.ledger.chain_files import chain_lines
from dpstats.curator.ledger.entries import DEBIT, PUBLISH, Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.foundations.errors import DpstatsError
from dpstats.web.published.reading import PARTS


class Sight:
    """What may be seen of one data set."""

    def __init__(self, ledger: Ledger, dataset: str) -> None:
        reader = ledger.reader(dataset, checked=False)
        self._is_shared = Policy.from_dict(reader.policy).archive == SHARED
        contents = (each.read(dict, "publishes no answer") for each in reader.entries(kinds=[PUBLISH]))
        self._published = {content["answer"] for content in contents if PARTS not in content}

    def shows(self, answer: int, details: Mapping[str, Any]) -> bool:
        """Whether an answer may be seen; `details` are those of its debit."""
        return answer in self._published or (self._is_shared and not has_audience(details))


def has_audience(details: Mapping[str, Any]) -> bool:
    """Whether an answer was given to some of those who may ask, and is not shared with all."""
    questions = details.get("questions", [details])
    return any("audience" in each for each in questions)


def chain_file(ledger: Ledger) -> Iterator[bytes]:
    """All entries there are now, for a file; answers that auditors do not see have no body."""
    last = ledger.last
    return _lines(ledger, 0 if last is None else last.sequence)


def _lines(ledger: Ledger, until: int) -> Iterator[bytes]:
    sights: dict[str, Sight] = {}
    apart: set[int] = set()
    """Debits whose answers are not shared with all."""

    def is_withheld(answer: Entry) -> bool:
        try:
            if answer.dataset not in sights:
                sights[answer.dataset] = Sight(ledger, answer.dataset)
            debit = int(answer.content()["debit"])
            return not sights[answer.dataset].shows(answer.sequence, {"audience": ""} if debit in apart else {})
        except (DpstatsError, ValueError, KeyError, TypeError):
            return True  # what cannot be read is not shown

    after: int | None = None
    while entries := [entry for entry in ledger.page(after) if entry.sequence <= until]:
        for entry in entries:
            if entry.kind == DEBIT and _is_apart(entry):
                apart.add(entry.sequence)
        yield b"".join(chain_lines(entries, is_withheld))
        after = entries[-1].sequence


def _is_apart(debit: Entry) -> bool:
    try:
        return has_audience(debit.content().get("details", {}))
    except (ValueError, AttributeError, TypeError):
        return True
