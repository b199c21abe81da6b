"""How good regressions are without bounds: beside least squares, and beside the peers' packages.

    python benchmarks/regressions.py [--repeats 20] [--only peers errors models limits methods speed] [--at 2/1000] [--delta 0]

Tables are drawn anew for every repeat. `errors` is the root mean square error of the linear predictor over the rows, against
the population's, over that of least squares; once of all of it, and once of the coefficients alone, each in standard deviations
of its feature; and how often the 95% intervals of coefficients hold. `peers` is the largest error of a coefficient, its median
over repeats: from least squares on the same rows, and from the population's. `models` is the root mean square
error of coefficients over the standard errors that they have without privacy; `limits` is how often intervals hold in hard cases;
`methods` sets all methods side by side, for one feature. A peer that cannot be imported is skipped, and the
output says why. Tables are Markdown; docs/regression.md keeps a run.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpstats as dp
from dpstats.testing import seeded

Array = NDArray[np.float64]
Fit = Callable[[Array, Array], Array]
"""Features, outcome -> slopes."""

SEED = 5
EXPLAINED = 0.8
"""The part of the outcome's variance that features explain, with errors of unit variance."""
AT = ("2/1000", "5/5000", "10/5000", "20/20000", "2/10000", "5/10000")
SECTIONS = ("peers", "errors", "models", "limits", "methods", "speed")


class Drawn(NamedTuple):
    """A table and the population's coefficients, the intercept first."""

    features: Array
    outcome: Array
    truth: Array


def independent(n: int, p: int, chance: np.random.Generator) -> Array:
    return chance.normal(size=(n, p))


def far_off(n: int, p: int, chance: np.random.Generator) -> Array:
    return chance.normal(1e4, 10, (n, p))


def correlated(n: int, p: int, chance: np.random.Generator) -> Array:
    """Any two features have a correlation of 0.9."""
    return math.sqrt(0.9) * chance.normal(size=(n, 1)) + math.sqrt(0.1) * chance.normal(size=(n, p))


def heavy(n: int, p: int, chance: np.random.Generator) -> Array:
    return chance.standard_t(3, (n, p)) * 100


def lognormal(n: int, p: int, chance: np.random.Generator) -> Array:
    return chance.lognormal(0, 1, (n, p))


def marks(n: int, p: int, chance: np.random.Generator) -> Array:
    """Half of the features are 0 or 1, which 10% to 50% of the rows have; the others are normal."""
    columns = chance.normal(50, 10, (n, p))
    half = (p + 1) // 2
    columns[:, :half] = chance.random((n, half)) < np.linspace(0.1, 0.5, half)
    return columns


def scales(n: int, p: int, chance: np.random.Generator) -> Array:
    """Features of ten orders of magnitude."""
    units: Array = 10.0 ** np.linspace(-4, 6, p)
    return (chance.normal(size=(n, p)) + 1) * units


def normal_errors(n: int, chance: np.random.Generator) -> Array:
    return chance.normal(size=n)


def student_errors(n: int, chance: np.random.Generator) -> Array:
    return chance.standard_t(3, n) / math.sqrt(3)


def skewed_errors(n: int, chance: np.random.Generator) -> Array:
    return chance.exponential(size=n) - 1


def contaminated_errors(n: int, chance: np.random.Generator) -> Array:
    """A tenth of them is ten times as large."""
    return np.where(chance.random(n) < 0.1, 10.0, 1.0) * chance.normal(size=n)


SHAPES: dict[str, tuple[Callable[..., Array], Callable[..., Array]]] = {
    "independent": (independent, normal_errors),
    "correlated": (correlated, normal_errors),
    "far off, t3 errors": (far_off, student_errors),
    "heavy tails, contaminated errors": (heavy, contaminated_errors),
    "marks": (marks, normal_errors),
    "scales": (scales, normal_errors),
    "lognormal, skewed errors": (lognormal, skewed_errors),
}


def draw(shape: str, n: int, p: int, chance: np.random.Generator) -> Drawn:
    """A table: each standardised feature counts 1 or -1."""
    features, errors = SHAPES[shape]
    columns = features(n, p, chance)
    slopes = np.where(np.arange(p) % 2 == 0, 1.0, -1.0) / columns.std(axis=0)
    signal = columns @ slopes
    noise = signal.std() * math.sqrt((1 - EXPLAINED) / EXPLAINED)
    return Drawn(columns, 7 + signal + noise * errors(n, chance), np.concatenate([[7.0], slopes]))


def least_squares(features: Array, outcome: Array) -> Array:
    """The intercept and the coefficients."""
    middle = features.mean(axis=0)
    centred = np.column_stack([np.ones(len(outcome)), features - middle])
    found = np.linalg.lstsq(centred, outcome, rcond=None)[0]
    found[0] -= middle @ found[1:]
    return np.asarray(found)


def of_rows(features: Array, error: Array) -> float:
    """The root mean square of what an error of coefficients does to the linear predictor."""
    return math.sqrt(float(np.mean((error[0] + features @ error[1:]) ** 2)))


def of_slopes(features: Array, error: Array) -> float:
    """The root mean square error of coefficients, in standard deviations of their features."""
    return math.sqrt(float(np.mean((error[1:] * features.std(axis=0)) ** 2)))


def root_mean_square(errors: Sequence[float]) -> float:
    return math.sqrt(sum(error**2 for error in errors) / len(errors)) if errors else math.nan


class Compared(NamedTuple):
    """A regression beside least squares, over repeats."""

    error: float
    slopes: float
    held: float
    replies: int


def errors_table(places: Sequence[str], deltas: Sequence[float], epsilon: float, repeats: int, shapes: Sequence[str]) -> None:
    found: dict[str, list[Compared]] = {}
    for place in places:
        p, n = (int(part) for part in place.split("/"))
        for delta in deltas:
            label = f"{p}, {n:,}, {f'{delta:g}' if delta else 'none'}"
            found[label] = [compare(shape, n, p, epsilon, delta, repeats) for shape in shapes]
            print(f"  {label}: {[tuple(round(each, 2) for each in one) for one in found[label]]}", flush=True)
    for title, cell in (
        ("error over least squares'", lambda one: f"{one.error:.2f}"),
        ("coefficients' error over least squares'", lambda one: f"{one.slopes:.2f}"),
        ("intervals of coefficients hold", lambda one: f"{one.held:.0%}"),
        ("no reply", lambda one: f"{repeats - one.replies} of {repeats}"),
    ):
        print(f"\n{title}\n\n| features, rows, delta | {' | '.join(shapes)} |")
        print(f"| --- |{' --- |' * len(shapes)}")
        for label, row in found.items():
            print(f"| {label} | {' | '.join(map(cell, row))} |")


def compare(shape: str, n: int, p: int, epsilon: float, delta: float, repeats: int) -> Compared:
    ours: list[tuple[float, float]] = []
    plain: list[tuple[float, float]] = []
    held: list[float] = []
    for repeat in range(repeats):
        chance = np.random.default_rng([SEED, n, p, repeat])
        table = draw(shape, n, p, chance)
        error = least_squares(table.features, table.outcome) - table.truth
        plain.append((of_rows(table.features, error), of_slopes(table.features, error)))
        release = dp.linear_regression(table.features, table.outcome, epsilon=epsilon, delta=delta, rng=seeded(repeat))
        if isinstance(release, dp.NoReply):
            continue
        error = release.value.params - table.truth
        ours.append((of_rows(table.features, error), of_slopes(table.features, error)))
        inside = [each.low <= true <= each.high for each, true in zip(release.intervals[1:], table.truth[1:], strict=True)]
        held.append(float(np.mean(inside)))
    ratios = [root_mean_square([each[i] for each in ours]) / root_mean_square([each[i] for each in plain]) for i in (0, 1)]
    return Compared(ratios[0], ratios[1], float(np.mean(held)) if held else math.nan, len(ours))


# Beside the peers -----------------------------------------------------------------------------------------------------------


def peer_fits() -> dict[str, Fit]:
    """Slopes by each method, and by the peer if it is there."""
    fits = {
        "dpstats": ours(),
        "dpstats, delta=1e-6": ours(delta=1e-6),
        "dpstats, short_cut": ours(method="short_cut"),
    }
    try:
        from diffprivlib.models import LinearRegression
    except Exception as error:
        print(f"diffprivlib is skipped: {type(error).__name__}")
        return fits

    def diffprivlib(looser: float) -> Fit:
        def fit(features: Array, outcome: Array) -> Array:
            low, high = np.quantile(features, [0.001, 0.999], axis=0)
            reach, middle = (high - low) / 2 * looser, (high + low) / 2
            bottom, top = np.quantile(outcome, [0.001, 0.999])
            half, centre = (top - bottom) / 2 * looser, (top + bottom) / 2
            model: Any = LinearRegression(
                epsilon=1.0, bounds_X=(middle - reach, middle + reach), bounds_y=(centre - half, centre + half)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return np.asarray(model.fit(features, outcome).coef_)

        return fit

    return {**fits, "diffprivlib, tight bounds": diffprivlib(1.0), "diffprivlib, loose bounds": diffprivlib(1000.0)}


def ours(**keywords: Any) -> Fit:
    """Slopes without bounds."""

    def slopes(features: Array, outcome: Array) -> Array:
        release: Any = dp.linear_regression(features, outcome, epsilon=1, **keywords)
        return np.asarray(release.value.coef)

    return slopes


def peers_table(repeats: int) -> None:
    print("| features | fit | error from least squares | error from the population | aim |")
    print("| --- | --- | --- | --- | --- |")
    for p, aim in ((1, 0.006), (2, 0.01), (5, 0.02)):
        for name, fit in peer_fits().items():
            near, true = [], []
            for repeat in range(repeats):
                chance = np.random.default_rng([SEED, p, repeat])
                features = chance.normal(50, 15, (10_000, p)) / 15
                outcome = 3 + features @ np.ones(p) + chance.normal(size=10_000)
                slopes = fit(features, outcome)
                near.append(float(np.max(np.abs(slopes - least_squares(features, outcome)[1:]))))
                true.append(float(np.max(np.abs(slopes - 1.0))))
            print(f"| {p} | {name} | {np.median(near):.2g} | {np.median(true):.2g} | {aim:g} |", flush=True)


# Other models ---------------------------------------------------------------------------------------------------------------


class Model(NamedTuple):
    """A regression, outcomes for it, and the standard errors that it has without privacy."""

    ask: Callable[..., Any]
    outcomes: Callable[[Array, np.random.Generator], Array]
    """Of linear predictors."""
    information: Callable[[Array], Array]
    """Of linear predictors: what a row says about its own."""
    intercept: float
    slope: float
    shift: float = 0.0
    """How far the intercept is from that of the linear predictor."""


def quantile_model(quantile: float) -> Model:
    """Normal errors: the density at the quantile tells the standard errors."""
    normal = NormalDist()
    place = normal.inv_cdf(quantile)
    known = normal.pdf(place) ** 2 / (quantile * (1 - quantile))
    return Model(
        partial(dp.quantile_regression, quantile=quantile),
        lambda predictors, chance: predictors + chance.normal(size=len(predictors)),
        lambda predictors: np.full(len(predictors), known),
        1.0,
        1.0,
        place,
    )


def logistic_model(intercept: float) -> Model:
    return Model(
        dp.logistic_regression,
        lambda predictors, chance: (chance.random(len(predictors)) < 1 / (1 + np.exp(-predictors))).astype(float),
        lambda predictors: np.asarray(np.exp(predictors) / (1 + np.exp(predictors)) ** 2),
        intercept,
        0.8,
    )


def poisson_model(intercept: float) -> Model:
    return Model(
        dp.poisson_regression, lambda predictors, chance: chance.poisson(np.exp(predictors)).astype(float), np.exp, intercept, 0.4
    )


MODELS = {
    "median": quantile_model(0.5),
    "quantile 0.9": quantile_model(0.9),
    "logistic, half are 1": logistic_model(0.0),
    "logistic, one in twenty is 1": logistic_model(-3.0),
    "Poisson, mean near 2": poisson_model(0.5),
    "Poisson, mean near 0.15": poisson_model(-2.0),
    "Poisson, mean near 400": poisson_model(6.0),
}


def models_table(repeats: int, deltas: Sequence[float], epsilon: float) -> None:
    print("| model | features, rows | delta | coefficients' error over their standard errors | intervals hold | no reply |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, model in MODELS.items():
        for p, n in ((2, 10_000), (5, 10_000)):
            for delta in deltas:
                print(f"| {name} | {p}, {n:,} | {delta:g} | {compare_model(model, n, p, epsilon, delta, repeats)} |", flush=True)


def compare_model(model: Model, n: int, p: int, epsilon: float, delta: float, repeats: int) -> str:
    errors: list[float] = []
    held: list[bool] = []
    replies = 0
    for repeat in range(repeats):
        chance = np.random.default_rng([SEED, n, p, repeat])
        features = chance.normal(3, 2, (n, p))
        slopes = np.where(np.arange(p) % 2 == 0, model.slope, -model.slope) / 2
        predictors = model.intercept + (features - 3) @ slopes
        full = np.column_stack([np.ones(n), features])
        weights = model.information(predictors)
        standard = np.sqrt(np.diag(np.linalg.inv((full * weights[:, None]).T @ full)))[1:]
        release = model.ask(features, model.outcomes(predictors, chance), epsilon=epsilon, delta=delta, rng=seeded(repeat))
        if isinstance(release, dp.NoReply):
            continue
        replies += 1
        errors += list((release.value.coef - slopes) / standard)
        held += [each.low <= true <= each.high for each, true in zip(release.intervals[1:], slopes, strict=True)]
    return f"{root_mean_square(errors):.2f} | {np.mean(held) if held else math.nan:.1%} | {repeats - replies} of {repeats}"


# Limits and other methods ---------------------------------------------------------------------------------------------------


class Hard(NamedTuple):
    """A case at a limit: its rows, the spread of its errors, and the quantile that is asked for; None for the mean."""

    rows: int
    errors: Callable[[Array, np.random.Generator], Array]
    quantile: float | None = None


def spreading(features: Array, chance: np.random.Generator) -> Array:
    """Normal errors whose spread grows with the first feature."""
    return (1 + 0.5 * np.abs(features[:, 0])) * chance.normal(size=len(features))


HARD = {
    "mean, exponential errors": [Hard(n, lambda features, chance: skewed_errors(len(features), chance)) for n in (5_000, 20_000)],
    "quantile 0.9": [Hard(n, lambda features, chance: chance.normal(size=len(features)), 0.9) for n in (2_000, 10_000)],
    "quantile 0.95": [Hard(n, lambda features, chance: chance.normal(size=len(features)), 0.95) for n in (5_000, 20_000)],
    "quantile 0.9, spread grows": [Hard(n, spreading, 0.9) for n in (5_000, 20_000)],
}


def limits_table(repeats: int, deltas: Sequence[float]) -> None:
    print("| asked for | rows | delta | intercepts hold | coefficients hold | no reply |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, cases in HARD.items():
        for case in cases:
            for delta in deltas:
                print(f"| {name} | {case.rows:,} | {delta:g} | {held_at(case, delta, repeats)} |", flush=True)


def held_at(case: Hard, delta: float, repeats: int) -> str:
    """How often intervals hold: features are from 0 to 10, their coefficients 1 and 2, and a quantile adds to all of them."""
    held: list[list[bool]] = []
    place = 0.0 if case.quantile is None else NormalDist().inv_cdf(case.quantile)
    truth = (3 + place, 1 + (0.5 * place if case.errors is spreading else 0.0), 2)
    for repeat in range(repeats):
        chance = np.random.default_rng([SEED, case.rows, repeat])
        features = chance.uniform(0, 10, (case.rows, 2))
        outcome = 3 + features @ np.array([1.0, 2.0]) + case.errors(features, chance)
        common: dict[str, Any] = {"epsilon": 1, "delta": delta, "rng": seeded(repeat)}
        if case.quantile is None:
            release = dp.linear_regression(features, outcome, **common)
        else:
            release = dp.quantile_regression(features, outcome, case.quantile, **common)
        if not isinstance(release, dp.NoReply):
            held.append([each.low <= true <= each.high for each, true in zip(release.intervals, truth, strict=True)])
    if not held:
        return f"- | - | {repeats} of {repeats}"
    shares = np.mean(held, axis=0)
    return f"{shares[0]:.0%} | {np.mean(shares[1:]):.0%} | {repeats - len(held)} of {repeats}"


METHODS: dict[Any, float] = {
    "steps": 0.0,
    "short_cut": 0.0,
    "robust": 1e-6,
    "dwork-lei": 1e-6,
}
"""Each with its delta."""


def methods_table(repeats: int) -> None:
    print("| method | rows | coefficient's error over least squares' | no reply |")
    print("| --- | --- | --- | --- |")
    for method, delta in METHODS.items():
        for n in (10_000, 50_000):
            ours: list[float] = []
            plain: list[float] = []
            for repeat in range(repeats):
                table = draw("independent", n, 1, np.random.default_rng([SEED, n, repeat]))
                plain.append(float(least_squares(table.features, table.outcome)[1] - table.truth[1]))
                release = dp.linear_regression(
                    table.features, table.outcome, epsilon=1, delta=delta, method=method, rng=seeded(repeat)
                )
                if not isinstance(release, dp.NoReply):
                    ours.append(float(release.value.coef[0] - table.truth[1]))
            ratio = f"{root_mean_square(ours) / root_mean_square(plain):.1f}" if ours else "-"
            print(f"| {method} | {n:,} | {ratio} | {repeats - len(ours)} of {repeats} |", flush=True)


# Time and memory ------------------------------------------------------------------------------------------------------------


def speed_table() -> None:
    print("| rows | features | delta | seconds | over least squares' | extra memory over the data |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n, p in ((100_000, 5), (1_000_000, 10)):
        table = draw("independent", n, p, np.random.default_rng(SEED))
        start = time.perf_counter()
        np.linalg.lstsq(np.column_stack([np.ones(n), table.features]), table.outcome, rcond=None)
        plain = time.perf_counter() - start
        for delta in (0.0, 1e-6):
            start = time.perf_counter()
            dp.linear_regression(table.features, table.outcome, epsilon=1, delta=delta)
            took = time.perf_counter() - start
            tracemalloc.start()
            dp.linear_regression(table.features, table.outcome, epsilon=1, delta=delta)
            extra = tracemalloc.get_traced_memory()[1] / (table.features.nbytes + table.outcome.nbytes)
            tracemalloc.stop()
            print(f"| {n:,} | {p} | {delta:g} | {took:.2f} | {took / plain:.1f} | {extra:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--at", nargs="+", metavar="FEATURES/ROWS", default=list(AT))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", nargs="+", type=float, default=[0.0, 1e-6])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    arguments = parser.parse_args()
    if "peers" in arguments.only:
        peers_table(arguments.repeats)
    if "errors" in arguments.only:
        errors_table(arguments.at, arguments.delta, arguments.epsilon, arguments.repeats, arguments.shapes)
    if "models" in arguments.only:
        models_table(arguments.repeats, arguments.delta, arguments.epsilon)
    if "limits" in arguments.only:
        limits_table(arguments.repeats, arguments.delta)
    if "methods" in arguments.only:
        methods_table(arguments.repeats)
    if "speed" in arguments.only:
        speed_table()


if __name__ == "__main__":
    main()
