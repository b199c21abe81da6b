"""The registry: each statistic once, with its parameters, methods, help and claim.

The array functions, the command line, sessions, the service and the docs all read it, so a new statistic is one module in
`statistics/` and nothing else. Asking has two halves that never mix: `ask` checks every public thing and prices the question
from its parameters alone; `Question.answer` then reads the data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import (
    DataTypeError,
    DpstatsError,
    InvalidParameterError,
    MissingParameterError,
    UnknownNameError,
)
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import Interval, NoReply, Release, value_text
from dpstats.foundations.summaries import Column

REQUIRED: Any = inspect.Parameter.empty
AUTO = "auto"


@dataclass(frozen=True)
class Parameter:
    """One public parameter of a statistic."""

    name: str
    help: str
    check: Callable[[object], Any]
    """Turns what a caller gave into the value that the method reads, or raises `InvalidParameterError`."""
    default: Any = REQUIRED
    """What a caller would write for it; checked like anything that a caller gives."""


@dataclass(frozen=True)
class Answer:
    """What a method hands back: the released value, and what belongs on the card beside it."""

    value: object
    interval: Interval | None = None
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Refusal:
    """What a method hands back when its test said no; it may say only what every refusal of the method says."""

    reason: str
    advice: str


COULD_NOT = Refusal("The answer could not be computed.", "The cost is spent; ask again or ask the data holder.")
"""What is said of everything that goes wrong because of the data."""


@dataclass(frozen=True)
class Method:
    """One way to compute a statistic, with what it claims."""

    name: str
    claim: str
    run: Callable[[Column, Question, RandomSource], Answer | Refusal]
    needs_delta: bool = False
    version: int = 1
    """Goes up when the claim or what is released for the same question changes, so that old ledger lines keep their meaning."""


def _as_it_is(plain: Any) -> Any:
    return plain


@dataclass(frozen=True)
class Statistic:
    """A named statistic: what it is, what it takes, and the methods that compute it, the preferred one first."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    numeric: bool = True
    """Whether the column must hold numbers."""
    only_counts: bool = False
    """Whether it asks for nothing but a number of rows, so that a table without a named column has one too."""
    methods: dict[str, Method] = field(default_factory=dict)
    returns: str = ""
    """What the value of a release is, for the help: "a step function that ..."."""
    why_preferred: str = ""
    """Why "auto" takes the first method, for the card."""
    revive: Callable[[Any], Any] = _as_it_is
    """Makes the value of a release again from the plain form in which it was archived; lists have become tuples already."""

    def method_for(self, name: object) -> Method:
        """The method of that name; "auto" takes the preferred one."""
        if name == AUTO:
            return next(iter(self.methods.values()))
        if not isinstance(name, str) or name not in self.methods:
            known = ", ".join(repr(known) for known in (AUTO, *self.methods))
            raise UnknownNameError(f"{self.name} has no method {name!r}; it has {known}.")
        return self.methods[name]


@dataclass(frozen=True)
class Question:
    """A checked and priced question; nothing in it comes from data."""

    statistic: Statistic
    method: Method
    arguments: Mapping[str, Any]
    cost: PrivacyCost
    column: str = ""
    why: str = ""
    """Why this method was taken, where the asker left the choice to us."""

    @property
    def epsilon(self) -> Fraction:
        """What the whole answer may spend."""
        return self.cost.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta that the whole answer may spend."""
        return self.cost.delta

    @property
    def neighbors(self) -> Neighbors:
        """The relation that the answer protects."""
        return self.cost.neighbors

    def __str__(self) -> str:
        shown = [self.column] if self.column else []
        for parameter in self.statistic.parameters:
            value = self.arguments[parameter.name]
            if parameter.default is REQUIRED or value != parameter.check(parameter.default):
                shown.append(_argument_text(value))
        if self.method is not next(iter(self.statistic.methods.values())):
            shown.append(f"method={self.method.name}")
        return f"{self.statistic.name}({', '.join(shown)})" if shown else self.statistic.name

    def answer(self, open_column: Callable[[], Column], rng: RandomSource | None = None) -> Release | NoReply:
        """Open the column, read it and reply. Whatever goes wrong because of the data is one and the same charged `NoReply`.

        A column whose declared type does not fit is an error, because types are public. With a seeded source, which is never
        private, other errors pass through too, so that tests see them.
        """
        source = source_or_system(rng)
        try:
            outcome = self.method.run(open_column(), self, source)
        except (DataTypeError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # not only Exception: a panic of a library in Rust is none
            if not source.private:
                raise
            outcome = COULD_NOT
        if isinstance(outcome, Refusal):
            return NoReply(str(self), self.cost, self.method.name, outcome.reason, outcome.advice, source.private)
        return Release(
            question=str(self),
            value=outcome.value,
            cost=self.cost,
            method=self.method.name,
            claim=self.method.claim,
            private=source.private,
            interval=outcome.interval,
            notes=(*((("chosen because", self.why),) if self.why else ()), *outcome.notes),
        )


_STATISTICS: dict[str, Statistic] = {}


def register(statistic: Statistic) -> Statistic:
    """Put a statistic on the list; a name can be taken once."""
    if statistic.name in _STATISTICS:
        raise DpstatsError(f"a statistic named {statistic.name!r} is registered already.")
    _STATISTICS[statistic.name] = statistic
    return statistic


def method(
    statistic: Statistic, name: str, *, claim: str, needs_delta: bool = False
) -> Callable[[Callable[..., Answer | Refusal]], Callable[..., Answer | Refusal]]:
    """Decorator: the function below computes `statistic` by the method `name`."""

    def attach(run: Callable[..., Answer | Refusal]) -> Callable[..., Answer | Refusal]:
        if name in statistic.methods:
            raise DpstatsError(f"{statistic.name} has a method named {name!r} already.")
        statistic.methods[name] = Method(name, claim, run, needs_delta)
        return run

    return attach


def statistic_names() -> list[str]:
    """The names of all statistics, sorted."""
    return sorted(_STATISTICS)


def find_statistic(name: str) -> Statistic:
    """The statistic of that name."""
    if name not in _STATISTICS:
        raise UnknownNameError(f"there is no statistic {name!r}; there are {', '.join(statistic_names())}.")
    return _STATISTICS[name]


def ask(
    name: str,
    *positional: object,
    epsilon: object = None,
    delta: object = 0,
    neighbors: object = Neighbors.ADD_REMOVE,
    method: object = AUTO,
    unit: str = "row",
    column: str = "",
    **keywords: object,
) -> Question:
    """Check and price a question. Reads no data; raises only about public things.

    Where the method is left to us, delta is what may be spent, and a method that needs none spends none.
    """
    statistic = find_statistic(name)
    given = _named_arguments(statistic, positional, keywords)
    if epsilon is None:
        raise MissingParameterError(f"{name} needs epsilon, the privacy that it may spend: for example epsilon=0.5.")
    chosen = statistic.method_for(method)
    allowed = spendable_delta(delta)
    if chosen.needs_delta and not allowed:
        raise MissingParameterError(f"{name} by method {chosen.name!r} needs delta: for example delta=1e-6.")
    if allowed and not chosen.needs_delta and method != AUTO:
        raise InvalidParameterError(f"{name} by method {chosen.name!r} is pure epsilon-DP and spends no delta: leave delta out.")
    cost = PrivacyCost(spendable_epsilon(epsilon), allowed if chosen.needs_delta else 0, neighbors, unit)
    why = statistic.why_preferred if method == AUTO else ""
    return Question(statistic, chosen, _checked_arguments(statistic, given), cost, column, why)


def refuse_surplus(statistic: Statistic, positional: Sequence[object], after: str) -> None:
    """Raise when more is given by position than the statistic takes `after` the data; the last of it is likely epsilon."""
    names = [parameter.name for parameter in statistic.parameters]
    if len(positional) <= len(names):
        return
    takes = f"only {', '.join(names)}" if names else "nothing"
    epsilon = positional[-1] if type(positional[-1]) in (int, float) else 0.5
    several = list(positional[len(names) - 1 :])
    hint = f"; for several {names[-1]} write {several}" if names and _is_allowed(several, statistic.parameters[-1]) else ""
    raise InvalidParameterError(f"{statistic.name} takes {takes} after {after}; give epsilon by name: epsilon={epsilon}{hint}.")


def _named_arguments(statistic: Statistic, positional: tuple[object, ...], keywords: dict[str, object]) -> dict[str, object]:
    """The parameters that were given, by name."""
    names = [parameter.name for parameter in statistic.parameters]
    for name in [name for name in keywords if name not in names]:
        known = [*names, "epsilon", "delta", "neighbors", "method", "unit", "rng"]
        near = get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}."
        raise UnknownNameError(f"{statistic.name} has no parameter {name!r}; {hint}")
    refuse_surplus(statistic, positional, "the data")
    given = dict(zip(names, positional, strict=False))
    for name in given.keys() & keywords.keys():
        raise InvalidParameterError(f"{statistic.name} got {name} twice.")
    return given | keywords


def _checked_arguments(statistic: Statistic, given: dict[str, object]) -> dict[str, Any]:
    arguments = {}
    for parameter in statistic.parameters:
        if parameter.name in given:
            arguments[parameter.name] = parameter.check(given[parameter.name])
        elif parameter.default is REQUIRED:
            raise MissingParameterError(f"{statistic.name} needs {parameter.name}: {parameter.help}.")
        else:
            arguments[parameter.name] = parameter.check(parameter.default)
    return arguments


def _is_allowed(several: Sequence[object], parameter: Parameter) -> bool:
    if not all(type(item) in (int, float) for item in several):
        return False
    try:
        parameter.check(several)
    except (DpstatsError, TypeError, ValueError):
        return False
    return True


def _argument_text(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_argument_text(item) for item in value)}]"
    return value_text(float(value)) if isinstance(value, Fraction) else str(value)
