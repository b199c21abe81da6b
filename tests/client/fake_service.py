"""A service of one local session, without a network: what a connection sends is kept, and answered by the session."""

from __future__ import annotations

import json
from typing import Any

import httpx

from dpstats.client.connection import Connection
from dpstats.client.remote_tables import RemoteTable
from dpstats.client.sessions import RemoteSession
from dpstats.curator.archive import document_of
from dpstats.curator.catalog.policy import Policy
from dpstats.curator.formulas import MODELS
from dpstats.curator.session import Session

HERE = "http://127.0.0.1:1"


class FakeService:
    """Answers as a service does, from a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sent: list[dict[str, Any]] = []
        self.keys: list[str] = []

    def remote(self) -> RemoteSession:
        """The session as somebody elsewhere has it."""
        connection = Connection(HERE, "dpst_test", httpx.MockTransport(self.reply))
        return RemoteSession(RemoteTable(connection, self.session.name))

    def state(self) -> dict[str, Any]:
        desk = self.session._table
        protects = desk.protection
        return {
            "name": desk.name,
            "columns": self.session.columns,
            "keys": dict(desk.public_keys),
            "protection": {
                "unit": protects.unit,
                "max_rows_per_unit": protects.rows_per_unit,
                "missing_unit": protects.missing_unit.value,
                "neighbors": protects.neighbors.value,
            },
            "policy": Policy().to_dict(),
        }

    def reply(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=self.state())
        document = json.loads(request.content)["document"]
        self.sent.append(document)
        self.keys.append(request.headers["idempotency-key"])
        result = self.session.ask(document)
        name = document["statistic"]
        statistic = MODELS[document.get("model", "linear")] if name == "regression" else name
        receipt = None if result.receipt is None else dict(result.receipt)
        return httpx.Response(200, json={"statistic": statistic, "answer": document_of(result), "receipt": receipt})
