"""How close covariances and correlations come without bounds, and how often their intervals hold the truth.

    python benchmarks/correlations.py [--repeats 100] [--only pearson kendall ...]

Pairs are synthetic, drawn anew for every repeat. `error` is the median distance from the exact statistic of the same rows, for a
covariance in units of both standard deviations; `held` how often the 95% interval held the population's value, `half` the
median of half its width. `tight` and `loose` are the errors of Laplace noise on the same sums with bounds given, and all of
epsilon for it: the population's 0.1% and 99.9% quantiles, and a range ten times as wide; in floats, with no claim. OpenDP,
diffprivlib and python-dp have no covariance or correlation. The tables are Markdown; docs/correlations.md keeps a run.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import dpstats as dp
from dpstats.statistics.clipped.cells import weights_of
from dpstats.statistics.paired.moments import moments_of
from dpstats.statistics.paired.products import ProductCells

Pairs = NDArray[np.float64]
SEED = 8
DEGREE = 2
LOOSER = 10
SETTINGS = [(1000, 0.3), (1000, 1.0), (10_000, 0.3), (10_000, 1.0)]
STATISTICS = ("covariance", "pearson", "spearman", "kendall")
TRUTH_ROWS = 1_000_000
CHANCE = np.random.default_rng(SEED)


def normal(rho: float) -> Callable[[int, np.random.Generator], Pairs]:
    """Standard normal pairs."""

    def draw(rows: int, chance: np.random.Generator) -> Pairs:
        first, second = chance.standard_normal((2, rows))
        return np.stack([first, rho * first + math.sqrt(1 - rho**2) * second])

    return draw


def student(rows: int, chance: np.random.Generator) -> Pairs:
    """Student's pairs, three degrees of freedom."""
    return np.asarray(normal(0.5)(rows, chance) / np.sqrt(chance.chisquare(3, rows) / 3))


def whole(rows: int, chance: np.random.Generator) -> Pairs:
    """Whole numbers: a few small ones, and ages."""
    first, second = normal(0.5)(rows, chance)
    return np.stack([np.round(3 + 2 * first), np.round(40 + 12 * second)])


def zeros(rows: int, chance: np.random.Generator) -> Pairs:
    """Two fifths of the rows have 0 in both columns."""
    return np.where(chance.random(rows) < 0.4, 0.0, np.exp(normal(0.5)(rows, chance)))


SHAPES: dict[str, Callable[[int, np.random.Generator], Pairs]] = {
    "normal, 0": normal(0.0),
    "normal, .5": normal(0.5),
    "normal, .9": normal(0.9),
    "lognormal": lambda rows, chance: np.exp(0.75 * normal(0.5)(rows, chance)),
    "t3": student,
    "whole": whole,
    "40% zeros": zeros,
}
EXACT: dict[str, Callable[[Pairs], float]] = {
    "covariance": lambda pairs: float(np.cov(pairs)[0, 1]),
    "pearson": lambda pairs: float(stats.pearsonr(*pairs).statistic),
    "spearman": lambda pairs: float(stats.spearmanr(*pairs).statistic),
    "kendall": lambda pairs: float(stats.kendalltau(*pairs).statistic),
}


class Population(NamedTuple):
    """What is known of a shape."""

    truth: dict[str, float]
    unit: float
    """The product of both standard deviations."""
    bounds: Pairs


@functools.cache
def population(shape: str) -> Population:
    pairs = SHAPES[shape](TRUTH_ROWS, np.random.default_rng(SEED))
    truth = {name: exact(pairs) for name, exact in EXACT.items()}
    return Population(truth, float(np.prod(pairs.std(axis=1))), np.quantile(pairs, [0.001, 0.999], axis=1).T)


def ours(name: Any, pairs: Pairs, epsilon: float) -> dp.Release:
    release = (
        dp.covariance(pairs[0], pairs[1], epsilon=epsilon)
        if name == "covariance"
        else dp.correlation(pairs[0], pairs[1], kind=name, epsilon=epsilon)
    )
    assert isinstance(release, dp.Release)
    return release


def with_bounds(name: str, pairs: Pairs, epsilon: float, bounds: Pairs) -> float:
    """The same sums, rows cut off at given bounds."""
    radius = (bounds[:, 1] - bounds[:, 0]) / 2
    u, v = np.clip((pairs - bounds.mean(axis=1, keepdims=True)) / radius[:, None], -1, 1)
    sums = np.array([[np.sum(u**i * v**j) for j in range(DEGREE + 1)] for i in range(DEGREE + 1)])
    to_cells = np.linalg.inv(np.array([weights_of(DEGREE, power) for power in range(DEGREE + 1)]))
    noise = CHANCE.laplace(0, 1 / epsilon, sums.shape)
    moments = moments_of(ProductCells(to_cells @ sums @ to_cells.T + noise, epsilon))
    return moments.covariance * float(np.prod(radius)) if name == "covariance" else moments.correlation


def looser(bounds: Pairs) -> Pairs:
    middle, radius = bounds.mean(axis=1, keepdims=True), np.diff(bounds) / 2
    return np.asarray(middle + LOOSER * np.concatenate([-radius, radius], axis=1))


def line(name: str, shape: str, rows: int, epsilon: float, repeats: int) -> str:
    known = population(shape)
    unit = known.unit if name == "covariance" else 1.0
    errors: dict[str, list[float]] = {"ours": [], "tight": [], "loose": []}
    held, halves = 0, []
    for _ in range(repeats):
        pairs = SHAPES[shape](rows, CHANCE)
        exact, release = EXACT[name](pairs), ours(name, pairs, epsilon)
        assert release.interval is not None
        errors["ours"].append(abs(release.value - exact) / unit)
        held += release.interval.low <= known.truth[name] <= release.interval.high
        halves.append((release.interval.high - release.interval.low) / 2 / unit)
        if name in ("covariance", "pearson"):
            errors["tight"].append(abs(with_bounds(name, pairs, epsilon, known.bounds) - exact) / unit)
            errors["loose"].append(abs(with_bounds(name, pairs, epsilon, looser(known.bounds)) - exact) / unit)
    medians = [f"{np.median(each):.3f}" if each else "-" for each in errors.values()]
    return f"| {shape} | {rows:,} | {epsilon:g} | {' | '.join(medians)} | {100 * held / repeats:.0f}% | {np.median(halves):.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=STATISTICS, default=STATISTICS)
    chosen = parser.parse_args()
    for name in chosen.only:
        print(f"\n### {name}\n\n| shape | rows | epsilon | error | tight | loose | held | half |", flush=True)
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for rows, epsilon in SETTINGS:
            for shape in SHAPES:
                print(line(name, shape, rows, epsilon, chosen.repeats), flush=True)


if __name__ == "__main__":
    main()
