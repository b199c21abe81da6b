"""Signed heads tell a ledger from one that was written anew, and receipts show what was removed, whoever keeps the ledger."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.ledger import UNSOUND
from dpstats.curator.ledger import signed_heads
from dpstats.curator.ledger.backup import back_up, restore
from dpstats.curator.ledger.entries import BEFORE_THE_FIRST, HEAD, Entry, chained
from dpstats.curator.ledger.ledger import Account, Ledger, open_ledger
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import Seal, check_heads
from dpstats.curator.ledger.signing import KeyFile, Signer
from dpstats.curator.ledger.verification import verify_entries
from dpstats.curator.ledger.writer import Writer
from dpstats.foundations.errors import InvalidParameterError, LedgerError, MissingExtraError
from tests.cli.conftest import Run
from tests.curator.ledger.conftest import TERMS, cost, cut_in_postgres

pytest.importorskip("cryptography")

FROZEN = Path(__file__).with_name("version_3_signed.jsonl")
FROZEN_KEY = "719fdfa632d5508b679d5780699f4cc793f852b6a556c61b02a8e672c28d6477"
FROZEN_HEAD = "ed20f5c2100bdc1f34d0c6a509ce6ee3c6be2de307b7d4ed40291b9594d70087"


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Ledger, Account, str]:
    ledger = open_ledger(tmp_path / "survey.ledger")
    account = ledger.account("survey", TERMS)
    public, path = ledger.make_key()
    assert path.stat().st_mode & 0o777 == 0o600
    return ledger, account, public


def written_anew(ledger: Path, change: Callable[[list[Entry]], list[Entry]]) -> None:
    """Replace all entries, as whoever may write to the file can."""
    with open_ledger(ledger, read_only=True) as opened:
        entries = opened.entries()
    before: Entry | None = None
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("DROP TRIGGER IF EXISTS dpstats_ledger_no_DELETE")
        connection.execute("DELETE FROM dpstats_ledger")
        for entry in change(entries):
            content = entry.content()
            if entry.kind == "head":
                sequence, hash = (before.sequence, before.hash) if before else (0, BEFORE_THE_FIRST)
                content.update(sequence=sequence, hash=hash)
            before = chained(before, entry.dataset, entry.kind, entry.key, content)
            connection.execute(f"INSERT INTO dpstats_ledger VALUES ({', '.join('?' * len(before))})", before)


def test_a_signed_ledger_says_up_to_where_and_by_whom(run: Run, signed: tuple[Ledger, Account, str], tmp_path: Path) -> None:
    ledger, account, public = signed
    for number in range(3):
        account.debit(f"key-{number}", "count()", cost("0.01"))
    found = ledger.verify()
    assert found.sound
    assert (found.signatures.signed, found.signatures.key) == (1, public)
    ledger.close()
    found = ledger.verify(key=public)
    assert found.sound
    assert (found.signatures.signed, found.entries) == (5, 6)
    ledger.close()
    assert ledger.verify().entries == 6  # nothing was written since
    outcome = run("ledger", "verify", ledger.address, "--key", public)
    assert outcome.code == exits.ANSWERED
    assert outcome.out.endswith(f"signed up to entry 5 with the key {public}\n")
    other = run("ledger", "verify", ledger.address, "--key", "ab" * 32)
    assert other.code == UNSOUND
    assert "nothing is signed with the key abab" in other.out
    assert "is signed already" in run("ledger", "key", ledger.address).err
    (tmp_path / "survey.ledger.key").unlink()
    with open_ledger(ledger.address) as without:  # goes on without a key, and says so
        without.account("survey", TERMS).debit("key", "count()", cost("0.01"))
        assert without.verify().signatures.signed == 5
    Signer.new().save(tmp_path / "survey.ledger.key")
    with pytest.raises(LedgerError, match="is another one"):
        open_ledger(ledger.address)


def test_a_frozen_ledger_with_signed_heads_still_verifies() -> None:
    entries = [Entry(**json.loads(line)) for line in FROZEN.read_text(encoding="utf-8").splitlines()]
    assert [entry.kind for entry in entries] == ["open", "head", "debit", "answer", "head"]
    found = verify_entries(entries, head=FROZEN_HEAD)
    assert (found.sound, found.head) == (True, FROZEN_HEAD)
    signatures = check_heads(found.heads, FROZEN_KEY)
    assert (signatures.complaints, signatures.signed, signatures.keys) == ((), 4, (FROZEN_KEY,))


def test_heads_are_signed_while_a_ledger_is_written(signed: tuple[Ledger, Account, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed_heads, "EVERY", 5)
    ledger, account, _ = signed
    for number in range(12):
        account.debit(f"key-{number}", "count()", cost("0.01"))
    assert [entry.sequence for entry in ledger.entries() if entry.kind == "head"] == [2, 8, 14]
    assert ledger.verify().sound


def test_a_session_that_is_open_signs_with_a_key_that_was_made_meanwhile(tmp_path: Path) -> None:
    address = tmp_path / "survey.ledger"
    ledger = open_ledger(address)
    account = ledger.account("survey", TERMS)
    with open_ledger(address) as other:
        public, _ = other.make_key()
    account.debit("q", "median(income)", cost("1/10"))
    debit = ledger.entries()[-1]
    assert KeptReceipt.from_dict(account.receipt(debit.sequence).to_dict()).signed_by == public
    ledger.close()
    with open_ledger(address, read_only=True) as again:
        found = again.verify(key=public)
        assert (found.complaints, found.signatures.signed) == ((), debit.sequence)


def test_a_key_of_another_ledger_that_is_put_there_meanwhile_signs_nothing(tmp_path: Path) -> None:
    address = tmp_path / "survey.ledger"
    ledger = open_ledger(address)
    account = ledger.account("survey", TERMS)
    with open_ledger(address) as other:
        _, path = other.make_key()
    path.unlink()
    Signer.new().save(path)
    account.debit("q", "median(income)", cost("1/10"))
    assert account.receipt(ledger.entries()[-1].sequence).signed_by == ""
    ledger.close()
    with open_ledger(address, read_only=True) as again:
        assert again.verify().sound


def test_what_is_written_anew_without_the_key_is_noticed(signed: tuple[Ledger, Account, str], tmp_path: Path) -> None:
    ledger, account, public = signed
    for number in range(3):
        account.debit(f"key-{number}", "count()", cost("0.01"))
    ledger.close()
    path = tmp_path / "survey.ledger"
    (tmp_path / "survey.ledger.witness").unlink()

    def without_last_debits(entries: list[Entry]) -> list[Entry]:
        return [*entries[:3], entries[-1]]

    written_anew(path, without_last_debits)
    with open_ledger(path, read_only=True) as reader:
        found = reader.verify(key=public)
    assert f"entry 4: is not signed with the key {public}: somebody else has written it" in map(str, found.complaints)
    thief = Signer.new()

    def with_own_key(entries: list[Entry]) -> list[Entry]:
        return [entries[0]]

    written_anew(path, with_own_key)
    with open_ledger(path, key=tmp_path / "thief.key") as stolen:
        thief.save(tmp_path / "thief.key")
        stolen._writer.write(Seal(thief).sign)
        stolen._writer.write(lambda page: Seal(thief).sign(page, public))  # and names the owner's key as the next one
    with open_ledger(path, read_only=True) as reader:
        assert reader.verify().sound
        complaint = f"nothing is signed with the key {public}: this is not the ledger that it signs"
        assert complaint in map(str, reader.verify(key=public).complaints)


def test_a_backup_from_before_the_key_is_signed_when_it_comes_back(signed: tuple[Ledger, Account, str], tmp_path: Path) -> None:
    ledger, account, public = signed
    path, copy = tmp_path / "survey.ledger", tmp_path / "copy.ledger"
    account.debit("key", "count()", cost("0.01"))
    ledger.close()
    written_anew(path, lambda entries: entries[:1])
    (tmp_path / "survey.ledger.witness").rename(tmp_path / "kept")
    back_up(str(path), str(copy))
    (tmp_path / "kept").rename(tmp_path / "survey.ledger.witness")
    path.unlink()
    found = restore(str(copy), str(path), forfeit="lost")
    assert (found.sound, found.entries, found.signatures.signed, found.signatures.key) == (True, 3, 2, public)
    with open_ledger(path) as restored:
        assert restored.verify(key=public).sound


def test_a_key_is_followed_by_another_that_it_signs(run: Run, signed: tuple[Ledger, Account, str], tmp_path: Path) -> None:
    ledger, account, old = signed
    before = account.receipt(account.debit("before", "count()", cost("0.01")).sequence)
    private = Signer.load(tmp_path / "survey.ledger.key")
    with open_ledger(ledger.address) as other:  # the first one stays open
        public, path = other.rotate_key()
    assert (Signer.load(path).public, ledger.public_key) == (public, public)
    after = account.receipt(account.debit("after", "count()", cost("0.01")).sequence)
    assert (before.signed_by, after.signed_by) == (old, public)
    ledger.sign()
    for key in (None, old, public):  # the witness knows the new one
        found = ledger.verify(key=key)
        assert found.sound
        assert (found.signatures.signed, found.signatures.key, found.signatures.followed) == (6, public, {old: 4})
    for receipt in (before, after):
        assert receipt.complaint(ledger.entry(receipt.sequence), found.signatures) is None
    forged = KeptReceipt.of(ledger.entry(after.sequence), private)
    assert "had an old key" in str(forged.complaint(ledger.entry(after.sequence), found.signatures))
    assert (tmp_path / "survey.ledger.witness").read_text().count(public) == 1
    outcome = run("ledger", "key", ledger.address, "--rotate")
    assert outcome.code == exits.ANSWERED
    assert f"It follows {public}, which has signed it." in outcome.out
    assert f"before entry 4 with the key {old}\n" in run("ledger", "verify", ledger.address).out


def test_a_key_that_the_old_one_did_not_sign_is_a_complaint(signed: tuple[Ledger, Account, str], tmp_path: Path) -> None:
    ledger, account, public = signed
    account.debit("key", "count()", cost("0.01"))
    ledger.close()
    thief = Signer.new()
    with open_ledger(ledger.address, key=tmp_path / "none.key") as stolen:

        def forge(page: Page) -> None:
            sequence, hash = page.last.sequence, page.last.hash
            signature = thief.sign(sequence, hash)
            page.append("", HEAD, "", {"sequence": sequence, "hash": hash, "key": thief.public, "signature": signature})

        stolen._writer.write(forge)
        stolen._writer.write(Seal(thief).sign)
        complaints = [str(each) for each in stolen.verify().complaints]
        with pytest.raises(LedgerError, match="no key of the ledger"):
            stolen.rotate_key()
    wrong = f"is not signed with the key {public}: somebody else has written it"
    assert complaints == [f"entry 5: {wrong}", f"entry 6: {wrong}"]
    with pytest.raises(LedgerError, match="is another one"):
        open_ledger(ledger.address)


def test_a_rotation_that_was_interrupted_is_finished_by_whoever_signs_next(
    signed: tuple[Ledger, Account, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, account, old = signed
    with monkeypatch.context() as patched:
        patched.setattr(Writer, "write", lambda *_: (_ for _ in ()).throw(LedgerError("the disk is full")))
        with pytest.raises(LedgerError, match="the disk is full"):
            ledger.rotate_key()
    assert account.receipt(account.debit("key", "count()", cost("0.01")).sequence).signed_by == old
    with monkeypatch.context() as patched:
        patched.setattr(KeyFile, "exchange", lambda _: None)  # its process ended just then
        public, path = ledger.rotate_key()
    assert Signer.load(path).public == old
    assert account.receipt(account.debit("another", "count()", cost("0.01")).sequence).signed_by == public
    assert Signer.load(path).public == public
    assert sorted(each.name for each in tmp_path.glob("*.key*")) == ["survey.ledger.key"]
    assert ledger.verify().sound


def test_a_release_has_a_receipt_that_shows_what_was_removed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "survey.ledger"
    with open_ledger(path) as ledger:
        public, _ = ledger.make_key()
    table = {"income": [float(number) for number in range(300)]}
    session = dp.protect(table, unit="row", budget=dp.Budget(epsilon=3), ledger=str(path), name="survey")
    releases = [session.count(epsilon=0.5), session.count(epsilon=0.6), session.count(epsilon=0.5)]
    receipts = [KeptReceipt.from_dict(json.loads(json.dumps(release.receipt))) for release in releases]
    assert [receipt.sequence for receipt in receipts] == [4, 6, 4]  # the archive's answer has the receipt of its debit
    assert {receipt.signed_by for receipt in receipts} == {public}
    assert dp.count(table["income"], epsilon=1).receipt is None
    del session
    files = [tmp_path / f"receipt-{number}.json" for number in range(2)]
    for file, release in zip(files, releases, strict=False):
        file.write_text(json.dumps(release.receipt))
    outcome = run("ledger", "verify", path, "--receipt", *files)
    assert outcome.code == exits.ANSWERED
    assert f"{files[1]}: found, entry 6 of survey, signature right\n" in outcome.out
    forged = {**(releases[1].receipt or {}), "sequence": 3}
    files[0].write_text(json.dumps(forged))
    assert "its signature is wrong" in run("ledger", "verify", path, "--receipt", files[0]).out
    written_anew(path, lambda entries: entries[:4])
    (tmp_path / "survey.ledger.witness").unlink()
    outcome = run("ledger", "verify", path, "--receipt", files[1])
    assert outcome.code == UNSOUND
    assert "not found: the entry was removed" in outcome.out
    files[0].write_text("[]")
    assert "no receipt" in run("ledger", "verify", path, "--receipt", files[0]).err
    assert "cannot be read" in run("ledger", "verify", path, "--receipt", tmp_path / "gone.json").err
    with pytest.raises(InvalidParameterError, match="no receipt"):
        KeptReceipt.from_dict({**forged, "sequence": "3"})


def test_without_the_extra_signatures_are_not_called_right(
    run: Run, signed: tuple[Ledger, Account, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, _, public = signed
    ledger.close()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    outcome = run("ledger", "verify", ledger.address, "--key", public)
    assert outcome.code == UNSOUND
    assert "signatures NOT CHECKED: pip install 'dpstats[signing]'" in outcome.out
    assert "signed up to" not in outcome.out
    with pytest.raises(MissingExtraError, match=r"dpstats\[signing\]"):
        open_ledger(ledger.address)


def test_postgres_signs_with_the_key_that_is_named(postgres_schema_url: str, tmp_path: Path) -> None:
    with open_ledger(postgres_schema_url) as ledger, pytest.raises(dp.MissingParameterError, match="key"):
        ledger.make_key()
    files = {"witness": tmp_path / "survey.witness", "key": tmp_path / "survey.key"}
    with dp.open_ledger(postgres_schema_url, **files) as ledger:
        public, _ = ledger.make_key()
        session = dp.protect({"x": [1.0, 2.0]}, unit="row", budget=dp.Budget(1), ledger=ledger, name="survey")
        receipt = session.count(epsilon=0.5).receipt
    assert receipt is not None
    assert receipt["signed_by"] == public
    with open_ledger(postgres_schema_url, read_only=True) as ledger:
        found = ledger.verify(key=public)
        assert found.sound
        assert (found.signatures.signed, found.entries) == (5, 6)
    cut_in_postgres(postgres_schema_url, after=3)
    with pytest.raises(LedgerError, match="its end was cut off"):
        dp.open_ledger(postgres_schema_url, **files)
