"""The search for the smallest epsilon that reaches a wanted half-width, on simulated tables.

Candidates are the numbers of two digits from 1e-6 to 10. An interval gets no narrower with less epsilon but for chance, so the
search goes down in steps of half a power of ten and then halves what is left; from above, because small epsilons take longest. A
candidate is judged by a few tables, and by more until it is two standard errors from undecided. All candidates use the same
random streams, so that they differ by epsilon and little else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpstats.curator.planning.plan_rows import LEVEL, Found, wilson_bounds
from dpstats.curator.planning.simulations import SimulatedLine, Trial, typical_width
from dpstats.curator.planning.work import WorkLeft
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.progress import Progress
from dpstats.foundations.registry import Question
from dpstats.foundations.rounding import decimal_text

CANDIDATES = (
    *(Fraction(10 + digit, 10) * Fraction(10) ** power for power in range(-6, 1) for digit in range(90)),
    Fraction(10),
)
"""Ascending."""
LAST = len(CANDIDATES) - 1
FIRST_TABLES = 10
"""Tables after which a candidate is first judged; it takes as many to decide anything."""
STRIDE = 45
"""Candidates between the first tries: half a power of ten."""
_SURE = 2.0
"""Standard errors that make a judgment sure."""

AsRow = Callable[[Question], Question]


def repriced(question: Question, epsilon: Fraction) -> Question:
    """The same question at another epsilon."""
    return replace(question, cost=replace(question.cost, epsilon=epsilon))


@dataclass
class EpsilonSearch:
    """The search on one line; `as_row` makes of a question what is asked of the rows."""

    line: SimulatedLine
    question: Question
    wanted: float
    repeats: int
    as_row: AsRow
    progress: Progress
    work: WorkLeft
    start: int = LAST
    """The candidate to begin with, which is known to reach it if it is not the last."""
    _trials: dict[int, list[Trial]] = field(default_factory=dict)
    _unasked: set[int] = field(default_factory=set)

    def run(self) -> tuple[Fraction, Found]:
        """The smallest epsilon that reaches the wanted half-width, or the largest candidate where none does; and which it is."""
        reached, missed = self.start, -1
        if reached == LAST and not self._last_reaches():
            return CANDIDATES[LAST], Found.NONE
        while reached - missed > 1 and reached:
            tried = max(0, reached - STRIDE) if missed < 0 else (missed + reached) // 2
            if self._reaches(tried):
                reached = tried
            else:
                missed = tried
        return CANDIDATES[reached], Found.OR_LESS if not reached or missed in self._unasked else Found.SMALLEST

    def _last_reaches(self) -> bool:
        reaches = self._reaches(LAST)
        trials = self._trials[LAST]
        if any(trial.replied for trial in trials) and typical_width(trials)[0] is None:
            raise InvalidParameterError(
                f"{self.question.statistic.name} releases neither an interval nor numbers here, so it has no half-width: "
                "plan it with epsilon."
            )
        return reaches

    def trials(self, epsilon: Fraction) -> list[Trial]:
        """The trials of a candidate on all tables."""
        return self._up_to(CANDIDATES.index(epsilon), self.repeats)

    def _reaches(self, place: int) -> bool:
        """Whether half of the tables reply at least, with a half-width that is small enough."""
        tables = min(FIRST_TABLES, self.repeats)
        while True:
            try:
                trials = self._up_to(place, tables)
            except InvalidParameterError:
                if place == LAST:
                    raise
                self._unasked.add(place)  # so little epsilon has more rows read than are drawn, of one table or of all
                return False
            verdict = judged(trials, self.wanted, sure=tables < self.repeats)
            if verdict is not None:
                return verdict
            tables = min(2 * tables, self.repeats)

    def _up_to(self, place: int, tables: int) -> list[Trial]:
        """The trials of the first tables; what was tried before is not tried again."""
        trials = self._trials.setdefault(place, [])
        line, epsilon = self.line, CANDIDATES[place]
        self.progress.begin(f"{line.shape.name}, {line.rows:,} rows, trying epsilon {decimal_text(epsilon)}")
        numbers = range(len(trials), tables)
        trials += line.replies(self.as_row(repriced(self.question, epsilon)), numbers, self.progress.step, self.work.spend)
        return trials


def judged(trials: Sequence[Trial], wanted: float, *, sure: bool) -> bool | None:
    """Whether half of the tables reply and their half-width is at most as wanted; None while that is not sure."""
    replies = [trial for trial in trials if trial.replied]
    by_interval = any(trial.width is not None for trial in replies)
    widths = [trial.width if by_interval else trial.error for trial in replies]
    small = sum(width is not None and width <= wanted for width in widths)
    share = 0.5 if by_interval else LEVEL
    pairs = [(len(replies), len(trials), 0.5), *([(small, len(replies), share)] if replies else [])]
    if not sure:
        return bool(replies) and all(some >= part * many for some, many, part in pairs)
    bounds = [(*wilson_bounds(some, many, _SURE), part) for some, many, part in pairs]
    if any(high < part for _, high, part in bounds):
        return False
    return True if replies and all(low >= part for low, _, part in bounds) else None
