"""Signatures: an Ed25519 key beside a ledger, so that nobody without it can write the ledger's chain anew.

What is signed is an entry by its number and its hash, which stands for all entries up to it, together with the public key that
signs what comes next. Keys and signatures are written in hexadecimal digits.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dpstats.curator.ledger.file_identity import make_name_durable
from dpstats.foundations.errors import LedgerError, MissingExtraError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class SigningKey(Protocol):
    """The key that signs a ledger now, wherever it is."""

    def named(self, public: str | None) -> Signer:
        """The key whose public key the ledger names, or any where it names none yet; raises `LedgerError` if it is not here."""


class Signer:
    """A private key, and what it signs."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw().hex()

    @classmethod
    def new(cls) -> Signer:
        """A key that nobody else has."""
        return cls(_ed25519().Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Signer:
        """The key in a file that `save` has written."""
        ed25519 = _ed25519()
        try:
            return cls(ed25519.Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text().strip())))
        except OSError:
            raise LedgerError(f"the key {path} cannot be read: check its permissions.") from None
        except ValueError:
            raise LedgerError(f"{path} holds no key that signs a ledger.") from None

    def save(self, path: Path) -> None:
        """Write the key to a new file that only its owner may read."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise LedgerError(f"there is a key {path} already, and keys are never overwritten.") from None
        except OSError:
            raise LedgerError(f"the key {path} cannot be written: check the permissions of its folder.") from None
        with open(descriptor, "w") as file:
            file.write(f"{self._private.private_bytes_raw().hex()}\n")
            file.flush()
            os.fsync(descriptor)
        make_name_durable(path)

    def named(self, public: str | None) -> Signer:
        """This key, if the ledger names it or none."""
        if public not in (None, self.public):
            raise LedgerError(f"the ledger is signed with the key {public}, and the one that is here is {self.public}.")
        return self

    def sign(self, sequence: int, hash: str, key: str | None = None) -> str:
        """The signature of an entry, and of the key that signs what comes next: this one, unless another is given."""
        return self._private.sign(_statement(sequence, hash, key or self.public)).hex()


class KeyFile:
    """A file with the key that signs a ledger. While a key is followed by another, that one lies beside it, so that one of the
    two is always the key that the ledger names.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = path.with_name(f"{path.name}.next")
        self._signer: Signer | None = None

    def named(self, public: str | None) -> Signer:
        """The key that the ledger names; read anew if another process has let it be followed by another."""
        if self._signer is None or self._signer.public != public:
            self._signer = Signer.load(self.path)
            if public not in (None, self._signer.public) and self._next.exists():
                self._signer = Signer.load(self._next)
                if self._signer.public == public:
                    self.exchange()
        if public not in (None, self._signer.public):
            raise LedgerError(f"the ledger is signed with the key {public}; {self.path} is another one.")
        return self._signer

    def following(self) -> Signer:
        """A new key, kept beside the one that it is to follow."""
        if not self._next.exists():
            Signer.new().save(self._next)
        return Signer.load(self._next)

    def exchange(self) -> None:
        """Put the new key in the place of the old one, which is gone then."""
        with suppress(FileNotFoundError):  # another process was faster
            os.replace(self._next, self.path)


def can_check() -> bool:
    """Whether signatures can be checked here."""
    with suppress(MissingExtraError):
        return _ed25519() is not None
    return False


def is_signed(public: str, signature: str, sequence: int, hash: str, key: str | None = None) -> bool:
    """Whether a signature is that of a public key; needs the extra `signing`."""
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        verifier = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        verifier.verify(bytes.fromhex(signature), _statement(sequence, hash, key or public))
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _statement(sequence: int, hash: str, key: str) -> bytes:
    return f"dpstats ledger\nentry {sequence} {hash}\nkey {key}\n".encode()


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtraError.about("signatures of a ledger need cryptography", "signing") from None
    return ed25519
