"""Paths of tables in files: one file, a list of files, a pattern such as data/*.parquet, a folder of Parquet files."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.stores.lines import SEPARATORS
from dpstats.engines.stores.partitions import is_partition
from dpstats.foundations.errors import DataFileError

PARQUET = (".parquet", ".pq")
DELTA_LOG = "_delta_log"
ICEBERG_METADATA = "metadata"
ICEBERG_SUFFIX = ".metadata.json"
_SUFFIXES = (*SEPARATORS, *PARQUET)
_PATTERN_SIGNS = "*?["

PathLike = str | os.PathLike[str]


def find_files(named: PathLike | Sequence[PathLike]) -> tuple[Path, ...]:
    """The files of one table in their order, those of a pattern or a folder by name; all of one kind, and none of them twice."""
    return tuple(found for found, _ in find_table(named))


def find_table(named: PathLike | Sequence[PathLike]) -> tuple[tuple[Path, PurePath], ...]:
    """The files of `find_files`, each with the folders between what was named and the file."""
    names = [named] if isinstance(named, (str, os.PathLike)) else list(named)
    if not names:
        raise DataFileError("the list of files is empty: name at least one file.")
    found: list[tuple[Path, PurePath]] = []
    for name in names:
        with one_error_for("a path", "could not be looked up: check that it may be read"):
            found += _expand(os.fsdecode(name), alone=len(names) == 1)
    for file, _ in found:
        check_file(file)
    if len({_kind(file) for file, _ in found}) > 1:
        raise DataFileError("the files of one table must all end in .csv, all in .tsv or all in .parquet.")
    seen = set()
    for file, _ in found:
        with one_error_for(file, "could not be opened: check its name and that it may be read"):
            place = file.resolve()
        if place in seen:
            raise DataFileError(f"{shown(file)} is named twice: its rows would count twice.")
        seen.add(place)
    return tuple(found)


def is_delta(folder: Path) -> bool:
    """Whether a folder is a Delta table."""
    return (folder / DELTA_LOG).is_dir()


def is_iceberg(place: Path) -> bool:
    """Whether a path is the metadata file of an Iceberg table, or the folder of one."""
    if place.name.endswith(ICEBERG_SUFFIX):
        return place.is_file()
    return next((place / ICEBERG_METADATA).glob(f"*{ICEBERG_SUFFIX}"), None) is not None


def check_file(file: Path) -> None:
    """Raise unless there is a file, and something in it."""
    with one_error_for(file, "could not be opened: check its name and that it may be read"):
        if not file.exists():
            raise DataFileError(f"there is no file {shown(file)}.")
        if not file.is_file():
            raise DataFileError(f"{shown(file)} is not a file.")
        if file.stat().st_size == 0:
            raise DataFileError(f"{shown(file)} is empty.")


def _expand(name: str, *, alone: bool) -> list[tuple[Path, PurePath]]:
    if not name:
        raise DataFileError("the path is empty: name a file.")
    file = Path(name)
    if file.is_dir():
        return _between(file, _files_in(file))
    is_pattern = any(sign in name for sign in _PATTERN_SIGNS) and not file.exists()  # a star may also be just a star
    if file.suffix.lower() not in _SUFFIXES:
        which = shown(name) if alone else "every file of a list"  # what is no path may be a row
        raise DataFileError(f"{which} must end in .csv, .tsv or .parquet, so that it is clear how to read it.")
    if not is_pattern:
        return [(file, PurePath())]
    found = [Path(match) for match in sorted(glob.glob(name, recursive=True))]
    if not found:
        raise DataFileError(f"no file matches {shown(name)}.")
    files = [part for match in found for part in (_files_in(match) if match.is_dir() else [match])]
    return _between(_named_root(file), files)


def _named_root(pattern: Path) -> Path:
    """The folders of a pattern before its first star or other sign."""
    root = pattern
    while any(sign in str(root) for sign in _PATTERN_SIGNS):
        root = root.parent
    return root


def _between(root: Path, files: Sequence[Path]) -> list[tuple[Path, PurePath]]:
    return [(file, PurePath(os.path.relpath(file, root)).parent) for file in files]


def _files_in(folder: Path) -> list[Path]:
    """The Parquet files of a folder, and of folders in it that name columns, without those that writers hide."""
    if is_delta(folder):
        raise DataFileError(f"{shown(folder)} is a Delta table: pass its folder itself, with nothing before or after it.")
    if is_iceberg(folder):
        raise DataFileError(f"{shown(folder)} is an Iceberg table: pass its folder itself, with nothing before or after it.")
    files: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if not entry.is_dir():
            files += [entry] if entry.suffix.lower() in PARQUET else []
        elif is_partition(entry):
            files += _files_in(entry)
        else:
            raise DataFileError(
                f"{shown(folder)} has folders in it whose names are no columns, as region=north would be: "
                f"name the files by a pattern such as {shown(folder / '**' / '*.parquet')}."
            )
    if not files:
        raise DataFileError(
            f"{shown(folder)} has no Parquet files in it: name files by a pattern such as {shown(folder / '*.csv')}."
        )
    return files


def _kind(file: Path) -> str:
    suffix = file.suffix.lower()
    return PARQUET[0] if suffix in PARQUET else suffix
