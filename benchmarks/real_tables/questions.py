"""Questions about real tables: how each is asked privately, and what numpy, scipy, statsmodels or scikit-learn say."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import dpstats as dp
from benchmarks.real_tables.tables import Columns

Numbers = NDArray[np.float64]
LEVEL = 0.05
"""At which a test rejects."""
Z95 = 1.959964
"""The normal deviation of a 95% interval."""


class Reply(NamedTuple):
    """One number that was released, with the ends of its interval; NaN where the interval is unknown."""

    value: float
    low: float
    high: float


class Answered(NamedTuple):
    """A reply for each value, None for no reply; of tests whether they reject, of choices what was chosen."""

    replies: tuple[Reply | None, ...]
    rejects: bool | None = None
    chosen: frozenset[str] | None = None
    raised: str = ""
    """What was raised instead of an answer, which nothing in the rows may cause."""


@dataclass(frozen=True)
class Question:
    """A question about columns of one table."""

    statistic: str
    """As the registry calls it; group means are "mean by group"."""
    about: str
    """The rest of the question, for people."""
    table: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    """The names of the numbers that are released; of choices there are none."""
    ask: Callable[..., Answered]
    """ask(columns, epsilon=, rng=)"""
    exact: Callable[[Columns], Numbers]
    """What the usual tool says of the rows, one number for each value."""
    usual: Callable[[Columns], Any] | None = None
    """Of a test whether the usual one rejects; of a choice what the usual tool chooses."""
    coefficients: int = 0
    """Of regressions how many, the intercept among them."""
    shares: Callable[[Columns], Numbers] | None = None
    """Of groups which share of the rows each value is about."""
    of_rows: bool = False
    """Whether the interval is for the rows themselves, as for counts, and not for the population."""
    interval: Callable[[Columns], tuple[float, float]] | None = None
    """The usual 95% interval of a question with one value, for how often that holds the truth on the same samples."""
    unit: str = ""
    """The column that says whose row it is, where persons have several rows: samples are of persons, then."""

    @property
    def name(self) -> str:
        """The question in one line."""
        return f"{self.table}: {self.statistic} {self.about}".strip()


def ends_of(interval: Any) -> tuple[float, float]:
    """Low and high; NaN for an interval that is unknown."""
    try:
        return float(interval.low), float(interval.high)
    except (AttributeError, TypeError, ValueError):
        return float("nan"), float("nan")


def reply_of(release: Any) -> Reply | None:
    """A release of one number."""
    return None if isinstance(release, dp.NoReply) else Reply(float(release.value), *ends_of(release.interval))


def fit_of(release: Any, values: Sequence[float] | None, size: int) -> Answered:
    """A release of several parameters."""
    if isinstance(release, dp.NoReply) or values is None:
        return Answered((None,) * size)
    intervals = tuple(getattr(release, "intervals", ())) or (None,) * size
    return Answered(tuple(Reply(float(value), *ends_of(each)) for value, each in zip(values, intervals, strict=True)))


# ---- one column


def _quantile(q: float, rows: Numbers) -> float:
    return float(np.quantile(rows, q))


def _iqr(rows: Numbers) -> float:
    return _quantile(0.75, rows) - _quantile(0.25, rows)


_EXACT: dict[str, Callable[[Numbers], float]] = {
    "mean": lambda rows: float(np.mean(rows)),
    "median": lambda rows: float(np.median(rows)),
    "std": lambda rows: float(np.std(rows, ddof=1)),
    "variance": lambda rows: float(np.var(rows, ddof=1)),
    "iqr": _iqr,
    "trimmed_mean": lambda rows: float(stats.trim_mean(rows, 0.1)),
    "count": lambda rows: float(len(rows)),
}


def _mean_interval(rows: Numbers) -> tuple[float, float]:
    half = Z95 * float(np.std(rows, ddof=1)) / math.sqrt(len(rows))
    return float(np.mean(rows)) - half, float(np.mean(rows)) + half


def _std_interval(rows: Numbers) -> tuple[float, float]:
    """By the fourth moment (Cramer's large-sample error of a variance)."""
    squares = (rows - rows.mean()) ** 2
    half = Z95 * float(np.std(squares)) / math.sqrt(len(rows)) / 2 / max(float(np.std(rows)), 1e-300)
    return float(np.std(rows, ddof=1)) - half, float(np.std(rows, ddof=1)) + half


def _quantile_interval(q: float, rows: Numbers) -> tuple[float, float]:
    """Order statistics whose ranks lie 1.96 binomial deviations to either side."""
    ordered, deviation = np.sort(rows), Z95 * math.sqrt(q * (1 - q) * len(rows))
    low, high = math.floor(q * len(rows) - deviation), math.ceil(q * len(rows) + deviation)
    return float(ordered[max(low - 1, 0)]), float(ordered[min(high, len(rows)) - 1])


def _pearson_interval(x: Numbers, y: Numbers) -> tuple[float, float]:
    """By the influence of every row on the correlation (the sandwich), which supposes no normal law."""
    one, other = (x - x.mean()) / (x.std() or 1.0), (y - y.mean()) / (y.std() or 1.0)
    found = float(np.mean(one * other))
    influence = one * other - found * (one**2 + other**2) / 2
    half = Z95 * float(np.std(influence)) / math.sqrt(len(x))
    return found - half, found + half


_USUAL_INTERVALS: dict[str, Callable[[Numbers], tuple[float, float]]] = {
    "mean": _mean_interval,
    "std": _std_interval,
    "median": partial(_quantile_interval, 0.5),
}


def _ask_column(statistic: str, column: str, rows: Columns, *more: Any, **spend: Any) -> Answered:
    return Answered((reply_of(getattr(dp, statistic)(rows[column], *more, **spend)),))


def of_column(statistic: str, table: str, column: str) -> Question:
    """A mean, median, spread or count of one column."""
    exact = _EXACT[statistic]

    def of(rows: Columns) -> Numbers:
        return np.array([exact(rows[column])])

    ask = partial(_ask_column, statistic, column)
    usual = _USUAL_INTERVALS.get(statistic)
    interval = None if usual is None else lambda rows: usual(rows[column])
    return Question(statistic, column, table, (column,), (statistic,), ask, of, of_rows=statistic == "count", interval=interval)


def last_of_quantiles(quantiles: Sequence[float], table: str, column: str) -> Question:
    """The last quantile of a list, which is asked for together with the others."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = dp.quantile(rows[column], quantiles, **spend)
        if isinstance(release, dp.NoReply):
            return Answered((None,))
        return Answered((Reply(float(release.value[-1]), *ends_of(release.intervals[-1])),))

    q = quantiles[-1]
    name = f"last of q={list(quantiles)}"
    return Question(
        "quantiles", f"{name} {column}", table, (column,), (name,), ask, lambda c: np.array([_quantile(q, c[column])])
    )


def quantile(q: float, table: str, column: str) -> Question:
    """A quantile of one column."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        return _ask_column("quantile", column, rows, q, **spend)

    name = f"q={q:g}"
    return Question(
        "quantile",
        f"{name} {column}",
        table,
        (column,),
        (name,),
        ask,
        lambda c: np.array([_quantile(q, c[column])]),
        interval=lambda c: _quantile_interval(q, c[column]),
    )


def proportion(table: str, column: str) -> Question:
    """The share of ones in a column of zeros and ones, as a share."""
    exact = _EXACT["mean"]
    ask = partial(_ask_column, "proportion", column)
    return Question("proportion", column, table, (column,), ("proportion",), ask, lambda c: np.array([exact(c[column])]))


def of_persons(statistic: str, table: str, column: str, unit: str, rows: int, *more: Any) -> Question:
    """A statistic of a column in which persons have up to that many rows, in a session that protects persons."""
    exact = partial(_quantile, more[0]) if more else _EXACT["mean" if statistic == "proportion" else statistic]

    def ask(sample: Columns, *, epsilon: float, rng: Any) -> Answered:
        types = {column: "boolean"} if statistic == "proportion" else {}
        given = {unit: sample[unit], column: sample[column] > 0 if types else sample[column]}
        session = dp.protect(
            given,
            unit=unit,
            max_rows_per_unit=rows,
            budget=dp.Budget(epsilon=10**6),
            ledger=":memory:",
            allow_seeded=True,
            name="resample",
        )
        return Answered((reply_of(getattr(session, statistic)(column, *more, epsilon=epsilon, rng=rng)),))

    name = f"{statistic}{f' {more[0]:g}' if more else ''} {column} by {unit}, at most {rows} rows"
    return Question(
        "by person", name, table, (unit, column), (statistic,), ask, lambda c: np.array([exact(c[column])]), unit=unit
    )


def by_group(statistic: str, table: str, column: str, by: str, keys: tuple[str, ...]) -> Question:
    """A statistic of a column in groups that are public."""
    exact = _EXACT[statistic]

    def ask(rows: Columns, *, epsilon: float, rng: Any) -> Answered:
        texts = {column: rows[column], by: _labels(rows[by])}
        budget = dp.Budget(epsilon=10**6)
        session = dp.protect(
            texts, unit="row", budget=budget, ledger=":memory:", types={by: "text"}, allow_seeded=True, name="resample"
        )
        grouped = getattr(session.group_by(by, keys=list(keys)), statistic)(
            *(() if statistic == "count" else (column,)), epsilon=epsilon, rng=rng
        )
        if isinstance(grouped, dp.NoReply):
            return Answered((None,) * len(keys))
        return Answered(tuple(reply_of(grouped[key]) for key in keys))

    def in_groups(rows: Columns) -> Numbers:
        labels = _labels(rows[by])
        return np.array([exact(rows[column][labels == key]) for key in keys])

    def shares(rows: Columns) -> Numbers:
        return np.array([np.mean(_labels(rows[by]) == key) for key in keys])

    name = f"{statistic} by group"
    return Question(
        name, f"{column} by {by}", table, (column, by), keys, ask, in_groups, shares=shares, of_rows=statistic == "count"
    )


def _labels(values: Any) -> Any:
    return values if values.dtype.kind == "U" else np.array([f"{each:g}" for each in values])


# ---- regressions


def _features(rows: Columns, names: Sequence[str]) -> Numbers:
    return np.column_stack([rows[name] for name in names])


def _least_squares(x: Numbers, y: Numbers) -> Numbers:
    return np.asarray(np.linalg.lstsq(x, y, rcond=None)[0], dtype=np.float64)


def _by_statsmodels(family: str, x: Numbers, y: Numbers) -> Numbers:
    models = import_module("statsmodels.api")
    fitted = models.GLM(y, x, family=getattr(models.families, family)()).fit()
    return np.asarray(fitted.params)


def _quantile_fit(q: float, x: Numbers, y: Numbers) -> Numbers:
    """By statsmodels, whose tolerances are absolute (1e-6): on features of spread 1 and an outcome of spread 1,000."""
    middle, spread = np.where(x.std(0) > 0, x.mean(0), 0.0), np.where(x.std(0) > 0, x.std(0), 1.0)
    place, scale = float(np.median(y)), float(y.std()) / 1_000
    x, y = (x - middle) / spread, (y - place) / scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it stopped at its last iteration
        fitted = import_module("statsmodels.api").QuantReg(y, x).fit(q)
    slopes = np.asarray(fitted.params) * scale / spread
    slopes[0] += place - float(middle @ slopes)
    return slopes


def regression(
    statistic: str, table: str, outcome: str, features: tuple[str, ...], q: float | None = None, *, delta: float = 0
) -> Question:
    """A regression with an intercept; "linear", "logistic", "poisson" or "quantile" at q."""
    fits: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
        "linear": _least_squares,
        "logistic": partial(_by_statsmodels, "Binomial"),
        "poisson": partial(_by_statsmodels, "Poisson"),
        "quantile": partial(_quantile_fit, q or 0.5),
    }
    fit, asked = fits[statistic], f"{statistic}_regression"
    options = {**({} if q is None else {"quantile": q}), **({"delta": delta} if delta else {})}
    size = len(features) + 1

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = getattr(dp, asked)(_features(rows, features), rows[outcome], **options, **spend)
        found = None if isinstance(release, dp.NoReply) else list(release.value.params)
        return fit_of(release, found, size)

    def exact(rows: Columns) -> Numbers:
        x = _features(rows, features)
        return fit(np.column_stack([np.ones(len(x)), x]), rows[outcome])

    at = "" if q is None else f"{q:g}: "
    about = f"{at}{outcome} ~ {' + '.join(features)}{f', delta {delta:g}' if delta else ''}"
    return Question(asked, about, table, (outcome, *features), ("intercept", *features), ask, exact, coefficients=size)


# ---- laws


def _negative_binomial(rows: Numbers) -> Numbers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = import_module("statsmodels.api").NegativeBinomial(rows, np.ones(len(rows))).fit(disp=0, maxiter=200)
    location, dispersion = np.asarray(fitted.params)
    return np.array([np.exp(location), dispersion])


def _shape_and_scale(law: Any, rows: Numbers) -> Numbers:
    shape, _, scale = law.fit(rows, floc=0)
    return np.array([shape, scale])


def _log_moments(rows: Numbers) -> Numbers:
    return np.array([np.log(rows).mean(), np.log(rows).std()])


_LAWS: dict[str, tuple[tuple[str, ...], Callable[[Numbers], Numbers]]] = {
    "normal": (("mean", "std"), lambda rows: np.array([rows.mean(), rows.std()])),
    "lognormal": (("mu", "sigma"), _log_moments),
    "gamma": (("shape", "scale"), partial(_shape_and_scale, stats.gamma)),
    "weibull": (("shape", "scale"), partial(_shape_and_scale, stats.weibull_min)),
    "negative_binomial": (("mean", "dispersion"), _negative_binomial),
    "exponential": (("scale",), lambda rows: np.array([rows.mean()])),
    "poisson": (("rate",), lambda rows: np.array([rows.mean()])),
}


def law(family: str, table: str, column: str) -> Question:
    """Maximum likelihood of a family of laws."""
    names, exact = _LAWS[family]

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = dp.mle(family, rows[column], **spend)
        found = None if isinstance(release, dp.NoReply) else [release.value[name] for name in names]
        return fit_of(release, found, len(names))

    return Question("mle", f"{family} {column}", table, (column,), names, ask, lambda rows: exact(rows[column]))


# ---- two columns


def correlation(kind: str, table: str, x: str, y: str) -> Question:
    """Pearson's, Spearman's or Kendall's correlation."""
    function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]

    def ask(rows: Columns, **spend: Any) -> Answered:
        return Answered((reply_of(dp.correlation(rows[x], rows[y], kind, **spend)),))  # type: ignore[arg-type]

    return Question(
        "correlation",
        f"{kind} {x}, {y}",
        table,
        (x, y),
        (kind,),
        ask,
        lambda c: np.array([float(function(c[x], c[y])[0])]),
        interval=(lambda c: _pearson_interval(c[x], c[y])) if kind == "pearson" else None,
    )


def covariance(table: str, x: str, y: str) -> Question:
    """The covariance of two columns."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        return Answered((reply_of(dp.covariance(rows[x], rows[y], **spend)),))

    return Question(
        "covariance", f"{x}, {y}", table, (x, y), ("covariance",), ask, lambda c: np.array([float(np.cov(c[x], c[y])[0, 1])])
    )


# ---- tests


def _tested(release: Any) -> Answered:
    if isinstance(release, dp.NoReply):
        return Answered((None,))
    result = release.value
    reply = Reply(float(result.estimate), *ends_of(release.interval))
    return Answered((reply,), bool(result.p_value < LEVEL))


def _halves(rows: Columns, column: str, by: str, groups: tuple[str, str]) -> list[Numbers]:
    labels = _labels(rows[by])
    return [rows[column][labels == group] for group in groups]


def two_sample_t_test(table: str, column: str, by: str, groups: tuple[str, str]) -> Question:
    """Welch's test, with the difference of the means as its estimate."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        return _tested(dp.two_sample_t_test(rows[column], _labels(rows[by]), list(groups), **spend))

    def exact(rows: Columns) -> Numbers:
        one, other = _halves(rows, column, by, groups)
        return np.array([one.mean() - other.mean()])

    def usual(rows: Columns) -> bool:
        return bool(stats.ttest_ind(*_halves(rows, column, by, groups), equal_var=False).pvalue < LEVEL)

    name = f"{column} by {by} ({groups[0]}, {groups[1]})"
    return Question("two_sample_t_test", name, table, (column, by), ("difference",), ask, exact, usual)


def t_test(table: str, column: str, mean: float) -> Question:
    """Student's test of one column."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        return _tested(dp.t_test(rows[column], mean, **spend))

    def usual(rows: Columns) -> bool:
        return bool(stats.ttest_1samp(rows[column], mean).pvalue < LEVEL)

    exact = _EXACT["mean"]
    return Question(
        "t_test", f"{column} against {mean:g}", table, (column,), ("mean",), ask, lambda c: np.array([exact(c[column])]), usual
    )


def anova(table: str, column: str, by: str, groups: tuple[str, ...]) -> Question:
    """Welch's analysis of variance, with the share of the variance between groups as its estimate."""

    def parts(rows: Columns) -> list[Numbers]:
        labels = _labels(rows[by])
        return [rows[column][labels == group] for group in groups]

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = dp.anova(rows[column], _labels(rows[by]), list(groups), **spend)
        if isinstance(release, dp.NoReply):
            return Answered(())
        return Answered((), bool(release.value.p_value < LEVEL))

    def usual(rows: Columns) -> bool:
        found = import_module("statsmodels.stats.oneway").anova_oneway(parts(rows), use_var="unequal")
        return bool(found.pvalue < LEVEL)

    about = f"{column} by {by} ({', '.join(groups)})"
    return Question("anova", about, table, (column, by), (), ask, _nothing, usual)


def sign_test(table: str, column: str, median: float) -> Question:
    """The sign test of one column, with the share above as its estimate."""

    def sides(rows: Columns) -> tuple[int, int]:
        return int(np.sum(rows[column] > median)), int(np.sum(rows[column] < median))

    def ask(rows: Columns, **spend: Any) -> Answered:
        return _tested(dp.sign_test(rows[column], median, **spend))

    def exact(rows: Columns) -> Numbers:
        above, below = sides(rows)
        return np.array([above / (above + below)])

    def usual(rows: Columns) -> bool:
        above, below = sides(rows)
        return bool(stats.binomtest(above, above + below).pvalue < LEVEL)

    return Question("sign_test", f"{column} against {median:g}", table, (column,), ("share above",), ask, exact, usual)


# ---- choices


def _nothing(_: Columns) -> Numbers:
    return np.empty(0)


def features(table: str, outcome: str, candidates: tuple[str, ...]) -> Question:
    """Features that matter; the usual tool is LASSO with the Bayesian information criterion."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = dp.select_features(_features(rows, candidates), rows[outcome], **spend)
        if isinstance(release, dp.NoReply):
            return Answered(())
        return Answered((), chosen=frozenset(candidates[place] for place in release.value.indices))

    def usual(rows: Columns) -> frozenset[str]:
        x = _features(rows, candidates)
        lasso = import_module("sklearn.linear_model").LassoLarsIC(criterion="bic")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = lasso.fit((x - x.mean(0)) / x.std(0), rows[outcome])
        return frozenset(name for name, weight in zip(candidates, fitted.coef_, strict=True) if weight)

    about = f"{outcome} ~ {len(candidates)} features"
    return Question("select_features", about, table, (outcome, *candidates), (), ask, _nothing, usual)


def model(table: str, outcome: str, names: tuple[str, ...], models: tuple[str, ...]) -> Question:
    """The model that predicts best; the usual tool is cross-validation in five parts."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = dp.select_model(_features(rows, names), rows[outcome], list(models), **spend)  # type: ignore[arg-type]
        return Answered(()) if isinstance(release, dp.NoReply) else Answered((), chosen=frozenset([str(release.value)]))

    def usual(rows: Columns) -> frozenset[str]:
        x, y = _features(rows, names), rows[outcome]
        scores = {name: _cross_validated(name, x, y) for name in models}
        return frozenset([max(scores, key=scores.__getitem__)])

    about = f"{outcome} ~ {' + '.join(names)}, of {', '.join(models)}"
    return Question("select_model", about, table, (outcome, *names), (), ask, _nothing, usual)


def _cross_validated(name: str, x: Numbers, y: Numbers) -> float:
    linear, preprocessing = import_module("sklearn.linear_model"), import_module("sklearn.preprocessing")
    pipeline = import_module("sklearn.pipeline").make_pipeline
    estimators = {
        "constant": lambda: import_module("sklearn.dummy").DummyRegressor(),
        "linear": linear.LinearRegression,
        "quadratic": lambda: pipeline(
            preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(2), linear.LinearRegression()
        ),
        "tree": lambda: import_module("sklearn.tree").DecisionTreeRegressor(max_depth=4, random_state=0),
    }
    selection = import_module("sklearn.model_selection")
    parts = selection.KFold(5, shuffle=True, random_state=0)
    scored = selection.cross_val_score(estimators[name](), x, y, cv=parts, scoring="neg_mean_squared_error")
    return float(np.mean(scored))


def family(table: str, column: str, families: tuple[str, ...]) -> Question:
    """The family of laws that fits best; the usual tool is the largest likelihood, less one for each parameter (Akaike)."""

    def ask(rows: Columns, **spend: Any) -> Answered:
        release = dp.select_family(rows[column], list(families), **spend)  # type: ignore[arg-type]
        return Answered(()) if isinstance(release, dp.NoReply) else Answered((), chosen=frozenset([str(release.value)]))

    def usual(rows: Columns) -> frozenset[str]:
        scores = {name: _log_likelihood(name, rows[column]) - len(_LAWS[name][0]) for name in families}
        return frozenset([max(scores, key=scores.__getitem__)])

    return Question("select_family", f"{column} of {', '.join(families)}", table, (column,), (), ask, _nothing, usual)


def _log_likelihood(name: str, rows: Numbers) -> float:
    found = _LAWS[name][1](rows)
    laws = {
        "normal": lambda: stats.norm(*found),
        "lognormal": lambda: stats.lognorm(found[1], scale=np.exp(found[0])),
        "gamma": lambda: stats.gamma(found[0], scale=found[1]),
        "weibull": lambda: stats.weibull_min(found[0], scale=found[1]),
        "exponential": lambda: stats.expon(scale=found[0]),
    }
    return float(laws[name]().logpdf(rows).sum())
