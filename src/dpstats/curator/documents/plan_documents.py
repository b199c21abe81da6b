"""Documents of plans: a question with the words of a plan beside it.

    {"version": 1, "statistic": "median", "columns": ["income"], "plan": {"n": 5000, "half_width": "5%"}}

`plan` has the words of `Session.plan`: n, epsilon, half_width, shape, repeats. The epsilon of the question itself may be left
out; it is what is planned where `plan` names neither an epsilon nor a half-width.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpstats.curator.documents.document import QuestionDocument
from dpstats.curator.documents.reading import read_document
from dpstats.curator.documents.values import named, plain_copy, read_json, refuse_unknown
from dpstats.curator.planning.plan import PLANNED_ROWS, checked_sizes, checked_wish
from dpstats.curator.planning.widths import WantedWidth
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import spendable_epsilon

PLAN_WORDS = ("n", "epsilon", "half_width", "shape", "repeats")
_STAND_IN = "1"
"""The price of a question whose epsilon is yet to be found."""


@dataclass(frozen=True)
class PlanDocument:
    """What is to be planned, as a document says it; checked as far as that can be done without the table."""

    question: QuestionDocument
    """At its own epsilon, or at one that stands in for it."""
    names_epsilon: bool
    """Whether the question had one."""
    epsilons: tuple[Fraction, ...] = ()
    """Those that `plan` names."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """All that `plan` says, as plain JSON; decimals that no float is are texts."""

    @property
    def sizes(self) -> list[int]:
        """For how many rows it is planned."""
        return checked_sizes(self.words.get("n", PLANNED_ROWS))

    @property
    def names_sizes(self) -> bool:
        """Whether the asker said for how many rows."""
        return "n" in self.words

    @property
    def wanted(self) -> WantedWidth | None:
        """The half-width that is wanted; None where an epsilon is planned."""
        epsilon = self.epsilons or (self.question.epsilon if self.names_epsilon else None)
        width = self.words.get("half_width")
        return checked_wish(None if width is not None and not self.epsilons else epsilon, width)

    def to_dict(self) -> dict[str, Any]:
        """A document that says the same."""
        question = self.question.to_dict()
        if not self.names_epsilon:
            del question["epsilon"]
        return {**question, "plan": dict(self.words)}


def read_plan(given: object) -> PlanDocument:
    """The plan that a document asks for: a dict of plain JSON values, or JSON text."""
    plain = plain_copy(read_json(given) if isinstance(given, (str, bytes)) else given)
    if not isinstance(plain, dict):
        raise InvalidParameterError('the document must be an object such as {"version": 1, "statistic": "median", "plan": ...}.')
    words = plain.pop("plan", {})
    if not isinstance(words, dict):
        raise InvalidParameterError('plan must be an object such as {"n": 5000, "half_width": "5%"}.')
    for name in words:
        if name not in PLAN_WORDS:
            refuse_unknown("plan", name, PLAN_WORDS)
    named_epsilon = words.get("epsilon")
    listed = named_epsilon if isinstance(named_epsilon, list) else [] if named_epsilon is None else [named_epsilon]
    with named("plan"):
        if isinstance(named_epsilon, list) and not listed:
            raise InvalidParameterError("epsilon must list one number at least.")
        epsilons = tuple(map(spendable_epsilon, listed))
    question = read_document({"epsilon": _STAND_IN, **plain})
    words = json.loads(json.dumps(words, default=str))
    found = PlanDocument(question, "epsilon" in plain, epsilons, {name: each for name, each in words.items() if each is not None})
    with named("plan"):
        checked_sizes(found.sizes)
    return found
