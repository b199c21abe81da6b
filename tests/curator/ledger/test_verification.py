"""Whatever is changed in a ledger, verification notices it or the file is refused; what a ledger of version 1 says stays true."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import KINDS, Entry, canonical_json, chained
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.curator.ledger.verification import Verification, verify_entries
from dpstats.foundations.errors import LedgerError
from tests.curator.ledger.conftest import TERMS, cost, small_ledger

HEADS = {
    1: "bca8351a84b33e1cc747eb5872e16b6414a1bd32b4c999f3bb8c2c4bbb0a9882",
    2: "0425465fb68cc1562ae1f2c0d4774a0095260f39fe315b028ae4376f395df71f",
    3: "c7f8e26927ff92633fe96c9d2abeb6035a8311c066f7b0e085fe1e409027a3bd",
}
"""By the version of frozen ledgers; each has entries of earlier versions too."""
ENTRIES = 9


def entries_in(path: Path) -> list[Entry]:
    return [Entry(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


FROZEN_VERSIONS = {version: entries_in(Path(__file__).with_name(f"version_{version}.jsonl")) for version in HEADS}
FROZEN = FROZEN_VERSIONS[1]


def verdict(path: Path, head: str | None = None) -> Verification:
    with open_ledger(path, read_only=True) as ledger:
        return ledger.verify(head)


def complaints(entries: list[Entry], head: str | None = None) -> list[str]:
    return [str(complaint) for complaint in verify_entries(entries, head=head).complaints]


def relinked(entries: list[Entry]) -> list[Entry]:
    """The same entries with hashes made to fit, as somebody would do who knows how."""
    linked: list[Entry] = []
    for entry in entries:
        placed = entry._replace(sequence=len(linked) + 1, previous=linked[-1].hash if linked else "0" * 64)
        linked.append(placed._replace(hash=placed.own_hash()))
    return linked


def edited(index: int, change: Callable[[dict[str, Any]], object]) -> list[Entry]:
    """The frozen ledger with one body changed and all hashes made to fit."""
    entries = list(FROZEN)
    content = entries[index].content()
    change(content)
    entries[index] = entries[index]._replace(body=canonical_json(content))
    return relinked(entries)


@pytest.fixture
def ledger_file(tmp_path: Path) -> Path:
    path = small_ledger(tmp_path / "survey.ledger")
    with closing(sqlite3.connect(path)) as connection, connection:
        for word in ("UPDATE", "DELETE"):
            connection.execute(f"DROP TRIGGER dpstats_ledger_no_{word}")
    connection.close()
    assert verdict(path).sound
    assert verdict(path).entries == ENTRIES
    return path


def changed(path: Path, statement: str, *parameters: object) -> Path:
    """A copy of the file in which somebody ran a statement."""
    copy = path.with_name(f"changed-{random.getrandbits(64):x}.ledger")
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(statement, parameters)
    connection.close()
    return copy


def test_ledgers_of_earlier_versions_still_mean_what_they_meant() -> None:
    for version, head in HEADS.items():
        entries = FROZEN_VERSIONS[version]
        assert verify_entries(entries).complaints == ()
        assert (verify_entries(entries).head, max(entry.version for entry in entries)) == (head, version)
    assert {entry.kind for entry in FROZEN} == {"open", "debit", "answer"}
    assert {entry.kind for entry in FROZEN_VERSIONS[3]} == {*KINDS} - {"head"}


def old_table(path: Path, entries: list[Entry]) -> Path:
    """A file as earlier releases made it, without actors."""
    texts = ("time", "dataset", "kind", "key", "body")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE dpstats_ledger (sequence INTEGER PRIMARY KEY, version INTEGER NOT NULL, "
            + ", ".join(f"{name} TEXT NOT NULL" for name in texts)
            + ", previous TEXT NOT NULL UNIQUE, hash TEXT NOT NULL UNIQUE)"
        )
        connection.execute(f"PRAGMA application_id = {0x64706C67}")
        connection.executemany(f"INSERT INTO dpstats_ledger VALUES ({', '.join('?' * 9)})", [entry[:9] for entry in entries])
    connection.close()
    return path


@pytest.mark.parametrize("version", [1, 2])
def test_a_ledger_of_an_earlier_version_is_read_as_it_is_and_goes_on_where_it_was(tmp_path: Path, version: int) -> None:
    path = old_table(tmp_path / "survey.ledger", FROZEN_VERSIONS[version])
    before = path.read_bytes()
    assert verdict(path, HEADS[version]).sound
    assert path.read_bytes() == before
    terms = replace(TERMS, budget=replace_accountant(TERMS.budget, version))
    with open_ledger(path) as ledger:
        account = ledger.account("survey", terms)
        spent = account.total.loss
        assert spent > 0
        assert account.recall("key-0") == {"value": 1.5, "label": "grün"}
        assert account.recall("key-2") is None
        account.debit("key", "count()", cost("0.5"))
        assert account.total.loss == spent + account.accountant.charge(cost("0.5")).loss
        ledger.grant("survey", analyst="alice", actor="owner", why="she asked for it")
        account.acting_for("alice").debit("key", "count()", cost("0.1"))
        assert ledger.verify(HEADS[version]).sound
    with open_ledger(path) as ledger:
        assert [entry.version for entry in ledger.entries()[-3:]] == [3, 3, 3]


def replace_accountant(budget: Budget, version: int) -> Budget:
    return Budget(budget.epsilon, budget.delta, {1: "basic", 2: "zcdp"}[version])


def other_values(column: str, value: Any) -> Iterator[object]:
    if isinstance(value, int):
        yield from (value + 1000, -value - 1, "x", float(value) + 0.5, b"1")
        return
    yield from ("", value + " ", value[:-1], value.upper() if value != value.upper() else value.lower(), 7, b"raw", "\ufffd")
    if column == "body":
        yield value.replace("1/100", "1/101") if "1/100" in value else "{}"
        yield json.dumps(json.loads(value))  # the same content in another layout


@pytest.mark.parametrize("column", Entry._fields)
def test_every_changed_field_of_every_entry_is_noticed(ledger_file: Path, column: str) -> None:
    with open_ledger(ledger_file, read_only=True) as ledger:
        entries = ledger.entries()
    tried = 0
    for entry in entries:
        for value in other_values(column, getattr(entry, column)):
            if value == getattr(entry, column):
                continue
            try:
                copy = changed(ledger_file, f"UPDATE dpstats_ledger SET {column} = ? WHERE sequence = ?", value, entry.sequence)
            except sqlite3.Error:
                continue  # the table itself refuses such a value
            tried += 1
            with suppress(LedgerError):  # or the file is refused
                assert not verdict(copy).sound, (entry.sequence, column, value)
    assert tried >= 2 * ENTRIES


@pytest.mark.parametrize("sequence", range(1, ENTRIES + 1))
def test_a_removed_entry_is_noticed_and_the_last_one_by_whoever_remembers_the_head(ledger_file: Path, sequence: int) -> None:
    head = verdict(ledger_file).head
    copy = changed(ledger_file, "DELETE FROM dpstats_ledger WHERE sequence = ?", sequence)
    assert verdict(copy).sound == (sequence == ENTRIES)
    assert not verdict(copy, head).sound
    assert verdict(ledger_file, head).sound


def test_a_ledger_that_has_grown_still_has_the_remembered_head(ledger_file: Path) -> None:
    head = verdict(ledger_file).head
    with open_ledger(ledger_file) as ledger:
        ledger.account("survey", TERMS).debit("later", "count()", cost("0.1"))
        assert ledger.head != head
    assert verdict(ledger_file, head).sound
    assert [str(each) for each in verdict(ledger_file, "f" * 64).complaints] == [
        "the remembered head is not in the ledger: entries were removed or written anew since"
    ]


@pytest.mark.parametrize(("first", "second"), [(1, 2), (3, 5), (4, 6), (8, 9)])
def test_entries_that_changed_places_are_noticed(ledger_file: Path, first: int, second: int) -> None:
    swap = "UPDATE dpstats_ledger SET sequence = CASE sequence WHEN ? THEN -1 WHEN ? THEN -2 ELSE sequence END"
    copy = changed(ledger_file, swap, first, second)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(
            "UPDATE dpstats_ledger SET sequence = CASE sequence WHEN -1 THEN ? ELSE ? END WHERE sequence < 0", (second, first)
        )
    connection.close()
    assert not verdict(copy).sound


def test_an_entry_that_was_slipped_in_is_noticed() -> None:
    for place in range(1, len(FROZEN)):
        before = FROZEN[place - 1]
        extra = chained(before, "survey", "answer", "key-0", {"debit": 3, "digest": "", "document": ""})
        assert complaints([*FROZEN[:place], extra, *FROZEN[place:]])


def test_a_flipped_bit_anywhere_in_the_file_is_noticed_or_changes_no_entry(ledger_file: Path) -> None:
    with open_ledger(ledger_file, read_only=True) as ledger:
        before = ledger.entries()
    raw, chance = ledger_file.read_bytes(), random.Random(20240229)
    noticed = 0
    for index in range(300):
        flipped = bytearray(raw)
        flipped[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        copy = ledger_file.with_name(f"flipped-{index}.ledger")
        copy.write_bytes(flipped)
        try:
            with open_ledger(copy, read_only=True) as ledger:
                if ledger.verify().sound:
                    assert ledger.entries() == before
                else:
                    noticed += 1
        except LedgerError:
            noticed += 1
    assert noticed > 10


@pytest.mark.parametrize(
    ("index", "change", "says"),
    [
        (
            2,
            lambda body: body["cost"].update(epsilon="1/1000"),
            "says a total of epsilon = 0.01, delta = 1e-8, but its cost makes it",
        ),
        (2, lambda body: body["cost"].update(epsilon="1/0"), "body that cannot be read"),
        (2, lambda body: body["cost"].update(epsilon="0.01"), "body that cannot be read"),
        (2, lambda body: body["cost"].update(epsilon="1e999999999"), "body that cannot be read"),
        (2, lambda body: body["cost"].update(delta="2"), "body that cannot be read"),
        (2, lambda body: body["total"].update(epsilon="7"), "spends more than the budget: epsilon = 7"),
        (2, lambda body: body.pop("total"), "body that cannot be read"),
        (2, lambda body: body.update(more=1), "body that cannot be read"),
        (2, lambda body: body.update(cost=[]), "body that cannot be read"),
        (0, lambda body: body["budget"].update(epsilon="1/1000"), "spends more than the budget"),
        (0, lambda body: body.update(accountant="fancy"), "body that cannot be read"),
        (0, lambda body: body.pop("unit"), "body that cannot be read"),
        (0, lambda body: body.update(max_rows_per_unit=0), "body that cannot be read"),
        (3, lambda body: body.update(document="{}"), "does not match its digest"),
        (3, lambda body: body.update(debit=7), "answers no debit of its data set and question"),
        (3, lambda body: body.update(debit=10**6), "answers no debit of its data set and question"),
        (3, lambda body: body.update(debit=[]), "body that cannot be read"),
    ],
)
def test_what_a_forger_of_hashes_cannot_hide_is_noticed(
    index: int, change: Callable[[dict[str, Any]], object], says: str
) -> None:
    found = complaints(edited(index, change))
    assert any(says in complaint for complaint in found), found


def test_a_debit_without_a_data_set_and_a_second_opening_are_noticed() -> None:
    assert "entry 1: belongs to a data set that was not opened before it" in complaints(relinked(FROZEN[2:]))
    assert "entry 10: opens a data set a second time" in complaints(relinked([*FROZEN, FROZEN[0]]))
    assert "entry 10: answers a debit that was answered before" in complaints(relinked([*FROZEN, FROZEN[3]]))
    assert "entry 10: is of a kind that version 1 does not have" in complaints(
        relinked([*FROZEN, FROZEN[3]._replace(kind="refund")])
    )
    assert "entry 1: has a key, which only questions have" in complaints(relinked([FROZEN[0]._replace(key="key"), *FROZEN[1:]]))


def test_a_total_that_was_lowered_is_noticed_wherever_it_is() -> None:
    debits = [index for index, entry in enumerate(FROZEN) if entry.kind == "debit"]
    for index in debits:
        nothing = dict.fromkeys(FROZEN[index].content()["total"], "0")
        assert complaints(edited(index, lambda body, nothing=nothing: body.update(total=nothing)))  # type: ignore[misc]


def test_every_complaint_names_its_entry_and_none_hides_the_others() -> None:
    entries = [entry._replace(hash="f" * 64) if entry.sequence in (3, 6) else entry for entry in FROZEN]
    assert complaints(entries) == [
        "entry 3: does not match its hash: it was changed after it was written",
        "entry 4: is not chained to the entry before it: one was removed, added or moved",
        "entry 6: does not match its hash: it was changed after it was written",
        "entry 7: is not chained to the entry before it: one was removed, added or moved",
    ]


def test_after_an_entry_that_cannot_be_read_nothing_is_guessed() -> None:
    entries = list(FROZEN)
    entries[2] = entries[2]._replace(version=4)
    assert "entry 3: has the format version 4, which this release of dpstats does not know" in complaints(entries)
    assert "entry 7: cannot be added up, because the total before it cannot be read" in complaints(entries)


def ledger_with_losses(accountant: str) -> list[Entry]:
    """Questions of the same cost by methods of different losses."""
    with open_ledger(":memory:") as ledger:
        account = ledger.account("survey", Terms(Budget(1, 1e-6, accountant), unit="person"))
        for index, loss in enumerate((Fraction(1, 2), Fraction(1, 8), Fraction(1, 2))):
            account.debit(f"key-{index}", "median(x)", cost("0.05"), {}, loss)
        return ledger.entries()


@pytest.mark.parametrize("accountant", ["zcdp", "advanced"])
def test_a_debit_names_the_loss_of_its_method_where_that_counts_and_can_be_added_up_again(accountant: str) -> None:
    entries = ledger_with_losses(accountant)
    assert complaints(entries) == []
    assert [entry.content()["cost"].get("loss") for entry in entries[1:]] == [None, "1/8", None]
    totals = [Budget(1, 1e-6, accountant).keeper.from_dict(entry.content()["total"]).loss for entry in entries[1:]]
    assert totals[1] - totals[0] < (totals[2] - totals[1]) * Fraction(3, 4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda body: body["cost"].update(loss="1/16"), "but its cost makes it"),
        (lambda body: body["cost"].update(loss="1/4"), "but its cost makes it"),
        (lambda body: body["cost"].update(loss="1/2"), "body that cannot be read"),
        (lambda body: body["cost"].update(loss="1"), "body that cannot be read"),
        (lambda body: body["cost"].update(loss="0"), "body that cannot be read"),
        (lambda body: body["cost"].update(loss="0.125"), "body that cannot be read"),
        (lambda body: body["cost"].update(loss=None), "body that cannot be read"),
        (lambda body: body["cost"].pop("loss"), "but its cost makes it"),
    ],
)
@pytest.mark.parametrize("accountant", ["zcdp", "advanced"])
def test_a_changed_loss_is_noticed(accountant: str, change: Callable[[dict[str, Any]], object], says: str) -> None:
    entries = ledger_with_losses(accountant)
    body = entries[2].content()
    change(body)
    entries[2] = entries[2]._replace(body=canonical_json(body))
    found = complaints(relinked(entries))
    assert any(complaint.startswith("entry 3") and says in complaint for complaint in found), found


def test_version_1_names_no_loss_and_version_2_has_nothing_but_debits() -> None:
    body = FROZEN[2].content()
    body["cost"]["loss"] = "1/8"
    named = relinked([*FROZEN[:2], FROZEN[2]._replace(body=canonical_json(body)), *FROZEN[3:]])
    assert "entry 3: has a body that cannot be read" in complaints(named)
    without = relinked([*FROZEN[:2], FROZEN[2]._replace(version=2), *FROZEN[3:]])
    assert "entry 3: has a body that cannot be read" in complaints(without)
    opened = relinked([*FROZEN, FROZEN[0]._replace(version=2, dataset="other")])
    assert "entry 10: is of a kind that version 2 does not have" in complaints(opened)


def test_an_empty_ledger_is_not_sound_and_has_no_head() -> None:
    assert verify_entries([]) == Verification(0, None, ())
    assert not verify_entries([]).sound
    assert not verify_entries([], head="f" * 64).sound


def test_bodies_are_canonical() -> None:
    for entry in FROZEN:
        assert canonical_json(json.loads(entry.body)) == entry.body
        with pytest.raises(ValueError, match="canonical"):
            entry._replace(body=entry.body + " ").content()
    for body in ("[]", "1", "{", '{"a":1.5}', '{"a":NaN}', "[" * 10**5):
        with pytest.raises(ValueError, match="canonical"):
            FROZEN[0]._replace(body=body).content()


def test_terms_come_back_from_the_ledger() -> None:
    for terms in (TERMS, replace(TERMS, facts={"a": [1, 2.5, None], "b": {"c": True}}), Terms(Budget("1/3", "1e-9", "advanced"))):
        again = Terms.from_content(json.loads(canonical_json(terms.content())))
        assert again.differences(terms) == []
        assert again.budget == terms.budget


def test_a_copy_is_verified_where_nothing_can_be_written() -> None:
    """As another user where root runs the tests, because root may write everywhere."""
    folder = Path(tempfile.mkdtemp(prefix="dpstats-read-only-"))
    try:
        path = small_ledger(folder / "survey.ledger")
        writer = sqlite3.connect(path)  # keeps the log beside the file
        writer.execute("SELECT count(*) FROM dpstats_ledger").fetchone()
        with open_ledger(path) as ledger:
            ledger.account("survey", TERMS).debit("later", "count()", cost("0.1"))
        alone, logged = folder / "alone.ledger", folder / "logged.ledger"
        shutil.copyfile(path, logged)
        shutil.copyfile(f"{path}-wal", f"{logged}-wal")
        writer.close()
        shutil.copyfile(path, alone)
        for file in (alone, logged, Path(f"{logged}-wal")):
            file.chmod(0o444)
        folder.chmod(0o555)
        code = (
            "import os, sys\n"
            "from dpstats.curator.ledger.ledger import open_ledger\n"
            "if os.geteuid() == 0:\n    os.setgid(65534)\n    os.setuid(65534)\n"
            "found = open_ledger(sys.argv[1], read_only=True).verify()\n"
            "print(found.entries, found.complaints)\n"
        )
        for file in (alone, logged):
            result = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False)
            assert (result.stdout, result.stderr) == (f"{ENTRIES + 1} ()\n", "")
        assert sorted(each.name for each in folder.iterdir() if "survey" not in each.name) == [
            alone.name,
            logged.name,
            f"{logged.name}-wal",
        ]
    finally:
        os.chmod(folder, 0o755)
        shutil.rmtree(folder)
