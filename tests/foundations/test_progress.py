"""Progress is shown on a terminal after a while, and nowhere else."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

import dpstats as dp
from dpstats.foundations.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def seconds() -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += 0.5


def shown(stream: io.StringIO, steps: int) -> str:
    clock = seconds()
    progress = Progress(steps, stream, lambda: next(clock))
    for _ in range(steps):
        progress.step()
    progress.close()
    return stream.getvalue()


def test_short_work_is_silent() -> None:
    assert shown(Terminal(), 3) == ""


def test_a_file_gets_nothing() -> None:
    assert shown(io.StringIO(), 100) == ""


def test_long_work_says_how_much_is_done_and_wipes_its_line() -> None:
    parts = shown(Terminal(), 12).split("\r")
    assert parts[1] == "planning: 4 of 12 simulated tables"
    assert parts[-3].startswith("planning: 12 of 12")
    assert parts[-2].strip() == parts[-1] == ""
    assert len(parts[-2]) == len(parts[-3])


def test_a_plan_writes_nothing_to_a_stream_that_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    dp.plan("count", epsilon=1, n=10, repeats=2)
    assert capsys.readouterr() == ("", "")
