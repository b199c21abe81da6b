"""Rows per unit in Spark: of each unit the rows with the smallest marks, found where the rows are.

Tasks first mark the units of all rows, for which their ids are all that is read, and Spark counts the rows of each mark. Only the
rows of units that may have too many are marked in full (`engines.contributions`); Spark brings the marks of a unit together and
ranks them, and the rows beyond the bound are left out, and everywhere those whose unit id cannot be read. The rows that are kept
are the very ones that a store in this process would keep. Where rows are computed as they are read, another pass may see others,
so that no count holds: then the rows of all units are ranked, and what is left is kept.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.stores.keeping import Maker
from dpstats.engines.stores.spark_quiet import map_quietly
from dpstats.engines.stores.store import Batch, Job
from dpstats.engines.units.contenders import Sieve, crowded, few_of_each
from dpstats.engines.units.contributions import (
    Bound,
    BoundedBatch,
    MissingUnit,
    competing,
    crowding,
    leaving,
    row_marks,
    unit_marks,
    unit_words,
)
from dpstats.engines.units.ids import UnitIds
from dpstats.engines.units.siphash import Words

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

T = TypeVar("T")
Summary = TypeVar("Summary")

_UNIT = ("unit_mark_high", "unit_mark_low")
_ROW, _NO_UNIT, _RANK = "row_mark", "no_unit", "rank_in_unit"
_RANGE, _WORDS = "range_of_words", "words"
_RANGES, _RANGE_SHIFT = 256, np.uint64(56)
"""Ranges that words are cut into by their first bits, so that no task holds more than those of one."""
_PIECE_WORDS = 1 << 20
_SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class Uncrowded:
    """Which rows stay whatever others there are: not those of units that may have too many."""

    bound: Bound
    sieve: Sieve

    def of(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Those rows of batches that hold the ids of units."""
        return (BoundedBatch(batch, self._staying(batch)) for batch in batches)

    def of_job(self, job: Job[Summary], columns: Sequence[str]) -> tuple[Job[Summary], list[str]]:
        """A job that is shown only those rows, and the columns that it needs."""
        return UncrowdedJob(job, self), [*columns, self.bound.unit]

    def of_maker(self, make: Maker, columns: Sequence[str]) -> tuple[Maker, list[str]]:
        """The same for what makes parts of batches."""
        return UncrowdedMaker(make, self), [*columns, self.bound.unit]

    def _staying(self, batch: Batch) -> NDArray[np.bool_]:
        ids = UnitIds.of(batch, self.bound.unit, self.bound.unit_kind)
        return ~leaving(ids, self.bound) & ~crowding(ids, self.bound, self.sieve)


@dataclass(frozen=True)
class UncrowdedJob(Generic[Summary]):
    """A job that is shown only rows that stay whatever others there are."""

    job: Job[Summary]
    uncrowded: Uncrowded

    def scan(self, batches: Iterable[Batch]) -> Summary:
        """Show it those rows."""
        return self.job.scan(self.uncrowded.of(batches))

    def merge(self, parts: Sequence[Summary]) -> Summary:
        """As the job itself does."""
        return self.job.merge(parts)


@dataclass(frozen=True)
class UncrowdedMaker:
    """What makes parts of rows that stay whatever others there are."""

    make: Maker
    uncrowded: Uncrowded

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Any]:
        """Show it those rows."""
        return self.make(self.uncrowded.of(batches))


def keep_bounded(frame: DataFrame, places: Mapping[str, str], bound: Bound, sieve: Sieve | None = None) -> DataFrame:
    """At most `bound.rows` rows of each unit; `places` has the frame's name for each column. Nothing runs yet.

    With a sieve only the rows of units that it lets through are looked at, and no others are kept.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as sql
    from pyspark.sql.types import BooleanType, LongType, StructField, StructType

    marks = [StructField(name, LongType()) for name in (*_UNIT, _ROW)] + [StructField(_NO_UNIT, BooleanType())]
    fields = [StructField(field.name, field.dataType) for field in frame.schema.fields]
    marked = map_quietly(frame, partial(mark_partition, dict(places), bound, sieve), StructType(fields + marks))
    ranked = marked if bound.missing is MissingUnit.TOGETHER else marked.filter(~sql.col(_NO_UNIT))
    rank = sql.row_number().over(Window.partitionBy(*_UNIT).orderBy(_ROW))
    kept = ranked.withColumn(_RANK, rank).filter(sql.col(_RANK) <= bound.rows).select(frame.columns)
    everybody = sieve is None and bound.missing is MissingUnit.EACH
    return kept.union(marked.filter(_NO_UNIT).select(frame.columns)) if everybody else kept


def share_words(frame: DataFrame, places: Mapping[str, str], bound: Bound, tasks: int | None) -> DataFrame:
    """The words of units (`word_partition`), those of one range together in one of `tasks` partitions. Nothing runs yet."""
    ids = frame.select(places[bound.unit])
    words = map_quietly(ids, partial(word_partition, dict(places), bound), f"{_RANGE} int, {_WORDS} binary")
    shared = words.repartition(_RANGE) if tasks is None else words.repartition(tasks, _RANGE)
    return shared.sortWithinPartitions(_RANGE)


def word_partition(
    places: Mapping[str, str], bound: Bound, raw_batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """The first words of the units of rows in one partition that compete, in order, cut into ranges; the same word at most
    `bound.rows` + 1 times in a piece. Where rows never stay there is a piece without words, of no range."""
    held: list[Words] = []
    for raw_batch in raw_batches:
        raw_words, leaves = _quietly(_words, raw_batch, places, bound)
        held.append(raw_words)
        if leaves:
            yield _pieces([-1], [raw_words[:0]])
        if sum(part.size for part in held) >= _PIECE_WORDS:
            yield _in_ranges(held, bound.rows + 1)
            held = []
    yield _in_ranges(held, bound.rows + 1)


def sieve_partition(rows: int, raw_batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The sieve for units with more than `rows` rows, from all pieces of some ranges, and whether rows never stay; as one row."""
    import pyarrow

    sieve, leaves, here = Sieve(), False, 0
    held: list[Words] = []
    for raw_batch in raw_batches:
        for number, piece in zip(raw_batch.column(0).to_pylist(), raw_batch.column(1), strict=True):
            if number != here:
                sieve.open_for(crowded(few_of_each(held, rows + 1), rows))
                here, held = number, []
            leaves = leaves or number < 0
            held.append(np.frombuffer(piece.as_buffer(), dtype=np.uint64))
    sieve.open_for(crowded(few_of_each(held, rows + 1), rows))
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array([pickle.dumps((sieve, leaves))], pyarrow.binary())], names=["part"])


def mark_partition(
    places: Mapping[str, str], bound: Bound, sieve: Sieve | None, raw_batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """The batches of one partition, each with four more columns, and without the rows whose unit id cannot be read.

    With a sieve only those rows are left that compete and whose unit gets through.
    """
    for raw_batch in raw_batches:
        yield _quietly(_marked, raw_batch, places, bound, sieve)


def _quietly(work: Callable[..., T], *arguments: Any) -> T:
    """Do some work on a batch; an error of it, whose message may carry values, becomes one that carries none."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(*arguments)
    raise RuntimeError("a batch of rows could not be marked")


def _words(raw_batch: pyarrow.RecordBatch, places: Mapping[str, str], bound: Bound) -> tuple[Words, bool]:
    """The first words of the units of rows that compete, and whether there are rows that never stay."""
    ids = UnitIds.of(_batch(raw_batch, places, [bound.unit]), bound.unit, bound.unit_kind)
    return unit_words(ids, bound)[competing(ids, bound)], bool(leaving(ids, bound).any())


def _in_ranges(held: Sequence[Words], most: int) -> pyarrow.RecordBatch:
    raw_words = few_of_each(held, most)
    raw_ends = np.searchsorted(raw_words >> _RANGE_SHIFT, np.arange(_RANGES, dtype=np.uint64), side="right")
    return _pieces(range(_RANGES), np.split(raw_words, raw_ends[:-1]))


def _pieces(numbers: Sequence[int], raw_pieces: Sequence[Words]) -> pyarrow.RecordBatch:
    import pyarrow

    raw_columns = [pyarrow.array(numbers, pyarrow.int32()), pyarrow.array(map(bytes, raw_pieces), pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(raw_columns, names=[_RANGE, _WORDS])


def _marked(raw_batch: pyarrow.RecordBatch, places: Mapping[str, str], bound: Bound, sieve: Sieve | None) -> pyarrow.RecordBatch:
    import pyarrow

    if sieve is not None:
        ids = UnitIds.of(_batch(raw_batch, places, [bound.unit]), bound.unit, bound.unit_kind)
        raw_batch = raw_batch.filter(pyarrow.array(crowding(ids, bound, sieve)))
    batch = _batch(raw_batch, places, bound.reads)
    ids = UnitIds.of(batch, bound.unit, bound.unit_kind)
    raw_high, raw_low = unit_marks(ids, bound)
    raw_marks = [_signed(raw_high), _signed(raw_low), _signed(row_marks(batch, bound)), ids.raw_without]
    names = [*raw_batch.schema.names, *_UNIT, _ROW, _NO_UNIT]
    raw_marked = pyarrow.RecordBatch.from_arrays([*raw_batch.columns, *map(pyarrow.array, raw_marks)], names=names)
    return raw_marked.filter(pyarrow.array(~ids.raw_unreadable)) if ids.raw_unreadable.any() else raw_marked


def _batch(raw_batch: pyarrow.RecordBatch, places: Mapping[str, str], names: Sequence[str]) -> Batch:
    return Batch({name: raw_batch.column(places[name]) for name in names}, raw_batch.num_rows)


def _signed(raw_marks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Marks as the whole numbers that Spark has, in the same order."""
    return (raw_marks ^ _SIGN).view(np.int64)
