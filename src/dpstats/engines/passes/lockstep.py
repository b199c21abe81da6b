"""Lockstep: many questions, each in a thread of its own, that make their passes over the rows together.

A question that needs a pass posts its collector and waits. When all questions that are not yet answered wait, one pass carries
all posted collectors, and all go on. So there are as many passes as the question with the most of them needs.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from dpstats.engines.passes.collectors import Collector
from dpstats.engines.passes.scans import C, RowPass

T = TypeVar("T")

Pass = Callable[[Mapping[int, Collector]], Mapping[int, Collector]]
"""One pass over the rows that fills the collectors of several questions, which are known by their numbers."""
Question = Callable[[RowPass], T]
"""A question that makes its passes by the run that it is given, and does not wait for other questions."""

AT_WORK = 4
"""Questions that compute at the same time; the others wait for their turn."""


class _Failure:
    """An error in the place of an answer."""

    def __init__(self, error: BaseException, *, final: bool = False) -> None:
        """After a `final` one there will be no more passes."""
        self.error = error
        self.final = final


@dataclass
class _Post:
    """What a thread tells: a collector to be filled, or the outcome, with which it ends."""

    number: int
    collector: Collector | None = None
    outcome: Any = None


@dataclass
class _Runner(Generic[T]):
    """One question in its thread."""

    number: int
    question: Question[T]
    posts: SimpleQueue[_Post]
    turn: threading.Semaphore
    replies: SimpleQueue[Any] = field(default_factory=SimpleQueue)

    def __call__(self) -> None:
        """Answer the question; an error of it is its outcome."""
        outcome: Any
        try:
            with self.turn:
                outcome = self.question(self.run)
        except BaseException as error:  # it comes out of `answer_in_lockstep`
            outcome = _Failure(error)
        self.posts.put(_Post(self.number, outcome=outcome))

    def run(self, collector: C, /) -> C:
        """Have a collector filled by the next pass; an error of the pass is raised here, in the question."""
        self.turn.release()
        try:
            self.posts.put(_Post(self.number, collector))
            reply = self.replies.get()
        finally:
            self.turn.acquire()
        if isinstance(reply, _Failure):
            if reply.final:
                self.replies.put(reply)
            raise reply.error
        filled: C = reply
        return filled


def answer_in_lockstep(questions: Sequence[Question[T]], make_pass: Pass) -> list[T]:
    """The answers to all questions, from passes that they make together.

    An error of a pass is raised in every question that waits for it, which may answer nevertheless. An error of a question does
    not disturb the others; the first one, in the order of the questions, is raised when all have ended.
    """
    outcomes: dict[int, Any] = {}
    while len(outcomes) < len(questions):  # once, unless the system has no more threads to give
        outcomes.update(_answer_some([pair for pair in enumerate(questions) if pair[0] not in outcomes], make_pass))
    return _without_failures([outcomes[number] for number in range(len(questions))])


def answer_one_by_one(questions: Iterable[tuple[Question[T], RowPass]]) -> list[T]:
    """The answers to questions that make their passes each by itself, with the same rule for errors."""
    outcomes: list[Any] = []
    for question, run in questions:
        try:
            outcomes.append(question(run))
        except Exception as error:
            outcomes.append(_Failure(error))
    return _without_failures(outcomes)


def _without_failures(outcomes: list[Any]) -> list[T]:
    for outcome in outcomes:
        if isinstance(outcome, _Failure):
            raise outcome.error
    return outcomes


def _answer_some(questions: Sequence[tuple[int, Question[T]]], make_pass: Pass) -> dict[int, Any]:
    """The outcomes of as many questions as there are threads for."""
    posts: SimpleQueue[_Post] = SimpleQueue()
    turn = threading.Semaphore(AT_WORK)
    runners: dict[int, _Runner[T]] = {}
    outcomes: dict[int, Any] = {}
    waiting: dict[int, Collector] = {}
    try:
        for number, question in questions:
            runner = _Runner(number, question, posts, turn)
            if not _start(runner, needed=not runners):
                break
            runners[number] = runner
        while len(outcomes) < len(runners):
            post = posts.get()
            if post.collector is None:
                outcomes[post.number] = post.outcome
            else:
                waiting[post.number] = post.collector
            if waiting and len(waiting) + len(outcomes) == len(runners):
                posted, waiting = waiting, {}
                for number, reply in _replies(posted, make_pass).items():
                    runners[number].replies.put(reply)
    except BaseException as error:  # an interrupt: no thread may wait for ever
        for runner in runners.values():
            runner.replies.put(_Failure(error, final=True))
        raise
    return outcomes


def _start(runner: _Runner[T], *, needed: bool) -> bool:
    """Start a thread, in the context of this one; False where the system has none left, an error if one is needed."""
    try:
        threading.Thread(target=contextvars.copy_context().run, args=(runner,), daemon=True).start()
    except RuntimeError:
        if needed:
            raise
        return False
    return True


def _replies(posted: Mapping[int, Collector], make_pass: Pass) -> Mapping[int, Any]:
    try:
        return make_pass(posted)
    except Exception as error:
        return dict.fromkeys(posted, _Failure(error))
