"""What an analyst waits for: one question of each kind, beside the figures of November 2026 before draws were made on arrays.

    python benchmarks/latency.py [--only median plan] [--calls 5] [--profile]

Times are the least of several calls, in milliseconds, of the processor and of the clock; the first call, which imports, does not
count. `before` was measured on one core of another machine, so a ratio is only about right; peers are timed in the same run.
`--profile` says where the time of each question goes. The table is Markdown.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpstats as dp
from dpstats.testing import seeded

Call = Callable[[], object]
DECILES = [round(index / 10, 1) for index in range(1, 10)]
PARTS = [index / 64 for index in range(1, 64)]
TIGHT = (0.0, 400_000.0)
"""Bounds for peers, which need some."""


class Timed(NamedTuple):
    """A question, how long it took before and should take, in milliseconds, and how a peer is asked the same."""

    name: str
    call: Call
    before: float
    wanted: float
    peer: Call | None = None


def mean_of_blocks(rows: Any) -> float:
    return float(np.mean(rows))


def small_questions() -> Iterator[Timed]:
    chance = np.random.default_rng(5)
    rows, many, parts = (chance.lognormal(10, 1, count) for count in (10_000, 10**6, 54_000))
    yield Timed("median, 10,000 rows", lambda: dp.median(rows, epsilon=1), 63, 4, peer_median(rows, 1.0))
    yield Timed("mean, 10,000 rows", lambda: dp.mean(rows, epsilon=1), 91, 6, peer_mean(rows, 1.0))
    yield Timed("nine deciles, 10,000 rows", lambda: dp.quantile(rows, DECILES, epsilon=1), 340, 15)
    yield Timed("median, 1e6 rows, epsilon .1", lambda: dp.median(many, epsilon=0.1), 713, 25, peer_median(many, 0.1))
    yield Timed("mean, 1e6 rows, epsilon .1", lambda: dp.mean(many, epsilon=0.1), 1006, 30, peer_mean(many, 0.1))
    yield Timed("63 quantiles, 54,000 rows", lambda: dp.quantile(parts, PARTS, epsilon=1), 1700, 200)


def peer_median(rows: Any, epsilon: float) -> Call | None:
    try:
        from diffprivlib import tools
    except ImportError:
        return None
    return lambda: tools.median(rows, epsilon=epsilon, bounds=TIGHT)


def peer_mean(rows: Any, epsilon: float) -> Call | None:
    try:
        from diffprivlib import tools
    except ImportError:
        return None
    return lambda: tools.mean(rows, epsilon=epsilon, bounds=TIGHT)


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
    command = [sys.executable, "-m", "dpstats"]
    yield Timed("dpstats --version", lambda: subprocess.run([*command, "--version"], capture_output=True), 1200, 350)
    yield Timed("dpstats, a typo", lambda: subprocess.run([*command, "aks"], capture_output=True), 1200, 350)


def least_times(call: Call, calls: int) -> tuple[float, float]:
    """The least milliseconds of the processor, children included, and of the clock."""
    call()
    spent: list[tuple[float, float]] = []
    for _ in range(calls):
        used, clock = _processor(), time.perf_counter()
        call()
        spent.append((1000 * (_processor() - used), 1000 * (time.perf_counter() - clock)))
        if sum(each for _, each in spent) > 20_000:
            break
    return min(used for used, _ in spent), min(clock for _, clock in spent)


def _processor() -> float:
    import resource

    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


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
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    print("| question | ms of processor | ms of clock | before | faster | wanted | verdict | diffprivlib with bounds |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for questions in (small_questions(), session_questions(Path(folder)), plans(), slow_questions()):
            for name, call, before, wanted, peer in questions:
                if any(word in name for word in options.only):
                    used, clock = least_times(call, options.calls)
                    theirs = "-" if peer is None else shown(least_times(peer, options.calls)[0])
                    verdict = "met" if used <= wanted else f"**{used / wanted:.1f} times**"
                    cells = [name, *map(shown, (used, clock, before)), f"{before / used:.1f}x", shown(wanted), verdict, theirs]
                    print(f"| {' | '.join(cells)} |", flush=True)
                    if options.profile:
                        where_it_goes(call)


if __name__ == "__main__":
    main()
