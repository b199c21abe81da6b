"""Paths of tables in files: one file, a list of files, a pattern such as data/*.parquet, a folder of Parquet files."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.stores.lines import SEPARATORS
from dpstats.foundations.errors import DataFileError

PARQUET = (".parquet", ".pq")
_SUFFIXES = (*SEPARATORS, *PARQUET)
_PATTERN_SIGNS = "*?["

PathLike = str | os.PathLike[str]


def find_files(named: PathLike | Sequence[PathLike]) -> tuple[Path, ...]:
    """The files of one table in their order, those of a pattern or a folder by name; all of one kind, and none of them twice."""
    names = [named] if isinstance(named, (str, os.PathLike)) else list(named)
    if not names:
        raise DataFileError("the list of files is empty: name at least one file.")
    files: list[Path] = []
    for name in names:
        with one_error_for("a path", "could not be looked up: check that it may be read"):
            files += _expand(os.fsdecode(name), alone=len(names) == 1)
    for file in files:
        check_file(file)
    if len({_kind(file) for file in files}) > 1:
        raise DataFileError("the files of one table must all end in .csv, all in .tsv or all in .parquet.")
    seen = set()
    for file in files:
        with one_error_for(file, "could not be opened: check its name and that it may be read"):
            place = file.resolve()
        if place in seen:
            raise DataFileError(f"{shown(file)} is named twice: its rows would count twice.")
        seen.add(place)
    return tuple(files)


def check_file(file: Path) -> None:
    """Raise unless there is a file, and something in it."""
    with one_error_for(file, "could not be opened: check its name and that it may be read"):
        if not file.exists():
            raise DataFileError(f"there is no file {shown(file)}.")
        if not file.is_file():
            raise DataFileError(f"{shown(file)} is not a file.")
        if file.stat().st_size == 0:
            raise DataFileError(f"{shown(file)} is empty.")


def _expand(name: str, *, alone: bool) -> list[Path]:
    if not name:
        raise DataFileError("the path is empty: name a file.")
    file = Path(name)
    if file.is_dir():
        return _files_in(file)
    is_pattern = any(sign in name for sign in _PATTERN_SIGNS) and not file.exists()  # a star may also be just a star
    if file.suffix.lower() not in _SUFFIXES:
        which = shown(name) if alone else "every file of a list"  # what is no path may be a row
        raise DataFileError(f"{which} must end in .csv, .tsv or .parquet, so that it is clear how to read it.")
    if not is_pattern:
        return [file]
    found = [Path(match) for match in sorted(glob.glob(name, recursive=True))]
    if not found:
        raise DataFileError(f"no file matches {shown(name)}.")
    return [part for match in found for part in (_files_in(match) if match.is_dir() else [match])]


def _files_in(folder: Path) -> list[Path]:
    """The Parquet files of a folder, without those that writers hide by a dot or an underscore."""
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith((".", "_"))]
    if any(entry.is_dir() for entry in entries):
        raise DataFileError(
            f"{shown(folder)} has folders in it, whose names are not read as columns: "
            f"name the files by a pattern such as {shown(folder / '**' / '*.parquet')}."
        )
    files = [entry for entry in entries if entry.suffix.lower() in PARQUET]
    if not files:
        raise DataFileError(
            f"{shown(folder)} has no Parquet files in it: name files by a pattern such as {shown(folder / '*.csv')}."
        )
    return files


def _kind(file: Path) -> str:
    suffix = file.suffix.lower()
    return PARQUET[0] if suffix in PARQUET else suffix
