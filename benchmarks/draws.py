"""How seldom the draws that all statistics share land where no row is: a million of them.

    python benchmarks/draws.py [--quantiles 1000000] [--limits 200000] [--processes 2]

A quantile is astray if it lies farther beyond all rows than 10 times their range, and limits are if they reach so far. Tables of
3,000 rows are drawn from the shapes on which draws once escaped (real_tables/drawn.py). Every draw has a seed of its own, so that
the first ones astray, which a line names, can be drawn again. Most statistics look back at such a draw before they reply, so this
is what looking back has to catch; `nonsense.py` counts what is left of it in replies.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.nonsense import largest_share
from benchmarks.real_tables.drawn import PREFIX, drawn
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.summaries import Column
from dpstats.statistics.universal.decimals import float_of
from dpstats.statistics.universal.limits import draw_limits
from dpstats.statistics.universal.single import digits_of, draw_quantile

SEED, ROWS, BATCH = 35, 3_000, 10_000
SHAPES = (
    "share 1.5%",
    "top code, 15 digits",
    "ties below",
    "brackets 0.9",
    "hours",
    "rare counts",
    "test scores",
    "incomes with zeros",
    "lopsided",
    "sentinels 0.9%",
)
QUANTILES = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
EPSILONS = (Fraction(33, 100), Fraction(1))
FAR = 10
Reach = Callable[[Column, Fraction, int], tuple[float, float]]


def quantile_reach(quantile: Fraction) -> Reach:
    """Draws one quantile, to the digits that its number of rows can tell."""
    add_remove = Neighbors.ADD_REMOVE

    def draw(column: Column, epsilon: Fraction, seed: int) -> tuple[float, float]:
        digits = digits_of(quantile, ROWS, epsilon, add_remove)
        value = float_of(draw_quantile(column, quantile, epsilon, add_remove, seeded(seed), digits))
        return value, value

    return draw


def limits_reach(column: Column, epsilon: Fraction, seed: int) -> tuple[float, float]:
    """Draws the limits of a mean."""
    limits = draw_limits(column, epsilon, seeded(seed))
    middle = float(limits.middle)
    return middle - float(limits.below.reach), middle + float(limits.above.reach)


CASES: dict[str, Reach] = {
    **{f"quantile {float(quantile):g}": quantile_reach(quantile) for quantile in QUANTILES},
    "limits": limits_reach,
}


def astray(case: str, shape: str, epsilon: Fraction, first: int, draws: int) -> list[int]:
    """The seeds from `first` on whose draw is astray."""
    chance = np.random.default_rng([SEED, *shape.encode()])
    rows = chance.choice(drawn(f"{PREFIX} {shape}")["x"].to_numpy(), ROWS)
    column, (low, high) = as_column(rows), (float(rows.min()), float(rows.max()))
    far, found = FAR * (high - low), []
    for seed in range(first, first + draws):
        least, most = CASES[case](column, epsilon, seed)
        if least < low - far or most > high + far:
            found.append(seed)
    return found


def main() -> None:
    """Parse, draw, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quantiles", type=int, default=1_000_000, help="draws of a quantile, over all shapes")
    parser.add_argument("--limits", type=int, default=200_000, help="draws of limits, over all shapes")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    print("| draw | shape | epsilon | draws | astray | at most, of a million | seeds of the first |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("fork")) as pool:
        for case in CASES:
            cases = len(QUANTILES) if case != "limits" else 1
            total = arguments.limits if case == "limits" else arguments.quantiles
            draws = -(-total // (cases * len(SHAPES) * len(EPSILONS)))
            for shape in SHAPES:
                for epsilon in EPSILONS:
                    firsts = range(0, draws, BATCH)
                    parts = [min(BATCH, draws - first) for first in firsts]
                    number = len(parts)
                    found = pool.map(astray, [case] * number, [shape] * number, [epsilon] * number, firsts, parts)
                    seeds = [seed for each in found for seed in each]
                    most = 1e6 * largest_share(len(seeds), draws)
                    first_seeds = " ".join(map(str, seeds[:5]))
                    print(
                        f"| {case} | {shape} | {float(epsilon):g} | {draws:,} | {len(seeds)} | {most:.0f} | {first_seeds} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
