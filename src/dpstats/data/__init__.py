"""The bundled table: a synthetic survey of 5,000 persons, none of whom exists."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TABLE = "survey.csv"
_WHOLE = ("person", "age", "schooling", "hours")
_TEXT = ("region",)


def survey() -> dict[str, NDArray[Any]]:
    """The table's columns by name; a missing number is NaN."""
    text = resources.files(__name__).joinpath(_TABLE).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    columns = zip(*rows, strict=True)
    return {name: _typed(name, cells) for name, cells in zip(header, columns, strict=True)}


def _typed(name: str, cells: Sequence[str]) -> NDArray[Any]:
    if name in _TEXT:
        return np.array(cells)
    if name in _WHOLE:
        return np.array(cells, dtype=np.int64)
    return np.array([_number(cell) for cell in cells])


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")
