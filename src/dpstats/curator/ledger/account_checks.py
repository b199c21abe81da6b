"""Checks of accounts: openings, and changes of what is allowed, each against what was there before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dpstats.curator.ledger.audit_books import AuditBooks
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.openings import ANALYST, DATASET, GROUP, Opening, cap_name, holder_key, population_name
from dpstats.curator.ledger.standing import BUDGET, POLICY, amended


class AccountChecks:
    """What is wrong with entries about accounts; a body that cannot be read raises `ValueError` or the like."""

    def __init__(self, books: AuditBooks) -> None:
        self._books = books

    def open_faults(self, entry: Entry) -> list[str]:
        """What is wrong with an entry that opens an account."""
        if self._books.book(entry.dataset) is not None:
            return ["opens a data set a second time"]
        book = self._books.open(entry.dataset)
        opening = Opening.from_entry(entry)
        if opening.population is not None:
            paying = self._books.opened(population_name(opening.population))[1]
            if opening.complaint_about(paying.terms):
                raise ValueError("another kind of population")
        if opening.account in (GROUP, ANALYST):
            of = self._books.opened(str(opening.dataset))[1]
            if of.account != DATASET or of.terms.budget.accountant != opening.terms.budget.accountant:
                raise ValueError("a cap on something else")
        book.opening, book.budget = opening, opening.terms.budget
        return ["has a key, which only questions have"] if entry.key else []

    def amend_faults(self, entry: Entry) -> list[str]:
        """What is wrong with an amendment."""
        content = _with_reason(entry, {entry.key, "why"})
        book, opening = self._books.opened(entry.dataset)
        if entry.key == BUDGET:
            said = amended(opening.terms.budget, content)
            book.closed, book.budget = said is None, said or opening.terms.budget
        elif entry.key != POLICY or opening.account != DATASET or not isinstance(content[POLICY], dict):
            raise ValueError("not an amendment")
        return []

    def grant_faults(self, entry: Entry) -> list[str]:
        """What is wrong with a grant."""
        _with_reason(entry, {"budget", "group", "why"})
        book, opening = self._books.opened(entry.dataset)
        grant = Grant.from_entry(entry, opening.terms.budget.accountant)
        kind, _, holder = entry.key.partition(" ")
        if opening.account != DATASET or kind not in (ANALYST, GROUP) or not holder:
            raise ValueError("not a grant")
        faults = []
        if grant.group is not None and self._books.granted(entry.dataset, holder_key(GROUP, grant.group)) is None:
            faults.append("names a group to which nothing was granted")
        if grant.budget is not None:
            cap = self._books.book(cap_name(entry.dataset, kind, holder))
            if cap is None or cap.closed or cap.budget != grant.budget:
                faults.append("grants a budget that its account does not have")
        book.grants[entry.key] = grant
        return faults

    def revoke_faults(self, entry: Entry) -> list[str]:
        """What is wrong with a revocation."""
        _with_reason(entry, {"why"})
        faults = [] if self._books.granted(entry.dataset, entry.key) else ["revokes what was not granted"]
        self._books.opened(entry.dataset)[0].grants[entry.key] = None
        return faults

    def edition_faults(self, entry: Entry) -> list[str]:
        """What is wrong with an edition."""
        content = entry.content()
        sources = content.pop("sources", ["none"])
        texts = [entry.content()["content"], content["label"], *sources]
        if content.keys() != {"content", "label"} or not sources or not all(isinstance(text, str) for text in texts):
            raise ValueError("not an edition")
        return []


def _with_reason(entry: Entry, fields: Collection[str]) -> dict[str, Any]:
    """The content of a change of what is allowed, which says who and why."""
    content = entry.content()
    if content.keys() != fields or not entry.actor or not isinstance(content["why"], str) or not content["why"].strip():
        raise ValueError("not a change")
    return content
