"""Draws every table of measurements in the documentation, and puts the picture below it.

    python benchmarks/make_pictures.py [docs/scale.md ...]

The tables themselves are what is read: nothing is measured again. A table counts as one of measurements if at least one of its
columns, after the first, holds mostly numbers. The picture of the n-th such table of page.md is docs/pictures/page-n.svg, and its
description holds a hash of the table, by which a test sees whether it is up to date. Run this again after changing a table.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpstats.pictures.looks import COLORS, MARKERS, as_written, figure_for

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
SETTINGS = ("partitions", "threads each", "quantiles", "points", "n", "rows", "epsilon")
"""Headings of columns that say what was measured, beside the first one, and not how it came out."""
VERDICTS = ("aim", "met", "no reply")
MOST_PANELS = 6
WIDE = 20
"""A range from which on a logarithmic axis is needed."""
_NUMBER = re.compile(r"(?:about |<= |>= |< |> )?(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|-?\.\d+)\s*%?")
_LINK = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")
_ALT = "The table above as a picture"


@dataclass(frozen=True)
class Table:
    """A table of a page: its place among those of measurements, from 1, and where its lines end."""

    page: Path
    place: int
    lines: tuple[str, ...]
    end: int

    @property
    def headings(self) -> list[str]:
        """The first line's cells."""
        return cells_of(self.lines[0])

    @property
    def rows(self) -> list[list[str]]:
        """The cells below the headings."""
        return [cells_of(line) for line in self.lines[2:]]

    @property
    def digest(self) -> str:
        """Names what the table says."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()[:16]

    @property
    def picture(self) -> Path:
        """Where its picture is."""
        return PICTURES / f"{self.page.stem.lower()}-{self.place}.svg"

    @property
    def link(self) -> str:
        """The line that shows the picture, as it should be on the page."""
        return f"![{_ALT}]({self.picture.relative_to(self.page.parent).as_posix()})"

    @property
    def description(self) -> str:
        """What the picture's file says of itself."""
        return f"table {self.place} of {self.page.name}, {self.digest}"

    def measured(self) -> list[int]:
        """The columns that hold measurements."""
        return measured_columns(self.headings, self.rows)

    def labels(self) -> list[str]:
        """What each row is about."""
        settings = [place for place, heading in enumerate(self.headings) if place and heading in SETTINGS]
        numbered = all(is_number(row[0]) for row in self.rows)
        names = [f"{row[0]} {self.headings[0]}" if numbered else row[0] for row in self.rows]
        return [
            ", ".join([plain(name), *(f"{row[place]} {self.headings[place]}" for place in settings if row[place])])
            for name, row in zip(names, self.rows, strict=True)
        ]


def main() -> None:
    """Draw the tables of the named pages, or of all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    for page in parser.parse_args().pages or pages():
        tables = tables_of(page.resolve())
        for table in tables:
            draw(table)
        put_links(page.resolve(), tables)
        print(f"{page}: {len(tables)} tables")


def pages() -> list[Path]:
    """The pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def tables_of(page: Path) -> list[Table]:
    """The tables of measurements on a page, in their order."""
    lines = page.read_text(encoding="utf-8").split("\n")
    found: list[Table] = []
    start, fenced = None, False
    for place, line in enumerate([*lines, ""]):
        fenced ^= line.startswith("```")
        if line.startswith("|") and not fenced:
            start = place if start is None else start
            continue
        if start is not None:
            table = Table(page, len(found) + 1, tuple(lines[start:place]), place)
            if len(table.lines) > 2 and table.measured():
                found.append(table)
            start = None
    return found


def put_links(page: Path, tables: Sequence[Table]) -> None:
    """Put the link of each picture below its table, if it is not there."""
    lines = page.read_text(encoding="utf-8").split("\n")
    for table in reversed(tables):
        below = lines[table.end : table.end + 2]
        if below[1:] and is_ours(below[1]):
            lines[table.end + 1] = table.link
        else:
            lines[table.end : table.end] = ["", table.link]
    text = "\n".join(lines)
    if text != page.read_text(encoding="utf-8"):
        page.write_text(text, encoding="utf-8")


def is_ours(line: str) -> bool:
    """Whether a line shows a picture that was made here."""
    return line.startswith(f"![{_ALT}](")


def cells_of(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number_in(cell: str) -> float | None:
    """The number that a cell begins with, or that stands after its last "="; None where there is none."""
    text = plain(cell).rpartition("= ")[2]
    match = _NUMBER.match(text)
    return float(match[1].replace(",", "")) if match else None


def measured_columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The columns after the first that hold mostly numbers, and are neither settings nor verdicts."""
    chosen = []
    for place, heading in enumerate(headings):
        filled = [row[place] for row in rows if row[place] and row[place] not in ("no reply", "-", "lost")]
        numbers = [number_in(cell) for cell in filled]
        mostly = 2 * sum(number is not None for number in numbers) > len(numbers) > 0
        if place and mostly and heading not in SETTINGS and heading not in VERDICTS:
            chosen.append(place)
    return chosen


def draw(table: Table) -> None:
    """Lines where the columns are sizes, else a panel of bars for each column."""
    places = table.measured()
    sizes = [number_in(table.headings[place]) if is_number(table.headings[place]) else None for place in places]
    if len(places) > 2 and None not in sizes:
        draw_lines(table, places, [size for size in sizes if size is not None])
    else:
        draw_bars(table, places[:MOST_PANELS])


def draw_lines(table: Table, places: Sequence[int], sizes: Sequence[float]) -> None:
    """A line for each row, over the sizes in the headings."""
    with figure_for(table.picture, 6.4, max(3.0, 0.3 * len(table.rows) + 0.6), description=table.description) as figure:
        axes = figure.subplots()
        heights = []
        for index, (label, row) in enumerate(zip(table.labels(), table.rows, strict=True)):
            pairs = [
                (size, number) for size, place in zip(sizes, places, strict=True) if (number := number_in(row[place])) is not None
            ]
            heights += [number for _, number in pairs]
            looks = {
                "color": COLORS[index % len(COLORS)],
                "marker": MARKERS[index % len(MARKERS)],
                "markersize": 4,
                "linewidth": 1.3,
            }
            name = label if pairs else f"{label}: no reply"
            axes.plot([size for size, _ in pairs], [number for _, number in pairs], label=as_written(name), **looks)
        axes.set_xscale("log")
        set_scale(axes, heights, upright=True)
        axes.set_xlabel(as_written(plain(table.headings[0]) if table.headings[0].startswith("epsilon") else "rows"))
        axes.grid(linewidth=0.4, alpha=0.5)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)


def draw_bars(table: Table, places: Sequence[int]) -> None:
    """A panel of bars for each column, with the rows named at the left."""
    labels = table.labels()
    height = max(1.6, 0.2 * len(labels) + 0.9)
    with figure_for(table.picture, 2.4 + 1.7 * len(places), height, description=table.description) as figure:
        panels = figure.subplots(1, len(places), squeeze=False, sharey=True)[0]
        for index, (axes, place) in enumerate(zip(panels, places, strict=True)):
            numbers = [number_in(row[place]) for row in table.rows]
            known = [(spot, number) for spot, number in enumerate(numbers) if number is not None]
            axes.barh(
                [spot for spot, _ in known], [number for _, number in known], color=COLORS[index % len(COLORS)], height=0.75
            )
            set_scale(axes, [number for _, number in known], upright=False)
            axes.set_title(as_written(shortened(plain(table.headings[place]), 30)), fontsize=8, loc="left")
            axes.tick_params(labelsize=7)
        panels[0].set_yticks(range(len(labels)), [as_written(shortened(label, 44)) for label in labels], fontsize=7)
        panels[0].set_ylim(len(labels) - 0.4, -0.6)


def set_scale(axes: Any, numbers: Sequence[float], *, upright: bool) -> None:
    """A logarithmic axis where numbers differ that much; zeros have no place on it and are left out."""
    positive = [number for number in numbers if number > 0]
    if positive and min(numbers) >= 0 and max(positive) / min(positive) > WIDE:
        (axes.set_yscale if upright else axes.set_xscale)("log")
        if not upright:
            axes.set_xlim(left=10 ** math.floor(math.log10(min(positive)) - 0.3))


def is_number(text: str) -> bool:
    """Whether a heading is a number and nothing else."""
    match = _NUMBER.match(text)
    return match is not None and match.end() == len(text)


def plain(cell: str) -> str:
    """A cell without its marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("`", "").replace("**", "").replace("\\|", "|")


def shortened(text: str, most: int) -> str:
    """A text of so many characters at most."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


if __name__ == "__main__":
    main()
