"""Every option of every command, in every way of calling it, with nobody at the keyboard: it does something, or is refused."""

from __future__ import annotations

import argparse
import getpass
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, TextIO

import pytest

import dpstats as dp
from dpstats.cli import exits, serve
from dpstats.cli.main import COMMANDS, main
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.web import server
from dpstats.web.auditing.sight import chain_file

WAYS: dict[str, list[str]] = {
    "demo": [""],
    "plan": ["median(income) --epsilon 1 --n 1000", "median(income) --half-width 5% --n 1000"],
    "ask": ["people.csv median(age) --epsilon .01 --seed 3", "people.csv median(age) --epsilon 1 --seed 3 --json"],
    "synthesize": ["people.csv --epsilon .2 --out rows.csv --types age=integer --columns age --seed 3"],
    "publish": ["plan.toml --price", "plan.toml --out report", "--verify published"],
    "serve": ["catalog.toml --port 0", "--demo --port 0"],
    "people": ["catalog.toml", "catalog.toml --add nina --role analyst", "catalog.toml --password olga"],
    "ledger verify": ["people.ledger", "chain.jsonl"],
    "ledger show": ["people.ledger"],
    "ledger backup": ["people.ledger copy.ledger"],
    "ledger restore": ["backup.ledger people.ledger"],
    "ledger key": ["people.ledger"],
    "schema": [""],
}
"""How each command is called: in each of its ways, with what that way needs."""
VALUES: dict[str, str] = {
    "--add": "nina",
    "--columns": "age",
    "--dataset": "nothing",
    "--delta": "1e-6",
    "--epsilon": "2",
    "--features": "3",
    "--focus": "age",
    "--half-width": "5%",
    "--head": "0" * 64,
    "--host": "127.0.0.2",
    "--key": "0" * 64,
    "--key-file": "own.key",
    "--ledger": "people.ledger",
    "--levels": "region=north,south",
    "--n": "2000",
    "--neighbors": "change_one",
    "--out": "other",
    "--password": "olga",
    "--plot": "picture.svg",
    "--receipt": "receipt.json",
    "--repeats": "20",
    "--role": "analyst",
    "--rows": "70",
    "--seed": "5",
    "--shape": "normal",
    "--types": "age=text",
    "--unit": "person",
    "--verify": "published",
    "--why": "because",
    "--witness": "own.witness",
}
MAY_CHANGE_NOTHING = {
    ("plan", "--delta"): "a delta that a method does not need is accepted, and not spent",
    ("ask", "--delta"): "a delta that a method does not need is accepted, and not spent",
    ("synthesize", "--delta"): "a delta that a method does not need is accepted, and not spent",
    ("synthesize", "--focus"): "of one column there is no pair",
}
"""Options that may change nothing, and why."""
PLAN = """
title = "Ages"
[table]
file = "people.csv"
unit = "row"
types = {age = "number"}
[budget]
epsilon = 9
ledger = "people.ledger"
[[question]]
statistic = "median"
columns = ["age"]
epsilon = 1
"""


CATALOG = """
ledger = "people.ledger"
registrations = "catalog.sqlite"
[web]
people = "people.sqlite"
"""


class Outcome(NamedTuple):
    code: int
    printed: str
    served: str
    files: tuple[str, ...]


def options() -> Iterator[tuple[str, argparse.Action]]:
    """Every option that a command or one of its actions has."""
    for name in COMMANDS:
        parser = argparse.ArgumentParser(prog=name)
        import_module(f"dpstats.cli.{name}").add_arguments(parser)
        nested = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        found = {f"{name} {word}": made for each in nested for word, made in each.choices.items()} or {name: parser}
        for command, made in found.items():
            for action in made._actions:
                if action.option_strings and action.dest != "help":
                    yield command, action


CASES = [
    (command, way, action)
    for command, action in options()
    for way in WAYS[command]
    if action.option_strings[0] not in way.split()
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the ways name."""
    folder = tmp_path_factory.mktemp("made")
    rows = [f"{'north' if index % 3 else 'south'},{20 + index % 50}" for index in range(400)]
    (folder / "people.csv").write_text("\n".join(["region,age", *rows]) + "\n")
    (folder / "plan.toml").write_text(PLAN)
    (folder / "catalog.toml").write_text(CATALOG)
    (folder / "receipt.json").write_text("{}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DPSTATS_PASSWORD", "an invented password")
        dp.publish("plan.toml", out="published")
        with open_ledger("people.ledger", read_only=True) as ledger:
            (folder / "chain.jsonl").write_bytes(b"".join(chain_file(ledger)))
        assert main(["people", "catalog.toml", "--add", "olga", "--role", "owner", "admin"]) == exits.ANSWERED
        assert main(["ledger", "backup", "people.ledger", "backup.ledger"]) == exits.ANSWERED
    return folder


class Calls:
    """Calls the command line, each time in a folder of its own, without a terminal."""

    def __init__(self, made: Path, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._made, self._folder, self._patch, self._capsys = made, folder, patch, capsys
        self._served: list[object] = []
        patch.delenv("DPSTATS_PASSWORD", raising=False)
        patch.setattr(getpass, "getpass", getpass.fallback_getpass)  # which asks no terminal, but stdin
        patch.setattr(server, "run_server", lambda *_, **given: self._served.append(given))
        patch.setattr(serve, "_open", self._served.append)

    def __call__(self, *words: str, stdin: TextIO | None) -> Outcome:
        self._served.clear()
        place = self._folder / secrets.token_hex(4)
        shutil.copytree(self._made, place)
        self._patch.chdir(place)
        self._patch.setattr(sys, "stdin", stdin)
        code = main(list(words))
        for thread in threading.enumerate():
            if getattr(thread, "_target", None) == self._served.append:
                thread.join()
        printed = "".join(self._capsys.readouterr())
        assert code != exits.UNEXPECTED or words[:2] == ("ledger", "verify"), printed
        assert "unexpected" not in printed
        files = sorted(str(path.relative_to(place)) for path in place.rglob("*"))
        return Outcome(code, printed, str(self._served), tuple(files))


@pytest.fixture
def calls(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Calls:
    return Calls(made, tmp_path, monkeypatch, capsys)


OUTCOMES: dict[tuple[str, str], Outcome] = {}
"""What came of each way without more options."""


def plain(calls: Calls, command: str, way: str) -> Outcome:
    if (command, way) not in OUTCOMES:
        with open(os.devnull) as nothing:
            OUTCOMES[command, way] = calls(*command.split(), *way.split(), stdin=nothing)
    return OUTCOMES[command, way]


@pytest.mark.parametrize(("command", "way", "action"), CASES, ids=lambda each: getattr(each, "dest", each))
def test_an_option_does_something_or_is_refused(calls: Calls, command: str, way: str, action: argparse.Action) -> None:
    without, option = plain(calls, command, way), action.option_strings[0]
    value = [] if action.nargs == 0 else [VALUES[option]]
    with open(os.devnull) as nothing:
        given = calls(*command.split(), *way.split(), option, *value, stdin=nothing)
    if (command, option) not in MAY_CHANGE_NOTHING:
        assert given != without, "it was ignored"
    if value:
        for empty in ([option, ""], [f"{option}="]):
            refused = calls(*command.split(), *way.split(), *empty, stdin=None)
            assert (refused.code, "is empty" in refused.printed) == (exits.BAD_INPUT, True)


@pytest.mark.parametrize(("command", "way"), [(command, way) for command, ways in WAYS.items() for way in ways])
def test_a_command_without_stdin_says_what_it_says_with_an_empty_one(calls: Calls, command: str, way: str) -> None:
    before = plain(calls, command, way)
    assert calls(*command.split(), *way.split(), stdin=None).code == before.code
    assert before.code == (exits.BAD_INPUT if command == "people" and len(way.split()) > 1 else before.code)


def test_a_password_that_nobody_can_type_is_one_sentence(made: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(made, place)
    command = [sys.executable, "-m", "dpstats", "people", "catalog.toml", "--add", "nina", "--role", "analyst"]
    environment = {name: value for name, value in os.environ.items() if name != "DPSTATS_PASSWORD"}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=place, env=environment, start_new_session=True
    )
    assert done.returncode == exits.BAD_INPUT
    assert done.stderr == (
        "dpstats: no password was typed: type it at a terminal, or set the environment variable DPSTATS_PASSWORD.\n"
    )


def test_a_role_belongs_to_somebody_new(calls: Calls) -> None:
    for way in ("catalog.toml --role analyst", "catalog.toml --password olga --role analyst"):
        outcome = calls("people", *way.split(), stdin=None)
        assert (outcome.code, outcome.printed.count("--add")) == (exits.BAD_INPUT, 1)
