"""Backups: a copy of a ledger that is whole, also while others write to it, and its way back to where a ledger is kept.

Entries are only ever added. A restored ledger has all that is in the backup and was missing: it may be the end that was lost, or
everything. It is refused where the ledger has entries that the backup lacks, or has others. Where the witness has seen more than
the backup has, entries are lost for good, and nobody knows what they spent: then all that was left has to be given up.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpstats.curator.ledger.file_identity import FileIdentity, make_name_durable
from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.curator.ledger.postgres import SCHEMES, PostgresEntryStore
from dpstats.curator.ledger.sqlite import SqliteEntryStore
from dpstats.curator.ledger.sqlite_tables import make_single_file
from dpstats.curator.ledger.verification import Verification
from dpstats.curator.ledger.witness import Testimony, Witness
from dpstats.curator.ledger.writer import EntryStore
from dpstats.foundations.addresses import shown_url
from dpstats.foundations.errors import InvalidParameterError, LedgerError, MissingParameterError

RESTORER = "restore"
"""Who closes accounts when what was left is given up."""


def back_up(source: str, target: str, *, witness: str | None = None) -> Verification:
    """Copy the ledger at `source` to `target`, a new file or an empty place in Postgres, and verify the copy."""
    with open_ledger(source, read_only=True, witness=witness) as ledger:
        if doubts := ledger.doubts():
            raise LedgerError(f"{ledger.address} is not copied, because it is not sound: {doubts[0]}.")
        if target.startswith(SCHEMES):
            _fill(PostgresEntryStore(target), ledger)
            _hand_secret(ledger, target)
            return _verified(target)
        with _new_file(Path(target)) as draft:
            _fill(SqliteEntryStore(draft), ledger)
            make_single_file(draft)
            _hand_secret(ledger, target)
            return _verified(str(draft))


def restore(source: str, target: str, *, witness: str | None = None, forfeit: str | None = None) -> Verification:
    """Add to the ledger at `target`, which may be missing, all that the backup at `source` has; verify it.

    `forfeit` says why a backup is restored that lacks what the witness has seen: every account is closed by that.
    """
    if forfeit is not None and not forfeit.strip():
        raise MissingParameterError("say why what was left is given up: the ledger keeps it.")
    with open_ledger(source, read_only=True) as backup:
        found = backup.verify()
        if not found.sound:
            complaint = found.complaints[0] if found.complaints else "it is empty"
            raise LedgerError(f"{backup.address} is not restored, because it is not sound: {complaint}.")
        is_there = target.startswith(SCHEMES) or Path(target).exists()
        if is_there:
            _check_target(target, backup)
        keeper = _witness_of(target, witness)
        known = keeper.read() if keeper else None
        is_below = known is not None and backup.hash_at(known.sequence) != known.hash
        if is_below and forfeit is None:
            assert known is not None
            raise LedgerError(
                f"the witness of {shown_address(target)} has seen {known.sequence} entries, and {backup.address} lacks the last "
                "of them: what they spent is unknown. Restore a newer backup. If there is none, give up all that was left of "
                "every budget: --forfeit --why TEXT."
            )
        if forfeit is not None and not is_below:
            raise InvalidParameterError("nothing has to be given up to restore this backup: leave --forfeit out.")
        why = None if known is None or forfeit is None else f"the entries up to {known.sequence} were lost: {forfeit}"
        with tempfile.TemporaryDirectory(prefix="dpstats-restore-") as folder:
            if is_there:
                _fill(_store_at(target), backup)
                _raise(keeper, _forfeited(target, why, target, Path(folder)), is_below)
            else:
                with _new_file(Path(target)) as draft:
                    _fill(SqliteEntryStore(draft), backup)
                    _raise(keeper, _forfeited(str(draft), why, target, Path(folder)), is_below)
        _hand_secret(backup, target)
    return _verified(target, witness)


def _hand_secret(source: Ledger, target: str) -> None:
    """Let a copy know what fingerprints of tables are made with, unless it knows; it lies beside the copy, not in it."""
    if (secret := source.secret) is not None:
        _store_at(target).keep_secret(secret)


def _fill(store: EntryStore, source: Ledger) -> None:
    """Add what the source has beyond the end of the store, in one transaction."""
    try:
        with store.writing() as table:
            last = table.last()
            if last is not None and source.hash_at(last.sequence) != last.hash:
                raise LedgerError(f"the ledger {store.address} has other entries than {source.address}: nothing was added.")
            after = last.sequence if last else None
            while entries := source.page(after):
                table.insert(entries)
                after = entries[-1].sequence
    finally:
        store.close()


def _check_target(target: str, backup: Ledger) -> None:
    """Raise where the target has entries that the backup lacks."""
    try:
        with open_ledger(target, read_only=True) as there:
            last = there.last
            if last is None or backup.hash_at(last.sequence) == last.hash:
                return
            ours = backup.last
            is_newer = ours is not None and there.hash_at(ours.sequence) == ours.hash
    except LedgerError:
        if target.startswith(SCHEMES):  # there is none yet
            return
        raise
    how = "is newer than" if is_newer else "has other entries than"
    raise LedgerError(
        f"the ledger {shown_address(target)} {how} {backup.address}: nothing was restored, and nothing is overwritten."
    )


def _forfeited(place: str, why: str | None, target: str, folder: Path) -> Testimony:
    """Close every account of the ledger at `place`, for that reason, and have it signed if the target has a key; what a witness
    of it sees. The target's own has seen too much, so another one, in a folder, is used meanwhile.
    """
    key = None if target.startswith(SCHEMES) else FileIdentity(target).key
    with open_ledger(place, witness=folder / "witness", key=key) as ledger:
        if why is not None:
            for name in ledger.account_names:
                ledger.amend(name, budget=None, actor=RESTORER, why=why)
            ledger.sign()
        last = ledger.last
        assert last is not None
        return Testimony(last.sequence, last.hash, key=ledger.public_key or "")


def _raise(witness: Witness | None, seen: Testimony, is_below: bool) -> None:
    """Let the witness know what there is now."""
    if witness is not None:
        if is_below:
            witness.put(seen)
        else:
            witness.raise_to(seen.sequence, seen.hash)


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """A place to write a ledger, which gets its name when it is done; no file of that name is overwritten."""
    path = path.absolute()
    if path.exists() or path.is_symlink():
        raise LedgerError(f"{path} exists already, and is not overwritten: name another file.")
    if not path.parent.is_dir():
        raise LedgerError(f"the folder of {path} does not exist: make it first.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            draft = Path(folder) / path.name
            yield draft
            _name(draft, path)
    except OSError:
        raise LedgerError(
            f"{path} cannot be written: check the permissions of its folder, and whether the disk is full."
        ) from None


def _name(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)  # fails where another process has made a file of that name
    except FileExistsError:
        raise LedgerError(f"{path} exists already, and is not overwritten: name another file.") from None
    except OSError:  # a file system without links
        os.rename(draft, path)
    make_name_durable(path)


def _store_at(target: str) -> EntryStore:
    return PostgresEntryStore(target) if target.startswith(SCHEMES) else SqliteEntryStore(target)


def _witness_of(target: str, witness: str | None) -> Witness | None:
    if witness is not None:
        return Witness(Path(witness).absolute())
    return None if target.startswith(SCHEMES) else Witness(FileIdentity(target).witness)


def _verified(target: str, witness: str | None = None) -> Verification:
    with open_ledger(target, read_only=True, witness=witness) as ledger:
        found = ledger.verify()
    if not found.sound:
        raise LedgerError(f"the copy at {shown_address(target)} is not sound: {found.complaints[0]}.")
    return found


def shown_address(target: str) -> str:
    """An address as it may be shown: without a password."""
    return shown_url(target) if target.startswith(SCHEMES) else target
