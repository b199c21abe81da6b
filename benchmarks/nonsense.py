"""How seldom a reply is nonsense: thousands of replies of each statistic, on shapes on which draws once escaped.

    python benchmarks/nonsense.py [--replies 3000] [--only mean "top code"] [--processes 2] [--list]

A reply is nonsense where it is off by more than 100 times what an interval without privacy reaches, or by more than three widths
of its own interval and three times that. Every reply has a sample and a seed of its own, so that a line can be asked again. With
no nonsense in n replies the share is below 3 / n with 95% confidence, which the last column says of all replies of a statistic.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).parents[1]))

import dpstats as dp
from benchmarks.real_tables import questions as ask
from benchmarks.real_tables.drawn import CODE_DIGITS, PARETO_INDICES, PREFIX, SHARES, STEPS, code_name, share_name
from benchmarks.real_tables.measures import NORMAL_95, nonsense
from benchmarks.real_tables.questions import Question
from benchmarks.real_tables.tables import columns

SEED = 34
FEW_SAMPLES = 200
"""Of which the usual tool's answers tell how far an interval without privacy reaches."""
ROWS = 3_000
Case = tuple[Question, float]

ONE_COLUMN = (
    "test scores",
    "weekly wages",
    "rare counts",
    "incomes with zeros",
    "rounded speeds",
    "hours",
    "cigarettes",
    "lopsided",
    "clump at 999",
)
REAL = (("SLID", "wages"), ("flchain", "kappa"), ("VietNamI", "illdays"), ("diamonds", "price"), ("PSID", "earnings"))


def cases() -> Iterator[Case]:
    """Every question with its epsilon."""
    places = [*((f"{PREFIX} {name}", "x") for name in ONE_COLUMN), *REAL]
    for table, column in places:
        for statistic in ("mean", "std", "median", "iqr", "trimmed_mean"):
            yield ask.of_column(statistic, table, column), 1.0
        for q in (0.1, 0.9):
            yield ask.quantile(q, table, column), 1.0
            yield ask.quantile(q, table, column), 0.33
        for quantiles in ((0.5, 0.99), (0.05, 0.5, 0.95)):
            yield ask.last_of_quantiles(quantiles, table, column), 1.0
    for share in SHARES:
        table = f"{PREFIX} {share_name(share)}"
        for epsilon in (0.33, 1.0):
            yield ask.of_column("mean", table, "x"), epsilon
            yield ask.proportion(table, "x"), epsilon
    for digits in CODE_DIGITS:
        yield ask.quantile(0.9, f"{PREFIX} {code_name(digits)}", "x"), 0.33
    for step in STEPS:
        yield ask.quantile(0.9, f"{PREFIX} brackets {step:g}", "x"), 1.0
    yield ask.quantile(0.1, f"{PREFIX} ties below", "x"), 0.33
    for name in ("normal pair", *(f"pareto {index:g}" for index in PARETO_INDICES), "places"):
        yield ask.correlation("pearson", f"{PREFIX} {name}", "x", "y"), 1.7


def name_of(case: Case) -> str:
    """A case in one line."""
    return f"{case[0].name}, epsilon {case[1]:g}"


def count(case: Case, replies: int) -> tuple[int, int, list[int]]:
    """How many samples were answered, how many were refused, and the numbers of those whose reply was nonsense."""
    question, epsilon = case
    whole = columns(question.table, question.columns)
    size = len(next(iter(whole.values())))
    chance = np.random.default_rng([SEED, *question.name.encode()])
    usual = [
        question.exact({name: values[chance.integers(0, size, ROWS)] for name, values in whole.items()})
        for _ in range(FEW_SAMPLES)
    ]
    (truth,), ideal = question.exact(whole), 2 * NORMAL_95 * float(np.std(usual))
    found, refused, wild = 0, 0, []
    for number in range(replies):
        sample = np.random.default_rng([SEED, number]).integers(0, size, ROWS)
        rows = {name: values[sample] for name, values in whole.items()}
        (reply,) = question.ask(rows, epsilon=epsilon, rng=dp.testing.seeded(number)).replies
        if reply is None:
            refused += 1
            continue
        found += 1
        error, width = np.array([abs(reply.value - truth)]), np.array([reply.high - reply.low])
        if nonsense(error, width, ideal, np.array([truth]))[0]:
            wild.append(number)
    return found, refused, wild


def largest_share(wild: int, replies: int) -> float:
    """The upper end of Clopper and Pearson's one-sided 95% interval."""
    return float(beta.ppf(0.95, wild + 1, replies - wild)) if wild < replies else 1.0


_CASES: list[Case] = []


def _count_at(place: int, replies: int) -> tuple[int, int, list[int]]:
    return count(_CASES[place], replies)


def main() -> None:
    """Parse, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replies", type=int, default=3_000)
    parser.add_argument("--only", nargs="+", default=[], help="cases whose line holds all words of one of these texts")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    arguments = parser.parse_args()
    chosen = [
        case for case in cases() if not arguments.only or any(all(w in name_of(case) for w in t.split()) for t in arguments.only)
    ]
    if arguments.list:
        print("\n".join(map(name_of, chosen)))
        return
    _CASES[:] = chosen  # processes that are forked have them
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    print("| question | replies | refused | nonsense | seeds of the first |\n| --- | --- | --- | --- | --- |")
    with ProcessPoolExecutor(arguments.processes, mp_context=get_context("fork")) as pool:
        for case, (found, refused, wild) in zip(
            chosen, pool.map(_count_at, range(len(chosen)), [arguments.replies] * len(chosen)), strict=True
        ):
            for place, number in enumerate((found, refused, len(wild))):
                totals[case[0].statistic][place] += number
            print(f"| {name_of(case)} | {found} | {refused} | {len(wild)} | {' '.join(map(str, wild[:5]))} |", flush=True)
    print("\n| statistic | replies | refused | nonsense | at most, of 10,000 replies |\n| --- | --- | --- | --- | --- |")
    for statistic, (found, refused, wild_replies) in sorted(totals.items()):
        most = largest_share(wild_replies, found) if found else math.nan
        print(f"| {statistic} | {found} | {refused} | {wild_replies} | {10_000 * most:.1f} |")


if __name__ == "__main__":
    main()
