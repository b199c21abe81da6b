"""How many questions a second the service answers over HTTP, and how soon, by 16 clients at once.

    python benchmarks/service.py [--clients 16] [--seconds 10] [--only archive counts medians means] [--workers 2] [--pace 1/4]

A server of its own is started, on a Parquet file of 100,000 rows and a SQLite ledger; its clients are analysts with tokens, each
of whom asks the next question as soon as the last one is answered. `archive` is one question again and again, the others are new
ones each time, so that each is a debit and is worked on. Clients and server share the machine.

Replies leave at a public time, which is stated. It bounds how many a second clients get who wait for each: 16 get 512 at 1/32 s,
and 128 at 1/8 s. It follows from the pace in the table's policy, which is amended before each kind of question; `--pace` sets one
for all. `no replies` are answers that were not ready in time: with a larger pace there are fewer of them.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dpstats as dp
from dpstats.web.people.people import People, read_scope
from dpstats.web.people.roles import Role
from dpstats.web.people.store import PeopleStore

ROWS = 100_000
SETTINGS = """\
ledger = "curator.ledger"
registrations = "catalog.sqlite"
roots = ["tables"]
processes = 2

[web]
origin = "{origin}"
workers = {workers}
"""
QUESTIONS: dict[str, dict[str, Any]] = {
    "archive": {"statistic": "median", "columns": ["income"], "epsilon": "0.5"},
    "counts": {"statistic": "count", "columns": []},
    "medians": {"statistic": "median", "columns": ["income"]},
    "means": {"statistic": "mean", "columns": ["income"]},
}
GOALS = {"archive": (2_000, 0.020), "counts": (400, None), "medians": (100, 0.5), "means": (100, 0.5)}
PACES = {"archive": "1", "counts": "1/8", "medians": "1/4", "means": "1/4"}
HEADINGS = (
    "question",
    "replies leave after s",
    "a second",
    "goal",
    "p50 ms",
    "p99 ms",
    "goal",
    "server's CPU ms each",
    "no replies",
    "statuses",
)
OFFICE: dict[str, Any] = {"actor": "office", "why": "a benchmark"}


@dataclass
class Load:
    """What clients have seen."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    no_replies: int = 0


class Client:
    """One analyst's connection, kept open; it speaks as little HTTP as is needed."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    async def __aenter__(self) -> Client:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, document: dict[str, Any]) -> tuple[int, bytes]:
        """The status and the body of the reply to one question."""
        body = json.dumps({"document": document}).encode()
        self._writer.write(
            (
                f"POST /d/survey/questions HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\ncontent-type: application/json\r\n"
                f"authorization: Bearer {self._token}\r\ncontent-length: {len(body)}\r\n\r\n"
            ).encode()
            + body
        )
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        return int(head.split()[1]), await self._reader.readexactly(length)


async def load(port: int, tokens: list[str], question: dict[str, Any], seconds: float, numbers: Iterator[int]) -> Load:
    """All clients ask for some seconds."""
    found = Load()
    ends = time.perf_counter() + seconds

    async def work(token: str) -> None:
        async with Client(port, token) as client:
            while time.perf_counter() < ends:
                epsilon = question.get("epsilon") or f"0.5{next(numbers):08d}"
                begun = time.perf_counter()
                status, body = await client.ask({"version": 1, **question, "epsilon": epsilon})
                found.seconds.append(time.perf_counter() - begun)
                found.statuses[status] = found.statuses.get(status, 0) + 1
                found.no_replies += b'"reason"' in body

    await asyncio.gather(*(work(token) for token in tokens))
    return found


def warm_up(port: int, tokens: list[str], question: dict[str, Any], numbers: Iterator[int]) -> None:
    """Ask until all processes have opened the table."""
    for _ in range(10):
        if max(asyncio.run(load(port, tokens, question, 2, numbers)).seconds) < 1:
            return


def make_office(folder: Path, origin: str, workers: int, clients: int) -> list[str]:
    """A catalog with one open table and analysts; their tokens."""
    (folder / "tables").mkdir()
    rng = np.random.default_rng(1)
    columns = {
        "person": np.arange(ROWS),
        "income": np.round(rng.lognormal(7.5, 0.6, ROWS), 2),
        "age": rng.integers(16, 95, ROWS),
        "hours": np.round(rng.normal(36, 9, ROWS), 1),
        "region": rng.choice(["north", "east", "south", "west"], ROWS),
        "rent": np.round(rng.gamma(4, 150, ROWS), 2),
    }
    pl.DataFrame(columns).write_parquet(folder / "tables" / "survey.parquet")
    (folder / "catalog.toml").write_text(SETTINGS.format(origin=origin, workers=workers))
    names = [f"analyst {number}" for number in range(clients)]
    with dp.open_catalog(folder / "catalog.toml") as catalog:
        catalog.register(
            "survey",
            "survey.parquet",
            owner="office",
            unit="person",
            max_rows_per_unit=1,
            budget=dp.Budget(10**9),
            policy={"rows": ROWS},
        )
        catalog.confirm("survey", **OFFICE)
        for name in names:
            catalog.grant("survey", analyst=name, **OFFICE)
    people = People(PeopleStore(folder / "people.sqlite"))
    tokens = []
    for name in names:
        people.add(name, "a password of a benchmark", [Role.ANALYST])
        tokens.append(people.new_token(name, "benchmark", read_scope({"actions": ["read", "ask"]})))
    return tokens


def seconds_of_a_reply(folder: Path, question: dict[str, Any], pace: str) -> float:
    """When replies leave, after the office has set a pace."""
    with dp.open_catalog(folder / "catalog.toml") as catalog:
        catalog.amend("survey", pace=pace, **OFFICE)
        return catalog.desk("survey").price({"version": 1, "epsilon": "0.5", **question}, "analyst 0").seconds


def wait_until_served(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start.")


def processor_seconds(server: int) -> float:
    """What a process, and all that it and its children have started, have used of the processor."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)], ticks[int(entry.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    found = {server}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return sum(ticks.get(process, 0) for process in found) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pace", help="of the policy, for all kinds of questions")
    parser.add_argument("--only", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    given = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    numbers = itertools.count(1)
    with tempfile.TemporaryDirectory() as folder:
        tokens = make_office(Path(folder), f"http://127.0.0.1:{port}", given.workers, given.clients)
        server = subprocess.Popen(
            [sys.executable, "-m", "dpstats", "serve", f"{folder}/catalog.toml", "--port", str(port), "--no-browser"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            wait_until_served(port)
            print(f"| {' | '.join(HEADINGS)} |\n|{' ---: |' * len(HEADINGS)}")
            for name in given.only:
                leaves = seconds_of_a_reply(Path(folder), QUESTIONS[name], given.pace or PACES[name])
                warm_up(port, tokens, QUESTIONS[name], numbers)
                before = processor_seconds(server.pid)
                found = asyncio.run(load(port, tokens, QUESTIONS[name], given.seconds, numbers))
                used = processor_seconds(server.pid) - before
                rate, slowest = GOALS[name]
                ordered = sorted(found.seconds)
                p99 = ordered[int(0.99 * (len(ordered) - 1))]
                cells = (
                    name,
                    "" if name == "archive" else f"{leaves:g}",
                    f"{len(ordered) / given.seconds:,.0f}",
                    f"{rate:,}",
                    f"{1000 * statistics.median(ordered):.1f}",
                    f"{1000 * p99:.1f}",
                    "" if slowest is None else f"{1000 * slowest:.0f}",
                    f"{1000 * used / len(ordered):.2f}",
                    str(found.no_replies),
                    str(found.statuses),
                )
                print(f"| {' | '.join(cells)} |", flush=True)
        finally:
            server.terminate()
            server.wait(60)


if __name__ == "__main__":
    main()
