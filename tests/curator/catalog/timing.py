"""Whether the time of a reply tells how many rows it is about: `python -m tests.curator.catalog.timing PAIRS` prints an answer.

Medians of 30 and of 3,000 rows of one table are asked in turn, at a desk whose questions are worked on in real processes. An
attacker who sees a time guesses which of two it was; AUC is how often that guess is right, and 0.5 is none.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl

import dpstats as dp
from dpstats.curator.catalog.catalog import Catalog, open_catalog

ANALYSTS = 8
ROWS = 20_000
FEW, MANY = "place < 30", "place < 3000"
OFFICE = {"actor": "office", "why": "a test"}


def auc(few: list[float], many: list[float]) -> float:
    """How often the reply about more rows is the later one, of two that are picked at random."""
    later = sum((one < other) + (one == other) / 2 for one in few for other in many)
    return later / (len(few) * len(many))


def catalog_in(folder: Path) -> Catalog:
    """A catalog with one open table, on which some analysts may ask."""
    (folder / "tables").mkdir()
    people = {"person": range(ROWS), "place": range(ROWS), "income": [float(each * each % 9973) for each in range(ROWS)]}
    pl.DataFrame(people).write_parquet(folder / "tables" / "survey.parquet")
    files = {"ledger": str(folder / "curator.ledger"), "registrations": str(folder / "catalog.sqlite")}
    catalog = open_catalog({**files, "roots": [str(folder / "tables")]})
    catalog.register(
        "survey", "survey.parquet", owner="office", unit="person", budget=dp.Budget(10**9), policy={"archive": "own"}
    )
    catalog.confirm("survey", **OFFICE)
    for number in range(ANALYSTS):
        catalog.grant("survey", analyst=f"analyst {number}", **OFFICE)
    return catalog


def seconds(catalog: Catalog, pairs: int, epsilon: int = 1) -> tuple[list[float], list[float], int]:
    """The times of replies about few and about many rows, and how many of all were no replies."""
    desk = catalog.desk("survey")
    times: dict[str, list[float]] = {FEW: [], MANY: []}
    refused: list[dp.NoReply] = []
    assert desk._pool.wait_until_ready()

    def ask(number: int) -> None:
        for place in range(number, pairs, ANALYSTS):
            for condition in (FEW, MANY) if place // ANALYSTS % 2 else (MANY, FEW):
                question: dict[str, Any] = {"version": 1, "statistic": "median", "columns": ["income"], "where": [condition]}
                begun = time.perf_counter()
                reply = desk.ask({**question, "epsilon": f"{epsilon}.{place:06}", "rough": True}, f"analyst {number}")
                times[condition].append(time.perf_counter() - begun)
                if isinstance(reply, dp.NoReply):
                    refused.append(reply)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(ANALYSTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times[FEW], times[MANY], len(refused)


def main(pairs: int) -> None:
    """Ask, and print."""
    with tempfile.TemporaryDirectory() as folder, catalog_in(Path(folder)) as catalog:
        seconds(catalog, 2 * ANALYSTS, epsilon=2)  # tables are opened
        few, many, refused = seconds(catalog, pairs)
        sys.stdout.write(
            f"{pairs} pairs: AUC {auc(few, many):.4f}, {refused} no replies, {min(few + many):.3f} to {max(few + many):.3f} s\n"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
