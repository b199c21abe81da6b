"""The witness: a small file beside a ledger that has seen how far it went.

It is raised after every transaction, once that is on the disk, and never goes back. A ledger that is opened later must have the
entry that the witness has seen: if not, its end was cut off, an older copy was put back, or it was deleted. The witness itself
is not waited for: if the machine loses power it may have seen less than there was, never more, and what it has seen is replaced
within one sector of the disk, as a whole or not at all. Whoever can write to the ledger can write to the witness, too; keep
receipts or a copy of it elsewhere to be safe from them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from dpstats.curator.ledger.file_locks import lock
from dpstats.foundations.errors import LedgerError

_LENGTH = 500
"""Bytes of the file: all that changes lies in one sector."""
_BLANK = b"\0 \n"
_FORM = re.compile(rb"dpstats witness 1\nentry (\d+) ([0-9a-f]{64})\nverified (\d+) ([0-9a-f]*)\nkey ([0-9a-f]*)\n *\n")
_BINARY = getattr(os, "O_BINARY", 0)


class Testimony(NamedTuple):
    """What a witness has seen."""

    sequence: int
    """The number of the highest entry."""
    hash: str
    verified: int = 0
    """The number of the entry up to which the ledger was verified when it was last opened; 0 if that never was."""
    verified_hash: str = ""
    key: str = ""
    """The public key that signs the ledger's heads, in hexadecimal digits, if there is one."""


class Witness:
    """What was seen of one ledger, in a file; `like` is a file whose permissions it gets."""

    def __init__(self, path: Path, like: Path | None = None) -> None:
        self.path = path
        self._name = str(path)
        self._like = like
        self._written: tuple[bytes, Testimony | None] = (b"", None)

    def read(self) -> Testimony | None:
        """What was seen, or None where nothing was."""
        try:
            descriptor = os.open(self._name, os.O_RDONLY | _BINARY)
            try:
                lock(descriptor, self._name)
                return self._parsed(os.read(descriptor, _LENGTH))
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return None
        except OSError:
            raise LedgerError(f"the witness {self.path} cannot be read: check its permissions.") from None

    def raise_to(self, sequence: int, hash: str) -> None:
        """Remember a head, unless a higher one was seen."""

        def higher(known: Testimony | None) -> Testimony | None:
            if known is None:
                return Testimony(sequence, hash)
            if sequence == known.sequence and hash != known.hash:
                raise LedgerError(
                    f"the witness {self.path} has seen another entry {sequence} than this session: there are two ledgers where "
                    "one should be. Nothing more is answered."
                )
            return Testimony(sequence, hash, *known[2:]) if sequence > known.sequence else None

        self._change(higher)

    def note_verified(self, sequence: int, hash: str) -> None:
        """Remember up to where the ledger was verified."""
        self._change(lambda known: (known or Testimony(sequence, hash))._replace(verified=sequence, verified_hash=hash))

    def note_key(self, key: str) -> None:
        """Remember the public key that signs from now on."""
        self._change(lambda known: known and known._replace(key=key))

    def put(self, testimony: Testimony) -> None:
        """Forget what was seen and remember this, after what was left was given up and an older copy restored."""
        self._change(lambda _: testimony)

    def _change(self, change: Callable[[Testimony | None], Testimony | None]) -> None:
        """Replace what was seen by what `change` makes of it, or leave it for None."""
        try:
            descriptor = os.open(self._name, os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
            try:
                lock(descriptor, self._name)
                raw = os.read(descriptor, _LENGTH)
                if (changed := change(self._parsed(raw))) is not None:
                    self._write(descriptor, changed, is_new=not raw)
            finally:
                os.close(descriptor)
        except OSError:
            raise LedgerError(
                f"the witness {self.path} cannot be written: check its permissions, and whether the disk is full. "
                "Nothing is answered without it."
            ) from None

    def _write(self, descriptor: int, seen: Testimony, *, is_new: bool) -> None:
        text = f"dpstats witness 1\nentry {seen[0]} {seen[1]}\nverified {seen[2]} {seen[3]}\nkey {seen[4]}\n"
        raw = f"{text:{_LENGTH - 1}}\n".encode()
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, raw)
        self._written = raw, seen
        if is_new:
            os.fsync(descriptor)
            if self._like is not None and os.name == "posix":
                with suppress(OSError):
                    os.fchmod(descriptor, self._like.stat().st_mode & 0o666)

    def _parsed(self, raw: bytes) -> Testimony | None:
        if raw == self._written[0]:
            return self._written[1]
        if not raw.strip(_BLANK):  # its maker was stopped, or the power went, before anything was in it
            return None
        if found := _FORM.fullmatch(raw):
            sequence, hash, verified, verified_hash, key = (part.decode() for part in found.groups())
            return Testimony(int(sequence), hash, int(verified), verified_hash, key)
        raise LedgerError(
            f"the witness {self.path} is damaged, so nobody knows how far its ledger went: compare the ledger with a backup or "
            "with receipts. If nothing is missing, remove the witness; a new one is made."
        )
