"""How often tested methods reply and how far off they are, against the number of rows: the tables and pictures of
docs/propose-test-release.md.

    python benchmarks/replies.py [--repeats 100] [--epsilon 1] [--only iqr median] [--pictures docs/pictures]

Everything is simulated by `dp.plan`; no data is read. Some methods round to a public grid, and on one table of one scale
that can be luck: so every repeat has its own scale, between 1 and 10, and its own place. With `--pictures` the SVG files of
the page are written anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dpstats as dp
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.pictures import plot_plans
from dpstats.curator.planning.plan_rows import PlanRow, wilson_interval
from dpstats.curator.planning.shapes import SHAPES
from dpstats.foundations.registry import find_statistic

SIZES = (300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
OTHER_SIZES = (1_000, 10_000, 100_000)
STATISTICS = ("iqr", "median", "trimmed_mean")
DELTA = 1e-6


def main() -> None:
    """Parse, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--only", nargs="+", choices=STATISTICS, default=STATISTICS)
    parser.add_argument("--pictures", type=Path, help="where to write the pictures")
    arguments = parser.parse_args()
    dir(dp)  # fills the registry
    for statistic in arguments.only:
        methods = list(find_statistic(statistic).methods)
        plans = {method: forecast(statistic, method, SIZES, "normal", arguments) for method in methods}
        print_table(f"{statistic}, normal, epsilon {arguments.epsilon:g}, delta {DELTA:g}", plans)
        if arguments.pictures:
            arguments.pictures.mkdir(parents=True, exist_ok=True)
            plot_plans(arguments.pictures / f"replies-{statistic.replace('_', '-')}.svg", plans)
        for shape in ("lognormal", "heavy_tailed", "delays"):
            others = {method: forecast(statistic, method, OTHER_SIZES, shape, arguments) for method in methods}
            print_table(f"{statistic}, {shape}", others)


def forecast(statistic: str, method: str, sizes: Sequence[int], shape: str, arguments: argparse.Namespace) -> Plan:
    """What to expect of one method on tables of one shape and of many scales; errors are in interquartile ranges."""
    generator = np.random.default_rng(1)
    delta = DELTA if find_statistic(statistic).methods[method].needs_delta else 0
    plan = dp.plan(
        statistic,
        epsilon=arguments.epsilon,
        delta=delta,
        n=list(sizes),
        method=method,
        shape=[moved(shape, generator) for _ in range(arguments.repeats)],
        repeats=1,
        rng=dp.testing.seeded(1),
    )
    rows = [together([row for row in plan.rows if row.n == size], shape) for size in sizes]
    return replace(plan, rows=tuple(rows), shapes=((shape, SHAPES[shape].summary),))


def moved(name: str, generator: np.random.Generator) -> Callable[[Any], Any]:
    """A shape at a random scale and place; whole numbers stay as they are."""
    if name == "delays":
        return SHAPES[name].quantiles
    scale, place = 10 ** generator.uniform(0, 1), generator.uniform(-100, 100) if name != "lognormal" else 0.0
    return lambda q: place + scale * SHAPES[name].quantiles(q)


def together(rows: Sequence[PlanRow], shape: str) -> PlanRow:
    """One line for tables of many scales."""
    replied = [row for row in rows if row.reply_probability]
    errors = [row.relative_error_95 for row in replied if row.relative_error_95 is not None]
    typical, large = (float(np.quantile(errors, share)) if errors else None for share in (0.5, 0.95))
    return replace(
        rows[0],
        shape=shape,
        repeats=len(rows),
        reply_probability=len(replied) / len(rows),
        reply_interval=wilson_interval(len(replied), len(rows)),
        error_median=typical,
        error_95=large,
        relative_error_median=typical,
        relative_error_95=large,
    )


def print_table(title: str, plans: dict[str, Plan]) -> None:
    """A Markdown table: a line for each method, a column for each number of rows."""
    sizes = [row.n for row in next(iter(plans.values())).rows]
    print(f"\n{title}: 95% of replies within so many interquartile ranges\n")
    print("| method | " + " | ".join(f"{size:,}" for size in sizes) + " |")
    print("| --- |" + " --- |" * len(sizes))
    for method, plan in plans.items():
        print(f"| {method} | " + " | ".join(_cell(row) for row in plan.rows) + " |", flush=True)


def _cell(row: PlanRow) -> str:
    if row.error_95 is None:
        return "no reply"
    error = f"{row.error_95:.2g}" if row.error_95 < 100 else "over 100"
    return error if row.reply_probability == 1 else f"{error} ({100 * row.reply_probability:.0f}% reply)"


if __name__ == "__main__":
    main()
