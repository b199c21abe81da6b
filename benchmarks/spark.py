"""What passes over a table in Spark cost: against rows, partitions and groups, beside Spark's own aggregates.

    python benchmarks/spark.py [--rows 100000 1000000 10000000] [--partitions 2 8] [--groups 10 1000] [--repeats 3]

Spark runs in this machine's memory with two workers and holds the table there, so that what is measured is the way from Spark to
our jobs and back. A pass counts the rows of one column; a median is a window of 1000 rows either side of it, in two passes; the
medians of groups run in lockstep, in as many passes as the slowest group needs. Ratios count, seconds belong to the machine; each
is the least of several. The table is in Markdown.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.groups.answers import GroupKeys, answer_groups
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.spark import SparkStore
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import WindowRequest

ROWS = (10**5, 10**6, 10**7)
PARTITIONS = (2, 8)
GROUPS = (10, 1000)
MARGIN = 1000
MEDIAN = WindowRequest(Fraction(1, 2), MARGIN)
SETTINGS = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}


def start_spark() -> Any:
    """Two workers on this machine, with the Python that runs this."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def least_time(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


class Counted(SparkStore):
    """A store that counts its passes."""

    passes = 0

    def run(self, job: Any, columns: Any) -> Any:
        """Run a job, and count it."""
        self.passes += 1
        return super().run(job, columns)


def medians_of_groups(store: SparkStore, groups: int) -> object:
    keys = GroupKeys((f"region_of_{groups}",), (ColumnType.INTEGER,), tuple((key,) for key in range(groups)))
    return answer_groups(store, TableView(store.columns), keys, "income", True, lambda _, column: column.order_windows([MEDIAN]))


def measure(table: Any, groups: tuple[int, ...], repeats: int) -> Iterator[str]:
    """The cells of one line: Spark's own sum and approximate median, a pass, a median, medians of groups; with the passes."""
    from pyspark.sql import functions as sql

    store = Counted(table)
    view = TableView(store.columns)
    questions: list[Callable[[], object]] = [
        lambda: table.select(sql.sum("income")).collect(),
        lambda: table.select(sql.percentile_approx("income", 0.5)).collect(),
        lambda: open_column(store, view, "income", numeric=True).count(),
        lambda: open_column(store, view, "income", numeric=True).order_windows([MEDIAN]),
        *(lambda number=number: medians_of_groups(store, number) for number in groups),
    ]
    for question in questions:
        question()  # once to warm up, and to count
        store.passes = 0
        seconds = least_time(question, repeats)
        passes = store.passes // repeats
        yield f"{seconds:.2f}" + (f" ({passes})" if passes else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time passes over a table in Spark.")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--partitions", type=int, nargs="+", default=PARTITIONS)
    parser.add_argument("--groups", type=int, nargs="+", default=GROUPS)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    session = start_spark()
    heads = ["rows", "partitions", "Spark's sum, s", "its approximate median, s", "one pass, s", "median, s (passes)"]
    heads += [f"medians of {groups} groups, s (passes)" for groups in options.groups]
    print(f"| {' | '.join(heads)} |\n|{' ---: |' * len(heads)}")
    for rows in options.rows:
        for partitions in options.partitions:
            regions = [f"CAST(id % {groups} AS INT) AS region_of_{groups}" for groups in options.groups]
            table = session.range(0, rows, 1, partitions).selectExpr(*regions, "exp(10 + randn(7)) AS income").persist()
            table.count()
            cells = measure(table, tuple(options.groups), options.repeats)
            print(f"| {rows:,} | {partitions} | {' | '.join(cells)} |", flush=True)
            table.unpersist()
    session.stop()


if __name__ == "__main__":
    main()
