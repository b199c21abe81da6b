"""What is particular to tables in Spark: jobs that travel, bounds at scale, and errors that keep quiet."""

from __future__ import annotations

import gc
import socket
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dpstats.engines import complaints
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.spark import BoundedSparkStore, SparkStore, free_when_gone
from dpstats.engines.stores.store import Batch
from dpstats.engines.units.contenders import Sieve
from dpstats.engines.units.contributions import Bound, BoundedStore, MissingUnit
from dpstats.foundations.errors import DataFileError, InvalidParameterError, MissingExtraError, UnknownNameError
from tests.engines.stores.makers_spark import Several, spark_table
from tests.engines.stores.ugly import CountRows, plain_cells

INTEGER, NUMBER, BOOLEAN, TEXT, MOMENT, OTHER = (
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.BOOLEAN,
    ColumnType.TEXT,
    ColumnType.MOMENT,
    ColumnType.OTHER,
)
KEY = bytes(range(32))
SECRET = "s3cret"


@dataclass(frozen=True)
class Collect:
    """A job that brings whole rows back, in any order."""

    columns: tuple[tuple[str, ColumnType], ...]

    def scan(self, batches: Iterable[Batch]) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for batch in batches:
            found.update(zip(*(plain_cells(batch.cells(*column)) for column in self.columns), strict=True))
        return found

    def merge(self, parts: Sequence[Counter[Any]]) -> Counter[Any]:
        return sum(parts, Counter())


@dataclass(frozen=True)
class Fail:
    """A job that chokes on the rows, loudly."""

    def scan(self, batches: Iterable[Batch]) -> int:
        for batch in batches:
            warnings.warn(SECRET, stacklevel=1)
            raise ValueError(f"{SECRET} {plain_cells(batch.cells('id', INTEGER))}")
        return 0

    def merge(self, parts: Sequence[int]) -> int:
        return sum(parts)


TYPES = """
SELECT CAST(x AS BYTE) byte, CAST(x AS SHORT) short, CAST(x AS LONG) long, CAST(x AS FLOAT) float,
  CAST(x AS DECIMAL(38, 10)) decimal, x = 1 flag, CAST(NULL AS VOID) nothing, TIMESTAMP_NTZ'1970-01-01 00:00:01' plain,
  TIMESTAMP'1970-01-01 00:00:01 UTC' zoned, DATE'0001-01-01' day, INTERVAL '25' HOUR span, INTERVAL '14' MONTH months,
  make_interval(1) mixed, CAST('a' AS BINARY) bytes, array(x) list, named_struct('a', x) record, map('a', x) pairs
FROM VALUES (1), (NULL) AS rows(x)
"""
EXPECTED: dict[str, tuple[ColumnType, list[Any]]] = {
    "byte": (INTEGER, [1, None]),
    "short": (INTEGER, [1, None]),
    "long": (INTEGER, [1, None]),
    "float": (NUMBER, [1.0, None]),
    "decimal": (NUMBER, [1.0, None]),
    "flag": (BOOLEAN, [1, None]),
    "nothing": (NUMBER, [None, None]),
    "plain": (MOMENT, [(1_000_000, False)] * 2),
    "zoned": (MOMENT, [(1_000_000, True)] * 2),
    "day": (MOMENT, [(-62_135_596_800_000_000, False)] * 2),
    "span": (TEXT, ["P1DT1H"] * 2),
    "months": (TEXT, ["INTERVAL '14' MONTH"] * 2),
    "mixed": (TEXT, ["1 years"] * 2),
    "bytes": (OTHER, [True, True]),
    "list": (OTHER, [True, True]),
    "record": (OTHER, [True, True]),
    "pairs": (OTHER, [True, True]),
}


def test_every_type_of_spark_has_its_cells(spark: Any) -> None:
    store = SparkStore(spark.sql(TYPES))
    assert store.columns == {name: kind for name, (kind, _) in EXPECTED.items()}
    job: Any = Several(tuple(Collect(((name, kind),)) for name, (kind, _) in EXPECTED.items()))
    found = store.run(job, list(EXPECTED))
    assert found == [Counter((cell,) for cell in cells) for _, cells in EXPECTED.values()]


def test_a_table_without_partitions_and_one_without_columns_are_scanned_too(spark: Any) -> None:
    empty = spark.createDataFrame(spark.sparkContext.emptyRDD(), "id LONG")
    assert empty.rdd.getNumPartitions() == 0
    store, types = open_store(empty)
    assert isinstance(store, SparkStore)
    assert types == {"id": INTEGER}
    assert store.run(CountRows(), ["id"])[0] == store.run(CountRows(), [])[0] == 0
    assert SparkStore(spark.range(5).select()).run(CountRows(), [])[0] == 5


def test_names_that_confuse_spark_do_not_confuse_us(spark: Any) -> None:
    frame = spark.range(3).toDF("a.b").selectExpr("`a.b`", "`a.b` + 10 AS id", "`a.b` + 20 AS ID", "`a.b` AS `tick``s`")
    store = SparkStore(frame)
    job = Collect((("a.b", INTEGER), ("ID", INTEGER), ("id", INTEGER), ("tick`s", INTEGER)))
    assert store.run(job, ["a.b", "ID", "id", "tick`s"]) == Counter([(i, 20 + i, 10 + i, i) for i in range(3)])
    with pytest.raises(InvalidParameterError, match="more than one column named id"):
        SparkStore(spark.range(3).selectExpr("id", "id"))
    with pytest.raises(UnknownNameError, match="Did you mean"):
        store.run(CountRows(), ["tick's"])


def test_a_job_that_fails_says_nothing_about_the_rows(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError) as caught:
        SparkStore(spark.range(1000)).run(Fail(), ["id"])
    assert str(caught.value) == "Spark did not finish a pass over the table."
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert capfd.readouterr() == ("", "")


def test_a_table_that_fails_says_nothing_about_the_rows(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    store = SparkStore(spark.range(9).selectExpr(f"CAST(concat('{SECRET}', id) AS INT) AS id"))
    with pytest.raises(RuntimeError) as caught:
        store.run(CountRows(), ["id"])
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert SECRET not in "".join(capfd.readouterr())
    root = spark.sparkContext._jvm.org.apache.logging.log4j.LogManager.getRootLogger()
    assert root.getLevel().toString() == "OFF"  # tasks that are still on their way would tell of it
    spark.sparkContext.setLogLevel("ERROR")
    SparkStore(spark.range(9)).run(CountRows(), ["id"])
    assert root.getLevel().toString() == "ERROR"


def test_a_session_that_has_ended_is_our_own_error(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.range(3)
    monkeypatch.setattr(type(frame), "schema", property(lambda _: 1 / 0))
    with pytest.raises(DataFileError, match="could not be opened: check that its session runs"):
        SparkStore(frame)


def stored_table(spark: Any, frame: pl.DataFrame, folder: Path) -> Any:
    """The table in two Parquet files, whose rows Spark sees to be stored."""
    folder.mkdir(exist_ok=True)
    for number, part in enumerate((frame[::2], frame[1::2])):
        part.write_parquet(folder / f"{number}.parquet")
    return spark.read.parquet(str(folder))


def visits() -> pl.DataFrame:
    """Units with one to thirty visits, and some without an id."""
    persons = [person for person in range(30) for _ in range(person + 1)]
    rows = len(persons)
    return pl.DataFrame(
        {
            "person": [None if row % 11 == 0 else f"p{person}" for row, person in enumerate(persons)],
            "cost": [float(row * row % 97) for row in range(rows)],
            "day": [row % 7 for row in range(rows)],
        }
    )


@pytest.mark.parametrize("missing", list(MissingUnit))
def test_the_rows_that_are_kept_are_those_that_every_store_keeps(spark: Any, missing: MissingUnit) -> None:
    kinds = (("person", TEXT), ("cost", NUMBER), ("day", INTEGER))
    bound = Bound("person", TEXT, 3, kinds, missing, KEY)
    local: Any = open_store(visits())[0]
    store = SparkStore(spark_table(spark, visits())).bounded(bound)
    job = Collect(kinds)
    expected = BoundedStore(local, bound).run(job, [name for name, _ in kinds])
    assert store.run(job, [name for name, _ in kinds]) == expected
    assert store.run(CountRows(), [])[0] == expected.total()
    most = Counter(person for person, *_ in expected.elements())
    assert max(count for person, count in most.items() if person is not None) == 3
    assert (
        most[None] == {MissingUnit.DROP: 0, MissingUnit.TOGETHER: 3, MissingUnit.EACH: visits()["person"].null_count()}[missing]
    )
    store.close()


@pytest.mark.parametrize("missing", list(MissingUnit))
def test_rows_whose_unit_cannot_be_read_are_left_out_as_everywhere(spark: Any, missing: MissingUnit) -> None:
    kinds = (("person", INTEGER), ("cost", NUMBER))
    bound = Bound("person", INTEGER, 2, kinds, missing, KEY)
    persons = [None, None, None, *["A12"] * 9, *["nan"] * 9, str(2**64), "7", "7", "7", "8"]
    frame = pl.DataFrame({"person": persons, "cost": [float(row) for row in range(len(persons))]})
    local: Any = open_store(frame)[0]
    store = SparkStore(spark_table(spark, frame)).bounded(bound)
    expected = BoundedStore(local, bound).run(Collect(kinds), ["person", "cost"])
    assert store.run(Collect(kinds), ["person", "cost"]) == expected
    assert expected.total() == {MissingUnit.DROP: 3, MissingUnit.EACH: 6, MissingUnit.TOGETHER: 5}[missing]
    store.close()


@pytest.mark.parametrize(("missing", "bounds"), [(MissingUnit.DROP, (2, 25)), (MissingUnit.TOGETHER, (3,))])
def test_of_stored_tables_only_the_units_with_too_many_rows_are_ranked_and_the_same_rows_stay(
    spark: Any, tmp_path: Path, missing: MissingUnit, bounds: Sequence[int]
) -> None:
    kinds = (("person", TEXT), ("cost", NUMBER), ("day", INTEGER))
    names = [name for name, _ in kinds]
    local: Any = open_store(visits())[0]
    table = SparkStore(stored_table(spark, visits(), tmp_path / "visits"))
    assert table.doubt is None
    for rows in bounds:
        bound = Bound("person", TEXT, rows, kinds, missing, KEY)
        store = table.bounded(bound)
        assert isinstance(store, BoundedSparkStore)
        expected = BoundedStore(local, bound).run(Collect(kinds), names)
        assert store.run(Collect(kinds), names) == expected
        assert store.run(CountRows(), [])[0] == expected.total()
        assert store.run(Collect(kinds[1:2]), ["cost"]).total() == expected.total()
        assert store._raw_crowd is not None
        ranked = store._raw_crowd.run(Collect(kinds), names)
        assert set(ranked) < set(expected), "the others are not shuffled"
        forgetful = BoundedSparkStore(table, bound)
        forgetful._found = Sieve(), True
        assert forgetful.run(Collect(kinds), names) != expected, "a store that forgets who has too many rows keeps them"
        store.close()


def test_where_no_unit_has_too_many_rows_spark_keeps_nothing_and_reads_the_table_as_it_is(spark: Any, tmp_path: Path) -> None:
    persons = [f"p{row % 50}" for row in range(100)]
    frame = pl.DataFrame({"person": persons, "cost": [float(row) for row in range(100)]})
    bound = Bound("person", TEXT, 2, (("person", TEXT), ("cost", NUMBER)), MissingUnit.DROP, KEY)
    store = SparkStore(stored_table(spark, frame, tmp_path / "all")).bounded(bound)
    assert isinstance(store, BoundedSparkStore)
    assert store.run(CountRows(), [])[0] == 100
    assert store._raw_crowd is None
    nobody = SparkStore(stored_table(spark, frame.clear(), tmp_path / "none")).bounded(bound)
    assert nobody.run(CountRows(), [])[0] == 0
    unknown = pl.DataFrame({"person": [None, *persons], "cost": [1.0] * 101})
    rest = SparkStore(stored_table(spark, unknown, tmp_path / "unknown")).bounded(bound)
    assert rest.run(CountRows(), [])[0] == 100


@pytest.mark.parametrize(
    ("missing", "rows"),
    [(MissingUnit.DROP, 2), (MissingUnit.EACH, 2), (MissingUnit.TOGETHER, 2), (MissingUnit.TOGETHER, 3)],
)
def test_rows_of_stored_tables_whose_unit_cannot_be_read_are_left_out(
    spark: Any, tmp_path: Path, missing: MissingUnit, rows: int
) -> None:
    kinds = (("person", INTEGER), ("cost", NUMBER))
    persons = [None, None, None, *["A12"] * 9, *["nan"] * 9, str(2**64), "7", "7", "7", "8"]
    frame = pl.DataFrame({"person": persons, "cost": [float(row) for row in range(len(persons))]})
    table = SparkStore(stored_table(spark, frame, tmp_path / "units"))
    local: Any = open_store(frame)[0]
    bound = Bound("person", INTEGER, rows, kinds, missing, KEY)  # with 3 rows each, nobody has too many
    expected = BoundedStore(local, bound).run(Collect(kinds), ["person", "cost"])
    assert table.bounded(bound).run(Collect(kinds), ["person", "cost"]) == expected


def test_a_bounded_table_is_kept_after_the_first_pass_and_not_before(spark: Any) -> None:
    bound = Bound("id", INTEGER, 1, (("id", INTEGER),), MissingUnit.DROP, KEY)
    failing = SparkStore(spark.range(9).selectExpr(f"CAST(concat('{SECRET}', id) AS INT) AS id")).bounded(bound)
    with pytest.raises(RuntimeError):
        failing.run(CountRows(), [])
    store = SparkStore(spark.range(9).selectExpr("CAST(1000000 * rand() AS LONG) AS id")).bounded(bound)
    job = Collect((("id", INTEGER),))
    assert store.run(job, ["id"]) == store.run(job, ["id"])
    assert store._frame.is_cached
    store.close()
    failing.close()


def test_without_the_libraries_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(complaints, "find_spec", lambda name: None if name == "pandas" else name)
    with pytest.raises(MissingExtraError, match=r"dpstats\[spark\]"):
        SparkStore(None)  # type: ignore[arg-type]


def test_the_collector_may_free_kept_rows_while_a_command_is_under_way(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second command on the connection of the first one broke it, and questions ended in errors of Spark's."""

    class Owner:
        def __init__(self) -> None:
            self.itself = self

    kept, read = spark.range(10).persist(), socket.SocketIO.readinto
    collected: list[int] = []

    def collect_and_read(stream: socket.SocketIO, buffer: Any) -> Any:
        if not collected:
            collected.append(gc.collect())
        return read(stream, buffer)

    free_when_gone(Owner(), kept)
    with monkeypatch.context() as patch:
        patch.setattr(socket.SocketIO, "readinto", collect_and_read)
        assert spark._jvm.java.lang.Integer.parseInt("7") == 7
    assert collected
    for _ in range(6_000):
        if not kept.storageLevel.useMemory:
            break
        time.sleep(0.01)
    assert not kept.storageLevel.useMemory
