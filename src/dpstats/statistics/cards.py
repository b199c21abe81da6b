"""What the questions and the cards of many statistics share."""

from __future__ import annotations

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Parameter, Question


def switch_parameter(name: str, help: str, default: bool) -> Parameter:
    """A parameter that is True or False."""

    def check(value: object) -> bool:
        if not isinstance(value, bool):
            raise InvalidParameterError(f"{name} must be True or False, got {value!r}.")
        return value

    return Parameter(name, help, check, default, takes=bool)


def public_line(question: Question) -> tuple[str, str]:
    """What a release takes as public, where that is nothing but the question itself."""
    private_number = ", not even how many there are" if question.neighbors is Neighbors.ADD_REMOVE else ""
    return "public", f"the parameters; nothing about the rows{private_number}"
