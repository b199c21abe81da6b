"""How good private densities and classes of neighbours are, on real tables: two tables in Markdown.

    python benchmarks/learning/density.py [--adult adult.csv] [--repeats 10] [--rows 1000 5000 50000] [--epsilon 1]

Densities: the integrated absolute difference (0 is best, 2 is worst) from scipy's gaussian_kde of the same rows, which is
not private; medians of all repeats. "another sample" is that of the kernel estimate of as many rows, drawn anew from them
with replacement: what sampling does. dpstats asks no bounds; diffprivlib's histogram of 50 bins is given the true range.
Histograms are smoothed by the same kernel as kernel estimates, which is more than a plain histogram does ("as bars"). cdf
is the slope of dp.cdf, smoothed alike. Neighbours: the share of 8,000 other rows that are told right. scikit-learn's is not
private, and gets standardised features; diffprivlib's classifier gets true bounds. Columns of diamonds and adult were used
to choose constants; BudgetFood and HI were not.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import gaussian_kde

sys.path.insert(0, str(Path(__file__).parents[2]))

import dpstats as dp
from benchmarks.real_tables.tables import table

Floats = NDArray[np.float64]

PLACES, SQUARES = 400, 60
BARS = 50
TESTED = 8_000
SINGLE = [
    ("diamonds", "price"),
    ("diamonds", "depth"),
    ("diamonds", "x"),
    ("adult", "age"),
    ("adult", "fnlwgt"),
    ("BudgetFood", "totexp"),
    ("BudgetFood", "wfood"),
    ("HI", "husby"),
]
DOUBLE = [("diamonds", ("carat", "price")), ("diamonds", ("depth", "table")), ("adult", ("age", "fnlwgt"))]


def loaded(adult: Path | None) -> dict[str, pd.DataFrame]:
    """The tables by name; adult where its file is given."""
    return {name: table(name) for name in ("diamonds", "BudgetFood", "HI")} | ({"adult": pd.read_csv(adult)} if adult else {})


def grid_of(rows: Floats) -> tuple[Floats, float]:
    """Points that reach beyond the rows by three bandwidths, and the volume that each stands for; rows come by columns."""
    margins = 3 * rows.std(axis=1) * rows.shape[1] ** (-1 / (len(rows) + 4))
    count = PLACES if len(rows) == 1 else SQUARES
    sides = [np.linspace(row.min() - margin, row.max() + margin, count) for row, margin in zip(rows, margins, strict=True)]
    points = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(rows))
    return points, float(np.prod([side[1] - side[0] for side in sides]))


def smoothed_bars(points: Floats, edges: Any, counts: Any, width: float) -> Floats:
    """The density of bars, smoothed by a normal kernel; as they are where its width is 0."""
    low, high = np.asarray(edges[:-1], dtype=float), np.asarray(edges[1:], dtype=float)
    counts = np.maximum(np.asarray(counts, dtype=float), 0)
    shares = counts / max(counts.sum(), 1) / (high - low)
    if not width:
        return np.asarray(((points >= low) & (points < high)) @ shares)
    return np.asarray((ndtr((high - points) / width) - ndtr((low - points) / width)) @ shares)


def by_dpstats(rows: Floats, points: Floats, epsilon: float) -> Floats | None:
    """Our density."""
    release = dp.density(rows.T, epsilon=epsilon)
    return None if isinstance(release, dp.NoReply) else np.asarray(release.value(points))


def densities(rows: Floats, points: Floats, epsilon: float, seed: int) -> dict[str, Floats | None]:
    """What each method says of rows by columns, at points."""
    again = rows[:, np.random.default_rng(seed).integers(0, rows.shape[1], rows.shape[1])]
    found = {"another sample": gaussian_kde(again)(points.T), "dp.density": by_dpstats(rows, points, epsilon)}
    if len(rows) > 1:
        return found
    from diffprivlib.tools import histogram

    values, width = rows[0], float(rows[0].std() * rows.shape[1] ** -0.2)
    bars, edges = histogram(values, epsilon=epsilon, bins=BARS, range=(values.min(), values.max()), random_state=seed)
    own = dp.histogram(values, bins=BARS, epsilon=epsilon)
    ends = None if isinstance(own, dp.NoReply) else (list(own.value.edges), np.array(own.value.noisy, dtype=float))
    curve = dp.cdf(values, points=BARS - 1, epsilon=epsilon)
    return found | {
        "dp.histogram, smoothed": None if ends is None else smoothed_bars(points, ends[0], ends[1][1:-1], width),
        "dp.cdf, smoothed": None if isinstance(curve, dp.NoReply) else smoothed_cdf(points, curve.value, width),
        "diffprivlib histogram, true range, smoothed": smoothed_bars(points, edges, bars, width),
        "diffprivlib histogram, true range, as bars": smoothed_bars(points, edges, bars, 0.0),
    }


def smoothed_cdf(points: Floats, curve: Any, width: float) -> Floats:
    """The slope of a released distribution function; what lies beyond its ends lies at these."""
    values, chances = np.array(curve.values), np.array([0.0, *curve.probabilities[1:-1], 1.0])
    kept = np.append(np.diff(values) > 0, True)
    edges, chances = values[kept], chances[kept]
    return smoothed_bars(points, edges, 1e9 * np.diff(chances), width)


def report_densities(tables: dict[str, pd.DataFrame], sizes: list[int], repeats: int, epsilon: float) -> None:
    """Print the integrated absolute differences."""
    asked: list[tuple[str, tuple[str, ...]]] = [(name, (column,)) for name, column in SINGLE]
    heads: list[str] = []
    for name, columns in [*asked, *DOUBLE]:
        if name not in tables:
            continue
        whole = tables[name][list(columns)].dropna().to_numpy(float).T
        for size in [each for each in sizes if each <= whole.shape[1]]:
            errors: dict[str, list[float]] = {}
            for repeat in range(repeats):
                rows = whole[:, np.random.default_rng(repeat).permutation(whole.shape[1])[:size]]
                points, volume = grid_of(rows)
                usual = gaussian_kde(rows)(points.T)
                for method, values in densities(rows, points, epsilon, repeat).items():
                    errors.setdefault(method, [])
                    if values is not None:
                        errors[method].append(volume * float(np.abs(values - usual).sum()))
            if not heads:
                heads = list(errors)
                print(f"| rows | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}")
            cells = [_cell(errors.get(head, []), repeats) if head in errors else "-" for head in heads]
            print(f"| {name} {' x '.join(columns)}, {size:,} | {' | '.join(cells)} |", flush=True)


def _cell(errors: list[float], repeats: int) -> str:
    if not errors:
        return "no reply"
    return f"{np.median(errors):.3f}" + (f" ({repeats - len(errors)} no reply)" if len(errors) < repeats else "")


CLASSED: dict[str, tuple[list[str], Any]] = {
    "adult": (["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"], lambda t: t["income>50K"]),
    "diamonds": (["carat", "depth", "table", "x", "y", "z"], lambda t: (t["price"] > t["price"].median()).astype(int)),
    "diamonds' cut": (["carat", "depth", "table"], lambda t: pd.Categorical(t["cut"]).codes.astype(int)),
}


def report_neighbors(tables: dict[str, pd.DataFrame], sizes: list[int], repeats: int, epsilon: float) -> None:
    """Print how many rows are told right."""
    from diffprivlib.models import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    print("| rows | most common class | 25 neighbours, not private | dp.nearest_neighbors | diffprivlib GaussianNB |")
    print("| --- | --- | --- | --- | --- |")
    for name, (features, label) in CLASSED.items():
        frame = tables.get(name.partition("'")[0])
        if frame is None:
            continue
        whole, classes = frame[features].to_numpy(float), np.asarray(label(frame))
        for size in sizes:
            scores = []
            for repeat in range(repeats):
                order = np.random.default_rng(repeat).permutation(len(whole))
                fit, test = order[:size], order[size : size + TESTED]
                middle, spread = whole[fit].mean(axis=0), whole[fit].std(axis=0)
                usual = KNeighborsClassifier(25).fit((whole[fit] - middle) / spread, classes[fit])
                ours = dp.nearest_neighbors(whole[fit], classes[fit], sorted(set(classes.tolist())), epsilon=epsilon)
                bounds = (whole[fit].min(axis=0), whole[fit].max(axis=0))
                peer = GaussianNB(epsilon=epsilon, bounds=bounds, random_state=repeat).fit(whole[fit], classes[fit])
                scores.append(
                    (
                        np.bincount(classes[test]).max() / len(test),
                        usual.score((whole[test] - middle) / spread, classes[test]),
                        np.nan if isinstance(ours, dp.NoReply) else np.mean(ours.value.predict(whole[test]) == classes[test]),
                        peer.score(whole[test], classes[test]),
                    )
                )
            means = np.nanmean(np.array(scores, dtype=float), axis=0)
            print(f"| {name}, {size:,} | {' | '.join(f'{each:.3f}' for each in means)} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 5_000, 50_000])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--only", choices=["density", "neighbors"])
    given, _ = parser.parse_known_args()
    warnings.simplefilter("ignore")  # of peers
    tables = loaded(given.adult)
    if given.only != "neighbors":
        report_densities(tables, given.rows, given.repeats, given.epsilon)
    if given.only != "density":
        print()
        report_neighbors(tables, [2_000, 20_000], given.repeats, given.epsilon)


if __name__ == "__main__":
    main()
