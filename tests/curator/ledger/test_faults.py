"""No acknowledged spend is lost, whoever is killed, and no crowd overspends, in threads, processes or forks."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from dpstats.curator.ledger.ledger import open_ledger
from tests.curator.ledger.writers import TERMS

ROOT = Path(__file__).parents[3]
posix = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and killed by signals")


def writers(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "tests.curator.ledger.writers", *map(str, arguments)]


def output_of(*arguments: object) -> str:
    result = subprocess.run(writers(*arguments), capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout


def survive(address: str, kills: int, crowd: int = 3) -> None:
    found = json.loads(output_of("faults", address, kills, crowd))
    assert (found["complaints"], found["lost"], found["told twice"], found["not adding up"]) == ([], 0, 0, [])
    assert found["acknowledged"] > kills / 2  # enough got through that there was something to lose
    assert found["of them for four accounts"]
    assert found["unanswered"]  # a writer was killed before it could answer, and that was not given back


@posix
def test_30_kills_lose_no_acknowledged_debit(tmp_path: Path) -> None:
    survive(str(tmp_path / "survey.ledger"), 30)


@posix
def test_8_kills_lose_no_acknowledged_debit_in_postgres(postgres_schema_url: str) -> None:
    survive(postgres_schema_url, 8)


@posix
@pytest.mark.long
def test_400_kills_lose_no_acknowledged_debit(tmp_path: Path) -> None:
    survive(str(tmp_path / "survey.ledger"), 400, 4)


@posix
@pytest.mark.long
def test_100_kills_lose_no_acknowledged_debit_in_postgres(postgres_schema_url: str) -> None:
    survive(postgres_schema_url, 100, 4)


def test_processes_never_overspend(address: str) -> None:
    command = writers("spend", address, "1/10", "5")
    with ExitStack() as stack:
        crowd = [
            stack.enter_context(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
                )
            )
            for _ in range(3)
        ]
        ready = [process.stdout.readline() for process in crowd]  # all are there before any begins
        said = [process.communicate("go\n") for process in crowd]
    assert ready == ["ready\n"] * 3, said
    assert sum(int(count) for count, _ in said) == 50
    with open_ledger(address, read_only=True) as ledger:
        [statement] = ledger.statements()
        assert ledger.verify().sound
    assert statement.remaining == "epsilon = 0"
    assert len({line.sequence for line in statement.lines}) == 50


@posix
def test_children_forked_while_threads_write_have_their_own_connection(address: str) -> None:
    with open_ledger(address) as ledger:
        ledger.account("survey", TERMS)
    counted = json.loads(output_of("fork", address))
    assert counted["children"] == 40
    with open_ledger(address, read_only=True) as ledger:
        [statement] = ledger.statements()
        assert ledger.verify().sound
    assert len(statement.lines) == counted["parent"] + counted["children"]


@posix
def test_a_ledger_in_memory_is_refused_in_a_child() -> None:
    refusal, spent = output_of("memory", ":memory:").splitlines()
    assert refusal.startswith("a ledger in memory belongs to the process that opened it")
    assert spent == "epsilon = 2/7"
