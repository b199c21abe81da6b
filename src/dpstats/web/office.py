"""The office: all that handlers work with. Rights are the catalog's and the ledger's; the office adds people and their papers."""

from __future__ import annotations

from types import TracebackType

from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.ledger.ledger import Ledger
from dpstats.web.auditing.reports import Reports
from dpstats.web.metrics import RequestCounts
from dpstats.web.papers import Papers
from dpstats.web.people.people import People
from dpstats.web.people.store import PeopleStore
from dpstats.web.settings import WebSettings


class Office:
    """One process's share of the service."""

    def __init__(self, catalog: Catalog, settings: WebSettings) -> None:
        self.catalog = catalog
        self.settings = settings
        self._store = PeopleStore(settings.people)
        self.people = People(self._store)
        self.papers = Papers(self._store)
        self.reports = Reports(self._store)
        self.requests = RequestCounts()

    @property
    def ledger(self) -> Ledger:
        """The record of what was spent."""
        return self.catalog.ledger

    @property
    def places(self) -> tuple[str, ...]:
        """Where it keeps its files, which nobody is told."""
        return self.ledger.address, self.settings.people, *self.catalog.places

    def close(self) -> None:
        """Let go of all files and processes."""
        self.catalog.close()
        self._store.close()

    def __enter__(self) -> Office:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
