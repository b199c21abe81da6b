"""The history of somebody's questions about a data set, with their answers; looking at it is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.client.connection import understood
from dpstats.client.frames import FrameRows
from dpstats.client.remote_tables import RemoteTable
from dpstats.curator.archive import Result, result_of
from dpstats.curator.publishing.batch import archived_answers
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.results import Release

HEADINGS = ("sequence", "time", "question", "epsilon", "delta", "value", "low", "high")
PAGE = 100


@dataclass(frozen=True)
class PastQuestion:
    """A question that was paid for."""

    sequence: int
    """The entry of the ledger that paid for it."""
    time: str
    question: str
    epsilon: Fraction
    delta: Fraction
    document: dict[str, Any] | None
    """To ask it again with `ask`, or to change it; of a basket {"documents": [...]}; None where the service no longer has it."""
    results: tuple[Result, ...]
    """The answer, or all those of a basket; none where none was kept."""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> PastQuestion:
        """The question that a line of the service's history is about."""
        cost = plain["cost"]
        return cls(
            plain["sequence"],
            plain["time"],
            plain["question"],
            Fraction(cost["epsilon"]),
            Fraction(cost["delta"]),
            plain["document"],
            _results(plain["answer"], plain["statistic"]),
        )

    @property
    def result(self) -> Result | None:
        """The answer, where there is one and no more."""
        return self.results[0] if len(self.results) == 1 else None

    def row(self) -> dict[str, Any]:
        """One row of a table."""
        interval = self.result.interval if isinstance(self.result, Release) else None
        return {
            **{name: getattr(self, name) for name in HEADINGS[:3]},
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "value": f"{len(self.results)} answers" if len(self.results) > 1 else _value(self.result),
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
        }


class History(FrameRows):
    """Questions that were paid for, the first one first: go through them, print them, or take them `to_frame()`."""

    def __init__(self, name: str, questions: Sequence[PastQuestion]) -> None:
        self._questions = tuple(questions)
        super().__init__(f"your questions about {name}", HEADINGS, [each.row() for each in questions])

    def __iter__(self) -> Iterator[PastQuestion]:
        return iter(self._questions)

    def __getitem__(self, place: int) -> PastQuestion:
        return self._questions[place]


def read_history(table: RemoteTable) -> History:
    """All of it, page by page."""
    lines: list[Any] = []
    after: int | None = None
    with understood():
        while True:
            page = table.connection.get("d", table.name, "history", after=after, limit=PAGE)
            lines += page["lines"]
            after = page["next"]
            if after is None:
                return History(table.name, sorted(map(PastQuestion.of, lines), key=lambda each: each.sequence))


def _results(answer: dict[str, Any] | None, statistic: str | None) -> tuple[Result, ...]:
    if answer is None:
        return ()
    return tuple(archived_answers(answer)) if statistic is None else (result_of(answer, find_statistic(statistic)),)


def _value(result: Result | None) -> Any:
    """What a cell can hold of a result: a number or a text as it is, and of anything else what it prints."""
    if isinstance(result, GroupedRelease):
        return f"{len(result):,} groups"
    if not isinstance(result, Release):
        return None
    return result.value if isinstance(result.value, (bool, int, float, str)) else result.shown_value()
