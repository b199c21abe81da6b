"""How far off shares are that small databases, multiplicative weights and plain noise publish, for a table of two-valued columns.

    python benchmarks/universes.py [--repeats 20] [--epsilon 1] [--only 3/2 9/3]

The table is `fair` of statsmodels: 6,366 answers to a survey, cut into yes and no. Every method publishes all marginal tables of
some columns; the error is that of the worst share, over all cells of these tables, and its mean over repeats. Plain noise is
discrete noise on each cell of each marginal table, or on each combination of levels, which is then added up. The table is
Markdown.
"""

from __future__ import annotations

import argparse
import functools
import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from statsmodels.datasets import fair

from dpstats.accounting.concentration import zcdp_within
from dpstats.foundations.randomness import SystemSource
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import sample_discrete_gaussian
from dpstats.statistics.universe.multiplicative_weights import WeightsPlan, release_weights, weights_plan
from dpstats.statistics.universe.small_databases import draw_small_database, raw_scored_databases, small_database_plan
from dpstats.statistics.universe.universe import Universe
from dpstats.statistics.universe.workload import Workload

CUTS = (
    ("affairs", 0.01),
    ("rate_marriage", 4),
    ("religious", 3),
    ("children", 1),
    ("age", 32),
    ("educ", 16),
    ("yrs_married", 9),
    ("occupation", 4),
    ("occupation_husb", 4),
    ("rate_marriage", 5),
    ("religious", 2),
    ("children", 2),
    ("age", 27),
    ("educ", 14),
    ("yrs_married", 16),
)
"""Columns, and where yes begins; a table has the first few."""
SIZES = {3: 16, 4: 8, 5: 5}
"""Rows of a small database by the number of columns: as many as can be listed."""
CELLS = ("3/2", "4/2", "5/2", "9/2", "9/3", "15/2", "15/3")
DELTA = Fraction(1, 10**6)
Shares = NDArray[np.float64]


def counts_of(columns: int) -> NDArray[np.int64]:
    rows = fair.load_pandas().data
    codes = sum(
        (rows[name] >= cut).to_numpy().astype(np.int64) << place for place, (name, cut) in enumerate(reversed(CUTS[:columns]))
    )
    return np.bincount(codes, minlength=1 << columns).astype(np.int64)


def methods(workload: Workload, raw_counts: NDArray[np.int64], epsilon: Fraction) -> Iterator[tuple[str, Callable[[], Shares]]]:
    """Names of methods, each with a function that publishes all shares once."""
    universe, rng, raw_rows = workload.universe, SystemSource(), int(raw_counts.sum())
    columns = len(universe.columns)

    def shares(masses: NDArray[np.int64]) -> Shares:
        return np.asarray(workload.answers(masses) / masses.sum())

    if columns in SIZES:
        plan = small_database_plan(universe, ways=workload.ways, size=SIZES[columns], epsilon=epsilon)
        scores, places = raw_scored_databases(raw_counts, plan)
        best = int(np.argmin(scores[places]))
        yield f"best database of {plan.size} rows (not private)", lambda: shares(plan.databases.counts(best))

        def small() -> Shares:
            database = draw_small_database(raw_counts, plan, rng)
            masses = np.zeros(universe.sizes, dtype=np.int64)
            masses[tuple(np.array(database.rows).T)] = database.counts
            return shares(masses.ravel())

        yield f"small database of {plan.size} rows", small

    def weighted(plan: WeightsPlan) -> Shares:
        return shares(release_weights(raw_counts, plan, rng).masses)

    for name, words in (
        ("mwem", {}),
        ("mwem, averaged as printed", {"average": True}),
        ("mwem, delta 1e-6", {"delta": DELTA}),
    ):
        weights = weights_plan(universe, ways=workload.ways, epsilon=epsilon, **words)
        yield name, functools.partial(weighted, weights)
    raw_answers, tables = workload.answers(raw_counts), math.comb(columns, workload.ways)

    def noisy(raw: NDArray[np.int64], moved: int) -> NDArray[np.int64]:
        return raw + sample_discrete_laplace(moved / epsilon, len(raw), rng)

    yield "Laplace noise on marginal tables", lambda: noisy(raw_answers, tables) / raw_rows
    variance = tables / (2 * zcdp_within(epsilon, DELTA))
    gaussian = functools.partial(sample_discrete_gaussian, variance, len(raw_answers), rng)
    yield "Gaussian noise on marginal tables, delta 1e-6", lambda: (raw_answers + gaussian()) / raw_rows
    yield "Laplace noise on all combinations", lambda: workload.answers(noisy(raw_counts, 1)) / raw_rows


def measure(cell: str, epsilon: Fraction, repeats: int) -> dict[str, str]:
    columns, ways = map(int, cell.split("/"))
    raw_counts = counts_of(columns)
    workload = Workload(Universe(tuple(f"{name} {cut:g}" for name, cut in CUTS[:columns]), ((0, 1),) * columns), ways)
    truth = workload.answers(raw_counts) / raw_counts.sum()
    found = {}
    for name, publish in methods(workload, raw_counts, epsilon):
        start = time.process_time()
        errors = [float(np.abs(publish() - truth).max()) for _ in range(1 if "not private" in name else repeats)]
        found[name] = f"{np.mean(errors):.4f} ({(time.process_time() - start) / len(errors):.2g} s)"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    parser.add_argument("--only", nargs="+", default=CELLS, metavar="COLUMNS/WAYS")
    words = parser.parse_args()
    print("| columns/ways | method | worst share off by (seconds) |\n| --- | --- | --- |", flush=True)
    for cell in words.only:
        for name, error in measure(cell, words.epsilon, words.repeats).items():
            print(f"| {cell} | {name} | {error} |", flush=True)


if __name__ == "__main__":
    main()
