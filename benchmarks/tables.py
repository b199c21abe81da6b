"""How long questions to protected tables take, against the engines' own answers in the same run, and in how much memory.

    python benchmarks/tables.py [--rows 100000000] [--shorter 10000000] [--groups 1000] [--repeats 3]

Each line runs in a process of its own, so that its memory is its own; the ledger is in memory, so that no disk is measured.
Ratios count, seconds belong to the machine; each is the least of several, of processor time (on all cores) and of time on the
clock. A ratio is to the line above that begins with the name of an engine, which is what it takes for an answer of its own.
Tables are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl


def make_long(file: Path, rows: int) -> None:
    """One column of incomes, written in row groups of the usual size."""
    chance = np.random.default_rng(1)
    pl.DataFrame({"income": chance.lognormal(10, 1, rows)}).write_parquet(file)


def make_grouped(file: Path, rows: int, groups: int) -> None:
    """Incomes with two group columns and two kinds of persons: one row each, and five rows each."""
    chance = np.random.default_rng(2)
    numbers = chance.integers(0, groups, rows)
    pl.DataFrame(
        {
            "number": numbers,
            "text": pl.Series([f"key {index}" for index in range(groups)])[chance.integers(0, groups, rows)],
            "person": chance.permutation(rows),
            "patient": chance.integers(0, rows // 5, rows),
            "income": chance.lognormal(10, 1, rows),
        }
    ).write_parquet(file)


class Tables(NamedTuple):
    """The files of all tables, and the number of groups."""

    long: Path
    grouped: Path
    database: Path
    lines: Path
    groups: int

    @classmethod
    def within(cls, folder: Path, groups: int) -> Tables:
        """Those in a folder."""
        return cls(folder / "long.parquet", folder / "shorter.parquet", folder / "shorter.duckdb", folder / "shorter.csv", groups)


def make_tables(folder: Path, rows: int, shorter: int, groups: int) -> None:
    """All tables of a run."""
    import duckdb

    tables = Tables.within(folder, groups)
    make_long(tables.long, rows)
    make_grouped(tables.grouped, shorter, groups)
    with duckdb.connect(str(tables.database)) as connection:
        connection.execute(f"CREATE TABLE incomes AS SELECT * FROM '{tables.grouped}'")
    pl.scan_parquet(tables.grouped).select("number", "income").sink_csv(tables.lines)


def protected(table: Any, **changes: Any) -> Any:
    import dpstats as dp

    return dp.protect(table, **{"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.01), "ledger": ":memory:", **changes})


def of_polars(frame: pl.LazyFrame, answer: pl.Expr) -> object:
    return frame.select(answer).collect(engine="streaming")


def of_duckdb(database: Path, statement: str) -> object:
    import duckdb

    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute(statement).fetchall()


def stored_incomes(database: Path) -> Any:
    import duckdb

    return duckdb.connect(str(database), read_only=True).table("incomes")


INCOME = pl.col("income")
PARQUET, LINES = pl.scan_parquet, pl.scan_csv
NUMBERS = {"types": {"income": "number"}}
QUESTIONS: dict[str, Callable[[Tables], object]] = {
    "polars' sum, long Parquet": lambda at: of_polars(PARQUET(at.long), INCOME.sum()),
    "polars' median": lambda at: of_polars(PARQUET(at.long), INCOME.median()),
    "median without interval, epsilon 1": lambda at: protected(at.long).median("income", epsilon=1, interval=None),
    "median": lambda at: protected(at.long).median("income", epsilon=0.1),
    "mean": lambda at: protected(at.long).mean("income", epsilon=0.1),
    "interquartile range, epsilon 1": lambda at: protected(at.long).iqr("income", epsilon=1),
    "median of some rows": lambda at: protected(at.long).where("income > 20000").median("income", epsilon=0.1),
    "polars' mean, Parquet": lambda at: of_polars(PARQUET(at.grouped), INCOME.mean()),
    "mean, Parquet": lambda at: protected(at.grouped).mean("income", epsilon=0.1),
    "median, Parquet": lambda at: protected(at.grouped).median("income", epsilon=0.1),
    "median, one row a person": lambda at: protected(at.grouped, unit="person", max_rows_per_unit=1).median(
        "income", epsilon=0.1
    ),
    "median, two of five rows a person": lambda at: protected(at.grouped, unit="patient", max_rows_per_unit=2).median(
        "income", epsilon=0.1
    ),
    "DuckDB's mean": lambda at: of_duckdb(at.database, "SELECT avg(income) FROM incomes"),
    "mean, DuckDB": lambda at: protected(stored_incomes(at.database)).mean("income", epsilon=0.1),
    "median, DuckDB": lambda at: protected(stored_incomes(at.database)).median("income", epsilon=0.1),
    "polars' mean, CSV": lambda at: of_polars(LINES(at.lines), INCOME.mean()),
    "mean, CSV": lambda at: protected(at.lines, **NUMBERS).mean("income", epsilon=0.1),
    "median, CSV": lambda at: protected(at.lines, **NUMBERS).median("income", epsilon=0.1),
    "polars' medians of groups": lambda at: (
        PARQUET(at.grouped).group_by("number").agg(INCOME.median()).collect(engine="streaming")
    ),
    "medians of public groups, epsilon 1": lambda at: (
        protected(at.grouped).group_by("number", keys=range(at.groups)).median("income", epsilon=1)
    ),
    "medians of public groups without intervals, epsilon 1": lambda at: (
        protected(at.grouped).group_by("number", keys=range(at.groups)).median("income", epsilon=1, interval=None)
    ),
    "medians of private groups, epsilon 1": lambda at: (
        protected(at.grouped).group_by("text").median("income", epsilon=1, delta=1e-6)
    ),
}
PEERS = ("polars' sum, long Parquet", "polars' mean, Parquet", "DuckDB's mean", "polars' mean, CSV", "polars' medians of groups")


def answer(name: str, tables: Tables, repeats: int) -> dict[str, float]:
    """Time one question in this process, once it has been answered, and look at the memory that it took."""
    question = QUESTIONS[name]
    question(tables)
    seconds, processor = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), time.process_time()
        question(tables)
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return {"seconds": min(seconds), "processor": min(processor), "megabytes": most_memory()}


def most_memory() -> float:
    """The most memory that this process ever held, in megabytes; Linux tells (getrusage would count what its parent held)."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Time questions to protected tables.")
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--shorter", type=int, default=10**7)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("QUESTION", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, folder = options.one
        print(json.dumps(answer(name, Tables.within(Path(folder), options.groups), options.repeats)))
        return
    with tempfile.TemporaryDirectory() as folder:
        make_tables(Path(folder), options.rows, options.shorter, options.groups)
        print(f"{options.rows:,} rows in the long table; {options.shorter:,} rows and {options.groups:,} groups in the others.\n")
        print("| question | processor, s | clock, s | of the engine's: processor | clock | MB |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        peer: dict[str, float] = {}
        for name in QUESTIONS:
            command = [sys.executable, __file__, "--one", name, folder]
            command += ["--groups", str(options.groups), "--repeats", str(options.repeats)]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            peer = found if name in PEERS else peer
            times = f"{found['processor']:.2f} | {found['seconds']:.2f}"
            ratios = " | ".join(f"{found[kind] / peer[kind]:.1f}" for kind in ("processor", "seconds"))
            print(f"| {name} | {times} | {ratios} | {found['megabytes']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
