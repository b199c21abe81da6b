"""The secret of a ledger: what fingerprints of tables are made with, so that nobody can try out rows or paths on them.

It is not in the chain, which others read. A ledger in a file has it in another file beside it (survey.ledger.secret), which only
its owner may read; one in Postgres in a table of its own, so that all machines have the same; ledgers in memory share one that
ends with the process. Where it is lost, tables get other fingerprints: questions cost again, and a table that is known under
another name is not recognised until its data set was opened once more.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpstats.foundations.errors import LedgerError

if TYPE_CHECKING:
    import psycopg

IN_MEMORY = secrets.token_bytes(32)
_TABLE = (
    "CREATE TABLE IF NOT EXISTS dpstats_ledger_secret (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), secret TEXT NOT NULL)"
)


def new_secret() -> bytes:
    """A secret that nobody has had."""
    return secrets.token_bytes(len(IN_MEMORY))


def secret_in_file(path: Path) -> bytes | None:
    """The secret in a file; None where there is no file."""
    try:
        if len(secret := bytes.fromhex(path.read_text("ascii"))) == len(IN_MEMORY):
            return secret
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        pass
    raise LedgerError(f"the secret {path} of the ledger cannot be read: check its permissions, or put it back.")


def put_into_file(path: Path, secret: bytes) -> None:
    """Keep a secret in a file, unless there is one: written under another name first, so that nobody finds half of one."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                file.write(secret.hex())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink()
    except OSError:
        raise LedgerError(f"the secret {path} of the ledger cannot be written: check the permissions of its folder.") from None


def secret_in_postgres(connection: psycopg.Connection[Any]) -> bytes | None:
    """The secret in a table; None where there is no table."""
    if connection.execute("SELECT to_regclass('dpstats_ledger_secret') IS NULL").fetchall() == [(True,)]:
        return None
    [(text,)] = connection.execute("SELECT secret FROM dpstats_ledger_secret").fetchall()
    return bytes.fromhex(text)


def put_into_postgres(connection: psycopg.Connection[Any], secret: bytes, lock: int) -> None:
    """Keep a secret in a table, unless there is one; `lock` is the advisory lock under which tables are made."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock])
        connection.execute(_TABLE.encode())
        connection.execute("INSERT INTO dpstats_ledger_secret VALUES (1, %s) ON CONFLICT DO NOTHING", [secret.hex()])
