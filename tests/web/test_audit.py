"""What auditors see: changes of the ledger are found, totals are added up anew, and answers stay with those who share them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.curator.ledger.chain_files import ChainFile
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import Signatures
from tests.web.conftest import Service, served
from tests.web.publishing import ask, publish


@pytest.fixture(scope="module")
def asked(service: Service) -> int:
    """The number of an answer that everybody shares; it was published."""
    answer = ask(service, statistic="count")
    publish(service, answer, "How many people")
    return answer


def test_the_state_of_the_chain_is_shown_and_a_verification_is_kept(service: Service, asked: int) -> None:
    with service.visit("aron") as client:
        values = client.get("/audit.json").json()
        done = client.post("/audit/verify", data={"whole": "false"})
        everything = client.post("/audit/verify", json={"whole": True}).json()
        after = client.get("/audit.json").json()
        page = client.get("/audit").text
    last = service.office.ledger.last
    assert last is not None
    assert (values["entries"], values["head"], values["verifications"]) == (last.sequence, last.hash, [])
    assert {each["name"] for each in values["accounts"]} == {"survey", "survey, analyst ana"}
    assert (done.status_code, done.headers["location"]) == (303, "/audit")
    assert (everything["sound"], everything["whole"], everything["entries"]) == (True, True, last.sequence)
    assert [each["whole"] for each in after["verifications"]] == [True, False]
    assert "Sound" in page


def test_totals_are_recomputed_beside_the_stated_ones(service: Service, asked: int) -> None:
    with service.visit("aron") as client:
        values, page = client.get("/audit/survey.json").json(), client.get("/audit/survey").text
        cap = client.get("/audit/survey, analyst ana.json").json()
        assert client.get("/audit/nowhere").status_code == 404
    spent = str(service.office.ledger.reader("survey").spent)
    assert values["totals"]["agrees"]
    assert values["totals"]["recomputed"] == values["totals"]["stated"] == spent
    assert values["totals"]["counts"] == {"debits": 1, "answers": 1, "no_replies": 0, "failed": 0, "unanswered": 0}
    debits = [each for each in values["lines"] if each["kind"] == "debit"]
    assert [(each["actor"], each["what"], each["agrees"]) for each in debits] == [
        ("ana", "count (at most 1 row of each person)", True)
    ]
    assert [each["answer"] is not None for each in values["lines"] if each["kind"] == "answer"] == [True]
    assert "agrees" in page
    assert cap["totals"]["agrees"]
    assert [each["what"] for each in cap["lines"] if each["kind"] == "debit"] == [
        f"a share of entry {debits[0]['sequence']}: count (at most 1 row of each person)"
    ]


def test_entries_are_chosen_by_who_kind_and_time_and_come_in_pages(
    service: Service, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service.visit("aron") as client:

        def kinds(**query: object) -> list[str]:
            return [each["kind"] for each in client.get("/audit/survey.json", params=query).json()["lines"]]

        assert set(kinds(actor="ana")) == {"debit", "answer"}
        assert kinds(kind="grant") == ["grant"]
        assert kinds(end="2001-01-01") == []
        assert kinds(start="2001-01-01", kind="publish") == ["publish"]
        assert client.get("/audit/survey.json", params={"start": "' OR 1"}).status_code == 422
        whole = kinds()
        monkeypatch.setattr("dpstats.web.views.audit.LINES", 2)
        first = client.get("/audit/survey.json").json()
        assert [each["kind"] for each in first["lines"]] == whole[:2]
        assert kinds(after=first["next"]) == whole[2:4]


def test_the_chain_is_verified_at_home(service: Service, asked: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with service.visit("aron") as client, service.client() as nobody:
        file = tmp_path / "chain.jsonl"
        file.write_bytes(client.get("/audit/chain.jsonl").content)
        receipt = tmp_path / "receipt.json"
        release = client.get("/index.json").json()["newest"][0]["number"]
        receipt.write_bytes(nobody.get(f"/r/{release}/receipt.json").content)
    found = ChainFile(file).verify()
    assert (found.sound, found.withheld, found.head) == (True, 0, service.office.ledger.head)
    assert main(["ledger", "verify", str(file), "--receipt", str(receipt)]) == 0
    assert "found, entry" in capsys.readouterr().out
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[: release - 1]))  # its end is cut off
    assert main(["ledger", "verify", str(file), "--receipt", str(receipt)]) == 1
    changed = json.loads(lines[asked - 1])
    changed["body"] = changed["body"].replace("0", "1", 1)
    file.write_text("\n".join([*lines[: asked - 1], json.dumps(changed), *lines[asked:]]))
    assert "does not match its hash" in str(ChainFile(file).verify().complaints[0])
    file.write_text("{}\n")
    with pytest.raises(dp.LedgerError, match="line 1 of this file is no entry"):
        ChainFile(file).verify()


def test_answers_that_are_not_shared_are_withheld_and_the_rest_is_verified(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        service.office.catalog.amend("survey", archive="own", actor="olga", why="a test")
        ask(service, statistic="count", where=["age < 30"])
        publish(service, ask(service, statistic="count"), "How many people")
        with service.visit("aron") as client:
            lines = client.get("/audit/survey.json").json()["lines"]
            file = tmp_path / "chain.jsonl"
            file.write_bytes(client.get("/audit/chain.jsonl").content)
    answers = [each for each in lines if each["kind"] == "answer"]
    assert [each["answer"] is None for each in answers] == [True, False]
    found = ChainFile(file).verify()
    assert (found.sound, found.withheld) == (True, 1)
    forged = [json.loads(line) for line in file.read_text().splitlines()]
    debit = next(each for each in forged if each["kind"] == "debit")
    debit["body"] = None  # nothing but answers may be withheld
    file.write_text("\n".join(map(json.dumps, forged)))
    assert not ChainFile(file).verify().sound


def test_an_altered_entry_is_found_and_a_cut_ledger_does_not_know_its_receipts(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        file, ledger = tmp_path / "curator.ledger", service.office.ledger
        answer = ask(service, statistic="count")
        debit = ledger.entry(answer - 2)
        assert debit is not None
        assert debit.kind == "debit"
        receipt = KeptReceipt.of(debit, None).to_dict()
        with service.visit("aron") as client:
            assert client.post("/receipts", json={"receipt": receipt}).json()["found"]
            _alter(file, "UPDATE dpstats_ledger SET body = replace(body, '1/20', '1/40') WHERE sequence = ?", debit.sequence)
            report = client.post("/audit/verify", json={}).json()
            lines = client.get("/audit/survey.json").json()["lines"]
            shown = client.get("/audit").text
            assert not report["sound"]
            assert any(f"entry {debit.sequence}: does not match its hash" in each for each in report["complaints"])
            assert next(each for each in lines if each["sequence"] == debit.sequence)["fault"].startswith(
                "does not match its hash"
            )
            assert "Not sound" in shown
            _alter(file, "DELETE FROM dpstats_ledger WHERE sequence >= ?", debit.sequence)
            gone = client.post("/receipts", json={"receipt": receipt}).json()
            assert (gone["found"], "older than it was" in gone["complaint"]) == (False, True)
            assert "older than what this session has seen" in client.get("/audit.json").json()["error"]["message"]
        with service.client() as nobody:
            reply = nobody.get("/d/survey.json")
            assert (reply.status_code, "curator.ledger" in reply.text) == (503, False)
    with open_ledger(file, read_only=True) as cut:  # it is not opened to be written to: the witness has seen more
        assert (
            KeptReceipt.from_dict(receipt).complaint(cut.entry(debit.sequence), Signatures())
            == "not found: the entry was removed"
        )
        assert not cut.verify().sound


def _alter(file: Path, statement: str, sequence: int) -> None:
    """What somebody who keeps the ledger can do to it."""
    with sqlite3.connect(file) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, (sequence,))
    connection.close()
