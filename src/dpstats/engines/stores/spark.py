"""Tables in Spark: jobs go to the partitions, and only their summaries come back.

Executors need to find dpstats and pyarrow: in local mode they do; on a cluster install dpstats there as every other package, or
ship it with the session (`spark.addArtifacts` or `SparkContext.addPyFile` with a wheel or a zip of it). The workers' Python is
the one that PYSPARK_PYTHON names.

A task that fails says so and nothing else: no message of Spark's or of a task's reaches the caller, because they quote data,
and Spark's own log is silent while a job of ours runs; after one that failed it stays so until somebody sets its level anew.
"""

from __future__ import annotations

import pickle
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, one_error_for, require, shown
from dpstats.engines.stores.keeping import Maker
from dpstats.engines.stores.spark_plans import only_reads
from dpstats.engines.stores.spark_quiet import map_quietly, silenced
from dpstats.engines.stores.store import Batch, Job, Store
from dpstats.engines.units.contenders import Sieve
from dpstats.foundations.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow
    from pyspark import RDD
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from dpstats.engines.stores.spark_bounds import Uncrowded
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
_SENT = {  # arrow's types by the names of Spark's
    **{"BooleanType": "bool", "ByteType": "int8", "ShortType": "int16", "IntegerType": "int32", "LongType": "int64"},
    **{"FloatType": "float", "DoubleType": "double", "StringType": "string", "BinaryType": "binary", "DateType": "date32"},
    **{"TimestampNTZType": "timestamp[us]", "DayTimeIntervalType": "duration[us]", "TimeType": "time64[ns]"},
}
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
        return job.merge(self.parts(job, columns))

    def parts(self, job: Job[Summary], columns: Sequence[str]) -> list[Summary]:
        """What a job finds in every partition, and in a batch without rows, which tells the types where no partition has any."""
        names = self._named(columns)
        raw_parts = self._collect(lambda: self._mapped(partial(scan_partition, job, names), names).collect())
        return [*raw_parts, job.scan([self.no_rows(names)])]

    def no_rows(self, names: Sequence[str]) -> Batch:
        """A batch without rows, of the types that batches of the frame have."""
        import pyarrow

        declared = {field.name: field.dataType for field in self._frame.schema.fields}
        return Batch({name: pyarrow.array([], _sent_type(declared[self._places[name]])) for name in names}, 0)

    def keep(self, make: Maker, columns: Sequence[str]) -> SparkParts | None:
        """What `make` makes of batches with those columns, kept in Spark's storage until nobody refers to it any more."""
        with suppress(Exception):
            self._frame.sparkSession.sparkContext  # noqa: B018  which Spark Connect has none of
            return SparkParts(self, [(self, make, self._named(columns))])
        return None

    def bounded(self, bound: Bound) -> Store:
        """The same table with at most `bound.rows` rows of each unit.

        Where rows are stored, only those of units that may have too many are kept in Spark's storage, from the first pass on;
        where they may be computed, and be others at the next pass, all rows that stay are.
        """
        from dpstats.engines.stores.spark_bounds import keep_bounded

        return self._kept(keep_bounded(self._frame, self._places, bound)) if self.doubt else BoundedSparkStore(self, bound)

    def crowded(self, bound: Bound) -> tuple[Sieve, bool]:
        """What lets the units through that may have more than `bound.rows` rows, and whether there are rows that never stay."""
        from dpstats.engines.stores.spark_bounds import share_words, sieve_partition

        whole, leaves = Sieve(), False
        words = share_words(self._frame, self._places, bound, self._few_tasks())
        find = partial(sieve_partition, bound.rows)
        for sieve, more in self._collect(lambda: map_quietly(words, find, "part binary").collect()):
            whole.absorb(sieve)
            leaves = leaves or more
        return whole, leaves

    def crowd(self, bound: Bound, sieve: Sieve) -> SparkStore:
        """At most `bound.rows` rows of each unit that a sieve lets through, and no others; kept in Spark's storage."""
        from dpstats.engines.stores.spark_bounds import keep_bounded

        return self._kept(keep_bounded(self._frame, self._places, bound, sieve))

    def close(self) -> None:
        """Free what Spark keeps of a bounded table."""
        _free(self._frame)

    def _named(self, columns: Sequence[str]) -> list[str]:
        for name in columns:
            check_column_name(name, list(self.columns))
        return list(dict.fromkeys(columns))

    def _mapped(self, function: Callable[[Iterator[Any]], Iterator[Any]], names: Sequence[str]) -> DataFrame:
        """What a function makes of every partition of some columns: strings of bytes."""
        from pyspark.sql import functions as sql

        chosen = [sql.col(self._places[name]) for name in names] or [sql.lit(True).alias("row")]
        return map_quietly(self._frame.select(*chosen), function, "part binary")

    def _collect(self, collect: Callable[[], Iterable[Any]]) -> list[Any]:
        """What tasks came back with: rows of one pickled part; one of them failed where that is null."""
        raw_parts: list[Any] = [None]
        with suppress(Exception), silenced(self._frame.sparkSession):  # an error's message may carry values
            self._persist()
            raw_parts = [row[0] for row in collect()]
        if None in raw_parts:
            raise RuntimeError("Spark did not finish a pass over the table.")
        return [pickle.loads(part) for part in raw_parts]

    def check_reachable(self) -> None:
        """Raise where the frame's Spark session was stopped."""
        with one_error_for("the Spark DataFrame", "cannot be reached any more: its Spark session was stopped"):
            session = self._frame.sparkSession
            context = getattr(session, "_sc", None)  # Spark Connect has none, and tells by its version
            stopped = session.version is None if context is None else context._jsc is None or context._jsc.sc().isStopped()
            if stopped:
                raise RuntimeError

    def _persist(self) -> None:
        from pyspark import StorageLevel

        if not self._is_kept:  # when a pass is made and not before, because Spark computes constants of the plan then
            self._frame.persist(StorageLevel.MEMORY_AND_DISK)
            self._is_kept = True

    def _kept(self, frame: DataFrame) -> SparkStore:
        """A store of a frame with the same columns, which Spark keeps from the first pass on."""
        tasks = self._few_tasks()
        kept = copy(self)
        kept._frame, kept._is_kept = frame if tasks is None else frame.coalesce(tasks), False
        free_when_gone(kept, kept._frame)
        return kept

    def _few_tasks(self) -> int | None:
        """How many tasks keep the workers busy; None where Spark does not tell how many workers there are (Spark Connect)."""
        with suppress(Exception):
            return int(_TASKS_PER_WORKER * self._frame.sparkSession.sparkContext.defaultParallelism)
        return None


class BoundedSparkStore:
    """A Spark DataFrame whose rows are stored, with a bounded number of rows of each unit.

    The first pass looks for units that may have too many rows. Where there are none, and no row whose unit cannot be read,
    nothing is kept and passes go over the table as it is. Otherwise each pass goes over the table without the rows of such
    units, and over those of them that stay, which Spark keeps.
    """

    in_memory = False
    remote = True
    doubt: str | None = None

    def __init__(self, store: SparkStore, bound: Bound) -> None:
        """Reads nothing."""
        self._store = store
        self._bound = bound
        self._lock = threading.Lock()
        self._found: tuple[Sieve, bool] | None = None
        self._raw_crowd: SparkStore | None = None
        self.columns = store.columns

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Run a job over the rows that stay; the first call looks for them."""
        raw_parts: list[Summary] = []
        for store, uncrowded in self._sources():
            raw_parts += store.parts(*((job, columns) if uncrowded is None else uncrowded.of_job(job, columns)))
        return job.merge(raw_parts)

    def keep(self, make: Maker, columns: Sequence[str]) -> SparkParts | None:
        """What `make` makes of the rows that stay."""
        kept = [
            store.keep(*((make, columns) if uncrowded is None else uncrowded.of_maker(make, columns)))
            for store, uncrowded in self._sources()
        ]
        sources = [source for parts in kept if parts is not None for source in parts.sources]
        return SparkParts(self._store, sources) if sources else None

    def check_reachable(self) -> None:
        """Raise where the frame's Spark session was stopped."""
        self._store.check_reachable()

    def _sources(self) -> list[tuple[SparkStore, Uncrowded | None]]:
        """Where the rows that stay lie, and which of the rows there are to be left out."""
        from dpstats.engines.stores.spark_bounds import Uncrowded

        with self._lock:
            if self._found is None:
                self._found = self._store.crowded(self._bound)
                self._raw_crowd = None if self._found[0].raw_closed else self._store.crowd(self._bound, self._found[0])
        sieve, leaves = self._found
        if sieve.raw_closed and not leaves:
            return [(self._store, None)]
        crowd: list[tuple[SparkStore, Uncrowded | None]] = [(self._raw_crowd, None)] if self._raw_crowd else []
        return [(self._store, Uncrowded(self._bound, sieve)), *crowd]

    def close(self) -> None:
        """Free what Spark keeps."""
        if self._raw_crowd is not None:
            self._raw_crowd.close()


class SparkParts:
    """What was made of the rows of stores, kept in Spark's storage: in memory, and on the workers' disks where that is short."""

    def __init__(self, store: SparkStore, sources: Sequence[tuple[SparkStore, Maker, list[str]]]) -> None:
        """`sources` are stores, what is made of them, and of which columns. Reads nothing."""
        self.sources = list(sources)
        self._store = store
        self._kept: RDD[Any] | None = None

    def run(self, job: Any) -> Any:
        """Run a job over all parts; the first call makes them."""
        raw_parts = self._store._collect(lambda: self._parts().mapPartitions(partial(scan_parts, job)).collect())
        no_rows = [part for store, make, names in self.sources for part in make([store.no_rows(names)])]
        return job.merge([*raw_parts, job.scan(no_rows)])  # parts without rows tell the types where no others do

    def _parts(self) -> RDD[Any]:
        from pyspark import StorageLevel

        if self._kept is None:
            parts = []
            for store, make, names in self.sources:
                store._persist()
                parts.append(store._mapped(partial(make_partition, make, names), names).rdd.map(_only_cell))
            kept = parts[0] if len(parts) == 1 else parts[0].context.union(parts)
            kept.persist(StorageLevel.MEMORY_AND_DISK)
            free_when_gone(self, kept)
            self._kept = kept
        return self._kept


def make_partition(
    make: Maker, names: Sequence[str], raw_batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """The parts of one partition, pickled, each as a row; a null at the end where one could not be made."""

    parts = make(_batches(names, raw_batches))
    while True:
        raw_part = None
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they would be printed, and may carry values
            try:
                raw_part = pickle.dumps(next(parts), protocol=5)
            except StopIteration:
                return
        yield _row_of(raw_part)
        if raw_part is None:
            return


def scan_parts(job: Any, raw_parts: Iterator[bytes | None]) -> Iterator[tuple[bytes | None]]:
    """What a job finds in the parts of one partition, or a null where it fails or a part could not be made."""
    raw_found = None
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw_found = pickle.dumps(job.scan(pickle.loads(part) for part in raw_parts))  # type: ignore[arg-type]
    yield (raw_found,)


def scan_partition(
    job: Job[Any], names: Sequence[str], raw_batches: Iterator[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """What a job finds in one partition, as one row, or a null where it fails; runs where the rows are."""
    raw_part = None
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they would be printed, and may carry values
        raw_part = pickle.dumps(job.scan(_batches(names, raw_batches)))
    yield _row_of(raw_part)


def _row_of(raw_part: bytes | None) -> pyarrow.RecordBatch:
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([pyarrow.array([raw_part], pyarrow.binary())], names=["part"])


def _only_cell(row: Any) -> bytes | None:
    return None if row[0] is None else bytes(row[0])


def _free(kept: DataFrame | RDD[Any]) -> None:
    with suppress(Exception):  # the session may have ended
        kept.unpersist()


_GONE: SimpleQueue[Any] = SimpleQueue()
"""Kept frames whose store is gone."""


def free_when_gone(owner: object, kept: DataFrame | RDD[Any]) -> None:
    """Have Spark let go of kept rows once their owner is collected.

    A thread of its own tells Spark. The collector may run while the thread that it interrupts waits for Spark's answer: a second
    command on the same connection would break it.
    """
    _start_freeing()
    weakref.finalize(owner, _GONE.put, kept).atexit = False


@cache
def _start_freeing() -> None:
    threading.Thread(target=_free_all, name="dpstats-frees-spark", daemon=True).start()


def _free_all() -> None:
    while True:
        _free(_GONE.get())


def _batches(names: Sequence[str], raw_batches: Iterable[pyarrow.RecordBatch]) -> Iterator[Batch]:
    return (Batch(dict(zip(names, table.columns, strict=False)), table.num_rows) for table in _gathered(raw_batches))


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


def _sent_type(declared: DataType) -> pyarrow.DataType:
    """The type in which a column that `_sendable` made arrives."""
    import pyarrow

    name, decimal = type(declared).__name__, cast(Any, declared)
    if name == "DecimalType":
        return pyarrow.decimal128(decimal.precision, decimal.scale)
    if name == "TimestampType":
        return pyarrow.timestamp("us", tz="UTC")
    return pyarrow.type_for_alias(_SENT[name]) if name in _SENT else pyarrow.list_(pyarrow.bool_())


def _check_names(names: Sequence[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise InvalidParameterError(f"the Spark DataFrame has more than one column named {shown(name)}: rename one of them.")
