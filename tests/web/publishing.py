"""Answers that are asked at the catalog and published, for tests of public pages."""

from __future__ import annotations

from typing import Any

from dpstats.curator.ledger.entries import ANSWER, PUBLISH
from dpstats.curator.ledger.readers import archived_document
from tests.web.conftest import Service


def ask(service: Service, **question: Any) -> int:
    """Ask a question on ana's behalf; the number of the entry with its answer."""
    service.office.catalog.desk("survey").ask({"version": 1, "epsilon": "0.05", **question}, actor="ana")
    return service.office.ledger.reader("survey").entries(kinds=[ANSWER])[-1].sequence


def publish(service: Service, answer: int, title: str, **facts: object) -> int:
    """Publish an answer on olga's behalf; the number of the release."""
    ledger = service.office.ledger
    reader = ledger.reader("survey")
    ledger.account("survey", reader.terms, population=None).acting_for("olga").note_publication(answer, title, facts)
    return reader.entries(kinds=[PUBLISH])[-1].sequence


def released_value(service: Service, answer: int) -> Any:
    """The value that the ledger has archived."""
    entry = service.office.ledger.entry(answer)
    assert entry is not None
    return archived_document(entry)["value"]
