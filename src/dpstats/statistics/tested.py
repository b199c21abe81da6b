"""Answers of tested methods: what their cards and refusals say.

A refusal of any tested method reads the same whatever the data; what it advises comes from public things alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpstats.foundations.registry import Answer, Question, Refusal
from dpstats.foundations.summaries import MISSING_POLICY
from dpstats.mechanisms.propose_test_release import REASON, Refused
from dpstats.statistics.robust.setting import Setting

TESTED_CLAIM = "(epsilon, delta)-DP: a private test first, which may refuse at the same cost"


def tested_answer(outcome: Any, question: Question, setting: Setting, *notes: tuple[str, str]) -> Answer | Refusal:
    """A value with its card, or the refusal."""
    if isinstance(outcome, Refused):
        return refusal(question)
    return Answer(outcome, notes=(*notes, *setting.notes, *TESTED_NOTES))


def refusal(question: Question) -> Refusal:
    """The words of every refusal of a method."""
    others = [name for name in question.statistic.methods if name != question.method.name]
    preferred = f", or method='{others[0]}'" if others else ""
    name = question.statistic.name
    return Refusal(
        REASON,
        f"More rows, a larger epsilon or delta{preferred} make a reply likelier; "
        f"dpstats.plan('{name}', method='{question.method.name}', ...) predicts how much likelier, without data.",
    )


TESTED_NOTES = (
    ("no reply", "would have cost the same"),
    ("missing values", MISSING_POLICY),
    ("public", "the parameters, and what is on this card"),
    ("numerics", "ranks, distances and tests in exact integer arithmetic; noise drawn exactly on a grid"),
)


def for_each(parts: tuple[Any, ...], run: Callable[[Any], Any]) -> Any:
    """The outcome of every part, or the first refusal."""
    outcomes = [run(part) for part in parts]
    return next((outcome for outcome in outcomes if isinstance(outcome, Refused)), tuple(outcomes))
