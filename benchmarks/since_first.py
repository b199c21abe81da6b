"""How errors have changed since the first releases: every figure that was published then, measured again.

    python benchmarks/since_first.py [--quick] [--only mean median]

benchmarks/first_figures.json holds the figures, each with its commit, its date and how many repeats it is from. Columns are those
of accuracy.py, where tables that have too few rows for a reply today are answered roughly, because the first releases answered
all. For the ratios of means they are those of clipping.py, with the same seeds, and refusals are left out and counted; one answer
far off rules such a ratio and its error, so these are counted, too. A line is worse where its figure has risen by more than SURE
standard errors of the difference, or the number of answers far off by as much. Tables are Markdown.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

import dpstats as dp
from benchmarks import accuracy, clipping
from dpstats.testing import seeded

Floats = NDArray[np.float64]

FIGURES = Path(__file__).with_name("first_figures.json")
SURE = 3.0
"""Standard errors. There are 136 lines: at 2, three would be called worse by chance."""
RESAMPLES = 300
FEWEST = 8
"""Repeats of a line, however quick a look is wanted."""


class Line(NamedTuple):
    """A figure of a first release."""

    measure: str
    statistic: str
    column: str
    rows: int
    epsilon: float
    figure: float
    error: float | None
    """Its standard error, where that was published."""
    repeats: int
    origin: str
    far_off: int = 0
    """Of means: answers that missed by more than clipping.CAPPED standard errors of the sample mean."""


class Now(NamedTuple):
    """The same figure of this code, its standard error, how many questions were refused, and how many answers were far off."""

    figure: float
    error: float
    repeats: int
    refused: int
    far_off: int = 0


def first_lines() -> tuple[list[Line], dict[str, dict[str, str]]]:
    """The figures, and where each kind of them comes from."""
    held = json.loads(FIGURES.read_text())
    return [Line(**each) for each in held["lines"]], held["origins"]


def measured(line: Line, effort: float) -> Now:
    """Measure a line again; its error is that of figures of resampled repeats."""
    repeats = max(FEWEST, round(line.repeats * effort))
    errors = np.array([each for each in repeated(line, repeats) if each is not None])
    if not len(errors):
        return Now(math.nan, math.nan, repeats, repeats)
    chance, summary = np.random.default_rng(1), SUMMARIES[line.measure]
    drawn = [summary(errors[chance.integers(0, len(errors), len(errors))]) for _ in range(RESAMPLES)]
    far_off = 0
    if line.measure == RATIO:
        far_off = int((np.abs(errors[:, 0]) > clipping.CAPPED * np.sqrt(np.mean(np.square(errors[:, 1])))).sum())
    return Now(summary(errors), float(np.std(drawn)), repeats, repeats - len(errors), far_off)


def repeated(line: Line, repeats: int) -> Iterator[Any]:
    """The error of each repeat, or None where there was no reply."""
    if line.measure == RATIO:
        yield from mean_errors(line, repeats)
        return
    for rows in accuracy.samples(line.column, line.rows, repeats):
        try:
            yield float(error_of(line, rows))
        except AssertionError:  # accuracy.answer: no reply
            yield None


def error_of(line: Line, rows: Floats) -> float:
    """How far one release is off, by the measure of its line."""
    statistic, epsilon, ordered = line.statistic, line.epsilon, np.sort(rows)
    if statistic == "iqr":
        return abs(accuracy.our_iqr(rows, epsilon) - accuracy.exact(rows, "iqr"))
    if statistic == "mean":
        return abs(float(accuracy.answer(dp.mean(rows, epsilon=epsilon, rough=True))) - float(rows.mean()))
    if statistic == "quantile 0.99":
        wanted = ordered[math.ceil(0.99 * len(rows)) - 1]
        return abs(accuracy.ours(rows, 0.99, epsilon) - float(wanted)) / accuracy.population(line.column).iqr
    if statistic.startswith("cdf"):
        points = int(statistic.removeprefix("cdf "))
        return accuracy.largest_gap(rows, accuracy.answer(dp.cdf(rows, points, epsilon=epsilon, interval=None, rough=True)))
    if statistic.endswith("quantiles"):
        count = int(statistic.split()[0])
        wanted_ones = [round(index / (count + 1), 2) for index in range(1, count + 1)]
        values = accuracy.answer(dp.quantile(rows, wanted_ones, epsilon=epsilon, interval=None, rough=True))
        return accuracy.mean_rank_error(ordered, values, wanted_ones)
    value = accuracy.ours(rows, 0.5, epsilon)
    return accuracy.rank_error(ordered, value, 0.5) if line.measure == RANK else abs(value - accuracy.exact(rows, "median"))


def mean_errors(line: Line, repeats: int) -> Iterator[tuple[float, float] | None]:
    """Errors of private means and of sample means, on the very columns and noise of the first release."""
    draw, truth = clipping.SHAPES[line.column]
    chance = np.random.default_rng([clipping.SEED, list(clipping.SHAPES).index(line.column), line.rows])
    for repeat in range(repeats):
        rows = draw(line.rows, chance)
        release = dp.mean(rows, epsilon=line.epsilon, rng=seeded(repeat))
        yield (float(release) - truth, float(rows.mean()) - truth) if isinstance(release, dp.Release) else None


def ratio_of(errors: Floats) -> float:
    """The root mean square of the first errors over that of the second."""
    squares = np.square(errors).mean(axis=0)
    return math.sqrt(squares[0] / squares[1])


RATIO, RANK = "root mean square error over the sample mean's", "rank error, mean"
SUMMARIES: dict[str, Callable[[Floats], float]] = {
    "absolute error, median": lambda errors: float(np.median(errors)),
    "absolute error in interquartile ranges, median": lambda errors: float(np.median(errors)),
    "absolute error in interquartile ranges, 95%": lambda errors: float(np.quantile(errors, 0.95)),
    "largest vertical error, median": lambda errors: float(np.median(errors)),
    RANK: lambda errors: float(np.mean(errors)),
    RATIO: ratio_of,
}


def doubt_of(line: Line, now: Now) -> float:
    """The standard error of the difference of both figures.

    A figure of the first releases without an error of its own is taken to vary, beside its size, as the present one does; all of
    them were rounded.
    """
    then = line.error
    if then is None:
        then = now.error / now.figure * line.figure * math.sqrt(now.repeats / line.repeats) if now.figure else now.error
    return math.hypot(now.error, then, last_digit(line.figure) / math.sqrt(12))


def last_digit(figure: float) -> float:
    """The unit of the last digit that a figure is written with."""
    digits, _, power = repr(figure).partition("e")
    decimals = 0 if digits.endswith(".0") else len(digits.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals)


def verdict(line: Line, now: Now) -> str:
    """What became of a figure: worse or better beyond chance, or nothing to speak of."""
    if math.isnan(now.figure):
        return "**no reply**"
    apart, doubt = now.figure - line.figure, SURE * doubt_of(line, now)
    wilder = now.far_off - line.far_off > SURE * math.sqrt(max(1, line.far_off))
    return "**worse**" if apart > doubt or wilder else "better" if apart < -doubt else ""


def show_together(ratios: dict[str, list[float]]) -> None:
    """Print the geometric mean of all ratios of each kind: small changes of many lines show there first."""
    print("\n| statistic: measure | lines | now / then, geometric mean | median |\n| --- | --- | --- | --- |")
    for kind, found in ratios.items():
        factor = math.exp(float(np.std(np.log(found))) / math.sqrt(len(found)))
        print(f"| {kind} | {len(found)} | {geometric_mean(found):.3f} (times or over {factor:.3f}) | {np.median(found):.3f} |")


def main() -> None:
    lines, origins = first_lines()
    parser = argparse.ArgumentParser(description="Compare errors with those of the first releases.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats: a look, not a verdict")
    parser.add_argument("--only", nargs="+", metavar="statistic", help=", ".join(dict.fromkeys(line.statistic for line in lines)))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    start, worse, ratios = time.perf_counter(), 0, dict[str, list[float]]()
    heads = ("measure", "question", "then", "now", "now / then", "refused", "far off", "since", "verdict")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for line in lines:
        if options.only and line.statistic not in options.only:
            continue
        now = measured(line, 0.1 if options.quick else 1.0)
        told, ratio = verdict(line, now), f"{now.figure / line.figure:.2f}" if line.figure else "-"
        worse += told.startswith("**")
        question = f"{line.statistic} {line.column} {line.rows:,}, {line.epsilon:g}"
        figure = f"{now.figure:.3g} +- {now.error:.2g}"
        counts = now.refused or "", f"{line.far_off} to {now.far_off}" if line.far_off or now.far_off else ""
        cells = (line.measure, question, f"{line.figure:g}", figure, ratio, *counts, origins[line.origin]["commit"], told)
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        if line.figure and now.figure > 0:
            ratios.setdefault(f"{line.statistic}: {line.measure}", []).append(now.figure / line.figure)
    show_together(ratios)
    print(f"\n{worse} lines are worse than at first by more than {SURE:g} standard errors ({time.perf_counter() - start:.0f} s).")
    for origin in origins.values():
        print(f"- {origin['commit']}, {origin['date']}: {origin['from']}")


if __name__ == "__main__":
    main()
