"""How often private selections find what is there.

    python benchmarks/selection.py [--repeats 100] [--rows 10000] [--epsilon 1] [--only features models families blocks]

Tables are drawn anew for every repeat. `features`: a linear outcome of three to five features out of 20 or 50, with coefficients
of 0.5 to 1 standard deviations of the errors, independent or with a correlation of 0.5 among any two; how often exactly these are
found, by each method. `models` and `families`: how often the one that made the rows is named. `blocks`: how many blocks the
methods take. Tables are Markdown; docs/stability.md keeps a run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpstats as dp
from dpstats.foundations.results import NoReply
from dpstats.statistics.selection.block_counts import blocks_for_bounded_sets, blocks_for_marks, blocks_for_stable
from dpstats.testing import seeded

Array = NDArray[np.float64]
SECTIONS = ("blocks", "features", "models", "families")
DELTA = 1e-6
SEED = 7


class Sparse(NamedTuple):
    """A problem in which few features count."""

    features: int
    active: tuple[float, ...]
    correlation: float

    def draw(self, rows: int, chance: np.random.Generator) -> Array:
        """Features and the outcome; the active ones are first."""
        shared, own = np.sqrt(self.correlation), np.sqrt(1 - self.correlation)
        columns = shared * chance.normal(size=(rows, 1)) + own * chance.normal(size=(rows, self.features))
        outcome = columns[:, : len(self.active)] @ np.array(self.active) + chance.normal(size=rows)
        return np.column_stack([columns, outcome])

    def __str__(self) -> str:
        coefficients = ", ".join(f"{each:g}" for each in self.active)
        return f"{self.features} | {coefficients} | {self.correlation:g}"


PROBLEMS = [
    Sparse(features, active, correlation)
    for features in (20, 50)
    for active in ((0.5, 0.75, 1.0), (0.5, 0.6, 0.75, 0.9, 1.0))
    for correlation in (0.0, 0.5)
]
METHODS: dict[str, dict[str, Any]] = {
    "stable": {"method": "stable", "delta": DELTA},
    "each": {"method": "each"},
    "each, at_most=5": {"method": "each", "at_most": 5},
}


def find_features(raw_matrix: Array, seed: int, **options: Any) -> Any:
    """One private selection."""
    return dp.select_features(raw_matrix[:, :-1], raw_matrix[:, -1], rng=seeded(seed), **options)


def features(repeats: int, rows: int, epsilon: float) -> None:
    """How often exactly the active features are found."""
    print(f"\nRight set, wrong set, no reply in {repeats} tables of {rows:,} rows, epsilon={epsilon:g}, delta={DELTA:g}\n")
    print(f"| features | coefficients | correlation | {' | '.join(METHODS)} | seconds each |")
    print(f"| {' | '.join(['---'] * (4 + len(METHODS)))} |")
    for problem in PROBLEMS:
        cells, seconds = [], 0.0
        for options in METHODS.values():
            chance, right, refused, begun = np.random.default_rng(SEED), 0, 0, time.perf_counter()
            for seed in range(repeats):
                found = find_features(problem.draw(rows, chance), seed, epsilon=epsilon, **options)
                refused += isinstance(found, NoReply)
                right += not isinstance(found, NoReply) and found.value.indices == tuple(range(len(problem.active)))
            seconds = max(seconds, (time.perf_counter() - begun) / repeats)
            cells.append(f"{right}, {repeats - right - refused}, {refused}")
        print(f"| {problem} | {' | '.join(cells)} | {seconds:.2f} |", flush=True)


def blocks(epsilon: float) -> None:
    """How many blocks the methods take."""
    print(f"\nBlocks of select_features, epsilon={epsilon:g}\n\n| features | {' | '.join(METHODS)} |")
    print(f"| {' | '.join(['---'] * (1 + len(METHODS)))} |")
    for count in (10, 20, 50, 100, 200):
        stable = blocks_for_stable(Fraction(epsilon), Fraction(DELTA))
        marks, sets = blocks_for_marks(Fraction(epsilon), count), blocks_for_bounded_sets(Fraction(epsilon), count, 5)
        print(f"| {count} | {stable} | {marks} | {sets} |")


def bent(columns: Array) -> Array:
    return np.asarray(columns.sum(axis=1) + columns[:, 0] ** 2)


def straight(columns: Array) -> Array:
    return np.asarray(columns.sum(axis=1))


def stepped(columns: Array) -> Array:
    return np.asarray(2.0 * (columns[:, 0] > 0) * (columns[:, 1] > 0) + (columns[:, 2] > 0.5), dtype=np.float64)


MODELS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "straight": ("linear", straight),
    "bent": ("quadratic", bent),
    "stepped": ("forest", stepped),
}


def models(repeats: int, rows: int, epsilon: float) -> None:
    """How often the model that made the rows is named."""
    print(f"\nselect_model among linear, quadratic and forest, {rows:,} rows, epsilon={epsilon:g}: the right one in {repeats}\n")
    print("| rows | right | of |\n| --- | --- | --- |")
    for name, (model, shape) in MODELS.items():
        chance, right = np.random.default_rng(SEED), 0
        for seed in range(repeats):
            columns = chance.normal(size=(rows, 4))
            outcome = shape(columns) + 0.5 * chance.normal(size=rows)
            reply = dp.select_model(columns, outcome, models=["linear", "quadratic", "forest"], epsilon=epsilon, rng=seeded(seed))
            right += not isinstance(reply, NoReply) and reply.value == model
        print(f"| {name} | {right} | {repeats} |", flush=True)


FAMILIES: dict[Any, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda chance, rows: chance.normal(50, 10, rows),
    "lognormal": lambda chance, rows: chance.lognormal(10, 0.7, rows),
    "gamma": lambda chance, rows: chance.gamma(2, 3, rows),
    "weibull": lambda chance, rows: chance.weibull(2.5, rows),
}


def families(repeats: int, rows: int, epsilon: float) -> None:
    """How often the family that made the rows is named."""
    print(f"\nselect_family among {', '.join(FAMILIES)}, epsilon={epsilon:g}: the right one in {repeats}\n")
    sizes: Sequence[int] = (1_000, rows)
    print(f"| rows of | {' | '.join(f'{size:,} rows' for size in sizes)} |\n| --- | --- | --- |")
    for family, draw in FAMILIES.items():
        cells = []
        for size in sizes:
            chance, right = np.random.default_rng(SEED), 0
            for seed in range(repeats):
                reply = dp.select_family(draw(chance, size), families=list(FAMILIES), epsilon=epsilon, rng=seeded(seed))
                right += not isinstance(reply, NoReply) and reply.value == family
            cells.append(str(right))
        print(f"| {family} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="How often private selections find what is there.")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=SECTIONS)
    given = parser.parse_args()
    if "blocks" in given.only:
        blocks(given.epsilon)
    if "features" in given.only:
        features(given.repeats, given.rows, given.epsilon)
    if "models" in given.only:
        models(max(given.repeats // 5, 1), given.rows, given.epsilon)
    if "families" in given.only:
        families(given.repeats, given.rows, given.epsilon)


if __name__ == "__main__":
    main()
