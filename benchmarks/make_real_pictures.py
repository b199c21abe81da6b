"""Makes docs/real-tables.md and its pictures of the results that `real.py --json` kept.

    python benchmarks/make_real_pictures.py [--json benchmarks/real_results.json]

Nothing is measured again. Parts of the page between `<!-- results: NAME -->` and `<!-- end -->` are written anew; the rest is
written by hand and has no figures. The pictures' descriptions hold a hash of the results, by which a test sees whether they are
up to date.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.real_tables.drawn import PREFIX
from benchmarks.real_tables.measures import CLOSE, CLOSE_SQUARES, LEAST_COVERAGE, NEAR, Cell, Value, rows_for_close
from benchmarks.real_tables.report import in_order, least_coverage, load, markdown, may_be_chance_only
from benchmarks.real_tables.tables import half
from dpstats.pictures.looks import COLORS, as_written, figure_for

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "real_results.json"
PAGE = ROOT / "docs" / "real-tables.md"
PICTURES = ROOT / "docs" / "pictures"
LEAST_DRAWN = 0.5
MOST_DRAWN = 30.0
_PART = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def digest(cells: Sequence[Cell]) -> str:
    """Names what is drawn; not the seconds, which are of no picture."""
    drawn = [(each.name, each.repeats, each.replies, each.values, each.agreement) for each in cells]
    return hashlib.sha256(repr(drawn).encode()).hexdigest()[:16]


def statistics_of(cells: Sequence[Cell]) -> list[str]:
    """The statistics in the order of their names."""
    return sorted({each.statistic for each in cells})


def replying(cells: Sequence[Cell]) -> list[tuple[Cell, Value]]:
    """All numbers whose intervals are judged, with their cells."""
    return [
        (cell, value) for cell in cells for value in cell.values if value.coverage is not None and value.is_judged(cell.repeats)
    ]


# ---- pictures


def draw_coverage(path: Path, cells: Sequence[Cell]) -> None:
    """One dot for each number: how often its intervals held what the usual tool says of the whole table."""
    judged = replying(cells)
    names = sorted({cell.statistic for cell, _ in judged})
    below = sum((value.coverage or 0.0) < value.least for _, value in judged)
    scatter = np.random.default_rng(1)
    with figure_for(path, 7, 0.32 * len(names) + 1.3, description=f"real tables {digest(cells)}") as figure:
        axes = figure.subplots()
        for place, name in enumerate(names):
            held = np.array([value.coverage for cell, value in judged if cell.statistic == name])
            heights = place + scatter.uniform(-0.25, 0.25, len(held))
            aims_of = [value.least for cell, value in judged if cell.statistic == name]
            colors = [COLORS[1] if each < least else COLORS[0] for each, least in zip(held, aims_of, strict=True)]
            axes.scatter(100 * np.maximum(held, LEAST_DRAWN), heights, s=16, alpha=0.6, color=colors, linewidths=0)
            lower = int(np.sum(held < LEAST_DRAWN))
            if lower:
                axes.text(100 * LEAST_DRAWN + 0.7, place + 0.38, f"{lower} below {100 * LEAST_DRAWN:.0f}%", fontsize=7)
        axes.axvline(95, color="black", linewidth=1, linestyle="--")
        axes.axvline(100 * LEAST_COVERAGE, color=COLORS[1], linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.set_xlim(100 * LEAST_DRAWN - 1, 101)
        axes.invert_yaxis()
        axes.set_xlabel(
            "percent of samples whose interval held the whole table's value\n(one dot: one number; dashed: 95%; dotted: the aim)"
        )
        share = 100 * (1 - below / len(judged))
        _say(figure, f"Intervals of {share:.0f}% of {len(judged)} numbers hold the truth in at least 93% of the samples")


def draw_errors(path: Path, cells: Sequence[Cell]) -> None:
    """One dot for each number: its error over that of the usual tool, by how many rows times epsilon there are."""
    kinds: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("means, quantiles, spreads, groups, tests", lambda name: not _is_fit(name) and name != "correlation"),
        ("regressions", lambda name: name.endswith("regression")),
        ("maximum likelihood", lambda name: name == "mle"),
        ("correlations", lambda name: name == "correlation"),
    )
    judged = [(cell, value) for cell, value in replying(cells) if value.error is not None]
    enough = [value.error for _, value in judged if value.limit == CLOSE]
    with figure_for(path, 7, 4.6, description=f"real tables {digest(cells)}") as figure:
        axes = figure.subplots()
        for color, marker, (name, belongs) in zip((*COLORS[:3], COLORS[5]), "os^D", kinds, strict=True):
            found = [(_plenty(value), min(value.error or 0.0, MOST_DRAWN)) for cell, value in judged if belongs(cell.statistic)]
            if found:
                x, y = np.array(found, dtype=float).T
                axes.scatter(x, np.maximum(y, 0.5), s=18, alpha=0.6, color=color, marker=marker, linewidths=0, label=name)
        axes.plot(
            [1 / 3, 1, 1, max(2.0, axes.get_xlim()[1])],
            [NEAR, NEAR, CLOSE, CLOSE],
            color=COLORS[6],
            linewidth=1.2,
            label="the aim",
        )
        axes.axhline(1, color="black", linewidth=1, linestyle="--")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_yticks([0.5, 1, 2, 5, 10, MOST_DRAWN], ["0.5", "1", "2", "5", "10", f"{MOST_DRAWN:.0f} or more"])
        axes.minorticks_off()
        axes.set_xlabel("rows times epsilon, in units of 3,000 (of regressions 5,000 for each coefficient)")
        axes.set_ylabel("median error over the usual tool's")
        axes.set_xticks([0.01, 0.1, 1 / 3, 1, 10], ["0.01", "0.1", "1/3", "1", "10"])
        figure.legend(loc="outside lower center", frameon=False, fontsize=8, ncols=3)
        met = 100 * np.mean(np.array(enough, dtype=float) <= CLOSE) if enough else 0
        _say(
            figure,
            f"With rows enough, {met:.0f}% of {len(enough)} numbers err at most {CLOSE:g} times as much as without privacy",
        )


def draw_power(path: Path, cells: Sequence[Cell]) -> None:
    """How often a test rejects, or how like a choice is to that from the whole table, with privacy and without."""
    shown = [each for each in cells if each.agreement is not None]
    shown.sort(key=lambda each: (bool(not each.values), each.statistic, each.name))
    lost = float(np.median([each.agreement.usual - each.agreement.private for each in shown if each.agreement]))
    with figure_for(path, 7.5, 0.27 * len(shown) + 1.2, description=f"real tables {digest(cells)}") as figure:
        axes = figure.subplots()
        for place, cell in enumerate(shown):
            assert cell.agreement is not None
            ends = 100 * cell.agreement.private, 100 * cell.agreement.usual
            axes.plot(ends, [place, place], color="#bbbbbb", linewidth=1.5, zorder=1)
            axes.scatter(
                ends[1:], [place], s=24, color=COLORS[6], marker="|", zorder=2, label=None if place else "the usual tool"
            )
            axes.scatter(ends[:1], [place], s=22, color=COLORS[0], zorder=3, label=None if place else "private")
        axes.set_yticks(range(len(shown)), [as_written(_short_name(each)) for each in shown], fontsize=7)
        axes.set_xlim(-2, 102)
        axes.invert_yaxis()
        axes.set_xlabel("percent: of tests samples in which they reject,\nof choices likeness to that from the whole table")
        figure.legend(loc="outside lower left", frameon=False, fontsize=8, ncols=2)
        _say(figure, f"Half of the tests and choices lose at most {100 * lost:.0f} points to privacy")


def _say(figure: Any, message: str) -> None:
    """The figure's message, over all of it."""
    figure.suptitle(message, x=0.01, ha="left", fontsize=10.5)


def _is_fit(name: str) -> bool:
    return name == "mle" or name.endswith("regression")


def _plenty(value: Value) -> float:
    """Rows times epsilon over what an error close to the usual one is asked from on."""
    return value.rows_epsilon / rows_for_close(value.coefficients)


def _short_name(cell: Cell) -> str:
    name = cell.name.replace("_", " ")
    about = name.partition(f"{cell.statistic.replace('_', ' ')} ")[2].rpartition(f", {cell.rows:,} rows")[0].partition(", of ")[0]
    return f"{cell.statistic.replace('_', ' ')}, {cell.table}: {about}, epsilon {cell.epsilon:g}"


DRAWN: dict[str, Callable[[Path, Sequence[Cell]], None]] = {
    "real-coverage.svg": draw_coverage,
    "real-errors.svg": draw_errors,
    "real-power.svg": draw_power,
}


# ---- the page


def summary(cells: Sequence[Cell]) -> str:
    """What was measured, in one paragraph."""
    short = [each for each in cells if each.short]
    chance = sum(may_be_chance_only(each) for each in short)
    tables, repeats = len({each.table for each in cells}), max(each.repeats for each in cells)
    judged = replying(cells)
    held = 100 * float(np.median([value.coverage for _, value in judged]))
    close = [value.error for _, value in judged if value.limit == CLOSE and value.error is not None]
    return (
        f"{len(cells)} cells over {tables} tables, {repeats} samples each: {len(judged)} numbers with intervals, which held the "
        f"whole table's value in {held:.0f}% of the samples (the median of the numbers). Where rows times epsilon are enough, "
        f"the median error is {np.median(close):.2f} times that without privacy (the median of {len(close)} numbers). "
        f"**{len(short)} cells fall short of an aim**, {chance} of them only by a coverage that may be chance."
    )


def aims(cells: Sequence[Cell]) -> str:
    """How many numbers surely miss each aim, on real tables of either half and on drawn populations."""
    kinds = {
        "real tables, half A": lambda cell: not is_drawn(cell) and half(cell.table) == "A",
        "real tables, half B": lambda cell: not is_drawn(cell) and half(cell.table) == "B",
        "drawn populations": is_drawn,
    }
    head = ("", "numbers", "surely below 93%", "least held", "nonsense, of 10,000 replies", "RMSE above 1.5", "error", "width")
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for name, belongs in kinds.items():
        judged = [(cell, value) for cell, value in replying(cells) if belongs(cell)]
        asked = [value for _, value in judged if value.least == LEAST_COVERAGE]
        close = [value for _, value in judged if value.limit == CLOSE]
        wild = sum(value.wild * value.replies for _, value in judged) / sum(value.replies for _, value in judged)
        squares = [value.squares for value in close if value.squares is not None]
        cells_of = (
            name,
            str(len(judged)),
            str(sum(value.surely_below for value in asked)),
            f"{100 * min(value.coverage or 0.0 for value in asked):.0f}%",
            f"{10_000 * wild:.1f}",
            f"{sum(each > CLOSE_SQUARES for each in squares)} of {len(squares)}",
            f"{_median(value.error for value in close):.2f}",
            f"{_median(value.width for value in close):.2f}",
        )
        lines.append("| " + " | ".join(cells_of) + " |")
    return "\n".join(lines)


def is_drawn(cell: Cell) -> bool:
    """Whether a cell is of a drawn population."""
    return cell.table.startswith(PREFIX)


def _median(numbers: Iterable[float | None]) -> float:
    return float(np.median([each for each in numbers if each is not None]))


def shortfalls(cells: Sequence[Cell]) -> str:
    """The cells that fall short, the worst coverage first, and how many there are of each statistic."""
    short = [each for each in in_order(cells) if each.short]
    if not short:
        return "None does."
    of_short, of_all = (Counter(each.statistic for each in some) for some in (short, cells))
    counted = [f"{name.replace('_', ' ')} {of_short[name]} of {of_all[name]}" for name in statistics_of(short)]
    return f"By statistic: {', '.join(counted)}.\n\n{markdown(short)}"


def refusals(cells: Sequence[Cell]) -> str:
    """The cells without a reply in at least a tenth of the samples."""
    refused = sorted((each for each in cells if each.replies < 0.9), key=lambda each: each.replies)
    if not refused:
        return "There is a reply in at least 90% of the samples of every cell."
    lines = ["| question | replies | rows times epsilon | held, where there was a reply |", "| --- | --- | --- | --- |"]
    for cell in refused:
        amounts = sorted({f"{value.rows_epsilon:,.0f}" for value in cell.values}, key=lambda text: float(text.replace(",", "")))
        held = f"{100 * least_coverage(cell):.0f}%" if any(value.coverage is not None for value in cell.values) else "-"
        shown = f"{amounts[0]} to {amounts[-1]}" if len(amounts) > 1 else "".join(amounts) or f"{cell.rows * cell.epsilon:,.0f}"
        lines.append(f"| {cell.name} | {100 * cell.replies:.0f}% | {shown} | {held} |")
    return "\n".join(lines)


def others(cells: Sequence[Cell]) -> str:
    """The cells that meet every aim."""
    return markdown([each for each in in_order(cells) if not each.short])


PARTS: dict[str, Callable[[Sequence[Cell]], str]] = {
    "summary": summary,
    "aims": aims,
    "shortfalls": shortfalls,
    "refusals": refusals,
    "others": others,
}


def filled(page: str, cells: Sequence[Cell]) -> str:
    """The page with its parts made of these results."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}{PARTS[found[2]](cells)}\n{found[3]}"

    return _PART.sub(part, page)


def main() -> None:
    """Fill the page and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    cells: list[Any] = load(arguments.json)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), cells), encoding="utf-8")
    for name, draw in DRAWN.items():
        draw(PICTURES / name, cells)


if __name__ == "__main__":
    main()
