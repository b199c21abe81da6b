"""A function is evaluated once on every block, whatever it does, and no call finds what another one left behind."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation import evaluation, worker_process
from dpstats.statistics.aggregation.evaluation import MadePieces, evaluate, ship
from dpstats.statistics.aggregation.replies import LabelForm, NumbersForm, read_spoken
from dpstats.statistics.aggregation.worker import LONGEST, to_json
from dpstats.statistics.aggregation.worker_process import memory_share

WORKERS = 2
HANGING = ("hangs", "stops", "ends its loader")
LIMIT = 3.0
"""Seconds for a function that hangs: far more than one that does not hang takes, on a busy machine too."""


def places(count: int) -> list[tuple[int]]:
    """Pieces that hold nothing but their place."""
    return [(place,) for place in range(count)]


def is_gone(process: int) -> bool:
    """Whether a process has ended; one that nobody has asked about yet counts as ended."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def parent(process: int) -> int:
    """Who forked a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def ends(process: int) -> bool:
    """Whether a process ends within a while."""
    patience = time.monotonic() + 300  # only where a process never ends
    while not is_gone(process) and time.monotonic() < patience:
        time.sleep(0.01)
    return is_gone(process)


def misdeeds() -> dict[str, Callable[[], Any]]:
    """What a function may do instead of returning a number."""

    def write_everywhere(message: bytes) -> None:
        for pipe in range(3, 64):
            try:
                os.write(pipe, message)
            except OSError:
                continue
        os._exit(0)

    def close_pipes() -> float:
        os.closerange(3, 64)
        return 1.0

    def leave_a_process_behind() -> None:
        if os.fork():
            os._exit(0)
        time.sleep(600)

    def end_the_worker() -> None:
        os.kill(os.getppid(), signal.SIGKILL)

    def end_the_loader() -> None:
        os.kill(parent(os.getppid()), signal.SIGKILL)
        time.sleep(600)

    def end_its_group() -> None:
        os.killpg(0, signal.SIGKILL)

    def stop_itself() -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def fill_memory() -> float:
        return float(len(np.zeros(memory_share(WORKERS) + 1, dtype=np.uint8)))

    return {
        "raises": lambda: 1 / 0,
        "raises an interrupt": lambda: (_ for _ in ()).throw(KeyboardInterrupt),
        "exits": lambda: sys.exit(0),
        "ends its process": lambda: os._exit(0),
        "crashes": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "hangs": lambda: time.sleep(600),
        "stops": stop_itself,
        "is not a number": lambda: float("nan"),
        "is infinite": lambda: np.inf,
        "returns too many": lambda: [1.0, 2.0],
        "returns nothing": lambda: None,
        "returns a text": lambda: "1",
        "returns a function": lambda: print,
        "returns megabytes": lambda: [1.0] * LONGEST,
        "returns a huge array": lambda: np.zeros(LONGEST + 1),
        "asks for too much memory": fill_memory,
        "closes its pipes": close_pipes,
        "writes garbage": lambda: write_everywhere(b"\xff" * 100),
        "writes much garbage": lambda: write_everywhere(b"+\x00" * LONGEST),
        "leaves a process behind": leave_a_process_behind,
        "ends its worker": end_the_worker,
        "tells its worker to end": lambda: os.kill(os.getppid(), signal.SIGTERM),
        "ends its loader": end_the_loader,
        "ends its group": end_its_group,
    }


@pytest.fixture(scope="module")
def replies_between_misdeeds() -> list[tuple[float, ...] | None]:
    """Replies to pieces of which every second one makes the function misbehave."""
    deeds = misdeeds()
    names = list(deeds)

    def function(place: int) -> Any:
        return deeds[names[place // 2]]() if place % 2 else place

    hang = {2 * names.index(name) + 1 for name in HANGING}
    prompt = [place for place in range(2 * len(deeds) + 1) if place not in hang]
    replies = dict(
        zip(prompt, evaluate([function], [(place,) for place in prompt], NumbersForm(1), workers=WORKERS), strict=True)
    )
    waiting = sorted({near for place in hang for near in (place, place + 1)})  # all of them at once
    limited = evaluate([function], [(place,) for place in waiting], NumbersForm(1), seconds=LIMIT, workers=len(hang))
    replies |= dict(zip(waiting, limited, strict=True))
    return [reply for _, reply in sorted(replies.items())]


@pytest.mark.parametrize("deed", misdeeds())
def test_a_misdeed_costs_its_block_the_answer(deed: str, replies_between_misdeeds: list[tuple[float, ...] | None]) -> None:
    assert replies_between_misdeeds[2 * list(misdeeds()).index(deed) + 1] is None


def test_a_misdeed_costs_no_other_block_anything(replies_between_misdeeds: list[tuple[float, ...] | None]) -> None:
    assert replies_between_misdeeds[::2] == [(2.0 * place,) for place in range(len(misdeeds()) + 1)]


@pytest.mark.parametrize("stopped", ["worker", "loader and worker"])
def test_stopped_processes_are_replaced(stopped: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worker_process, "GRACE", 0.5)
    note = tmp_path / "processes"

    def function(place: int) -> int:
        if place == 1:
            worker = os.getppid()
            loader = parent(worker)
            note.write_text(f"{loader} {worker} {os.getpid()}")
            for process in (worker, loader)[: 1 + ("loader" in stopped)]:
                os.kill(process, signal.SIGSTOP)
            time.sleep(600)
        return place

    assert evaluate([function], places(3), NumbersForm(1), seconds=LIMIT, workers=1) == [(0.0,), None, (2.0,)]
    assert all(ends(int(process)) for process in note.read_text().split())


def test_a_function_that_returns_twice_is_heard_once() -> None:
    def function(place: int) -> int:
        os.fork()
        return place

    assert evaluate([function], places(4), NumbersForm(1), workers=1) == [(0.0,), (1.0,), (2.0,), (3.0,)]


def test_a_block_of_unpicklable_rows_has_no_answer() -> None:
    assert evaluate([lambda rows: 1.0], [([1],), ([threading.Lock()],), ([2],)], NumbersForm(1), workers=1) == [
        (1.0,),
        None,
        (1.0,),
    ]


def test_a_piece_that_cannot_be_made_has_no_answer() -> None:
    pieces = MadePieces(3, lambda place: (1 // (place - 1),))
    assert evaluate([lambda x: x], pieces, NumbersForm(1), workers=1) == [(-1.0,), None, (1.0,)]


@pytest.mark.parametrize("place", [0, 1])
def test_a_worker_that_is_ended_after_its_reply_costs_the_next_block_nothing(place: int, tmp_path: Path) -> None:
    ready = tmp_path / "ready"

    def function(piece: int) -> int:
        if piece == place:
            worker = os.getppid()
            if not os.fork():
                os.setpgid(0, 0)  # so that it does not end with its block
                os.kill(worker, signal.SIGSTOP)
                ready.touch()
                time.sleep(0.2)
                os.kill(worker, signal.SIGKILL)
                os._exit(0)
            while not ready.exists():
                time.sleep(0.01)
        return piece

    assert evaluate([function], places(3), NumbersForm(1), workers=1) == [(0.0,), (1.0,), (2.0,)]


def counting() -> Callable[[int], list[float]]:
    """A function that returns how often it has been called, by everything that it left behind."""
    seen: list[int] = []

    def function(place: int) -> list[float]:
        found = len(seen), getattr(sys, "dpstats_calls", 0), int("DPSTATS_CALLS" in os.environ)
        seen.append(place)
        sys.dpstats_calls = found[1] + 1
        os.environ["DPSTATS_CALLS"] = "1"
        return [float(each) for each in found]

    return function


def test_no_call_finds_what_another_one_left_behind() -> None:
    assert evaluate([counting()], places(6), NumbersForm(3), workers=WORKERS) == [(0.0, 0.0, 0.0)] * 6


def held_by_callers() -> str:
    """What the callers of a function know, all of it."""
    frame: types.FrameType | None = sys._getframe()
    held = []
    while frame is not None:
        held.append(repr(frame.f_locals))
        frame = frame.f_back
    return "".join(held)


def uncleared(sizes: Sequence[int]) -> bytes:
    """Memory that nobody has cleared."""
    return b"".join(np.empty(size, dtype=np.uint8).tobytes() for size in sizes for _ in range(3))


SIZES = (12, 16, 40, 64, 100, 200, 400, 1000, 10_000, 100_000, 700_000, 3_000_000)


def finding(mark: str) -> str:
    """A long reply of capitals, after a note of whether there was one already."""
    found = re.search("[QWERTY]{60}", held_by_callers() + uncleared(SIZES).decode("latin-1"))
    return f"{'found' if found else 'alone'} {mark.upper() * 70_000}"


def test_no_call_finds_the_reply_to_another_one() -> None:
    replies = evaluate([finding], [("qwerty",)] * 6, LabelForm(), workers=1)
    assert [str(reply)[:10] for reply in replies] == ["alone QWER"] * 6


def test_a_reply_is_found_where_it_is_left() -> None:
    left = finding("qwerty")
    assert finding("qwerty").startswith("found"), left


def test_a_counter_counts_where_nothing_keeps_calls_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dpstats_calls", 0, raising=False)
    monkeypatch.setenv("DPSTATS_CALLS", "")
    assert evaluate([counting()], places(3), NumbersForm(3), workers=0)[-1] == (2.0, 2.0, 1.0)


def test_every_call_has_random_numbers_of_its_own() -> None:
    def function(place: int) -> list[float]:
        drawn = [random.random(), np.random.random()]
        random.seed(0)
        np.random.seed(0)
        return drawn

    replies = evaluate([function], places(8), NumbersForm(2), workers=WORKERS)
    assert len({number for reply in replies for number in reply}) == 16


def test_texts_have_the_same_hash_in_every_worker() -> None:
    assert len(set(evaluate([lambda place: hash("text")], places(8), LabelForm(), workers=WORKERS))) == 1


def test_programs_without_forks_answer_and_are_replaced_after_a_call_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(place: int) -> list[float]:
        calls = getattr(sys, "dpstats_calls", 0)
        sys.dpstats_calls = calls + 1
        if place == 1:
            raise ValueError
        if place == 3:
            os._exit(0)
        if place == 5:
            time.sleep(600)
        return [float(place), float(calls)]

    monkeypatch.setattr(evaluation, "FORKS", False)
    replies = evaluate([function], places(8), NumbersForm(2), seconds=LIMIT, workers=1)
    assert replies == [(0.0, 0.0), None, (2.0, 0.0), None, (4.0, 0.0), None, (6.0, 0.0), (7.0, 1.0)]


def test_a_program_without_forks_that_cannot_load_a_function_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "FORKS", False)
    ghost = types.ModuleType("dpstats_ghost")
    exec("def function(x):\n    return x", ghost.__dict__)
    monkeypatch.setitem(sys.modules, "dpstats_ghost", ghost)
    with pytest.raises(InvalidParameterError, match="could not be loaded in a worker process"):
        evaluate([ghost.function], places(3), NumbersForm(1), workers=WORKERS)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_replies_are_the_same_for_any_number_of_workers(workers: int) -> None:
    raw_rows = np.random.default_rng(7).normal(size=(200, 2))
    pieces = [(rows, rows[:, 0]) for rows in np.array_split(raw_rows, 9)]
    shift = 0.1
    replies = evaluate([lambda X, y: (X.mean() + shift, np.std(y))], pieces, NumbersForm(2), workers=workers)  # noqa: N803
    assert replies == [(float(X.mean() + shift), float(np.std(y))) for X, y in pieces]


@pytest.mark.parametrize("workers", [0, 2])
def test_several_functions_take_turns(workers: int) -> None:
    functions = [lambda x: x, lambda x: -x, lambda x: 100 * x]
    assert evaluate(functions, places(5), LabelForm(), workers=workers) == [0, -1, 200, 3, -4]


def test_no_pieces_have_no_replies() -> None:
    assert evaluate([lambda x: x], [], LabelForm()) == []


@pytest.mark.parametrize(
    "container",
    [np.arange(3.0), [0.0, 1.0, 2.0], pd.Series([0.0, 1.0, 2.0]), pl.Series([0.0, 1.0, 2.0]), pa.array([0.0, 1.0, 2.0])],
    ids=lambda container: type(container).__module__,
)
def test_containers_arrive_as_they_are(container: Any) -> None:
    def function(rows: Any) -> list[float]:
        return [float(isinstance(rows, kind)), float(rows[2] if kind is not pa.Array else rows[2].as_py())]

    kind = pa.Array if isinstance(container, pa.Array) else type(container)
    assert evaluate([function], [(container,)], NumbersForm(2), workers=1) == [(1.0, 2.0)]


def test_functions_and_rows_of_a_script_travel() -> None:
    script = """
from dataclasses import dataclass
from dpstats.statistics.aggregation.evaluation import evaluate
from dpstats.statistics.aggregation.replies import NumbersForm

@dataclass
class Row:
    size: float

def helper(row):
    assert isinstance(row, Row)
    return row.size

def function(rows):
    return sum(helper(row) for row in rows)

print(evaluate([function], [([Row(1), Row(2)],), ([],)], NumbersForm(1), workers=1))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[(3.0,), (0.0,)]\n", "")


def test_rows_are_taken_and_pickled_once_for_every_block() -> None:
    taken, pickled = [], []

    class Block:
        __module__ = "builtins"  # so that workers need not import this file

        def __reduce__(self) -> tuple[type[int], tuple[int]]:
            pickled.append(self)
            return int, (1,)

    def make(place: int) -> tuple[Block]:
        taken.append(place)
        return (Block(),)

    evaluate([lambda block: block], MadePieces(7, make), NumbersForm(1), workers=WORKERS)
    assert sorted(taken) == list(range(7))
    assert len(pickled) == 7


def test_what_a_function_imports_is_loaded_before_it_is_called() -> None:
    def function(place: int) -> bool:
        was_loaded = "wave" in sys.modules
        import wave

        return was_loaded and bool(wave)

    assert evaluate([function], places(2), LabelForm(), workers=1) == [1, 1]


def test_parts_of_modules_that_load_when_they_are_named_are_loaded_before_the_call() -> None:
    def function(place: int) -> list[bool]:
        was_loaded = "numpy.random" in sys.modules
        return [was_loaded, (lambda: 0 <= np.random.default_rng(place).random() < 1)()]

    assert evaluate([function], places(2), NumbersForm(2), workers=1) == [(1.0, 1.0), (1.0, 1.0)]
    assert evaluate([lambda place: "numpy.random" in sys.modules], places(1), NumbersForm(1), workers=1) == [(0.0,)]


def test_functions_show_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def function(place: int) -> float:
        sys.stdout.write("seen")
        sys.stderr.write("seen")
        sys.stdout.flush()
        os.system("echo seen; echo seen >&2")
        os.write(1, b"seen")
        warnings.warn("seen", stacklevel=1)
        if place:
            raise ValueError("seen")
        return 1.0

    assert evaluate([function], places(2), NumbersForm(1), workers=WORKERS) == [(1.0,), None]
    assert capfd.readouterr() == ("", "")


def test_warnings_do_not_show_in_this_process_either(capfd: pytest.CaptureFixture[str]) -> None:
    def function(place: int) -> float:
        warnings.warn("seen", stacklevel=1)
        return sys.exit(1) if place else 1.0

    assert evaluate([function], places(2), NumbersForm(1), workers=0) == [(1.0,), None]
    assert capfd.readouterr() == ("", "")


class CountedProgress(Progress):
    """Counts the steps, and does something at the first one."""

    def __init__(self, at_first: Callable[[], object] = int) -> None:
        super().__init__(None)
        self.steps = 0
        self._at_first = at_first

    def step(self) -> None:
        self.steps += 1
        if self.steps == 1:
            self._at_first()


@pytest.mark.parametrize("workers", [0, 2])
def test_every_block_is_a_step(workers: int) -> None:
    progress = CountedProgress()
    evaluate([lambda place: place if place else None], places(5), NumbersForm(1), workers=workers, progress=progress)
    assert progress.steps == 5


def test_an_interrupt_ends_workers_and_what_they_run(tmp_path: Path) -> None:
    note = tmp_path / "processes"

    def function(place: int) -> float:
        if place == 0:
            note.with_suffix(".new").write_text(f"{parent(os.getppid())} {os.getppid()} {os.getpid()}")
            note.with_suffix(".new").rename(note)
            time.sleep(600)
        while not note.exists():
            time.sleep(0.01)
        return 1.0

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate([function], places(2), NumbersForm(1), seconds=float("inf"), workers=2, progress=CountedProgress(interrupt))
    assert all(ends(int(process)) for process in note.read_text().split())


def test_a_process_left_behind_ends_with_its_block(tmp_path: Path) -> None:
    note = tmp_path / "process"

    def function(place: int) -> float:
        child = os.fork()
        if not child:
            time.sleep(600)
        note.write_text(str(child))
        return 1.0

    assert evaluate([function], places(1), NumbersForm(1), workers=1) == [(1.0,)]
    assert ends(int(note.read_text()))


def test_a_function_that_cannot_travel_is_refused_without_showing_what_it_holds() -> None:
    secret = [812, threading.Lock()]
    with pytest.raises(InvalidParameterError, match="could not be sent to worker processes") as refusal:
        ship([lambda x: secret])
    assert "812" not in str(refusal.value)
    assert refusal.value.__suppress_context__


def test_a_function_that_cannot_be_loaded_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ghost = types.ModuleType("dpstats_ghost")
    exec("def function(x):\n    return x", ghost.__dict__)
    monkeypatch.setitem(sys.modules, "dpstats_ghost", ghost)
    with pytest.raises(InvalidParameterError, match="could not be loaded in a worker process"):
        evaluate([ghost.function], places(3), NumbersForm(1), workers=WORKERS)


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        (2, (2.0,)),
        (True, (1.0,)),
        (np.float32(0.5), (0.5,)),
        (np.bool_(True), (1.0,)),
        (np.longdouble(0.5), (0.5,)),
        (np.array(3), (3.0,)),
        (np.array([3]), (3.0,)),
        (Fraction(1, 4), (0.25,)),
        (Decimal("0.25"), (0.25,)),
        ((1.5,), (1.5,)),
        (pd.Series([1.5]), (1.5,)),
        (pl.Series([1.5]), (1.5,)),
        (pa.scalar(1.5), (1.5,)),
        (0.1 + 0.2, (0.1 + 0.2,)),
        (10**400, None),
        ([[1.0]], None),
        ({1.0}, None),
        ("1", None),
        (None, None),
        ([None], None),
        (-np.inf, None),
        (np.ma.masked, None),
    ],
)
def test_one_number_is_read_from_what_holds_one(value: Any, reply: tuple[float, ...] | None) -> None:
    assert read_spoken(to_json(value), NumbersForm(1)) == reply


@pytest.mark.parametrize("value", [1, 1.0, True, np.int64(1), np.float32(1), np.bool_(True), Fraction(1), np.array(1)])
def test_equal_numbers_are_one_label(value: Any) -> None:
    label = read_spoken(to_json(value), LabelForm())
    assert (label, type(label)) == (1, int)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("age", "age"),
        (np.str_("age"), "age"),
        (0.5, 0.5),
        (-0.0, 0),
        (float("inf"), float("inf")),
        (10**30, 10**30),
        ((), ()),
        (("b", "a"), ("b", "a")),
        (["b", "a"], ("b", "a")),
        ({"b", "a"}, ("a", "b")),
        (frozenset({2.0, True, "a", -1}), (-1, 1, 2, "a")),
        (np.array([2, 0]), (2, 0)),
        (("a",), ("a",)),
        (None, None),
        (float("nan"), None),
        (("a", float("nan")), None),
        ((("a",),), None),
        ({("a",)}, None),
        ("\ud800", None),
    ],
)
def test_a_label_has_one_form(value: Any, label: Any) -> None:
    read = read_spoken(to_json(value), LabelForm())
    assert (read, type(read)) == (label, type(label))


@pytest.mark.parametrize("garbage", [None, b"", b"\xff", b"[1", b"[" * 100_000, b"1" * 5000, b'{"set": 3}', b'{"a": [1]}', b"{}"])
def test_garbage_is_no_answer(garbage: bytes | None) -> None:
    assert read_spoken(garbage, LabelForm()) is None
    assert read_spoken(garbage, NumbersForm(1)) is None
