"""Writers in processes of their own, which a test can kill: `python -m tests.curator.ledger.writers ...` prints what they did.

spend ADDRESS COST BUDGET       debits until the budget is spent, and prints how often
race ADDRESS PART PARTS         some of 16 analysts debit until nothing fits, and it prints how often each did
faults ADDRESS KILLS WRITERS    forks writers and kills them at random instants; prints what became of what they were told. The
                                address "postgres" is a server of its own. The long run is `faults FILE 10000 4`
fork ADDRESS                    debits in a parent and in the children that it forks while its threads are writing
hold ADDRESS                    debits a question for alice, says so, and never answers it
memory ADDRESS                  debits in a parent, and tries to in its child
"""

from __future__ import annotations

import json
import os
import random
import selectors
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Account, Ledger, Terms, open_ledger
from dpstats.curator.ledger.reservations import Goods, recall_or_reserve
from dpstats.foundations.errors import BudgetError, LedgerError
from dpstats.foundations.privacy import PrivacyCost

TERMS = Terms(Budget(10**6), unit="person")
EACH = PrivacyCost("1/7", unit="person")
RACERS = 16
BY = {"actor": "owner", "why": "as agreed"}
_LONGEST_REST = 0.01
_TOO_LONG = 600.0
_PIPE = 1 << 16
_REPORT = 500


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def spend(address: str, cost: str, budget: str) -> None:
    account = open_ledger(address).account("survey", Terms(Budget(budget), unit="person"))
    say("ready")
    sys.stdin.readline()
    count = 0
    try:
        while True:
            account.debit(f"{os.getpid()}-{count}", "count()", PrivacyCost(cost, unit="person"))
            count += 1
    except BudgetError:
        say(count)


def prepare_race(ledger: Ledger, population: str, dataset: str, group: str, analyst: str) -> Account:
    """16 analysts in two groups, each with a cap, on a data set of a population."""
    ledger.population("persons", Terms(Budget(population), unit="person"))
    account = ledger.account("survey", Terms(Budget(dataset), unit="person"), population="persons")
    for team in ("even", "odd"):
        ledger.grant("survey", group=team, budget=Budget(group), **BY)
    for number in range(RACERS):
        team = ("even", "odd")[number % 2]
        ledger.grant("survey", analyst=f"racer {number}", group=team, budget=Budget(analyst), **BY)
    return account


def run_race(account: Account, racers: Iterable[int], go: Callable[[], object]) -> dict[str, int]:
    """How often each of some analysts got through, until nothing of that cost fits for them."""
    counts = {f"racer {number}": 0 for number in racers}

    def work(name: str) -> None:
        own = account.acting_for(name)
        with suppress(BudgetError):
            while True:
                own.debit(f"{name}-{counts[name]}", "count()", PrivacyCost("1/20", unit="person"))
                counts[name] += 1

    threads = [threading.Thread(target=work, args=(name,)) for name in counts]
    go()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


def race(address: str, part: str, parts: str) -> None:
    account = open_ledger(address).reader("survey")
    account = Account(account._writer, "survey", account.opened_with)
    say("ready")
    say(json.dumps(run_race(account, range(int(part), RACERS, int(parts)), sys.stdin.readline)))


def write_forever(address: str, pipe: int, life: int) -> NoReturn:
    """A writer: two threads debit and answer, and tell of a debit only after it was acknowledged. One of them asks for somebody
    who has a cap in a group that has one, on a data set of a population.
    """
    ledger = open_ledger(address)
    ledger.population("persons", TERMS)
    account = ledger.account("survey", TERMS, population="persons")
    if ledger.cap("survey", analyst="alice") is None:
        ledger.grant("survey", group="team", budget=TERMS.budget, **BY)
        ledger.grant("survey", analyst="alice", group="team", budget=TERMS.budget, **BY)
    askers = account, account.acting_for("alice")

    def work(thread: int) -> None:
        asker = askers[thread]
        for count in range(10**9):
            key = f"{life}-{thread}-{count}"
            receipt = asker.debit(key, "count()", EACH, {"key": key})
            os.write(pipe, f"{receipt.sequence} {key}\n".encode())
            if count % 2:
                asker.record(receipt, {"value": 1.5})

    for thread in (0, 1):
        threading.Thread(target=work, args=(thread,), daemon=True).start()
    while True:
        time.sleep(60)


class Writers:
    """Some writers at a time, each in a process of its own."""

    work = staticmethod(write_forever)

    def __init__(self, address: str) -> None:
        self.address = address
        self.lives = 0
        self.pipes: dict[int, int] = {}
        self.told: dict[int, bytes] = {}
        self.selector = selectors.DefaultSelector()
        self.acknowledged: list[str] = []

    def start(self) -> None:
        self.lives += 1
        reader, writer = os.pipe()
        process = os.fork()
        if not process:
            try:
                self.work(self.address, writer, self.lives)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(writer)
        self.pipes[process], self.told[reader] = reader, b""
        self.selector.register(reader, selectors.EVENT_READ)

    def listen(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                self.told[int(key.fd)] += os.read(int(key.fd), _PIPE)

    def hear(self, process: int, lines: int) -> None:
        """Wait until a writer has told of so many debits."""
        deadline = time.monotonic() + _TOO_LONG
        while self.told[self.pipes[process]].count(b"\n") < lines:
            assert time.monotonic() < deadline, "a writer does not get on"
            self.listen(_LONGEST_REST)

    def kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        reader = self.pipes.pop(process)
        self.selector.unregister(reader)
        told = self.told.pop(reader)
        while more := os.read(reader, _PIPE):
            told += more
        os.close(reader)
        self.acknowledged += told.decode().splitlines()


def faults(address: str, kills: str, writers: str) -> None:
    if address == "postgres":
        from tests.postgres import binaries, running_server

        programs = binaries()
        assert programs is not None, "there is no Postgres here"
        with running_server(programs) as server:
            faults(server.url, kills, writers)
        return
    chance = random.Random()
    crowd = Writers(address)
    for _ in range(int(writers)):
        crowd.start()
    for number in range(int(kills)):
        if number and number % _REPORT == 0:
            sys.stderr.write(f"{number} killed, {len(crowd.acknowledged)} debits acknowledged by them\n")
        victim = chance.choice(list(crowd.pipes))
        crowd.hear(victim, chance.choice([0, 0, 1, 2, 5, 10]))
        crowd.listen(chance.uniform(0, _LONGEST_REST))
        crowd.kill(victim)
        crowd.start()
    for process in list(crowd.pipes):
        crowd.kill(process)
    say(json.dumps({"kills": int(kills), **what_became_of(address, crowd.acknowledged)}))


def what_became_of(address: str, acknowledged: list[str]) -> dict[str, object]:
    """How many debits were acknowledged, are there, were lost, and have no answer; and every account that does not add up."""
    with open_ledger(address, read_only=True) as ledger:
        found = ledger.verify()
        statements = {each.dataset: each for each in ledger.statements()}
    survey = statements["survey"]
    there = {f"{line.sequence} {line.details['key']}" for line in survey.lines}
    of_alice = sum(line.actor == "alice" for line in survey.lines)
    due = {"survey": len(survey.lines), "population persons": len(survey.lines)}
    due |= {"survey, group team": of_alice, "survey, analyst alice": of_alice}
    return {
        "acknowledged": len(set(acknowledged)),
        "told twice": len(acknowledged) - len(set(acknowledged)),
        "debits": len(survey.lines),
        "of them for four accounts": of_alice,
        "lost": len(set(acknowledged) - there),
        "not adding up": [name for name, times in due.items() if statements[name].total.loss != times * EACH.epsilon],
        "unanswered": sum(line.document is None for line in survey.lines),
        "entries": found.entries,
        "complaints": [str(complaint) for complaint in found.complaints],
    }


def fork(address: str) -> None:
    account = open_ledger(address).account("survey", TERMS)
    stop = threading.Event()
    acknowledged: list[int] = []

    def work() -> None:
        while not stop.is_set():
            acknowledged.append(_one(account))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    children = 0
    for _ in range(8):
        process = os.fork()
        if not process:
            code = 1
            try:
                for _ in range(5):
                    _one(account)
                code = 0
            finally:
                os._exit(code)
        children += 5 * (os.waitpid(process, 0)[1] == 0)
    stop.set()
    for thread in threads:
        thread.join()
    say(json.dumps({"parent": len(acknowledged), "children": children}))


def at_work(compute: Callable[[], int], patience: float = _TOO_LONG) -> Goods[int]:
    """A number that is computed."""
    return Goods(lambda: None, compute, lambda found: int(found["value"]), lambda: -1, lambda value: {"value": value}, patience)


def hold(address: str) -> None:
    def forever() -> int:
        say("working")
        time.sleep(_TOO_LONG)
        return 0

    survey = open_ledger(address).account("survey", TERMS)
    alice = survey.acting_for("alice", "r-1")
    recall_or_reserve(alice, alice.order("key", "count()", EACH), at_work(forever))


def memory(address: str) -> None:
    account = open_ledger(address).account("survey", TERMS)
    _one(account)
    process = os.fork()
    if not process:
        try:
            _one(account)
        except LedgerError as error:
            say(error)
        os._exit(0)
    os.waitpid(process, 0)
    _one(account)
    say(account.spent)


def _one(account: Account) -> int:
    return account.debit("the same key", "count()", EACH).sequence


ACTIONS: dict[str, Callable[..., None]] = {each.__name__: each for each in (spend, race, faults, fork, hold, memory)}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](*sys.argv[2:])
