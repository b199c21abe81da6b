"""An archive as releases before typed keys wrote it, and the questions that are in it.

`key_version_1.jsonl` has the entries of a session of such a release; `archive(folder)` puts them beside their table.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import dpstats as dp
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.session import Session

FROZEN = Path(__file__).with_name("key_version_1.jsonl")
ROWS = [(number, number % 7, "ab"[number % 2], (1.5, 2.5)[number % 2], ("1.5", "2.5")[number % 2]) for number in range(60)]
TYPES = {"v": "number", "w": "integer", "g": "text", "x": "number", "t": "text"}
Ask = Callable[[Session], Any]

RECALLED: dict[str, Ask] = {
    "count": lambda survey: survey.count(epsilon=1),
    "median by another method": lambda survey: survey.median("v", epsilon=1, delta="1e-3", method="ptr"),
    "levels": lambda survey: survey.contingency_table(["g", "w"], levels={"g": ["a", "b"]}, bins={"w": [0, 3, 7]}, epsilon=1),
    "conditions": lambda survey: survey.where("v >= 10").where("v < 50").count(epsilon=1),
    "by group": lambda survey: survey.group_by("x", keys=[1.5, 2.5]).count(epsilon=1),
}
"""Questions whose old keys no other question has; each costs epsilon = 1."""
CHANGED: dict[str, Ask] = {
    "shares": lambda survey: survey.goodness_of_fit_test("g", {"a": 0.5, "b": 0.5}, epsilon=1),
    "median": lambda survey: survey.median("v", epsilon=1),
    "quantile": lambda survey: survey.quantile("v", 0.25, epsilon=1),
    "quantile 0.5": lambda survey: survey.quantile("w", 0.5, epsilon=1),
    "quantiles": lambda survey: survey.quantile("v", [0.25, 0.75], epsilon=1, interval=None),
    "trimmed mean": lambda survey: survey.winsorized_mean("v", 0.1, epsilon=1),
    "bins of labels": lambda survey: survey.histogram("g", ["a", "b"], epsilon=1),
    "groups": lambda survey: survey.two_sample_t_test("v", "g", ["a", "b"], epsilon=1),
    "whole labels": lambda survey: survey.two_sample_t_test("v", "w", [1, 2], epsilon=1),
    "condition": lambda survey: survey.where("v >= 10.5 and t == '1.5'").median("v", epsilon=1),
    "derived": lambda survey: survey.with_columns(z="v * 1.5").median("z", epsilon=1),
    "formula": lambda survey: survey.regression("v ~ w + C(t)", levels={"t": ["1.5", "2.5"]}, epsilon=1),
}
"""Questions whose methods release something else by now, so that they are asked again; each costs epsilon = 1."""
PAID_AGAIN: dict[str, Ask] = {
    "numbers for bins": lambda survey: survey.histogram("v", [0, 12.5, 60], epsilon=1),
    "numbers for labels": lambda survey: survey.two_sample_t_test("v", "x", [1.5, 2.5], epsilon=1),
    "texts that read as numbers": lambda survey: survey.two_sample_t_test("v", "t", ["1.5", "2.5"], epsilon=1),
    "texts that read as fractions": lambda survey: survey.histogram("t", ["1/2", "3/2"], epsilon=1),
}
"""Questions that shared a key with others."""


def protected(folder: Path) -> Session:
    """A session on the table of the archive."""
    path = folder / "survey.csv"
    if not path.exists():
        lines = [",".join(TYPES), *(",".join(map(str, row)) for row in ROWS)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return dp.protect(path, unit="row", budget=dp.Budget(100, "0.1"), ledger=folder / "survey.ledger", types=TYPES)


def archive(folder: Path) -> Session:
    """A session on the table whose answers are archived by old keys."""
    entries = [Entry(**json.loads(line)) for line in FROZEN.read_text(encoding="utf-8").splitlines()]
    path = folder / "survey.ledger"
    path.with_name("survey.ledger.secret").write_text("01" * 32, encoding="ascii")
    path.with_name("survey.ledger.secret").chmod(0o600)
    open_ledger(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(f"INSERT INTO dpstats_ledger VALUES ({', '.join('?' * len(Entry._fields))})", entries)
    return protected(folder)
