"""Evaluation: an analyst's function on every block of rows, in worker processes.

Claim      The reply of a block is a function of that block's rows and of coins of its own, for every function that looks at
           nothing but its arguments and random numbers: not at files, other processes, the clock or the load of the machine
Neighbors  One row is in one block (`row_blocks`), so neighbouring tables differ in one reply, in whatever way
Why        Every call runs in a process of its own, forked from one that has never seen a row or called a function (`worker`).
           Nothing that one call leaves behind is there for the next one: no global, cache, warning or state of a generator. Which
           worker takes a block depends on who is free; workers are alike, down to the order in which sets list their elements.
           A worker that is gone before it has called the function is replaced, whoever ended it, and costs no block its answer
No answer  A function that raises, hangs, ends or crashes its process, asks for too much memory, or returns something else than
           was agreed costs its block the answer, and shows nothing: neither what it prints nor its error
Limits     Seconds are those of the clock, so that a block near its limit may hang on how busy the machine is. A generator that a
           function brings along starts from the same state in every block. No sandbox: see `worker`
"""

from __future__ import annotations

import os
import secrets
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol, TypeVar

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation import worker_process
from dpstats.statistics.aggregation.forked_worker import Loader
from dpstats.statistics.aggregation.replies import ReplyForm, read_spoken
from dpstats.statistics.aggregation.worker import FORKS, to_json
from dpstats.statistics.aggregation.worker_process import (
    START_SECONDS,
    SeparatePrograms,
    Worker,
    WorkerGoneError,
    WorkerSource,
    WorkerTerms,
    memory_share,
    modules_of,
)

Function = Callable[..., Any]
Reply = TypeVar("Reply")
SECONDS = 60.0
"""What a block has where nobody says otherwise."""


class RawPieces(Protocol):
    """The arguments of each call, by its place; a list of tuples, or something that makes them when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class MadePieces:
    """Arguments that are made when they are asked for, once for each call, so that few of them are in memory at once."""

    count: int
    make: Callable[[int], tuple[Any, ...]]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int, /) -> tuple[Any, ...]:
        return self.make(place)


def evaluate(
    functions: Sequence[Function],
    raw_pieces: RawPieces,
    read: ReplyForm[Reply],
    *,
    seconds: float = SECONDS,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Reply | None]:
    """The reply to every piece in its place, None where there is no answer; piece i goes to function i modulo their number.

    `workers` is the number of processes; None for one on each core. With 0 the functions run in this process, where nothing keeps
    their calls apart or ends them, and what they print is seen: that is for finding faults in them, on data that is not private.
    """
    if workers == 0:
        return [_stepped(progress, _reply_here(functions, raw_pieces, place, read)) for place in range(len(raw_pieces))]
    count = len(raw_pieces)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    hands = min(cores if workers is None else workers, count)
    terms = WorkerTerms(ship(functions), seconds, memory_share(max(1, hands)), secrets.randbits(32))
    replies: list[Reply | None] = [None] * count
    crew = _Crew(Loader(terms) if FORKS else SeparatePrograms(terms), len(functions), raw_pieces)
    try:
        crew.start(hands)
        for _ in range(count):
            place, raw_said = crew.next()
            replies[place] = _stepped(progress, read_spoken(raw_said, read))
    finally:
        crew.close()
    return replies


def ship(functions: Sequence[Function]) -> bytes:
    """The functions in the form in which they travel to workers; an error where they cannot.

    It is called before anything is spent. Functions of notebooks and scripts, lambdas and closures travel with what they use.
    """
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(tuple(functions)))
    except Exception:  # its message may show what the function holds
        raise InvalidParameterError(
            "the function could not be sent to worker processes: it uses something that lives in this process only, such as an"
            " open file, a lock or a connection. Make such things inside the function, or pass workers=0 to run it here."
        ) from None


class _Crew:
    """Threads that hand pieces to a worker each, and replace it when it is gone."""

    def __init__(self, source: WorkerSource, functions: int, raw_pieces: RawPieces) -> None:
        self._source = source
        self._functions = functions
        self._raw_pieces = raw_pieces
        self._places = deque(range(len(raw_pieces)))
        self._done: SimpleQueue[tuple[int, bytes | None] | BaseException] = SimpleQueue()
        self._lock = Lock()
        self._is_closed = False
        self._hired: set[Worker] = set()
        self._threads: list[Thread] = []

    def start(self, hands: int) -> None:
        """Start `hands` workers."""
        for _ in range(hands):
            thread = Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()

    def next(self) -> tuple[int, bytes | None]:
        """The place of the next piece that is done, and what was said of it."""
        done = self._done.get()
        if isinstance(done, BaseException):
            raise done
        return done

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        with self._lock:
            self._is_closed = True
            hired = list(self._hired)
        self._places.clear()
        for process in hired:
            process.stop()
        self._source.close()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        process: Worker | None = None
        try:
            while (place := self._next_place()) is not None:
                raw_arguments, raw_pickled = self._pickled(place)
                raw_said = None
                for patience in (worker_process.GRACE, START_SECONDS, START_SECONDS):
                    if raw_pickled is None:
                        break
                    process = process or self._hire(modules_of(raw_arguments))
                    try:
                        raw_said = process.ask(place % self._functions, raw_pickled, patience)
                        break
                    except WorkerGoneError:  # whoever ended it, the function was not called: that costs this piece nothing
                        self._dismiss(process)
                        process = None
                self._done.put((place, raw_said))
        except BaseException as error:
            self._done.put(error)
        finally:
            if process is not None:
                self._dismiss(process)

    def _next_place(self) -> int | None:
        try:
            return self._places.popleft()
        except IndexError:
            return None

    def _pickled(self, place: int) -> tuple[tuple[Any, ...], bytes | None]:
        """The arguments for a place, as they are and as they travel; None where some row cannot travel."""
        import cloudpickle

        try:
            raw_arguments = self._raw_pieces[place]
            return raw_arguments, cloudpickle.dumps(raw_arguments)
        except Exception:
            return (), None

    def _hire(self, modules: Sequence[str]) -> Worker:
        process = self._source.hire(modules)
        with self._lock:
            self._hired.add(process)
            if not self._is_closed:
                return process
        self._dismiss(process)
        raise WorkerGoneError

    def _dismiss(self, process: Worker) -> None:
        with self._lock:
            self._hired.discard(process)
        process.close()


def _reply_here(functions: Sequence[Function], raw_pieces: RawPieces, place: int, read: ReplyForm[Reply]) -> Reply | None:
    """The reply to a piece by a call in this process."""
    raw_said = None
    with suppress(Exception, SystemExit), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw_said = to_json(functions[place % len(functions)](*raw_pieces[place]))
    return read_spoken(raw_said, read)


def _stepped(progress: Progress | None, reply: Reply | None) -> Reply | None:
    if progress is not None:
        progress.step()
    return reply
