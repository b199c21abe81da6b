"""What the questions and the cards of many statistics share."""

from __future__ import annotations

from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Parameter, Question, Statistic, register
from dpstats.foundations.results import Interval


def switch_parameter(name: str, help: str, default: bool) -> Parameter:
    """A parameter that is True or False."""

    def check(value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidParameterError(f"{name} must be True or False, got {value!r}.")
        return value

    return Parameter(name, help, check, default, takes=bool)


def register_number(name: str, summary: str, *parameters: Parameter, **known: Any) -> Statistic:
    """Register a statistic whose value is a float."""
    return register(Statistic(name, summary, parameters, returns="a float", value=float, **known))


def interval_for(question: Question, low: float, high: float, covers: str) -> Interval | None:
    """The interval between two ends; None where the question wants none."""
    return None if question.interval is None else Interval(low, high, float(question.interval), covers)


def public_line(question: Question) -> tuple[str, str]:
    """What a release takes as public, where that is nothing but the question itself."""
    private_number = ", not even how many there are" if question.neighbors is Neighbors.ADD_REMOVE else ""
    return "public", f"the parameters; nothing about the rows{private_number}"
