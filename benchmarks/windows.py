"""How long a window of order statistics takes, against numpy and polars in the same run.

    python benchmarks/windows.py [--rows 100000 1000000 10000000] [--large] [--repeats 7]

Ratios count, milliseconds belong to the machine. `np.partition` works on a copy and is given the window's ends; polars
computes one quantile. A ratio below 1 means that ours is the faster. Each time is the least of several.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpstats.engines.arrays import as_column
from dpstats.foundations.summaries import WindowRequest

ROWS = (10**5, 10**6, 10**7)
LARGE_ROWS = 10**8
MARGIN = 1000
MEDIAN = WindowRequest(Fraction(1, 2), MARGIN)
QUARTILES = [WindowRequest(Fraction(1, 4), MARGIN), WindowRequest(Fraction(3, 4), MARGIN)]
PEERS = ("np.partition", "np.sort", "polars quantile", "np.sum")


def shapes(rows: int) -> Iterator[tuple[str, NDArray[Any]]]:
    chance = np.random.default_rng(1)
    normal = chance.normal(50, 15, rows)
    yield "normal", normal
    yield "ties", np.round(normal)
    yield "sorted", np.sort(normal)
    yield "int64", chance.integers(-(10**15), 10**15, rows)
    yield "float32", normal.astype(np.float32)


def least_time(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(rows: int, name: str, column: NDArray[Any], repeats: int) -> str:
    first, last = MEDIAN.ranks(rows)
    series = pl.Series(column)
    ours = least_time(lambda: as_column(column).order_windows([MEDIAN]), repeats)
    two = least_time(lambda: as_column(column).order_windows(QUARTILES), repeats)
    peers = [
        least_time(lambda: np.partition(column, (first - 1, last - 1)), repeats),
        least_time(lambda: np.sort(column), 1 if rows > 10**6 else 3),
        least_time(lambda: series.quantile(0.5), repeats),
        least_time(lambda: np.sum(column), repeats),
    ]
    ratios = "".join(f"{ours / peer:>17.2f}" for peer in peers)
    return f"{rows:>11,}  {name:<8}{1000 * ours:>10.2f}{two / ours:>11.2f}{ratios}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time windows of order statistics against numpy and polars.")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--large", action="store_true", help=f"also {LARGE_ROWS:,} rows, which takes about 3 GB")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    heads = "".join(f"{'/ ' + peer:>17}" for peer in PEERS)
    print(f"A window of {MARGIN} rows either side of the median; 'two' is both quartiles over the median alone.")
    print(f"{'rows':>11}  {'shape':<8}{'ours, ms':>10}{'two':>11}{heads}")
    for rows in (*options.rows, *([LARGE_ROWS] if options.large else [])):
        for name, column in shapes(rows):
            print(compare(rows, name, column, options.repeats), flush=True)


if __name__ == "__main__":
    main()
