"""Peers that take tables of codes only: they are given true bins for nothing, and true values within each."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

BINS = 20
ROUNDS_A_COLUMN = 3
MEGABYTES = 1
METHODS = ("mst", "aim")


def true_bins(values: np.ndarray, also: np.ndarray) -> np.ndarray:
    """Where bins of a twentieth of the rows begin, and those at `also`; few values, and those of many rows, have their own."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= BINS:
        return np.asarray(distinct[1:])
    cuts = {*np.quantile(values, np.arange(1, BINS) / BINS, method="inverted_cdf").tolist(), *also.tolist()}
    for place in np.flatnonzero(counts >= values.size / BINS).tolist():
        cuts |= set(distinct[place : place + 2].tolist())
    return np.array(sorted(cuts - {distinct[0]}))


def peer_rows(
    python: str,
    method: str,
    truth: pd.DataFrame,
    edges: Mapping[str, np.ndarray],
    epsilon: float,
    delta: float,
    iterations: int,
    timeout: float,
    seed: int,
) -> tuple[pd.DataFrame, float] | str:
    """Synthetic rows of a peer, and the seconds of a processor that they took; why not, where there are none.

    `edges` are the bins that the rows are compared by: those that the peer gets are cut there, too.
    """
    bins = {name: true_bins(truth[name].to_numpy(float), edges[name]) for name in edges}
    codes = truth.copy()
    for name, cuts in bins.items():
        codes[name] = np.searchsorted(cuts, truth[name].to_numpy(float), "right")
    words = {"method": method, "epsilon": epsilon, "delta": delta, "iterations": iterations, "seed": seed}
    words |= {"megabytes": MEGABYTES, "rounds": ROUNDS_A_COLUMN * truth.shape[1]}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "codes.csv", Path(folder) / "rows.csv"
        codes.to_csv(source, index=False)
        script = Path(__file__).with_name("dpmm_rows.py")
        surroundings = {**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [python, "-W", "ignore", str(script), str(source), str(target), json.dumps(words)]
        try:
            ended = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return f"stopped after {timeout:g} s"
        if ended.returncode:
            return (ended.stderr.strip().splitlines() or ["failed"])[-1]
        return _decoded(pd.read_csv(target), codes, truth, list(bins), seed), float(json.loads(ended.stdout)["seconds"])


def _decoded(rows: pd.DataFrame, codes: pd.DataFrame, truth: pd.DataFrame, numbers: list[str], seed: int) -> pd.DataFrame:
    """Rows whose codes of numbers became true values of rows that have these codes."""
    generator, rows = np.random.default_rng(seed), rows.copy()
    for name in numbers:
        order = np.argsort(codes[name].to_numpy(), kind="stable")
        sizes = np.bincount(codes[name])
        ends = np.cumsum(sizes)
        wanted = rows[name].to_numpy()
        picks = (ends - sizes)[wanted] + (generator.random(wanted.size) * sizes[wanted]).astype(int)
        rows[name] = truth[name].to_numpy()[order[np.minimum(picks, order.size - 1)]]
    return rows
