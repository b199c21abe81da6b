"""Tables in Spark: jobs go to the partitions, and only their summaries come back.

Executors need to find dpstats and pyarrow: in local mode they do; on a cluster install dpstats there as every other package, or
ship it with the session (`spark.addArtifacts` or `SparkContext.addPyFile` with a wheel or a zip of it). The workers' Python is
the one that PYSPARK_PYTHON names.

A task that fails says so and nothing else: no message of Spark's or of a task's reaches the caller, because they quote data,
and Spark's own log is silent while a job of ours runs; after one that failed it stays so until somebody sets its level anew.
"""

from __future__ import annotations

import pickle
import warnings
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, one_error_for, require, shown
from dpstats.engines.stores.spark_plans import only_reads
from dpstats.engines.stores.spark_quiet import map_quietly, silenced
from dpstats.engines.stores.store import Batch, Job
from dpstats.foundations.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from dpstats.engines.units.contributions import Bound

Summary = TypeVar("Summary")

_BATCH_ROWS = 1 << 17
_TASKS_PER_WORKER = 2  # a shuffle makes hundreds of partitions, however few its rows are, and each costs a start
_TYPES = {  # by the names of Spark's types
    **dict.fromkeys(("ByteType", "ShortType", "IntegerType", "LongType"), ColumnType.INTEGER),
    **dict.fromkeys(("FloatType", "DoubleType", "DecimalType", "NullType"), ColumnType.NUMBER),
    "BooleanType": ColumnType.BOOLEAN,
    **dict.fromkeys(("StringType", "CharType", "VarcharType", "TimeType"), ColumnType.TEXT),
    **dict.fromkeys(("DayTimeIntervalType", "YearMonthIntervalType", "CalendarIntervalType"), ColumnType.TEXT),
    **dict.fromkeys(("DateType", "TimestampType", "TimestampNTZType"), ColumnType.MOMENT),
}
_DOUBT = (
    "this Spark DataFrame is computed while it is read, for all that can be seen of it: write it to Parquet and pass "
    "spark.read.parquet(...), or take frame.checkpoint() first"
)
_AS_TEXT = ("CharType", "VarcharType", "YearMonthIntervalType", "CalendarIntervalType")


class SparkStore:
    """A Spark DataFrame, of the classic API or of Spark Connect."""

    in_memory = False
    remote = True
    """Whether the rows stay where they are, and only summaries come here."""
    doubt: str | None
    """Why rows may be computed while they are read, and what to do about it; None where they are stored."""

    def __init__(self, frame: DataFrame) -> None:
        """Reads the names and types of the frame, and no row."""
        require("tables in Spark need", "spark", "pyspark", "pandas", "pyarrow")
        with one_error_for("the Spark DataFrame", "could not be opened: check that its session runs and its tables are there"):
            fields = frame.schema.fields
            names = [field.name for field in fields]
            _check_names(names)
            self._places = {name: f"column_{place}" for place, name in enumerate(names)}
            renamed = frame.toDF(*self._places.values())  # names that differ in capitals only are one to Spark
            chosen = [_sendable(self._places[field.name], field.dataType) for field in fields]
            self._frame = renamed.select(*chosen)
        self.doubt = None if only_reads(frame) else _DOUBT
        self._is_kept = True
        self.columns: Mapping[str, ColumnType] = {
            field.name: _TYPES.get(type(field.dataType).__name__, ColumnType.OTHER) for field in fields
        }

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Run a job in every partition and merge what comes back."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as sql

        for name in columns:
            check_column_name(name, list(self.columns))
        names = list(dict.fromkeys(columns))
        chosen = [sql.col(self._places[name]) for name in names] or [sql.lit(True).alias("row")]
        raw_parts: list[Any] = [None]
        with suppress(Exception), silenced(self._frame.sparkSession):  # an error's message may carry values
            if not self._is_kept:  # here and not before, because Spark computes constants of the plan then
                self._frame.persist(StorageLevel.MEMORY_AND_DISK)
                self._is_kept = True
            parts = map_quietly(self._frame.select(*chosen), partial(scan_partition, job, names), "part binary")
            raw_parts = [row[0] for row in parts.collect()]
        if None in raw_parts:
            raise RuntimeError("Spark did not finish a pass over the table.")
        return job.merge([pickle.loads(part) for part in raw_parts] or [job.scan(())])

    def bounded(self, bound: Bound) -> SparkStore:
        """The same table with at most `bound.rows` rows of each unit, kept in Spark's storage from the first pass on."""
        from dpstats.engines.stores.spark_bounds import keep_bounded

        bounded = copy(self)
        kept = keep_bounded(self._frame, self._places, bound)
        with suppress(Exception):  # Spark Connect does not tell how many workers there are
            kept = kept.coalesce(_TASKS_PER_WORKER * self._frame.sparkSession.sparkContext.defaultParallelism)
        bounded._frame, bounded._is_kept = kept, False
        weakref.finalize(bounded, _free, bounded._frame).atexit = False
        return bounded

    def close(self) -> None:
        """Free what Spark keeps of a bounded table."""
        _free(self._frame)


def scan_partition(
    job: Job[Any], names: Sequence[str], raw_batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """What a job finds in one partition, as one row, or a null where it fails; runs where the rows are."""
    import pyarrow

    raw_part = None
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they would be printed, and may carry values
        batches = (Batch(dict(zip(names, table.columns, strict=False)), table.num_rows) for table in _gathered(raw_batches))
        raw_part = pickle.dumps(job.scan(batches))
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array([raw_part], pyarrow.binary())], names=["part"])


def _free(frame: DataFrame) -> None:
    with suppress(Exception):  # the session may have ended
        frame.unpersist()


def _gathered(raw_batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    """Spark's small batches put together to larger ones."""
    import pyarrow

    gathered: list[pyarrow.RecordBatch] = []
    for raw_batch in raw_batches:
        gathered.append(raw_batch)
        if sum(batch.num_rows for batch in gathered) >= _BATCH_ROWS:
            yield pyarrow.Table.from_batches(gathered).combine_chunks()
            gathered = []
    if gathered:
        yield pyarrow.Table.from_batches(gathered).combine_chunks()


def _sendable(place: str, declared: DataType) -> Column:
    """A column in a type that travels; none of the conversions can fail on a value."""
    from pyspark.sql import functions as sql

    name = type(declared).__name__
    column = sql.col(place)
    if name == "NullType":
        return column.cast("double").alias(place)
    if name in _AS_TEXT:
        return column.cast("string").alias(place)
    if name in _TYPES or name == "BinaryType":
        return column
    return sql.when(column.isNotNull(), sql.array(sql.lit(True))).alias(place)


def _check_names(names: Sequence[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise InvalidParameterError(f"the Spark DataFrame has more than one column named {shown(name)}: rename one of them.")
