"""Odd tables for `dp.synthesize`: `python -m tests.statistics.synthetic.fuzz RUNS [--data FOLDER] [--first SEED]`.

Each run draws a table, a price and parameters from its seed, asks for synthetic rows, and uses them in every way that they offer.
A failure is an exception, a warning, a reply that could not be computed, or rows that do not fit the release. `--data` adds
samples of the CSV files of a folder, some columns of one file at a time. The command prints each failure with its seed, and ends
with 1 if there was any. 10,000 runs with ma2019.csv, adult.csv, fair.csv and cps2024.csv last passed on 18 November 2026, in 7
minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import dpstats as dp
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import COULD_NOT
from dpstats.statistics.floors import Floor
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.testing import seeded

Column = NDArray[Any]
Chance = np.random.Generator

MOST_COLUMNS, MOST_ROWS, SAMPLED_ROWS = 12, 400, 1000
DELTAS = (0.0, 0.0, 1e-12, 1e-9, 1e-5, 1e-5, 1e-3)
LEVELS = ["v1", "v2", "usual", "same", "N", "1", "nowhere"]
SHOWN = 20
"""Failures whose traces are printed."""


def _huge(rows: int, chance: Chance) -> Column:
    return np.asarray(chance.choice([-1.0, 1.0], rows) * 10.0 ** chance.uniform(100, 308, rows))


def _tiny(rows: int, chance: Chance) -> Column:
    return np.asarray(chance.choice([-1.0, 1.0], rows) * 10.0 ** chance.uniform(-323, -100, rows))


def _extreme_integers(rows: int, chance: Chance) -> Column:
    return chance.choice(np.array([-(2**63), -(2**63) + 1, -1, 0, 2**63 - 2, 2**63 - 1], dtype=np.int64), rows)


def _largest_integers(rows: int, chance: Chance) -> Column:
    return chance.choice(np.array([0, 1, 2**63, 2**64 - 2, 2**64 - 1], dtype=np.uint64), rows)


def _edges_of_floats(rows: int, chance: Chance) -> Column:
    edges = [np.inf, -np.inf, np.nan, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324, 0.0, -0.0, 1e-300, 1e300]
    return chance.choice(np.array(edges), rows)


def _one_cell(rows: int, chance: Chance) -> Column:
    """One value in nearly all rows, and few others."""
    others = np.floor(chance.lognormal(3, 2, rows))
    return np.where(chance.random(rows) < chance.choice([0.9, 0.99, 0.999]), 0.0, others)


def _zeros_and_a_tail(rows: int, chance: Chance) -> Column:
    return np.where(chance.random(rows) < 0.6, 0.0, np.round(chance.lognormal(8, 2, rows), 2))


def _labels(count: int) -> Callable[[int, Chance], Column]:
    """Columns of this many labels, the first ones the most frequent."""

    def labels(rows: int, chance: Chance) -> Column:
        places = np.minimum(chance.geometric(2 / (count + 1), rows), count)
        return np.array([f"v{place}" for place in places], dtype=object)

    return labels


def _dominating_label(rows: int, chance: Chance) -> Column:
    return np.array(["usual" if each > 0.01 else f"rare {each:.3f}" for each in chance.random(rows)], dtype=object)


def _distinct_labels(rows: int, chance: Chance) -> Column:
    return np.array([f"row {each}" for each in chance.permutation(rows)], dtype=object)


KINDS: dict[str, Callable[[int, Chance], Column]] = {
    "normal": lambda rows, chance: chance.normal(50, 15, rows),
    "whole": lambda rows, chance: chance.integers(0, 100, rows),
    "cents": lambda rows, chance: np.round(chance.lognormal(3, 1, rows), 2),
    "constant": lambda rows, chance: np.full(rows, chance.choice([0.0, 1.0, -7.25, 1e300, 5e-324])),
    "constant whole": lambda rows, chance: np.full(rows, chance.choice([0, 1, 2**62])),
    "distinct": lambda rows, chance: chance.permutation(rows) * 1.0,
    "two numbers": lambda rows, chance: chance.choice([0.1, 0.1 + 2**-54, 3.0], rows),
    "one cell": _one_cell,
    "zeros and a tail": _zeros_and_a_tail,
    "huge": _huge,
    "tiny": _tiny,
    "heavy": lambda rows, chance: chance.standard_cauchy(rows) * 10.0 ** chance.integers(-5, 20),
    "edges of floats": _edges_of_floats,
    "all infinite": lambda rows, chance: chance.choice([np.inf, -np.inf], rows),
    "all missing": lambda rows, chance: np.full(rows, np.nan),
    "extreme integers": _extreme_integers,
    "largest integers": _largest_integers,
    "single bytes": lambda rows, chance: chance.integers(-128, 128, rows).astype(np.int8),
    "32 bits": lambda rows, chance: chance.normal(0, 1, rows).astype(np.float32),
    "yes or no": lambda rows, chance: chance.random(rows) < chance.choice([0.5, 0.01]),
    "few labels": _labels(3),
    "many labels": _labels(60),
    "dominating label": _dominating_label,
    "one label": lambda rows, chance: np.full(rows, "same", dtype=object),
    "distinct labels": _distinct_labels,
}


def odd_table(chance: Chance, real: Sequence[pd.DataFrame] = ()) -> pd.DataFrame:
    """A table of one to twelve odd columns; a sample of a real one, with odd columns beside it or not, where there are any."""
    wanted = int(chance.integers(1, MOST_COLUMNS + 1)) if chance.random() < 0.3 else int(chance.integers(1, 6))
    held: dict[str, Any] = {}
    if real and chance.random() < 0.4:
        whole = real[int(chance.integers(len(real)))]
        rows = int(chance.integers(2, SAMPLED_ROWS))
        names = chance.choice(whole.columns.to_numpy(), min(wanted, whole.shape[1]), replace=False)
        sampled = whole.iloc[chance.integers(0, len(whole), rows)][list(names)].reset_index(drop=True)
        held = {str(name): sampled[name].to_numpy() for name in names}
        wanted = len(held) + int(chance.integers(0, 2))
    else:
        rows = int(chance.choice([0, 1, 2, 3, 10, *chance.integers(4, MOST_ROWS, 12)]))
    kinds = list(KINDS)
    while len(held) < wanted:
        kind = kinds[int(chance.integers(len(kinds)))]
        made = KINDS[kind](rows, chance)
        if held and chance.random() < 0.2:  # a column that another one decides
            made = list(held.values())[int(chance.integers(len(held)))].copy()
        elif made.dtype.kind in "fO" and chance.random() < 0.2:
            gaps = chance.random(rows) < chance.choice([0.05, 0.5, 0.98])
            made = np.where(gaps, np.nan if made.dtype.kind == "f" else None, made)
        held[f"{kind} {len(held)}"] = made
    if rows and chance.random() < 0.1:  # all rows alike but a few
        alike = np.where(chance.random(rows) < 0.98, 0, np.arange(rows))
        held = {name: values[alike] for name, values in held.items()}
    return pd.DataFrame(held)


def odd_words(table: pd.DataFrame, chance: Chance) -> dict[str, Any]:
    """A price from epsilon 0.01 to 100, with delta or without, and some parameters."""
    words: dict[str, Any] = {
        "epsilon": float(f"{10.0 ** chance.uniform(-2, 2):.3g}"),
        "delta": float(chance.choice(DELTAS)),
        "neighbors": str(chance.choice(["add_remove", "change_one"])),
        "rough": bool(chance.random() < 0.3),
        "guide": bool(chance.random() < 0.1),
    }
    if chance.random() < 0.15:
        words["focus"] = [str(chance.choice(table.columns.to_numpy()))]
    if chance.random() < 0.15:
        words["rows"] = int(chance.choice([1, 2, 1000]))
    listed = [str(name) for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    words["types"] = dict.fromkeys(listed, "text")
    if not words["delta"] or chance.random() < 0.3:  # without delta no label is found
        words["levels"] = dict.fromkeys(listed if not words["delta"] else listed[:1], LEVELS)
    return words


def run(seed: int, real: Sequence[pd.DataFrame] = ()) -> str:
    """Ask about the table of a seed and use the reply: "answered" or "refused"; whatever fails raises."""
    chance = np.random.default_rng(seed)
    table = odd_table(chance, real)
    words = odd_words(table, chance)
    with few_rows_answered() if chance.random() < 0.9 else nullcontext():
        reply = dp.synthesize(table, **words, rng=seeded(seed))
    if isinstance(reply, dp.NoReply):
        assert reply.reason != COULD_NOT.reason
        return "refused"
    use(reply.value, chance)
    return "answered"


def few_rows_answered() -> Any:
    """Let tables be answered that have too few rows for it: what was computed of them is looked at, too."""
    return patch.object(Floor, "refuse", staticmethod(lambda question, answer, refusal, why: answer))


def use(data: SyntheticData, chance: Chance) -> None:
    """Draw the rows, and ask everything else of them that costs nothing more."""
    values = data.values
    assert all(len(column) == data.rows for column in values.values())
    shares = [table.values for table in data.model.clique_marginals()]
    assert all(np.isfinite(each).all() and (each >= 0).all() and abs(each.sum() - 1) < 1e-6 for each in shares)
    names = list(data.names)
    some = [names[place] for place in chance.permutation(len(names))[:3]]
    counts = data.table(*some).counts
    assert np.isfinite(counts).all()
    assert abs(counts.sum() - data.total) <= 1e-6 * data.total
    if chance.random() < 0.1:
        again = SyntheticData.from_dict(data.to_dict())
        for name, column in again.values.items():
            assert np.array_equal(column, values[name], equal_nan=column.dtype.kind == "f")
    if chance.random() < 0.3:
        data.to_arrow()
        data.to_pandas()
        sum(1 for _ in data.lines())
    if chance.random() < 0.05 and data.rows < 10 * MOST_ROWS:
        _ask_for_an_interval(data, some[0])


def _ask_for_an_interval(data: SyntheticData, name: str) -> None:
    column = next(each for each in data.columns if each.fine.name == name)
    statistic = f"share({name} = v1)" if column.fine.is_labels else f"median({name})"
    try:
        interval = data.interval(statistic, redraws=2)
    except InvalidParameterError:
        return  # hardly any row has a number
    assert interval.low <= interval.high


def real_tables(folder: Path) -> list[pd.DataFrame]:
    """The CSV files of a folder."""
    return [pd.read_csv(path) for path in sorted(folder.glob("*.csv"))]


def main() -> int:
    """Make the runs that the command line asks for."""
    parser = argparse.ArgumentParser(description="Ask for synthetic rows of odd tables.")
    parser.add_argument("runs", type=int)
    parser.add_argument("--data", type=Path, help="a folder of CSV files, of which samples are taken too")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first run")
    options = parser.parse_args()
    warnings.simplefilter("error")
    real = real_tables(options.data) if options.data else []
    start, replies, failed = time.process_time(), Counter[str](), 0
    for seed in range(options.first, options.first + options.runs):
        try:
            replies[run(seed, real)] += 1
        except Exception as reason:  # whatever a run raises, the next one is tried
            failed += 1
            trace = traceback.format_exc() if failed <= SHOWN else ""
            sys.stdout.write(f"seed {seed}: {type(reason).__name__}: {reason}\n{trace}\n")
            sys.stdout.flush()
    counted = ", ".join(f"{count:,} {kind}" for kind, count in replies.items())
    seconds = time.process_time() - start
    sys.stdout.write(f"{options.runs:,} runs in {seconds:,.0f} s of processor time: {counted}; {failed:,} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
