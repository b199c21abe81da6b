"""How good maximum likelihood is without bounds and within them: beside what any estimate can reach.

    python benchmarks/likelihood.py [families] [efficiency] [--repeats 40] [--rows 100000] [--epsilon 1] [--only gamma normal]

Rows are drawn anew for every repeat. Errors are in Cramer-Rao roots, the least standard errors that an estimate without bias can
have. How far an estimate is from the one without privacy of the same rows should not go together with the latter's error, which
is about 1 in these units: so a ratio is the root of 1 + the mean square of that distance, which few repeats tell. `direct` is
the plain ratio, of errors from the truth, and in brackets that of the estimate without privacy: both show the luck of the rows.
`families`: these for each family and method, over all parameters and for the worst of them. `efficiency`: the ratio's square
against the number of rows. `+-` is one standard error. Slow ones get fewer repeats. Tables are Markdown.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpstats as dp
from dpstats.statistics.aggregation.row_blocks import RowBlocks
from dpstats.statistics.likelihood.families import Options, family_for
from dpstats.testing import seeded

Array = NDArray[np.float64]
SEED = 11
DELTA = 1e-6
FEWEST = 3
"""Repeats that are made however long they take."""
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SCORES, GAUSSIAN, BLOCKS, T_STAR, STATISTICS = "scores", "gaussian_scores", "blocks", "t_star", "sufficient_statistics"
METHODS = (SCORES, GAUSSIAN, BLOCKS, T_STAR, STATISTICS)
SECTIONS = ("families", "efficiency")


@dataclass(frozen=True)
class Case:
    """A family at its true parameters, with public ranges for T*."""

    family: str
    truth: tuple[float, ...]
    bounds: tuple[tuple[float, float], ...]
    draw: Callable[[int, np.random.Generator], Array] | None = None
    """Rows by columns; None where the family can draw them itself."""
    information: Callable[[], Array] | None = None
    """Of one row; None where the family says it."""
    options: dict[str, Any] = field(default_factory=dict)
    columns: int = 1
    regular: tuple[int, ...] | None = None
    """Which parameters have a Cramer-Rao bound; None for all."""

    @property
    def law(self) -> Any:
        """The family itself."""
        return family_for(self.family, Options(self.columns, **self.options))

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that it has."""
        law = self.law
        has_scores = all(hasattr(law, name) for name in ("scores", "information", "sample"))
        missing = (() if has_scores else (SCORES, GAUSSIAN)) + (() if hasattr(law, "statistics") else (STATISTICS,))
        return tuple(method for method in METHODS if method not in missing)

    def rows(self, count: int, chance: np.random.Generator) -> Array:
        """So many of them."""
        return self.draw(count, chance) if self.draw else np.asarray(self.law.sample(np.array(self.truth), count, chance))

    def root(self, count: int) -> Array:
        """The Cramer-Rao root of each parameter."""
        information = self.information() if self.information else self.law.information(np.array(self.truth))
        return np.sqrt(np.diag(np.linalg.inv(information)) / count)

    def ask(self, rows: Array, method: str, epsilon: float, seed: int) -> Any:
        """One release."""
        keywords: dict[str, Any] = {"bounds": list(self.bounds)} if method == T_STAR else {}
        if method == GAUSSIAN:
            keywords["delta"] = DELTA
        given = (rows[:, 0],) if rows.shape[1] == 1 else (rows,)
        return dp.mle(self.family, *given, epsilon=epsilon, method=method, rng=seeded(seed), **self.options, **keywords)


FEATURES = 2
SLOPES = np.array([0.5, 1.0, -0.5])
"""The intercept and the coefficients of regressions; features are standard normal."""


def regression_rows(outcome: Callable[[Array, np.random.Generator], Array]) -> Callable[[int, np.random.Generator], Array]:
    """Rows of features and an outcome that is made of the predictor."""

    def draw(count: int, chance: np.random.Generator) -> Array:
        features = chance.normal(size=(count, FEATURES))
        return np.column_stack([features, outcome(SLOPES[0] + features @ SLOPES[1:], chance)])

    return draw


def regression_information(weight: Callable[[Array], Array]) -> Callable[[], Array]:
    """The mean over many features of their products, times what a row says about its predictor."""

    def information() -> Array:
        features = np.random.default_rng(SEED).normal(size=(1 << 18, FEATURES))
        full = np.column_stack([np.ones(len(features)), features])
        return np.asarray((full * weight(full @ SLOPES)[:, None]).T @ full / len(full))

    return information


def _logistic(predictors: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-predictors)))


SLOPE_BOUNDS = ((-2.5, 2.5), (-5.0, 5.0), (-2.5, 2.5))
CASES = {
    "gamma": Case("gamma", (2.0, 3.0), ((0.4, 10.0), (0.6, 15.0))),
    "normal": Case("normal", (50.0, 10.0), ((0.0, 100.0), (2.0, 50.0))),
    "lognormal": Case("lognormal", (10.0, 0.7), ((6.5, 13.5), (0.14, 3.5))),
    "exponential": Case("exponential", (5.0,), ((1.0, 25.0),)),
    "weibull": Case("weibull", (1.5, 2.0), ((0.3, 7.5), (0.4, 10.0))),
    "beta": Case("beta", (2.0, 3.0), ((0.4, 10.0), (0.6, 15.0))),
    "pareto": Case(
        "pareto",
        (3.0, 2.0),
        ((0.6, 15.0), (0.4, 10.0)),
        draw=lambda count, chance: 2.0 * (1 + chance.pareto(3.0, (count, 1))),
        information=lambda: np.diag([1 / 9.0, 1.0]),
        regular=(0,),
    ),
    "poisson": Case("poisson", (4.0,), ((0.8, 20.0),)),
    "binomial": Case("binomial", (0.3,), ((0.06, 0.9),), options={"trials": 10}),
    "negative_binomial": Case("negative_binomial", (5.0, 0.5), ((1.0, 25.0), (0.1, 2.5))),
    "normal_mixture": Case(
        "normal_mixture",
        (0.4, 0.0, 4.0, 1.0, 1.5),
        ((0.1, 0.9), (-5.0, 5.0), (0.0, 10.0), (0.2, 5.0), (0.3, 7.5)),
        options={"components": 2},
    ),
    "multivariate_normal": Case(
        "multivariate_normal",
        (1.0, 2.0, 4.0, 1.0, 2.0),
        ((-9.0, 11.0), (-5.0, 9.0), (0.8, 20.0), (-5.0, 5.0), (0.4, 10.0)),
        columns=2,
    ),
    "linear": Case(
        "linear",
        (*SLOPES.tolist(), 1.0),
        (*SLOPE_BOUNDS, (0.2, 5.0)),
        draw=regression_rows(lambda predictors, chance: predictors + chance.normal(size=len(predictors))),
        information=lambda: np.diag([1.0, 1.0, 1.0, 2.0]),
        columns=FEATURES + 1,
    ),
    "logistic": Case(
        "logistic",
        tuple(SLOPES.tolist()),
        SLOPE_BOUNDS,
        draw=regression_rows(lambda predictors, chance: (chance.random(len(predictors)) < _logistic(predictors)).astype(float)),
        information=regression_information(lambda predictors: _logistic(predictors) * (1 - _logistic(predictors))),
        columns=FEATURES + 1,
    ),
    "poisson_regression": Case(
        "poisson_regression",
        tuple(SLOPES.tolist()),
        SLOPE_BOUNDS,
        draw=regression_rows(lambda predictors, chance: chance.poisson(np.exp(predictors)).astype(float)),
        information=regression_information(np.exp),
        columns=FEATURES + 1,
    ),
    "scipy gumbel_r": Case("gumbel_r", (3.0, 2.0), ((-7.0, 13.0), (0.4, 10.0))),
}


class Run(NamedTuple):
    """How much is measured: so many repeats, or fewer where they take longer than so many seconds."""

    repeats: int
    seconds: float


class Measured(NamedTuple):
    """Errors in Cramer-Rao roots, repeats by parameters."""

    distances: Array
    """From the estimate without privacy."""
    errors: Array
    """From the truth."""
    plain: Array
    """Those of the estimate without privacy, from the truth."""
    held: Array
    """Whether intervals hold the truth: 1 or 0, NaN where there is none."""
    refused: int
    seconds: float
    """Of one release."""

    @property
    def repeats(self) -> int:
        """How many there were."""
        return len(self.errors) + self.refused

    def efficiency(self, places: Sequence[int] | None = None) -> tuple[float, float]:
        """The mean squared error over the Cramer-Rao bound, and one standard error of it."""
        chosen = slice(None) if places is None else list(places)
        added = (self.distances[:, chosen] ** 2).mean(axis=1)
        if not len(added):
            return math.nan, math.nan
        return 1 + float(added.mean()), float(added.std(ddof=1) / math.sqrt(len(added))) if len(added) > 1 else math.nan

    def ratio(self, places: Sequence[int] | None = None) -> str:
        """The root of it, in words."""
        square, error = self.efficiency(places)
        if math.isnan(square):
            return "-"
        root = math.sqrt(max(square, 0.0))
        return f"{root:.2f} +- {error / 2 / max(root, 0.1):.2f}"

    def direct(self, places: Sequence[int]) -> str:
        """The root mean square errors from the truth: of the method, and of the estimate without privacy."""
        if not len(self.errors):
            return "-"
        roots = [math.sqrt(float((errors[:, list(places)] ** 2).mean())) for errors in (self.errors, self.plain)]
        return f"{roots[0]:.2f} ({roots[1]:.2f})"

    def worst(self, places: Sequence[int]) -> int:
        """The parameter with the largest ratio."""
        return max(places, key=lambda place: self.efficiency([place])[0])


def measure(case: Case, method: str, rows: int, epsilon: float, run: Run) -> Measured:
    """A method on freshly drawn rows; the seeds are those of the repeat, so that all methods see the same rows."""
    truth, root = np.array(case.truth), case.root(rows)
    distances, errors, plain, held, refused, seconds = [], [], [], [], 0, 0.0
    started = time.perf_counter()
    for repeat in range(run.repeats):
        if repeat >= FEWEST and time.perf_counter() - started > run.seconds:
            break
        drawn = case.rows(rows, np.random.default_rng([SEED, rows, repeat]))
        begun = time.perf_counter()
        reply = case.ask(drawn, method, epsilon, repeat)
        seconds += time.perf_counter() - begun
        if isinstance(reply, dp.NoReply):
            refused += 1
            continue
        found, best = np.array(reply.value.values), without_privacy(case, drawn)
        distances.append((found - best) / root)
        errors.append((found - truth) / root)
        plain.append((best - truth) / root)
        held.append(holding(reply.intervals, truth))
    width = (-1, len(truth))
    return Measured(
        np.array(distances).reshape(width),
        np.array(errors).reshape(width),
        np.array(plain).reshape(width),
        np.array(held).reshape(width),
        refused,
        seconds / (len(errors) + refused),
    )


def holding(intervals: Sequence[Any], truth: Array) -> list[float]:
    """For each parameter 1 where its interval holds the truth, else 0; NaN where the release has no intervals."""
    if not intervals:
        return [math.nan] * len(truth)
    return [float(each.low <= true <= each.high) for each, true in zip(intervals, truth, strict=True)]


def without_privacy(case: Case, rows: Array) -> Array:
    """The estimate of all rows as one block."""
    return np.asarray(case.law.fit_blocks(RowBlocks(rows, np.zeros(len(rows), dtype=np.int64), 1))[0])


def families_table(cases: Iterable[str], methods: Sequence[str], rows: int, epsilon: float, run: Run) -> None:
    """Every family by every method."""
    print(f"\nError over the Cramer-Rao root, {rows:,} rows, epsilon={epsilon:g}\n")
    print(
        "| family | method | all parameters | direct | the worst | which | intervals hold | no reply | repeats | seconds each |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in cases:
        case = CASES[name]
        places = case.regular or tuple(range(len(case.truth)))
        for method in case.methods:
            if method not in methods:
                continue
            found = measure(case, method, rows, epsilon, run)
            worst = found.worst(places)
            held = found.held[:, list(places)]
            holds = f"{np.nanmean(held):.0%}" if np.isfinite(held).any() else "-"
            ratios = (found.ratio(places), found.direct(places), found.ratio([worst]), case.law.parameters[worst])
            cells = (*ratios, holds, f"{found.refused}", f"{found.repeats}")
            print(f"| {name} | {method} | {' | '.join(cells)} | {found.seconds:.2f} |", flush=True)


def efficiency_table(cases: Iterable[str], methods: Sequence[str], sizes: Sequence[int], epsilon: float, run: Run) -> None:
    """The mean squared error over the Cramer-Rao bound against the number of rows."""
    print(f"\nMean squared error over the Cramer-Rao bound, epsilon={epsilon:g}, at most {run.repeats} repeats; (no reply)\n")
    print(f"| family | method | {' | '.join(f'{size:,}' for size in sizes)} |\n| --- | --- |{' --- |' * len(sizes)}")
    for name in cases:
        case = CASES[name]
        for method in case.methods:
            if method not in methods:
                continue
            cells = []
            for size in sizes:
                found = measure(case, method, size, epsilon, run)
                square, error = found.efficiency(case.regular)
                refused = f" ({found.refused})" if found.refused else ""
                cells.append(f"{square:.3g} +- {error:.1g}{refused}")
            print(f"| {name} | {method} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the sections that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=list(SECTIONS))
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=12.0, help="for one family, method and number of rows")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    given = parser.parse_args()
    run = Run(given.repeats, given.seconds)
    if "families" in given.sections:
        families_table(given.only, given.methods, given.rows, given.epsilon, run)
    if "efficiency" in given.sections:
        efficiency_table(given.only, given.methods, given.sizes, given.epsilon, run)


if __name__ == "__main__":
    main()
