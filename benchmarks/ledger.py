"""Durable debits per second: processes x threads, in SQLite and in Postgres. What the disk's own fsync does is printed first.

python benchmarks/ledger.py [--seconds S] [--postgres URL] [--only sqlite|postgres]
python benchmarks/ledger.py --verify 1000000 [--file LEDGER]    makes a ledger of so many entries, and verifies it
python benchmarks/ledger.py --beside 5000000    seconds for medians of a Postgres table of that many rows, three of each unit,
                                                whose ledger is a file or in the same database

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
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.curator.ledger.pages import Page
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


def generate(address: str, entries: int) -> None:
    """A ledger of questions with their answers, of which every tenth is an analyst's and is charged to four accounts."""
    given, terms = {"actor": "owner", "why": "a benchmark"}, Terms(Budget(10**9, 0.4), unit="person")
    with open_ledger(address) as ledger:
        ledger.population("persons", terms)
        account = ledger.account("survey", terms, population="persons")
        ledger.grant("survey", group="team", budget=terms.budget, **given)
        ledger.grant("survey", analyst="alice", group="team", budget=terms.budget, **given)
        alice = account.acting_for("alice")

        def length(page: Page) -> int:
            return page.last.sequence if page.last is not None else 0

        def add(page: Page) -> int:
            for number in range(length(page), length(page) + 200):
                asker = account if number % 10 else alice
                price = PrivacyCost(Fraction(1 + number % 50, 1_000), Fraction(number % 3, 10**12), unit="person")
                key = f"{number:064x}"
                receipt = asker.spend(page, asker.order(key, "median(income) where age >= 30", price, DETAILS, Fraction(1, 8)))
                asker.answer(page, receipt, {"value": {"float": repr(number / 7)}, "claim": "epsilon-DP", "notes": []})
            return length(page)

        while account.write(lambda page: length(page) if length(page) >= entries else add(page)) < entries:
            pass


def measure_verification(address: str, entries: int) -> None:
    """Verify a ledger in full, and again from its last verified head."""
    generate(address, entries)
    with open_ledger(address, read_only=True) as ledger:
        start, cpu = time.perf_counter(), time.process_time()
        found = ledger.verify()
        print(
            f"{found.entries:,} entries, {'sound' if found.sound else 'NOT SOUND'}: {time.perf_counter() - start:.1f} s, "
            f"of which {time.process_time() - cpu:.1f} s of one core; {Path(address).stat().st_size / 2**20:,.0f} MB"
        )
    for _ in range(2):
        start = time.perf_counter()
        with open_ledger(address) as ledger:
            ledger.check()
        print(f"opened and checked in {time.perf_counter() - start:.2f} s")


def measure_beside(url: str, rows: int, folder: str) -> None:
    """Seconds of five medians of a table whose ledger is a file, and of one whose ledger is in the same database."""
    import psycopg

    import dpstats as dp
    from tests.postgres import url_of_new_schema

    place = url_of_new_schema(url)
    filled = f"CREATE TABLE people AS SELECT i / 3 AS who, exp(10 + random()) AS income FROM generate_series(1, {rows}) i"
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(filled.encode())
        connection.execute("ANALYZE people")
    for name, address in (("a file", f"{folder}/beside.ledger"), ("in the same database", place)):
        budget = dp.Budget(epsilon=100)
        table = dp.protect(
            f"{place}#people", unit="who", max_rows_per_unit=2, budget=budget, ledger=address, name=f"people, {name}"
        )
        seconds = []
        for number in range(5):
            start = time.perf_counter()
            table.median("income", epsilon=1 + number / 10)
            seconds.append(time.perf_counter() - start)
        print(f"ledger {name:<21} {' '.join(f'{each:6.2f}' for each in seconds)} s", flush=True)


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
    from tests.postgres import binaries, running_server

    programs = binaries()
    if url or programs is None:
        yield url
        return
    with running_server(programs) as server:
        yield server.url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    parser.add_argument("--verify", type=int, metavar="ENTRIES")
    parser.add_argument("--file", metavar="LEDGER", help="with --verify: where the ledger is, or is made")
    parser.add_argument("--beside", type=int, metavar="ROWS")
    given = parser.parse_args()
    if given.beside:
        with postgres(given.postgres) as url, tempfile.TemporaryDirectory() as folder:
            measure_beside(str(url), given.beside, folder)
        return
    if given.verify:
        with tempfile.TemporaryDirectory() as folder:
            measure_verification(given.file or f"{folder}/long.ledger", given.verify)
        return
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
