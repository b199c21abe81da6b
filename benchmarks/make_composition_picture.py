"""Makes the table and the picture of docs/composition.md: how many questions fit a budget, and what many questions amount to.

    python benchmarks/make_composition_picture.py [--picture docs/pictures/composition.svg]

Nothing is drawn at random and no data is read. Without the extra `pld` its line is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import dpstats as dp
from dpstats.pictures.looks import COLORS

BUDGET, DELTA = 3, "1e-6"
EACH = ("0.5", "0.2", "0.1", "0.05", "0.01")
DRAWN_EACH = "0.1"
DRAWN_TIMES = sorted({round(10 ** (place / 8)) for place in range(33)})
EXPONENTIAL = Fraction(1, 8)
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "composition.svg"
SETTINGS = {
    "svg.hashsalt": "dpstats",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def main() -> None:
    """Parse, count, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    arguments = parser.parse_args()
    lines = counts()
    print(f"Questions that fit epsilon = {BUDGET}, delta = {DELTA}\n")
    print(f"| epsilon of each | {' | '.join(EACH)} |\n| --- |{' ---: |' * len(EACH)}")
    for label, count in lines.items():
        print(f"| {label} | {' | '.join(f'{count(each):,}' for each in EACH)} |")
    draw(arguments.picture)


def counts() -> dict[str, Callable[[str], int]]:
    """For each way to add up, how many questions of an epsilon fit the budget."""

    def kept(accountant: str, loss: Fraction = Fraction(1, 2)) -> Callable[[str], int]:
        return lambda each: dp.Budget(BUDGET, DELTA, accountant).how_many(dp.PrivacyCost(each), loss=loss)

    found = {
        "`basic`": kept("basic"),
        "`zcdp`": kept("zcdp"),
        "`zcdp`, exponential mechanisms": kept("zcdp", EXPONENTIAL),
        "`advanced`": kept("advanced"),
        "`advanced`, exponential mechanisms": kept("advanced", EXPONENTIAL),
    }
    return {**found, 'fixed ahead, `method="pld"`': most_by_loss_distribution} if has_loss_distributions() else found


def most_by_loss_distribution(each: str) -> int:
    """The longest fixed list of questions that fits, by bisection."""
    low, high = 1, 2
    while amount("pld", each, high) <= BUDGET:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if amount("pld", each, middle) <= BUDGET else (low, middle)
    return low


def amount(method: str, each: str, times: int, loss: Fraction = Fraction(1, 2)) -> Fraction:
    """The epsilon of so many questions together."""
    return dp.accounting.compose([dp.PrivacyCost(each)] * times, method=method, delta=DELTA, loss=loss).epsilon


def has_loss_distributions() -> bool:
    try:
        amount("pld", "1", 1)
    except dp.MissingExtraError:
        return False
    return True


def draw(path: Path) -> None:
    """The epsilon that questions of 0.1 each amount to, against their number."""
    matplotlib: Any = import_module("matplotlib")
    figures: Any = import_module("matplotlib.figure")
    curves: dict[str, tuple[str, Fraction]] = {
        "basic": ("basic", Fraction(1, 2)),
        "zcdp": ("zcdp", Fraction(1, 2)),
        "advanced": ("advanced", Fraction(1, 2)),
        **({"pld": ("pld", Fraction(1, 2))} if has_loss_distributions() else {}),
        "advanced, exponential mechanisms": ("advanced", EXPONENTIAL),
    }
    with matplotlib.rc_context(SETTINGS):
        figure = figures.Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for (label, (method, loss)), color in zip(curves.items(), COLORS, strict=False):
            heights = [float(amount(method, DRAWN_EACH, times, loss)) for times in DRAWN_TIMES]
            axes.plot(DRAWN_TIMES, heights, color=color, label=label, linestyle="--" if method == "pld" else "-")
        axes.set(xscale="log", yscale="log", xlabel=f"questions of epsilon = {DRAWN_EACH}", ylabel="epsilon of all together")
        axes.set_ylim(0.08, 300)
        axes.set_title(f"What questions cost together, delta = {DELTA}", fontsize=9, loc="left")
        axes.legend(frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": "dpstats"})


if __name__ == "__main__":
    main()
