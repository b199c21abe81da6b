"""Iceberg tables in folders: the Parquet files of their current snapshot, by the reader of the package pyiceberg.

The metadata say which files belong to the table, which columns it has and of which types. Columns are found in the files by their
ids, as Iceberg wants it, whatever they were called when a file was written; rows that files of deleted places name are left out.
All of that stays the same as long as the table is open, because files of an Iceberg table never change. Deletes by value, and
tables of a newer format than 2, are refused. The metadata are read with this machine's files alone: what they say of readers,
hosts and credentials is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.complaints import one_error_for, require, shown
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.engines.stores.paths import ICEBERG_METADATA, ICEBERG_SUFFIX
from dpstats.engines.stores.readings import FileReading
from dpstats.foundations.errors import DataFileError

if TYPE_CHECKING:
    import pyarrow
    from pyiceberg.table import FileScanTask, StaticTable

_NEWEST_FORMAT = 2
_FIELD_ID = b"PARQUET:field_id"
_NUMBER = re.compile(r"v?(\d+)[-.]")


def iceberg_store(place: Path) -> ParquetStore:
    """The table of a metadata file, or of a folder by its newest one, at the snapshot that is current there."""
    require("Iceberg tables need", "iceberg", "pyiceberg", "polars", "pyarrow")
    metadata = newest_metadata(place) if place.is_dir() else place
    folder = metadata.parent.parent if metadata.parent.name == ICEBERG_METADATA else metadata.parent
    with one_error_for(place, "could not be read as an Iceberg table"):
        table = _opened(metadata)
        if table.metadata.format_version > _NEWEST_FORMAT:
            raise DataFileError(
                f"the Iceberg table {shown(place)} is of a newer format than {_NEWEST_FORMAT}: write a copy in that."
            )
        schema, ids = _columns(table)
        tasks = sorted(_planned(table, place), key=lambda task: task.file.file_path)
        readings = [_reading(table, task, ids, place) for task in tasks]
    files = [_local(task.file.file_path, place) for task in tasks]
    return ParquetStore(files, declared=schema, root=folder, readings=readings, name=folder.name)


def newest_metadata(folder: Path) -> Path:
    """The metadata file that the folder's version hint names, or else that of the highest number."""
    metadata = folder / ICEBERG_METADATA
    with one_error_for(folder, "could not be read as an Iceberg table"):
        hint = metadata / "version-hint.text"
        if hint.is_file():
            said = hint.read_text(encoding="utf-8").strip()
            named = said if said.endswith(ICEBERG_SUFFIX) else f"{'v' if said.isdecimal() else ''}{said}{ICEBERG_SUFFIX}"
            if Path(named).name == named:
                return metadata / named
        numbers = {file: _NUMBER.match(file.name) for file in metadata.glob(f"*{ICEBERG_SUFFIX}")}
        highest = max((int(found[1]) for found in numbers.values() if found), default=-1)
    newest = [file for file, found in numbers.items() if found and int(found[1]) == highest]
    if len(newest) != 1 or not all(numbers.values()):
        raise DataFileError(
            f"which metadata of {shown(folder)} are the newest is not clear: name a file that ends in {ICEBERG_SUFFIX}."
        )
    return newest[0]


def _opened(metadata: Path) -> StaticTable:
    """The table; not by the reader's own way, which would let the metadata name any class to read with."""
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    files = PyArrowFileIO()
    name = str(metadata.absolute())
    return StaticTable(("table",), FromInputFile.table_metadata(files.new_input(name)), name, files, NoopCatalog("none"))


def _columns(table: StaticTable) -> tuple[pyarrow.Schema, dict[int, str]]:
    """The columns with their types, and their names by id."""
    import pyarrow

    schema = table.schema()
    fields = [
        pyarrow.field(field.name, field.type.storage_type if isinstance(field.type, pyarrow.BaseExtensionType) else field.type)
        for field in schema.as_arrow()
    ]
    return pyarrow.schema(fields), {field.field_id: field.name for field in schema.fields}


def _planned(table: StaticTable, place: Path) -> list[FileScanTask]:
    """The data files of the current snapshot, each with its files of deletes."""
    snapshot = table.current_snapshot()
    if snapshot is None:
        return []
    _local(snapshot.manifest_list, place)  # locations are looked at before the reader follows them
    manifests = snapshot.manifests(table.io)
    for manifest in manifests:
        _local(manifest.manifest_path, place)
    kinds = [entry.data_file for manifest in manifests for entry in manifest.fetch_manifest_entry(table.io)]
    if any(file.content.name == "EQUALITY_DELETES" for file in kinds):
        raise DataFileError(
            f"the Iceberg table {shown(place)} has deletes by value, which are not read here: let its writer rewrite its files."
        )
    if any(file.file_format.name != "PARQUET" for file in kinds):
        raise DataFileError(f"the Iceberg table {shown(place)} has files that are not Parquet: let its writer rewrite them.")
    return list(table.scan().plan_files())


def _reading(table: StaticTable, task: FileScanTask, ids: Mapping[int, str], place: Path) -> FileReading:
    """How a file is to be read: its columns by their ids, and the places that were deleted."""
    from pyarrow.parquet import read_schema
    from pyiceberg.transforms import IdentityTransform

    stored = {
        int(field.metadata[_FIELD_ID]): field.name
        for field in read_schema(_local(task.file.file_path, place))
        if _FIELD_ID in (field.metadata or {})
    }
    if not stored:
        raise DataFileError(
            f"the Iceberg table {shown(place)} has files without ids of columns, as an import leaves them: let its writer "
            "rewrite its files."
        )
    spec = table.specs()[task.file.spec_id]
    if any(isinstance(part.transform, IdentityTransform) and part.source_id not in stored for part in spec.fields):
        raise DataFileError(
            f"the Iceberg table {shown(place)} has columns that only its partitions name: let its writer rewrite its files."
        )
    names = {name: stored[number] for number, name in ids.items() if number in stored}
    return FileReading(names, _deleted([_local(each.file_path, place) for each in task.delete_files], task.file.file_path))


def _deleted(files: Sequence[Path], data_file: str) -> NDArray[np.int64]:
    """The places in a data file that files of deletes name."""
    import pyarrow.compute as pc
    from pyarrow.parquet import read_table

    raw_places = [np.zeros(0, dtype=np.int64)]
    for file in files:
        raw_rows = read_table(file, columns=["file_path", "pos"], partitioning=None)
        raw_places.append(raw_rows.filter(pc.equal(raw_rows.column("file_path"), data_file)).column("pos").to_numpy())
    return np.unique(np.concatenate(raw_places).astype(np.int64))


def _local(location: Any, place: Path) -> Path:
    """A file of this machine; an error where it lies elsewhere."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    scheme, _, path = PyArrowFileIO.parse_location(location)
    if scheme != "file":
        raise DataFileError(f"the Iceberg table {shown(place)} has files that are not on this machine: copy the table here.")
    return Path(path)
