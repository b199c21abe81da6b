"""Writers that open, debit, close, fork and are killed, while the ledger is copied and read: `python -m ... FOLDER ROUNDS SEED`.

What must hold at every instant: reading the ledger finds it sound and with every acknowledged debit; a copy of the main file
alone has every debit that was acknowledged before, or is refused; and the ledger opens again, whoever was killed.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import NoReturn

from dpstats.curator.ledger.ledger import open_ledger
from dpstats.foundations.errors import LedgerError
from tests.curator.ledger.writers import EACH, TERMS, Writers, say


def live(address: str, pipe: int, life: int) -> NoReturn:
    """Open and close the ledger again and again, with some debits between; now and then in a child of this process."""
    chance = random.Random(life)
    while True:
        with open_ledger(address) as ledger:
            account = ledger.account("survey", TERMS)
            for _ in range(chance.choice([0, 1, 1, 2, 4])):
                receipt = account.debit("key", "count()", EACH)
                os.write(pipe, f"{receipt.sequence} {receipt.hash}\n".encode())
            if chance.random() < 0.1:
                child = os.fork()
                if not child:
                    try:
                        account.debit("of a child", "count()", EACH)
                    finally:
                        os._exit(0)
                os.waitpid(child, 0)


class Upheaval(Writers):
    """Some writers, and what happens to them and to their ledger."""

    work = staticmethod(live)

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(str(folder / "survey.ledger"))
        self.folder = folder
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()

    def run(self, rounds: int) -> None:
        try:
            for _ in range(rounds):
                self.happen()
        finally:
            for process in list(self.pipes):
                self.kill(process)
        self.reopen()

    def happen(self) -> None:
        """Start a writer, kill one, or look at what they do."""
        if len(self.pipes) < 3 and self.chance.random() < 0.6:
            self.start()
        self.listen(self.chance.uniform(0, 0.02))
        if self.pipes and self.chance.random() < 0.3:
            self.kill(self.chance.choice(list(self.pipes)))
            self.counts["kills"] += 1
        happening = self.chance.choice([self.copy, self.copy, self.read, self.reopen])
        if self.told_so_far():
            happening()
            self.counts[happening.__name__] += 1

    def told_so_far(self) -> set[str]:
        """Every debit that was acknowledged by now."""
        self.listen(0.001)
        running = [line for told in self.told.values() for line in told.decode().split("\n")[:-1]]
        return {*self.acknowledged, *running}

    def read(self) -> None:
        told = self.told_so_far()
        with open_ledger(self.address, read_only=True) as ledger:
            found = ledger.verify()
            assert found.sound, found.complaints
            assert told <= {f"{entry.sequence} {entry.hash}" for entry in ledger.entries()}

    def reopen(self) -> None:
        told = self.told_so_far()
        with open_ledger(self.address) as ledger:
            ledger.check()
            ledger.account("survey", TERMS).debit("reopened", "count()", EACH)
            assert told <= {f"{entry.sequence} {entry.hash}" for entry in ledger.entries()}

    def copy(self) -> None:
        told = self.told_so_far()
        copy = self.folder / f"copy-{sum(self.counts.values())}.ledger"
        # By a process of its own, as cp is: to close the file in this one would undo SQLite's locks.
        child = os.fork()
        if not child:
            shutil.copyfile(self.address, copy)
            os._exit(0)
        os.waitpid(child, 0)
        try:
            with open_ledger(copy, read_only=True) as ledger:
                sound = ledger.verify().sound
                entries = {f"{entry.sequence} {entry.hash}" for entry in ledger.entries()}
        except LedgerError:  # half of a page
            sound, entries = False, set()
        self.counts["whole copies" if sound else "copies that say they may be cut"] += 1
        assert not sound or told <= entries, "a copy lacks debits and looks sound"
        if not sound:
            try:
                open_ledger(copy).check()
            except LedgerError:
                return
            raise AssertionError("a copy that may be cut was opened")


if __name__ == "__main__":
    upheaval = Upheaval(Path(sys.argv[1]), int(sys.argv[3]))
    upheaval.run(int(sys.argv[2]))
    say(f"{len(upheaval.acknowledged)} debits, {dict(upheaval.counts)}")
