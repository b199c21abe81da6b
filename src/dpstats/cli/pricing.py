"""Prices for the questions of one call, out of one total, before any data is read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpstats.cli.questions import ParsedQuestion, split_columns
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.privacy import PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.registry import Question, ask, find_statistic, may_spend_delta, refuse_surplus
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text

_SAID_ELSEWHERE = {
    "neighbors": "give it once for all questions: --neighbors",
    "unit": "give it once for all questions: --unit",
    "rng": "use --seed",
    "column": "the column comes first: median(income)",
    "name": "the column comes first: median(income)",
}


def price_questions(
    parsed: Sequence[ParsedQuestion], *, epsilon: object, delta: object, neighbors: object, unit: str
) -> list[Question]:
    """Checked and priced questions.

    A question that names its own epsilon takes it; the others share what is left of the total in equal, exact parts. The same
    holds for delta among the questions whose method needs it, or may need it when the type of the column is known. Where no
    delta is given, a statistic that has a usual one takes that.
    """
    split = []
    for question in parsed:
        for keyword in question.keywords.keys() & _SAID_ELSEWHERE.keys():
            raise UnknownNameError(f"a question has no {keyword}: {_SAID_ELSEWHERE[keyword]}.")
        statistic = find_statistic(question.statistic)
        columns, positional = split_columns(question, len(statistic.reads))
        refuse_surplus(statistic, positional, "the column" if len(columns) == 1 else "the columns")
        split.append((columns, positional))
    spends_delta = [
        may_spend_delta(question.statistic, positional, question.keywords)
        for question, (_, positional) in zip(parsed, split, strict=True)
    ]
    epsilons = _shares(parsed, "epsilon", [True] * len(parsed), None if epsilon is None else spendable_epsilon(epsilon))
    usual = [find_statistic(question.statistic).usual_delta if delta is None else None for question in parsed]
    wants_delta = [spends and not own for spends, own in zip(spends_delta, usual, strict=True)]
    deltas = _shares(parsed, "delta", wants_delta, None if delta is None else spendable_delta(delta))
    deltas = [own if share is None and spends else share for share, own, spends in zip(deltas, usual, spends_delta, strict=True)]
    if delta is not None and not any(spends_delta):
        raise InvalidParameterError("none of these questions spends delta: leave --delta out.")
    return [
        ask(
            question.statistic,
            *positional,
            **{**question.keywords, "epsilon": share, "delta": delta_share or 0},
            neighbors=neighbors,
            unit=unit,
            column=columns,
        )
        for question, (columns, positional), share, delta_share in zip(parsed, split, epsilons, deltas, strict=True)
    ]


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
    shares: list[Fraction | None] = [None] * len(parsed)
    for index, amount in own.items():
        shares[index] = amount
    for index in sharing:
        shares[index] = rest / len(sharing)
    return shares
