"""The protocol between statistics and engines: the few raw summaries that a statistic may ask of a column.

A statistic never sees a column. It asks for windows of order statistics, for ranks, for sums between bounds and for the most
common labels, all exact, and an engine answers wherever the data lives. Missing values (null, NaN) are dropped row by row
before anything but `stored` is counted; +-inf are ordinary extreme values; -0.0 is 0.0. Everything here is raw: it must be
randomised before it leaves the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.units import in_units

LabelCounts = list[tuple[int | float | str, int]]
"""Labels, each with the number of rows that hold it."""

MISSING_POLICY = "rows with null or NaN are left out; +-inf count as the largest and smallest values; -0.0 is 0"


@dataclass(frozen=True)
class WindowRequest:
    """The order statistics around the rank quantile * n, `margin` rows to either side."""

    quantile: Fraction
    margin: int

    def ranks(self, raw_rows: int) -> tuple[int, int]:
        """First and last rank wanted, counted from 1 and clipped to the rows there are (empty when there are none)."""
        target, parts = self.quantile.numerator * raw_rows, self.quantile.denominator  # much faster than fractions
        first = max(1, target // parts - self.margin + 1)
        last = min(raw_rows, -(-target // parts) + self.margin)
        return first, last


@dataclass(frozen=True)
class Clip:
    """A public row map to the whole numbers 0 to `steps`: in units, cut off at both ends, counted from the lower one.

    `low` and `low + steps` are at most 2**52 in size and `steps` at most 2**26, so that float64 holds all of it exactly.
    """

    low: int
    """The lower end, in units."""
    steps: int
    unit: Fraction
    """A power of two."""

    def place(self, value: int | float | np.number[Any]) -> int:
        """Where a row lies; the engines' fast code must agree with this."""
        if isinstance(value, (float, np.floating)) and np.isinf(value):
            return self.steps if value > 0 else 0
        return min(max(in_units(value, self.unit) - self.low, 0), self.steps)


@dataclass(frozen=True)
class PlaceScore:
    """A public row map to whole numbers: how far a row's place in a clip is from a centre, or its square less a number."""

    clip: Clip
    centre: int
    square: int | None = None
    """What is taken off the square; None for the distance itself."""


@dataclass(frozen=True)
class BelowScore:
    """A public row map to whole numbers: `weight` for each of the cuts that a row lies strictly below, less `centre`.

    Rows and cuts are compared as in `Column.counts_below`.
    """

    cuts: tuple[float | int, ...]
    weight: int
    centre: int


UnitScore = PlaceScore | BelowScore


class SquareOctaves(NamedTuple):
    """Units by the square of the sum of their rows' scores: place 0 has those of 0, place j those from 2**(j-1) to below 2**j."""

    raw_units: tuple[int, ...]
    raw_squares: tuple[int, ...]
    """Exact sums of the squares."""


class Units(Protocol):
    """The units that a column's rows belong to, where they may have several rows each."""

    @property
    def rows(self) -> int:
        """The most rows of a unit, which is public."""
        ...

    def next_step(self) -> Fraction | None:
        """The epsilon that a step by unit may spend, for one unit added or removed with all of its rows; each call is one step.

        None where the question has none, such as in groups.
        """
        ...

    def squares(self, score: UnitScore) -> SquareOctaves:
        """The scores of the rows that are not missing, added up over each unit, exactly; every sum squared."""
        ...


class NumberRuns(NamedTuple):
    """Distinct numbers of a column, ascending, with the number of rows that have each."""

    raw_values: NDArray[Any]
    raw_counts: NDArray[np.int64]

    def of_many(self, least: int) -> NumberRuns:
        """Those that at least `least` rows have."""
        raw_many = self.raw_counts >= least
        return NumberRuns(self.raw_values[raw_many], self.raw_counts[raw_many])


class Span(NamedTuple):
    """A value of a column with the first and the last rank, counted from 1, of the rows that have it."""

    raw_value: int | float
    first: int
    last: int


@dataclass(frozen=True)
class OrderWindow:
    """Consecutive distinct values of a column, ascending, that cover at least the requested ranks.

    Every row whose value is in `raw_values` is counted in `raw_counts`, also when the tie reaches beyond the requested
    ranks; no value of the column lies between two neighbours in `raw_values`.
    """

    raw_rows: int
    """Rows of the column that are not missing."""
    raw_below: int
    """Rows strictly below the first value."""
    raw_values: NDArray[Any]
    """Distinct values in the column's own number type."""
    raw_counts: NDArray[np.int64]
    """Rows at each value."""

    @property
    def raw_above(self) -> int:
        """Rows strictly above the last value."""
        return self.raw_rows - self.raw_below - int(self.raw_counts.sum())

    def span(self, rank: int) -> Span:
        """The value at a rank that the window covers, and the first and last rank that it has."""
        raw_ends = self.raw_below + np.cumsum(self.raw_counts)
        place = int(np.searchsorted(raw_ends, rank, side="left"))
        last = int(raw_ends[place])
        return Span(self.raw_values[place].item(), last - int(self.raw_counts[place]) + 1, last)

    def narrowed(self, request: WindowRequest) -> OrderWindow:
        """The part of the window that covers a narrower request."""
        first, last = request.ranks(self.raw_rows)
        raw_ends = self.raw_below + np.cumsum(self.raw_counts)
        begin = int(np.searchsorted(raw_ends, first, side="left"))
        end = int(np.searchsorted(raw_ends, last, side="left")) + 1
        raw_below = int(raw_ends[begin - 1]) if begin else self.raw_below
        return OrderWindow(self.raw_rows, raw_below, self.raw_values[begin:end], self.raw_counts[begin:end])


def label_order(label: Any) -> tuple[bool, Any]:
    """The place of a label among all labels: numbers by size, then texts by code points."""
    return isinstance(label, str), label


class Column(Protocol):
    """One column of a table, behind an engine."""

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The number type of window values (a float or an integer type); None for a column of labels of any type."""
        ...

    def stored(self) -> int:
        """Rows of the table, missing ones included; public where neighbours differ by a changed row, and only there."""
        ...

    def count(self) -> int:
        """Rows that are not missing."""
        ...

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """One window for each request, in the order of the requests."""
        ...

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """For each cut the number of rows strictly below it, by exact comparison in the column's own number type."""
        ...

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """The exact sum over the rows strictly between `low` and `high` of `foundations.units.in_units(row, unit)`.

        Rows are compared as in `counts_below`, and only then rounded. `unit` is a power of two.
        """
        ...

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """The exact sums over all rows of clip.place(row)**k, for k = 0 (the rows themselves) to `degree`, at most 4."""
        ...

    def tally(self, least: int = 1) -> NumberRuns:
        """Every number that at least `least` rows have, with its count.

        With 1 it holds as many numbers in memory as there are different ones.
        """
        ...

    def most_common(self, how_many: int) -> LabelCounts:
        """The labels that most rows hold, by count descending and then by label ascending; fewer where there are fewer.

        Labels are plain numbers, and after them texts by code points (`label_order`): text itself, dates and times in ISO form,
        categories by their text. What a label looks like depends on its own rows alone.
        """
        ...


def most_rows(opened: Column | Table | CodedTable) -> int:
    """The most rows of a unit, which is public; 1 where each row is a unit."""
    return getattr(opened, "rows_per_unit", 1)


def units_of(column: Column) -> Units | None:
    """The units of a column's rows; None where each row is a unit."""
    return getattr(column, "units", None)


@runtime_checkable
class ForesightedColumn(Protocol):
    """A column that collects several windows with less work if it knows in time which ones it will be asked for."""

    def expect_windows(self, requests: Sequence[WindowRequest]) -> None:
        """Let the next pass collect these windows, too."""
        ...


def expect_windows(column: Column, requests: Sequence[WindowRequest]) -> None:
    """Tell a column which windows it will probably be asked for, before anything is; answers do not depend on it."""
    if isinstance(column, ForesightedColumn):
        column.expect_windows(requests)


class ClipGuess(Protocol):
    """In which clips a statistic will probably ask for power sums, as some rows of a column suggest. Stores may pickle it."""

    @property
    def degree(self) -> int:
        """The highest power."""
        ...

    def clips(self, raw_some: NDArray[Any], raw_rows: int, units: int) -> Sequence[Clip]:
        """Clips of at most `units` likely units, as wide as can be, from some of about `raw_rows` rows, which it may reorder."""
        ...


@runtime_checkable
class SummingColumn(Protocol):
    """A column that makes power sums with less work if it knows in time how to guess their clip."""

    def expect_power_sums(self, guess: ClipGuess) -> None:
        """Let the first pass make power sums in clips of the units that are likely."""
        ...


def expect_power_sums(column: Column, guess: ClipGuess) -> None:
    """Tell a column how to guess the clip of power sums, before anything is asked; answers do not depend on it."""
    if isinstance(column, SummingColumn):
        column.expect_power_sums(guess)


class RowSum(Protocol):
    """Whole numbers added up over rows, exactly: of rows in two parts it gives the sum of what it gives for the parts, and what a
    row adds depends on that row alone. Stores may pickle it."""

    def __call__(self, raw_rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """The sums over at most MOST_ROWS_AT_ONCE rows, perhaps none: an array of rows by columns, which it must not change."""
        ...


MOST_ROWS_AT_ONCE = 1 << 14
"""Rows that a `RowSum` is shown together: they fit into a processor's cache, and sums of them into its numbers."""


class CodeSum(Protocol):
    """Whole numbers added up over rows of codes, exactly: of rows in two parts it gives the sum of what it gives for the parts,
    and what a row adds depends on that row alone. Stores may pickle it."""

    def __call__(self, raw_codes: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        """The sums over at most MOST_ROWS_AT_ONCE rows, perhaps none: codes by rows and columns, which it must not change."""
        ...


@dataclass(frozen=True)
class CutCoding:
    """A public row map from numbers to codes: how many of the cuts are at most the number."""

    cuts: tuple[float | int, ...]
    """Ascending and different."""
    missing: int | None = None
    """The code of a missing cell; None leaves its row out."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        return max(len(self.cuts), -1 if self.missing is None else self.missing) + 1


@dataclass(frozen=True)
class LabelCoding:
    """A public row map from labels to codes: their places in a list."""

    labels: tuple[int | float | str, ...]
    """All different."""
    other: int | None = None
    """The code of a label that is not on the list; None leaves its row out."""
    missing: int | None = None
    """The code of a missing cell; None leaves its row out."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        return max(len(self.labels) - 1, *(-1 if code is None else code for code in (self.other, self.missing))) + 1


@dataclass(frozen=True)
class MergedCoding:
    """A coding some of whose codes are one."""

    coding: CutCoding | LabelCoding
    codes: tuple[int, ...]
    """For each code the one that it becomes."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        return max(self.codes) + 1


Coding = CutCoding | LabelCoding | MergedCoding


class Table(Protocol):
    """Some columns of the same rows, known by their places. A row in which one of them is missing is left out of all of it."""

    def column(self, place: int) -> Column:
        """One column."""
        ...

    def columns_by_label(self, place: int, by: int, labels: Sequence[Any]) -> list[Column]:
        """For each label the column at `place`, of the rows that have this label in the column at `by`."""
        ...

    def without(self, place: int) -> Table:
        """The other columns; a row counts that is missing in none of them."""
        ...

    def tables_by_label(self, by: int, labels: Sequence[Any]) -> list[Table]:
        """For each label the other columns, of the rows that have this label in the column at `by`."""
        ...

    def product_sums(self, clips: tuple[Clip, Clip], degree: int) -> tuple[tuple[int, ...], ...]:
        """The exact sums of first.place(x)**i * second.place(y)**j over the rows of two columns; [i][j], up to `degree` each."""
        ...

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Two columns of numbers, row by row in some order, in memory; infinities and whole numbers as they are."""
        ...

    def label_pairs(self) -> dict[tuple[Any, Any], int]:
        """Every pair of labels of two columns, with the number of rows that have it; labels as `Column.most_common` has them."""
        ...

    def matrix(self) -> NDArray[np.float64]:
        """All columns of numbers, rows by columns, in memory. In which order two rows come does not depend on other rows. Whole
        numbers become the nearest floats; infinities are as they are."""
        ...

    def row_sums(self, row_sum: RowSum) -> tuple[int, ...]:
        """The exact sums over all rows, which are shown as in `matrix`, a few thousand at a time."""
        ...


class CodedTable(Protocol):
    """Some columns of the same rows, known by their places, whose rows are counted by codes; each has its own missing cells."""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column whether it is read as numbers, by its declared type; others have labels."""
        ...

    def column(self, place: int) -> Column:
        """One column."""
        ...

    def code_counts(self, codings: Sequence[Coding], sets: Sequence[tuple[int, ...]]) -> list[NDArray[np.int64]]:
        """For each set of places the number of rows with each combination of codes, an array with an axis for each place.

        There is one coding for each column. A row that one of them leaves out is in no count.
        """
        ...

    def code_sums(self, codings: Sequence[Coding], row_sum: CodeSum) -> tuple[int, ...]:
        """The exact sums over all rows of what they add by their codes in all columns, a few thousand rows at a time.

        There is one coding for each column. A row that one of them leaves out adds nothing.
        """
        ...
