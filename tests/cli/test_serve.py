"""`dpstats serve` and `dpstats people`: what they say before they serve."""

from __future__ import annotations

import socket
from fractions import Fraction
from pathlib import Path

import pytest

from dpstats.accounting.budgets import Budget
from dpstats.cli import exits
from dpstats.curator.ledger.ledger import Terms, open_ledger
from dpstats.foundations.privacy import PrivacyCost
from dpstats.web import server
from tests.cli.conftest import Run


def test_a_port_that_is_taken_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = run("serve", "--demo", "--port", str(taken.getsockname()[1]))
    assert outcome.code == exits.BAD_INPUT
    assert "choose another --port" in outcome.err


@pytest.mark.parametrize("words", [[], ["catalog.toml", "--demo"], ["nowhere.toml"]])
def test_settings_or_the_demo_must_be_named(run: Run, words: list[str]) -> None:
    assert run("serve", *words, "--port", "0").code == exits.BAD_INPUT


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('ledger = "nowhere/curator.ledger"\nregistrations = "catalog.sqlite"\n', "nowhere/curator.ledger does not exist"),
        (
            'ledger = "postgresql://nobody@127.0.0.1:1/none"\nregistrations = "catalog.sqlite"\n',
            "nobody answers at postgresql://",
        ),
        ('ledger = "curator.ledger"\nregistrations = "nowhere/catalog.sqlite"\n', "nowhere"),
        ('ledger = "curator.ledger"\nregistrations = "catalog.sqlite"\nroots = ["nowhere"]\n', "no folder"),
        ('ledger = "curator.ledger"\nregistrations = "catalog.sqlite"\n[web]\npeople = "nowhere/people.sqlite"\n', "nowhere"),
        ('ledger = "curator.ledger"\nregistrations = "catalog.sqlite"\n[web]\nworkerz = 2\n', "did you mean 'workers'?"),
        ("ledger = \n", "is not TOML"),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_sentence_before_anything_is_served(
    run: Run, tmp_path: Path, settings: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "run_server", lambda *_, **__: pytest.fail("it was served"))
    (tmp_path / "catalog.toml").write_text(settings)
    outcome = run("serve", str(tmp_path / "catalog.toml"), "--port", "0", "--no-browser")
    assert outcome.code != exits.ANSWERED
    assert says in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_a_ledger_that_was_cut_is_not_served(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []
    monkeypatch.setattr(server, "run_server", lambda *given, **_: served.append(given))
    settings, file = tmp_path / "catalog.toml", tmp_path / "curator.ledger"
    settings.write_text('ledger = "curator.ledger"\nregistrations = "catalog.sqlite"\n')
    with open_ledger(file) as ledger:
        account = ledger.account("survey", Terms(Budget(1), unit="person"))
        old = tmp_path / "old"
    old.write_bytes(file.read_bytes())
    outcome = run("serve", str(settings), "--port", "0", "--no-browser")
    assert (outcome.code, len(served)) == (exits.ANSWERED, 1)
    assert f"Nobody may sign in yet: dpstats people {settings} --add NAME --role owner admin" in outcome.out
    with open_ledger(file) as ledger:
        account = ledger.account("survey", Terms(Budget(1), unit="person"))
        account.debit("key", "count()", PrivacyCost(Fraction(1, 2), unit="person"))
    file.write_bytes(old.read_bytes())
    outcome = run("serve", str(settings), "--port", "0", "--no-browser")
    assert outcome.code != exits.ANSWERED
    assert "older" in outcome.err
    assert len(served) == 1


def test_people_are_added_shown_and_given_other_passwords(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "catalog.toml"
    settings.write_text('ledger = "curator.ledger"\nregistrations = "catalog.sqlite"\n')
    monkeypatch.setenv("DPSTATS_PASSWORD", "a password of olga")
    assert run("people", str(settings), "--add", "olga").code == exits.BAD_INPUT
    assert run("people", str(settings), "--add", "olga", "--role", "owner", "admin").out == "olga: admin, owner\n"
    assert run("people", str(settings), "--add", "olga", "--role", "owner").code == exits.BAD_INPUT
    assert run("people", str(settings), "--password", "olga").code == exits.ANSWERED
    assert run("people", str(settings), "--password", "nobody").code == exits.BAD_INPUT
    monkeypatch.setenv("DPSTATS_PASSWORD", "short")
    assert "12 to 200 letters" in run("people", str(settings), "--password", "olga").err
