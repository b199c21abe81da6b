"""Tested methods: how they register, answer and refuse.

A refusal of any tested method reads the same whatever the data; what it advises comes from public things alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal, Statistic, method
from dpstats.foundations.summaries import MISSING_POLICY, Column
from dpstats.mechanisms.propose_test_release import REASON, Refused
from dpstats.statistics.propose_test_release.setting import Setting

Run = Callable[[Column, Question, RandomSource], Answer | Refusal]


def tested_method(name: str, what: str, *statistics: Statistic) -> Callable[[Run], Run]:
    """Decorator: the function below computes each of the statistics by a tested method of that name, which is `what`."""

    def attach(run: Run) -> Run:
        for statistic in statistics:
            method(statistic, name, claim=f"(epsilon, delta)-DP, may refuse: {what}", needs_delta=True)(run)
        return run

    return attach


def tested_answer(outcome: Any, question: Question, setting: Setting, *notes: tuple[str, str]) -> Answer | Refusal:
    """A value with its card, or the refusal."""
    if isinstance(outcome, Refused):
        return refusal(question)
    return Answer(outcome, notes=(*notes, *setting.notes, *TESTED_NOTES))


def refusal(question: Question) -> Refusal:
    """The words of every refusal of a method."""
    preferred = next(iter(question.statistic.methods))
    delta = "" if question.statistic.methods[preferred].needs_delta else ", without delta"
    instead = f" Or ask with method='{preferred}'{delta}." if preferred != question.method.name else ""
    helps = _HELPS.get(question.method.name, "More rows, or a larger epsilon or delta, make a reply likelier")
    return Refusal(
        REASON,
        f"{helps}; dpstats.plan('{question.statistic.name}', method='{question.method.name}', ...) predicts how likely, without "
        f"data.{instead}",
    )


_HELPS = {
    "dwork-lei": "More rows make a reply likelier (its printed threshold grows with them, but more slowly)",
    "stable": "Only data with many ties get a reply; more rows of the same value, or a larger epsilon or delta, make it likelier",
}


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
