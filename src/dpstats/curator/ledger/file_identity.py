"""Which file a ledger is: still the one that was opened, or moved, deleted or replaced by another."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from dpstats.foundations.errors import LedgerError

_Identity = tuple[int, int]


class FileIdentity:
    """The file at a path, and the log beside it, as they were when they were first opened."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.shown = os.fspath(path)
        self.path = Path(path).absolute()  # wherever the process goes from here
        real_path = os.path.realpath(self.path)  # a link's log and witness lie beside the file itself
        self.log = Path(f"{real_path}-wal")
        """Where SQLite keeps what is not in the main file yet."""
        self.witness = Path(f"{real_path}.witness")
        self.key = Path(f"{real_path}.key")
        self.secret = Path(f"{real_path}.secret")
        self._paths = str(self.path), str(self.log)
        self._file: _Identity | None = None
        self._log: _Identity | None = None

    def remember(self) -> None:
        """The file was opened; if it was opened before, it must be the same."""
        if self._file is None:
            self._file = _identity(self._paths[0])
        self._log = None
        self.check()

    def remember_log(self) -> None:
        """The log was written to."""
        if self._log is None:
            self._log = _identity(self._paths[1])

    def check(self) -> None:
        """Raise unless the path leads to the file that was opened first; nothing if none was yet."""
        if self._file is not None and _identity(self._paths[0]) != self._file:
            raise LedgerError(
                f"the ledger {self.shown} was moved, deleted or replaced while it was in use. Nothing more is answered. Put it "
                "back, or restore a backup with `dpstats ledger restore`, and open a new session."
            )

    def has_its_log(self) -> bool:
        """Whether the log is the one that was written to."""
        return self._log is None or _identity(self._paths[1]) == self._log

    def check_log(self) -> None:
        """Raise unless what was just written is in the log that others read."""
        if not self.has_its_log():
            raise LedgerError(
                f"the log of the ledger {self.shown} was deleted while it was written to: the cost may have been debited or not. "
                "Nothing is answered; `dpstats ledger show` says what was spent."
            )


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def make_name_durable(path: Path) -> None:
    """Have the folder remember a new file, where folders can be synchronised."""
    with suppress(OSError):
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
