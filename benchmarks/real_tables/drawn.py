"""Drawn populations: the shapes on which intervals of real tables were found to miss, each as a table of 100,000 rows.

Samples are drawn from them as from a real table, and what numpy says of the whole population is the truth. Seeds are fixed, so a
population is the same in every run; no constant of the library was chosen on these seeds.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROWS = 100_000
SEED = 32
PREFIX = "drawn"
Draw = Callable[[np.random.Generator], dict[str, NDArray[np.float64]]]

SHARES = (0.005, 0.015, 0.03, 0.05)
CODE_DIGITS = (0, 2, 15)
STEPS = (0.897, 0.903, 0.9)
"""Shares of rows up to 45,000, in brackets whose next value is 62,500: just below, just above and exactly at a quantile of .9."""
SENTINEL_SHARES = (0.003, 0.009, 0.02)
PARETO_INDICES = (1.2, 1.6, 2.2, 3.0, 4.0)
PANEL_ROWS = (2, 4, 8, 12)
PANEL_CORRELATIONS = (0.1, 0.5, 0.9)


def share_name(share: float) -> str:
    """The column of zeros and ones with that share of ones."""
    return f"share {100 * share:g}%"


def code_name(digits: int) -> str:
    """The column whose largest quarter is one top code of that many digits."""
    return f"top code, {digits} digits"


def panel_name(rows: int, correlation: float) -> str:
    """The panel with that many rows a person, and that correlation of a person's rows."""
    return f"{PREFIX} panel {rows} x {correlation:g}"


def _of(make: Callable[[np.random.Generator], NDArray[np.generic]]) -> Draw:
    return lambda chance: {"x": np.asarray(make(chance), dtype=float)}


def _share(share: float) -> Draw:
    return _of(lambda chance: np.arange(ROWS) < round(share * ROWS))


def _top_coded(digits: int) -> Draw:
    def make(chance: np.random.Generator) -> NDArray[np.float64]:
        rows = np.exp(chance.normal(9.6, 0.9, ROWS))
        code = round(25_564.670_512_345_6, digits) if digits < 15 else 25_564.670_512_345_6
        return np.minimum(np.round(rows, min(digits, 9)), code)

    return _of(make)


def _brackets(share: float) -> Draw:
    values = np.array([5e3, 15e3, 25e3, 32.5e3, 45e3, 62.5e3, 87.5e3])
    shares = np.diff([0, 0.3, 0.5, 0.7, 0.8, share, 0.95, 1])
    counts = np.round(shares * ROWS).astype(int)
    return _of(lambda chance: np.repeat(values, counts))


def _sentinels(share: float, sentinel: float) -> Draw:
    return _of(lambda chance: np.where(chance.random(ROWS) < share, sentinel, np.exp(chance.normal(3, 0.6, ROWS))))


def _pareto_pair(index: float) -> Draw:
    def make(chance: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        common = chance.pareto(index, ROWS)
        return {"x": common + 0.5 * chance.pareto(index, ROWS), "y": common + 0.5 * chance.pareto(index, ROWS)}

    return make


def _places(chance: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Two counts of persons in places: sizes with a heavy tail, and a share of each."""
    size = np.floor(np.exp(chance.normal(7, 1.6, ROWS)))
    return {"x": size, "y": chance.poisson(size * np.exp(chance.normal(-3, 0.4, ROWS))).astype(float)}


def _outliers_in_one(chance: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """A normal pair, 1% of one column of which is six times as large."""
    x = chance.normal(size=ROWS)
    y = 0.6 * x + 0.8 * chance.normal(size=ROWS)
    return {"x": np.where(chance.random(ROWS) < 0.01, 6 * x, x), "y": y}


def _normal_pair(chance: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    x = chance.normal(size=ROWS)
    return {"x": x, "y": 0.6 * x + 0.8 * chance.normal(size=ROWS)}


def _panel(rows: int, correlation: float) -> Draw:
    def make(chance: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        persons = ROWS // rows
        effect = np.repeat(chance.normal(0, np.sqrt(correlation), persons), rows)
        noise = chance.normal(0, np.sqrt(1 - correlation), persons * rows)
        slope_of = np.repeat(chance.normal(size=persons), rows)
        x = 10 + effect + noise
        return {
            "person": np.repeat(np.arange(persons), rows).astype(float),
            "x": x,
            "is_high": (x > 11).astype(float),
            "z": slope_of,
        }

    return make


def _groups(*shifts: float) -> Draw:
    """Groups with means that differ by `shifts` standard deviations."""

    def make(chance: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        group = np.arange(ROWS) % len(shifts)
        gamma = (chance.gamma(4, 1, ROWS) - 4) / 2
        normal = chance.normal(size=ROWS)
        moved = np.array(shifts)[group]
        return {"normal": 50 + 10 * (normal + moved), "gamma": 20 + 5 * (gamma + moved), "group": group.astype(float)}

    return make


def _lopsided(chance: np.random.Generator) -> NDArray[np.float64]:
    """Delays with a clump of 2.5% far out."""
    return np.where(chance.random(ROWS) < 0.025, 182.0, np.exp(chance.normal(1.4, 1.1, ROWS)))


def _zero_inflated(chance: np.random.Generator) -> NDArray[np.float64]:
    """Incomes, of which two fifths are 0."""
    return np.where(chance.random(ROWS) < 0.4, 0.0, np.exp(chance.normal(9.5, 1.1, ROWS)).round())


POPULATIONS: dict[str, Draw] = {
    **{f"{PREFIX} {share_name(share)}": _share(share) for share in SHARES},
    **{f"{PREFIX} {code_name(digits)}": _top_coded(digits) for digits in CODE_DIGITS},
    **{f"{PREFIX} brackets {share:g}": _brackets(share) for share in STEPS},
    **{f"{PREFIX} sentinels {100 * share:g}%": _sentinels(share, 1e6) for share in SENTINEL_SHARES},
    f"{PREFIX} clump at 999": _sentinels(0.009, 999.0),
    **{f"{PREFIX} pareto {index:g}": _pareto_pair(index) for index in PARETO_INDICES},
    f"{PREFIX} places": _places,
    f"{PREFIX} outliers in one": _outliers_in_one,
    f"{PREFIX} normal pair": _normal_pair,
    f"{PREFIX} ties below": _of(lambda chance: np.where(chance.random(ROWS) < 0.2, 1 / 7, 1 / 7 + chance.gamma(1.2, 30, ROWS))),
    f"{PREFIX} rounded speeds": _of(lambda chance: np.round(chance.weibull(2, ROWS) * 8 / 0.0896) * 0.0896),
    f"{PREFIX} hours": _of(
        lambda chance: np.where(chance.random(ROWS) < 0.55, 40, np.clip(chance.normal(38, 12, ROWS), 1, 99)).round()
    ),
    f"{PREFIX} cigarettes": _of(
        lambda chance: np.where(
            chance.random(ROWS) < 0.62, 0, np.where(chance.random(ROWS) < 0.7, 20, 5 * chance.integers(1, 12, ROWS))
        )
    ),
    f"{PREFIX} rare counts": _of(lambda chance: chance.poisson(chance.gamma(0.3, 1, ROWS))),
    f"{PREFIX} test scores": _of(lambda chance: np.clip(chance.normal(500, 100, ROWS).round(), 200, 800)),
    f"{PREFIX} weekly wages": _of(lambda chance: np.minimum(np.exp(chance.normal(6.6, 0.55, ROWS)).round(2), 2_884.61)),
    f"{PREFIX} lopsided": _of(_lopsided),
    f"{PREFIX} incomes with zeros": _of(_zero_inflated),
    f"{PREFIX} two groups": _groups(0.0, 0.18),
    f"{PREFIX} four groups": _groups(0.0, 0.0, 0.12, 0.24),
    **{panel_name(rows, each): _panel(rows, each) for rows in PANEL_ROWS for each in PANEL_CORRELATIONS},
}


@cache
def drawn(name: str) -> pd.DataFrame:
    """A population by its name."""
    return pd.DataFrame(POPULATIONS[name](np.random.default_rng([SEED, zlib.crc32(name.encode())])))
