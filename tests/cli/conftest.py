from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dpstats.cli.main import main
from dpstats.foundations import registry
from dpstats.foundations.registry import Answer, Reads, Refusal, Statistic

SECRET_NUMBER = "98765.4321"
SECRET_TEXT = "Xanthippe"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line, called as from a shell; whatever it does, it shows no traceback and no secret cell."""

    def call(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert SECRET_TEXT not in out + err
        assert SECRET_NUMBER not in err
        return Outcome(code, out, err)

    return call


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table with a text column, a number column with holes and a column of secrets."""
    rows = [f"{index},{'north' if index % 3 else 'south'},{20 + index % 50},{1000 + index}.5" for index in range(400)]
    rows[7] = f"7,{SECRET_TEXT},,{SECRET_NUMBER}"
    rows[8] = "8,south,not known,"
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["person,region,age,net income", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def odd_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics that refuse, crash, need delta, or answer with an infinity."""

    def crash(*_: object) -> Answer:
        raise RuntimeError(f"crashed on {SECRET_TEXT}")

    refusal = Refusal("The test failed.", "Ask with more epsilon.")
    for name, behaviour, needs_delta in (
        ("refuse", lambda *_: refusal, False),
        ("crash", crash, False),
        ("needy", lambda *_: Answer(1.0), True),
        ("endless", lambda *_: Answer([float("inf"), 1.0]), False),
    ):
        statistic = Statistic(name, f"Only for tests: {name}.", reads=(Reads.LABELS,))
        registry.method(statistic, "plain", claim="none", needs_delta=needs_delta)(behaviour)
        monkeypatch.setitem(registry._STATISTICS, name, statistic)
