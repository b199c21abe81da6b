"""How long windows of order statistics and exact power sums take, against numpy and polars in the same run.

    python benchmarks/windows.py [--rows 100000 1000000 10000000] [--large] [--repeats 7]

Ratios count, milliseconds belong to the machine. `np.partition` works on a copy and is given the window's ends; polars
computes one quantile. Power sums clip, round and add exactly, to 26 binary digits; numpy's and polars' moments, up to the same
power, do none of that. A ratio below 1 means that ours is the faster. Each time is the least of several.
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

from dpstats.engines.exact.powers import product_sums
from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import Clip, WindowRequest

ROWS = (10**5, 10**6, 10**7)
LARGE_ROWS = 10**8
MARGIN = 1000
MEDIAN = WindowRequest(Fraction(1, 2), MARGIN)
QUARTILES = [WindowRequest(Fraction(1, 4), MARGIN), WindowRequest(Fraction(3, 4), MARGIN)]
CLIP = Clip(-(2**25), 2**26, Fraction(1, 2**18))
DEGREES = (1, 2, 3, 4)
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


def numpy_moments(column: NDArray[Any], degree: int) -> list[Any]:
    """What numpy does for the same sums, rounded."""
    powers, sums = np.ones(1), []
    for _ in range(degree):
        powers = powers * column
        sums.append(powers.sum())
    return sums


def polars_moments(series: pl.Series, degree: int) -> pl.DataFrame:
    """The same by polars."""
    number = pl.col("x").cast(pl.Float64)
    return series.to_frame("x").select((number**power).sum().alias(str(power)) for power in range(1, degree + 1))


def compare_sums(rows: int, name: str, column: NDArray[Any], degree: int, repeats: int) -> str:
    series = pl.Series(column)
    ours = least_time(lambda: as_column(column).power_sums(CLIP, degree), repeats)
    peers = [
        least_time(lambda: np.sum(column), repeats),
        least_time(lambda: numpy_moments(column, degree), repeats),
        least_time(lambda: polars_moments(series, degree), repeats),
    ]
    ratios = "".join(f"{ours / peer:>17.2f}" for peer in peers)
    return f"{rows:>11,}  {name:<8}{degree:>7}{1000 * ours:>10.2f}{10**9 * ours / rows:>9.2f}{ratios}"


def compare_products(rows: int, repeats: int) -> str:
    x, y = (np.random.default_rng(seed).normal(50, 15, rows) for seed in (1, 2))
    ours = least_time(lambda: product_sums(x, y, (CLIP, CLIP), 2), repeats)
    peer = least_time(lambda: np.cov(x, y), repeats)
    times = f"{1000 * ours:.2f} ms, {10**9 * ours / rows:.2f} ns a row, {ours / peer:.2f} of np.cov"
    return f"{rows:>11,}  pairs, all products up to squares: {times}"


def print_sums(all_rows: list[int], repeats: int) -> None:
    heads = "".join(f"{'/ ' + peer:>17}" for peer in ("np.sum", "numpy moments", "polars moments"))
    print(f"\nExact power sums.\n{'rows':>11}  {'shape':<8}{'degree':>7}{'ours, ms':>10}{'ns/row':>9}{heads}")
    for rows in all_rows:
        for name, column in shapes(rows):
            for degree in DEGREES if name == "normal" else DEGREES[2:3]:
                print(compare_sums(rows, name, column, degree, repeats), flush=True)
        print(compare_products(rows, repeats), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time windows of order statistics and power sums against numpy and polars.")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--large", action="store_true", help=f"also {LARGE_ROWS:,} rows, which takes about 3 GB")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    heads = "".join(f"{'/ ' + peer:>17}" for peer in PEERS)
    print(f"A window of {MARGIN} rows either side of the median; 'two' is both quartiles over the median alone.")
    print(f"{'rows':>11}  {'shape':<8}{'ours, ms':>10}{'two':>11}{heads}")
    all_rows = [*options.rows, *([LARGE_ROWS] if options.large else [])]
    for rows in all_rows:
        for name, column in shapes(rows):
            print(compare(rows, name, column, options.repeats), flush=True)
    print_sums(all_rows, options.repeats)


if __name__ == "__main__":
    main()
