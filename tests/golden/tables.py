"""The table of the golden files, made by whole numbers alone, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.foundations.registry import Method, Statistic, find_statistic, statistic_names
from tests.questions import columns_for, required_of
from tests.seeded_releases import LABELS, MARKS, POSITIVE, A, B, C

ROWS = len(POSITIVE)
GROUPS = ["a", "b", "c"]
NODES = 60
EDGES = [(node, (node * step + 1) % NODES) for node in range(NODES) for step in (2, 3, 7)]
ROWS_PER_PERSON = 3
EPSILON = 6
"""Enough for a reply of most methods."""
SETTINGS: dict[str, dict[str, Any]] = {
    "row": {"unit": "row"},
    "row, change_one": {"unit": "row", "neighbors": "change_one"},
    "person": {"unit": "person", "max_rows_per_unit": ROWS_PER_PERSON},
    "person, change_one": {"unit": "person", "max_rows_per_unit": ROWS_PER_PERSON, "neighbors": "change_one"},
    "groups": {"unit": "row"},
}
"""How the table is protected. No person has more rows than are used: which rows are left out hangs on a ledger's secret."""
_GIVEN: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "logistic_regression": ((["age", "hours"], "employed"), {}),
    "mle": (("normal", "income"), {}),
    "nearest_neighbors": ((["age", "hours"], "region"), {"classes": GROUPS}),
    "proportion": (("employed",), {}),
    "mwem": ((["region", "employed"],), {"levels": {"region": GROUPS}}),
    "small_database": ((["region", "employed"],), {"levels": {"region": GROUPS}, "size": 3}),
    "synthesize": ((["age", "region"],), {"levels": {"region": GROUPS}}),
}
"""The columns and parameters of statistics for which those found by their types will not do."""

_NEEDED: dict[tuple[str, str], dict[str, Any]] = {
    ("anova", "clipped"): {"groups": [False, True]},
    ("sample_and_aggregate", "tested"): {"aggregate": "median"},
}
"""What a method needs beside that."""


def table() -> dict[str, Any]:
    """Rows with a column of each type, three of each person."""
    return {
        "age": (18 + np.floor(np.abs(A) * 25)).astype(np.int64),
        "hours": np.round(30 + 5 * B, 2),
        "income": np.round(100 + POSITIVE * 40 + 3 * C, 2),
        "region": LABELS,
        "employed": MARKS.astype(bool),
        "born": np.datetime64("2000-01-01") + np.arange(ROWS) % 3,
        "person": np.arange(ROWS, dtype=np.int64) // ROWS_PER_PERSON,
    }


def session(setting: Mapping[str, Any], rows: Any = None, **changes: Any) -> Session:
    """A session on the table, or on other rows, with plenty of budget."""
    settings: dict[str, Any] = {
        "budget": dp.Budget(epsilon=10**9, delta=0.4),
        "ledger": ":memory:",
        "name": "survey",
        "edition": "1",
        **setting,
        **changes,
    }
    return dp.protect(table() if rows is None else rows, **settings)


class Call(NamedTuple):
    """A statistic as a method of a session takes it."""

    name: str
    statistic: str
    version: int
    given: tuple[Any, ...]
    words: Mapping[str, Any]


def calls(*, by_auto: bool = False, only_required: bool = False) -> Iterator[Call]:
    """Every statistic by every method, or `by_auto` by the one that is taken where none is named.

    With `only_required` a method gets what its statistic requires, even where it needs more.
    """
    for statistic in map(find_statistic, statistic_names()):
        methods = list(statistic.methods.values())
        for method in methods[:1] if by_auto else methods:
            yield _call(statistic, method, by_auto=by_auto, only_required=only_required)


def _call(statistic: Statistic, method: Method, *, by_auto: bool, only_required: bool) -> Call:
    given, parameters = _GIVEN.get(statistic.name, (tuple(columns_for(statistic)), required_of(statistic)))
    if "groups" in parameters:
        parameters = {**parameters, "groups": [False, True]}
    if not only_required:
        parameters = {**parameters, **_NEEDED.get((statistic.name, method.name), {})}
    needed = {"delta": 1e-6} if method.needs_delta else {}
    named = {} if by_auto else {"method": method.name}
    name = statistic.name if by_auto else f"{statistic.name}/{method.name}"
    return Call(name, statistic.name, method.version, given, {**parameters, "epsilon": EPSILON, **needed, **named})
