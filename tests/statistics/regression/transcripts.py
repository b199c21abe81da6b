"""Transcripts: a regression is run once, and what it released is then forced upon its run on a neighbouring table.

If all it does after its first noisy number is a function of released numbers, the second run asks the same questions and ends in
the same place, whatever its rows hold. What it hands to the budget may differ by a row, and by no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.tables.given import as_table
from dpstats.foundations.progress import Progress
from dpstats.foundations.summaries import Column, RowSum, Table
from dpstats.statistics.regression import octaves, standard
from dpstats.statistics.regression.budget_split import BudgetSplit, ConcentratedBudgetSplit, PureBudgetSplit
from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.quantile_steps import take_quantile_steps
from dpstats.statistics.regression.steps import take_steps
from dpstats.statistics.regression.walk import Estimate, FitContext
from dpstats.testing import seeded
from tests.statistics.regression.step_rows import claims_of

Around = Callable[[BudgetSplit], BudgetSplit]


class Transcript:
    """Questions in their order, what came back, and the raw numbers behind it."""

    def __init__(self, released: Sequence[Any] | None = None) -> None:
        """Say `released` to force it."""
        self.questions: list[object] = []
        self.released: list[Any] = []
        self.raw: list[tuple[int, ...]] = []
        self._forced = list(released or ())

    def release(self, question: object, make: Callable[[], Any], raw: Sequence[int] = ()) -> Any:
        """What comes back: what is forced, or else something new."""
        place = len(self.released)
        self.note(question, raw)
        self.released.append(self._forced[place] if place < len(self._forced) else make())
        return self.released[-1]

    def note(self, question: object, raw: Sequence[int]) -> None:
        """Write down a question."""
        self.questions.append(question)
        self.raw.append(tuple(raw))


@dataclass(frozen=True)
class Noisy:
    """A purchase of noise."""

    coordinates: int
    l2_units: int
    share: Fraction


class ScriptedBudgetSplit:
    """A budget that counts shares as a real one, and whose noise is quick to draw or forced."""

    def __init__(self, budget: BudgetSplit, transcript: Transcript, rows: int | None = None) -> None:
        """`rows` is the noisy number of rows, if it shall be a certain one."""
        self.left = budget.left
        self._budget = budget
        self._transcript = transcript
        self._rows = rows
        self._noise = np.random.default_rng(11)

    def noisy(self, raw_sums: Sequence[int], l2_units: int, share: Fraction) -> tuple[list[int], float]:
        self.draw_epsilon(share)  # takes it
        deviation = l2_units * self._budget.deviation(share, len(raw_sums))
        question = Noisy(len(raw_sums), l2_units, share)

        def make() -> list[int]:
            if self._rows is not None and not self._transcript.released:
                return [self._rows]
            drawn = np.rint(self._noise.normal(size=len(raw_sums)) * deviation)
            return [raw + int(each) for raw, each in zip(raw_sums, drawn, strict=True)]

        return self._transcript.release(question, make, raw_sums), deviation

    def draw_epsilon(self, share: Fraction) -> Fraction:
        epsilon = self._budget.draw_epsilon(share)
        self.left = self._budget.left
        return epsilon

    @property
    def epsilon_left(self) -> Fraction:
        assert isinstance(self._budget, PureBudgetSplit)
        return self._budget.epsilon_left

    def deviation(self, share: Fraction, coordinates: int) -> float:
        return self._budget.deviation(share, coordinates)

    def share_for_draw(self, epsilon: float) -> Fraction:
        return self._budget.share_for_draw(epsilon)

    def share_for_deviation(self, deviation: float, coordinates: int) -> Fraction:
        return self._budget.share_for_deviation(deviation, coordinates)


class ScriptedTable:
    """A table that writes down which sums it is asked for."""

    def __init__(self, table: Table, transcript: Transcript) -> None:
        self._table = table
        self._transcript = transcript

    def column(self, place: int) -> Column:
        return self._table.column(place)

    def row_sums(self, row_sum: RowSum) -> tuple[int, ...]:
        raw_sums = self._table.row_sums(row_sum)
        self._transcript.note(row_sum, raw_sums)
        return raw_sums

    def matrix(self) -> NDArray[np.float64]:
        return self._table.matrix()


@dataclass(frozen=True)
class Setting:
    """What is public about a regression."""

    epsilon: Fraction = Fraction(4)
    rho: Fraction | None = None
    intercept: bool = True
    interval: bool = True
    quantile: Fraction | None = None
    rows: int | None = None
    full: bool = False
    """Whether the last steps follow full scores."""

    def budget(self) -> BudgetSplit:
        rng = seeded(5)
        return PureBudgetSplit(self.epsilon, rng) if self.rho is None else ConcentratedBudgetSplit(self.rho, rng)


@dataclass(frozen=True)
class Run:
    """Where a run led, what was left in its budget, and its transcript."""

    estimate: Estimate | None
    left: Fraction
    transcript: Transcript

    def tells(self) -> object:
        """All that anybody sees of it, to the last bit."""
        return self.transcript.questions, told(self.estimate), self.left


def table_of(raw_rows: Floats) -> Table:
    """A table of rows in memory."""
    columns = [column.copy() for column in raw_rows.T]
    return as_table(columns)


def run(raw_rows: Floats, setting: Setting, released: Sequence[Any] | None = None, around: Around | None = None) -> Run:
    """A regression of the last column with a scripted budget, or a twin around it."""
    transcript = Transcript(released)
    budget: BudgetSplit = ScriptedBudgetSplit(setting.budget(), transcript, setting.rows)
    budget = budget if around is None else around(budget)
    table: Any = ScriptedTable(table_of(raw_rows), transcript)
    with _scripted_draws(transcript):
        context = FitContext(table, budget, seeded(6), Progress(None))
        features = raw_rows.shape[1] - 1
        public = {"intercept": setting.intercept, "interval": setting.interval}
        if setting.quantile is None:
            estimate = take_steps(context, features, **public, full=setting.full)
        else:
            estimate = take_quantile_steps(context, features, **public, quantile=setting.quantile)
    return Run(estimate, budget.left, transcript)


def replayed(first: Run, raw_rows: Floats, setting: Setting, around: Around | None = None) -> Run:
    """The run of a neighbouring table on which the same numbers are forced."""
    return run(raw_rows, setting, first.transcript.released, around)


def moves_are_small(first: Run, second: Run) -> bool:
    """Whether all raw numbers behind two runs of the same questions differ by no more than is claimed."""
    for question, raw, raw_other in zip(first.transcript.questions, first.transcript.raw, second.transcript.raw, strict=True):
        raw_move = [after - before for before, after in zip(raw, raw_other, strict=True)]
        if isinstance(question, Noisy):
            if sum(moved**2 for moved in raw_move) > question.l2_units**2:
                return False
        elif not isinstance(question, tuple) and not all(claim.length_allows(raw_move) for claim in claims_of(question)):  # type: ignore[arg-type]
            return False
    return True


def told(estimate: Estimate | None) -> object:
    """An estimate as plain values that can be compared, bit by bit."""
    if estimate is None:
        return None
    values = [getattr(estimate, field.name) for field in fields(estimate)]
    return [value.tobytes() if isinstance(value, np.ndarray) else repr(value) for value in values]


@contextmanager
def _scripted_draws(transcript: Transcript) -> Iterator[None]:
    real_draw, real_quantile = octaves.draw_piece, standard.draw_quantile

    def draw_piece(pieces: Any, loss: Any, rng: Any) -> Any:
        question = ("draw", loss.slope_over, loss.slope_under, loss.clip, pieces[0].start, pieces[-1].start + pieces[-1].length)
        return pieces[0], transcript.release(question, lambda: real_draw(pieces, loss, rng)[1])

    def draw_quantile(column: Any, *public: Any) -> Any:
        return transcript.release(("median", *public[:-1]), lambda: real_quantile(column, *public))

    with patch.object(octaves, "draw_piece", draw_piece), patch.object(standard, "draw_quantile", draw_quantile):
        yield
