"""A ledger that was copied without its log, moved, deleted, replaced or put back is never taken for the whole one."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.ledger import UNSOUND
from dpstats.curator.ledger.in_use import main_file
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.curator.session import Session
from dpstats.foundations.errors import LedgerError
from dpstats.foundations.privacy import PrivacyCost
from tests.cli.conftest import Run
from tests.curator.ledger.conftest import TERMS, cost, small_ledger
from tests.curator.ledger.writers import EACH
from tests.curator.ledger.writers import TERMS as WIDE

ROOT = Path(__file__).parents[3]
posix = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and killed by signals")
TABLE = {"income": [float(number) for number in range(200)]}


def session(ledger: object) -> Session:
    return dp.protect(TABLE, unit="row", budget=dp.Budget(epsilon=1), ledger=str(ledger), name="survey")


def ask(asked: Session, times: int) -> None:
    for number in range(times):
        asked.count(epsilon=0.1 + number * 1e-9)


def shorten(ledger: Path, length: int) -> None:
    """Cut the end off, as whoever may write to the file can."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("DROP TRIGGER dpstats_ledger_no_DELETE")
        connection.execute("DELETE FROM dpstats_ledger WHERE sequence > ?", (length,))


def mark_of(ledger: Path) -> int:
    with main_file(ledger) as rows:
        return int(rows("PRAGMA user_version", ())[0][0])


def test_a_copy_without_its_log_is_not_sound_and_opens_no_session(run: Run, tmp_path: Path) -> None:
    asked = session(tmp_path / "survey.ledger")
    ask(asked, 9)
    copy, whole = tmp_path / "copy.ledger", tmp_path / "whole.ledger"
    shutil.copyfile(tmp_path / "survey.ledger", copy)
    for ending in ("", "-wal"):
        shutil.copyfile(tmp_path / f"survey.ledger{ending}", f"{whole}{ending}")
    for _ in range(2):  # reading leaves an empty log behind
        outcome = run("ledger", "verify", copy)
        assert outcome.code == UNSOUND
        assert "it may be cut" in outcome.out
        with pytest.raises(LedgerError, match=r"may be cut.*`dpstats ledger backup`"):
            session(copy)
    assert run("ledger", "verify", whole).code == exits.ANSWERED
    assert session(whole).ledger.spent == asked.ledger.spent
    del asked
    shutil.copyfile(tmp_path / "survey.ledger", tmp_path / "closed.ledger")
    assert run("ledger", "verify", tmp_path / "closed.ledger").code == exits.ANSWERED


@pytest.mark.parametrize("away", [os.remove, lambda path: os.rename(path, f"{path}.moved")])
def test_a_deleted_or_moved_ledger_ends_its_sessions_and_begins_no_new_one(tmp_path: Path, away: Callable[[str], None]) -> None:
    ledger = tmp_path / "survey.ledger"
    asked = session(ledger)
    ask(asked, 3)
    away(str(ledger))
    with pytest.raises(LedgerError, match="moved, deleted or replaced"):
        asked.count(epsilon=0.2)
    with pytest.raises(LedgerError, match="moved, deleted or replaced"):
        repr(asked.remaining)
    with pytest.raises(LedgerError, match=r"no ledger .* its witness .* has seen 8 of its entries"):
        session(ledger)
    assert not ledger.exists()
    del asked
    if (moved := tmp_path / "survey.ledger.moved").exists():  # what was moved was closed as a whole
        moved.rename(ledger)
        assert session(ledger).ledger.spent.epsilon > 0.3


def test_a_live_session_and_a_new_one_refuse_an_older_history(tmp_path: Path) -> None:
    ledger, older = tmp_path / "survey.ledger", tmp_path / "older.ledger"
    ask(session(ledger), 1)
    shutil.copyfile(ledger, older)
    ways: list[Callable[[], None]] = [lambda: shorten(ledger, 3), lambda: os.replace(older, ledger)]
    for put_back in ways:
        asked = session(ledger)
        ask(asked, 4)
        with closing(sqlite3.connect(ledger)) as connection:
            entries = connection.execute("SELECT * FROM dpstats_ledger").fetchall()
        put_back()
        with pytest.raises(LedgerError, match=r"older than what this session has seen|moved, deleted or replaced"):
            asked.count(epsilon=0.7)
        with pytest.raises(LedgerError, match=r"older than what this session has seen|moved, deleted or replaced"):
            repr(asked.ledger.spent)
        del asked
        with pytest.raises(LedgerError, match=r"its witness .* has seen entry 10"):
            session(ledger)
        with closing(sqlite3.connect(ledger)) as connection, connection:
            length = connection.execute("SELECT count(*) FROM dpstats_ledger").fetchone()[0]
            marks = ", ".join("?" * len(entries[0]))
            connection.executemany(f"INSERT INTO dpstats_ledger VALUES ({marks})", entries[length:])
        assert session(ledger).ledger.spent.epsilon > 0.4  # once it is put back, all is well


def test_postgres_refuses_an_older_history_too(postgres_schema_url: str, tmp_path: Path) -> None:
    import psycopg

    witness = tmp_path / "survey.witness"
    ledger = open_ledger(postgres_schema_url, witness=witness)
    account = ledger.account("survey", TERMS)
    for number in range(4):
        account.debit(f"key-{number}", "count()", cost("0.1"))
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute("ALTER TABLE dpstats_ledger DISABLE TRIGGER dpstats_ledger_append_only")
        connection.execute("DELETE FROM dpstats_ledger WHERE sequence > 3")
    for use in (lambda: account.debit("key", "count()", cost("0.1")), lambda: account.total):
        with pytest.raises(LedgerError, match="older than what this session has seen"):
            use()
    with pytest.raises(LedgerError, match=r"ends with entry 3, but its witness .* has seen entry 5"):
        open_ledger(postgres_schema_url, witness=witness)
    with open_ledger(postgres_schema_url, read_only=True, witness=witness) as reader:
        assert "its witness" in str(reader.verify().complaints[0])
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute("ALTER TABLE dpstats_ledger RENAME TO dpstats_ledger_before")
        connection.execute("CREATE TABLE dpstats_ledger AS TABLE dpstats_ledger_before")
    with pytest.raises(LedgerError, match="dropped or replaced"):
        account.debit("key", "count()", cost("0.1"))
    with psycopg.connect(postgres_schema_url) as connection:
        connection.execute("DROP TABLE dpstats_ledger")
    with pytest.raises(LedgerError, match="dropped or replaced"):
        account.debit("key", "count()", cost("0.1"))
    with pytest.raises(LedgerError, match=r"no ledger .* has seen 5 of its entries"):
        open_ledger(postgres_schema_url, witness=witness)


def killed(ledger: Path, *lines: str) -> None:
    """Debit twice in a process that is killed, after which it runs some lines."""
    code = [
        "import os, signal, sys",
        "from dpstats.curator.ledger.ledger import open_ledger",
        "from tests.curator.ledger.writers import EACH, TERMS",
        "account = open_ledger(sys.argv[1]).account('survey', TERMS)",
        "for _ in range(2): account.debit('key', 'count()', EACH)",
        *lines,
        "os.kill(os.getpid(), signal.SIGKILL)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(code), str(ledger)], check=False, cwd=ROOT, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def spent(ledger: object, terms: Terms = TERMS) -> PrivacyCost:
    with open_ledger(ledger) as opened:
        opened.check()
        return opened.account("survey", terms).spent


@posix
def test_a_killed_writer_leaves_a_ledger_that_opens_whoever_looked_at_it_meanwhile(tmp_path: Path) -> None:
    ledger = tmp_path / "survey.ledger"
    killed(ledger)
    assert mark_of(ledger) % 2 == 1
    with open_ledger(ledger, read_only=True) as reader:
        assert reader.verify().sound
    assert spent(ledger, WIDE).epsilon == 2 * EACH.epsilon
    assert mark_of(ledger) % 2 == 0
    killed(ledger)
    with closing(sqlite3.connect(ledger)) as shell:  # another program takes the log up, and knows nothing of the mark
        shell.execute("SELECT count(*) FROM dpstats_ledger").fetchall()
    assert mark_of(ledger) % 2 == 1
    assert not (tmp_path / "survey.ledger-wal").exists()
    with open_ledger(ledger, read_only=True) as reader:
        assert reader.verify().sound  # it has all that its witness has seen
    assert spent(ledger, WIDE).epsilon == 4 * EACH.epsilon
    killed(ledger, "os.remove(sys.argv[1] + '-wal')")
    with pytest.raises(LedgerError, match="may be cut"):
        open_ledger(ledger)


def test_a_log_that_another_process_has_removed_is_made_anew(tmp_path: Path) -> None:
    """Whoever opens the file in the writer's own process, without SQLite, undoes SQLite's locks by closing it."""
    ledger = tmp_path / "survey.ledger"
    account = open_ledger(ledger).account("survey", TERMS)
    account.debit("key", "count()", cost("0.01"))
    ledger.read_bytes()
    code = "import sys; from dpstats.curator.ledger.ledger import open_ledger; open_ledger(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", code, str(ledger)], check=True)
    assert not (tmp_path / "survey.ledger-wal").exists()
    account.debit("key", "count()", cost("0.01"))
    assert account.spent == cost("0.02")
    del account
    assert spent(ledger) == cost("0.02")


def test_a_ledger_of_an_earlier_release_has_neither_mark_nor_witness_and_gets_both(tmp_path: Path) -> None:
    ledger = small_ledger(tmp_path / "survey.ledger")
    witness = tmp_path / "survey.ledger.witness"
    witness.unlink()
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("PRAGMA user_version = 0")
    with open_ledger(ledger, read_only=True) as reader:
        assert reader.verify().sound
    assert not witness.exists()
    assert spent(ledger) == cost("0.02", "2e-8")
    assert witness.read_text().startswith("dpstats witness 1\nentry 9 ")
    witness.write_bytes(b"")  # the power went before anything was in it
    assert spent(ledger) == cost("0.02", "2e-8")
    witness.write_text("something else")
    with pytest.raises(LedgerError, match=r"witness .* is damaged"):
        open_ledger(ledger)
    with open_ledger(ledger, read_only=True) as reader:
        assert "is damaged" in str(reader.verify().complaints[0])


def test_a_ledger_is_the_same_by_a_link_and_after_a_change_of_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    os.symlink("survey.ledger", "link.ledger")
    opened = [open_ledger(path).account("survey", TERMS) for path in ("survey.ledger", "link.ledger")]
    monkeypatch.chdir("elsewhere")
    for number in range(3):
        for account in opened:
            account.debit(f"key-{number}", "count()", cost("0.01"))
    for account in opened:
        account._writer.close()
        account.debit("later", "count()", cost("0.01"))
        assert account.spent.epsilon >= cost("0.07").epsilon
    assert list(Path().iterdir()) == []
    assert not (tmp_path / "link.ledger.witness").exists()
    (tmp_path / "link.ledger").unlink()
    os.symlink(small_ledger(tmp_path / "other.ledger"), tmp_path / "link.ledger")
    opened[0].debit("key", "count()", cost("0.01"))
    with pytest.raises(LedgerError, match="moved, deleted or replaced"):
        opened[1].debit("key", "count()", cost("0.01"))


def test_an_empty_ledger_is_not_sound(run: Run, tmp_path: Path) -> None:
    with open_ledger(tmp_path / "survey.ledger"):
        pass
    outcome = run("ledger", "verify", tmp_path / "survey.ledger")
    assert outcome.code == UNSOUND
    assert "0 entries, NOT SOUND, empty: nothing was ever written" in outcome.out


@posix
def test_openings_kills_and_copies_at_random_neither_lose_a_debit_nor_raise_a_false_alarm(tmp_path: Path) -> None:
    upheaval(tmp_path, 25, seed=1)


@posix
@pytest.mark.long
def test_many_openings_kills_and_copies_at_random(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        upheaval(tmp_path / str(number), 150, seed=number)


def upheaval(folder: Path, rounds: int, seed: int) -> None:
    command = [sys.executable, "-m", "tests.curator.ledger.upheavals", str(folder), str(rounds), str(seed)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
