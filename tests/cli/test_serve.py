"""`dpstats serve` and `dpstats people`: what they say before they serve."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from dpstats.cli import exits
from tests.cli.conftest import Run


def test_a_port_that_is_taken_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = run("serve", "--demo", "--port", str(taken.getsockname()[1]))
    assert outcome.code == exits.BAD_INPUT
    assert "choose another --port" in outcome.err


@pytest.mark.parametrize("words", [[], ["catalog.toml", "--demo"], ["nowhere.toml"]])
def test_settings_or_the_demo_must_be_named(run: Run, words: list[str]) -> None:
    assert run("serve", *words, "--port", "0").code == exits.BAD_INPUT


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
