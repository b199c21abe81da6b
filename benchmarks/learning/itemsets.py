"""How many of the most frequent itemsets are missed, and by how much counts are off: a table in Markdown.

    python benchmarks/learning/itemsets.py [--adult adult.csv] [--repeats 5]

Tables: Fair's survey, which statsmodels ships, and with --adult UCI Adult with coded columns. "given" lists all labels, and cuts
columns of more than 20 values at the true twentieths; "found" lists nothing: bins and labels are found privately, and the truth
is counted with the codes that came out. Missed: the part of the k most frequent sets of up to three items that is not among
those drawn, as in the definition of a false negative for top-k sets (Bhaskar et al. 2010). No other library that we know of ships
this question; the line "floats" draws by float Gumbel noise on the same scores, and has no claim.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats.accounting.concentration import zcdp_within

DELTA = 1e-6
CASES = ((50, 0.3), (50, 1.0), (200, 1.0))


def fair() -> pd.DataFrame:
    """Fair's survey, as statsmodels ships it."""
    from statsmodels.datasets import fair as packaged

    return packaged.load_pandas().data


def given_codes(table: pd.DataFrame) -> dict[str, Any]:
    """Levels and bins of all columns, as if they were public."""
    levels: dict[str, list[Any]] = {}
    bins: dict[str, list[float]] = {}
    for name in table:
        values = table[name].to_numpy()
        distinct = np.unique(values)
        if len(distinct) <= 50 and np.all(distinct == np.floor(distinct)):
            levels[name] = [int(value) for value in distinct]
        else:
            bins[name] = np.unique(np.quantile(values, np.arange(1, 20) / 20, method="inverted_cdf")).tolist()
    return {"levels": levels, "bins": bins}


def coded(table: pd.DataFrame, columns: Any) -> dict[str, np.ndarray]:
    """The codes of all rows, by the columns of a release."""
    codes = {}
    for column in columns:
        values = table[column.name].to_numpy()
        if column.labels:
            codes[column.name] = np.searchsorted(np.array(column.labels), values)
        else:
            codes[column.name] = np.searchsorted(np.array(column.edges), values, side="right")
    return codes


def true_counts(codes: dict[str, np.ndarray], columns: Any) -> dict[tuple[int, ...], np.ndarray]:
    """Rows by the codes of up to three columns."""
    sizes, names = [column.size for column in columns], [column.name for column in columns]
    tables = {}
    for size in (1, 2, 3):
        for places in combinations(range(len(names)), size):
            shape = [sizes[place] for place in places]
            flat = np.ravel_multi_index([codes[names[place]] for place in places], shape)
            tables[places] = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
    return tables


def compare(table: pd.DataFrame, k: int, epsilon: float, delta: float, codes: dict[str, Any], repeats: int) -> list[float]:
    """The mean part of the k most frequent sets that is missed, that of floats, the median relative error, and seconds."""
    missed, floats, errors, seconds = [], [], [], []
    for seed in range(repeats):
        start = time.process_time()
        release: Any = dp.frequent_itemsets(table, k=k, epsilon=epsilon, delta=delta, rough=True, **codes)
        seconds.append(time.process_time() - start)
        value = release.value
        tables = true_counts(coded(table, value.columns), value.columns)
        every = np.concatenate([each.ravel() for each in tables.values()])
        kth = np.sort(every)[-k]
        counts = [int(tables[tuple(c for c, _ in items)][tuple(c for _, c in items)]) for items in value.sets]
        missed.append(1 - sum(count >= kth for count in counts) / k)
        relative = [abs(said - true) / max(true, 1) for said, true in zip(value.counts, counts, strict=True)]
        errors.append(float(np.median(relative)))
        floats.append(_by_floats(every, k, kth, epsilon, delta, np.random.default_rng(seed)))
    return [float(np.mean(each)) for each in (missed, floats, errors, seconds)]


def _by_floats(every: np.ndarray, k: int, kth: int, epsilon: float, delta: float, chance: np.random.Generator) -> float:
    whole = float(zcdp_within(Fraction(epsilon), Fraction(delta))) if delta else epsilon
    rate = (4 * whole / k) ** 0.5 if delta else epsilon / 2 / k
    drawn = np.argpartition(-(rate * every + chance.gumbel(size=len(every))), k)[:k]
    return 1 - float((every[drawn] >= kth).sum()) / k


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path, help="UCI Adult with coded columns, as a CSV file")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_known_args()[0]
    tables = {"fair": fair(), **({"adult": pd.read_csv(given.adult)} if given.adult else {})}
    print("| table | codes | k | epsilon | delta | missed | missed by floats | median error of counts | seconds |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, table in tables.items():
        for which, codes in (("given", given_codes(table)), ("found", {})):
            for k, epsilon in CASES:
                for delta in (0.0, DELTA):
                    missed, floats, error, seconds = compare(table, k, epsilon, delta, codes, given.repeats)
                    shown = f"{missed:.1%} | {floats:.1%} | {error:.2%} | {seconds:.2f}"
                    print(f"| {name} | {which} | {k} | {epsilon:g} | {delta:g} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
