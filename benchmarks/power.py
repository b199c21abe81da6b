"""How many rows a private test needs beside the usual one, for the same power: a table in Markdown.

    python benchmarks/power.py [--repeats 100] [--epsilon 0.3 1] [--only "t test"]

Every line is one effect. The number of rows is doubled until the test rejects at level 0.05 in 80 of 100 tables, and found
between the last two sizes on a logarithmic scale. The usual test is scipy's, on tables of the same law. The last column is the
ratio of rows: what privacy costs.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

import dpstats as dp

LEVEL, POWER = 0.05, 0.8
FIRST, MOST = 32, 300_000
GROUPS = ("a", "b")
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


def main() -> None:
    """Parse, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1])
    parser.add_argument("--only", default="", help="tests whose names hold this")
    arguments = parser.parse_args()
    print("| test | effect | epsilon | rows, usual test | rows, private | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        if arguments.only not in case.test:
            continue
        usual = rows_needed(lambda g, n, case=case: case.usual(*case.draw(g, n)) < LEVEL, arguments.repeats)  # type: ignore[misc]
        for epsilon in arguments.epsilon:

            def rejects(generator: np.random.Generator, rows: int, case: Case = case, epsilon: float = epsilon) -> bool:
                release = case.private(*case.draw(generator, rows), epsilon=epsilon, interval=None)
                return bool(release.value.p_value < LEVEL)

            private = rows_needed(rejects, arguments.repeats)
            shown = f"{private:,.0f}" if math.isfinite(private) else f"more than {MOST:,}"
            print(f"| {case.test} | {case.effect} | {epsilon:g} | {usual:,.0f} | {shown} | {private / usual:.2g} |", flush=True)


if __name__ == "__main__":
    main()
