"""The statistics as functions, made from the registry when they are first used; the stub beside this file has their types."""

from __future__ import annotations

from importlib import import_module

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.direct import function_for
from dpstats.foundations.registry import statistic_names

_WITH_MORE = {"select_model": "dpstats.selecting"}
"""Functions that take more than the registry says, and where they are."""


def __getattr__(name: str) -> object:
    if name in _WITH_MORE:
        return getattr(import_module(_WITH_MORE[name]), name)
    if name not in statistic_names():
        raise AttributeError(f"dpstats.functions has no {name!r}.")
    return globals().setdefault(name, function_for(name))


def __dir__() -> list[str]:
    return statistic_names()
