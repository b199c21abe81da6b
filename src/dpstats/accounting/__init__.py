"""Accounting: what releases cost together, in exact arithmetic and from parameters alone."""

from __future__ import annotations

from dpstats.accounting.composition import compose, group, parallel
from dpstats.accounting.concentration import exponential_to_zcdp, gaussian_to_zcdp, pure_to_zcdp, zcdp_to_cost, zcdp_within

__all__ = [
    "compose",
    "exponential_to_zcdp",
    "gaussian_to_zcdp",
    "group",
    "parallel",
    "pure_to_zcdp",
    "zcdp_to_cost",
    "zcdp_within",
]


def __dir__() -> list[str]:
    return __all__
