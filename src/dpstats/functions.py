"""The statistics as functions: `dpstats` makes them from the registry, and the stub beside this file has their types."""

from __future__ import annotations

import dpstats
from dpstats.foundations.registry import statistic_names


def __getattr__(name: str) -> object:
    if name not in dir(dpstats):
        raise AttributeError(f"dpstats.functions has no {name!r}.")
    return getattr(dpstats, name)


def __dir__() -> list[str]:
    return statistic_names()
