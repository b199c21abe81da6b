"""Tables in files, and the versions of these: what tells that they are still the files that were opened."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.stores.store import LocalStore
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.errors import DataFileError


@dataclass(frozen=True)
class FileVersion:
    """A file as it was: its place on the disk, its size, and when it was last written or touched in any way."""

    file: Path
    inode: int
    size: int
    written: int
    touched: int

    @classmethod
    def of(cls, file: Path) -> FileVersion:
        """The version that is there now."""
        with one_error_for(file, "is not there any more, or may not be read any more"):
            status = file.stat()
        return cls(file, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def check(self) -> None:
        """Raise unless the file is the same: answers from two versions of a table must not be mixed."""
        if FileVersion.of(self.file) != self:
            raise DataFileError(f"{shown(self.file)} has changed since it was opened: open the table anew.")

    def digest(self) -> str:
        """A digest of what is in the file, which is read once for each version; raises where it changes meanwhile."""
        if self not in _DIGESTS:
            with one_error_for(self.file, "could not be read"), self.file.open("rb") as octets:
                found = hashlib.file_digest(octets, "sha256").hexdigest()
            self.check()
            while len(_DIGESTS) >= _MOST_DIGESTS:
                _DIGESTS.pop(next(iter(_DIGESTS)), None)
            _DIGESTS[self] = found
        return _DIGESTS[self]


_MOST_DIGESTS = 100_000
_MOST_PLACES = 50
_DIGESTS: dict[FileVersion, str] = {}


class FilesStore(LocalStore):
    """A table in files, none of which may change while it is open."""

    def __init__(self, files: Sequence[Path], root: Path | None = None) -> None:
        """`root` is the folder that is the table, where it is one: its files may come and go."""
        self._root = root
        self._versions = [FileVersion.of(file) for file in files]

    def whereabouts(self) -> Whereabouts:
        """The files, by their real paths and by their places on the disk; of a table of many files the folders that hold them."""
        files = [Path(os.path.realpath(version.file)) for version in self._versions]
        folders = sorted({f"folder {file.parent} {file.suffix.lower()}" for file in files})
        paths = [f"file {file}" for file in files]
        nodes, shared = [], []
        for version, file in zip(self._versions, files, strict=True):
            with one_error_for(version.file, "is not there any more, or may not be read any more"):
                status = file.stat()
            nodes.append(f"node {status.st_dev} {status.st_ino}")
            if status.st_nlink > 1:  # a node of one name may be used anew for another file
                shared.append(nodes[-1])
        stamp = "\n".join(f"{path} {version}" for path, version in zip(paths, self._versions, strict=True))
        kind = files[0].suffix.lower()
        tables = [] if self._root is None else [f"table {os.path.realpath(self._root)} {kind}"]
        around = sorted({f"table {folder} {kind}" for file in files for folder in file.parents})
        places = [*tables, *(folders if len(files) > _MOST_PLACES else [*paths, *nodes])]
        return Whereabouts(tuple(places), (*paths, *shared, *folders, *around), stamp, self._content)

    def _content(self) -> str:
        """A digest of all files in their order, and of what is known of each beside it."""
        lines = [f"{version.digest()} {self._beside(place)}" for place, version in enumerate(self._versions)]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()

    def _beside(self, place: int) -> str:
        """What all rows of a file have in common that is not in the file."""
        return ""

    def check_reachable(self) -> None:
        """Raise where a file is not there any more, has changed, or may not be read any more."""
        try:
            for version in self._versions:
                version.check()
                with one_error_for(version.file, "may not be read any more: look at its permissions"), version.file.open("rb"):
                    pass
        except DataFileError:
            if len(self._versions) == 1:
                raise
            gone = "is not there any more, has changed, or may not be read any more"  # which one may be told by the rows
            raise DataFileError(f"a file of the table {gone}: open the table anew.") from None

    def check_versions(self) -> None:
        """Raise where a file has changed since it was opened."""
        for version in self._versions:
            version.check()
