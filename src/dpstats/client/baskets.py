"""Baskets: questions that are collected, priced together, and asked together for one debit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

from dpstats.client.connection import understood
from dpstats.client.prices import RemotePrice
from dpstats.client.remote_tables import RemoteTable
from dpstats.client.sending import Document, document_of
from dpstats.curator.asker import SKETCH, priced_call
from dpstats.curator.desk import Priced
from dpstats.curator.documents.document import CLASSIFICATION, REGRESSION
from dpstats.curator.documents.reading import read_document
from dpstats.curator.groups import Groups
from dpstats.curator.session import Session
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import statistic_names
from dpstats.foundations.text_tables import counted, headed_lines

NARROWING = ("where", "select", "with_columns", "group_by")
QUESTIONS = (CLASSIFICATION, REGRESSION, SKETCH)


@dataclass(frozen=True)
class Waiting:
    """A question in a basket, as it was when it was put in."""

    document: Document
    priced: Priced


class Basket:
    """Questions that wait: put them in by the methods of a session, then `ask()` all of them."""

    def __init__(self, table: RemoteTable, session: Session) -> None:
        self._table = table
        self._session = session
        self._waiting: list[Waiting] = []
        self._asker: Session | Groups = session

    @property
    def cost(self) -> PrivacyCost:
        """What all of it costs together."""
        first, *others = [each.priced.request.cost for each in self._filled()]
        return sum(others, start=first)

    def add(self, document: Document) -> Basket:
        """Put a question in that is written as a document."""
        assert isinstance(self._asker, Session)
        return self._put_in(self._asker._price_document(read_document(document)))

    def price(self) -> RemotePrice:
        """What all of it would cost and leave; nothing is asked."""
        return self._table.price("basket", "price", body=self._body())

    def ask(self) -> list[Any]:
        """The answers, in the order of the questions; one debit pays for all of them."""
        reply = self._table.post("basket", body=self._body(), asked=[each.priced.request for each in self._waiting])
        with understood():
            arrived = [self._table.received(each) for each in reply["answers"]]
        return [each.priced.finish(result) for each, result in zip(self._waiting, arrived, strict=True)]

    def _body(self) -> dict[str, object]:
        return {"documents": [each.document for each in self._filled()]}

    def _filled(self) -> list[Waiting]:
        if not self._waiting:
            raise InvalidParameterError(
                "the basket is empty: put questions in first, such as basket.median('income', epsilon=0.2)."
            )
        return self._waiting

    def _put_in(self, priced: Priced) -> Basket:
        self._waiting.append(Waiting(document_of(priced), priced))
        return self

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
            if name in NARROWING:
                return self._narrowed(method(*given, **words))
            return self._put_in(priced_call(self._asker, name, given, words))

        return put_in

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *statistic_names(), *QUESTIONS, *NARROWING})

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Document]:
        return iter([each.document for each in self._waiting])

    def __str__(self) -> str:
        if not self._waiting:
            return f"an empty basket for {self._table.name}"
        lines = headed_lines([(each.priced.request.text, str(each.priced.request.cost)) for each in self._waiting])
        return "\n".join([f"a basket for {self._table.name}, {self.cost} in all; nothing is spent before ask()", *lines])

    def __repr__(self) -> str:
        costs = f", {self.cost} in all" if self._waiting else ""
        return f"Basket({self._table.name}, {counted(len(self), 'question')}{costs})"
