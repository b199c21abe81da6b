"""Tables in object stores: the rows, answers and editions of the same files on this machine."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dpstats as dp
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.errors import DataFileError, LedgerError
from tests.engines.stores.ugly import rows_of
from tests.fresh_ledgers import forget_ledgers_in_memory
from tests.object_store import ObjectServer, name_store, object_server

SECRET = "kanari"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """An object store that the environment names."""
    with object_server() as server:
        name_store(monkeypatch, server.url, SECRET)
        yield server


def octets_of(shift: float = 0.0, count: int = 2_000, **words: Any) -> bytes:
    held = io.BytesIO()
    pl.DataFrame({"who": range(count), "x": [row + shift for row in range(count)]}).write_parquet(held, **words)
    return held.getvalue()


def protect(table: Any, ledger: Any = ":memory:", **words: Any) -> Any:
    return dp.protect(
        table,
        **{
            "unit": "who",
            "max_rows_per_unit": 1,
            "budget": dp.Budget(epsilon=9),
            "ledger": ledger,
            "allow_seeded": True,
            **words,
        },
    )


@pytest.mark.parametrize(
    "named", ["visits", "visits/", "visits/region=*/*.parquet", "visits/**/*.parquet", "visits/region=[ns]*/part.parquet"]
)
def test_objects_have_the_rows_of_the_same_files(store: ObjectServer, tmp_path: Path, named: str) -> None:
    store.page = 2
    parts = {"region=north": 0.0, "region=so%2Futh": 5.0, "region=__HIVE_DEFAULT_PARTITION__": 7.0}
    for folder, shift in parts.items():
        (tmp_path / "visits" / folder).mkdir(parents=True)
        (tmp_path / "visits" / folder / "part.parquet").write_bytes(octets_of(shift, 9))
        store.put("clinic", f"visits/{folder}/part.parquet", octets_of(shift, 9))
    store.put("clinic", "visits/.hidden/part.parquet", b"no Parquet")
    store.put("clinic", "visits_old/region=north/part.parquet", b"no Parquet")
    assert rows_of(f"s3://clinic/{named}") == rows_of(str(tmp_path / named))
    assert "region" in open_store(f"s3://clinic/{named}")[0].columns


def test_answers_and_editions_are_those_of_the_file_itself(store: ObjectServer, tmp_path: Path) -> None:
    (tmp_path / "visits.parquet").write_bytes(octets_of())
    address = store.put("clinic", "2024/visits.parquet", octets_of())
    answers = []
    for table in (tmp_path / "visits.parquet", address):
        forget_ledgers_in_memory()
        session = protect(table)
        asked = [
            session.median("x", epsilon=1, rng=dp.testing.seeded(1)),
            session.where("x > 400").mean("x", epsilon=1, rng=dp.testing.seeded(2)),
        ]
        answers.append([repr(reply.value) for reply in asked])
    assert answers[0] == answers[1]


def test_a_copy_of_the_same_octets_is_the_same_edition_under_one_budget(store: ObjectServer, tmp_path: Path) -> None:
    ledger = tmp_path / "a.ledger"
    address = store.put("clinic", "visits.parquet", octets_of(), written=1e9)
    first = protect(address, ledger).median("x", epsilon=1).value
    store.put("clinic", "visits.parquet", octets_of(), written=1.1e9)  # another date and version
    again = protect(address, ledger)
    assert again.median("x", epsilon=1).value == first
    assert again.ledger.spent.epsilon == 1
    (tmp_path / "copy.parquet").write_bytes(octets_of())
    copies = [store.put("other", "copy.parquet", octets_of()), tmp_path / "copy.parquet", "s3://clinic/*.parquet"]
    for copy in copies:
        with pytest.raises(LedgerError, match="knows these rows as 'visits'"):
            protect(copy, ledger, name="copy")
    store.put("clinic", "visits.parquet", octets_of(5_000))
    with pytest.raises(LedgerError, match="knows these rows as 'visits'"):
        protect(address, ledger, name="copy")  # other rows at the same place
    changed = protect(address, ledger)
    assert changed.median("x", epsilon=1).value > 5_000
    assert changed.ledger.spent.epsilon == 2
    reads = store.reads
    protect(address, ledger)  # whose tag the ledger knows: only its footer is read
    assert store.reads - reads < 9
    assert not any(word in ledger.read_bytes() for word in (SECRET.encode(), b"clinic", store.url.encode()))


def test_what_cannot_be_reached_is_an_error_that_spends_nothing(
    store: ObjectServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    address = store.put("clinic", "visits.parquet", octets_of())
    session = protect(address)
    seen = []

    def refused(table: Any) -> None:
        with pytest.raises(DataFileError, match=r"Nothing was spent\.$") as complaint:
            table.median("x", epsilon=1)
        assert complaint.value.__cause__ is None
        assert table.ledger.spent.epsilon == 0
        seen.append(str(complaint.value))

    store.denies = True
    refused(session)
    store.denies = False
    gone = store.buckets.pop("clinic")
    refused(session)
    store.buckets["clinic"] = {}
    refused(session)
    store.put("clinic", "visits.parquet", octets_of(1))
    refused(session)
    store.buckets["clinic"] = gone
    session.median("x", epsilon=1)
    for wrong in ("s3://nobody/visits.parquet", "s3://nobody/v/*.parquet", "s3://nobody/v", "s3://clinic/none.parquet"):
        with pytest.raises(DataFileError) as complaint:
            protect(wrong)
        seen.append(str(complaint.value))
    forget_ledgers_in_memory()
    with object_server() as other:
        other.buckets = store.buckets
        name_store(monkeypatch, other.url, SECRET)
        down = protect(address)
    refused(down)
    heard = capfd.readouterr()
    assert SECRET not in "\n".join([*seen, heard.out, heard.err])


def test_an_object_that_changes_under_a_pass_makes_it_fail(store: ObjectServer) -> None:
    opened: Any = open_store(store.put("clinic", "visits.parquet", octets_of()))[0]
    opened._batch_rows = 900
    rows = opened.batches(["x"])
    next(rows)
    store.put("clinic", "visits.parquet", octets_of(1))
    with pytest.raises(DataFileError, match=r"has changed since it was opened|could not be read as Parquet"):
        list(rows)


@pytest.mark.parametrize("key", ["visits/_delta_log/0.json", "visits/metadata/v1.metadata.json"])
def test_tables_of_logs_are_not_taken_for_folders_of_objects(store: ObjectServer, key: str) -> None:
    store.put("clinic", "visits/part.parquet", octets_of())
    store.put("clinic", key, b"{}")
    with pytest.raises(DataFileError, match="is a Delta or Iceberg table"):
        open_store("s3://clinic/visits")
