"""Rows per unit in Spark: of each unit the rows with the smallest marks, found where the rows are.

Tasks mark every row (`engines.contributions`), Spark brings the marks of a unit together and ranks them, and the rows beyond
the bound are left out, and those whose unit id cannot be read. The rows that are kept are the very ones that a store in this
process would keep.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.stores.spark_quiet import map_quietly
from dpstats.engines.stores.store import Batch
from dpstats.engines.units.contributions import Bound, MissingUnit, row_marks, unit_marks
from dpstats.engines.units.ids import UnitIds

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

_UNIT = ("unit_mark_high", "unit_mark_low")
_ROW, _NO_UNIT, _RANK = "row_mark", "no_unit", "rank_in_unit"
_SIGN = np.uint64(1 << 63)


def keep_bounded(frame: DataFrame, places: Mapping[str, str], bound: Bound) -> DataFrame:
    """At most `bound.rows` rows of each unit; `places` has the frame's name for each column. Nothing runs yet."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql
    from pyspark.sql.types import BooleanType, LongType, StructField, StructType

    marks = [StructField(name, LongType()) for name in (*_UNIT, _ROW)] + [StructField(_NO_UNIT, BooleanType())]
    fields = [StructField(field.name, field.dataType) for field in frame.schema.fields]
    marked = map_quietly(frame, partial(mark_partition, dict(places), bound), StructType(fields + marks))
    ranked = marked if bound.missing is MissingUnit.TOGETHER else marked.filter(~sql.col(_NO_UNIT))
    rank = sql.row_number().over(Window.partitionBy(*_UNIT).orderBy(_ROW))
    kept = ranked.withColumn(_RANK, rank).filter(sql.col(_RANK) <= bound.rows).select(frame.columns)
    return kept.union(marked.filter(_NO_UNIT).select(frame.columns)) if bound.missing is MissingUnit.EACH else kept


def mark_partition(
    places: Mapping[str, str], bound: Bound, raw_batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """The batches of one partition, each with four more columns, and without the rows whose unit id cannot be read."""
    for raw_batch in raw_batches:
        raw_marked = None
        with suppress(Exception), warnings.catch_warnings():  # whose messages may carry values
            warnings.simplefilter("ignore")
            raw_marked = _marked(raw_batch, places, bound)
        if raw_marked is None:
            raise RuntimeError("a batch of rows could not be marked")
        yield raw_marked


def _marked(raw_batch: pyarrow.RecordBatch, places: Mapping[str, str], bound: Bound) -> pyarrow.RecordBatch:
    import pyarrow

    batch = Batch({name: raw_batch.column(places[name]) for name in bound.reads}, raw_batch.num_rows)
    ids = UnitIds.of(batch, bound.unit, bound.unit_kind)
    raw_high, raw_low = unit_marks(ids, bound)
    raw_marks = [_signed(raw_high), _signed(raw_low), _signed(row_marks(batch, bound)), ids.raw_without]
    names = [*raw_batch.schema.names, *_UNIT, _ROW, _NO_UNIT]
    raw_marked = pyarrow.RecordBatch.from_arrays([*raw_batch.columns, *map(pyarrow.array, raw_marks)], names=names)
    return raw_marked.filter(pyarrow.array(~ids.raw_unreadable)) if ids.raw_unreadable.any() else raw_marked


def _signed(raw_marks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Marks as the whole numbers that Spark has, in the same order."""
    return (raw_marks ^ _SIGN).view(np.int64)
