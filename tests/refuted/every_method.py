"""One question for every method of every statistic, so that a test can hold the whole registry to a claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpstats.direct import function_for
from dpstats.foundations.registry import Method, Reads, Statistic, find_statistic, statistic_names

GROUPS = ["a", "b"]
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "association_rules": [{"levels": {"l": GROUPS}, "bins": {"x": [0, 1]}, "k": 3}],
    "additive_classifier": [{"classes": GROUPS}],
    "contingency_table": [{"levels": {"l": GROUPS}, "bins": {"x": [0, 1]}}],
    "small_database": [{"levels": {"l": GROUPS}, "bins": {"x": [0, 1]}, "size": 2}],
    "mwem": [{"levels": {"l": GROUPS}, "bins": {"x": [0, 1]}, "rounds": 2}],
    "survival_curve": [{"event": "a"}],
    "synthesize": [{"levels": {"l": GROUPS}}],
    "chi_square_test": [{"row_labels": GROUPS, "column_labels": GROUPS}],
    "correlation": [{"kind": "pearson"}, {"kind": "spearman"}, {"kind": "kendall"}],
    "frequent_itemsets": [{"levels": {"l": GROUPS}, "bins": {"x": [0, 1]}, "k": 3}],
    "decision_tree": [{"classes": GROUPS}],
    "goodness_of_fit_test": [{"probabilities": {"a": 0.5, "b": 0.5}}],
    "mann_whitney": [{"groups": GROUPS}],
    "median_test": [{"groups": GROUPS}],
    "nearest_neighbors": [{"classes": GROUPS}],
    "naive_bayes": [{"classes": GROUPS}],
    "quantile": [{"q": 0.3}, {"q": [0.01, 0.5, 0.9]}],
    "sample_and_aggregate": [{"function": "mean", "blocks": 200}, {"function": "mean", "aggregate": "mean", "range": (0, 9)}],
    "select_model": [{"models": ["linear", "quadratic"]}],
    "t_test": [{}, {"mean": 1, "alternative": "greater"}],
    "two_sample_ks_test": [{"groups": GROUPS}],
    "two_sample_t_test": [{"groups": GROUPS}],
}
"""What a statistic needs, or what makes it take another way."""
BY_METHOD: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("anova", "clipped"): [{"groups": GROUPS}],
    ("anova", "thresholded"): [{}],
    ("contingency_table", "fourier"): [{"levels": {"l": GROUPS}}],
    ("histogram", "laplace"): [{"bins": 4}, {"bins": [0, 1, 2]}],
    ("histogram", "thresholded"): [{}],
    ("mle", "scores"): [{"family": "normal"}, {"family": "gamma"}, {"family": "weibull"}],
    ("mle", "gaussian_scores"): [{"family": "normal"}],
    ("mle", "bounded_scores"): [{"family": "normal"}, {"family": "gamma"}],
    ("mle", "gaussian_bounded_scores"): [{"family": "normal"}],
    ("mle", "blocks"): [{"family": "normal"}],
    ("mle", "t_star"): [{"family": "exponential", "bounds": {"scale": (0.1, 10)}}],
    ("sample_and_aggregate", "tested"): [{"function": "mean", "blocks": 200, "aggregate": "median"}],
    ("select_features", "each"): [{}, {"at_most": 1}],
}


@dataclass(frozen=True)
class Asked:
    """A statistic by one of its methods, with the parameters that it needs."""

    statistic: Statistic
    method: Method
    arguments: dict[str, Any]

    def __str__(self) -> str:
        shown = "-".join(str(value) for value in self.arguments.values())
        return f"{self.statistic.name}-{self.method.name}{f'-{shown}' if shown else ''}"

    @property
    def words(self) -> dict[str, Any]:
        """What a caller says beside columns and epsilon."""
        told = {"kind": "labels"} if (self.statistic.name, self.method.name) == ("histogram", "thresholded") else {}
        return {**self.arguments, **told, **({"delta": 1e-3} if self.method.needs_delta else {}), "method": self.method.name}

    def columns(self, numbers: Any, labels: Any) -> list[Any]:
        """The columns that it reads, each of them all of `numbers` or of `labels`."""
        if (self.statistic.name, self.method.name) == ("histogram", "thresholded"):
            return [labels]
        if self.statistic.name == "pca":  # of two columns or more
            return [numbers, numbers]
        return [labels if reads is Reads.LABELS else numbers for reads in self.statistic.reads]

    @property
    def table_columns(self) -> list[str]:
        """The columns of a whole table that it reads: x of numbers and l of labels, or labels alone."""
        return ["l"] if self.method.name == "fourier" else ["x", "l"]

    def of(self, numbers: Any, labels: Any, **words: Any) -> Any:
        """The reply of its function to a container of numbers and one of labels."""
        if self.statistic.takes_tables:
            table = {"x": numbers, "l": labels}
            return function_for(self.statistic.name)(table, columns=self.table_columns, **{**self.words, **words})
        return function_for(self.statistic.name)(*self.columns(numbers, labels), **{**self.words, **words})

    def by(self, asker: Any, **words: Any) -> Any:
        """The reply of a session, or of its groups, whose columns of numbers are x and y, and of labels l and m."""
        if self.statistic.takes_tables:
            return getattr(asker, self.statistic.name)(*self.table_columns, **{**self.words, **words})
        *first, last = self.columns(("x", "y"), ("l", "m"))
        names = [each[0] for each in first]
        names.append(last[1] if last in first or self.statistic.has_outcome else last[0])
        return getattr(asker, self.statistic.name)(*names, **{**self.words, **words})


def every_method() -> Iterator[Asked]:
    """A question or several for each method of each statistic."""
    for name in statistic_names():
        statistic = find_statistic(name)
        for method in statistic.methods.values():
            for arguments in BY_METHOD.get((name, method.name), ARGUMENTS.get(name, [{}])):
                yield Asked(statistic, method, arguments)
