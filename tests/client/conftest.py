"""One table behind a service and beside it: a session on the file, and the same session through HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dpstats as dp
from dpstats.client.curators import RemoteCurator
from dpstats.curator.session import Session
from dpstats.web.demo import ANALYST, OWNER
from tests.questions import ROWS, table
from tests.web.conftest import Service, served

REGIONS = ["north", "south"]
NAME = "people"
TERMS: dict[str, Any] = {
    "unit": "person",
    "max_rows_per_unit": 1,
    "budget": dp.Budget(epsilon=1000, delta=0.01),
    "keys": {"region": REGIONS},
}
SAID = {"actor": OWNER, "why": "a test"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a column of each type, and one row for each person."""
    path = tmp_path_factory.mktemp("rows") / "people.parquet"
    pl.DataFrame({"person": range(ROWS), **table()}).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, rows: Path) -> Iterator[Service]:
    """The demo's service, with the table in it, on which its analyst may spend as much as the session."""
    with served(tmp_path_factory.mktemp("service")) as running:
        (running.demo.settings.parent / "tables" / rows.name).write_bytes(rows.read_bytes())
        catalog = running.office.catalog
        catalog.register(NAME, rows.name, owner=OWNER, **TERMS)
        catalog.confirm(NAME, **SAID)
        catalog.grant(NAME, analyst=ANALYST, budget=TERMS["budget"], **SAID)
        yield running


@pytest.fixture(scope="module")
def curator(service: Service) -> Iterator[RemoteCurator]:
    """The service as its analyst has it."""
    with dp.connect(service.origin, token=service.token(ANALYST)) as connected:
        yield connected


@pytest.fixture(scope="module")
def sessions(curator: RemoteCurator, rows: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Session]:
    """The two sessions, each with an account of its own."""
    ledger = str(tmp_path_factory.mktemp("ledger") / "people.ledger")
    return {"local": dp.protect(rows, name=NAME, ledger=ledger, **TERMS), "remote": curator[NAME]}


@pytest.fixture(params=["local", "remote"])
def people(request: pytest.FixtureRequest, sessions: dict[str, Session]) -> Session:
    """The one session, then the other."""
    return sessions[request.param]
