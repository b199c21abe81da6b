"""Iceberg tables: the rows of the current snapshot, by the ids of columns, without those that were deleted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpstats as dp
from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.paths import find_files
from dpstats.foundations.errors import DataFileError, LedgerError
from tests.engines.stores.makers_iceberg import new_iceberg_table
from tests.engines.stores.ugly import rows_of

if not os.environ.get("DPSTATS_NO_SKIP"):
    pytest.importorskip("pyiceberg")
    pytest.importorskip("sqlalchemy")

from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, StringType


def written(folder: Path, columns: dict[str, Any]) -> Any:
    table = new_iceberg_table(folder, pa.table(columns).schema)
    table.append(pa.table(columns))
    return table


class DeleteManifest(ManifestWriterV2):
    """A list of files of deletes, which pyiceberg reads but does not write."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES


def with_deletes(table: Any, folder: Path, content: DataFileContent, deleted: pa.Table) -> Path:
    """A metadata file of the table with one more snapshot, which has these deletes."""
    snapshot = table.current_snapshot()
    metadata = folder / "clinic" / "visits" / "metadata"
    pq.write_table(deleted, folder / "deletes.parquet")
    file = DataFile.from_args(
        content=content,
        file_path=f"file://{folder}/deletes.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=deleted.num_rows,
        file_size_in_bytes=(folder / "deletes.parquet").stat().st_size,
        equality_ids=[1] if content is DataFileContent.EQUALITY_DELETES else None,
    )
    file.spec_id = 0
    with DeleteManifest(table.spec(), table.schema(), table.io.new_output(f"{metadata}/deletes.avro"), 77, "null") as writer:
        status = ManifestEntryStatus.ADDED
        writer.add_entry(ManifestEntry.from_args(status=status, snapshot_id=77, sequence_number=9, data_file=file))
    listed = [*snapshot.manifests(table.io), writer.to_manifest_file()]
    place = f"{metadata}/snap-77.avro"
    with write_manifest_list(2, table.io.new_output(place), 77, snapshot.snapshot_id, 9, "null") as names:
        names.add_manifests(listed)
    newest = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    newest["snapshots"].append({**newest["snapshots"][-1], "snapshot-id": 77, "sequence-number": 9, "manifest-list": place})
    newest.update({"current-snapshot-id": 77, "last-sequence-number": 9, "refs": {"main": {"snapshot-id": 77, "type": "branch"}}})
    (metadata / "00077-deletes.metadata.json").write_text(json.dumps(newest))
    return metadata / "00077-deletes.metadata.json"


def test_an_iceberg_table_has_the_rows_of_its_current_snapshot(tmp_path: Path) -> None:
    table = new_iceberg_table(
        tmp_path,
        pa.table({"x": pa.array([], pa.int32()), "region": pa.array([], pa.string()), "old": pa.array([], pa.int64())}).schema,
    )
    with table.update_spec() as spec:
        spec.add_identity("region")
    table.append(pa.table({"x": pa.array([1, 2], pa.int32()), "region": ["no/r th", None], "old": [7, 8]}))
    with table.update_schema() as schema:
        schema.add_column("y", StringType())
        schema.update_column("x", LongType())
        schema.rename_column("region", "place")
        schema.delete_column("old")
    with table.update_schema() as schema:
        schema.add_column("old", StringType())  # the same name, another column
    table.append(pa.table({"x": [2**40, 4], "place": ["s", "s"], "y": ["a", "b"], "old": ["c", "d"]}))
    folder = tmp_path / "clinic" / "visits"
    kinds = {"x": ColumnType.INTEGER, "place": ColumnType.TEXT, "y": ColumnType.TEXT, "old": ColumnType.TEXT}
    assert dict(open_store(folder)[0].columns) == kinds
    expected = [(1, "no/r th", None, None), (2, None, None, None), (2**40, "s", "a", "c"), (4, "s", "b", "d")]
    assert rows_of(folder) == sorted(expected, key=str) == rows_of(table.metadata_location.removeprefix("file://"))
    before: Any = open_store(folder)[0]
    table.delete("x = 4")
    assert rows_of(folder) == sorted([each for each in expected if each[0] != 4], key=str)
    assert sum(batch.rows for batch in before.batches(["x"])) == 4  # the snapshot that was opened
    before.check_reachable()
    table.delete()
    assert rows_of(folder) == []  # an empty table is no error, which would show that it is
    with pytest.raises(DataFileError, match="is an Iceberg table: pass its folder itself"):
        find_files(folder)  # so that no catalog takes a table whose files may lie anywhere


def test_deleted_places_are_left_out_and_deletes_by_value_refused(tmp_path: Path) -> None:
    table = written(tmp_path, {"x": list(range(10))})
    [task] = table.scan().plan_files()
    ours = {"file_path": [task.file.file_path] * 3 + ["file:///another"], "pos": [0, 7, 7, 3]}
    metadata = with_deletes(table, tmp_path, DataFileContent.POSITION_DELETES, pa.table(ours))
    assert [each for (each,) in rows_of(metadata)] == [1, 2, 3, 4, 5, 6, 8, 9] == table_rows(metadata)
    store: Any = open_store(metadata)[0]
    store._batch_rows = 3
    assert [batch.rows for batch in store.batches(["x"])] == [2, 3, 2, 1]
    assert [batch.rows for batch in store.batches([])] == [8]
    assert store.whereabouts().content() != open_store(table.metadata_location.removeprefix("file://"))[0].whereabouts().content()  # type: ignore[attr-defined]
    metadata = with_deletes(table, tmp_path, DataFileContent.EQUALITY_DELETES, pa.table({"x": [3]}))
    with pytest.raises(DataFileError, match="has deletes by value, which are not read here"):
        open_store(metadata)


def table_rows(metadata: Path) -> list[int]:
    """What pyiceberg itself reads."""
    from pyiceberg.table import StaticTable

    found: list[int] = StaticTable.from_metadata(str(metadata)).scan().to_arrow().column("x").to_pylist()
    return found


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format-version": 3, "next-row-id": 0}, "is of a newer format than 2"),
        ({"snapshots": "kanari"}, r"could not be read as an Iceberg table\.$"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    found = Path(written(tmp_path, {"x": [1.0]}).metadata_location.removeprefix("file://"))
    assert rows_of(found) == [(1.0,)]
    found.write_text(json.dumps({**json.loads(found.read_text()), **change}))
    with pytest.raises(DataFileError, match=complaint):
        open_store(found)


def test_metadata_lead_to_no_other_machine_and_name_no_reader(tmp_path: Path) -> None:
    found = Path(written(tmp_path, {"x": [1.0]}).metadata_location.removeprefix("file://"))
    metadata = json.loads(found.read_text())
    metadata["properties"]["py-io-impl"] = "antigravity.FileIO"
    found.write_text(json.dumps(metadata))
    assert rows_of(found) == [(1.0,)]
    metadata["snapshots"][-1]["manifest-list"] = "s3://bucket/list.avro"
    found.write_text(json.dumps(metadata))
    with pytest.raises(DataFileError, match="has files that are not on this machine"):
        open_store(found)


def test_an_iceberg_table_keeps_its_budget_whatever_its_files_are(tmp_path: Path) -> None:
    def protect(place: Path, **words: Any) -> Any:
        return dp.protect(place, unit="row", budget=dp.Budget(epsilon=1), ledger=tmp_path / "a.ledger", **words)

    table = written(tmp_path, {"x": [float(row) for row in range(2_000)]})
    folder = tmp_path / "clinic" / "visits"
    protect(folder).median("x", epsilon=0.5)
    table.overwrite(pa.table({"x": [float(row) for row in range(5_000, 9_000)]}))
    session = protect(Path(table.metadata_location.removeprefix("file://")))
    assert session.median("x", epsilon=0.5).value > 3_000  # other rows: another edition
    assert session.ledger.spent.epsilon == 1
    with pytest.raises(LedgerError, match="knows these rows as 'visits'"):
        protect(folder, name="other")
