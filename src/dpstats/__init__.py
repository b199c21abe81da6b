"""Private statistics that need no bounds: ask, and get an answer with its cost, or an honest "no reply".

>>> import dpstats as dp
>>> release = dp.median([12.5, 13.0, 14.5] * 100, epsilon=1)
>>> release.cost
PrivacyCost(epsilon=1, delta=0, neighbors='add_remove', unit='row')

`dir(dpstats)` lists the statistics; `help(dpstats.median)` explains one. `dpstats.plan` says what to expect of a question before
anything is spent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dpstats import mechanisms, testing
from dpstats.foundations.errors import (
    DataFileError,
    DataTypeError,
    DpstatsError,
    InvalidParameterError,
    MissingExtraError,
    MissingParameterError,
    NoReplyError,
    SpentError,
    UnknownNameError,
)
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from dpstats.foundations.results import NoReply, Release

if TYPE_CHECKING:
    from dpstats.curator.planning.plan import plan

__version__ = "0.1.0"

__all__ = [
    "DataFileError",
    "DataTypeError",
    "DpstatsError",
    "InvalidParameterError",
    "MissingExtraError",
    "MissingParameterError",
    "Neighbors",
    "NoReply",
    "NoReplyError",
    "PrivacyCost",
    "Release",
    "SpentError",
    "UnknownNameError",
    "__version__",
    "mechanisms",
    "plan",
    "testing",
]


def __getattr__(name: str) -> Callable[..., Release | NoReply]:
    """A statistic of the registry, as a function of an array; or `plan`, which is loaded when it is first used."""
    if name == "plan":
        from dpstats.curator.planning import plan as home

        return globals().setdefault(name, home.plan)  # type: ignore[no-any-return]
    if name.startswith("_") or name not in _statistics():
        raise AttributeError(f"dpstats has no {name!r}; dir(dpstats) lists what there is.")
    from dpstats.direct import function_for

    return globals().setdefault(name, function_for(name))  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return sorted({*__all__, *_statistics()})


def _statistics() -> list[str]:
    import dpstats.statistics  # noqa: F401  (fills the registry)
    from dpstats.foundations.registry import statistic_names

    return statistic_names()
