"""Answers as programs get them: the archive's form of a result, with what was asked, the receipt, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from dpstats.curator.archive import Result, document_of, is_from_archive
from dpstats.curator.catalog.recall import RecalledAnswer
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.documents.document import LINEAR, REGRESSION
from dpstats.curator.formulas import statistic_of
from dpstats.foundations.errors import DpstatsError
from dpstats.web.routes import Plain


def statistic_name(document: Mapping[str, Any]) -> str:
    """The registry's name of what a checked document asks: `result_of` takes its statistic."""
    name = str(document["statistic"])
    return statistic_of(document.get("model", LINEAR)).name if name == REGRESSION else name


def answer_values(dataset: str, document: Mapping[str, Any], result: Result, remaining: str | None, seconds: float) -> Plain:
    """An answer to a document. It was paid for, so nothing in here may fail: what cannot be had is left out."""
    receipt = None if result.receipt is None else dict(result.receipt)
    return {
        "dataset": dataset,
        "statistic": statistic_name(document),
        "question": dict(document),
        "answer": document_of(result),
        "receipt": receipt,
        "sequence": None if receipt is None else receipt["sequence"],
        "archived": is_from_archive(result),
        "remaining": remaining,
        "seconds": seconds,
    }


def recalled_values(desk: ServiceDesk, document: Mapping[str, Any], found: RecalledAnswer) -> Plain:
    """An answer from the archive; it changes nothing, so that what is left is not looked up."""
    return {
        "dataset": desk.name,
        "statistic": statistic_name(document),
        "question": dict(document),
        "answer": found.document,
        "receipt": found.receipt,
        "sequence": found.debit,
        "archived": True,
        "remaining": None,
        "seconds": 0.0,
    }


def remaining_words(look: Callable[[], str | None]) -> str | None:
    """What is left to somebody, after a debit; None where there is no cap, and where it cannot be had now."""
    with suppress(DpstatsError):
        return look()
    return None


def receipt_values(desk: ServiceDesk, debit: int) -> Plain | None:
    """The receipt of a debit; None where it cannot be had now."""
    with suppress(DpstatsError):
        return desk.receipt(debit)
    return None
