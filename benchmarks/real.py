"""Private answers on real tables: do intervals hold what the usual tool says of the whole table, and how far off are they?

    python benchmarks/real.py [--repeats 200] [--only "diamonds linear" mle] [--quick] [--processes 2] [--json FILE] [--list]

Rows are drawn with replacement from the whole table, and the truth is what numpy, scipy or statsmodels say of that. Of every
number: the share of 95% intervals that held the truth, the median error over that of the usual tool on the same rows, and the
median width over that of an interval without privacy (1.96 standard deviations of the usual tool's answers to either side). A
`NoReply` is no reply, never a miss. Of tests `held` also has the power beside the usual test's, of choices the likeness to
what the usual tool chooses from the whole table. Cells that fall short of the aims come first. `make_real_pictures.py` makes the
documentation of the results that `--json` kept.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.real_tables.cells import jobs
from benchmarks.real_tables.jobs import Job
from benchmarks.real_tables.measures import Cell, measure
from benchmarks.real_tables.report import HEAD, in_order, line_of, markdown, save
from benchmarks.real_tables.tables import table

QUICK = 20
_JOBS: list[Job] = []


def wanted(only: Sequence[str]) -> list[Job]:
    """The jobs with a cell whose name holds all words of one of these texts, with these cells alone."""
    found = []
    for job in jobs():
        epsilons = tuple(each for each in job.epsilons if not only or any(_holds(job.name_at(each), text) for text in only))
        if epsilons:
            found.append(Job(job.question, job.rows, epsilons))
    return found


def _holds(name: str, text: str) -> bool:
    return all(word.lower() in name.lower() for word in text.split())


def measured(chosen: Sequence[Job], repeats: int, processes: int) -> Iterator[list[Cell]]:
    """The cells of each job as they are done, the longest first."""
    for name in {job.question.table for job in chosen}:
        table(name)  # before there are processes, which then share it
    if processes < 2:
        _calm()
        yield from (measure(job, repeats) for job in chosen)
        return
    longest_first = sorted(chosen, key=lambda job: -job.rows * len(job.epsilons) * max(1, job.question.coefficients))
    _JOBS[:] = longest_first  # questions hold functions that cannot be sent: processes that are forked have them
    with ProcessPoolExecutor(processes, mp_context=get_context("fork"), initializer=_calm) as pool:
        for future in as_completed([pool.submit(_measured_at, place, repeats) for place in range(len(longest_first))]):
            yield future.result()


def _measured_at(place: int, repeats: int) -> list[Cell]:
    return measure(_JOBS[place], repeats)


def _calm() -> None:
    """One thread for each process, and no warnings of the usual tools."""
    threadpool_limits(1)
    warnings.simplefilter("ignore")


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--only", nargs="+", default=[], help="cells whose line holds all words of one of these texts")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} samples: shows what broke, decides nothing")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="where to keep the results")
    parser.add_argument("--list", action="store_true", help="name the cells and stop")
    arguments = parser.parse_args()
    chosen = wanted(arguments.only)
    if arguments.list:
        print("\n".join(job.name_at(epsilon) for job in chosen for epsilon in job.epsilons))
        return
    start, cells = time.perf_counter(), []
    for found in measured(chosen, QUICK if arguments.quick else arguments.repeats, arguments.processes):
        cells += found
        for cell in found:
            print(" | ".join(line_of(cell)), file=sys.stderr, flush=True)
    cells = in_order(cells)
    print(f"\n{markdown(cells)}\n")
    short = sum(bool(cell.short) for cell in cells)
    tables = len({cell.table for cell in cells})
    minutes = (time.perf_counter() - start) / 60
    print(f"{short} of {len(cells)} cells fall short, over {tables} tables, in {minutes:.1f} minutes; columns: {', '.join(HEAD)}")
    if arguments.json:
        save(arguments.json, cells)


if __name__ == "__main__":
    main()
