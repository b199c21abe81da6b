"""Who waits for somebody else's identical question waits for a public time at no cost, or asks anew if that one dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.ledger.reservations import Delivery, recall_or_reserve
from dpstats.foundations.errors import LedgerError
from tests.curator.ledger.writers import BY, EACH, TERMS, at_work

ROOT = Path(__file__).parents[3]


def test_who_waits_for_somebody_that_is_killed_asks_anew(address: str) -> None:
    with open_ledger(address) as ledger:
        survey = ledger.account("survey", TERMS)
        for analyst in ("alice", "bob"):
            ledger.grant("survey", analyst=analyst, **BY)
        alice, bob = survey.acting_for("alice", "r-1"), survey.acting_for("bob")
        heard: list[Delivery[int]] = []

        def ask() -> None:
            heard.append(recall_or_reserve(bob, bob.order("key", "count()", EACH), at_work(lambda: 7)))

        def debits() -> list[str]:
            return [entry.actor for entry in survey.entries(kinds=[DEBIT])]

        command = [sys.executable, "-m", "tests.curator.ledger.writers", "hold", address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "working\n"
            with pytest.raises(LedgerError, match=r"takes too long\. Nothing was spent: ask again later"):
                recall_or_reserve(bob, bob.order("key", "count()", EACH), at_work(lambda: 7, patience=0.01))
            waiter = threading.Thread(target=ask)
            waiter.start()
            assert debits() == ["alice"]
            first.kill()
        again = recall_or_reserve(alice, alice.order("key", "count()", EACH), at_work(lambda: 8))
        waiter.join()
        assert debits() == ["alice", "bob"]  # as if he had asked only now
        assert [(each.value, each.recalled) for each in heard] == [(7, False)]
        assert again.value in (-1, 7)  # her request is not paid for twice: no answer, until there is one in the archive
        assert again.recalled
        assert ledger.verify().sound


def test_a_thread_waits_no_longer_than_it_says() -> None:
    survey = open_ledger(":memory:").account("survey", TERMS)
    order = survey.order("key", "count()", EACH)

    def first() -> int:
        with pytest.raises(LedgerError, match="takes too long"):
            recall_or_reserve(survey, order, at_work(lambda: 8, patience=0.01))
        return 7

    assert recall_or_reserve(survey, order, at_work(first)).value == 7
    assert recall_or_reserve(survey, order, at_work(lambda: 8)).recalled
    assert len(survey.entries(kinds=[DEBIT])) == 1
