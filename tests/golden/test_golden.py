"""What the code says is what it said when the golden files were written."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from dpstats.curator.archive import is_from_archive
from dpstats.curator.ledger.entries import DEBIT, Entry
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.session import Session
from tests.golden import files, ledger
from tests.golden.questions import all_questions, schema
from tests.golden.releases import Golden, all_releases

pytestmark = pytest.mark.floors


def test_seeded_releases_and_their_cards_are_the_same() -> None:
    found = [f"{each.name}: {kind}" for each, kind in files.changes(list(all_releases()))]
    assert found == [], "if that is meant, raise the method's version and run `make golden`"


def test_documents_prices_and_archive_keys_are_the_same() -> None:
    kept = files.kept_lines(files.QUESTIONS)
    found = dict(all_questions())
    assert kept.keys() == found.keys()
    assert [name for name in kept if kept[name] != found[name]] == []


def test_the_schema_of_documents_is_the_same() -> None:
    assert schema() == files.SCHEMA.read_text(encoding="utf-8")


def test_a_frozen_ledger_verifies_is_recalled_and_goes_on(tmp_path: Path) -> None:
    survey = ledger.restored(tmp_path)
    with open_ledger(tmp_path / "survey.ledger") as book:
        assert book.verify().complaints == ()
    frozen = {_method(debit) for debit in _debits(survey)}
    for name, ask in ledger.questions():
        before = len(_debits(survey))
        is_recalled = is_from_archive(ask(survey))
        assert len(_debits(survey)) - before == (not is_recalled), name
        assert is_recalled or _method(_debits(survey)[-1]) not in frozen, name
    with open_ledger(tmp_path / "survey.ledger") as book:
        assert book.verify().complaints == ()


def test_a_golden_line_changes_only_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Golden("mean/clipped/0", 4, {"value": "1.5"}, "mean = 1.5")
    kept = {line.name: line.line()}
    monkeypatch.setattr(files, "kept_lines", lambda path: kept)
    monkeypatch.setattr(files, "kept_cards", lambda: {line.name: line.text})
    refused = partial(files.refused_changes, words=False, order=False)
    assert refused([line]) == []
    assert refused([line._replace(numbers={"value": "2.5"}, version=5)]) == []
    assert "still has version 4" in refused([line._replace(numbers={"value": "2.5"})])[0]
    assert "card changed" in refused([line._replace(text="mean is 1.5")])[0]
    assert "gone" in refused([])[0]
    kept["iqr/one-test/0"] = Golden("iqr/one-test/0", 1, {"value": "1.5"}, "iqr = 1.5").line()
    assert refused([line]) == []


def test_a_golden_question_changes_only_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    line = next(line for _, line in all_questions())
    method = json.loads(line)["debit"]["details"]["method"]
    name, _, version = method.rpartition("/")
    raised = line.replace(method, f"{name}/{int(version) + 1}")
    monkeypatch.setattr(files, "kept_lines", lambda path: {"one": line, "row/iqr/one-test": line})
    assert files.refused_questions({"one": line}) == files.refused_questions({"one": raised}) == []
    for other in (line.replace('"cost"', '"price"'), raised.replace('"epsilon": "6"', '"epsilon": "7"'), "{}"):
        assert files.refused_questions({"one": other}) == ["one: its document or debit changed"]


def _debits(survey: Session) -> list[Entry]:
    return [entry for entry in survey.ledger.entries() if entry.kind == DEBIT]


def _method(debit: Entry) -> str:
    """The method of a debit, with its version."""
    return str(debit.content()["details"]["method"])
