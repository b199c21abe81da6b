"""Tables in files, and the versions of these: what tells that they are still the files that were opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.stores.store import LocalStore
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


class FilesStore(LocalStore):
    """A table in files, none of which may change while it is open."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._versions = [FileVersion.of(file) for file in files]

    @property
    def state(self) -> str:
        """Tells one state of the files from another."""
        return "\n".join(map(str, self._versions))

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

    def _check_versions(self) -> None:
        for version in self._versions:
            version.check()
