"""A session about a table that a service holds: the same methods and results, and what only a service has.

    people = dp.connect("https://stats.example.org")["survey"]
    people.where("age >= 30").median("income", epsilon=0.2)

A question is checked and priced here, as at home; then its document is sent, and the service debits, waits and replies. Plans
read no data, so they are made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn, Self

from dpstats.accounting.budgets import Budget
from dpstats.client.baskets import Basket
from dpstats.client.connection import Connection
from dpstats.client.history import History, read_history
from dpstats.client.prices import RemotePrice
from dpstats.client.remote_remaining import RemoteRemaining
from dpstats.client.sending import Document, Send, SendingDesk, desk_of, received
from dpstats.curator.archive import Result
from dpstats.curator.catalog.service_desk import seconds_of
from dpstats.curator.desk import Request
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.views import TableView
from dpstats.foundations.errors import AccessError, InvalidParameterError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NoReply, Release


class RemoteSession(Session):
    """A protected table of a service, whole or narrowed. Made by `dpstats.connect(...)["survey"]`."""

    _table: SendingDesk

    def __init__(self, connection: Connection, plain: Mapping[str, Any]) -> None:
        desk = desk_of(plain, self._ask_there)
        super().__init__(desk, Scope(desk.schema, TableView(desk.schema)))
        self._connection = connection

    @property
    def remaining(self) -> RemoteRemaining:
        """What is left of your budget; print it, or ask for `.more("median", epsilon=0.1)`."""
        return RemoteRemaining(self)

    @property
    def ledger(self) -> NoReturn:
        """The ledger is kept by the service."""
        raise AccessError(
            f"the ledger of {self.name} is kept by the service: history() has your own questions, and verify() of what connect "
            "returned checks receipts against it."
        )

    @property
    def _budget(self) -> str:
        plain = self._state()["budget"]
        if plain is None:
            return "none of your own"
        return str(Budget(Fraction(plain["epsilon"]), Fraction(plain["delta"]), plain["accountant"]))

    def _state(self) -> dict[str, Any]:
        """What the service says of the table, as of now."""
        return self._connection.get("d", self.name, "ask")

    def price(self, document: Document) -> RemotePrice:
        """What a question would cost and leave: price(people.document("median", "income", epsilon=0.2)). It is not asked."""
        return RemotePrice.of(self._connection.post("d", self.name, "price", body={"document": document}), self._table.protection)

    def basket(self) -> Basket:
        """An empty basket: questions are put in by the same methods, and asked together for one debit."""
        return Basket(self)

    def history(self) -> History:
        """Your questions about the table, with their answers. It costs nothing."""
        return read_history(self._connection, self.name)

    def propose(self, release: Release | NoReply | GroupedRelease, title: str, words: str = "") -> int:
        """Propose an answer to the owner of the table for publication; the number of the letter that was sent."""
        receipt = getattr(release, "receipt", None)
        if not isinstance(receipt, Mapping) or receipt.get("dataset") != self.name:
            raise InvalidParameterError(f"propose takes an answer about {self.name} that this service has given.")
        body = {"sequence": receipt["sequence"], "title": title, "words": words}
        return int(self._connection.post("d", self.name, "proposals", body=body)["letter"])

    def request_budget(self, epsilon: object, why: str) -> int:
        """Ask the owner of the table for more budget; the number of the letter that was sent."""
        return int(self._connection.post("d", self.name, "requests", body={"epsilon": str(epsilon), "why": why})["letter"])

    def _seconds(self, request: Request) -> float:
        """When the reply to a question leaves the service, after it is paid for."""
        return seconds_of(request, self._table.policy)

    def _sending_to(self, send: Send) -> Self:
        """The session, whose questions become something else."""
        session = copy(self)
        session._table = replace(self._table, send=send)
        return session

    def _ask_there(self, document: Document, request: Request) -> Result:
        body = {"document": document}
        return received(self._connection.post("d", self.name, "questions", body=body, seconds=self._seconds(request)))
