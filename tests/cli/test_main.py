from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpstats
from dpstats.cli import exits
from dpstats.cli.main import COMMANDS
from dpstats.foundations.arguments import call_words
from dpstats.foundations.registry import find_statistic, statistic_names
from tests.cli.conftest import Run


def test_no_arguments_print_help_that_teaches(run: Run) -> None:
    outcome = run()
    assert outcome.code == exits.ANSWERED
    for name, summary in COMMANDS.items():
        assert f"dpstats {name}" in outcome.out
        assert summary in outcome.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, name: str) -> None:
    outcome = run(name, "--help")
    assert outcome.code == exits.ANSWERED
    assert f"  dpstats {name}" in outcome.out


def test_the_help_of_ask_lists_every_statistic(run: Run) -> None:
    out = run("ask", "--help").out
    assert statistic_names()
    for name in statistic_names():
        assert f"  {name}({', '.join(call_words(find_statistic(name), 'column'))}" in out


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"dpstats {dpstats.__version__}\n"


@pytest.mark.parametrize("arguments", [["fly"], ["--fly"], ["ask"], ["demo", "extra"]])
def test_a_wrong_call_is_one_sentence_and_exit_code_2(run: Run, arguments: list[str]) -> None:
    outcome = run(*arguments)
    assert outcome.code == exits.BAD_INPUT
    assert outcome.err.startswith("dpstats: ")
    assert outcome.err.count("\n") == 1


def test_the_script_the_module_and_main_are_one(people: Path) -> None:
    script = Path(sys.executable).with_name("dpstats")
    arguments = ["ask", str(people), "median(age)", "--epsilon", "1", "--seed", "3"]
    results = [
        subprocess.run([*command, *arguments], capture_output=True, text=True, check=True).stdout
        for command in ([str(script)], [sys.executable, "-m", "dpstats"], [sys.executable, "-m", "dpstats.cli.main"])
    ]
    assert len(set(results)) == 1


def test_a_program_does_what_was_left_for_its_end_and_passes_its_exit_code_on() -> None:
    script = """
import atexit, sys, weakref
from dpstats.cli import main

class Ledger: pass

ledger = Ledger()
weakref.finalize(ledger, print, "closed")
atexit.register(print, "registered")
main.main = lambda: print("answered") or 3
main.run()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, sorted(done.stdout.split()), done.stderr) == (3, ["answered", "closed", "registered"], "")


def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        result = subprocess.run(
            [sys.executable, "-m", "dpstats", "demo"], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == exits.BROKEN_PIPE
    assert result.stderr == ""


def test_a_terminal_without_the_letters_is_no_reason_to_fail(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("größe\n" + "1.5\n" * 50, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = subprocess.run(
        [sys.executable, "-m", "dpstats", "ask", str(file), "count(größe)", "--epsilon", "1"],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert result.returncode == exits.ANSWERED
