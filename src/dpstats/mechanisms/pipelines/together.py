"""Pipelines put together on the same rows: cascades, levels, parallels (Dwork & Lei 2009, Definitions 14 to 19).

Claim      As in pipeline.py; the prices are those of accounting/cascades.py
Neighbors  The relation under which the parts' promises hold
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from dpstats.accounting.cascades import Prices, beside, first_reply, in_turn
from dpstats.foundations.errors import InvalidParameterError
from dpstats.mechanisms.pipelines.pipeline import Parts, Pipeline, Run, Step
from dpstats.mechanisms.propose_test_release import REFUSED, Refused


class Cascade(Pipeline):
    """Steps in order until one replies (Definition 14), such as one statistic under several discretisations.

    Steps that share `value`, `propose` and `finish`, the very same functions, release the same law, which the sharper rule prices
    lower; so these must depend on their arguments alone.
    """

    def __init__(self, *steps: Step) -> None:
        self._steps = checked_parts(steps, Step)
        laws = {(id(step.value), id(step.propose), id(step.finish), step.release_weight) for step in steps}
        self._same_release = len(laws) == 1

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """Every test, and one release."""
        return first_reply([step.budget(unit_epsilon, unit_delta) for step in self._steps], self._same_release)

    def steps(self) -> Iterator[Step]:
        """Every step, in order."""
        yield from self._steps

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The first reply."""
        outcomes = (step.reply(rows, proposal, run) for step in self._steps)
        return next((outcome for outcome in outcomes if not isinstance(outcome, Refused)), REFUSED)

    def __str__(self) -> str:
        return f"cascade({', '.join(map(str, self._steps))})"


class Several(Pipeline):
    """Pipelines put together."""

    word: ClassVar[str]

    def __init__(self, *parts: Pipeline) -> None:
        self._parts = checked_parts(parts, Pipeline)

    def _part_prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> list[Prices]:
        return [part.prices(unit_epsilon, unit_delta) for part in self._parts]

    def steps(self) -> Iterator[Step]:
        """Every step of every part."""
        for part in self._parts:
            yield from part.steps()

    def __str__(self) -> str:
        return f"{self.word}({', '.join(map(str, self._parts))})"


class Levels(Several):
    """Pipelines in turn (Definitions 15 and 18, Theorem 22): each proposes from what the one before released."""

    word = "levels"

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """The levels' costs add up along the path that a run takes."""
        return in_turn(self._part_prices(unit_epsilon, unit_delta))

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The last level's reply; a refusal anywhere, also of one part of a level, ends the run."""
        for part in self._parts:
            if isinstance(proposal, Refused) or _lacks_a_part(proposal):
                return REFUSED
            proposal = part.reply(rows, proposal, run)
        return proposal


class Parallel(Several):
    """Pipelines beside each other on the same rows (Definition 19); the reply is a tuple, None where a part refused."""

    word = "parallel"

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """The costs add up."""
        return beside(self._part_prices(unit_epsilon, unit_delta))

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """Every part's reply."""
        return Parts(or_none(part.reply(rows, proposal, run)) for part in self._parts)


def checked_parts(parts: tuple[Any, ...], kind: type) -> tuple[Any, ...]:
    """The parts of a pipeline, of which there must be one at least and all of that kind."""
    if not parts or not all(isinstance(part, kind) for part in parts):
        wanted = "steps" if kind is Step else "steps, or what cascade, levels, parallel and the others make of them"
        raise InvalidParameterError(f"give one or more {wanted}.")
    return parts


def or_none(outcome: Any) -> Any:
    """What a part of a tuple shows: its reply, or None where it refused."""
    return None if isinstance(outcome, Refused) else outcome


def _lacks_a_part(proposal: object) -> bool:
    return isinstance(proposal, Parts) and any(part is None for part in proposal)
