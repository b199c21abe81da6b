"""Ledgers in SQLite that are only read: nothing is written, not even beside the file where its folder forbids it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path

from dpstats.curator.ledger.file_identity import FileIdentity
from dpstats.curator.ledger.sqlite_connections import NOT_WRITABLE, code, connect
from dpstats.curator.ledger.sqlite_tables import is_empty
from dpstats.curator.ledger.stores import closed_on_failure
from dpstats.foundations.errors import LedgerError

Copy = tempfile.TemporaryDirectory[str]


def open_to_read(identity: FileIdentity) -> tuple[sqlite3.Connection, Copy | None]:
    """A connection to a ledger's file, or to a copy of it in a folder, where the file cannot be read in its own."""
    try:
        return _open_unchanged(identity.path, identity.shown), None
    except sqlite3.OperationalError as error:
        if code(error) not in NOT_WRITABLE:
            raise
    # A write-ahead log can only be read where files can be made beside it, so the file and its log are read elsewhere.
    folder = tempfile.TemporaryDirectory(prefix="dpstats-ledger-")
    copy = Path(folder.name) / "ledger"
    try:
        shutil.copyfile(identity.path, copy)
        if identity.log.exists():
            shutil.copyfile(identity.log, copy.with_name("ledger-wal"))
        return _open_unchanged(copy, identity.shown), folder
    except OSError:
        folder.cleanup()
        raise LedgerError(f"the ledger {identity.shown} cannot be read: check its permissions.") from None
    except BaseException:
        folder.cleanup()
        raise


def _open_unchanged(path: Path, shown: str) -> sqlite3.Connection:
    connection = connect(f"{path.as_uri()}?mode=ro")
    with closed_on_failure(connection):
        if is_empty(connection, Path(shown)):
            raise LedgerError(f"the ledger {shown} is empty: nothing was ever written to it.")
    return connection
