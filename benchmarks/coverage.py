"""How often intervals hold the truth, and how wide they are: statistics x shapes x rows x epsilon.

    python benchmarks/coverage.py [--repeats 200] [--only mean median] [--processes 2]

For each line a table of the shape is drawn anew, the question is asked with its default 95% interval, and the interval is held
against the value in the population; a table that gets no reply does not count. Width is the median width over that of an ideal
interval without privacy: 1.96 standard deviations of the exact sample statistic to either side. Noise comes from seeded sources,
so a run repeats itself. The tables are Markdown; docs/intervals.md keeps a run.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

import dpstats as dp

Rows = NDArray[np.float64]

LEVEL_95 = 1.959963984540054
SEED = 5
CASES = [
    (100, 3.0),
    (1_000, 0.3),
    (1_000, 1.0),
    (1_000, 3.0),
    (10_000, 0.1),
    (10_000, 0.3),
    (10_000, 1.0),
    (10_000, 3.0),
    (100_000, 0.1),
    (100_000, 1.0),
]


@dataclass(frozen=True)
class Shape:
    """A population: how to draw from it, and what is true of it."""

    draw: Callable[[int, np.random.Generator], Rows]
    quantile: Callable[[float], float]
    mean: float
    variance: float


def _delays(n: int, chance: np.random.Generator) -> Rows:
    return np.rint(np.maximum(0, chance.exponential(20, n) - 5))


def _contaminated_quantile(q: float) -> float:
    return float(optimize.brentq(lambda x: 0.95 * stats.norm.cdf(x) + 0.05 * stats.norm.cdf(x / 10) - q, -60, 60))


_TAILS = np.exp(-(np.arange(2_000) + 5.5) / 20)  # of the delays: P(X > k)
_DELAY_MEAN = float(_TAILS.sum())
_DELAY_SQUARE = float(((2 * np.arange(2_000) + 1) * _TAILS).sum())
_LOGNORMAL_MEAN, _LOGNORMAL_SQUARE = math.exp(0.8), math.exp(2.6)

SHAPES = {
    "normal": Shape(lambda n, c: math.pi + c.normal(0, 1, n), lambda q: math.pi + float(stats.norm.ppf(q)), math.pi, 1.0),
    "skewed": Shape(
        lambda n, c: c.lognormal(0.3, 1, n),
        lambda q: math.exp(0.3 + float(stats.norm.ppf(q))),
        _LOGNORMAL_MEAN,
        _LOGNORMAL_SQUARE - _LOGNORMAL_MEAN**2,
    ),
    "heavy-tailed": Shape(lambda n, c: math.e + c.standard_t(3, n), lambda q: math.e + float(stats.t.ppf(q, 3)), math.e, 3.0),
    "discrete": Shape(
        _delays,
        lambda q: float(max(0, math.ceil(-20 * math.log(1 - q) - 5.5 - 1e-9))),
        _DELAY_MEAN,
        _DELAY_SQUARE - _DELAY_MEAN**2,
    ),
    "zero-inflated": Shape(
        lambda n, c: np.where(c.random(n) < 0.3, 0.0, c.lognormal(0.3, 1, n)),
        lambda q: 0.0 if q <= 0.3 else math.exp(0.3 + float(stats.norm.ppf((q - 0.3) / 0.7))),
        0.7 * _LOGNORMAL_MEAN,
        0.7 * _LOGNORMAL_SQUARE - (0.7 * _LOGNORMAL_MEAN) ** 2,
    ),
    "contaminated": Shape(
        lambda n, c: np.where(c.random(n) < 0.05, 10.0, 1.0) * c.normal(0, 1, n), _contaminated_quantile, 0.0, 0.95 + 5.0
    ),
}
"""normal: around pi; skewed: lognormal with sigma 1; heavy-tailed: Student's t with 3 degrees of freedom; discrete: whole minutes
of delay, a quarter of them 0; zero-inflated: 30% zeros, the rest lognormal; contaminated: 5% of a normal ten times as wide."""


@dataclass(frozen=True)
class Asked:
    """A statistic: how to ask it privately and exactly, and its value in a population."""

    private: Callable[..., Any]
    exact: Callable[[Rows], float]
    truth: Callable[[Shape], float]


def _trimmed_truth(shape: Shape) -> float:
    places = 0.1 + 0.8 * (np.arange(100_000) + 0.5) / 100_000
    return float(np.mean([shape.quantile(float(place)) for place in places[::20]]))


def _iqr(rows: Rows) -> float:
    low, high = np.quantile(rows, [0.25, 0.75])
    return float(high - low)


STATISTICS = {
    "mean": Asked(dp.mean, lambda rows: float(rows.mean()), lambda shape: shape.mean),
    "median": Asked(dp.median, lambda rows: float(np.median(rows)), lambda shape: shape.quantile(0.5)),
    "quantile 0.9": Asked(
        lambda rows, **kw: dp.quantile(rows, 0.9, **kw), lambda rows: float(np.quantile(rows, 0.9)), lambda s: s.quantile(0.9)
    ),
    "iqr": Asked(dp.iqr, _iqr, lambda shape: shape.quantile(0.75) - shape.quantile(0.25)),
    "trimmed_mean": Asked(dp.trimmed_mean, lambda rows: float(stats.trim_mean(rows, 0.1)), _trimmed_truth),
    "std": Asked(dp.std, lambda rows: float(rows.std(ddof=1)), lambda shape: math.sqrt(shape.variance)),
}


@dataclass(frozen=True)
class Cell:
    """What was measured in one place of the grid."""

    coverage: float
    width: float
    given: float
    """The share of answers that had an interval with two ends."""
    replies: float
    """The share of tables that got an answer."""

    def __str__(self) -> str:
        if not self.replies:
            return "no reply"
        if not self.given:
            return "unknown"
        some = "" if self.replies > 0.995 else f", replies {100 * self.replies:.0f}%"
        some += "" if self.given > 0.995 else f", given {100 * self.given:.0f}%"
        width = "-" if math.isnan(self.width) else f"{self.width:.2f}x"
        return f"{100 * self.coverage:.0f}% ({width}{some})"


def measure(name: str, shape_name: str, rows: int, epsilon: float, repeats: int) -> Cell:
    """Ask the same question of so many tables."""
    asked, shape = STATISTICS[name], SHAPES[shape_name]
    chance = np.random.default_rng([SEED, rows, int(1000 * epsilon), *shape_name.encode()])
    truth, held, replies, widths, exact = asked.truth(shape), 0, 0, [], []
    for number in range(repeats):
        table = shape.draw(rows, chance)
        exact.append(asked.exact(table))
        reply = asked.private(table, epsilon=epsilon, rng=dp.testing.seeded(number))
        if isinstance(reply, dp.NoReply):
            continue
        replies += 1
        interval = reply.interval
        if interval is not None and math.isfinite(interval.low) and math.isfinite(interval.high):
            held += interval.low <= truth <= interval.high
            widths.append(interval.high - interval.low)
    ideal = 2 * LEVEL_95 * float(np.std(exact))
    width = float(np.median(widths)) / ideal if widths and ideal else math.nan
    return Cell(held / max(len(widths), 1), width, len(widths) / max(replies, 1), replies / repeats)


def _repeats(rows: int, epsilon: float, repeats: int) -> int:
    """Large tables and small epsilons take longer, and are asked half as often."""
    return repeats // 2 if rows >= 100_000 or epsilon < 0.3 else repeats


def table(name: str, cases: Sequence[tuple[int, float]], repeats: int, pool: ProcessPoolExecutor) -> str:
    """The grid of one statistic."""
    head = ["shape", *(f"{rows:,} rows, eps {epsilon:g}" for rows, epsilon in cases)]
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    jobs = {
        shape: [pool.submit(measure, name, shape, rows, epsilon, _repeats(rows, epsilon, repeats)) for rows, epsilon in cases]
        for shape in SHAPES
    }
    for shape, futures in jobs.items():
        lines.append("| " + " | ".join([shape, *(str(future.result()) for future in futures)]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print a table for each statistic."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=STATISTICS, default=list(STATISTICS))
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only:
            print(f"### {name}\n\n{table(name, CASES, arguments.repeats, pool)}\n", flush=True)


if __name__ == "__main__":
    main()
