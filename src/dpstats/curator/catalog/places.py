"""Places: where the tables of a catalog may lie.

A file must be under one of the catalog's roots, by its real path and by the path that names it, and no part of the way below the
root may be a link: what is registered is what lies there. A database must be on a host of the list, objects in a bucket of the
list. Everything else is refused, with the same words whether or not it exists.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from dpstats.engines.stores.lines import SEPARATORS
from dpstats.engines.stores.objects import bucket_and_key, is_object_address
from dpstats.engines.stores.paths import PARQUET, find_files
from dpstats.foundations.addresses import shown_url
from dpstats.foundations.errors import DataFileError, InvalidParameterError

SCHEMES = ("postgresql", "postgres")
MOST_LISTED, MOST_LOOKED_AT = 500, 20_000
"""Files that are listed, and entries of folders that are looked at to find them."""
_NOT_ALLOWED = (
    "this catalog takes no tables from there: name a file below one of its roots, a database on one of its hosts, or "
    "objects in one of its buckets."
)


@dataclass(frozen=True)
class AllowedPlaces:
    """The roots of files, the hosts of databases and the buckets of objects that a catalog takes tables from."""

    roots: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ()
    """Names of hosts, with ":port" where it is not the usual one."""
    buckets: tuple[str, ...] = ()
    """Names of buckets in the object store."""

    def checked(self, address: str) -> str:
        """The address in the form in which it is kept; a `DataFileError` where it is not allowed."""
        if not isinstance(address, str) or not address or "\0" in address:
            raise InvalidParameterError("a table is named by a path, or a postgresql:// or s3:// URL, as text.")
        if is_object_address(address):
            if bucket_and_key(address)[0] not in self.buckets:
                raise DataFileError(_NOT_ALLOWED)
            return address
        if "://" in address:
            return self._checked_url(address)
        return self._checked_path(address)

    def candidates(self) -> list[str]:
        """Files below the roots that may be registered, by the names that `checked` takes; without links and hidden ones.

        A file whose name is also that of a file below an earlier root is left out: the name would mean that one.
        """
        found: dict[str, None] = {}
        looked_at = 0
        for root in self.roots:
            waiting = [Path(root)]
            while waiting and looked_at < MOST_LOOKED_AT:
                for entry in _entries_in(waiting.pop()):
                    looked_at += 1
                    if entry.is_symlink() or entry.name.startswith((".", "_")):
                        continue
                    if entry.is_dir():
                        waiting.append(Path(entry.path))
                    elif entry.is_file() and Path(entry.name).suffix.lower() in (*SEPARATORS, *PARQUET):
                        found.setdefault(Path(entry.path).relative_to(root).as_posix())
        return sorted(found)[:MOST_LISTED]

    def shown(self, address: str) -> str:
        """An address as its owner sees it: from the root on, or without a password."""
        if "://" in address:
            return address if is_object_address(address) else shown_url(address)
        path = Path(address)
        return next((path.relative_to(root).as_posix() for root in self.roots if path.is_relative_to(root)), path.name)

    def without_roots(self, text: str) -> str:
        """A complaint for an owner, in which files are named from their root on."""
        for root in self.roots:
            text = text.replace(f"{root}{os.sep}", "")
        return text

    def check_files(self, files: Sequence[Path]) -> None:
        """Raise unless every file of a table is below a root, and none is reached through a link."""
        for file in files:
            if not any(_lies_below(file, root) for root in self.roots):
                raise DataFileError(_NOT_ALLOWED)

    def _checked_path(self, address: str) -> str:
        path = Path(address)
        if ".." in path.parts:
            raise DataFileError(_NOT_ALLOWED)
        candidates = [path] if path.is_absolute() else [root / path for root in self.roots]
        for candidate in candidates:
            if any(_is_under(Path(os.path.abspath(candidate)), root) for root in self.roots):
                try:
                    files = find_files(str(candidate))
                except DataFileError:
                    continue
                self.check_files(files)
                return str(candidate)
        raise DataFileError(_NOT_ALLOWED)

    def _checked_url(self, address: str) -> str:
        try:
            parts = urlsplit(address)
            host = f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
        except ValueError:
            raise DataFileError(_NOT_ALLOWED) from None
        if parts.scheme not in SCHEMES or host not in self.hosts or parts.query:  # a query could name another host
            raise DataFileError(_NOT_ALLOWED)
        return address


def _entries_in(folder: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_under(path: Path, root: Path) -> bool:
    return path != root and path.is_relative_to(os.path.abspath(root))


def _lies_below(file: Path, root: Path) -> bool:
    """Whether a file is below a root and no step from there to it is a link."""
    named, real_root = Path(os.path.abspath(file)), Path(os.path.realpath(root))
    top = Path(os.path.abspath(root))
    if not _is_under(named, top):
        return False
    return Path(os.path.realpath(named)) == real_root / named.relative_to(top)
