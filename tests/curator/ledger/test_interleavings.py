"""Whatever order analysts ask in, the totals are those of a serial replay, and no cap is ever exceeded."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import DEBIT
from dpstats.curator.ledger.ledger import Account, Ledger, Terms, open_ledger
from dpstats.foundations.errors import BudgetError
from dpstats.foundations.privacy import PrivacyCost
from tests.curator.ledger.writers import RACERS, prepare_race, run_race

ROOT = Path(__file__).parents[3]
BY = {"actor": "owner", "why": "as agreed"}
PEOPLE = {"alice": "red", "bob": "red", "carol": "blue", "dave": None}
TENTHS = st.integers(1, 30).map(lambda tenths: Fraction(tenths, 10))
QUESTIONS = st.lists(st.tuples(st.sampled_from(["", *PEOPLE]), st.integers(1, 9)), max_size=8)


def granted(ledger: Ledger, caps: dict[str, Fraction | None]) -> Account:
    """A data set in a population, with groups and people; some have caps."""
    budgets = {name: None if cap is None else Budget(cap) for name, cap in caps.items()}
    ledger.population("persons", Terms(budgets["persons"], unit="person"))
    account = ledger.account("survey", Terms(budgets["survey"], unit="person"), population="persons")
    for group in ("red", "blue"):
        ledger.grant("survey", group=group, budget=budgets[group], **BY)
    for name, team in PEOPLE.items():
        ledger.grant("survey", analyst=name, group=team, budget=budgets[name], **BY)
    return account


def charged(actor: str) -> list[str]:
    return ["survey", "persons", *(name for name in (PEOPLE.get(actor), actor) if name)]


@settings(max_examples=40)
@given(
    caps=st.fixed_dictionaries(
        {"survey": TENTHS, "persons": TENTHS, **{name: st.none() | TENTHS for name in ("red", "blue", *PEOPLE)}}
    ),
    threads=st.lists(QUESTIONS, min_size=1, max_size=4),
)
def test_any_interleaving_is_a_serial_replay(caps: dict[str, Any], threads: list[list[tuple[str, int]]]) -> None:
    ledger = open_ledger(":memory:")
    account = granted(ledger, caps)
    refused: list[tuple[str, Fraction]] = []

    def work(index: int) -> None:
        for number, (actor, tenths) in enumerate(threads[index]):
            asker = account.acting_for(actor) if actor else account
            try:
                asker.debit(f"{index}-{number}", "count()", PrivacyCost(Fraction(tenths, 10), unit="person"))
            except BudgetError:
                refused.append((actor, Fraction(tenths, 10)))

    crowd = [threading.Thread(target=work, args=(index,)) for index in range(len(threads))]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()

    totals = dict.fromkeys(caps, Fraction(0))
    firsts = [entry for entry in account.entries() if entry.kind == DEBIT]
    for entry in firsts:
        for name in charged(entry.actor):
            totals[name] += Fraction(entry.content()["cost"]["epsilon"])
            assert caps[name] is None or totals[name] <= caps[name]
    assert len(firsts) + len(refused) == sum(map(len, threads))
    for actor, epsilon in refused:  # totals only grow, so what did not fit then does not fit now
        assert any(caps[name] is not None and totals[name] + epsilon > caps[name] for name in charged(actor))
    accounts = {"survey": "survey", "persons": "population persons"}
    accounts |= {name: f"survey, group {name}" for name in ("red", "blue") if caps[name] is not None}
    accounts |= {name: f"survey, analyst {name}" for name in PEOPLE if caps[name] is not None}
    assert {name: ledger.reader(account).total.loss for name, account in accounts.items()} == {
        name: totals[name] for name in accounts
    }
    assert ledger.verify().complaints == ()


CAPS = {"population": "1.2", "data set": "1.3", "groups": "0.7", "analysts": "0.1"}
"""Which of four nested caps is the tightest for 16 analysts in 2 groups, who pay 1/20 for a question each time."""


FIT = {"population": 24, "data set": 26, "groups": 28, "analysts": 32}


def raced(tightest: str) -> list[str]:
    return list((dict.fromkeys(CAPS, "2") | {tightest: CAPS[tightest]}).values())


def check_race(ledger: Ledger, counts: dict[str, int], fit: int) -> None:
    """Exactly what fits got through, and each account has what was charged to it."""
    assert len(counts) == RACERS
    assert sum(counts.values()) == fit
    assert ledger.verify().complaints == ()
    standings = {name: ledger.reader(name).standing for name in ledger.account_names}
    assert min(each.left.loss for each in standings.values()) == 0
    assert standings["survey"].total.loss == standings["population persons"].total.loss == Fraction(fit, 20)
    assert all(standings[f"survey, analyst {name}"].total.loss == Fraction(count, 20) for name, count in counts.items())


@pytest.mark.parametrize("tightest", CAPS)
def test_16_threads_race_for_the_last_epsilon_of_four_nested_caps(tightest: str) -> None:
    ledger = open_ledger(":memory:")
    account = prepare_race(ledger, *raced(tightest))
    check_race(ledger, run_race(account, range(RACERS), lambda: None), FIT[tightest])


def race_of_processes(address: str, tightest: str, processes: int) -> None:
    with open_ledger(address) as ledger:
        prepare_race(ledger, *raced(tightest))
    command = [sys.executable, "-m", "tests.curator.ledger.writers", "race", address]
    with ExitStack() as stack:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        commands = [[*command, str(part), str(processes)] for part in range(processes)]
        crowd = [stack.enter_context(subprocess.Popen(each, **pipes, text=True, cwd=ROOT)) for each in commands]
        ready = [process.stdout.readline() for process in crowd]
        said = [process.communicate("go\n") for process in crowd]
    assert ready == ["ready\n"] * processes, said
    counts = {name: count for out, _ in said for name, count in json.loads(out).items()}
    with open_ledger(address, read_only=True) as ledger:
        check_race(ledger, counts, FIT[tightest])


def test_16_analysts_in_2_processes_race_for_the_last_epsilon(address: str) -> None:
    race_of_processes(address, "groups", 2)


@pytest.mark.long
@pytest.mark.parametrize("tightest", CAPS)
def test_16_analysts_in_4_processes_race_for_the_last_epsilon_of_four_nested_caps(address: str, tightest: str) -> None:
    race_of_processes(address, tightest, 4)
