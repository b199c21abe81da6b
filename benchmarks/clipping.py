"""How good the clip of a mean is, and what its constants' neighbours would give: error, coverage and width of dp.mean.

    python benchmarks/clipping.py [--repeats 40] [--at 1000/1 10000/0.1] [--shapes normal ages] [--settings kept] [--jobs 2]

By itself it measures the kept constants; `--settings all` tries the neighbours too, which takes half an hour for each place.

Columns are drawn anew for every repeat, with seeds that are the same for every setting, and so are the noises: differences
between settings are not chance alone. The error ratio is the root mean square error against the population's mean, over that
of the sample mean; once as it is, and once with errors counted as at most CAPPED standard errors, because one answer far off
settles the first. Coverage is that of the 95% interval, for the population's mean; width is the median interval's over that of
the usual one without privacy. Tables are Markdown.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import geometric_mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpstats as dp
from dpstats.statistics import means
from dpstats.statistics.clipped import clips, margins
from dpstats.statistics.universal import limits
from dpstats.statistics.universal.limits import Share
from dpstats.testing import seeded

Rows = NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], Rows]

CAPPED = 12.0
SEED = 11
"""Not the one that the constants were chosen with."""
LIKELY = 1.96
AT = ("200/1", "300/1", "1000/1", "10000/1")


def mixed(share: float, one: Draw, other: Draw) -> Draw:
    """So many of the rows from one law, the rest from another."""
    return lambda n, chance: np.where(chance.random(n) < share, one(n, chance), other(n, chance))


def zeros(n: int, chance: np.random.Generator) -> Rows:
    return np.zeros(n)


def delays(n: int, chance: np.random.Generator) -> Rows:
    """As in accuracy.py."""
    return np.round(chance.normal(-13, 13.5, n) + np.where(chance.random(n) < 0.38, chance.exponential(54, n), 0))


def lognormal(n: int, chance: np.random.Generator) -> Rows:
    return chance.lognormal(0, 1, n)


SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda n, chance: chance.normal(3, 1, n), 3.0),
    "lognormal .75": (lambda n, chance: chance.lognormal(0, 0.75, n), math.exp(0.75**2 / 2)),
    "lognormal 1": (lognormal, math.exp(0.5)),
    "exponential": (lambda n, chance: chance.exponential(1, n), 1.0),
    "t2": (lambda n, chance: chance.standard_t(2, n), 0.0),
    "t3": (lambda n, chance: chance.standard_t(3, n), 0.0),
    "Laplace": (lambda n, chance: chance.laplace(0, 1, n), 0.0),
    "Poisson 2": (lambda n, chance: chance.poisson(2, n).astype(float), 2.0),
    "ages": (lambda n, chance: np.floor(np.clip(chance.normal(40, 12, n), 0, 100)), 39.50157),
    "prices": (lambda n, chance: np.round(chance.lognormal(3, 1, n), 2), math.exp(3.5)),
    "30% zeros": (mixed(0.3, zeros, lognormal), 0.7 * math.exp(0.5)),
    "70% zeros": (mixed(0.7, zeros, lognormal), 0.3 * math.exp(0.5)),
    "contaminated": (mixed(0.05, lambda n, c: c.normal(0, 10, n), lambda n, c: c.normal(0, 1, n)), 0.0),
    "uniform": (lambda n, chance: chance.random(n), 0.5),
    "Bernoulli .1": (lambda n, chance: (chance.random(n) < 0.1).astype(float), 0.1),
    "two humps": (mixed(0.5, lambda n, c: c.normal(-100, 1, n), lambda n, c: c.normal(100, 1, n)), 0.0),
    "delays": (delays, -13 + 0.38 * 54),
    "N(1e6,1)": (lambda n, chance: chance.normal(1e6, 1, n), 1e6),
    "N(0,1e-9)": (lambda n, chance: 1e-9 * chance.normal(0, 1, n), 0.0),
}


def share(nats: int, least: str, most: str) -> Share:
    return Share(nats, Fraction(least), Fraction(most))


SETTINGS: dict[str, dict[tuple[Any, str], Any]] = {
    "kept": {},
    "less for the middle": {(limits, "MIDDLE"): share(50, ".04", ".2")},
    "less for the scale": {(limits, "SCALE"): share(25, ".03", ".2")},
    "less for the reach": {(limits, "REACH"): share(45, ".08", ".12")},
    "more for the reach": {(limits, "REACH"): share(60, ".18", ".25")},
    "less for the sides": {(limits, "SIDE"): share(12, ".0125", ".05")},
    "no closer recount": {(limits, "RECOUNT_SHARE"): Fraction(6, 100)},
    "4 safe nats": {(limits, "SAFE_NATS"): 4},
    "8 safe nats": {(limits, "SAFE_NATS"): 8},
    "reach as steep inward": {(limits, "OUTWARD_SHARE"): Fraction(1, 2)},
    "thin from 3 scales": {(limits, "THIN_SCALES"): 3},
    "unsure up to 5 scales": {(limits, "UNSURE_SCALES"): 5},
    "usual exponent 1": {(clips, "USUAL_EXPONENT"): 1.0},
    "usual exponent 1.4": {(clips, "USUAL_EXPONENT"): 1.4},
    "trusts scale and reach": {(clips, "TRUSTED"): 1.0},
    "trusts them half": {(clips, "TRUSTED"): 0.5},
    "wider clip": {(clips, "LEFT"): 0.03},
    "narrower clip": {(clips, "LEFT"): 0.2},
    "no lopsided room": {(clips, "LOPSIDED_ROOM"): 0.0},
    "lopsided room .8": {(clips, "LOPSIDED_ROOM"): 0.8},
    "ties as any tail": {(clips, "TIED_EXPONENT"): 1.2},
    "less hedge": {(clips, "HEDGE"): 0.5, (clips, "HEDGE_PER_NAT"): 0.6},
    "more hedge": {(clips, "HEDGE"): 1.5, (clips, "HEDGE_PER_NAT"): 1.8},
    "alike up to 1.5": {(clips, "ALIKE"): 1.5},
    "alike up to 4": {(clips, "ALIKE"): 4.0},
    "no caution": {(margins, "CAUTION"): 0.0},
    "more caution": {(margins, "CAUTION"): 1.5},
    "lost at most a half": {(means, "MOST_LOST"): 1.0},
}


@dataclass(frozen=True)
class Outcome:
    """What many means of one shape were like."""

    ratio: float
    capped: float
    coverage: float
    width: float
    far_off: int
    """Answers that miss by more than CAPPED standard errors."""


@contextmanager
def setting(name: str) -> Iterator[None]:
    """The library with other constants."""
    before = {place: getattr(*place) for place in SETTINGS[name]}
    for (module, constant), value in SETTINGS[name].items():
        setattr(module, constant, value)
    try:
        yield
    finally:
        for (module, constant), value in before.items():
            setattr(module, constant, value)


def measured(name: str, rows: int, epsilon: float, repeats: int, shape: str) -> Outcome:
    """Many means of one shape under one setting."""
    draw, truth = SHAPES[shape]
    chance = np.random.default_rng([SEED, list(SHAPES).index(shape), rows])
    errors, sample_errors, hits, widths, usual = [], [], [], [], []
    with setting(name):
        for repeat in range(repeats):
            column = draw(rows, chance)
            release = dp.mean(column, epsilon=epsilon, rng=seeded(repeat))
            assert isinstance(release, dp.Release)
            assert release.interval is not None
            errors.append(abs(float(release) - truth))
            sample_errors.append(column.mean() - truth)
            hits.append(release.interval.low <= truth <= release.interval.high)
            widths.append(release.interval.high - release.interval.low)
            usual.append(2 * LIKELY * column.std() / math.sqrt(rows))
    standard_error = math.sqrt(np.mean(np.square(sample_errors)))
    in_errors = np.array(errors) / standard_error
    ratio, capped = (math.sqrt(np.mean(np.square(kept))) for kept in (in_errors, np.minimum(in_errors, CAPPED)))
    width = float(np.median(widths) / np.median(usual))
    return Outcome(ratio, capped, float(np.mean(hits)), width, int((in_errors > CAPPED).sum()))


def outcomes(name: str, rows: int, epsilon: float, repeats: int, shapes: Sequence[str], jobs: int) -> list[Outcome]:
    run = partial(measured, name, rows, epsilon, repeats)
    if jobs == 1:
        return [run(shape) for shape in shapes]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(run, shapes))


def show_kept(rows: int, epsilon: float, shapes: Sequence[str], found: Sequence[Outcome]) -> None:
    heads = ("column", "error ratio", "capped", "far off", "coverage", "width")
    print(f"\n### {rows:,} rows, epsilon {epsilon:g}\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for shape, each in zip(shapes, found, strict=True):
        cells = f"{each.ratio:.3g} | {each.capped:.2f} | {each.far_off} | {each.coverage:.3f} | {each.width:.2f}"
        print(f"| {shape} | {cells} |", flush=True)


def summary(found: Sequence[Outcome]) -> str:
    """One cell of the table of settings."""
    covered = [outcome.coverage for outcome in found]
    ratios = [outcome.capped for outcome in found]
    width = geometric_mean(max(outcome.width, 0.01) for outcome in found)
    far_off = sum(outcome.far_off for outcome in found)
    errors = f"{geometric_mean(ratios):.3f} ({max(ratios):.2f}; {far_off})"
    return f"{errors}, {np.mean(covered):.3f} ({min(covered):.2f}), {width:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the constants of clipped means.")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--at", nargs="+", default=list(AT), metavar="ROWS/EPSILON")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="shape", help=", ".join(SHAPES))
    names = ["all", *SETTINGS]
    parser.add_argument("--settings", nargs="+", choices=names, default=["kept"], metavar="setting", help=", ".join(names))
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    options = parser.parse_args()
    cells = [(int(rows), float(epsilon)) for rows, epsilon in (text.split("/") for text in options.at)]
    start = time.perf_counter()
    lines = []
    for name in SETTINGS if "all" in options.settings else options.settings:
        row = []
        for rows, epsilon in cells:
            found = outcomes(name, rows, epsilon, options.repeats, options.shapes, options.jobs)
            if name == "kept":
                show_kept(rows, epsilon, options.shapes, found)
            row.append(summary(found))
        lines.append(f"| {name} | {' | '.join(row)} |")
    title = "Geometric mean of capped error ratios (largest; answers far off), mean coverage (lowest), width"
    print(f"\n### {title}; {options.repeats} repeats\n")
    print(f"| setting | {' | '.join(options.at)} |\n|{' --- |' * (len(cells) + 1)}")
    print("\n".join(lines))
    print(f"\n({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
