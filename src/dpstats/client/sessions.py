"""A session about a table that a service holds: the same methods and results, and what only a service has.

    people = dp.connect("https://stats.example.org")["survey"]
    people.where("age >= 30").median("income", epsilon=0.2)

A question is checked and priced here, as at home; then its document is sent, and the service debits, waits and replies. Plans
read no data, so they are made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NoReturn

from dpstats.accounting.budgets import Budget
from dpstats.client.baskets import Basket
from dpstats.client.history import History, read_history
from dpstats.client.prices import RemotePrice
from dpstats.client.remote_remaining import RemoteRemaining
from dpstats.client.remote_tables import RemoteTable
from dpstats.client.sending import Document
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.views import TableView
from dpstats.foundations.errors import AccessError, InvalidParameterError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NoReply, Release
from dpstats.mechanisms.unit_octaves import UnitOctaves


class RemoteSession(Session):
    """A protected table of a service, whole or narrowed. Made by `dpstats.connect(...)["survey"]`."""

    def __init__(self, table: RemoteTable) -> None:
        super().__init__(table.desk, Scope(table.desk.schema, TableView(table.desk.schema)))
        self._there = table

    @property
    def remaining(self) -> RemoteRemaining:
        """What is left of your budget; print it, or ask for `.more("median", epsilon=0.1)`."""
        return RemoteRemaining(self._there, self)

    @property
    def ledger(self) -> NoReturn:
        """The ledger is kept by the service."""
        raise AccessError(
            f"the ledger of {self.name} is kept by the service: history() has your own questions, and verify() of what connect "
            "returned checks receipts against it."
        )

    @property
    def rows_per_unit(self) -> Release[UnitOctaves] | None:
        """The release that says how many rows of each unit are used, where they were found privately; None where the number was
        named. See dpstats.protect."""
        return self._there.rows_per_unit

    @property
    def _budget(self) -> str:
        plain = self._there.state()["budget"]
        if plain is None:
            return "none of your own"
        return str(Budget(Fraction(plain["epsilon"]), Fraction(plain["delta"]), plain["accountant"]))

    def price(self, document: Document) -> RemotePrice:
        """What a question would cost and leave: price(people.document("median", "income", epsilon=0.2)). It is not asked."""
        return self._there.price("price", body={"document": document})

    def basket(self) -> Basket:
        """An empty basket: questions are put in by the same methods, and asked together for one debit."""
        return Basket(self._there, self)

    def history(self) -> History:
        """Your questions about the table, with their answers. It costs nothing."""
        return read_history(self._there)

    def propose(self, release: Release | NoReply | GroupedRelease, title: str, words: str = "") -> int:
        """Propose an answer to the owner of the table for publication; the number of the letter that was sent."""
        receipt = getattr(release, "receipt", None)
        if not isinstance(receipt, Mapping) or receipt.get("dataset") != self.name:
            raise InvalidParameterError(f"propose takes an answer about {self.name} that this service has given.")
        return self._there.send_proposal(int(receipt["sequence"]), title, words)

    def request_budget(self, epsilon: object, why: str) -> int:
        """Ask the owner of the table for more budget; the number of the letter that was sent."""
        return self._there.send_letter("requests", {"epsilon": str(epsilon), "why": why})
