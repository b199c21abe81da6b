"""A backup is whole, also while others write, and comes back only where nothing is lost by it."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from dpstats.cli import exits
from dpstats.curator.ledger.backup import back_up, restore
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.foundations.errors import BudgetError, InvalidParameterError, LedgerError
from tests.cli.conftest import Run
from tests.curator.ledger.conftest import TERMS, cost, small_ledger
from tests.postgres import url_of_new_schema


def spend(address: str, times: int = 1, **how: object) -> str | None:
    with open_ledger(address, **how) as ledger:
        account = ledger.account("survey", TERMS)
        for _ in range(times):
            account.debit("key", "count()", cost("0.01"))
        return ledger.head


def test_a_backup_of_a_ledger_in_use_is_one_sound_file(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "survey.ledger")
    account, stop = ledger.account("survey", TERMS), threading.Event()

    def work() -> None:
        while not stop.is_set():
            account.debit("key", "count()", cost("1/100000"))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    copies = []
    try:
        for number in range(3):
            last = account.debit("before", "count()", cost("1/100000"))
            found = back_up(ledger.address, str(tmp_path / f"copy-{number}.ledger"))
            assert found.sound
            assert found.entries >= last.sequence
            copies.append(found)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == [f"copy-{number}.ledger" for number in range(3)]
    for number, copied in enumerate(copies):  # each can be used as a ledger, and reading it leaves nothing beside it
        with open_ledger(tmp_path / f"copy-{number}.ledger", read_only=True) as copy:
            assert copy.verify().head == copied.head
    assert not list(tmp_path.glob("copy*-wal"))
    with pytest.raises(LedgerError, match="exists already"):
        back_up(ledger.address, str(tmp_path / "copy-0.ledger"))
    spend(str(tmp_path / "copy-2.ledger"))


def test_a_lost_end_and_a_lost_ledger_come_back(tmp_path: Path) -> None:
    ledger, copy, older = (str(tmp_path / name) for name in ("survey.ledger", "copy.ledger", "older.ledger"))
    spend(ledger)
    shutil.copyfile(ledger, older)
    head = spend(ledger, 3)
    back_up(ledger, copy)
    for lose in (os.remove, lambda path: os.replace(older, path)):
        lose(ledger)
        with pytest.raises(LedgerError, match="witness"):
            open_ledger(ledger)
        assert restore(copy, ledger).head == head
        assert restore(copy, ledger).head == head  # nothing is missing any more
        with open_ledger(ledger) as restored:
            assert restored.account("survey", TERMS).spent == cost("0.04")
    head = spend(ledger)
    for stranger in (copy, str(small_ledger(tmp_path / "other.ledger"))):
        with pytest.raises(LedgerError, match=r"is newer than|has other entries than"):
            restore(stranger, ledger)
    with open_ledger(ledger) as kept:
        assert kept.head == head
    with pytest.raises(InvalidParameterError, match="nothing has to be given up"):
        restore(copy, str(tmp_path / "new.ledger"), forfeit="why not")


def test_what_is_below_its_witness_comes_back_with_nothing_left(tmp_path: Path) -> None:
    ledger, copy = str(tmp_path / "survey.ledger"), str(tmp_path / "copy.ledger")
    spend(ledger)
    back_up(ledger, copy)
    spend(ledger)
    os.remove(ledger)
    with pytest.raises(LedgerError, match=r"has seen 3 entries, .* --forfeit"):
        restore(copy, ledger)
    assert not os.path.exists(ledger)
    restore(copy, ledger, forfeit="the disk died")
    with open_ledger(ledger) as restored:
        account = restored.account("survey", TERMS)
        with pytest.raises(BudgetError, match="closed"):
            account.debit("key", "count()", cost("1e-9"))
        last = restored.last
        assert last is not None
        assert last.content()["why"] == "the entries up to 3 were lost: the disk died"
        assert restored.verify().sound
    with pytest.raises(LedgerError, match="is newer than"):
        restore(copy, ledger)


def test_what_may_be_cut_or_is_not_sound_is_neither_copied_nor_restored(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "survey.ledger")
    ledger.account("survey", TERMS).debit("key", "count()", cost("0.01"))
    cut = tmp_path / "cut.ledger"
    shutil.copyfile(tmp_path / "survey.ledger", cut)
    for move in (back_up, restore):
        with pytest.raises(LedgerError, match=r"not sound: the file says that it is in use"):
            move(str(cut), str(tmp_path / "copy.ledger"))
    assert not (tmp_path / "copy.ledger").exists()
    with pytest.raises(LedgerError, match=r"folder of .* does not exist"):
        back_up(ledger.address, str(tmp_path / "gone" / "copy.ledger"))


def test_a_backup_goes_between_files_and_postgres_both_ways(postgres_url: str, postgres_schema_url: str, tmp_path: Path) -> None:
    witness = str(tmp_path / "survey.witness")
    head = spend(postgres_schema_url, 3, witness=witness)
    copy, second = str(tmp_path / "copy.ledger"), url_of_new_schema(postgres_url)
    assert back_up(postgres_schema_url, copy, witness=witness).head == head
    assert restore(copy, second, witness=witness).head == head
    assert back_up(copy, url_of_new_schema(postgres_url)).head == head
    spend(second, 1, witness=witness)
    with pytest.raises(LedgerError, match="is newer than"):
        restore(copy, second, witness=witness)
    with pytest.raises(LedgerError, match="has seen 5 entries"):
        restore(copy, url_of_new_schema(postgres_url), witness=witness)
    third = url_of_new_schema(postgres_url)
    restore(copy, third, witness=witness, forfeit="the server died")
    with pytest.raises(BudgetError, match="closed"):
        spend(third, 1, witness=witness)


def test_a_full_disk_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "survey.ledger"
    account = open_ledger(path).account("survey", TERMS)
    account.debit("key", "count()", cost("0.01"))
    with_limit = account._writer.store._connection
    pages = with_limit.execute("PRAGMA page_count").fetchone()[0]
    with_limit.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="is full; nothing was debited"):
        account.debit("key", "x" * 10**5, cost("0.0001"))
    spent = account.spent
    del account, with_limit
    with open_ledger(path) as ledger:
        assert ledger.verify().sound
        assert ledger.account("survey", TERMS).spent == spent


def test_backup_and_restore_on_the_command_line(run: Run, tmp_path: Path) -> None:
    ledger, copy = tmp_path / "survey.ledger", tmp_path / "copy.ledger"
    head = spend(str(ledger), 2)
    assert run("ledger", "backup", ledger, copy).out == f"{copy} is a copy of {ledger}: 3 entries, sound\nhead {head}\n"
    spend(str(ledger))
    ledger.unlink()
    refused = run("ledger", "restore", copy, ledger)
    assert refused.code == exits.BAD_INPUT
    assert "--forfeit --why TEXT" in refused.err
    assert "go together" in run("ledger", "restore", copy, ledger, "--forfeit").err
    restored = run("ledger", "restore", copy, ledger, "--forfeit", "--why", "lost")
    assert restored.out.startswith(f"{ledger} has all that {copy} has: 4 entries, sound\nhead ")
    assert "remaining  epsilon = 0" in run("ledger", "show", ledger).out
