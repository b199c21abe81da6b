"""Columns by passes: the few summaries that a statistic asks for, from passes over rows that lie elsewhere.

The first pass counts the rows, keeps a thinned sample of them, and collects the rows around windows that are expected
(`survey`). Where nothing had to be let go, the sample is the column, and no further pass is made. Where a wanted rank is not
among what was collected, the sample gives two values around it, and another pass counts the rows outside and collects those
between, for all windows that are still expected, too. What passes found out is kept: a cut or a rank within it costs nothing.
The sample decides how many passes there are, never what comes out: when the exact counts show that a wanted rank escaped, the
bracket is widened once, and after that every distinct value is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.cells import ColumnType
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.powers import moved_powers
from dpstats.engines.exact.runs import Runs, runs_between
from dpstats.engines.exact.samples import Sample
from dpstats.engines.exact.selection import EXPECTED_SHARE, LARGEST_SHARE, UNCOUNTED_ROWS, covered_ranks
from dpstats.engines.exact.tallies import common_runs
from dpstats.engines.exact.thinned import IN_MEMORY, REMOTE, STREAMED, Room, ThinnedSample
from dpstats.engines.kinds import Kind, not_labels, not_numbers
from dpstats.engines.passes.collectors import (
    BracketScan,
    CutCount,
    LabelTally,
    NumberTally,
    PowerSums,
    RowCount,
    StoredCount,
    SumBetween,
)
from dpstats.engines.passes.frequent import FrequentTally, HashCount
from dpstats.engines.passes.scans import ColumnRun, RowPass
from dpstats.engines.passes.survey import Survey
from dpstats.engines.stores.store import Store
from dpstats.engines.units.sums import ColumnUnits, MostRows, UnitSteps
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.summaries import Clip, ClipGuess, Column, LabelCounts, NumberRuns, OrderWindow, WindowRequest
from dpstats.foundations.units import exponent_of, in_units

SLACKS = (5.0, 20.0)
"""Standard deviations of room outside the wanted ranks: at first, and after a miss, which costs a pass."""
DIFFERENT = 32
"""One row in so many of the sample that differs from the others from which on different numbers are too many to hold."""
KEPT_ROWS = 1 << 24
"""Rows collected in brackets from which on the oldest brackets are given up."""

_EMPTY_TYPES: dict[ColumnType, np.dtype[Any]] = {
    ColumnType.INTEGER: np.dtype(np.int64),
    **dict.fromkeys((ColumnType.BOOLEAN, ColumnType.TRUTH), np.dtype(np.uint8)),
}
_KINDS = {ColumnType.TEXT: Kind.TEXT, ColumnType.MOMENT: Kind.DATE, ColumnType.OTHER: Kind.OTHER}


class PassColumn:
    """A column of numbers that is read by passes; nothing is read before it is asked for."""

    units: ColumnUnits | MostRows | None = None
    """Whose rows they are, where units may have several."""
    rows_per_unit = 1

    def __init__(self, run: RowPass, room: Room = STREAMED, dtype: np.dtype[Any] | None = None) -> None:
        """`dtype` is the number type where there is no row, and no store, to tell it."""
        self._run = run
        self._room = room
        self._empty_type = dtype or np.dtype(np.float64)
        self._expected: list[WindowRequest] = []
        self._guess: ClipGuess | None = None
        self._raw_sample: ThinnedSample | None = None
        self._raw_powers: list[PowerSums] = []
        self._raw_whole: ArrayColumn | None = None
        self._raw_brackets: list[Bracket] = []
        self._raw_below: dict[Any, int] = {}
        self._raw_tally: Runs | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The number type of the column, which the first pass finds out."""
        return self._sample().dtype or self._empty_type

    def count(self) -> int:
        """Rows that are not missing."""
        return self._sample().present

    def stored(self) -> int:
        """Rows of the view, missing ones included."""
        return self._sample().stored

    def take_units(self, steps: UnitSteps) -> None:
        """Know from now on whose rows they are, and what may be asked by unit."""
        self.rows_per_unit = steps.bound.rows
        self.units = MostRows(steps.bound.rows)
        if isinstance(self._run, ColumnRun):
            self.units = ColumnUnits(self._run.store, self._run.view, self._run.name, self._run.kind, steps)

    def expect_windows(self, requests: Sequence[WindowRequest]) -> None:
        """Let the next pass collect these windows, too."""
        if self._raw_whole is not None:
            self._raw_whole.expect_windows(requests)
        else:
            self._expected += requests

    def expect_power_sums(self, guess: ClipGuess) -> None:
        """Let the first pass make power sums in clips of the units that are likely."""
        self._guess = guess

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """One window for each request, in the order of the requests; all of them together cost one pass, seldom two."""
        if self._raw_sample is None:
            self.expect_windows(requests)
        whole = self._whole()
        if whole is not None:
            return whole.order_windows(requests)
        wanted = {request: covered_ranks(request, self.count()) for request in requests}
        raw_found = self._known_windows(wanted)
        for slack in SLACKS:
            missed = [request for request in wanted if request not in raw_found]
            if missed and not self._collect(missed, slack):
                break
            raw_found.update(self._known_windows({request: wanted[request] for request in missed}))
        if len(raw_found) < len(wanted):
            self._count_all()
            raw_found = self._known_windows(wanted)
        self._forget()
        return [raw_found[request] for request in requests]

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """For each cut the number of rows strictly below it; one pass for all that earlier passes do not tell."""
        whole = self._whole()
        if whole is not None:
            return whole.counts_below(cuts)
        edges = [edge_at(cut, self.dtype) for cut in cuts]
        unknown = {edge for edge in edges if edge is not None and self._known_below(edge) is None}
        if unknown:
            raw_edges = np.array(sorted(unknown), dtype=self.dtype)
            self._raw_below.update(zip(raw_edges.tolist(), self._run(CutCount(raw_edges)).below.tolist(), strict=True))
        raw_counts = [self.count() if edge is None else self._known_below(edge) for edge in edges]
        return [count for count in raw_counts if count is not None]

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """The exact sum in units over the rows strictly between two bounds, by one pass."""
        exponent_of(unit)  # complains before a row is read
        whole = self._whole() if self._raw_sample is not None or self._room.views else None
        return self._run(SumBetween(low, high, unit)).total if whole is None else whole.sum_between(low, high, unit)

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """The exact sums over all rows of powers of where they lie in a clip, by one pass that the first one may have made."""
        whole = self._whole()
        if whole is not None:
            return whole.power_sums(clip, degree)
        return self._known_powers(clip, degree) or self._run(PowerSums(clip, degree)).totals

    def tally(self, least: int = 1) -> NumberRuns:
        """Every number that at least `least` rows have, with its count, by one pass; by two where most rows differ."""
        whole = self._whole()
        if whole is not None:
            return whole.tally(least)
        if least > 1 and self._room != REMOTE and self._raw_tally is None and self._mostly_differ():
            runs = self._run(FrequentTally(self._run(HashCount()), least)).runs()
        else:
            runs = self._count_all()
        return NumberRuns(runs.values, runs.counts).of_many(least)

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common numbers with their counts."""
        whole = self._whole()
        return common_runs(self._count_all(), how_many) if whole is None else whole.most_common(how_many)

    def _sample(self) -> ThinnedSample:
        if self._raw_sample is None:
            known = self._run.known_beforehand() if isinstance(self._run, ColumnRun) and self._guess else (None, 0)
            raw_survey = self._run(Survey(self._room, self._expected, self._guess, *known))
            self._raw_sample, self._raw_brackets = raw_survey.sample, raw_survey.raw_brackets
            self._raw_powers = raw_survey.power_sums
        return self._raw_sample

    def _whole(self) -> ArrayColumn | None:
        """The column itself, where the sample holds all of it."""
        raw_sample = self._sample()
        if self._raw_whole is None and not raw_sample.halvings:
            self._raw_whole = ArrayColumn(raw_sample.chunks(self._empty_type), raw_sample.stored)
            self._raw_whole.expect_windows(self._expected)
        return self._raw_whole

    def _collect(self, requests: Sequence[WindowRequest], slack: float) -> bool:
        """Make a pass with a bracket around each request; False where to count every value is the better way."""
        raw_rows = np.concatenate(self._sample().chunks(self._empty_type))
        if not raw_rows.size:
            return False
        sample = Sample.of_rows(raw_rows, self.count())
        around = [sample.around(request, slack) for request in dict.fromkeys([*requests, *self._still_expected()])]
        sample.order({rank for ranks in around for rank in ranks})
        brackets = [Bracket(sample, ranks, Pile(UNCOUNTED_ROWS)) for ranks in around]
        wanted, further = brackets[: len(requests)], brackets[len(requests) :]
        if sum(bracket.expected_share for bracket in wanted) > LARGEST_SHARE:
            return False
        wanted += [bracket for bracket in further if bracket.expected_share < EXPECTED_SHARE]
        self._raw_brackets += self._run(BracketScan(wanted)).brackets
        return True

    def _still_expected(self) -> list[WindowRequest]:
        """The windows that were expected and are not known; they are collected once, if at all."""
        expected, self._expected = self._expected, []
        wanted = {request: covered_ranks(request, self.count()) for request in expected}
        raw_known = self._known_windows(wanted)
        return [request for request in wanted if request not in raw_known]

    def _mostly_differ(self) -> bool:
        """Whether many of the rows in the sample differ, so that to hold all different ones would take much memory."""
        raw_rows = np.concatenate(self._sample().chunks(self._empty_type))
        return len(np.unique(raw_rows)) * DIFFERENT > raw_rows.size

    def _count_all(self) -> Runs:
        """Every distinct value with its count, which answers everything that has to do with order."""
        if self._raw_tally is None:
            self._raw_tally = self._run(NumberTally()).runs()
            self._raw_brackets.clear()
        return self._raw_tally

    def _forget(self) -> None:
        """Give the oldest brackets up where all of them hold too many rows."""
        while sum(bracket.collected for bracket in self._raw_brackets) > KEPT_ROWS:
            del self._raw_brackets[0]

    def _known_windows(self, wanted: dict[WindowRequest, tuple[int, int]]) -> dict[WindowRequest, OrderWindow]:
        found = {request: self._known_window(ranks) for request, ranks in wanted.items()}
        return {request: window for request, window in found.items() if window is not None}

    def _known_window(self, ranks: tuple[int, int]) -> OrderWindow | None:
        """The window over those ranks, where earlier passes tell it."""
        if self._raw_tally is not None:
            runs = runs_between(self._raw_tally, *ranks)
            return OrderWindow(self.count(), runs.below, runs.values, runs.counts)
        windows = (bracket.window(ranks, self.count()) for bracket in reversed(self._raw_brackets))
        return next((window for window in windows if window is not None), None)

    def _known_powers(self, clip: Clip, degree: int) -> tuple[int, ...] | None:
        """Power sums in a clip from those in another one, where only rows that were collected lie beyond either of them."""
        tails = [self._tail(upward) for upward in (False, True)]
        for powers in self._raw_powers:
            if None not in tails and powers.clip.unit == clip.unit and degree <= powers.degree:
                (low, raw_lower), (high, raw_upper) = (tail for tail in tails if tail is not None)
                if low <= high and all(_holds(each, low) and _holds(each, high) for each in (clip, powers.clip)):
                    return moved_powers(powers.totals, powers.clip, clip, [raw_lower, raw_upper], degree)
        return None

    def _tail(self, upward: bool) -> tuple[Any, NDArray[Any]] | None:
        """A value, and all rows beyond it, as one of the brackets has them."""
        tails = (bracket.tail(upward=upward) for bracket in self._raw_brackets)
        return next((tail for tail in tails if tail is not None), None)

    def _known_below(self, edge: Any) -> int | None:
        """The rows below a value of the column's type, where earlier passes tell it."""
        if self._raw_tally is not None:
            return int(self._raw_tally.counts[: np.searchsorted(self._raw_tally.values, edge)].sum())
        if edge.item() in self._raw_below:
            return self._raw_below[edge.item()]
        counts = (bracket.count_below(edge, self.count()) for bracket in reversed(self._raw_brackets))
        return next((count for count in counts if count is not None), None)


def _holds(clip: Clip, value: Any) -> bool:
    """Whether a value lies within a clip."""
    return bool(np.isfinite(value)) and clip.low <= in_units(value, clip.unit) <= clip.low + clip.steps


class LabelColumn:
    """A column of any type, of which the number of rows and the labels may be asked, read by passes."""

    dtype = None

    def __init__(self, run: RowPass, kind: ColumnType, holds: Kind = Kind.OTHER) -> None:
        """`holds` is what a column without labels holds instead, for the complaint about it."""
        self._run = run
        self._kind = kind
        self._holds = holds
        self._raw_stored: int | None = None
        self._raw_count: RowCount | None = None
        self._raw_tally: LabelTally | None = None
        self.rows_per_unit = 1

    def take_units(self, steps: UnitSteps) -> None:
        """Know from now on how many rows a unit may have."""
        self.rows_per_unit = steps.bound.rows

    def count(self) -> int:
        """Rows that are not missing."""
        if self._raw_count is None:
            self._raw_count = self._run(RowCount())
        return self._raw_count.present

    def stored(self) -> int:
        """Rows of the table, missing ones included."""
        if self._raw_count is not None:
            return self._raw_count.stored
        if self._raw_stored is None:
            self._raw_stored = self._run(StoredCount()).stored
        return self._raw_stored

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common labels with their counts; refused where the declared type has none in order."""
        if self._kind is ColumnType.OTHER:
            raise not_labels(self._holds)
        if self._raw_tally is None:
            self._raw_tally = self._run(LabelTally())
            self._raw_count = self._raw_tally.rows
        return self._raw_tally.most_common(how_many)

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """Refused: there are no numbers to order."""
        raise _not_opened_for_numbers()

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """Refused: there are no numbers to compare."""
        raise _not_opened_for_numbers()

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """Refused: there are no numbers to add."""
        raise _not_opened_for_numbers()

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """Refused: there are no numbers to add."""
        raise _not_opened_for_numbers()

    def tally(self, least: int = 1) -> NumberRuns:
        """Refused: there are no numbers to count."""
        raise _not_opened_for_numbers()


def _not_opened_for_numbers() -> DataTypeError:
    return DataTypeError("this column was opened for its count and labels only: open it with numeric=True to ask for numbers.")


def open_column(store: Store, view: TableView, name: str, numeric: bool) -> Column:
    """A column of a store, as a view has it; nothing is read before it is asked for.

    With `numeric` it must be of numbers, or undeclared: then cells that are no numbers are missing.
    """
    view.needs([name])  # complains about names
    kind = read_as(view, name, numeric=numeric)
    return column_by(ColumnRun(store, view, name, kind), kind, room_for(store), numeric=numeric)


def column_by(run: RowPass, kind: ColumnType, room: Room, *, numeric: bool) -> Column:
    """The column that passes give."""
    return PassColumn(run, room, _EMPTY_TYPES.get(kind)) if numeric else LabelColumn(run, kind)


def read_as(view: TableView, name: str, *, numeric: bool) -> ColumnType:
    """The type that a column is read as, for its numbers or for its labels; an error where it has no numbers."""
    declared = view.type_of(name)
    if not numeric:
        return declared
    if declared in _KINDS:
        raise not_numbers(_KINDS[declared])
    if view.tells_truths:
        return ColumnType.TRUTH
    return declared if declared.is_numeric else ColumnType.NUMBER


def empty_type(kind: ColumnType) -> np.dtype[Any]:
    """The number type of a column that is read as `kind` where no row tells it."""
    return _EMPTY_TYPES.get(kind, np.dtype(np.float64))


def room_for(store: Store) -> Room:
    """How many rows of a store's column a sample may hold."""
    if store.in_memory:
        return IN_MEMORY
    return REMOTE if is_remote(store) else STREAMED


def is_remote(store: Store) -> bool:
    """Whether rows must stay where they are."""
    return not store.in_memory and bool(getattr(store, "remote", False))
