"""How long one release takes, against polars' and numpy's own functions and the peers, in the same run.

    python benchmarks/speed.py [--rows 1000000 10000000] [--large] [--quick]

Ratios count, milliseconds belong to the machine. Every time is the least of several calls; the rows are N(50, 15), epsilon is 1.
The requirement: `dp.median` of ten million rows takes at most 8 times as long as polars' own quantile. The tables are Markdown.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import dpstats as dp

Rows = NDArray[np.float64]
Call = Callable[[], object]

SMALL = 1_000
ROWS = (10**6, 10**7)
LARGE_ROWS = 10**8
REQUIRED_AT = 10**7
MOST_OF_POLARS = 8
TIGHT = (3.6, 96.4)
"""The 0.1% and 99.9% quantiles of the rows, for the peers."""
CANDIDATES = 1_000
PERCENTILES = [round(index / 100, 2) for index in range(1, 100)]


class Peer(NamedTuple):
    """A peer's median with tight bounds, and the most rows it is timed on."""

    name: str
    load: Callable[[Rows], Call]
    most_rows: int


def diffprivlib_median(rows: Rows) -> Call:
    from diffprivlib import tools

    return lambda: tools.median(rows, epsilon=1.0, bounds=TIGHT)


def opendp_median(rows: Rows) -> Call:
    import opendp.prelude as peer

    peer.enable_features("contrib")
    space = peer.vector_domain(peer.atom_domain(T=float, nan=False)), peer.symmetric_distance()
    candidates = np.linspace(*TIGHT, CANDIDATES).tolist()
    measurement = space >> peer.m.then_private_quantile(peer.max_divergence(), candidates, 0.5, 1.0)
    return lambda: measurement(rows)


def python_dp_median(rows: Rows) -> Call:
    from pydp.algorithms.laplacian import Median

    values = rows.tolist()
    return lambda: Median(epsilon=1.0, lower_bound=TIGHT[0], upper_bound=TIGHT[1], dtype="float").quick_result(values)


PEERS = (
    Peer("diffprivlib median", diffprivlib_median, 10**6),
    Peer(f"OpenDP median, {CANDIDATES:,} candidates", opendp_median, 10**7),
    Peer("python-dp median (of a list)", python_dp_median, 10**7),
)


def own_calls(rows: Rows, series: Any) -> dict[str, Call]:
    return {
        "polars quantile": lambda: series.quantile(0.5),
        "np.partition": lambda: np.partition(rows, len(rows) // 2),
        "np.sum": lambda: np.sum(rows),
    }


def our_calls(rows: Rows, series: Any, minutes: NDArray[np.int64]) -> dict[str, Call]:
    return {
        "dp.median": lambda: dp.median(rows, epsilon=1),
        "dp.median, polars Series": lambda: dp.median(series, epsilon=1),
        "dp.median, whole numbers": lambda: dp.median(minutes, epsilon=1),
        "dp.quantile .25 .5 .75": lambda: dp.quantile(rows, [0.25, 0.5, 0.75], epsilon=1),
        "dp.iqr": lambda: dp.iqr(rows, epsilon=1),
        "dp.quantile .99": lambda: dp.quantile(rows, 0.99, epsilon=1),
        "dp.quantile, all 99": lambda: dp.quantile(rows, PERCENTILES, epsilon=1),
        "dp.count": lambda: dp.count(rows, epsilon=1),
        "dp.iqr, dwork-lei": lambda: dp.iqr(rows, epsilon=1, delta=1e-6, method="dwork-lei"),
        "dp.iqr, ptr": lambda: dp.iqr(rows, epsilon=1, delta=1e-6, method="ptr"),
        "dp.median, dwork-lei": lambda: dp.median(rows, epsilon=1, delta=1e-6, method="dwork-lei"),
        "dp.trimmed_mean": lambda: dp.trimmed_mean(rows, epsilon=1, delta=1e-6),
        "dp.mode, whole numbers": lambda: dp.mode(minutes, epsilon=1, delta=1e-6),
    }


def least_seconds(call: Call, patience: float) -> float:
    """The least of 3 to 30 calls, fewer where they take longer than `patience` seconds together."""
    best, spent, calls = float("inf"), 0.0, 0
    while calls < 1 or (calls < 3 and spent < 4 * patience) or (calls < 30 and spent < patience):
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        best, spent, calls = min(best, seconds), spent + seconds, calls + 1
    return best


def shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def peer_calls(rows: Rows) -> dict[str, Call]:
    found = {}
    for peer in PEERS:
        if len(rows) > peer.most_rows:
            continue
        try:
            found[peer.name] = peer.load(rows)
        except Exception as reason:  # whatever a peer's import raises, the benchmark goes on without it
            print(f"{peer.name} is skipped: {type(reason).__name__}: {str(reason).splitlines()[0]}")
    return found


def report(count: int, patience: float) -> None:
    chance = np.random.default_rng(5)
    rows = chance.normal(50, 15, count)
    minutes, series = np.round(rows).astype(np.int64), pl.Series("rows", rows)
    ours, own, theirs = our_calls(rows, series, minutes), own_calls(rows, series), peer_calls(rows)
    seconds: dict[str, float] = {}
    for _ in range(2):  # one round is not enough on a machine whose load changes
        for name, call in (own | ours | theirs).items():
            seconds[name] = min(seconds.get(name, float("inf")), least_seconds(call, patience))
    print(f"\n### {count:,} rows\n")
    print(f"| call | ms | {' | '.join(f'/ {name}' for name in own)} |")
    print(f"| --- | ---: |{' ---: |' * len(own)}")
    for name in ours | theirs | own:
        ratios = " | ".join(shown(seconds[name] / seconds[peer]) if name not in own else "" for peer in own)
        print(f"| {name} | {shown(1000 * seconds[name])} | {ratios} |")
    if count == REQUIRED_AT:
        ratio = seconds["dp.median"] / seconds["polars quantile"]
        verdict = "met" if ratio <= MOST_OF_POLARS else "**missed**"
        print(
            f"\nRequired: dp.median within {MOST_OF_POLARS} times polars' own quantile. Measured: {ratio:.1f} times, {verdict}."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Time one release against numpy, polars and the peers.")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--large", action="store_true", help=f"also {LARGE_ROWS:,} rows, which takes about 5 GB")
    parser.add_argument("--quick", action="store_true", help="fewer calls")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    for count in (SMALL, *options.rows, *([LARGE_ROWS] if options.large else [])):
        report(count, 0.3 if options.quick else 2.0)


if __name__ == "__main__":
    main()
