"""Archived answers as results again, by what the ledger says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpstats.curator.archive import Result, Revives, result_of
from dpstats.curator.publishing.batch import archived_answers
from dpstats.curator.rows_per_unit import NAME as ROWS_OF_UNITS
from dpstats.curator.rows_per_unit import ROWS_PER_UNIT
from dpstats.foundations.errors import LedgerError
from dpstats.foundations.registry import find_statistic, statistic_names
from dpstats.foundations.retired import RETIRED

GRAPHS = "graphs."
"""What the methods of statistics of graphs begin with."""


def results_of(details: Mapping[str, Any], document: Mapping[str, Any]) -> list[Result]:
    """The answers in an archived document: one, or those of a batch; `details` are those of its debit."""
    if "batch" in document:
        return archived_answers(dict(document))
    return [result_of(document, statistic_behind(str(details["method"])))]


def statistic_behind(method: str) -> Revives:
    """The statistic of a method as debits name it, also of a retired one: that of median in "median_universal/3"."""
    name = method.rpartition("/")[0]
    if name.startswith(ROWS_OF_UNITS):
        return ROWS_PER_UNIT
    if name.startswith(GRAPHS):
        from dpstats.statistics.graphs.asked import GRAPH_STATISTICS

        return GRAPH_STATISTICS[name.removeprefix(GRAPHS).rpartition("_")[0]]
    for each in statistic_names():
        own = name.removeprefix(f"{each}_")
        if own != name and ((each, own) in RETIRED or own in find_statistic(each).methods):
            return find_statistic(each)
    raise LedgerError(f"the ledger names a method {method!r}, which this release of dpstats does not have.")
