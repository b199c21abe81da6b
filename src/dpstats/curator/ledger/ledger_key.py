"""The key of a ledger: made, followed by another, and used to sign what is written."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from dpstats.curator.ledger.entries import HEAD
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.signed_heads import Seal, public_key, rotate
from dpstats.curator.ledger.signing import KeyFile, Signer
from dpstats.curator.ledger.writer import Signing, Writer
from dpstats.foundations.errors import DpstatsError, LedgerError, MissingParameterError


class LedgerKey:
    """The key that signs one ledger; `path` is its file, where one is named."""

    def __init__(self, writer: Writer, path: Path | None) -> None:
        self._writer = writer
        self._path = path

    @property
    def public(self) -> str | None:
        """The public key that the ledger names, in hexadecimal digits; None where it is not signed."""
        return self._writer.read(lambda table: public_key(table.latest("", HEAD)))

    def take_up(self) -> None:
        """Sign from now on, if there is a key, which must be the one that the ledger names; or as soon as somebody makes one."""
        if self._path is None:
            return
        if self._path.exists():
            self._sign_with(self._path)
        else:
            self._writer.look_for_key(partial(_made_meanwhile, self._path))

    def make(self) -> tuple[str, Path]:
        """Have the ledger signed from now on, with a new key; the public key, and the file that has the private one."""
        path = self._named_path()
        if known := self.public:
            raise LedgerError(f"the ledger {self._writer.store.address} is signed already, with the key {known}.")
        Signer.new().save(path)
        seal = self._sign_with(path)
        self._writer.write(seal.sign)
        return self._noted(), path

    def rotate(self) -> tuple[str, Path]:
        """Let the key be followed by a new one, which it signs; the new public key, and the file, which has the new one."""
        path, known = self._named_path(), self.public
        if known is None or not path.exists():
            raise LedgerError(f"there is no key of the ledger {self._writer.store.address} at {path}, so none can follow it.")
        keys = KeyFile(path)
        old, new = keys.named(known), keys.following()
        self._writer.write(lambda page: rotate(page, old, new))
        keys.exchange()
        return self._noted(), path

    def sign(self) -> None:
        """Sign all entries there are, if there is a key here."""
        if self._writer.key is not None:
            self._writer.write(Seal(self._writer.key).sign_end)

    def _sign_with(self, path: Path) -> Seal:
        key = KeyFile(path)
        key.named(self.public)
        seal = Seal(key)
        self._writer.sign_with(key, seal.sign_if_due, seal.sign_end)
        return seal

    def _named_path(self) -> Path:
        if self._path is None:
            raise MissingParameterError("say in which file the key of a ledger in Postgres is: --key-file PATH.")
        return self._path

    def _noted(self) -> str:
        """The public key that the ledger names now; its witness knows it, too."""
        public = self.public
        assert public is not None
        if self._writer.store.witness is not None:
            self._writer.store.witness.note_key(public)
        return public


def _made_meanwhile(path: Path, page: Page) -> Signing | None:
    """The key that somebody has made since the ledger was opened; one of another ledger signs nothing here."""
    if not path.exists():
        return None
    key = KeyFile(path)
    with suppress(DpstatsError):
        key.named(public_key(page.latest("", HEAD)))
        seal = Seal(key)
        return key, seal.sign_if_due, seal.sign_end
    return None
