"""What can be asked: the statistics of the registry as methods on named columns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import dpstats.statistics  # noqa: F401  (fills the registry)
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, Statistic, find_statistic, statistic_names

_FIXED = ("neighbors", "unit")
_OTHER_NAMES = {"filter": "where", "query": "where", "mean": "trimmed_mean", "average": "trimmed_mean", "groupby": "group_by"}
_HELP = {
    "epsilon": "the privacy that the answer spends, for the unit that the session protects; required, for example 0.2",
    "delta": "for methods and private group keys that need it, for example 1e-7",
    "method": "the method by name; 'auto' takes the first one listed below",
    "rng": "dpstats.testing.seeded(7), on tables that were protected with allow_seeded=True: repeats itself, NOT PRIVATE",
}


class Asker:
    """Something that answers questions about a protected table: its statistics are methods."""

    def _ask(self, statistic: Statistic, column: str | None, positional: tuple[object, ...], keywords: Mapping[str, Any]) -> Any:
        """Answer one question; `keywords` has epsilon, delta, method, rng and the statistic's own parameters."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in statistic_names():
            near = _OTHER_NAMES.get(name) or next(iter(get_close_matches(name, dir(self), n=1)), None)
            hint = f"did you mean {near}?" if near else "dir() lists what there is."
            raise AttributeError(f"a {type(self).__name__} has no {name!r}; {hint}")
        return _method(self, find_statistic(name))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *statistic_names()})


def _method(asker: Asker, statistic: Statistic) -> Callable[..., Any]:
    """The statistic as a method of an asker."""

    def answer(
        column: str | None = None,
        *positional: object,
        epsilon: object = None,
        delta: object = 0,
        method: object = AUTO,
        rng: RandomSource | None = None,
        **parameters: object,
    ) -> Any:
        for word in parameters.keys() & set(_FIXED):
            raise InvalidParameterError(f"{word} was fixed when the table was protected: leave it out.")
        if column is None and not statistic.only_counts:
            raise MissingParameterError(f"{statistic.name} needs a column: for example {statistic.name}('income', epsilon=0.2).")
        if column is not None and type(column) is not str:
            raise InvalidParameterError(
                f"{statistic.name} takes the name of a column, such as 'income', and then its parameters."
            )
        given = {"epsilon": epsilon, "delta": delta, "method": method, "rng": rng}
        return asker._ask(statistic, column, positional, {**given, **parameters})

    answer.__name__ = answer.__qualname__ = statistic.name
    answer.__doc__ = _documentation(statistic)
    answer.__signature__ = _signature(statistic)  # type: ignore[attr-defined]
    return answer


def _signature(statistic: Statistic) -> inspect.Signature:
    either, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    column = inspect.Parameter("column", either, default=None if statistic.only_counts else inspect.Parameter.empty)
    named = [inspect.Parameter("epsilon", keyword)]
    named += [
        inspect.Parameter(name, keyword, default=default) for name, default in (("delta", 0), ("method", AUTO), ("rng", None))
    ]
    own = [
        inspect.Parameter(each.name, either if column.default is column.empty else keyword, default=each.default)
        for each in statistic.parameters
    ]
    return inspect.Signature([column, *own, *named])


def _documentation(statistic: Statistic) -> str:
    optional = "; left out: all rows of the table" if statistic.only_counts else ""
    rows = {"column": f"a column by name{optional}", **{each.name: each.help for each in statistic.parameters}, **_HELP}
    width = max(map(len, rows))
    lines = [f"{statistic.summary.rstrip('.')}.", "", "Parameters"]
    lines += [f"  {name:<{width}}  {text}" for name, text in rows.items()]
    lines += ["", "Methods and what they claim"]
    lines += [f"  {method.name}  {method.claim}" for method in statistic.methods.values()]
    return "\n".join([*lines, "", "What it costs is debited before a row is read, and is never refunded."])
