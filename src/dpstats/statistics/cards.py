"""Lines that the cards of many statistics share."""

from __future__ import annotations

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Question


def public_line(question: Question) -> tuple[str, str]:
    """What a release takes as public, where that is nothing but the question itself."""
    private_number = ", not even how many there are" if question.neighbors is Neighbors.ADD_REMOVE else ""
    return "public", f"the parameters; nothing about the rows{private_number}"
