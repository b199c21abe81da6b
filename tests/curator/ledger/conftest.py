"""Ledgers to test with: in a file, and in a real Postgres."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Account, Terms, open_ledger
from dpstats.foundations.privacy import PrivacyCost
from tests.cli.conftest import run

__all__ = ["run"]

TERMS = Terms(Budget(3, 1e-6), unit="person", max_rows_per_unit=3, facts={"table": "survey.parquet"})


def cost(epsilon: object, delta: object = 0) -> PrivacyCost:
    return PrivacyCost(epsilon, delta, unit="person")


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a ledger in each store in turn; there is none yet."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_schema_url"))
    return str(tmp_path / "survey.ledger")


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Account:
    """A fresh account in each kind of ledger in turn."""
    if request.param == "memory":
        return open_ledger(":memory:").account("survey", TERMS)
    if request.param == "postgres":
        return open_ledger(request.getfixturevalue("postgres_schema_url")).account("survey", TERMS)
    return open_ledger(tmp_path / "survey.ledger").account("survey", TERMS)


def small_ledger(path: Path) -> Path:
    """A ledger with two data sets, debits, and an answer to all but one."""
    with open_ledger(path) as ledger:
        survey = ledger.account("survey", TERMS)
        other = ledger.account("visits", Terms(Budget(1, 1e-5, "zcdp"), unit="person"))
        for index, account in enumerate((survey, other, survey, other)):
            receipt = account.debit(f"key-{index}", f"median(x{index})", cost("0.01", "1e-8"), {"method": "median/1", "q": 0.5})
            if index != 2:
                account.record(receipt, {"value": 1.5 + index, "label": "grün"})
    return path


def cut_in_postgres(url: str, after: int) -> None:
    """Remove the entries after one, as whoever owns the database can."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TRIGGER dpstats_ledger_append_only ON dpstats_ledger")
        connection.execute("DELETE FROM dpstats_ledger WHERE sequence > %s", [after])
