"""Files of synthetic rows, written a block after the other, so that many rows take little memory."""

from __future__ import annotations

from typing import BinaryIO

from dpstats.curator.publishing.csv_files import csv_bytes
from dpstats.statistics.synthetic.data import SyntheticData


def write_csv(data: SyntheticData, file: BinaryIO) -> None:
    """Write rows as CSV."""
    head = csv_bytes(data.names, [])
    file.write(head)
    for block in data.blocks():
        file.write(csv_bytes(data.names, zip(*(values.tolist() for values in block.values()), strict=True)).removeprefix(head))


def write_parquet(data: SyntheticData, file: BinaryIO) -> None:
    """Write rows as Parquet, a row group for each block."""
    from pyarrow.parquet import ParquetWriter

    writer: ParquetWriter | None = None
    for table in data.arrow_blocks():
        writer = writer or ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
