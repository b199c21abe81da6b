"""Delta tables: the files that the log names and no others, with the types that it declares."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.errors import DataFileError, LedgerError
from tests.engines.stores.ugly import plain_cells, rows_of

if os.environ.get("DPSTATS_NO_SKIP"):
    import deltalake
else:
    deltalake = pytest.importorskip("deltalake")


def write(folder: Path, columns: dict[str, Any], **words: Any) -> None:
    deltalake.write_deltalake(folder, pa.table(columns), **words)


def test_a_delta_table_has_the_rows_of_its_newest_version(tmp_path: Path) -> None:
    write(tmp_path, {"x": pa.array([1, 2], pa.int32()), "region": ["no/r th", None]}, partition_by=["region"])
    write(tmp_path, {"x": [3, 4], "y": ["a", "b"], "region": ["s", "s"]}, mode="append", schema_mode="merge")
    assert dict(open_store(tmp_path)[0].columns) == {"x": ColumnType.INTEGER, "y": ColumnType.TEXT, "region": ColumnType.TEXT}
    expected = [(1, None, "no/r th"), (2, None, None), (3, "a", "s"), (4, "b", "s")]
    assert rows_of(tmp_path) == expected
    before: Any = open_store(tmp_path)[0]
    deltalake.DeltaTable(tmp_path).delete("x = 3")
    assert rows_of(tmp_path) == [each for each in expected if each[0] != 3]
    assert sum(batch.rows for batch in before.batches(["x"])) == 4  # files of a Delta table stay
    before.check_reachable()
    deltalake.DeltaTable(tmp_path).delete()
    assert rows_of(tmp_path) == []  # an empty table is no error, which would show that it is


def test_partition_columns_have_the_types_that_the_log_declares(tmp_path: Path) -> None:
    day = datetime.date(2024, 1, 31)
    write(tmp_path, {"x": [1.0, 2.0], "day": [day, None], "n": [7, 8]}, partition_by=["day", "n"])
    store = open_store(tmp_path)[0]
    assert (store.columns["day"], store.columns["n"]) == (ColumnType.MOMENT, ColumnType.INTEGER)
    found = {
        tuple(plain_cells(batch.cells("n", ColumnType.INTEGER))): plain_cells(batch.cells("day", ColumnType.MOMENT))
        for batch in store.batches(["n", "day"])
    }
    micros = (day - datetime.date(1970, 1, 1)).days * 86_400_000_000
    assert found == {(7,): [(micros, False)], (8,): [None]}


def test_a_delta_table_that_takes_more_than_its_files_is_refused(tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path, pa.table({"x": [1.0]}), configuration={"delta.enableDeletionVectors": "true"})
    with pytest.raises(DataFileError, match="needs a reader of deletion vectors"):
        open_store(tmp_path)


def test_a_delta_table_keeps_its_budget_whatever_its_files_are(tmp_path: Path) -> None:
    def protect(**words: Any) -> Any:
        return dp.protect(tmp_path / "visits", unit="row", budget=dp.Budget(epsilon=1), ledger=tmp_path / "a.ledger", **words)

    write(tmp_path / "visits", {"x": [float(row) for row in range(2_000)]})
    protect().median("x", epsilon=0.5)
    write(tmp_path / "visits", {"x": [float(row) for row in range(5_000, 9_000)]}, mode="overwrite")
    table = protect()
    assert table.median("x", epsilon=0.5).value > 3_000  # other rows: another edition
    assert table.ledger.spent.epsilon == 1
    with pytest.raises(LedgerError, match="knows these rows as 'visits'"):
        protect(name="other")
