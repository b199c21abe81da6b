"""Tables in files, and the versions of these: what tells that they are still the files that were opened."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeVar

from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.stores.store import LocalStore
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.errors import DataFileError

Item = TypeVar("Item")
Found = TypeVar("Found")


class Version(ABC):
    """A file or an object of a store as it was when it was opened; equal to another only if nothing was written meanwhile."""

    file: Any
    """What to open, whose text may be shown."""
    size: int
    """In octets."""

    @abstractmethod
    def now(self) -> Version:
        """The version that is there now."""

    @abstractmethod
    def octets(self) -> AbstractContextManager[Any]:
        """What is in it, to be read once; an error where it may not be read."""

    @abstractmethod
    def place(self) -> PurePath:
        """Where it lies, whichever way leads there."""

    def node(self) -> tuple[str, bool]:
        """Its place on the disk, and whether that has several names; empty where there is none."""
        return "", False

    def check_readable(self) -> None:
        """Raise where it has changed, or may not be read any more."""
        self.check()

    def is_current(self) -> bool:
        """Whether the version that is there now is this one."""
        return self.now() == self

    def check(self) -> None:
        """Raise unless it is the same: answers from two versions of a table must not be mixed."""
        if not self.is_current():
            raise DataFileError(f"{shown(self.file)} has changed since it was opened: open the table anew.")

    def digest(self) -> str:
        """A digest of what is in it, which is read once for each version; raises where it changes meanwhile."""
        if self not in _DIGESTS:
            with one_error_for(self.file, "could not be read"), self.octets() as octets:
                found = hashlib.file_digest(octets, "sha256").hexdigest()
            self.check()
            while len(_DIGESTS) >= _MOST_DIGESTS:
                _DIGESTS.pop(next(iter(_DIGESTS)), None)
            _DIGESTS[self] = found
        return _DIGESTS[self]


@dataclass(frozen=True)
class FileVersion(Version):
    """A file: its place on the disk, its size, and when it was last written or touched in any way."""

    file: Path
    inode: int
    size: int
    written: int
    touched: int

    @classmethod
    def of(cls, file: Path) -> FileVersion:
        """The version that is there now."""
        with one_error_for(file, _GONE):
            status = file.stat()
        return cls(file, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def now(self) -> FileVersion:
        """The version that is there now."""
        return FileVersion.of(self.file)

    def is_current(self) -> bool:
        """Whether the file that is there now is this one, without making its version."""
        with one_error_for(self.file, _GONE):
            status = os.stat(self.file)
        now = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return now == (self.inode, self.size, self.written, self.touched)

    def octets(self) -> AbstractContextManager[Any]:
        """The open file."""
        return self.file.open("rb")

    def place(self) -> Path:
        """The real path."""
        return Path(os.path.realpath(self.file))

    def node(self) -> tuple[str, bool]:
        """The device and the inode; a file may have several hard links."""
        with one_error_for(self.file, _GONE):
            status = self.place().stat()
        return f"node {status.st_dev} {status.st_ino}", status.st_nlink > 1

    def check_readable(self) -> None:
        """Raise where the file has changed, or may not be opened any more."""
        self.check()
        with one_error_for(self.file, "may not be read any more: look at its permissions"):
            os.close(os.open(self.file, os.O_RDONLY))


_GONE = "is not there any more, or may not be read any more"
_MOST_DIGESTS = 100_000
_MOST_PLACES = 50
_AT_ONCE = 16
_DIGESTS: dict[Version, str] = {}


class FilesStore(LocalStore):
    """A table in files, none of which may change while it is open."""

    def __init__(self, versions: Sequence[Version], root: PurePath | None = None) -> None:
        """`root` is the folder that is the table, where it is one: its files may come and go."""
        self._root = root
        self._versions = tuple(versions)

    def whereabouts(self) -> Whereabouts:
        """The files, by their real paths and by their places on the disk; of a table of many files the folders that hold them."""
        files = [version.place() for version in self._versions]
        folders = sorted({f"folder {file.parent} {file.suffix.lower()}" for file in files})
        paths = [f"file {file}" for file in files]
        found = [version.node() for version in self._versions]
        nodes = [node for node, _ in found if node]
        shared = [node for node, is_shared in found if is_shared]  # a node of one name may be used anew for another file
        stamp = "\n".join(f"{path} {version}" for path, version in zip(paths, self._versions, strict=True))
        kind = next((file.suffix.lower() for file in files), ".parquet")
        root = os.path.realpath(self._root) if isinstance(self._root, Path) else self._root
        tables = [] if root is None else [f"table {root} {kind}"]
        around = sorted({f"table {folder} {kind}" for file in files for folder in file.parents})
        places = [*tables, *(folders if len(files) > _MOST_PLACES else [*paths, *nodes])]
        return Whereabouts(tuple(places), (*paths, *shared, *folders, *around), stamp, self._content)

    def _content(self) -> str:
        """A digest of all files in their order, and of what is known of each beside it."""
        lines = [f"{version.digest()} {self._beside(place)}" for place, version in enumerate(self._versions)]
        lines = lines or [f"no files in {self._root}"]  # which is not the content of another table without any
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()

    def _beside(self, place: int) -> str:
        """What all rows of a file have in common that is not in the file."""
        return ""

    def check_reachable(self) -> None:
        """Raise where a file is not there any more, has changed, or may not be read any more."""
        try:
            at_once(lambda version: version.check_readable(), self._versions)
        except DataFileError:
            if len(self._versions) == 1:
                raise
            gone = "is not there any more, has changed, or may not be read any more"  # which one may be told by the rows
            raise DataFileError(f"a file of the table {gone}: open the table anew.") from None

    def check_versions(self) -> None:
        """Raise where a file has changed since it was opened."""
        at_once(lambda version: version.check(), self._versions)


def at_once(look: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
    """What is found at each of some items, several at a time where a store answers from afar."""
    if len(items) < 2 or all(isinstance(getattr(item, "file", item), Path) for item in items):
        return [look(item) for item in items]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(look, items))
