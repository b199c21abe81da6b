"""Baskets: questions that are collected, priced together, and asked together for one debit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from dpstats.client.connection import understood
from dpstats.client.prices import RemotePrice
from dpstats.client.remote_tables import RemoteTable
from dpstats.client.sending import Document, sending_to
from dpstats.curator.archive import Result
from dpstats.curator.desk import Request
from dpstats.curator.groups import Groups
from dpstats.curator.session import Session
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import statistic_names
from dpstats.foundations.results import NoReply
from dpstats.foundations.text_tables import counted, headed_lines

NARROWING = ("where", "select", "with_columns", "group_by")
QUESTIONS = ("classification", "regression", "sketch")


class Basket:
    """Questions that wait: put them in by the methods of a session, then `ask()` all of them."""

    def __init__(self, table: RemoteTable, session: Session) -> None:
        self._table = table
        self._session = session
        self._waiting: list[tuple[Document, Request]] = []
        self._asker: Session | Groups = sending_to(session, self._keep)

    @property
    def cost(self) -> PrivacyCost:
        """What all of it costs together."""
        first, *others = [request.cost for _, request in self._filled()]
        return sum(others, start=first)

    def add(self, document: Document) -> Basket:
        """Put a question in that is written as a document."""
        assert isinstance(self._asker, Session)
        self._asker.ask(document)
        return self

    def price(self) -> RemotePrice:
        """What all of it would cost and leave; nothing is asked."""
        return self._table.price("basket", "price", body=self._body())

    def ask(self) -> list[Any]:
        """The answers, in the order of the questions; one debit pays for all of them."""
        reply = self._table.post("basket", body=self._body(), asked=[request for _, request in self._waiting])
        with understood():
            arriving = iter([self._table.received(each) for each in reply["answers"]])
        asker = sending_to(self._session, lambda *_: next(arriving))
        return [asker.ask(document) for document, _ in self._waiting]

    def _body(self) -> dict[str, object]:
        return {"documents": [document for document, _ in self._filled()]}

    def _filled(self) -> list[tuple[Document, Request]]:
        if not self._waiting:
            raise InvalidParameterError(
                "the basket is empty: put questions in first, such as basket.median('income', epsilon=0.2)."
            )
        return self._waiting

    def _keep(self, document: Document, request: Request) -> Result:
        self._waiting.append((document, request))
        return NoReply(request.text, request.cost, request.question.method.name, "It waits in a basket.", "", True)

    def _narrowed(self, asker: Session | Groups) -> Basket:
        """The same basket; what is put in from here is about fewer rows, or groups of them."""
        basket = Basket(self._table, self._session)
        basket._waiting = self._waiting
        basket._asker = asker
        return basket

    def __getattr__(self, name: str) -> Callable[..., Basket]:
        if name.startswith("_") or name not in (*statistic_names(), *QUESTIONS, *NARROWING):
            raise AttributeError(f"a Basket has no {name!r}: it takes the questions of a session, and is then priced and asked.")
        method = getattr(self._asker, name)

        @wraps(method)
        def put_in(*given: Any, **words: Any) -> Basket:
            found = method(*given, **words)
            return self._narrowed(found) if name in NARROWING else self

        return put_in

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *statistic_names(), *QUESTIONS, *NARROWING})

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Document]:
        return iter([document for document, _ in self._waiting])

    def __str__(self) -> str:
        if not self._waiting:
            return f"an empty basket for {self._table.name}"
        lines = headed_lines([(request.text, str(request.cost)) for _, request in self._waiting])
        return "\n".join([f"a basket for {self._table.name}, {self.cost} in all; nothing is spent before ask()", *lines])

    def __repr__(self) -> str:
        costs = f", {self.cost} in all" if self._waiting else ""
        return f"Basket({self._table.name}, {counted(len(self), 'question')}{costs})"
