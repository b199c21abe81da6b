"""A catalog to test with: one root, questions that are worked on in this process, and replies that leave soon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.catalog import catalog as catalogs
from dpstats.curator.catalog import policed_desk
from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.catalog.settings import CatalogSettings
from dpstats.curator.jobs.job_process import WorkerJob
from dpstats.curator.jobs.pool import JobFailedError
from dpstats.curator.jobs.worker import TableShelf, done

OFFICE: dict[str, Any] = {"actor": "office", "why": "a test"}


class PoolHere:
    """Works on jobs in this process: what real processes add is tested in tests/curator/jobs."""

    def __init__(self, *_: object) -> None:
        self.shelf = TableShelf()
        self.jobs = 0
        self.tables: set[str] = set()

    def open(self, table: str) -> None:
        self.tables.add(table)

    def forget(self, table: str) -> None:
        self.tables.remove(table)

    def wait_until_ready(self, table: str = "") -> bool:
        return True

    def run(self, job: WorkerJob, until: float) -> dict[str, Any]:
        self.jobs += 1
        try:
            return done(vars(job), self.shelf)
        except Exception:
            raise JobFailedError from None

    def close(self) -> None:
        """Nothing to end."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tables: a survey and a file of visits."""
    monkeypatch.setattr(catalogs, "JobPool", PoolHere)
    monkeypatch.setattr(policed_desk, "reply_seconds", lambda *_, **__: 0.0)
    folder = tmp_path / "tables"
    folder.mkdir()
    people = {"person": list(range(40)), "income": [float(100 + each) for each in range(40)], "region": ["north", "south"] * 20}
    pl.DataFrame(people).write_parquet(folder / "survey.parquet")
    pl.DataFrame(people).write_csv(folder / "survey.csv")
    return folder


def make_catalog(root: Path, **settings: Any) -> Catalog:
    files = {"ledger": str(root.parent / "curator.ledger"), "registrations": str(root.parent / "catalog.sqlite")}
    return Catalog(CatalogSettings.read({**files, "roots": [str(root)], **settings}))


@pytest.fixture
def catalog(root: Path) -> Iterator[Catalog]:
    """A catalog with an open data set, on which alice and bob may ask."""
    with make_catalog(root) as made:
        made.register(
            "survey",
            "survey.parquet",
            owner="office",
            unit="person",
            max_rows_per_unit=1,
            budget=dp.Budget(100),
            keys={"region": ["north", "south"]},
        )
        made.confirm("survey", **OFFICE)
        for analyst in ("alice", "bob"):
            made.grant("survey", analyst=analyst, **OFFICE)
        yield made
