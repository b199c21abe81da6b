"""The measured cells as a table of text, those that fall short first, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.real_tables.measures import LEAST_COVERAGE, MAY_BE_CHANCE, Cell, Value, cell_of

HEAD = ("statistic", "table and question", "rows", "epsilon", "held", "error", "RMSE", "width", "replies", "ms", "falls short")


def save(path: Path, cells: Sequence[Cell]) -> None:
    """Write the cells as JSON, one for each line, with four digits."""
    lines = ",\n".join(json.dumps(_rounded(each.to_dict()), allow_nan=False) for each in cells)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def load(path: Path) -> list[Cell]:
    """The cells of a file."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [cell_of(each) for each in found]


def _rounded(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {name: _rounded(each) for name, each in plain.items()}
    if isinstance(plain, (list, tuple)):
        return [_rounded(each) for each in plain]
    return float(f"{plain:.4g}") if isinstance(plain, float) else plain


def may_be_chance_only(cell: Cell) -> bool:
    """Whether a cell falls short by nothing but coverages that may be chance."""
    return bool(cell.short) and all(MAY_BE_CHANCE in reason for reason in cell.short)


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Those that fall short first, the worst coverage first; the others by statistic."""
    short = sorted((each for each in cells if each.short), key=lambda each: (least_coverage(each), each.statistic))
    return [*short, *sorted((each for each in cells if not each.short), key=lambda each: each.statistic)]


def least_coverage(cell: Cell) -> float:
    """The coverage of the number whose intervals held least; 1 where nothing has an interval."""
    return min((value.coverage for value in cell.values if value.coverage is not None), default=1.0)


def line_of(cell: Cell) -> tuple[str, ...]:
    """A cell as the columns of a table."""
    question = cell.name.partition(f"{cell.statistic} ")[2].rpartition(f", {cell.rows:,} rows")[0]
    held = [_coverage(value) for value in cell.values]
    if cell.agreement is not None:
        word = "likeness" if cell.statistic.startswith("select_") else "power"
        held.append(f"{word} {100 * cell.agreement.private:.0f}% (usual {100 * cell.agreement.usual:.0f}%)")
    return (
        cell.statistic,
        f"{cell.table}: {question}",
        f"{cell.rows:,}",
        f"{cell.epsilon:g}",
        " ".join(held),
        _ratios(cell.values, "error"),
        _ratios(cell.values, "squares"),
        _ratios(cell.values, "width"),
        f"{100 * cell.replies:.0f}%",
        f"{1000 * cell.seconds:.0f}",
        "; ".join(cell.short),
    )


def _coverage(value: Value) -> str:
    if value.coverage is None:
        return "-"
    usual = (
        f" (usual {100 * value.usual_coverage:.0f}%)" if value.usual_coverage is not None and value.least < LEAST_COVERAGE else ""
    )
    return f"{100 * value.coverage:.0f}%{usual}"


def _ratios(values: Sequence[Value], what: str) -> str:
    found = [getattr(value, what) for value in values]
    return " ".join("-" if each is None else f"{each:.2f}" if each < 10 else f"{each:.3g}" for each in found)


def markdown(cells: Iterable[Cell]) -> str:
    """The table, in the order of the cells."""
    lines = ["| " + " | ".join(HEAD) + " |", "| " + " | ".join(["---"] * len(HEAD)) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(line_of(cell)) + " |" for cell in cells)])
