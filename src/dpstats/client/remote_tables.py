"""A data set of a service: what it says of it, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpstats.client.connection import Connection, understood
from dpstats.client.prices import RemotePrice
from dpstats.client.sending import Document, SendingDesk, desk_of, received
from dpstats.curator.archive import Result, result_of
from dpstats.curator.catalog.policed_desk import seconds_of
from dpstats.curator.desk import Request
from dpstats.curator.rows_per_unit import ROWS_PER_UNIT
from dpstats.foundations.errors import ServiceError
from dpstats.foundations.results import Release
from dpstats.mechanisms.unit_octaves import UnitOctaves


class RemoteTable:
    """One data set, and the connection to whoever holds it."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.connection = connection
        plain = connection.get("d", name, "ask")
        with understood():
            self.name = str(plain["name"])
            self.desk: SendingDesk = desk_of(plain, self.ask)
            self._rows_found = plain["protection"].get("rows_per_unit")

    @property
    def rows_per_unit(self) -> Release[UnitOctaves] | None:
        """The release that says how many rows of each unit are used; None where the number was named."""
        protection = self.desk.protection
        if self._rows_found is None:
            if not protection.found:
                return None
            raise ServiceError(
                f"the service says only this of the rows of {self.name}: {protection.rows_note()}. Services of the version of "
                "dpstats that you use show the whole release."
            )
        with understood():
            found = result_of(self._rows_found, ROWS_PER_UNIT)
            if not isinstance(found, Release):
                raise TypeError("the number of rows is a release")
            return found

    def state(self) -> dict[str, Any]:
        """What the service says of it now."""
        return self.connection.get("d", self.name, "ask")

    def post(self, *path: str, body: Mapping[str, object], asked: Iterable[Request] = ()) -> dict[str, Any]:
        """What an action has done; questions that are `asked` by it have public times, for which it is waited."""
        seconds = sum(seconds_of(self.desk.policy, request) for request in asked)
        return self.connection.post("d", self.name, *path, body=body, seconds=seconds)

    def ask(self, document: Document, request: Request) -> Result:
        """The answer to a question, which is paid for."""
        reply = self.post("questions", body={"document": document}, asked=[request])
        with understood():
            return self.received(reply)

    def received(self, reply: Mapping[str, Any]) -> Result:
        """What a reply stands for; an answer can be proposed to the owner."""
        return received(reply, self.send_proposal)

    def send_proposal(self, sequence: int, title: str, words: str) -> int:
        """Propose the answer of a debit to the owner; the number of the letter."""
        return self.send_letter("proposals", {"sequence": sequence, "title": title, "words": words})

    def price(self, *path: str, body: Mapping[str, object]) -> RemotePrice:
        """What questions would cost and leave."""
        reply = self.post(*path, body=body)
        with understood():
            return RemotePrice.of(reply, self.desk.protection)

    def send_letter(self, box: str, content: Mapping[str, object]) -> int:
        """Leave a letter for the owner; its number."""
        reply = self.connection.post("d", self.name, box, body=content, again=False)
        with understood():
            return int(reply["letter"])
