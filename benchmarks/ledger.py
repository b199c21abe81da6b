"""Durable debits per second: processes x threads, in SQLite and in Postgres. What the disk's own fsync does is printed first.

python benchmarks/ledger.py [--seconds S] [--postgres URL] [--only sqlite|postgres]

Without --postgres a server is started as the tests do it, where that is possible. Every debit is acknowledged only when it is on
the disk, and every run ends with a verification of the whole ledger.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.foundations.privacy import PrivacyCost

CROWDS = ((1, 1), (1, 8), (1, 32), (2, 1), (4, 1), (8, 1), (4, 8))
TERMS = Terms(Budget(10**9), unit="person")
COST = PrivacyCost("1/10", unit="person")
DETAILS = {"method": "median_universal/1", "column": "income", "parameters": {}}


def debit_for(address: str, seconds: float, threads: int, everybody: Any, counted: Any) -> None:
    """One process: so many threads debit, from the moment when everybody is ready."""
    ledger = open_ledger(address)
    account = ledger.account("survey", TERMS)
    counts = [0] * threads
    everybody.wait(timeout=60)
    deadline = time.monotonic() + seconds

    def work(index: int) -> None:
        while time.monotonic() < deadline:
            account.debit(f"{os.getpid()}-{index}-{counts[index]}", "median(income)", COST, DETAILS)
            counts[index] += 1

    crowd = [threading.Thread(target=work, args=(index,)) for index in range(threads)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    ledger.close()
    counted.put(counts)


def measure(address: str, processes: int, threads: int, seconds: float) -> str:
    """One line of the table."""
    with open_ledger(address) as ledger:
        ledger.account("survey", TERMS)
    context = multiprocessing.get_context("spawn")
    counted, everybody = context.Queue(), context.Barrier(processes)
    given = (address, seconds, threads, everybody, counted)
    crowd = [context.Process(target=debit_for, args=given) for _ in range(processes)]
    for each in crowd:
        each.start()
    counts = [count for _ in crowd for count in counted.get(timeout=seconds + 60)]
    for each in crowd:
        each.join()
    with open_ledger(address) as ledger:
        verified = ledger.verify()
    verdict = "sound" if verified.sound and verified.entries == sum(counts) + 1 else "NOT SOUND"
    return f"{processes:>9} {threads:>7} {sum(counts) / seconds:>12,.0f} {min(counts):>8} {max(counts):>8}   {verdict}"


def syncs_per_second(folder: Path) -> float:
    """How often the disk can be waited for."""
    with (folder / "probe").open("wb") as probe:
        start, times = time.perf_counter(), 300
        for _ in range(times):
            probe.write(b"x" * 1000)
            probe.flush()
            os.fsync(probe.fileno())
    return times / (time.perf_counter() - start)


@contextmanager
def postgres(url: str | None) -> Iterator[str | None]:
    """The URL that was given, or that of a server of our own."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.postgres import Server, binaries

    programs = binaries()
    if url or programs is None:
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="dpstats-pg-") as folder:
        server = Server(programs, Path(folder))
        server.start()
        try:
            yield server.url
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    given = parser.parse_args()
    heading = f"{'processes':>9} {'threads':>7} {'debits/s':>12} {'least':>8} {'most':>8}   (debits of a single thread)"
    with tempfile.TemporaryDirectory() as folder:
        print(f"fsync alone: {syncs_per_second(Path(folder)):,.0f} per second")
        if given.only != "postgres":
            print(f"\nSQLite\n{heading}")
            for processes, threads in CROWDS:
                print(measure(f"{folder}/{processes}x{threads}.ledger", processes, threads, given.seconds), flush=True)
    if given.only == "sqlite":
        return
    with postgres(given.postgres) as url:
        print(f"\nPostgres\n{heading}" if url else "\nPostgres: no server here; give --postgres URL")
        for processes, threads in CROWDS if url else ():
            from tests.postgres import url_of_new_schema

            print(measure(url_of_new_schema(str(url)), processes, threads, given.seconds), flush=True)


if __name__ == "__main__":
    main()
