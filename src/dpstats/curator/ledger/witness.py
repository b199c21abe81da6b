"""The witness: a small file beside a ledger that has seen how far it went.

It is raised after every transaction, once that is on the disk, and never goes back. A ledger that is opened later must have the
entry that the witness has seen: if not, its end was cut off, an older copy was put back, or it was deleted. The witness itself
is not waited for: if the machine loses power it may have seen less than there was, never more, and what it has seen is replaced
within one sector of the disk, as a whole or not at all. Whoever can write to the ledger can write to the witness, too; keep
receipts or a copy of it elsewhere to be safe from them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from dpstats.curator.ledger.file_locks import locked
from dpstats.foundations.errors import LedgerError

_FORM = "dpstats witness 1"
_LENGTH = 500
"""Bytes of the file: all that changes lies in one sector."""
_BLANK = b"\0 \n"


@dataclass(frozen=True)
class Testimony:
    """What a witness has seen."""

    sequence: int
    """The number of the highest entry."""
    hash: str
    verified: int = 0
    """The number of the entry up to which the ledger was verified when it was last opened."""
    verified_hash: str = ""
    key: str = ""
    """The public key that signs the ledger's heads, in hexadecimal digits, if there is one."""


class Witness:
    """What was seen of one ledger, in a file; `like` is a file whose permissions it gets."""

    def __init__(self, path: Path, like: Path | None = None) -> None:
        self.path = path
        self._like = like

    def read(self) -> Testimony | None:
        """What was seen, or None where nothing was."""
        try:
            with self.path.open("rb", buffering=0) as file, locked(file, shared=True):
                return self._parsed(file.read(_LENGTH) or b"")
        except FileNotFoundError:
            return None
        except OSError:
            raise LedgerError(f"the witness {self.path} cannot be read: check its permissions.") from None

    def raise_to(self, sequence: int, hash: str) -> None:
        """Remember a head, unless a higher one was seen."""
        with self._changing() as (file, known):
            if known is None:
                self._write(file, Testimony(sequence, hash))
            elif sequence > known.sequence:
                self._write(file, replace(known, sequence=sequence, hash=hash))
            elif sequence == known.sequence and hash != known.hash:
                raise LedgerError(
                    f"the witness {self.path} has seen another entry {sequence} than this session: there are two ledgers where "
                    "one should be. Nothing more is answered."
                )

    def note_verified(self, sequence: int, hash: str) -> None:
        """Remember up to where the ledger was verified."""
        with self._changing() as (file, known):
            known = known or Testimony(sequence, hash)
            self._write(file, replace(known, verified=sequence, verified_hash=hash))

    def note_key(self, key: str) -> None:
        """Remember the public key that signs from now on."""
        with self._changing() as (file, known):
            if known is not None:
                self._write(file, replace(known, key=key))

    def put(self, testimony: Testimony) -> None:
        """Forget what was seen and remember this, after a ledger was given up and restored from an older copy."""
        with self._changing() as (file, _):
            self._write(file, testimony)

    @contextmanager
    def _changing(self) -> Iterator[tuple[BinaryIO, Testimony | None]]:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            with open(descriptor, "r+b", buffering=0) as file, locked(file):
                yield file, self._parsed(file.read(_LENGTH) or b"")
        except OSError:
            raise LedgerError(
                f"the witness {self.path} cannot be written: check its permissions, and whether the disk is full. "
                "Nothing is answered without it."
            ) from None

    def _write(self, file: BinaryIO, testimony: Testimony) -> None:
        text = json.dumps({"form": _FORM, **asdict(testimony)}).encode()
        is_new = not file.tell()
        file.seek(0)
        file.write(text.ljust(_LENGTH - 1) + b"\n")
        if is_new:
            os.fsync(file.fileno())
            if self._like is not None and os.name == "posix":
                with suppress(OSError):
                    os.fchmod(file.fileno(), self._like.stat().st_mode & 0o666)

    def _parsed(self, raw: bytes) -> Testimony | None:
        if not raw.strip(_BLANK):  # its maker was stopped, or the power went, before anything was in it
            return None
        try:
            content = json.loads(raw)
            if content.pop("form") == _FORM:
                found = Testimony(**content)
                if list(map(type, asdict(found).values())) == [int, str, int, str, str] and found.sequence > 0:
                    return found
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        raise LedgerError(
            f"the witness {self.path} is damaged, so nobody knows how far its ledger went: compare the ledger with a backup or "
            "with receipts. If nothing is missing, remove the witness; a new one is made."
        )
