"""Synthetic rows of real tables: how far are their tables of one, two and three columns from those of the rows?

    python benchmarks/synthetic.py [--only fair OFP] [--epsilons 1 0.3] [--pure] [--seeds 4] [--adult FILE] [--peers PYTHON]
    python benchmarks/synthetic.py --absurd 500
    python benchmarks/synthetic.py --split 250 [--only HI MedExp adult.csv] [--first-seed 100001]
    python benchmarks/synthetic.py --large 10000000

The mean total variation over all tables of one and of two columns and 100 of three, numbers between deciles (values of a tenth
of the rows or more apart), and the largest rank error of a median. Beside it the same of each column shuffled by itself, which
has all columns right and no relations, and of rows drawn with replacement, which is what another sample of such rows would show.
Labels are listed; nothing else is. `fair`, `diamonds` and `adult` were used to choose the constants of the method, and `rwm5yr`,
`OFP` and `Star` those for few rows; `HI`, `MedExp` and `BudgetFood` were not looked at before. `adult` is read from a file (UCI's
census income, with a header).

`--peers` names a Python that has dpmm, whose pinned packages are not ours:

    python3.11 -m venv peers && peers/bin/pip install dpmm==0.1.9
    python benchmarks/synthetic.py --only fair --epsilons 1 --peers peers/bin/python [--peer-iterations 500 100]

Its MST and AIM then run on the same tables, and ratios of our distances and seconds to theirs are printed. They are given the
true bins of every column for nothing, and true values within them; AIM may have a model of 1 MB and three rounds for each
column, because with what it takes by itself (80 MB, 16 rounds) it does not end within hours.

`--absurd` asks instead for that many releases of eight ordinary columns, drawn afresh for each: how many have a value that lies
farther outside of its column than twice the column's range, and how many columns of zeros and ones hold other values.

`--split` asks for that many releases of small tables: 500 to 5,000 rows and 4 to 14 columns drawn from the tables that are named
(a CSV file is read as it is), epsilon 0.5 to 3, with and without delta, as far as there is a reply. It says where the distance of
their tables of two columns comes from: beside the release (a) stand rows from the same released columns taken to be independent
(b), which differ from it by the tables of pairs alone, and the table's own shuffled columns (c), which differ from those by the
noise of single columns alone. Rows are drawn for each of them, by which two distances of one model differ, too: (b) drawn again
says by how much.

`--large` makes a Parquet file of that many rows and 20 columns, asks for synthetic rows and for tables of it, each in a process
of its own, and says in how many passes, how many seconds of a processor and how much memory.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import dpstats as dp
from benchmarks.large.synthesis import measure_large
from benchmarks.peers.true_bins import METHODS, peer_rows
from benchmarks.real_tables.tables import table as packaged
from dpstats.statistics.synthetic.data import SyntheticData

TUNED, FRESH = ("fair", "diamonds", "adult", "rwm5yr", "OFP", "Star"), ("HI", "MedExp", "BudgetFood")
NUMBERS = {
    "fair": ["age", "yrs_married", "children", "educ", "affairs"],
    "diamonds": ["carat", "depth", "table", "price", "x", "y", "z"],
    "adult": ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"],
    "rwm5yr": ["docvis", "hospvis", "age", "hhninc", "educ"],
    "OFP": ["ofp", "ofnp", "opp", "opnp", "emr", "hosp", "numchron", "age", "school", "faminc"],
    "Star": ["tmathssk", "treadssk", "totexpk"],
    "HI": ["whrswk", "experience", "kidslt6", "kids618", "husby", "wght"],
    "MedExp": ["med", "lpi", "fmde", "ndisease", "linc", "lfam", "educdec", "age"],
    "BudgetFood": ["wfood", "totexp", "age", "size"],
}


SMALL_ROWS, SMALL_COLUMNS, SMALL_EPSILONS = (500, 1000, 2000, 3000, 5000), (4, 6, 9, 14), (0.5, 1.0, 3.0)
SPLIT_AT = (150, 200, 300, 500, 1000)
MOST_LABELS, MOST_GAPS = 30, 0.3


def loaded(name: str, adult: Path | None) -> pd.DataFrame | None:
    """A table whose labels are whole numbers; None where its file is not there."""
    if name != "adult":
        table = packaged(name).drop(columns=["id"], errors="ignore")
    elif adult is None:
        return None
    else:
        table = pd.read_csv(adult)
    table = table.dropna().reset_index(drop=True)
    for column in table:
        table[column] = table[column] if column in NUMBERS[name] else pd.Categorical(table[column]).codes.astype(int)
    return table


def bins_of(values: np.ndarray) -> np.ndarray:
    """Where bins of a tenth of the rows begin; few values, and those of many rows, have bins of their own."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= 10:
        return distinct[1:]
    cuts = set(np.quantile(values, np.arange(1, 10) / 10, method="inverted_cdf").tolist())
    for place in np.flatnonzero(counts >= values.size / 10).tolist():
        cuts |= set(distinct[place : place + 2].tolist())
    return np.array(sorted(cuts - {distinct[0]}))


class Yardstick:
    """The tables of a frame, to compare those of other frames with."""

    def __init__(self, truth: pd.DataFrame, numbers: list[str]) -> None:
        self.truth, self.numbers = truth, numbers
        self.bins = {name: bins_of(truth[name].to_numpy(float)) for name in numbers}
        self._codes = self._coded(truth)
        self._sets = [list(itertools.combinations(truth.columns, size)) for size in (1, 2, 3)]
        if len(self._sets[2]) > 100:
            chosen = np.random.default_rng(1).choice(len(self._sets[2]), 100, replace=False)
            self._sets[2] = [self._sets[2][place] for place in chosen]

    def distances(self, other: pd.DataFrame) -> list[float]:
        """Mean total variations of one, two and three columns, and the largest rank error of a median."""
        codes = self._coded(other)
        means = [float(np.mean([self._distance(codes, names) for names in each])) for each in self._sets]
        ranks = []
        for name in self.numbers:
            middle = self.truth[name].median()
            ranks.append(abs((other[name] < middle).mean() - (self.truth[name] < middle).mean()))
        return [*means, float(max(ranks))]

    def _coded(self, frame: pd.DataFrame) -> dict[str, np.ndarray]:
        codes = {name: np.searchsorted(self.bins[name], frame[name].to_numpy(float), "right") for name in self.numbers}
        return {name: codes[name] if name in codes else frame[name].to_numpy() for name in frame}

    def _distance(self, codes: dict[str, np.ndarray], names: tuple[str, ...]) -> float:
        sizes = [int(max(self._codes[name].max(), codes[name].max())) + 1 for name in names]
        shares = []
        for side in (self._codes, codes):
            cells = np.ravel_multi_index([side[name] for name in names], sizes)
            shares.append(np.bincount(cells, minlength=int(np.prod(sizes))) / cells.size)
        return float(np.abs(shares[0] - shares[1]).sum() / 2)


def synthetic(truth: pd.DataFrame, numbers: list[str], epsilon: float, delta: float) -> tuple[pd.DataFrame, float]:
    """Synthetic rows, and the seconds of a processor that they took."""
    levels = {name: sorted(set(truth[name].tolist())) for name in truth if name not in numbers}
    began = time.process_time()
    release = dp.synthesize(truth, levels=levels, epsilon=epsilon, delta=delta, rough=True)
    assert isinstance(release, dp.Release)
    rows = plain_rows(release.value, numbers)
    return rows, time.process_time() - began


def plain_rows(data: SyntheticData, numbers: list[str]) -> pd.DataFrame:
    """Rows whose labels are whole numbers, as those of the tables are."""
    rows = data.to_pandas()
    for name in rows:
        listed = pd.to_numeric(rows[name], errors="coerce").astype(float).fillna(0)
        rows[name] = listed if name in numbers else listed.astype(int)
    return rows


def ordinary_columns(seed: int, rows: int) -> pd.DataFrame:
    """Eight columns without anything odd, all of decimals: sex and rare are zeros and ones."""
    chance = np.random.default_rng(seed)
    columns = {
        "age": chance.integers(18, 80, rows),
        "sex": chance.random(rows) < 0.5,
        "rare": chance.random(rows) < 0.04,
        "education": chance.integers(0, 18, rows),
        "income": np.exp(chance.normal(3.4, 0.6, rows)).round(3),
        "wealth": (chance.standard_t(3, rows) * 20 + 10).round(1),
        "children": chance.poisson(1.2, rows),
        "score": chance.normal(500, 100, rows).round(),
    }
    return pd.DataFrame({name: values.astype(float) for name, values in columns.items()})


def count_absurd(releases: int, rows: int, epsilon: float, delta: float, first_seed: int) -> None:
    """Print how many releases of ordinary columns hold absurd values, and how many zeros and ones became something else."""
    answered = absurd = marks = 0
    misses: list[float] = []
    for seed in range(first_seed, first_seed + releases):
        truth = ordinary_columns(seed, rows)
        release = dp.synthesize(truth, epsilon=epsilon, delta=delta, rng=dp.testing.seeded(seed))
        if not isinstance(release, dp.Release):
            continue
        answered += 1
        outside = False
        for name, values in release.value.values.items():
            there, known = truth[name].to_numpy(), values[~np.isnan(values)]
            reach = 2 * np.ptp(there)
            outside |= bool((known < there.min() - reach).any() or (known > there.max() + reach).any())
            if name in ("sex", "rare"):
                marks += not set(np.unique(known)) <= {0.0, 1.0}
            at = np.quantile(there, np.linspace(0.05, 0.95, 19))
            shares = [np.searchsorted(np.sort(each), at, "right") / max(each.size, 1) for each in (there, known)]
            misses.append(float(np.abs(shares[0] - shares[1]).mean()))
        absurd += outside
    counts = f"{absurd} of {answered}", f"{marks} of {2 * answered}"
    print(
        line(f"{rows:,}", f"{epsilon:g}", f"{delta:g}", f"{releases - answered}", *counts, float(np.mean(misses or [np.nan]))),
        flush=True,
    )


def small_table(table: pd.DataFrame, rows: int, columns: int, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Some rows and columns of a table without gaps, labels as whole numbers; and which columns are numbers."""
    usable = [name for name in table if table[name].nunique() > 1 and table[name].isna().mean() < MOST_GAPS]
    usable = [name for name in usable if is_number(table[name]) or table[name].nunique() <= MOST_LABELS]
    places = np.random.default_rng(seed).choice(len(usable), min(columns, len(usable)), replace=False)
    chosen = table[[usable[place] for place in sorted(places)]].dropna()
    chosen = chosen.sample(min(rows, len(chosen)), random_state=seed).reset_index(drop=True)
    chosen = chosen[[name for name in chosen if chosen[name].nunique() > 1]]
    numbers = [name for name in chosen if is_number(chosen[name])]
    codes = {name: pd.Categorical(chosen[name]).codes.astype(int) for name in chosen if name not in numbers}
    return chosen.assign(**codes).astype(dict.fromkeys(numbers, float)), numbers


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, or true and false."""
    return bool(pd.api.types.is_numeric_dtype(column))


def count_split(releases: int, names: list[str], first_seed: int) -> None:
    """Print how often, and by how much, small tables are nearer to their shuffled columns than to what is released."""
    tables = {name: pd.read_csv(name) if name.endswith(".csv") else packaged(name) for name in names}
    found: list[list[float]] = []
    settings = itertools.cycle(itertools.product(SMALL_ROWS, SMALL_EPSILONS, (0.0, 1e-6)))
    for seed in itertools.count(first_seed):
        if len(found) == releases:
            break
        (rows, epsilon, delta), chance = next(settings), np.random.default_rng(seed)
        truth, numbers = small_table(tables[str(chance.choice(names))], rows, int(chance.choice(SMALL_COLUMNS)), seed)
        if not numbers or truth.shape[1] < 2:
            continue
        levels = {name: sorted(set(truth[name].tolist())) for name in truth if name not in numbers}
        release = dp.synthesize(truth, levels=levels, epsilon=epsilon, delta=delta, rng=dp.testing.seeded(seed))
        if not isinstance(release, dp.Release):
            continue
        data, yardstick = release.value, Yardstick(truth, numbers)
        alone = replace(data, pairs=())
        made = [yardstick.distances(plain_rows(each, numbers))[1] for each in (data, alone, replace(alone, seed=data.seed + 1))]
        shuffled = pd.DataFrame({name: chance.permutation(truth[name].to_numpy()) for name in truth})
        strength = len(truth) * epsilon / truth.shape[1]
        found.append([delta, strength, len(data.pairs), *made, yardstick.distances(shuffled)[1]])
    print_split(np.array(found))


def print_split(found: np.ndarray) -> None:
    """Print a line for each strength, with delta and without."""
    print(line("delta", "rows x epsilon / columns", "releases", "a", "b", "c", "a > c", "b > c", "a > b", "a / b", "b again"))
    print(line(*["---"] * 11))
    for delta, (low, high) in itertools.product(np.unique(found[:, 0]), itertools.pairwise([0, *SPLIT_AT, np.inf])):
        held = found[(found[:, 0] == delta) & (found[:, 1] >= low) & (found[:, 1] < high)]
        if held.size:
            print(line(f"{delta:g}", f"{low} to {high}", len(held), *split_cells(held)))
    print(line("all", "", len(found), *split_cells(found)))


def split_cells(held: np.ndarray) -> list[object]:
    """Means, counts and ratios of some releases; those of pairs are of releases that have some."""
    released, alone, again, shuffled = held[:, 3:].T
    paired = held[:, 2] > 0
    farther = paired & (released > alone)
    return [
        *(float(each.mean()) for each in (released, alone, shuffled)),
        int((released > shuffled).sum()),
        int((alone > shuffled).sum()),
        f"{farther.sum()} of {paired.sum()}",
        float(np.median((released / alone)[farther])) if farther.any() else "",
        float(np.median(np.maximum(alone / again, again / alone))),
    ]


def line(*cells: object) -> str:
    """A line of a table."""
    return "| " + " | ".join(f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |"


def compare(name: str, yardstick: Yardstick, ours: list[float], epsilon: float, delta: float, given: argparse.Namespace) -> None:
    """Run the peers on a table, and print how our distances and seconds are to theirs."""
    rows = f"{len(yardstick.truth):,} x {yardstick.truth.shape[1]}"
    for method, iterations in zip(METHODS, given.peer_iterations, strict=True):
        measured: list[list[float]] = []
        for seed in range(given.peer_seeds):
            limits = (iterations, given.peer_seconds, seed)
            found = peer_rows(given.peers, method, yardstick.truth, yardstick.bins, epsilon, delta, *limits)
            if isinstance(found, str):
                print(line(name, rows, f"dpmm's {method.upper()}, {iterations} iterations: {found}", *[""] * 5), flush=True)
                break
            measured.append([*yardstick.distances(found[0]), found[1]])
        if not measured:
            continue
        *distances, seconds = np.mean(measured, axis=0).tolist()
        title = f"dpmm's {method.upper()}, true bins, {iterations} iterations"
        print(line(name, rows, title, *distances, f"{seconds:.1f}"))
        ratios = [f"{mine / theirs:.2f}" if theirs else "" for mine, theirs in zip(ours, [*distances, seconds], strict=True)]
        print(line(name, rows, f"ours / {method.upper()}", *ratios), flush=True)


def main() -> None:
    """Measure the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[*TUNED, *FRESH])
    parser.add_argument("--epsilons", nargs="*", type=float, default=[1.0, 0.3])
    parser.add_argument("--pure", action="store_true", help="without delta too")
    parser.add_argument("--seeds", type=int, default=4, help="releases of each")
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--peers", metavar="PYTHON", help="a Python that has dpmm")
    parser.add_argument("--peer-iterations", nargs=2, type=int, default=[500, 500], help="of the fits of MST and of AIM")
    parser.add_argument("--peer-seconds", type=float, default=3000, help="after how long a peer is stopped")
    parser.add_argument("--peer-seeds", type=int, default=1, help="runs of each peer")
    parser.add_argument("--large", type=int, metavar="ROWS", help="only: passes, seconds and memory for so many rows in Parquet")
    parser.add_argument("--absurd", type=int, metavar="RELEASES", help="only: how many of so many releases hold absurd values")
    parser.add_argument("--split", type=int, metavar="RELEASES", help="only: why releases of small tables are far from them")
    parser.add_argument(
        "--first-seed",
        type=int,
        default=100_001,
        help="the first seed of --absurd and --split; no constant was chosen by it",
    )
    given = parser.parse_args()
    if given.absurd:
        print(
            line(
                "rows", "epsilon", "delta", "refused", "absurd releases", "columns of 0 and 1 with others", "mean miss of the cdf"
            )
        )
        print(line(*["---"] * 7))
        for count, delta in [
            (4000, 0.0),
            (4000, 1e-6),
            (1500, 0.0),
            (1500, 1e-6),
            (20_000, 0.0),
        ]:
            count_absurd(given.absurd, count, 1.0, delta, given.first_seed)
        return
    if given.split:
        count_split(given.split, given.only, given.first_seed)
        return
    if given.large:
        measure_large(given.large)
        return
    print(line("table", "rows", "what", "one column", "two", "three", "median's rank", "seconds"))
    print(line(*["---"] * 8))
    generator = np.random.default_rng(0)
    for name in given.only:
        truth = loaded(name, given.adult)
        if truth is None:
            continue
        yardstick, rows = Yardstick(truth, NUMBERS[name]), f"{len(truth):,} x {truth.shape[1]}"
        again = truth.sample(len(truth), replace=True, random_state=0)
        alone = pd.DataFrame({column: generator.permutation(truth[column].to_numpy()) for column in truth})
        print(line(name, rows, "another sample", *yardstick.distances(again), ""))
        print(line(name, rows, "columns shuffled", *yardstick.distances(alone), ""), flush=True)
        for epsilon, delta in [(each, 1e-6) for each in given.epsilons] + [(each, 0.0) for each in given.epsilons * given.pure]:
            measured = []
            for _ in range(given.seeds):
                rows_made, seconds = synthetic(truth, NUMBERS[name], epsilon, delta)
                measured.append([*yardstick.distances(rows_made), seconds])
            *distances, seconds = np.mean(measured, axis=0).tolist()
            print(line(name, rows, f"epsilon {epsilon:g}, delta {delta:g}", *distances, f"{seconds:.1f}"), flush=True)
            if given.peers and delta:
                compare(name, yardstick, [*distances, seconds], epsilon, delta, given)


if __name__ == "__main__":
    main()
