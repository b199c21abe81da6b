"""What an analyst waits for: one question of each kind, beside the figures of November 2026 before draws were made on arrays.

    python benchmarks/latency.py [--only median plan] [--calls 5] [--profile]

Times are the least of several calls, in milliseconds, of the processor and of the clock; the first call, which imports, does not
count, but on the command line, where each is the first. `before` was measured on one core of another machine, so that `faster`
is only about right. Peers are asked the same in the same run, with bounds and without intervals, as often as there are quantiles,
each at its part of epsilon: their milliseconds of the processor, and ours over theirs. The last column says in which rooms the
processor was, by samples of a thousandth of a second: engines (reading, order statistics and sums), statistics and mechanisms
(draws), the rest of dpstats (bookkeeping), or in other processes; of commands it says what is imported. `--profile` lists
functions. The table is Markdown.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpstats as dp
from dpstats.testing import seeded

Call = Callable[[], object]
PEERS, MEAN_PEERS = import_module("accuracy").PEERS, import_module("accuracy").MEAN_PEERS
DECILES = [round(index / 10, 1) for index in range(1, 10)]
PARTS = [index / 64 for index in range(1, 64)]
TIGHT = (0.0, 400_000.0)
"""Bounds for peers, which need some."""
SAMPLED = 0.3
"""Seconds of the processor over which is sampled where they go."""
EVERY = 0.001
ROOMS = {"engines": "reading", "statistics": "draws", "mechanisms": "draws"}
HOME = Path(dp.__file__).parent


class Timed(NamedTuple):
    """A question, how long it took before and should take, in milliseconds, and how peers are asked the same."""

    name: str
    call: Call
    before: float
    wanted: float
    peers: Mapping[str, Call] = {}
    where: Callable[[], str] | None = None
    """Says where the time goes, where that is another process."""


def mean_of_blocks(rows: Any) -> float:
    return float(np.mean(rows))


def small_questions() -> Iterator[Timed]:
    chance = np.random.default_rng(5)
    rows, many, parts = (chance.lognormal(10, 1, count) for count in (10_000, 10**6, 54_000))
    yield Timed("median, 10,000 rows", lambda: dp.median(rows, epsilon=1), 63, 4, quantiles_of_peers(rows, [0.5], 1.0))
    yield Timed("mean, 10,000 rows", lambda: dp.mean(rows, epsilon=1), 91, 6, means_of_peers(rows, 1.0))
    name = "nine deciles, 10,000 rows"
    yield Timed(name, lambda: dp.quantile(rows, DECILES, epsilon=1), 340, 15, quantiles_of_peers(rows, DECILES, 1.0))
    name = "median, 1e6 rows, epsilon .1"
    yield Timed(name, lambda: dp.median(many, epsilon=0.1), 713, 25, quantiles_of_peers(many, [0.5], 0.1))
    yield Timed("mean, 1e6 rows, epsilon .1", lambda: dp.mean(many, epsilon=0.1), 1006, 30, means_of_peers(many, 0.1))
    name = "63 quantiles, 54,000 rows"
    yield Timed(name, lambda: dp.quantile(parts, PARTS, epsilon=1), 1700, 200, quantiles_of_peers(parts, PARTS, 1.0))


@cache
def loaded(kind: str, name: str) -> Any:
    """A peer's function, None where it cannot be imported."""
    try:
        return {"quantile": PEERS, "mean": MEAN_PEERS}[kind][name][0]()
    except Exception as reason:  # whatever a peer's import raises, the benchmark goes on without it
        print(f"{name} is skipped: {type(reason).__name__}", file=sys.stderr)
        return None


def quantiles_of_peers(rows: Any, levels: list[float], epsilon: float) -> dict[str, Call]:
    def ask(quantile: Any) -> object:
        return [quantile(rows, level, epsilon / len(levels), TIGHT) for level in levels]

    return {name: partial(ask, found) for name in PEERS if (found := loaded("quantile", name)) is not None}


def means_of_peers(rows: Any, epsilon: float) -> dict[str, Call]:
    return {name: partial(found, rows, epsilon, TIGHT) for name in MEAN_PEERS if (found := loaded("mean", name)) is not None}


def session_questions(folder: Path) -> Iterator[Timed]:
    chance = np.random.default_rng(6)
    count = 10**5
    file = folder / "people.parquet"
    columns = {"income": chance.lognormal(10, 1, count), "region": chance.integers(0, 6, count)}
    pq.write_table(pa.table(columns), file)
    budget = dp.Budget(epsilon=10**6)
    asked = iter(range(10**9))

    def fresh() -> float:
        """An epsilon that was not asked for before, or the archive would answer."""
        return 1 + next(asked) / 10**9

    session = dp.protect(file, unit="row", budget=budget, ledger=folder / "ledger.sqlite")
    regions = session.group_by("region", keys={"region": list(range(6))})
    session.median("income", epsilon=1)
    yield Timed("median, session, Parquet of 1e5 rows", lambda: session.median("income", epsilon=fresh()), 156, 12)
    yield Timed("mean, session, Parquet of 1e5 rows", lambda: session.mean("income", epsilon=fresh()), 187, 15)
    yield Timed("median from the archive", lambda: session.median("income", epsilon=1), 0.58, 0.3)
    yield Timed("median in 6 groups", lambda: regions.median("income", epsilon=fresh()), 815, 40)
    yield Timed("session.plan of a median", lambda: session.plan("median", "income", epsilon=1), 180_000, 1000)


def plans() -> Iterator[Timed]:
    yield Timed("plan of a median, n=5000", lambda: dp.plan("median", n=5000, epsilon=1), 44_000, 500)
    yield Timed("plan of a mean, n=5000", lambda: dp.plan("mean", n=5000, epsilon=1), 120_000, 500)


def slow_questions() -> Iterator[Timed]:
    chance = np.random.default_rng(7)
    x = chance.normal(size=200_000)
    lists = {"x": x.tolist(), "y": (2 * x + chance.normal(size=200_000)).tolist()}
    yield Timed("regression on lists, 200,000 rows", lambda: dp.regression("y ~ x", lists, epsilon=1), 13_000, 2000)
    few = chance.normal(size=3000)
    options: dict[str, Any] = {"epsilon": 1, "blocks": 300, "rng": seeded(1)}
    yield Timed("sample_and_aggregate, 300 blocks", lambda: dp.sample_and_aggregate(mean_of_blocks, few, **options), 11_000, 1000)
    features = chance.normal(size=(3000, 2))
    outcome = features[:, 0] + features[:, 1] ** 2 + 0.5 * chance.normal(size=3000)
    yield Timed("select_model, 3,000 rows", lambda: dp.select_model(features, outcome, epsilon=1), 9600, 2000)


def commands(folder: Path) -> Iterator[Timed]:
    file, rows = folder / "people.csv", np.random.default_rng(8).lognormal(10, 1, 10_000)
    file.write_text("income\n" + "\n".join(f"{row:.2f}" for row in rows) + "\n")
    # an installed package is compiled, whatever is said about bytecode here
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    run = partial(subprocess.run, capture_output=True, env=compiled)

    def command(name: str, *words: str) -> Timed:
        call, imports = ([sys.executable, *options, "-m", "dpstats", *words] for options in ([], ["-X", "importtime"]))
        where = partial(packages_of, partial(run, imports, text=True))
        return Timed(f"dpstats {name}", partial(run, call), 1200, 350, where=where)

    yield command("--version", "--version")
    yield command("aks, a typo", "aks")
    yield command("--help", "--help")
    yield command("ask, a median of 10,000 rows", "ask", str(file), "median(income)", "--epsilon", "1")
    yield command("ask --help", "ask", "--help")
    yield command("demo", "demo")
    yield command("schema", "schema")
    yield command("ledger --help", "ledger", "--help")


def least_times(call: Call, calls: int) -> tuple[float, float]:
    """The least milliseconds of the processor, children included, and of the clock."""
    call()
    spent: list[tuple[float, float]] = []
    for _ in range(calls):
        used, clock = sum(_processor()), time.perf_counter()
        call()
        spent.append((1000 * (sum(_processor()) - used), 1000 * (time.perf_counter() - clock)))
        if sum(each for _, each in spent) > 20_000:
            break
    return min(used for used, _ in spent), min(clock for _, clock in spent)


def _processor() -> tuple[float, float]:
    """Seconds of the processor: of this process, and of its children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def rooms_of(call: Call) -> str:
    """Where the processor's time goes, in percent."""
    seen: Counter[str] = Counter()

    def note(_: int, frame: FrameType | None) -> None:
        while frame is not None and not (path := Path(frame.f_code.co_filename)).is_relative_to(HOME):
            frame = frame.f_back
        seen["bookkeeping" if frame is None else ROOMS.get(path.relative_to(HOME).parts[0], "bookkeeping")] += 1

    before = _processor()
    signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        while sum(_processor()) - sum(before) < SAMPLED:
            call()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    own, others = (after - start for after, start in zip(_processor(), before, strict=True))
    sampled = {room: own * count / seen.total() for room, count in seen.most_common()}
    return in_percent(sampled | {"other processes": others})


def packages_of(run: Callable[[], Any]) -> str:
    """Where the time of a command goes, in percent: into imports, by package, or into the rest."""
    start = time.perf_counter()
    imported: Counter[str] = Counter()
    for line in run().stderr.splitlines():
        if line.startswith("import time:") and (parts := line.partition(":")[2].split("|"))[0].strip().isdigit():
            package = parts[2].strip().partition(".")[0].lstrip("_")
            package = next((known for known in ("numpy", "polars", "dpstats") if package.startswith(known)), "Python")
            imported[f"importing {package}"] += int(parts[0])
    seconds = {name: spent / 10**6 for name, spent in imported.most_common()}
    return in_percent(seconds | {"the rest": time.perf_counter() - start - sum(seconds.values())})


def in_percent(spent: Mapping[str, float]) -> str:
    whole = sum(spent.values())
    return ", ".join(f"{name} {100 * each / whole:.0f}%" for name, each in spent.items() if each > 0.01 * whole)


def shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def where_it_goes(call: Call) -> None:
    profile = cProfile.Profile()
    profile.runcall(call)
    pstats.Stats(profile).sort_stats("cumulative").print_stats("dpstats", 12)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time what an analyst waits for.")
    parser.add_argument("--only", nargs="+", default=[""], help="questions whose names hold one of these words")
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="list the functions in which the time goes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    heads = ["question", "ms of processor", "ms of clock", "before", "faster", "wanted", "verdict", *PEERS, "where it goes"]
    print(f"| {' | '.join(heads)} |")
    print(f"| --- |{' ---: |' * 5} --- |{' ---: |' * len(PEERS)} --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for questions in (small_questions(), session_questions(folder), plans(), slow_questions(), commands(folder)):
            for name, call, before, wanted, peers, where in questions:
                if not any(word in name for word in options.only):
                    continue
                used, clock = least_times(call, options.calls)
                theirs = {peer: least_times(ask, options.calls)[0] for peer, ask in peers.items()}
                beside = [f"{shown(theirs[peer])} ({used / theirs[peer]:.2g}x)" if peer in theirs else "-" for peer in PEERS]
                verdict = "met" if used <= wanted else f"**{used / wanted:.1f} times**"
                cells = [name, *map(shown, (used, clock, before)), f"{before / used:.1f}x", shown(wanted), verdict, *beside]
                print(f"| {' | '.join(cells)} | {rooms_of(call) if where is None else where()} |", flush=True)
                if options.profile:
                    where_it_goes(call)


if __name__ == "__main__":
    main()
