"""Writers in processes of their own, which a test can kill: `python -m tests.curator.ledger.writers ...` prints what they did.

spend ADDRESS COST BUDGET       debits until the budget is spent, and prints how often
faults ADDRESS KILLS WRITERS    forks writers and kills them at random instants; prints what they had acknowledged
fork ADDRESS                    debits in a parent and in the children that it forks while its threads are writing
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
from collections.abc import Callable
from typing import NoReturn

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Account, Terms, open_ledger
from dpstats.foundations.errors import BudgetError, LedgerError
from dpstats.foundations.privacy import PrivacyCost

TERMS = Terms(Budget(10**6), unit="person")
EACH = PrivacyCost("1/7", unit="person")
_LONGEST_REST = 0.01
_TOO_LONG = 600.0
_PIPE = 1 << 16


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


def write_forever(address: str, pipe: int, life: int) -> NoReturn:
    """A writer: two threads debit and answer, and tell of a debit only after it was acknowledged."""
    account = open_ledger(address).account("survey", TERMS)

    def work(thread: int) -> None:
        for count in range(10**9):
            key = f"{life}-{thread}-{count}"
            receipt = account.debit(key, "count()", EACH, {"thread": thread})
            os.write(pipe, f"{receipt.sequence} {key}\n".encode())
            if count % 2:
                account.record(receipt, {"value": 1.5})

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
    chance = random.Random()
    crowd = Writers(address)
    for _ in range(int(writers)):
        crowd.start()
    for _ in range(int(kills)):
        victim = chance.choice(list(crowd.pipes))
        crowd.hear(victim, chance.choice([0, 0, 1, 2, 5, 10]))
        crowd.listen(chance.uniform(0, _LONGEST_REST))
        crowd.kill(victim)
        crowd.start()
    for process in list(crowd.pipes):
        crowd.kill(process)
    say(json.dumps(crowd.acknowledged))


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


ACTIONS: dict[str, Callable[..., None]] = {"spend": spend, "faults": faults, "fork": fork, "memory": memory}

if __name__ == "__main__":
    ACTIONS[sys.argv[1]](*sys.argv[2:])
