"""Budgets follow tables, not their names; editions follow content, not dates or places."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.ledger.backup import back_up, restore
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.session import Session
from dpstats.engines.stores import versions
from dpstats.foundations.errors import LedgerError
from tests.curator.test_postgres_sessions import run

ROWS = 2_000


def write(file: Path, shift: float = 0.0) -> Path:
    pl.DataFrame({"who": range(ROWS), "x": [row + shift for row in range(ROWS)]}).write_parquet(file)
    return file


def protect(table: Any, ledger: Any, epsilon: float = 1.0, **words: Any) -> Session:
    return dp.protect(table, budget=dp.Budget(epsilon=epsilon), ledger=ledger, **{"unit": "who", "max_rows_per_unit": 1, **words})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "people.parquet")


def symbolic_link(file: Path) -> Any:
    (file.parent / "link.parquet").symlink_to(file)
    return file.parent / "link.parquet"


def hard_link(file: Path) -> Any:
    os.link(file, file.parent / "hard.parquet")
    return file.parent / "hard.parquet"


def changed_hard_link(file: Path) -> Any:
    other = hard_link(file)
    with other.open("r+b") as octets:  # other content in the same place on the disk
        new = write(file.parent / "new.parquet", 7.0).read_bytes()
        octets.truncate(0)
        octets.write(new)
    return other


def copy(file: Path) -> Any:
    return shutil.copy(file, file.parent / "copy.parquet")


def other_spelling(file: Path) -> Any:
    return f"{file.parent}/../{file.parent.name}/people.parquet"


def one_of_a_list(file: Path) -> Any:
    return [write(file.parent / "second.parquet", 9.0), file]


def folder_of_many(file: Path) -> Any:
    for number in range(versions._MOST_PLACES):
        shutil.copy(write(file.parent / "second.parquet", number), file.parent / f"{number}.parquet")
    return file.parent


OTHER_WAYS: list[Callable[[Path], Any]] = [
    symbolic_link,
    hard_link,
    changed_hard_link,
    copy,
    other_spelling,
    one_of_a_list,
    folder_of_many,
]


@pytest.mark.parametrize("other", OTHER_WAYS)
def test_a_known_table_has_no_second_budget_under_another_name(file: Path, other: Callable[[Path], Any]) -> None:
    for ledger in (file.parent / "a.ledger", ":memory:"):
        table = protect(file, ledger)
        table.median("x", epsilon=1)
    way = other(file)
    for ledger in (file.parent / "a.ledger", ":memory:")[: 1 if other is copy else 2]:
        with pytest.raises(LedgerError, match=r"knows these rows as 'people', .* open them by that name") as complaint:
            protect(way, ledger, name="other")
        assert str(file.parent) not in str(complaint.value)
        again = protect(way, ledger, name="people")
        with pytest.raises(dp.BudgetError):
            again.mean("x", epsilon=0.1)


def test_one_file_of_a_known_folder_of_many_is_known(file: Path) -> None:
    protect(folder_of_many(file), file.parent / "a.ledger", name="all")
    with pytest.raises(LedgerError, match="knows these rows as 'all'"):
        protect(file.parent / "3.parquet", file.parent / "a.ledger")


def test_other_tables_have_their_own_budgets(file: Path) -> None:
    protect(file, file.parent / "a.ledger")
    protect(write(file.parent / "second.parquet", 9.0), file.parent / "a.ledger")
    protect({"who": [1], "x": [2.0]}, file.parent / "a.ledger", name="third")
    assert open_ledger(file.parent / "a.ledger").account_names == ["people", "second", "third"]


def test_an_account_in_memory_goes_on_and_keeps_its_terms(file: Path) -> None:
    protect(file, ":memory:").median("x", epsilon=0.75)
    assert protect(file, ":memory:").ledger.spent.epsilon == dp.Budget(epsilon=0.75).epsilon
    with pytest.raises(LedgerError, match="the terms of people were fixed"):
        protect(file, ":memory:", epsilon=100)


def test_tables_of_one_population_share_one_budget(file: Path) -> None:
    second, third, link = (
        write(file.parent / "second.parquet", 9.0),
        write(file.parent / "third.parquet", 11.0),
        symbolic_link(file),
    )
    for ledger in (file.parent / "a.ledger", ":memory:"):
        words: dict[str, Any] = {"population": "persons", "ledger": ledger}
        people, others = protect(file, **words), protect(second, **words)
        people.median("x", epsilon=0.75)
        with pytest.raises(dp.BudgetError):
            others.median("x", epsilon=0.5)
        assert isinstance(others.median("x", epsilon=0.25), dp.Release)
        with pytest.raises(dp.BudgetError):
            people.median("x", epsilon=0.125)
        protect(link, **words)  # the same persons: the same budget
        with pytest.raises(LedgerError, match="the ledger has budget"):
            protect(third, epsilon=2.0, **words)
    assert open_ledger(file.parent / "a.ledger").verify().sound


def touched(file: Path) -> None:
    os.utime(file)


def put_back(file: Path) -> None:
    shutil.copy2(file, file.with_suffix(".saved"))
    file.unlink()
    shutil.copy2(file.with_suffix(".saved"), file)


def moved(file: Path) -> None:
    (file.parent / "elsewhere").mkdir()
    shutil.move(file, file.parent / "elsewhere")
    (file.parent / "people.parquet").symlink_to(file.parent / "elsewhere" / "people.parquet")


@pytest.mark.parametrize("change", [touched, put_back, moved])
def test_the_same_content_is_the_same_edition(file: Path, change: Callable[[Path], None]) -> None:
    ledger = file.parent / "a.ledger"
    first = protect(file, ledger).median("x", epsilon=0.5)
    change(file)
    table = protect(file, ledger)
    again = table.median("x", epsilon=0.5)
    assert isinstance(first, dp.Release)
    assert isinstance(again, dp.Release)
    assert (again.value, table.ledger.spent.epsilon) == (first.value, dp.Budget(epsilon=0.5).epsilon)
    write(file, 100_000.0)
    changed = protect(file, ledger)
    assert changed.median("x", epsilon=0.5).value > 50_000
    assert changed.ledger.spent.epsilon == 1


def test_content_is_read_once_for_a_stamp(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protect(file, file.parent / "a.ledger")
    monkeypatch.setattr(versions, "_DIGESTS", {})  # as in another process
    monkeypatch.setattr(versions.hashlib, "file_digest", lambda *_: pytest.fail("it was read again"))
    entries = len(open_ledger(file.parent / "a.ledger").entries())
    protect(file, file.parent / "a.ledger")
    assert len(open_ledger(file.parent / "a.ledger").entries()) == entries


def test_partition_values_are_content(tmp_path: Path) -> None:
    (tmp_path / "people" / "region=north").mkdir(parents=True)
    write(tmp_path / "people" / "region=north" / "part.parquet")
    first = protect(tmp_path / "people", tmp_path / "a.ledger")._table.source
    os.rename(tmp_path / "people" / "region=north", tmp_path / "people" / "region=south")
    assert protect(tmp_path / "people", tmp_path / "a.ledger")._table.source != first


def test_the_ledger_confirms_no_guess(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ledgers have nothing in common that would tell that they are about the same file."""
    bodies = []
    for name in ("a", "b"):
        protect(file, file.parent / f"{name}.ledger", edition="2026-11")
        entries = open_ledger(file.parent / f"{name}.ledger").entries()
        assert open_ledger(file.parent / f"{name}.ledger").verify().sound
        body = next(entry.content() for entry in entries if entry.kind == "edition")
        assert body["label"] == "2026-11"
        bodies.append({body["content"], *body["sources"], *entries[0].content()["sources"]})
        assert str(file.parent) not in str(entries)
    assert not bodies[0] & bodies[1]
    secret = file.parent / "a.ledger.secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    monkeypatch.chdir(file.parent)
    assert secret.read_text() not in str(open_ledger("a.ledger").entries())


def test_without_the_secret_known_names_go_on_and_new_ones_wait(file: Path) -> None:
    ledger, second = file.parent / "a.ledger", write(file.parent / "second.parquet", 9.0)
    protect(file, ledger).median("x", epsilon=0.5)
    (file.parent / "a.ledger.secret").unlink()
    with pytest.raises(LedgerError, match="the secret of this ledger is not the one with which 'people' was written down"):
        protect(second, ledger)
    assert protect(file, ledger).ledger.spent.epsilon == dp.Budget(epsilon=0.5).epsilon
    protect(second, ledger)


def test_a_table_of_a_database_is_known_by_every_way_to_it(postgres_schema_url: str, tmp_path: Path) -> None:
    run(postgres_schema_url, "CREATE TABLE people AS SELECT i AS who, i::float8 AS x FROM generate_series(1, 999) i")
    ledger = tmp_path / "a.ledger"
    table = protect(f"{postgres_schema_url}#people", ledger)
    table.median("x", epsilon=1)
    host = postgres_schema_url.replace("postgres@", "postgres:any@").replace("/postgres?", "/postgres?application_name=other&")
    with pytest.raises(LedgerError, match="knows these rows as"):
        protect(f"{host}#people", ledger, name="other")
    run(postgres_schema_url, "ALTER TABLE people RENAME TO persons")
    with pytest.raises(LedgerError, match="knows these rows as"):
        protect(f"{host}#persons", ledger)
    assert protect(f"{host}#persons", ledger, name=table.name).ledger.spent.epsilon == 1
    connection = duckdb.connect(str(tmp_path / "a.duckdb"))
    connection.execute("CREATE TABLE people AS SELECT range AS who, range AS x FROM range(999)")
    protect(connection.table("people"), ledger, name="one")
    with pytest.raises(LedgerError, match="knows these rows as 'one'"):
        protect(connection.table("main.people"), ledger, name="two")


def test_a_ledger_in_postgres_keeps_its_secret_there(postgres_schema_url: str, file: Path) -> None:
    protect(file, postgres_schema_url)
    with pytest.raises(LedgerError, match="knows these rows as 'people'"):
        protect(file, postgres_schema_url, name="other")
    back_up(postgres_schema_url, str(file.parent / "copy.ledger"))  # which takes the secret along
    with pytest.raises(LedgerError, match="knows these rows as 'people'"):
        protect(file, file.parent / "copy.ledger", name="other")
    secret = file.parent / "copy.ledger.secret"
    assert bytes.fromhex(secret.read_text()) == open_ledger(postgres_schema_url).secret
    restore(str(file.parent / "copy.ledger"), str(file.parent / "restored.ledger"))
    assert (file.parent / "restored.ledger.secret").read_bytes() == secret.read_bytes()
