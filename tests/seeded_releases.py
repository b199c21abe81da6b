"""Seeded releases of every statistic by every method under both relations, and predictions, to the last digit.

The rows are made by whole numbers alone, so that they are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import dpstats as dp
import dpstats.statistics  # announces them to the registry
from dpstats.foundations import registry
from dpstats.statistics.likelihood.families import KNOWN, RowKind
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.synthetic.data import SyntheticData

ROWS = 3000
EPSILON, MUCH = 6, 50
MUCH_DELTA = 1e-2
TESTED = ("dwork-lei", "stable", "robust")
"""Methods that test whether an answer is stable. Of a few rows they say so where many are tied, with much epsilon and delta."""
BY_OPTIMISER = ("scipy.gumbel_r", "scipy.laplace")
"""Laws of scipy; by scores alone, because blocks are fitted by an optimiser that stops where the last digits tell it to. Without
Student's: the last released digit of its scores, which are differences of scipy's logarithms, goes by the processor."""


def _shares(seed: int) -> Any:
    """Uniform numbers, by a linear congruence."""
    state, found = seed, []
    for _ in range(ROWS):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((state >> 11) / 2**53)
    return np.array(found)


def _bells(seed: int) -> Any:
    """Bell-shaped numbers of three decimals: sums of four uniform ones."""
    return np.round((_shares(seed) + _shares(seed + 1) + _shares(seed + 2) + _shares(seed + 3) - 2) * 1.7, 3)


A, B, C = _bells(1), _bells(11), _bells(21)
X = np.column_stack([A, B])
Y = np.round(1.5 + 2 * A - B + C, 3)
POSITIVE = np.round(np.abs(A) * 10 + 1 + 5 * _shares(31), 2)
COUNTS = np.floor(np.abs(A) * 3)
MARKS = (A + C > 0).astype(float)
WITHIN = np.clip(np.round(_shares(41), 3), 0.001, 0.999)
LABELS = np.where(A > 0.3, "a", np.where(B > 0, "b", "c"))
SIDES = np.where(C > 0, "x", "y")

TIED = np.where(_shares(51) < 0.97, 5.0, POSITIVE)

TABLE = {"pay": POSITIVE, "size": COUNTS, "label": LABELS, "side": SIDES}
LEVELS = {"label": ["a", "b", "c"], "side": ["x", "y"]}

FEATURES = {"pay": POSITIVE, "size": COUNTS, "side": SIDES}
CLASSES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((FEATURES, MARKS), {"levels": {"side": ["x", "y"]}}),
    ((X, LABELS), {"classes": ["a", "b", "c"]}),
]

ASKED: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "additive_classifier": CLASSES,
    "association_test": [((LABELS, SIDES), {})],
    "cdf": [((POSITIVE,), {"points": 9})],
    "anova": [((A, LABELS), {"groups": ["a", "b", "c"]})],
    "association_rules": [((TABLE,), {"levels": LEVELS, "k": 5})],
    "chi_square_test": [((LABELS, SIDES), {"row_labels": ["a", "b", "c"], "column_labels": ["x", "y"]})],
    "contingency_table": [((TABLE,), {"columns": ["label", "side", "pay"], "levels": LEVELS, "bins": {"pay": [0, 5, 10, 20]}})],
    "correlation": [((A, Y), {"kind": kind}) for kind in ("pearson", "spearman", "kendall")],
    "covariance": [((A, Y), {})],
    "density": [((POSITIVE,), {}), ((X,), {})],
    "gaussian_mixture": [((X,), {"components": 2})],
    "frequent_itemsets": [((TABLE,), {"levels": LEVELS, "k": 8})],
    "decision_tree": CLASSES,
    "goodness_of_fit_test": [((LABELS,), {"probabilities": {"a": 0.3, "b": 0.4, "c": 0.3}})],
    "interquantile_range": [((POSITIVE,), {"q": [0.2, 0.8]})],
    "kmeans": [((X,), {"clusters": 3})],
    "ks_test": [((A,), {"distribution": law, "loc": 0, "scale": 1}) for law in ("normal", "laplace", "cauchy", "lognormal")],
    "linear_regression": [((X, Y), {}), ((A[:, None], Y), {})],
    "logistic_regression": [((X, MARKS), {})],
    "mann_whitney": [((A, SIDES), {"groups": ["x", "y"]})],
    "median_test": [((A, SIDES), {"groups": ["x", "y"]})],
    "mode": [((LABELS,), {})],
    "mwem": [((TABLE,), {"columns": ["label", "side"], "levels": LEVELS, "rounds": 3})],
    "nearest_neighbors": [((X, LABELS), {"classes": ["a", "b", "c"]})],
    "pca": [((np.column_stack([A, B, Y]),), {}), ((np.column_stack([A, B, Y]),), {"components": 3, "scale": False})],
    "naive_bayes": CLASSES,
    "poisson_regression": [((X, COUNTS), {})],
    "proportion": [((MARKS,), {})],
    "quantile": [((POSITIVE,), {"q": 0.9})],
    "quantile_regression": [((X, Y), {})],
    "select_features": [((np.column_stack([A, B, C]), Y), {})],
    "select_model": [((np.column_stack([A, B, C]), Y), {"blocks": 30})],
    "sign_test": [((POSITIVE,), {"median": 10.4})],
    "small_database": [((TABLE,), {"columns": ["label", "side"], "levels": LEVELS, "size": 3})],
    "survival_curve": [((POSITIVE, MARKS), {})],
    "synthesize": [((TABLE,), {"levels": LEVELS})],
    "t_test": [((POSITIVE,), {"mean": 5})],
    "two_sample_ks_test": [((A, SIDES), {"groups": ["x", "y"]})],
    "two_sample_t_test": [((A, SIDES), {"groups": ["x", "y"]})],
}
"""The columns and parameters of statistics that do not just take positive numbers."""
ROWS_OF = {"poisson": (COUNTS,), "negative_binomial": (COUNTS,), "binomial": (COUNTS,), "beta": (WITHIN,), "normal": (A,)}
OPTIONS: dict[str | None, dict[str, Any]] = {"trials": {"trials": 10}, "components": {"components": 2}}


CHANGE_ONE = {"neighbors": "change_one", "epsilon": 2 * EPSILON}


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every release by its name; a name says the statistic, the method, and what else tells it from others."""
    return _cases({})


def cases_of_changed_rows() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The same under change_one, where one family of likelihoods stands for all, which go the same ways."""
    for name, release in _cases(CHANGE_ONE):
        if not name.startswith("mle/") or name.endswith("/normal"):
            yield f"{name}/change_one", release


def _cases(relation: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for statistic in map(registry.find_statistic, registry.statistic_names()):
        for method in statistic.methods.values():
            settings = {"method": method.name, "epsilon": EPSILON, **relation, **({"delta": 1e-6} if method.needs_delta else {})}
            if method.name in TESTED:
                settings |= {"epsilon": MUCH, "delta": MUCH_DELTA}
            name = f"{statistic.name}/{method.name}"
            if statistic.name == "mle":
                yield from _likelihoods(name, settings)
            elif statistic.name != "sample_and_aggregate":  # the named functions of sessions; the face takes any function
                asked = ASKED.get(statistic.name, [((POSITIVE,), {})])
                if method.name in TESTED:
                    asked = [(_tied(statistic), asked[0][1])]
                for place, (columns, parameters) in enumerate(asked):
                    own = {"histogram/thresholded": LABELS, "mean/counts": MARKS}.get(name)
                    given = (own,) if own is not None else columns
                    yield f"{name}/{place}", _call(getattr(dp, statistic.name), *given, **parameters, **settings)
    if relation:
        return
    pairs = np.column_stack([A, Y])
    yield "sample_and_aggregate", _call(dp.sample_and_aggregate, _slope, pairs, epsilon=4, blocks=40, workers=0)
    for model in ("linear", "logistic", "poisson"):
        fit = RegressionFit(model, "y", ("x1", "x2"), 0.3, (0.7, -1.1))
        yield f"predictions/{model}", lambda fit=fit: fit.predict(X[:200]).tolist()  # type: ignore[misc]


def _tied(statistic: registry.Statistic) -> tuple[Any, ...]:
    """Columns of which a statistic is stable."""
    if statistic.takes_features:
        return COUNTS[:, None], 2 * COUNTS
    return (TIED,) if statistic.name == "trimmed_mean" else (COUNTS,)


def _likelihoods(name: str, settings: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    by_blocks = settings["method"] in ("blocks", "t_star")
    settings = {**settings, **({"epsilon": MUCH} if by_blocks else {})}
    for family, known in KNOWN.items():
        parameters = dict(OPTIONS.get(known.option, {}))
        if settings["method"] == "t_star":
            if family != "normal":
                continue
            parameters["bounds"] = {"mean": (-5, 5), "std": (0.1, 5)}
        columns: tuple[Any, ...] = ROWS_OF.get(family, (POSITIVE,))
        if known.rows is RowKind.SEVERAL:
            columns = (A, B)
        elif known.rows is RowKind.OUTCOME:
            columns = (A, B, {"linear": Y, "logistic": MARKS}.get(family, COUNTS))
        yield f"{name}/{family}", _call(dp.mle, family, *columns, **parameters, **settings)
    for family in () if by_blocks else BY_OPTIMISER:
        yield f"{name}/{family}", _call(dp.mle, family, A, **settings)


def _call(function: Any, *columns: Any, **parameters: Any) -> Callable[[], Any]:
    def release() -> Any:
        try:
            return function(*columns, rng=dp.testing.seeded(7), **parameters)
        except dp.InvalidParameterError:
            return "not asked so"

    return release


def _slope(rows: Any) -> float:
    return float(np.polyfit(rows[:, 0], rows[:, 1], 1)[0])


def plain(value: Any) -> Any:
    """A release, or a part of one, as JSON can say it; floats by their shortest decimals, which tell them all apart."""
    if isinstance(value, dp.Release):
        return [plain(each) for each in (value.value, value.interval, value.intervals, value.notes)]
    if isinstance(value, SyntheticData):
        return [value.to_dict(), {name: plain(column.tolist()) for name, column in value.values.items()}]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, (type, dp.NoReply)):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return repr(float(value)) if isinstance(value, float) else str(value)
