"""Delta tables in folders: the Parquet files that their log names, by the reader of the package deltalake.

The log says which files belong to the table at its newest version, which columns it has and of which types; those stay the same
as long as it is open, because files of a Delta table never change. Tables with deletion vectors, other names for columns, or
anything else that takes more than reading these files are refused.
"""

from __future__ import annotations

from pathlib import Path

from dpstats.engines.complaints import one_error_for, require, shown
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.foundations.errors import DataFileError

_PLAIN_VERSION = 1
_PLAIN_FEATURES = {"timestampNtz"}


def delta_store(folder: Path) -> ParquetStore:
    """The table in a folder, at its newest version."""
    require("Delta tables need", "delta", "deltalake", "polars", "pyarrow")
    import pyarrow
    from deltalake import DeltaTable

    with one_error_for(folder, "could not be read as a Delta table"):
        table = DeltaTable(folder)
        protocol = table.protocol()
        features = set(protocol.reader_features or ())
        if protocol.min_reader_version > _PLAIN_VERSION and (not features or features - _PLAIN_FEATURES):
            raise DataFileError(
                f"the Delta table {shown(folder)} needs a reader of deletion vectors, mapped columns or the like: write a copy "
                "of it without these."
            )
        schema = pyarrow.schema(table.schema().to_arrow())
        named = list(table.metadata().partition_columns)
        rows = pyarrow.table(table.get_add_actions(flatten=False)).select(["path", *(["partition"] if named else [])]).to_pylist()
        files = dict(zip((row["path"] for row in rows), table.file_uris(), strict=True))
    ordered = sorted(rows, key=lambda row: row["path"])
    return ParquetStore(
        [Path(files[row["path"]]) for row in ordered],
        partitions=[row.get("partition") or {} for row in ordered],
        declared=schema,
        partition_types={name: schema.field(name).type for name in named},
        root=folder,
    )
