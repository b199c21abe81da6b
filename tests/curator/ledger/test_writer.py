"""Threads share transactions, and nobody hears of a debit before it is durable."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.curator.ledger.sqlite import MEMORY, SqliteEntryStore
from dpstats.curator.ledger.stores import EntryTable, Sought
from dpstats.curator.ledger.writer import _WriteRequest
from dpstats.foundations.errors import BudgetError, LedgerError
from tests.curator.ledger.conftest import TERMS, cost


class SlowStore(SqliteEntryStore):
    """A store that waits before each commit, and may then fail."""

    def __init__(self) -> None:
        super().__init__(MEMORY)
        self.transactions = 0
        self.entered = threading.Event()
        self.may_commit = threading.Event()
        self.may_commit.set()
        self.failure: BaseException | None = None

    @contextmanager
    def writing(self, expected: Collection[Sought] = ()) -> Iterator[EntryTable]:
        """As ever, but slower."""
        with super().writing(expected) as table:
            yield table
            self.transactions += 1
            self.entered.set()
            self.may_commit.wait()
            if self.failure is not None:
                raise self.failure


class Crowd:
    """Threads that debit at the same time, one transaction being held back until all of them are queued."""

    def __init__(self, size: int, epsilon: str) -> None:
        self.store = SlowStore()
        self.ledger = Ledger(self.store)
        self.account = self.ledger.account("survey", TERMS)
        self.results: list[Any] = []
        self.epsilon = epsilon
        self.threads = [threading.Thread(target=self.debit, args=(index,)) for index in range(size)]

    def debit(self, index: int) -> None:
        try:
            self.results.append(self.account.debit(f"key-{index}", "count()", cost(self.epsilon)))
        except (BudgetError, LedgerError) as error:
            self.results.append(error)

    def gather(self) -> None:
        """Let the first thread write, and all others queue behind it."""
        self.store.transactions = 0
        self.store.entered.clear()
        self.store.may_commit.clear()
        self.threads[0].start()
        self.store.entered.wait()
        for thread in self.threads[1:]:
            thread.start()
        while len(self.account._writer._queue) < len(self.threads) - 1:
            pass

    def go(self) -> None:
        self.store.may_commit.set()
        for thread in self.threads:
            thread.join()


def test_whoever_waits_is_written_in_one_transaction() -> None:
    crowd = Crowd(6, "0.1")
    crowd.gather()
    assert crowd.results == []  # nobody is told anything before the commit
    crowd.go()
    assert crowd.store.transactions == 2
    assert sorted(receipt.sequence for receipt in crowd.results) == [2, 3, 4, 5, 6, 7]
    assert crowd.account.spent == cost("0.6")
    assert crowd.ledger.verify().sound


def test_in_a_shared_transaction_only_what_fits_is_written() -> None:
    crowd = Crowd(6, "0.7")
    crowd.gather()
    crowd.go()
    refused = [result for result in crowd.results if isinstance(result, BudgetError)]
    assert len(refused) == 2
    assert len({str(error) for error in refused}) == 1
    assert crowd.account.spent == cost("2.8")
    assert crowd.ledger.verify().sound


def test_when_a_shared_transaction_fails_nobody_gets_a_receipt() -> None:
    crowd = Crowd(4, "0.1")
    crowd.gather()
    crowd.store.failure = LedgerError("the disk is full")
    crowd.go()
    assert [str(result) for result in crowd.results] == ["the disk is full"] * 4
    crowd.store.failure = None
    assert crowd.account.spent == cost(0)
    crowd.debit(9)
    assert crowd.account.spent == cost("0.1")


def test_an_interruption_passes_and_leaves_the_ledger_usable() -> None:
    store = SlowStore()
    account = Ledger(store).account("survey", TERMS)
    store.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        account.debit("key", "count()", cost(1))
    store.failure = None
    account.debit("key", "count()", cost(1))
    assert account.spent == cost(1)


def test_nobody_gets_a_receipt_when_the_one_who_wrote_for_all_was_interrupted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    store = SlowStore()
    ledger = Ledger(store)
    account = ledger.account("survey", TERMS)
    store.failure = KeyboardInterrupt()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_WriteRequest, "accept", interrupted)
    results: list[Any] = []

    def debit(key: str) -> None:
        try:
            results.append(account.debit(key, "count()", cost("0.1")))
        except (KeyboardInterrupt, LedgerError) as error:
            results.append(error)

    store.may_commit.clear()
    store.entered.clear()
    threads = [threading.Thread(target=debit, args=(f"key-{index}",)) for index in range(4)]
    for thread in threads:
        thread.start()
    store.entered.wait()
    store.may_commit.set()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(isinstance(result, (KeyboardInterrupt, LedgerError)) for result in results)
    assert account.total.loss == 0


def test_reading_does_not_wait_for_writers(address: str) -> None:
    account = open_ledger(address).account("survey", TERMS)
    account.record(account.debit("key", "count()", cost(1)), {"value": 1})
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.extend([account.spent, account.recall("key"), len(account.entries())]))
    with account._writer.turn(), account._writer.store.writing():
        reader.start()
        reader.join(30)
        assert found == [cost(1), {"value": 1}, 3]
