"""The tables that plans read instead of simulating: `make plan-tables`, or `python -m tests.plan_tables`.

    python -m tests.plan_tables             simulates every cell anew, and compares: about 25 minutes of one core
    python -m tests.plan_tables --compare   compares the tables with simulations between their cells, and keeps how far they are
    python -m tests.plan_tables --renew     after a change of the code: where fresh cells agree with the tables, they are kept

A table belongs to the code that it was simulated with. `fingerprint` hashes seeded releases of all questions in the tables: it
changes where a release changes, and not where code only moves. A test compares it, and simulates a few cells afresh.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.planning import stored_tables as stored_module
from dpstats.curator.planning.plan_rows import Figures
from dpstats.curator.planning.shapes import DEFAULT_SHAPES, SHAPES
from dpstats.curator.planning.simulations import SimulatedLine, Trial, at_most, figures_of
from dpstats.curator.planning.stored_tables import FILE, MOST_ROWS, StoredQuestion, stored_tables
from dpstats.curator.planning.yardsticks import Scale, Yardstick, measured, scale_of
from dpstats.engines.arrays import ArrayColumn
from dpstats.foundations.randomness import seeded
from dpstats.foundations.registry import Question, ask
from dpstats.foundations.results import Release

QUESTIONS: tuple[tuple[Any, ...], ...] = (
    ("count",),
    ("median",),
    ("mean",),
    ("quantile", 0.9),
    ("sum",),
    ("std",),
    ("iqr",),
    ("quantile", 0.25),
    ("quantile", 0.75),
    ("variance",),
    ("quantile", 0.95),
    ("quantile", 0.1),
    ("quantile", [0.25, 0.5, 0.75]),
    ("quantile", 0.05),
)
SIZES = (100, 300, 1_000, 10_000, 100_000)
LARGE = 1_000_000
"""Also simulated where values have ties, which do not go by the law of large numbers."""
FEWEST_NATS = 40
"""Rows times epsilon of the smallest cells: below, answers are driven by the prior, and plans simulate."""
EPSILONS = tuple(digit * Fraction(10) ** power for power in range(-3, 2) for digit in (1, 2, 5))
SMALLEST_EPSILON, LARGEST_EPSILON, LARGEST_OF_FEW = Fraction(5, 1000), Fraction(20), Fraction(50)
FEW_ROWS = 300
REPEATS = {100: 40, 300: 40, 1_000: 40, 10_000: 32, 100_000: 16, LARGE: 12}
QUICK = 10
"""Times as many tables for a count, which reads no row."""
SEED = 16
DIGITS = 4
FEW_TABLES, STEPS = 60, 5
FIGURES = ("half_width", "error_median", "error_95")
PATH = Path(stored_module.__file__).with_name(FILE)


def epsilons_for(rows: int) -> list[Fraction]:
    """The epsilons of the cells for tables of `rows` rows."""
    largest = LARGEST_OF_FEW if rows <= FEW_ROWS else LARGEST_EPSILON
    return [each for each in EPSILONS if SMALLEST_EPSILON <= each <= largest and each * rows >= FEWEST_NATS]


def question_at(asked: Sequence[Any], epsilon: Fraction | int) -> Question:
    """A question by name and parameters."""
    return ask(*asked, epsilon=epsilon, column=("",))


@dataclass(frozen=True)
class Pair:
    """A question on a shape."""

    asked: tuple[Any, ...]
    shape: str
    yardstick: Yardstick
    scale: Scale

    def line(self, rows: int, seed: int = SEED) -> SimulatedLine:
        """Simulated tables of `rows` rows."""
        return SimulatedLine(SHAPES[self.shape], rows, self.yardstick, self.scale, seed)


def pair_of(asked: tuple[Any, ...], shape: str) -> Pair:
    """A question on a shape, with what is needed to judge answers."""
    question = question_at(asked, 1)
    return Pair(asked, shape, measured(question, SHAPES[shape]), scale_of(question))


class RawLine(NamedTuple):
    """All trials of one number of rows."""

    bare: list[float]
    """Errors with next to no noise; the first of them on the tables of the cells."""
    cells: dict[Fraction, list[Trial]]


def simulated_lines(pair: Pair) -> dict[int, RawLine]:
    """The trials of a question on a shape, by numbers of rows."""
    lines: dict[int, RawLine] = {}
    for rows in (*SIZES, LARGE):
        if rows == LARGE and not has_steps(lines.values()):
            continue
        line, repeats = pair.line(rows), REPEATS[rows] * (QUICK if pair.asked == ("count",) else 1)
        reads_every_row = pair.asked[0] in ("mean", "sum", "std", "variance")
        more = 1 if rows == LARGE or pair.asked == ("count",) else 5 if not reads_every_row else 3 if rows <= 1_000 else 1
        bare = line.bare(question_at(pair.asked, 1), repeats * more)
        cells = {
            epsilon: line.replies(question_at(pair.asked, epsilon), range(repeats), lambda: None)
            for epsilon in epsilons_for(rows)
        }
        lines[rows] = RawLine([float(trial.error or 0) for trial in bare], cells)
    return lines


def has_steps(lines: Iterable[RawLine]) -> bool:
    """Whether errors without noise are whole numbers: those of values with ties."""
    return all(error.is_integer() for line in lines for error in line.bare)


def stored_shape(pair: Pair, lines: Mapping[int, RawLine]) -> dict[str, Any]:
    """The cells of a question on a shape, as they are stored."""
    yardstick = pair.yardstick
    return {
        "value": yardstick.value,
        "rows": yardstick.rows if yardstick.grows else None,
        "lines": {str(rows): stored_line(lines, rows) for rows in lines},
    }


def stored_line(lines: Mapping[int, RawLine], rows: int) -> dict[str, Any]:
    """One line as it is stored; cells without intervals are left out."""
    line = lines[rows]
    cells = {each: trials for each, trials in line.cells.items() if any(trial.covered is not None for trial in trials)}
    sampling = {share: expected_bare(lines, rows, share) for share in (0.5, 0.95)}
    return {
        "repeats": len(next(iter(line.cells.values()))),
        "sampling": [rounded(sampling[0.5]), rounded(sampling[0.95])],
        "epsilons": [float(epsilon) for epsilon in cells],
        "replies": [sum(trial.replied for trial in trials) for trials in cells.values()],
        "half_width": [rounded(at_most(0.5, (trial.width for trial in trials))) for trials in cells.values()],
        "coverage": [
            rounded(np.mean([trial.covered for trial in trials if trial.covered is not None])) for trials in cells.values()
        ],
        "error_median": [rounded(mended_error(trials, line.bare, 0.5, sampling[0.5])) for trials in cells.values()],
        "error_95": [rounded(mended_error(trials, line.bare, 0.95, sampling[0.95])) for trials in cells.values()],
    }


def mended_error(trials: Sequence[Trial], bare: Sequence[float], share: float, expected: float) -> float:
    """The error that a `share` of the replies do not exceed.

    How far sampling was off on these very tables is known, because more tables say what is `expected`. As far as errors with
    noise go together with those without (by the correlation of being below the median), they are mended by that.
    """
    errors = [float(trial.error) for trial in trials if trial.error is not None]
    error, same = at_most(share, errors), at_most(share, bare[: len(trials)])
    assert error is not None
    if not error or not same or not expected or len(errors) < len(trials) or all(each.is_integer() for each in errors):
        return error
    is_small = [np.array(each) <= np.median(each) for each in (errors, bare[: len(trials)])]
    if any(each.all() for each in is_small):
        return error
    together = float(np.corrcoef(*is_small)[0, 1])
    return error * (expected / same) ** (together if together > 0.3 else 0.0)


def expected_bare(lines: Mapping[int, RawLine], rows: int, share: float) -> float:
    """An error without noise that a `share` of the tables do not exceed: a power of n, fitted to all lines."""
    found = {size: at_most(share, line.bare) for size, line in lines.items()}
    if has_steps(lines.values()) or not all(found.values()):
        return float(found[rows] or 0.0)
    sizes, weights = np.log(list(found)), np.sqrt([len(line.bare) for line in lines.values()])
    slope, start = np.polyfit(sizes, np.log([float(each or 0) for each in found.values()]), 1, w=weights)
    return float(np.exp(start + slope * np.log(rows)))


def rounded(number: Any) -> float | None:
    """A number of few digits; None where it is infinite."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def simulated_question(asked: tuple[Any, ...]) -> dict[str, Any]:
    """The tables of a question, as they are stored."""
    question = question_at(asked, 1)
    pairs = [pair_of(asked, shape) for shape in DEFAULT_SHAPES]
    return {
        "method": question.method.name,
        "scale": scale_of(question).value,
        "fingerprint": fingerprint(asked),
        "differs": {},
        "shapes": {pair.shape: stored_shape(pair, simulated_lines(pair)) for pair in pairs},
    }


def fingerprint(asked: Sequence[Any]) -> str:
    """A hash of seeded releases of a question: another law, or another order of draws, has another one."""
    chance = random.Random(SEED)
    outcomes = []
    for number in range(6):
        rows = np.array([chance.randrange(1, 1_000) ** 3 / 1_000 for _ in range(60 * (number + 1))])
        question = replace(question_at(asked, Fraction(1 + number, 3)), rough=True)
        release = question.answer(ArrayColumn([rows]), seeded(number))
        if not isinstance(release, Release):
            outcomes.append([release.reason])
            continue
        ends = [end for each in (*release.intervals, release.interval) if each is not None for end in (each.low, each.high)]
        values = release.value if isinstance(release.value, tuple) else [release.value]
        outcomes.append([f"{float(each):.9g}" for each in (*values, *ends)])
    return hashlib.sha256(json.dumps(outcomes).encode()).hexdigest()[:16]


class Compared(NamedTuple):
    """A line that was simulated between the cells, beside what the tables say."""

    asked: tuple[Any, ...]
    shape: str
    rows: int
    epsilon: Fraction
    stored: Figures
    fresh: Figures

    def difference(self, name: str) -> float | None:
        """By which share a stored figure is off; None for one that is not known, moves in large steps, or is ten times as large
        as its scale.

        Errors of few tables are left out.
        """
        if name != "half_width" and self.fresh.repeats < FEW_TABLES:
            return None
        figures = [getattr(each, name) for each in (self.stored, self.fresh)]
        if None in figures:  # too few replies
            return None
        known, new = map(float, figures)
        pair = pair_of(self.asked, self.shape)
        whole = pair.scale.amount(SHAPES[self.shape], pair.line(self.rows).truth) or math.inf
        if not 0 < new < 10 * whole or (new < STEPS and (2 * new).is_integer()):
            return None
        return abs(known / new - 1)

    def __str__(self) -> str:
        figures = [f"{name} {getattr(self.stored, name)} ({getattr(self.fresh, name)})" for name in FIGURES]
        return f"{question_at(self.asked, 1)}, {self.shape}, n={self.rows}, epsilon={float(self.epsilon):g}: {', '.join(figures)}"


def compared(asked: tuple[Any, ...], lines: int = 10, tables: int = 150) -> list[Compared]:
    """Lines at random between the cells of a question: the stored figures, and those of a simulation with another seed.

    Seven of ten are of up to 30,000 rows; of larger ones fewer tables are simulated.
    """
    chance = random.Random(str(asked))
    result: list[Compared] = []
    while len(result) < lines:
        shape = DEFAULT_SHAPES[len(result) % len(DEFAULT_SHAPES)]
        is_large = len(result) % 3 == 2
        rows = round(math.exp(chance.uniform(*map(math.log, (30_000, MOST_ROWS) if is_large else (110, 30_000)))))
        least = max(80 / rows, 2e-3 if is_large else 0)
        epsilon = Fraction(f"{math.exp(chance.uniform(math.log(least), math.log(8))):.2g}")
        pair = pair_of(asked, shape)
        known = stored_tables()[text_of(asked)].shapes[shape].at(rows, float(epsilon))
        if known is None:
            continue
        question, line = question_at(asked, epsilon), pair.line(rows, SEED + 1)
        many = max(16, round(tables * min(1, 30_000 / rows)))
        fresh = figures_of(line.replies(question, range(many), lambda: None), [])
        result.append(Compared(asked, shape, rows, epsilon, known, fresh))
    return result


def largest_of_most(differences: Iterable[float | None]) -> float:
    """What nine of ten differences do not exceed, to two digits."""
    known = [each for each in differences if each is not None]
    return float(f"{np.quantile(known, 0.9, method='inverted_cdf') if known else 0:.2g}")


class FreshCell(NamedTuple):
    """A cell that is simulated afresh: how many tables are below the stored median, and how many may be."""

    text: str
    below: int
    least: float
    most: float

    @property
    def agrees(self) -> bool:
        """Whether the cell may have the stored figure, by the sampling error of both."""
        return self.least <= self.below <= self.most


FRESH = (
    (("median",), "normal", 1_000, Fraction(1)),
    (("median",), "lognormal", 10_000, Fraction(1, 10)),
    (("mean",), "lognormal", 1_000, Fraction(1)),
    (("quantile", 0.9), "heavy_tailed", 1_000, Fraction(2)),
    (("iqr",), "normal", 1_000, Fraction(1)),
    (("std",), "normal", 300, Fraction(5)),
    (("sum",), "delays", 1_000, Fraction(1, 2)),
)
"""Cells that a test simulates."""


FRESH_REPEATS = 40


@cache
def fresh_trials() -> list[list[Trial]]:
    """The trials of these cells, with another seed."""
    return [
        pair_of(asked, shape).line(rows, SEED + 2).replies(question_at(asked, epsilon), range(FRESH_REPEATS), lambda: None)
        for asked, shape, rows, epsilon in FRESH
    ]


def fresh_cells(tables: Mapping[str, StoredQuestion], factor: float = 1.0) -> Iterator[FreshCell]:
    """A few cells, simulated with another seed, beside the stored half-widths and typical errors times `factor`."""
    repeats = FRESH_REPEATS
    for (asked, shape, rows, epsilon), trials in zip(FRESH, fresh_trials(), strict=True):
        stored = tables[text_of(asked)].shapes[shape].at(rows, float(epsilon))
        assert stored is not None
        for name in ("half_width", "error_median"):
            limit = factor * float(getattr(stored, name))
            amounts = [trial.width if name == "half_width" else trial.error for trial in trials]
            below = sum(amount is not None and amount <= limit for amount in amounts)
            reach = 3.5 * math.sqrt(repeats / 4 * (1 + repeats / stored.repeats))
            text = f"{text_of(asked)}, {shape}, {rows} rows, epsilon {float(epsilon):g}, {name}"
            yield FreshCell(text, below, repeats / 2 - reach, repeats / 2 + reach)


def write(stored: Mapping[str, Any]) -> None:
    """Write the tables, a line of text for every line of cells."""
    text = json.dumps({"questions": stored}, indent=1, allow_nan=False)
    flat = re.sub(r"\[[^][{}]*\]", lambda found: re.sub(r"\n\s*", "", found[0]), text)
    flat = re.sub(r"\{\s+(\"repeats\"[^{}]*?)\s+\}", lambda found: "{" + re.sub(r"\s+", " ", found[1]) + "}", flat)
    PATH.write_text(flat + "\n", encoding="utf-8")
    stored_tables.cache_clear()


def read() -> dict[str, Any]:
    """The tables as they are stored."""
    return dict(json.loads(PATH.read_text(encoding="utf-8"))["questions"])


def text_of(asked: tuple[Any, ...]) -> str:
    """The name of a question in the tables."""
    return str(replace(question_at(asked, 1), columns=()))


def compare() -> None:
    """Measure how far the tables are from simulations, and keep it in them."""
    stored = read()
    for asked in QUESTIONS:
        lines = compared(asked)
        differs = {name: largest_of_most(each.difference(name) for each in lines) for name in FIGURES}
        stored[text_of(asked)]["differs"] = differs
        say(*lines, f"{text_of(asked)}: {differs}")
    write(stored)


def renew() -> None:
    """Keep the tables for changed code, where fresh cells agree with them."""
    apart = [cell for cell in fresh_cells(stored_tables()) if not cell.agrees]
    if apart:
        sys.exit("\n".join(["the tables are not those of this code: run `make plan-tables`.", *map(str, apart)]))
    stored = read()
    write({text_of(asked): {**stored[text_of(asked)], "fingerprint": fingerprint(asked)} for asked in QUESTIONS})


def say(*lines: object) -> None:
    """Write lines, and show them at once."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def main() -> None:
    """Simulate, compare or renew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--renew", action="store_true")
    chosen = parser.parse_args()
    start = time.process_time()
    if chosen.renew:
        renew()
    elif chosen.compare:
        compare()
    else:
        simulated = {}
        for asked in QUESTIONS:
            simulated[text_of(asked)] = simulated_question(asked)
            say(f"{text_of(asked)}: {time.process_time() - start:.0f} s of the processor so far")
        write(simulated)
        compare()
    say(f"{time.process_time() - start:.0f} s of the processor")


if __name__ == "__main__":
    main()
