"""How long questions to protected tables take, against polars' own answers in the same run, and in how much memory.

    python benchmarks/tables.py [--rows 100000000] [--grouped 10000000] [--groups 1000] [--repeats 3]

Each line runs in a process of its own, so that its memory is its own; the ledger is in memory, so that no disk is measured.
Ratios count, seconds belong to the machine; each is the least of several. Tables are made in a temporary folder.
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
from typing import Any

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


def least_time(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def protected(table: Any, **changes: Any) -> Any:
    import dpstats as dp

    return dp.protect(table, **{"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.01), "ledger": ":memory:", **changes})


QUESTIONS: dict[str, Callable[[Path, Path, int], Callable[[], object]]] = {
    "polars' sum of a Parquet column": lambda long, grouped, groups: (
        lambda: pl.scan_parquet(long).select(pl.col("income").sum()).collect(engine="streaming")
    ),
    "polars' median of a Parquet column": lambda long, grouped, groups: (
        lambda: pl.scan_parquet(long).select(pl.col("income").median()).collect(engine="streaming")
    ),
    "median, Parquet": lambda long, grouped, groups: lambda: protected(long).median("income", epsilon=1),
    "interquartile range, Parquet": lambda long, grouped, groups: lambda: protected(long).iqr("income", epsilon=1),
    "median of some rows, Parquet": lambda long, grouped, groups: (
        lambda: protected(long).where("income > 20000").median("income", epsilon=1)
    ),
    "polars' medians of groups, Parquet": lambda long, grouped, groups: (
        lambda: pl.scan_parquet(grouped).group_by("number").agg(pl.col("income").median()).collect(engine="streaming")
    ),
    "medians of public groups, Parquet": lambda long, grouped, groups: (
        lambda: protected(grouped).group_by("number", keys=range(groups)).median("income", epsilon=1)
    ),
    "medians of private groups, Parquet": lambda long, grouped, groups: (
        lambda: protected(grouped).group_by("text").median("income", epsilon=1, delta=1e-6)
    ),
    "median, one row a person, Parquet": lambda long, grouped, groups: (
        lambda: protected(grouped, unit="person").median("income", epsilon=1)
    ),
    "median, two of five rows a person, Parquet": lambda long, grouped, groups: (
        lambda: protected(grouped, unit="patient", max_rows_per_unit=2).median("income", epsilon=1)
    ),
}


def answer(name: str, long: Path, grouped: Path, groups: int, repeats: int) -> dict[str, float]:
    """Time one question in this process, and look at the memory that it took."""
    question = QUESTIONS[name](long, grouped, groups)
    question()
    seconds = least_time(question, repeats)
    return {"seconds": seconds, "megabytes": most_memory()}


def most_memory() -> float:
    """The most memory that this process ever held, in megabytes; Linux tells (getrusage would count what its parent held)."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Time questions to protected tables.")
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--grouped", type=int, default=10**7)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("QUESTION", "LONG", "GROUPED"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, long, grouped = options.one
        print(json.dumps(answer(name, Path(long), Path(grouped), options.groups, options.repeats)))
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "long.parquet", Path(folder) / "grouped.parquet"]
        make_long(files[0], options.rows)
        make_grouped(files[1], options.grouped, options.groups)
        print(f"{options.rows:,} rows in the long table; {options.grouped:,} rows and {options.groups:,} groups in the other.\n")
        print("| question | seconds | of polars' own | MB |\n| --- | ---: | ---: | ---: |")
        peer = 1.0
        for name in QUESTIONS:
            command = [sys.executable, __file__, "--one", name, *map(str, files)]
            command += ["--groups", str(options.groups), "--repeats", str(options.repeats)]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            is_peer = name.startswith("polars'") and "median of a" not in name
            peer = found["seconds"] if is_peer else peer
            print(f"| {name} | {found['seconds']:.2f} | {found['seconds'] / peer:.1f} | {found['megabytes']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
