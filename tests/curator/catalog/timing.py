"""Whether the time of a reply tells something of the rows: `python -m tests.curator.catalog.timing PAIRS` prints two answers.

Medians are asked in turn, at desks whose questions are worked on in real processes: of 30 and of 3,000 rows of one table, and of
two tables of which one has a row more, which is far away. An attacker who sees a time guesses which of two it was; AUC is how
often that guess is right, and 0.5 is none. Last run on 17 November 2026 with 10,000 pairs: 0.4898 and 0.4926.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dpstats as dp
from dpstats.curator.catalog.catalog import Catalog, open_catalog

ANALYSTS = 16
ROWS = 20_000
OFFICE = {"actor": "office", "why": "a test"}
MEDIAN = {"version": 1, "statistic": "median", "columns": ["income"], "rough": True}


@dataclass(frozen=True)
class Asked:
    """One of two kinds of questions whose replies are timed."""

    table: str
    document: Mapping[str, Any]


FILTERS = (Asked("survey", {**MEDIAN, "where": ["place < 30"]}), Asked("survey", {**MEDIAN, "where": ["place < 3000"]}))
ONE_ROW_MORE = (Asked("survey", MEDIAN), Asked("longer", MEDIAN))


def auc(first: list[float], second: list[float]) -> float:
    """How often the second kind of reply is the later one, of two that are picked at random."""
    earlier = np.sort(np.array(first))
    before = np.searchsorted(earlier, second, side="left") + np.searchsorted(earlier, second, side="right")
    return float(before.mean() / (2 * len(first)))


def catalog_in(folder: Path) -> Catalog:
    """A catalog with two open tables, on which some analysts may ask."""
    (folder / "tables").mkdir()
    files = {"ledger": str(folder / "curator.ledger"), "registrations": str(folder / "catalog.sqlite")}
    catalog = open_catalog({**files, "roots": [str(folder / "tables")]})
    people = {"person": range(ROWS), "place": range(ROWS), "income": [float(each * each % 9973) for each in range(ROWS)]}
    survey = pl.DataFrame(people)
    longer = pl.concat([survey, pl.DataFrame({"person": [ROWS], "place": [ROWS], "income": [1e12]})])
    for name, table in [("survey", survey), ("longer", longer)]:
        table.write_parquet(folder / "tables" / f"{name}.parquet")
        catalog.register(
            name,
            f"{name}.parquet",
            owner="office",
            unit="person",
            max_rows_per_unit=1,
            budget=dp.Budget(10**9),
            policy={"archive": "own"},
        )
        catalog.confirm(name, **OFFICE)
        for number in range(ANALYSTS):
            catalog.grant(name, analyst=f"analyst {number}", **OFFICE)
    return catalog


def seconds(catalog: Catalog, kinds: tuple[Asked, Asked], pairs: int, epsilon: int = 1) -> tuple[list[float], list[float], int]:
    """The times of replies to two kinds of questions, and how many of all were no replies."""
    desks = {name: catalog.desk(name) for name in ("survey", "longer")}
    times: tuple[list[float], list[float]] = ([], [])
    refused: list[dp.NoReply] = []
    assert desks["survey"]._pool.wait_until_ready()

    def ask(number: int) -> None:
        for place in range(number, pairs, ANALYSTS):
            for kind in (0, 1) if place // ANALYSTS % 2 else (1, 0):
                asked = kinds[kind]
                begun = time.perf_counter()
                reply = desks[asked.table].ask({**asked.document, "epsilon": f"{epsilon}.{place:06}"}, f"analyst {number}")
                times[kind].append(time.perf_counter() - begun)
                if isinstance(reply, dp.NoReply):
                    refused.append(reply)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(ANALYSTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return *times, len(refused)


def main(pairs: int) -> None:
    """Ask, and print."""
    with tempfile.TemporaryDirectory() as folder, catalog_in(Path(folder)) as catalog:
        for words, kinds in [("30 against 3,000 rows", FILTERS), ("one row more", ONE_ROW_MORE)]:
            seconds(catalog, kinds, 2 * ANALYSTS, epsilon=2)  # tables are opened
            first, second, refused = seconds(catalog, kinds, pairs)
            shortest, longest = min(first + second), max(first + second)
            sys.stdout.write(
                f"{words}, {pairs} pairs: AUC {auc(first, second):.4f}, {refused} no replies, {shortest:.3f} to {longest:.3f} s\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
