"""What questions to tables that lie elsewhere cost, over the engine's own average of one column in the same run.

    python benchmarks/far.py [--rows 1000000 10000000] [--stores parquet csv duckdb postgres spark] [--repeats 2]

The questions: a mean and a median of all rows, a median of a part of them (a condition that about one row in three meets), a
linear regression on two features, and the first question of a session in which no person has too many rows, or one in 1000 has.
Ratios count; seconds belong to the machine, and each is the least of several. CPU is that of this process, of its children and of
the server. Each store runs in a process of its own; tables are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dpstats as dp

ROOT = Path(__file__).parents[1]
STORES = ("parquet", "csv", "duckdb", "postgres", "spark")
NAME = "visits"
CONDITION = "hours > 26"
TICKS = os.sysconf("SC_CLK_TCK")


def make_table(rows: int) -> pl.DataFrame:
    """An income that depends on age and on schooling, hours from 0 to 39, a person for every row, and patients of two rows at
    most but for one in a thousand."""
    chance = np.random.default_rng(4)
    age, schooling = chance.normal(45, 12, rows), chance.normal(11, 3, rows)
    patient = np.arange(rows) // 2
    crowded = patient % 1000 == 0
    patient[crowded] = patient[crowded] // 4000 * 4000
    return pl.DataFrame(
        {
            "person": chance.permutation(rows),
            "patient": patient,
            "age": age,
            "schooling": schooling,
            "hours": chance.integers(0, 40, rows),
            "income": 400 * age + 900 * schooling + chance.normal(0, 5000, rows),
        }
    )


def protected(table: Any, **changes: Any) -> Any:
    """A session whose ledger is in memory, so that no disk is measured."""
    numbers = {"age": "number", "schooling": "number", "hours": "integer", "income": "number"}
    types = {**numbers, "person": "integer", "patient": "integer"} if str(table).endswith(".csv") else {}
    fixed = {"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.01), "ledger": ":memory:"}
    return dp.protect(table, **{**fixed, **({"types": types} if types else {}), **changes})


QUESTIONS: dict[str, Callable[[Any], object]] = {
    "mean": lambda table: protected(table).mean("income", epsilon=1),
    "median": lambda table: protected(table).median("income", epsilon=1),
    "median of a third": lambda table: protected(table).where(CONDITION).median("income", epsilon=1),
    "regression": lambda table: protected(table).linear_regression(["age", "schooling"], "income", epsilon=1),
    "first question, none has too many": lambda table: protected(table, unit="person", max_rows_per_unit=1).count(epsilon=1),
    "first question, one in 1000 has": lambda table: protected(table, unit="patient", max_rows_per_unit=2).count(epsilon=1),
}


@contextmanager
def opened(store: str, folder: Path, rows: int) -> Iterator[tuple[Any, Callable[[], object], list[int]]]:
    """The table in a store, the store's own average, and the processes of its server."""
    file = folder / "visits.parquet"
    lines = folder / "visits.csv"
    subprocess.run([sys.executable, __file__, "--make", str(folder), "--rows", str(rows)], check=True)
    if store == "parquet":
        yield file, lambda: pl.scan_parquet(file).select(pl.col("income").mean()).collect(engine="streaming"), []
    elif store == "csv":
        yield lines, lambda: pl.scan_csv(lines).select(pl.col("income").mean()).collect(engine="streaming"), []
    elif store == "duckdb":
        import duckdb

        connection = duckdb.connect(str(folder / "visits.duckdb"))
        connection.execute(f"CREATE TABLE {NAME} AS FROM '{file}'")
        yield connection.table(NAME), lambda: connection.execute(f"SELECT avg(income) FROM {NAME}").fetchall(), []
    elif store == "postgres":
        with ExitStack() as stack:
            yield in_postgres(stack, file)
    else:
        session = import_module("spark").start_spark()
        table = session.read.parquet(str(file))
        yield table, lambda: table.agg({"income": "avg"}).collect(), []
        session.stop()


def in_postgres(stack: ExitStack, file: Path) -> tuple[Any, Callable[[], object], list[int]]:
    """The table in a server that is started for it."""
    import psycopg

    sys.path.insert(0, str(ROOT))
    from tests.postgres import binaries, running_server

    found = binaries()
    assert found is not None, "no Postgres: pip install pgserver"
    server = stack.enter_context(running_server(found))
    connection = stack.enter_context(psycopg.connect(server.url, autocommit=True))
    columns = "person int8, patient int8, age float8, schooling float8, hours int8, income float8"
    connection.execute(f"CREATE TABLE {NAME} ({columns})".encode())
    filling = connection.cursor().copy(f"COPY {NAME} FROM STDIN WITH (FORMAT csv)".encode())
    with filling as copy, file.with_suffix(".csv").open("rb") as lines:
        lines.readline()
        while block := lines.read(1 << 20):
            copy.write(block)
    connection.execute(f"VACUUM ANALYZE {NAME}".encode())
    number = int((server.data / "postmaster.pid").read_text().splitlines()[0])
    return f"{server.url}#{NAME}", lambda: connection.execute(f"SELECT avg(income) FROM {NAME}".encode()).fetchall(), [number]


def cpu_seconds(roots: list[int]) -> float:
    """What processes and all below them have spent, the ended ones included."""
    parents, spent = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
            spent[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS
    below = set(roots)
    while more := {number for number, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(spent.get(number, 0.0) for number in below)


def measured(run: Callable[[], object], roots: list[int], repeats: int) -> tuple[float, float]:
    """The least wall and CPU seconds of several runs."""
    found = []
    for _ in range(repeats):
        cpu, start = cpu_seconds(roots), time.perf_counter()
        run()
        found.append((time.perf_counter() - start, cpu_seconds(roots) - cpu))
    return min(wall for wall, _ in found), min(cpu for _, cpu in found)


def most_memory() -> float:
    """The most memory that this process ever held, in megabytes; Linux tells."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def answer(store: str, rows: int, only: str, repeats: int) -> None:
    """Print what each question of one store costs, a line of JSON for each."""
    with tempfile.TemporaryDirectory() as folder, opened(store, Path(folder), rows) as (table, own, servers):
        roots = [os.getpid(), *servers]
        own()
        print(json.dumps(["own average", *measured(own, roots, max(3, repeats)), most_memory()]), flush=True)
        for name, question in QUESTIONS.items():
            if only in name:
                found = measured(partial(question, table), roots, repeats)
                print(json.dumps([name, *found, most_memory()]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time questions to tables that lie elsewhere.")
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES)
    parser.add_argument("--only", default="", help="questions whose name holds this")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        frame = make_table(options.rows[0])
        frame.write_parquet(options.make / "visits.parquet")
        frame.write_csv(options.make / "visits.csv")
        return
    if options.one:
        answer(options.one, options.rows[0], options.only, options.repeats)
        return
    print("| rows | store | question | s | of its average | CPU s | of its average's | MB so far |\n|" + " --- |" * 8)
    for rows in options.rows:
        for store in options.stores:
            command = [sys.executable, __file__, "--one", store, "--rows", str(rows), "--only", options.only]
            with subprocess.Popen([*command, "--repeats", str(options.repeats)], stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                own: list[float] = []
                for line in process.stdout:
                    name, wall, cpu, memory = json.loads(line)
                    own = own or [wall, max(cpu, 0.01)]
                    ratios = f"{wall:.2f} | {wall / own[0]:.1f} | {cpu:.2f} | {cpu / own[1]:.1f}"
                    print(f"| {rows:,} | {store} | {name} | {ratios} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
