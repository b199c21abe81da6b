"""Draws docs/pictures/coverage.svg from the tables of docs/intervals.md: how often 95% intervals held the truth.

    python benchmarks/make_coverage_picture.py

Nothing is measured again: `coverage.py` makes the tables. The picture's description holds a hash of them, by which a test sees
whether it is up to date.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np

from dpstats.pictures.looks import COLORS, figure_for

PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"
PICTURE = PAGE.parent / "pictures" / "coverage.svg"
LEVEL, LEAST = 95, 60
_CELL = re.compile(r"^(\d+)%")


def coverages(text: str) -> dict[str, list[int]]:
    """Statistic -> the shares of intervals that held the truth, in percent, one for each shape, size and epsilon."""
    found: dict[str, list[int]] = {}
    for section in text.split("\n### ")[1:]:
        title, *lines = section.split("\n")
        cells = [cell.strip() for line in lines if line.startswith("|") for cell in line.strip("|").split("|")[1:]]
        shares = [int(match[1]) for cell in cells if (match := _CELL.match(cell))]
        if shares:
            found[title.partition(" (")[0]] = shares
    return found


def digest(shares: dict[str, list[int]]) -> str:
    """Names what is drawn."""
    return hashlib.sha256(repr(shares).encode()).hexdigest()[:16]


def main() -> None:
    """Draw one dot for each cell of each table, the level as a line, and the median of each statistic."""
    shares = coverages(PAGE.read_text(encoding="utf-8"))
    scatter = np.random.default_rng(1)
    with figure_for(PICTURE, 7, 0.55 * len(shares) + 1.2, description=f"coverage {digest(shares)}") as figure:
        axes = figure.subplots()
        for place, held in enumerate(shares.values()):
            drawn = np.maximum(held, LEAST)
            axes.scatter(drawn, place + scatter.uniform(-0.22, 0.22, len(held)), s=14, alpha=0.5, color=COLORS[0], linewidths=0)
            axes.plot([np.median(held)] * 2, [place - 0.33, place + 0.33], color=COLORS[1], linewidth=2)
            below = sum(each < LEAST for each in held)
            if below:
                axes.text(LEAST, place + 0.3, f"{below} below {LEAST}%", fontsize=8)
        axes.axvline(LEVEL, color="black", linewidth=1, linestyle="--")
        axes.set_yticks(range(len(shares)), list(shares))
        axes.set_xlim(LEAST - 1, 101)
        axes.invert_yaxis()
        axes.set_xlabel("intervals that held the truth, in percent; dashed: what they promise; bar: the median of the cells")
        axes.set_title("95% intervals hold the truth as often as they say, but for std", loc="left")


if __name__ == "__main__":
    main()
