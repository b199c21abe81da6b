"""Questions in a list, checked and priced out of one budget: ["median", ("quantile", 0.9, {"epsilon": 0.3}), "count"].

A question that names its own epsilon takes that much; the others share the rest in equal, exact parts. The same holds for delta
among those whose method needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.privacy import spendable_delta, spendable_epsilon
from dpstats.foundations.registry import Question, ask, find_statistic, may_spend_delta, must_spend_delta
from dpstats.foundations.rounding import decimal_text

MOST_QUESTIONS = 100
_EXAMPLE = "plan(['median', ('quantile', 0.9), ('iqr', {'epsilon': 0.3})], epsilon=1, n=10_000)"


@dataclass(frozen=True)
class Asked:
    """One question as it was written: a statistic, what it takes by place, and what by name."""

    statistic: str
    positional: tuple[object, ...]
    keywords: Mapping[str, Any]
    features: object = None
    """How many features it says that it has."""


def asked_in(questions: Sequence[object]) -> list[Asked]:
    """The questions of a list, taken apart."""
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InvalidParameterError(f"a list of questions holds 1 to {MOST_QUESTIONS} of them: {_EXAMPLE}.")
    return [_taken_apart(question) for question in questions]


def priced(asked: Sequence[Asked], epsilon: object, delta: object, features: object = None, **common: Any) -> list[Question]:
    """The questions with their shares of a total; without a total epsilon each costs 1, until a search has found its own.

    `features` is how many of them regressions have that do not say so themselves.
    """
    if features is not None and not any(find_statistic(each.statistic).takes_features for each in asked):
        raise InvalidParameterError("none of these questions takes features: leave features out.")
    total_delta = spendable_delta(delta)
    if epsilon is None:
        for each in asked:
            if "epsilon" in each.keywords:
                raise InvalidParameterError(
                    f"{each.statistic} names an epsilon, and half_width asks for one: leave one of them out."
                )
        epsilons = [Fraction(1)] * len(asked)
    else:
        epsilons = _shares(asked, "epsilon", spendable_epsilon(epsilon), [True] * len(asked))
    spends_delta = may_spend_delta if total_delta else must_spend_delta  # without a total, who cannot do without
    wanting = [spends_delta(each.statistic, each.positional, each.keywords) for each in asked]
    deltas = _shares(asked, "delta", total_delta, wanting)
    return [
        ask(
            each.statistic,
            *each.positional,
            **{**common, **each.keywords, "epsilon": share, "delta": delta_share},
            column=planned_columns(each.statistic, each.features if each.features is not None else features, strict=False),
        )
        for each, share, delta_share in zip(asked, epsilons, deltas, strict=True)
    ]


def planned_columns(statistic: str, features: object, *, strict: bool = True) -> tuple[str, ...]:
    """The columns of a planned question: of a regression `features` of them, or one where nothing is said, and the outcome.

    Without an outcome they are `features` columns. With `strict` it is an error to give features to anything else.
    """
    asked = find_statistic(statistic)
    if not asked.takes_features:
        if strict and features is not None:
            raise InvalidParameterError(f"{statistic} takes no features: leave features out.")
        return ("",)
    several, most = 1 if features is None else features, asked.most_features
    if type(several) is not int or not 1 <= several <= most:
        raise InvalidParameterError(f"features must be a whole number from 1 to {most}, such as 3; got {features!r}.")
    if features is None and not asked.has_outcome:
        return ("",)
    return (*(f"x{number}" for number in range(1, several + 1)), *(["y"] if asked.has_outcome else []))


def refuse_words_of_ask(statistic: str, keywords: Mapping[str, object]) -> None:
    """Raise about words of `ask` that are no parameters of a statistic."""
    for unknown in keywords.keys() & {"name", "column"}:
        raise UnknownNameError(f"{statistic} has no parameter {unknown!r}.")


def refuse_data(statistic: str, positional: Sequence[object]) -> None:
    """Raise where more is given by place than the statistic takes without its data."""
    if len(positional) > len(find_statistic(statistic).parameters):
        raise InvalidParameterError(f"plan reads no data and takes fewer parameters: plan({statistic!r}, epsilon=0.5, n=10_000).")


def _taken_apart(question: object) -> Asked:
    parts = [question] if isinstance(question, str) else question
    if not isinstance(parts, (list, tuple)) or not parts or not isinstance(parts[0], str):
        raise InvalidParameterError(f"a question in a list is a name, or a tuple that begins with one: {_EXAMPLE}.")
    statistic, *others = parts
    keywords = dict(others.pop()) if others and isinstance(others[-1], Mapping) else {}
    features = keywords.pop("features", None)
    if features is not None:
        planned_columns(statistic, features)  # complains
    for keyword in keywords:
        if not isinstance(keyword, str) or keyword in ("neighbors", "unit", "rng"):
            raise UnknownNameError(f"a question has no {keyword}: give it once for all questions.")
    refuse_words_of_ask(statistic, keywords)
    refuse_data(statistic, others)
    return Asked(statistic, tuple(others), keywords, features)


def _shares(asked: Sequence[Asked], name: str, total: Fraction, wanted: Sequence[bool]) -> list[Fraction]:
    """The amount of `name` for each question: its own, a share of what is left, or 0 where it is not wanted."""
    check = spendable_epsilon if name == "epsilon" else spendable_delta
    own = {place: check(each.keywords[name]) for place, each in enumerate(asked) if name in each.keywords}
    sharing = [place for place, wants in enumerate(wanted) if wants and place not in own]
    rest = total - sum(own.values(), Fraction(0))
    if rest < 0:
        raise InvalidParameterError(f"the questions name more {name} than the total of {decimal_text(total)}.")
    if sharing and not rest:
        statistic = asked[sharing[0]].statistic
        if not total:
            raise MissingParameterError(f"{statistic} needs {name}: for example {name}=1e-6 for all questions together.")
        raise InvalidParameterError(f"nothing of {name} is left for {statistic}: raise the total, or lower what the others name.")
    return [own.get(place, rest / len(sharing) if place in sharing else Fraction(0)) for place in range(len(asked))]
