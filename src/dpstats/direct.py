"""`dp.median(x)` and friends: an array, one question, no ledger.

Each function here is made from the registry. It checks and prices the question first, and only then looks at the data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import dpstats.statistics  # noqa: F401  (fills the registry)
from dpstats.engines.arrays import as_column
from dpstats.foundations.errors import UnknownNameError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import AUTO, Statistic, ask, find_statistic
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.summaries import MISSING_POLICY

StatisticFunction = Callable[..., Release | NoReply]

_LONGEST_LABEL = 60
_COMMON_HELP = {
    "epsilon": "the privacy that the answer spends; required, for example 0.5",
    "delta": "for methods that need it, for example 1e-6; with method='auto' it is spent only if needed",
    "neighbors": "'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)",
    "method": "the method by name; 'auto' takes the first one listed below",
    "unit": "what one row stands for, in words, for the card",
    "rng": "dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise",
}


def function_for(name: str) -> StatisticFunction:
    """The statistic of that name as a function of an array."""
    statistic = find_statistic(name)

    def answer(
        data: object,
        *positional: object,
        epsilon: object = None,
        delta: object = 0,
        neighbors: object = Neighbors.ADD_REMOVE,
        method: object = AUTO,
        unit: str = "row",
        rng: RandomSource | None = None,
        **parameters: object,
    ) -> Release | NoReply:
        source = source_or_system(rng)
        for unknown in parameters.keys() & {"name", "column"}:  # words of `ask` that are no parameters
            raise UnknownNameError(f"{name} has no parameter {unknown!r}.")
        question = ask(
            name,
            *positional,
            epsilon=epsilon,
            delta=delta,
            neighbors=neighbors,
            method=method,
            unit=unit,
            column=_label(data),
            **parameters,
        )
        return question.answer(lambda: as_column(data, numeric=statistic.numeric), source)

    answer.__name__ = answer.__qualname__ = name
    answer.__module__ = "dpstats"
    answer.__doc__ = documentation(statistic)
    answer.__signature__ = signature(statistic)  # type: ignore[attr-defined]
    return answer


def signature(statistic: Statistic) -> inspect.Signature:
    """How the statistic's function is called, for `help` and editors."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, annotation=object),
            *(
                inspect.Parameter(parameter.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=parameter.default)
                for parameter in statistic.parameters
            ),
            inspect.Parameter("epsilon", keyword, annotation=float),
            inspect.Parameter("delta", keyword, default=0, annotation=float),
            inspect.Parameter("neighbors", keyword, default=Neighbors.ADD_REMOVE.value, annotation=str),
            inspect.Parameter("method", keyword, default=AUTO, annotation=str),
            inspect.Parameter("unit", keyword, default="row", annotation=str),
            inspect.Parameter("rng", keyword, default=None, annotation=RandomSource | None),
        ],
        return_annotation=Release | NoReply,
    )


def documentation(statistic: Statistic) -> str:
    """The docstring of the statistic's function: what it is, what it takes, what it claims."""
    needs = "numbers" if statistic.numeric else "values of any type"
    rows: dict[str, str] = {
        "data": f"{needs}: a list, a numpy array, a pandas or polars Series, an arrow array; {MISSING_POLICY}"
    }
    rows |= {parameter.name: parameter.help for parameter in statistic.parameters}
    lines = [
        f"{statistic.summary.rstrip('.')}.",
        "",
        "Parameters",
        *_indented(rows | _COMMON_HELP),
        "",
        "Methods and what they claim",
    ]
    lines += _indented({method.name: method.claim for method in statistic.methods.values()})
    lines += [
        "",
        f"Returns {f'{statistic.returns}, in ' if statistic.returns else ''}a Release, or a NoReply at the same cost.",
        "What several calls cost adds up, and nothing here keeps count.",
    ]
    return "\n".join(lines)


def _indented(rows: dict[str, str]) -> list[str]:
    width = max((len(heading) for heading in rows), default=0)
    return [f"  {heading:<{width}}  {text}" for heading, text in rows.items()]


def _label(data: Any) -> str:
    """The name that a Series carries, which is as public as a column name; none that could break a card's lines."""
    try:
        name = getattr(data, "name", "")
    except Exception:  # a container's own property may raise, and its text may carry data
        return ""
    if not isinstance(name, str) or not name.isprintable():
        return ""
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 3]}..."
