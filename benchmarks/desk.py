"""Processor time of one question at a service desk, of all processes together, without HTTP: python benchmarks/desk.py

The table has 100,000 rows and 6 columns in a Parquet file; its unit is a person. Some clients ask at the same time, each question
once, but for the repeats that the archive answers. Milliseconds are of the processor: waiting for reply times does not count.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dpstats as dp
from dpstats.curator.catalog.catalog import Catalog, open_catalog
from dpstats.curator.catalog.service_desk import ServiceDesk

ROWS = 100_000
CLIENTS = 8
PACE = "1/4"
OFFICE = {"actor": "office", "why": "a benchmark"}
FILTER = {"where": ["age >= 30 and region in ['north', 'south']"]}
QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "count": {"statistic": "count"},
    "count, filtered": {"statistic": "count", **FILTER},
    "histogram": {"statistic": "histogram", "columns": ["region"], "parameters": {"bins": ["north", "south", "west"]}},
    "mean": {"statistic": "mean", "columns": ["income"]},
    "median": {"statistic": "median", "columns": ["income"]},
    "median, filtered": {"statistic": "median", "columns": ["income"], **FILTER},
}
GOALS = {"archive": 0.4, "count": 3.5, "mean": 15.0, "median": 15.0}
"""Milliseconds of the processor, below HTTP."""


@dataclass(frozen=True)
class Measured:
    """What one question takes."""

    here: float
    """Milliseconds of the processor in the process that asks."""
    workers: float
    """Milliseconds of the processor in the processes that work on it."""
    longest: float
    """Milliseconds from a question to its reply, for the slowest one in a hundred."""
    refused: int
    """How many were no replies."""


def make_catalog(folder: Path, rows: int = ROWS, **policy: Any) -> Catalog:
    """A catalog with one open table, `survey`, on which `client 0`, `client 1`, ... may ask."""
    import polars as pl

    rng = np.random.default_rng(20)
    (folder / "tables").mkdir()
    pl.DataFrame(
        {
            "person": np.arange(rows),
            "age": rng.integers(18, 90, rows),
            "region": rng.choice(["north", "south", "west"], rows),
            "income": np.round(rng.lognormal(7.5, 0.6, rows), 2),
            "rent": np.round(rng.lognormal(6, 0.5, rows)),
            "hours": rng.integers(0, 60, rows),
        }
    ).write_parquet(folder / "tables" / "survey.parquet")
    files = {"ledger": str(folder / "curator.ledger"), "registrations": str(folder / "catalog.sqlite")}
    catalog = open_catalog({**files, "roots": [str(folder / "tables")]})
    catalog.register(
        "survey",
        "survey.parquet",
        owner="office",
        unit="person",
        max_rows_per_unit=1,
        budget=dp.Budget(10**9),
        policy={"pace": PACE, **policy},
    )
    catalog.confirm("survey", **OFFICE)
    for number in range(CLIENTS):
        catalog.grant("survey", analyst=f"client {number}", budget=dp.Budget(10**8), **OFFICE)
    return catalog


def document(words: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A question that nobody has asked before, if `number` is new."""
    return {"version": 1, **words, "epsilon": f"0.5{number:07}1"}


def ask_all(ask: Callable[[int, str], Any], numbers: range, clients: int) -> tuple[list[float], int]:
    """Ask every question of `numbers` by some clients at the same time: seconds of the replies, and how many were none."""
    seconds: list[float] = []
    refused: list[Any] = []

    def client(place: int) -> None:
        for number in numbers[place::clients]:
            begun = time.perf_counter()
            if isinstance(reply := ask(number, f"client {place}"), dp.NoReply):
                refused.append(reply)
            seconds.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=client, args=(place,)) for place in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return seconds, len(refused)


def workers_seconds(desk: ServiceDesk) -> float:
    """Seconds of the processor that the worker processes have had; nan where the system does not say."""
    try:
        lines = [Path(f"/proc/{each._process.pid}/stat").read_text() for each in desk._pool._processes]
    except OSError:
        return float("nan")
    ticks = [line.rpartition(") ")[2].split()[11:13] for line in lines]
    return sum(int(each) for pair in ticks for each in pair) / os.sysconf("SC_CLK_TCK")


def measure(desk: ServiceDesk, ask: Callable[[int, str], Any], numbers: range, clients: int = CLIENTS) -> Measured:
    """What one question of many takes."""
    here, workers = time.process_time(), workers_seconds(desk)
    seconds, refused = ask_all(ask, numbers, clients)
    here, workers = time.process_time() - here, workers_seconds(desk) - workers
    scale = 1000 / len(numbers)
    return Measured(here * scale, workers * scale, 1000 * float(np.quantile(seconds, 0.99)), refused)


def row(name: str, found: Measured) -> str:
    """A line of the table."""
    total, goal = found.here + found.workers, GOALS.get(name)
    verdict = "" if goal is None else f"{total / goal:>8.2f}"
    refused = f"   {found.refused} no replies" if found.refused else ""
    return f"{name:<18} {found.here:>8.2f} {found.workers:>8.2f} {total:>8.2f} {found.longest:>10.1f} {verdict:>8}{refused}"


def measure_repeats(desk: ServiceDesk, known: dict[str, Any], repeats: int) -> None:
    """Print what one repeat of a question takes, by both ways to the archive."""
    desk.ask(known, "client 0")

    def ask(_: int, actor: str) -> Any:
        return desk.ask(known, actor)

    def recall(_: int, actor: str) -> Any:
        return desk.recall(known, actor)

    print(row("archive, by ask", measure(desk, ask, range(repeats))), flush=True)
    print(row("archive", measure(desk, recall, range(repeats))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=160, help="of each kind")
    parser.add_argument("--pace", default=PACE, help="of the policy")
    parser.add_argument("--only", nargs="*", choices=["archive", *QUESTIONS])
    parser.add_argument("--profile", choices=["archive", *QUESTIONS], help="show where the time of one kind goes, in one process")
    given = parser.parse_args()
    kinds = given.only or ["archive", *QUESTIONS]
    with tempfile.TemporaryDirectory() as folder, make_catalog(Path(folder), pace=given.pace) as catalog:
        desk = catalog.desk("survey")
        if given.profile:
            profile(desk, given.profile)
            return
        assert desk._pool.wait_until_ready(desk._recipe)
        print(f"{'CPU ms':<18} {'here':>8} {'workers':>8} {'both':>8} {'p99, wall':>10} {'/ goal':>8}")
        first = 0
        for name in kinds:
            if name == "archive":
                measure_repeats(desk, document(QUESTIONS["median"], 10**7), 20 * given.questions)
                continue

            def ask(number: int, actor: str, words: Mapping[str, Any] = QUESTIONS[name]) -> Any:
                return desk.ask(document(words, number), actor)

            measure(desk, ask, range(first, first + 2 * CLIENTS))
            first += 2 * CLIENTS
            found = measure(desk, ask, range(first, first + given.questions))
            first += given.questions
            print(row(name, found), flush=True)


def profile(desk: ServiceDesk, name: str) -> None:
    """Print where the time of 50 questions goes: in the process that asks, then in a worker's program, run here."""
    from dpstats.curator.jobs.worker import TableShelf, answer

    words = QUESTIONS["median" if name == "archive" else name]
    is_repeat = name == "archive"
    desk.ask(document(words, 0), "client 0")
    profiler = cProfile.Profile(time.thread_time)
    for number in range(1, 51):
        profiler.enable()
        desk.ask(document(words, 0 if is_repeat else number), "client 0")
        profiler.disable()
    pstats.Stats(profiler, stream=sys.stdout).sort_stats("cumtime").print_stats(110)
    if is_repeat:
        return
    shelf, profiler = TableShelf(), cProfile.Profile(time.thread_time)
    for number in range(51):
        job = {"table": desk._recipe, "question": document(words, number)}
        if number:
            profiler.enable()
        answer(job, shelf)
        profiler.disable()
    pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(60)


if __name__ == "__main__":
    main()
