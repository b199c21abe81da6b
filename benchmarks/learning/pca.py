"""Principal components of real tables: what share of the best top-2 variance do private ones have, and who has more?

    python benchmarks/learning/pca.py [--tables adult diamonds] [--rows 1000 10000] [--repeats 20] [--epsilon 1] [--adult FILE]

Of the correlation matrix of the rows that were sampled: the variance along two private components, over that along the two best.
We are given no bounds. diffprivlib is given columns that were standardised by their true means and standard deviations, the true
bounds of these and the 99.9th percentile of their norms; it is pure epsilon-DP, as our column "pure" is. "random" is the mean
share of a random plane. Beside the mean stands the lowest share, and how many of the repeats were refused. `adult` is read from
a file (UCI's census income, with a header). Constants were chosen on all tables but `Computers`, `Wages` and `randhie`, which
were not looked at before.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

import dpstats as dp
from benchmarks.real_tables.tables import table as packaged

NUMBERS = {
    "adult": ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"],
    "diamonds": ["carat", "depth", "table", "x", "y", "z"],
    "rwm5yr": ["docvis", "hospvis", "age", "hhninc", "educ"],
    "HI": ["whrswk", "experience", "kidslt6", "kids618", "husby", "wght"],
    "BudgetFood": ["wfood", "totexp", "age", "size"],
    "fair": ["age", "yrs_married", "children", "educ", "affairs"],
    "MedExp": ["med", "lpi", "fmde", "ndisease", "linc", "lfam", "educdec", "age"],
    "OFP": ["ofp", "ofnp", "opp", "opnp", "emr", "hosp", "numchron", "age", "school", "faminc"],
    "Computers": ["price", "speed", "hd", "ram", "screen", "ads", "trend"],
    "Wages": ["exp", "wks", "ed", "lwage"],
    "randhie": ["mdvis", "lncoins", "lpi", "fmde", "disea", "physlm"],
}
COMPONENTS = 2
Rows = NDArray[np.float64]


def loaded(name: str, adult: Path | None) -> Rows | None:
    """The columns of numbers of a table, without rows that lack one; None where its file is not there."""
    if name == "adult":
        if adult is None or not adult.exists():
            return None
        table = pd.read_csv(adult)
    else:
        table = packaged(name)
    columns = NUMBERS.get(name) or list(table.select_dtypes("number").columns)
    rows = table[columns].to_numpy(dtype=np.float64)
    return rows[np.isfinite(rows).all(axis=1)]


def share_of_best(components: Rows, matrix: Rows) -> float:
    """The variance along a plane, over the largest."""
    basis = np.linalg.qr(components.T)[0]
    return float(np.trace(basis.T @ matrix @ basis) / np.linalg.eigvalsh(matrix)[::-1][:COMPONENTS].sum())


def peer_share(rows: Rows, epsilon: float, seed: int) -> float:
    """The share of diffprivlib's components, which is given everything that it asks for."""
    from diffprivlib.models import PCA

    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    norm = float(np.quantile(np.linalg.norm(standard, axis=1), 0.999))
    bounds = (standard.min(axis=0), standard.max(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = PCA(COMPONENTS, epsilon=epsilon, data_norm=norm, bounds=bounds, random_state=seed).fit(standard)
    return share_of_best(peer.components_, np.corrcoef(rows.T))


def our_share(rows: Rows, epsilon: float, delta: float) -> float | None:
    """The share of our components; None where they are refused."""
    reply = dp.pca(rows, components=COMPONENTS, epsilon=epsilon, delta=delta)
    return None if isinstance(reply, dp.NoReply) else share_of_best(np.array(reply.value.components), np.corrcoef(rows.T))


def told(shares: list[float | None]) -> str:
    """Mean and lowest share, and refusals."""
    answered = [share for share in shares if share is not None]
    if not answered:
        return "refused"
    refused = f", {len(shares) - len(answered)} of {len(shares)} refused" if len(answered) < len(shares) else ""
    return f"{np.mean(answered):.4f} (lowest {min(answered):.3f}{refused})"


def compare(name: str, every: Rows, wanted: int, repeats: int, epsilon: float) -> None:
    """One line of the table."""
    count = min(wanted, len(every))
    pure, with_delta, peer, chance = [], [], [], []
    for seed in range(repeats):
        rows = every[np.random.default_rng(seed).choice(len(every), count, replace=False)]
        values = np.linalg.eigvalsh(np.corrcoef(rows.T))[::-1]
        chance.append(COMPONENTS / len(values) * values.sum() / values[:COMPONENTS].sum())
        pure.append(our_share(rows, epsilon, 0.0))
        with_delta.append(our_share(rows, epsilon, 1e-6))
        peer.append(peer_share(rows, epsilon, seed))
    cells = [told(pure), told(with_delta), told([*peer]), f"{np.mean(chance):.3f}"]
    print(f"| {name} ({every.shape[1]} columns), {count:,} rows | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=list(NUMBERS))
    parser.add_argument("--rows", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--adult", type=Path)
    given, _ = parser.parse_known_args()
    print(f"Share of the best top-{COMPONENTS} variance, epsilon {given.epsilon:g}, {given.repeats} repeats")
    print("| table | pure, no bounds | delta 1e-6, no bounds | diffprivlib, pure, true bounds and scales | random |")
    print("| --- | --- | --- | --- | --- |")
    for name in given.tables:
        every = loaded(name, given.adult)
        if every is None:
            print(f"{name}: no file; say --adult FILE")
            continue
        for wanted in sorted({min(wanted, len(every)) for wanted in given.rows}):
            compare(name, every, wanted, given.repeats, given.epsilon)


if __name__ == "__main__":
    main()
