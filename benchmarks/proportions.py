"""How often the intervals of proportions hold the truth, how wide they are, and how far shares are off, beside other ways to ask.

    python benchmarks/proportions.py [--repeats 200] [--change-one]

Samples of a population with a known share are drawn anew for each repeat. Widths are medians over those of Wilson's interval
without privacy on the same samples; errors are root mean squares, in points, from the share of the population. `bounds` is the
mean that tools with bounds release where these are 0 and 1 and the number of rows is public: one Laplace draw of scale
1 / (n epsilon), in floats. `clipped` is `dp.mean` of the same rows as numbers, which knows neither; NR is how often it gave no
reply. Noise comes from seeded sources. The tables are Markdown; docs/proportions.md keeps parts of a run.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpstats as dp

Floats = NDArray[np.float64]

Z = 1.959963984540054
SIZES = (50, 200, 1_000, 10_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0)
SHARES = (0.0, 0.005, 0.015, 0.05, 0.5, 1.0)
LEAST_NATS = 20
HEAD = ("rows", "epsilon", "share", "holds", "width", "error", "bounds", "sampling", "clipped holds", "error", "NR")


def wilson_width(yes: NDArray[Any], rows: int) -> Floats:
    """The width of Wilson's 95% interval."""
    share = yes / rows
    return 2 * Z * np.sqrt(share * (1 - share) / rows + Z * Z / (4 * rows * rows)) / (1 + Z * Z / rows)


def points(errors: Floats) -> str:
    """The root of the mean square, in points."""
    return f"{100 * math.sqrt(float(np.mean(errors**2))):.3g}" if errors.size else "-"


def line(rows: int, epsilon: float, share: float, repeats: int, neighbors: Any) -> tuple[str, ...]:
    """One line of the table."""
    chance = np.random.default_rng([rows, round(1000 * epsilon), round(1000 * share)])
    yes = chance.binomial(rows, share, repeats)
    asked: dict[str, Any] = {"epsilon": epsilon, "neighbors": neighbors}
    shares, means = [], []
    for number, count in enumerate(yes.tolist()):
        table = np.arange(rows) < count
        shares.append(dp.proportion(table, **asked, rough=True, rng=dp.testing.seeded(number)))
        means.append(dp.mean(table.astype(float), **asked, rng=dp.testing.seeded(number)))
    ends = np.array([tuple(each.interval) for each in shares])  # type: ignore[union-attr, arg-type]
    replied = [each for each in means if isinstance(each, dp.Release)]
    held = np.mean([each.interval.low <= share <= each.interval.high for each in replied if each.interval]) if replied else None
    bounded = yes / rows + chance.laplace(0, 1 / (rows * epsilon), repeats)
    return (
        f"{rows:,}",
        f"{epsilon:g}",
        f"{100 * share:g}%",
        f"{100 * np.mean((ends[:, 0] <= share) & (share <= ends[:, 1])):.0f}%",
        f"{np.median(ends[:, 1] - ends[:, 0]) / np.median(wilson_width(yes, rows)):.2f}",
        points(np.array([each.value for each in shares]) - share),  # type: ignore[union-attr]
        points(bounded - share),
        points(yes / rows - share),
        "-" if held is None else f"{100 * held:.0f}%",
        points(np.array([each.value for each in replied]) - share),
        f"{100 * (1 - len(replied) / repeats):.0f}%",
    )


def table(lines: Sequence[Sequence[str]]) -> str:
    """Lines as Markdown."""
    return "\n".join(f"| {' | '.join(each)} |" for each in (HEAD, ["---"] * len(HEAD), *lines))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--change-one", action="store_true", help="one row changed, so that the number of rows is public")
    given = parser.parse_args()
    neighbors = "change_one" if given.change_one else "add_remove"
    cells = [(rows, epsilon) for rows in SIZES for epsilon in EPSILONS if rows * epsilon >= LEAST_NATS]
    print(table([line(rows, epsilon, share, given.repeats, neighbors) for rows, epsilon in cells for share in SHARES]))


if __name__ == "__main__":
    main()
