"""Prices for the questions of one call, out of one total, before any data is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from dpstats.cli.questions import ParsedQuestion, split_columns
from dpstats.curator.documents.document import REGRESSION
from dpstats.foundations.arguments import check_columns
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.privacy import PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.registry import (
    OTHER_NAMES,
    Question,
    Statistic,
    ask,
    find_statistic,
    may_spend_delta,
    must_spend_delta,
    refuse_surplus,
    statistic_names,
)
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.words import likely_name

Asked = TypeVar("Asked", covariant=True)

_SAID_ELSEWHERE = {
    "neighbors": "give it once for all questions: --neighbors",
    "unit": "give it once for all questions: --unit",
    "rng": "use --seed",
    "rough": "give it once for all questions: --rough",
    "column": "the column comes first: median(income)",
    "name": "the column comes first: median(income)",
}


@dataclass(frozen=True)
class Offer(Generic[Asked]):
    """A question that is checked but for its price."""

    parsed: ParsedQuestion
    may_spend_delta: bool
    """Whether it spends delta where there is some, as far as its parameters tell."""
    must_spend_delta: bool
    usual_delta: Fraction | None
    """What it spends where no delta is given."""
    at: Callable[[Fraction, Fraction], Asked]
    """The question at an epsilon and a delta."""


def price_questions(
    parsed: Sequence[ParsedQuestion], *, epsilon: object, delta: object, neighbors: object, unit: str, rough: bool = False
) -> list[Question]:
    """Checked and priced questions about statistics."""
    return priced([offer_of(question, neighbors, unit, rough) for question in parsed], epsilon=epsilon, delta=delta)


def priced(offers: Sequence[Offer[Asked]], *, epsilon: object, delta: object) -> list[Asked]:
    """The questions at their prices.

    A question that names its own epsilon takes it; the others share what is left of the total in equal, exact parts. The same
    holds for delta among the questions whose method needs it, or may need it when the type of the column is known. Where no
    delta is given, a question that has a usual one takes that, and one that can do without takes none.
    """
    parsed = [offer.parsed for offer in offers]
    epsilons = _shares(parsed, "epsilon", [True] * len(parsed), None if epsilon is None else spendable_epsilon(epsilon))
    wants_delta = [
        offer.may_spend_delta if delta is not None else offer.must_spend_delta and offer.usual_delta is None for offer in offers
    ]
    deltas = _shares(parsed, "delta", wants_delta, None if delta is None else spendable_delta(delta))
    if delta is None:
        deltas = [
            offer.usual_delta if share is None and offer.may_spend_delta else share
            for offer, share in zip(offers, deltas, strict=True)
        ]
    elif not any(offer.may_spend_delta for offer in offers):
        raise InvalidParameterError("none of these questions spends delta: leave --delta out.")
    return [
        offer.at(share or Fraction(0), delta_share or Fraction(0))
        for offer, share, delta_share in zip(offers, epsilons, deltas, strict=True)
    ]


def offer_of(question: ParsedQuestion, neighbors: object, unit: str, rough: bool = False) -> Offer[Question]:
    """A question about a statistic."""
    refuse_words_of_the_call(question)
    statistic = asked_statistic(question)
    columns, positional = split_columns(question, statistic)
    if statistic.takes_features:
        check_columns(statistic, columns)
    refuse_surplus(statistic, positional, "the column" if len(columns) == 1 else "the columns")

    def at(epsilon: Fraction, delta: Fraction) -> Question:
        keywords: dict[str, Any] = {**question.keywords, "epsilon": epsilon, "delta": delta}
        return ask(statistic.name, *positional, **keywords, rough=rough, neighbors=neighbors, unit=unit, column=columns)

    return Offer(
        question,
        may_spend_delta(statistic.name, positional, question.keywords),
        must_spend_delta(statistic.name, positional, question.keywords),
        statistic.usual_delta,
        at,
    )


def asked_statistic(question: ParsedQuestion) -> Statistic:
    """The statistic that a question names; an error with the nearest name where there is none."""
    name = question.statistic
    if name not in statistic_names() and likely_name(name, [*statistic_names(), REGRESSION], OTHER_NAMES) == REGRESSION:
        raise UnknownNameError(f"there is no statistic {name!r}; did you mean {REGRESSION}('income ~ age + C(region)')?")
    return find_statistic(name)


def refuse_words_of_the_call(question: ParsedQuestion) -> None:
    """Raise about words that belong to all questions of a call."""
    for keyword in question.keywords.keys() & _SAID_ELSEWHERE.keys():
        raise UnknownNameError(f"a question has no {keyword}: {_SAID_ELSEWHERE[keyword]}.")


def total_cost(questions: Sequence[Question | Release | NoReply]) -> PrivacyCost:
    """What all of the questions cost together, or their answers."""
    first, *others = (question.cost for question in questions)
    return sum(others, first)


def _shares(parsed: Sequence[ParsedQuestion], name: str, wanted: Sequence[bool], total: Fraction | None) -> list[Fraction | None]:
    """The amount of `name` for each question: its own, a share of what is left, or None where it is not wanted."""
    check = spendable_epsilon if name == "epsilon" else spendable_delta
    own = {index: check(question.keywords[name]) for index, question in enumerate(parsed) if name in question.keywords}
    sharing = [index for index, wants in enumerate(wanted) if wants and index not in own]
    named = sum(own.values(), Fraction(0))
    if total is None:
        if sharing:
            example = "--epsilon 1" if name == "epsilon" else "--delta 1e-6"
            raise MissingParameterError(f"{parsed[sharing[0]].text} needs {name}: add for example {example}.")
        rest = Fraction(0)
    else:
        rest = total - named
        if rest < 0:
            raise InvalidParameterError(
                f"the questions name {name} = {decimal_text(named)} in all, more than the total of {decimal_text(total)}."
            )
        if sharing and not total:
            raise MissingParameterError(f"{parsed[sharing[0]].text} needs a {name} above 0.")
        if sharing and not rest:
            raise InvalidParameterError(
                f"nothing is left for {parsed[sharing[0]].text}: the other questions name the whole {name} of "
                f"{decimal_text(total)}. Raise --{name} or lower theirs."
            )
    return [own.get(index, rest / len(sharing) if index in sharing else None) for index in range(len(parsed))]
