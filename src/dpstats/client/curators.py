"""The curator of a service: the data sets that somebody may ask about.

curator = dp.connect("https://stats.example.org", token="dpst_...")
curator["survey"].median("income", epsilon=0.2)
"""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from dpstats.client.checks import LedgerCheck, PublishedHead, check_ledger
from dpstats.client.connection import Connection
from dpstats.client.frames import FrameRows
from dpstats.client.remote_tables import RemoteTable
from dpstats.client.sessions import RemoteSession
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError

TOKEN = "DPSTATS_TOKEN"
HEADINGS = {"name": "name", "unit": "protects", "cap": "yours", "spent": "spent", "left": "left", "more": "enough for"}
"""What the service says of a data set, and how that is headed here."""


def connect(url: str, token: str | None = None) -> RemoteCurator:
    """The data sets of a service, to ask about as in a session: connect("https://stats.example.org", token="dpst_...")["survey"].

    Parameters
      url    the address of the service; it begins with https:// unless the service runs on this machine
      token  what the service knows you by, made on its page /me/tokens; left out: the environment's variable DPSTATS_TOKEN, or
             what you type when a notebook or a prompt asks for it
    """
    given = (os.environ.get(TOKEN) or _asked_for(url)) if token is None else token
    if not given:
        raise MissingParameterError(
            f"connect needs a token: connect(url, token='dpst_...'), or the environment's variable {TOKEN}. The service makes "
            "one for you on its page /me/tokens."
        )
    if not isinstance(given, str) or not (given.isascii() and given.isprintable()) or " " in given:
        raise InvalidParameterError("token must be a text such as 'dpst_...', as the service has shown it.")
    connection = Connection(url, given)
    try:
        return RemoteCurator(connection)
    except BaseException:
        connection.close()
        raise


def _asked_for(url: object) -> str:
    """The token that whoever sits at a notebook or a prompt types; empty where nobody does."""
    return getpass.getpass(f"Token for {url}: ").strip() if hasattr(sys, "ps1") else ""


class RemoteCurator:
    """A service, as whoever has a token sees it. Made by `dpstats.connect`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.name = str(connection.get("me")["name"])
        """As whom the token was made."""

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._connection.url

    @property
    def datasets(self) -> Datasets:
        """The data sets that you may ask about, and what is left of your budget on each."""
        return Datasets(self._connection.get("me")["datasets"])

    def __getitem__(self, name: str) -> RemoteSession:
        if not isinstance(name, str) or not name:
            raise InvalidParameterError("a data set is named by its text, such as curator['survey'].")
        return RemoteSession(RemoteTable(self._connection, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.datasets.names)

    def verify(
        self,
        name: str,
        *,
        receipts: Iterable[Mapping[str, object] | None] = (),
        key: str | None = None,
        heads: Sequence[PublishedHead] = (),
    ) -> LedgerCheck:
        """Whether the service's ledger still has what you have paid for: verify("survey", receipts=[release.receipt]).

        Signatures are checked here, and each receipt is looked up there. `key` is the public key that must have signed the
        ledger, by what its holder says elsewhere; `heads` are those that an earlier check has found, `check.heads`, and must be
        there still. Print what is returned, or take it as true or false.
        """
        return check_ledger(self._connection, name, receipts, key, heads)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def __enter__(self) -> RemoteCurator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteCurator({self.url}, as {self.name})"

    def _repr_html_(self) -> str:
        return self.datasets._repr_html_()

    def _ipython_key_completions_(self) -> list[str]:
        return self.datasets.names


class Datasets(FrameRows):
    """The data sets of a service, one row each: print them, or take them `to_frame()`."""

    def __init__(self, plain: Sequence[Mapping[str, Any]]) -> None:
        rows = [{heading: each.get(word) for word, heading in HEADINGS.items()} for each in plain]
        super().__init__("data sets", list(HEADINGS.values()), rows)

    @property
    def names(self) -> list[str]:
        """What to put into brackets: curator["survey"]."""
        return [row["name"] for row in self._rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)
