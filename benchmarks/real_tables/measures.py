"""What a cell shows: how often intervals held the whole table's value, errors and widths beside those without privacy."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binom

import dpstats as dp
from benchmarks.real_tables.jobs import Job
from benchmarks.real_tables.questions import Answered, Numbers, Question, Reply
from benchmarks.real_tables.tables import Columns, columns

SEED = 17
NORMAL_95 = 1.959964
LEAST_COVERAGE = 0.93
MOST_OPEN = 0.05
"""The share of intervals that may be open at an end, or unknown."""
LEAST_REPLIES = 0.1
"""A cell replies if it does so in this share of its samples; one that replies less often may miss in 5% of its samples."""
MOST_MISSES = 0.05
ROWS_FOR_CLOSE = 3_000
ROWS_FOR_CLOSE_COEFFICIENT = 5_000
"""Rows times epsilon, from which on errors are to be close to those without privacy; of regressions for each coefficient."""
CLOSE, NEAR = 1.3, 2.0
WILD = 100
OWN_WIDTHS = 3
"""A reply is also nonsense where it is off by more than this many widths of its own interval, and by more than this many times
what an interval without privacy reaches."""
FINEST, HEAPED = 1e-4, 0.2
"""No reply is nonsense that is off by less than WILD / 2 times the part FINEST of the truth, however sure the usual tool is; or
by less than so many times the part HEAPED of it, or of 1, where the usual tool says the same of every sample: a median of heaped
rows that is 2 and not 1 is no nonsense."""
CLOSE_SQUARES = 1.5
"""The most that the root of the mean squared error should be over the usual one, where errors are to be close."""
SURE = 0.01
"""The level of the one-sided test by which a coverage is surely below `LEAST_COVERAGE`."""
LEAST_USUAL = 0.05
"""By how much a coverage may lie below that of the usual interval, where that itself holds less than `LEAST_COVERAGE`."""
MAY_BE_CHANCE = "may be chance"


@dataclass(frozen=True)
class Value:
    """What was measured of one number of a cell."""

    name: str
    rows_epsilon: float
    """The number of rows that the number is about, times epsilon."""
    replies: int
    coverage: float | None
    """The share of known intervals that hold the truth; None where there is no reply."""
    chance: bool
    """Whether intervals that hold the truth in 95 of 100 samples may well show such a coverage (Wilson)."""
    open: float
    """The share of replies whose interval has an infinite end or is unknown."""
    error: float | None
    """The median error over that without privacy, in the samples with a reply; the mean one where the latter's median is 0."""
    width: float | None
    """The median width over that of the interval without privacy."""
    limit: float | None
    """The most that `error` should be, where there is such an aim."""
    coefficients: int = 0
    """Of regressions how many there are."""
    wild: float = 0.0
    """The share of replies that are nonsense: off by more than WILD times what an interval without privacy reaches, or by more
    than OWN_WIDTHS of their own widths and OWN_WIDTHS times that."""
    squares: float | None = None
    """The root of the mean squared error over that without privacy, in the samples with a reply."""
    usual_coverage: float | None = None
    """How often the usual interval without privacy held the truth on the same samples, where there is such an interval."""
    surely_below: bool = False
    """Whether the coverage is below LEAST_COVERAGE by more than chance, at the level SURE."""

    @property
    def least(self) -> float:
        """The coverage that is asked for: less where the usual interval itself holds less."""
        if self.usual_coverage is None or self.usual_coverage >= LEAST_COVERAGE:
            return LEAST_COVERAGE
        return self.usual_coverage - LEAST_USUAL

    def is_judged(self, repeats: int) -> bool:
        """Whether there are replies enough to judge it by."""
        return self.replies >= LEAST_REPLIES * repeats


@dataclass(frozen=True)
class Agreement:
    """Of tests and choices how often they say what they should."""

    private: float
    """Of tests the power; of choices the likeness to that of the whole table: the features in both over those in either."""
    usual: float
    """The same of the usual tool."""
    same: float
    """In which share of samples both say the same."""


@dataclass(frozen=True)
class Cell:
    """One question of one number of rows at one epsilon."""

    name: str
    statistic: str
    table: str
    rows: int
    epsilon: float
    repeats: int
    replies: float
    """The share of numbers that were released."""
    seconds: float
    values: tuple[Value, ...]
    agreement: Agreement | None = None
    short: tuple[str, ...] = field(default=())
    """Where it falls short, in words."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def cell_of(plain: dict[str, Any]) -> Cell:
    """The cell that `to_dict` made plain."""
    agreement = plain["agreement"] and Agreement(**plain["agreement"])
    values = tuple(Value(**each) for each in plain["values"])
    return Cell(**{**plain, "values": values, "agreement": agreement, "short": tuple(plain["short"])})


def measure(job: Job, repeats: int) -> list[Cell]:
    """Ask a question of so many samples at every epsilon of a job."""
    question = job.question
    whole = columns(question.table, question.columns)
    chance = np.random.default_rng([SEED, job.rows, *question.name.encode()])
    draw = _Draw.of(question, whole, job.rows)
    samples, exact, usual, intervals = [], [], [], []
    for _ in range(repeats):
        samples.append(draw.sample(chance))
        rows = draw.taken(samples[-1])
        exact.append(question.exact(rows))
        usual.append(question.usual(rows) if question.usual else None)
        intervals.append(question.interval(rows) if question.interval else None)
    held = _usual_coverage(question, whole, intervals)
    cells = []
    for place, epsilon in enumerate(job.epsilons):
        answers, seconds = [], []
        for number, sample in enumerate(samples):
            rows, source = draw.taken(sample), dp.testing.seeded(10 * number + place)
            start = time.perf_counter()
            answers.append(_answered(question, rows, epsilon, source))
            seconds.append(time.perf_counter() - start)
        cells.append(_cell(job, epsilon, whole, np.array(exact), usual, answers, float(np.median(seconds)), held))
    return cells


@dataclass(frozen=True)
class _Draw:
    """How samples are drawn from a whole table: of rows, or of persons with all their rows."""

    whole: Columns
    unit: str
    rows: int
    """How many rows, or persons, a sample has."""
    persons: tuple[Any, ...] = ()
    """The places of each person's rows."""

    @classmethod
    def of(cls, question: Question, whole: Columns, rows: int) -> _Draw:
        if not question.unit:
            return cls(whole, "", rows)
        ids = whole[question.unit]
        order = np.argsort(ids, kind="stable")
        starts = np.flatnonzero(np.r_[True, ids[order][1:] != ids[order][:-1]])
        return cls(whole, question.unit, rows, tuple(np.split(order, starts[1:])))

    def sample(self, chance: np.random.Generator) -> Any:
        """The places of rows, or of persons, drawn with replacement."""
        return chance.integers(0, len(self.persons) or len(next(iter(self.whole.values()))), self.rows)

    def taken(self, sample: Any) -> Columns:
        """The rows of a sample; a person who was drawn twice is two persons."""
        if not self.unit:
            return {name: values[sample] for name, values in self.whole.items()}
        parts = [self.persons[place] for place in sample]
        rows = np.concatenate(parts)
        ids = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return {**{name: values[rows] for name, values in self.whole.items()}, self.unit: ids}


def _usual_coverage(question: Question, whole: Columns, intervals: Sequence[Any]) -> float | None:
    if question.interval is None:
        return None
    (truth,) = question.exact(whole)
    return float(np.mean([low <= truth <= high for low, high in intervals]))


def _answered(question: Question, rows: Columns, epsilon: float, source: Any) -> Answered:
    try:
        return question.ask(rows, epsilon=epsilon, rng=source)
    except Exception as error:
        return Answered((None,) * len(question.values), raised=f"{type(error).__name__}: {error}")


def _cell(
    job: Job,
    epsilon: float,
    whole: Columns,
    exact: Numbers,
    usual: Sequence[Any],
    answers: Sequence[Answered],
    seconds: float,
    usual_coverage: float | None,
) -> Cell:
    question = job.question
    truth = exact if question.of_rows else np.broadcast_to(question.exact(whole), exact.shape)
    shares = question.shares(whole) if question.shares else np.ones(len(question.values))
    values = tuple(
        _value(
            question,
            name,
            job.rows * float(shares[place]) * epsilon,
            truth[:, place],
            exact[:, place],
            [each.replies[place] for each in answers],
            usual_coverage,
        )
        for place, name in enumerate(question.values)
    )
    if question.values:
        replied = float(np.mean([reply is not None for each in answers for reply in each.replies]))
    else:
        replied = float(np.mean([each.chosen is not None or each.rejects is not None for each in answers]))
    agreement = _agreement(question, whole, usual, answers)
    raised = [each.raised for each in answers if each.raised]
    complaints = [f"raised in {len(raised)} of {len(answers)} samples: {raised[0]}"] if raised else []
    short = (*complaints, *(reason for value in values for reason in shortfalls(value, len(answers))))
    return Cell(
        job.name_at(epsilon),
        question.statistic,
        question.table,
        job.rows,
        epsilon,
        len(answers),
        replied,
        seconds,
        values,
        agreement,
        short,
    )


def _value(
    question: Question,
    name: str,
    rows_epsilon: float,
    truth: Numbers,
    exact: Numbers,
    replies: Sequence[Reply | None],
    usual_coverage: float | None,
) -> Value:
    places = [place for place, reply in enumerate(replies) if reply is not None]
    given = np.array([reply for reply in replies if reply is not None], dtype=float).reshape(-1, 3)
    limit = None if question.of_rows else _limit(rows_epsilon, question.coefficients)
    if not places:
        return Value(name, rows_epsilon, 0, None, False, 0.0, None, None, limit, question.coefficients)
    released, low, high = given.T
    known = ~(np.isnan(low) | np.isnan(high))
    held = ((low <= truth[places]) & (truth[places] <= high))[known]
    coverage = float(np.mean(held)) if held.size else None
    errors, usual_errors = np.abs(released - truth[places]), np.abs(exact[places] - truth[places])
    ideal = 2 * NORMAL_95 * float(np.std(exact))
    width = float(np.median((high - low)[known])) if held.size else math.inf
    return Value(
        name,
        rows_epsilon,
        len(places),
        coverage,
        coverage is not None and _may_be_chance(int(held.sum()), held.size),
        float(np.mean(~(np.isfinite(low) & np.isfinite(high)))),
        None if question.of_rows else _error_ratio(errors, usual_errors),
        None if question.of_rows else _ratio(width, ideal),
        limit,
        question.coefficients,
        0.0 if question.of_rows else float(np.mean(nonsense(errors, high - low, ideal, truth[places]))),
        None if question.of_rows else _ratio(_root_mean_square(errors), _root_mean_square(usual_errors)),
        usual_coverage,
        bool(held.size) and float(binom.cdf(int(held.sum()), held.size, LEAST_COVERAGE)) < SURE,
    )


def nonsense(errors: Numbers, widths: Numbers, ideal: float, truth: Numbers) -> Any:
    """Which replies are nonsense; `ideal` is the width of an interval without privacy. An unknown width says nothing."""
    reached = np.maximum(ideal, FINEST * np.abs(truth)) if ideal else HEAPED * np.maximum(np.abs(truth), 1.0)
    return (errors > WILD * reached / 2) | ((errors > OWN_WIDTHS * widths) & (errors > OWN_WIDTHS * reached / 2))


def _root_mean_square(errors: Numbers) -> float:
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.mean(errors**2)))


def rows_for_close(coefficients: int) -> int:
    """Rows times epsilon from which on errors are to be close to the usual ones."""
    return ROWS_FOR_CLOSE_COEFFICIENT * coefficients if coefficients else ROWS_FOR_CLOSE


def _limit(rows_epsilon: float, coefficients: int) -> float | None:
    """The most that an error over the usual one should be, where there is such an aim."""
    enough = rows_for_close(coefficients)
    if rows_epsilon > enough:
        return CLOSE
    return NEAR if rows_epsilon > enough / 3 else None


def _error_ratio(errors: Numbers, usual_errors: Numbers) -> float | None:
    """The median error over the usual one; the mean error where half of the usual ones are 0, as for round numbers."""
    average = np.median if np.median(usual_errors) else np.mean
    return _ratio(float(average(errors)), float(average(usual_errors)))


def _ratio(one: float, other: float) -> float | None:
    """One over the other, 1 where both are 0; None where it is not finite."""
    if one == other:
        return 1.0
    return one / other if other and math.isfinite(one) else None


def _may_be_chance(held: int, known: int) -> bool:
    """Whether Wilson's 95% interval for the coverage reaches 95%."""
    share, square = held / known, NORMAL_95**2
    middle = (share + square / (2 * known)) / (1 + square / known)
    half = NORMAL_95 / (1 + square / known) * math.sqrt(share * (1 - share) / known + square / (4 * known * known))
    return middle + half >= 0.95


def shortfalls(value: Value, repeats: int) -> list[str]:
    """Where a number falls short of the aims, in words; those that may be chance say so."""
    reasons = []
    replies_enough = value.is_judged(repeats)
    if value.coverage is not None:
        misses = (1 - value.coverage) * value.replies
        if (value.coverage < value.least) if replies_enough else (misses > MOST_MISSES * repeats):
            word = f", {MAY_BE_CHANCE}" if value.chance else ""
            usual = f" (usual {100 * (value.least + LEAST_USUAL):.0f}%)" if value.least < LEAST_COVERAGE else ""
            reasons.append(f"{value.name}: held in {100 * value.coverage:.0f}%{usual}{word}")
    if value.wild:
        reasons.append(f"{value.name}: nonsense in {100 * value.wild:.2g}%")
    if replies_enough and value.open > MOST_OPEN:
        reasons.append(f"{value.name}: interval open or unknown in {100 * value.open:.0f}%")
    if replies_enough and value.limit is not None and (value.error is None or value.error > value.limit):
        times = "infinitely" if value.error is None else f"{value.error:.2g} times"
        reasons.append(f"{value.name}: error {times} that without privacy, aim {value.limit:g}")
    if replies_enough and value.limit == CLOSE and value.squares is not None and value.squares > CLOSE_SQUARES:
        aim = f"aim {CLOSE_SQUARES:g}"
        reasons.append(f"{value.name}: root mean squared error {value.squares:.2g} times that without privacy, {aim}")
    if value.limit is not None and not replies_enough:
        reasons.append(f"{value.name}: no reply, though there are rows enough")
    return reasons


def _agreement(question: Question, whole: Columns, usual: Sequence[Any], answers: Sequence[Answered]) -> Agreement | None:
    if question.usual is None:
        return None
    if isinstance(usual[0], bool):  # a test; without a reply nothing is rejected
        private, without = np.array([(bool(each.rejects), other) for each, other in zip(answers, usual, strict=True)]).T
        return Agreement(float(private.mean()), float(without.mean()), float(np.mean(private == without)))
    truth = question.usual(whole)
    chosen = [each.chosen or frozenset() for each in answers]
    return Agreement(
        float(np.mean([_likeness(each, truth) for each in chosen])),
        float(np.mean([_likeness(each, truth) for each in usual])),
        float(np.mean([one == other for one, other in zip(chosen, usual, strict=True)])),
    )


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The options in both over those in either (Jaccard)."""
    return len(one & other) / len(one | other) if one | other else 1.0
