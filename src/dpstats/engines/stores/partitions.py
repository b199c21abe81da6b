"""Partitions: columns that stand in the names of folders, as Hive and Spark write them: visits/region=north/part.parquet.

Such a column is text until somebody declares it to be more: that it looks like numbers in all folders may hang on one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import unquote

from dpstats.foundations.errors import DataFileError

MISSING = "__HIVE_DEFAULT_PARTITION__"
Values = Mapping[str, str | None]


def partition_of(folders: PurePath) -> dict[str, str | None]:
    """What the names of folders say, from the outermost on; those without an = say nothing."""
    found: dict[str, str | None] = {}
    for part in folders.parts:
        name, sign, value = part.partition("=")
        if sign and name:
            if unquote(name) in found:
                raise DataFileError("a folder names a column that another folder around it names already.")
            found[unquote(name)] = None if value in ("", MISSING) else unquote(value)
    return found


def is_partition(folder: Path) -> bool:
    """Whether the name of a folder is a column and its value."""
    return "=" in folder.name[1:]


def common_columns(partitions: Sequence[Values]) -> tuple[str, ...]:
    """The columns that the folders of all files name; an error, which repeats no value, where they differ."""
    first = tuple(partitions[0]) if partitions else ()
    for each in partitions:
        if sorted(each) != sorted(first):
            raise DataFileError("the files of one table must lie in folders that name the same columns, such as region=north.")
    return first
