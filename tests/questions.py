"""Questions for tests of documents: a table, a session on it, and calls of every statistic of the registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import dpstats as dp
from dpstats.curator.ledger.entries import DEBIT, Entry
from dpstats.curator.session import Session
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.foundations.registry import REQUIRED, Reads, Statistic
from tests.parameter_values import values_of

ROWS = 3_000
_COLUMNS = {Reads.NUMBERS: ("income", "age"), Reads.LABELS: ("region", "employed"), Reads.EITHER: ("income", "region")}


def table() -> dict[str, Any]:
    """Rows with a column of each type."""
    chance = np.random.default_rng(8)
    age, hours = chance.integers(18, 90, ROWS), chance.normal(30, 5, ROWS)
    return {
        "age": age,
        "hours": hours,
        "income": 100 + 2 * age + 3 * hours + chance.normal(0, 10, ROWS),
        "region": np.array(["north", "south"])[chance.integers(0, 2, ROWS)],
        "employed": chance.random(ROWS) < 0.5,
        "born": np.datetime64("2000-01-01") + chance.integers(0, 3, ROWS),
    }


class UnreadableStore(LocalStore):
    """A store whose rows cannot be read, so that every answer is a quick `NoReply` at full cost, which is not archived."""

    in_memory = True

    def __init__(self, rows: Any = None) -> None:
        self.columns = MemoryStore(table() if rows is None else rows).columns

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        raise OSError


class BrokenStore(LocalStore):
    """A store of which one column, hours, cannot be read until it is mended."""

    in_memory = True
    mended = False

    def __init__(self) -> None:
        self._rows = MemoryStore(table())
        self.columns = self._rows.columns

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        if "hours" in columns and not self.mended:
            raise OSError
        yield from self._rows.batches(columns)


def session(rows: Any = None, **changes: Any) -> Session:
    """A session with plenty of budget."""
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=10**9, delta=0.4), "ledger": ":memory:", **changes}
    return dp.protect(table() if rows is None else rows, **settings)


def columns_for(statistic: Statistic) -> list[Any]:
    """Columns that a statistic can be asked about, as its method takes them."""
    if statistic.has_outcome:
        codes = statistic.reads_codes
        return [["age"], "employed" if codes else "region" if statistic.reads[-1] is Reads.LABELS else "income"]
    if statistic.takes_only_columns:
        return [["age", "income"]]
    return [_COLUMNS[reads][place] for place, reads in enumerate(statistic.reads)]


def required_of(statistic: Statistic) -> dict[str, Any]:
    """A value for each parameter that has no default."""
    return {each.name: values_of(each)[0] for each in statistic.parameters if each.default is REQUIRED}


def outcome_of(survey: Session, ask: Any) -> Mapping[str, Any] | str:
    """The complaint about a question, or what the ledger says of the last one that was paid for, apart from totals.

    That is this question, unless the archive had its answer.
    """
    before = len(_debits(survey))
    try:
        ask()
    except dp.DpstatsError as error:
        assert len(_debits(survey)) == before, "a complaint must not cost anything"
        return f"{type(error).__name__}: {error}"
    last = _debits(survey)[-1]
    return {name: value for name, value in last.content().items() if name != "total"} | {"key": last.key}


def _debits(survey: Session) -> list[Entry]:
    return [entry for entry in survey.ledger.entries() if entry.kind == DEBIT]
