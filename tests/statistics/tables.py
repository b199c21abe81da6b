"""Ugly columns and neighbouring pairs that every quantile test draws from."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np


def random_table(chooser: random.Random, size: int) -> list[float]:
    """A small table of one of the shapes that bite: whole numbers, continuous, ties, huge, tiny, infinite."""
    shape = chooser.choice(["whole", "continuous", "ties", "extreme"])
    draws: dict[str, Callable[[], float]] = {
        "whole": lambda: float(chooser.randint(-3, 3)),
        "continuous": lambda: chooser.gauss(0, 10),
        "ties": lambda: chooser.choice([0.0, 12.99, 12.99, 100.0]),
        "extreme": lambda: chooser.choice([1e300, -1e300, 1e-300, 5e-324, float("inf"), float("-inf"), -0.0, 1.0]),
    }
    return [draws[shape]() for _ in range(size)]


def neighbouring_tables(seed: int, count: int, most_rows: int) -> Iterator[tuple[list[float], list[float]]]:
    """Pairs that differ by one added row."""
    chooser = random.Random(seed)
    for _ in range(count):
        table = random_table(chooser, chooser.randint(0, most_rows))
        added = chooser.choice([*table, chooser.gauss(0, 10), 0.0, float("inf")])
        yield table, [*table, added]


def ugly_columns() -> dict[str, np.ndarray]:
    """Columns with everything that a quantile can stumble over."""
    generator = np.random.default_rng(5)
    return {
        "empty": np.array([]),
        "one row": np.array([3.5]),
        "constant": np.full(500, 12.99),
        "two values": np.repeat([0.0, 1.0], [300, 301]),
        "zero inflated": np.where(generator.random(2000) < 0.4, 0.0, np.round(generator.lognormal(5, 1, 2000))),
        "continuous": generator.normal(50, 15, 3000),
        "infinite": np.array([np.inf] * 40 + [-np.inf] * 40 + [1.0] * 10),
        "denormal": np.array([5e-324, -5e-324, 0.0, -0.0] * 30),
        "close decimals": 0.3 + np.arange(400) * 5.6e-17,
        "big integers": np.arange(2**62, 2**62 + 700),
        "negative integers": -(np.arange(500, dtype=np.int64) ** 3),
        "booleans": np.array([True, False, True] * 60).astype(np.uint8),
        "32-bit prices": np.round(generator.lognormal(3, 1, 900), 2).astype(np.float32),
        "mixed with missing": np.where(generator.random(800) < 0.2, np.nan, generator.integers(0, 9, 800)),
    }
