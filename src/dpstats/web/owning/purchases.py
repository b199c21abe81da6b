"""What a budget buys: how many questions of which error, from the stored plan tables. No data is read, and nothing is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.accounting.budgets import Budget
from dpstats.accounting.groups import unit_loss
from dpstats.curator.planning.shapes import SHAPES
from dpstats.curator.planning.stored_tables import MOST_ROWS, StoredQuestion, tables_for
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import Question, ask
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.web.routes import Plain

SHAPE = "lognormal"
"""Skewed, as incomes are."""
QUESTIONS: Sequence[tuple[str, str, tuple[object, ...]]] = (
    ("count of rows", "count", ()),
    ("median", "median", ()),
    ("mean", "mean", ()),
    ("quantile 0.9", "quantile", (0.9,)),
    ("standard deviation", "std", ()),
)
WANTED = (0.1, 0.05, 0.02)
"""Half-widths, as shares."""
EPSILONS = (*(Fraction(digit, 10**power) for power in (3, 2, 1, 0) for digit in (1, 2, 3, 5, 7)), Fraction(10))
LEAST_ROWS = 100
USUAL_REPLIES = 0.95
ROWS_PER_UNIT = (1, 2, 3, 5, 10, 20, 50)
PICTURED_EPSILON = Fraction(1, 2)


def purchases(budget: Budget, rows: int, steps: int = 1, largest: Fraction | None = None) -> Plain:
    """How many questions of each kind fit a budget, by the half-width of their intervals; `steps` are rows of a unit."""
    lines = []
    for words, name, parameters in QUESTIONS:
        cells = []
        for wanted in WANTED:
            row_epsilon = smallest_epsilon(name, parameters, _within(rows), wanted)
            epsilon = None if row_epsilon is None else row_epsilon * steps
            count = 0
            if epsilon is not None and epsilon <= (largest or budget.epsilon):
                question = _question(name, parameters, Fraction(1))
                count = budget.how_many(PrivacyCost(epsilon), loss=unit_loss(question.method.loss, question.delta, steps))
            cells.append({"epsilon": None if epsilon is None else decimal_text(epsilon), "count": count})
        lines.append({"question": words, "of": _scale(name, parameters), "cells": cells})
    return {"wanted": [f"{100 * each:g}%" for each in WANTED], "lines": lines, "rows": rows}


def error_by_rows(rows: int, chosen: int | None, steps_per_row: int = 1) -> Plain | None:
    """The half-width of a median at a usual epsilon, by rows per unit: all rows count, and noise must hide all of a unit's.

    `chosen` is None where the number is still to be found.
    """
    counts = sorted({*ROWS_PER_UNIT, *(() if chosen is None else (chosen,))})
    shares = [(count, half_width("median", (), _within(rows), PICTURED_EPSILON / (count * steps_per_row))) for count in counts]
    points = [{"rows": count, "share": share} for count, share in shares if share is not None and share <= 10]
    if not points or (chosen is not None and chosen not in [each["rows"] for each in points]):
        return None
    median = f"a median of {rows:,} rows at epsilon {decimal_text(PICTURED_EPSILON)} is known to"
    widths = {each["rows"]: f"about {100 * each['share']:.2g}%" for each in points}
    of_range = "of the interquartile range, to either side"
    if chosen is None:
        fewest, most = min(widths), max(widths)
        of_most = f"with {counted(most, 'row')} to {widths[most]}"
        sentence = f"With {counted(fewest, 'row')} per unit, {median} {widths[fewest]} {of_range}; {of_most}."
    else:
        sentence = f"With {counted(chosen, 'row')} per unit, {median} {widths[chosen]} {of_range}."
    return {"points": points, "chosen": chosen, "axis": "rows per unit", "sentence": sentence}


@lru_cache(maxsize=4096)
def smallest_epsilon(name: str, parameters: tuple[Any, ...], rows: int, wanted: float) -> Fraction | None:
    """The smallest epsilon for a row, of a few, at which intervals are usually no wider than wanted; None where none is."""
    for epsilon in EPSILONS:
        found = half_width(name, parameters, rows, epsilon)
        if found is not None and found <= wanted:
            return epsilon
    return None


def half_width(name: str, parameters: tuple[Any, ...], rows: int, epsilon: Fraction) -> float | None:
    """The half-width to expect, as a share; None where the tables have none, or there would often be no reply."""
    stored = _stored(name, parameters)
    shape = SHAPES[SHAPE]
    tables = None if stored is None else stored.on(shape)
    if stored is None or tables is None:
        return None
    figures = tables.at(rows, float(epsilon), roughly=True)
    whole = stored.scale.amount(shape, tables.yardstick.value_at(rows))
    if figures is None or figures.half_width is None or not whole or figures.reply_probability < USUAL_REPLIES:
        return None
    return figures.half_width / whole if math.isfinite(figures.half_width) else None


def _within(rows: int) -> int:
    return min(max(rows, LEAST_ROWS), MOST_ROWS)


def _question(name: str, parameters: tuple[Any, ...], epsilon: Fraction) -> Question:
    return ask(name, *parameters, epsilon=epsilon)


@lru_cache(maxsize=64)
def _stored(name: str, parameters: tuple[Any, ...]) -> StoredQuestion | None:
    return tables_for(_question(name, parameters, Fraction(1)))


def _scale(name: str, parameters: tuple[Any, ...]) -> str:
    stored = _stored(name, parameters)
    return "" if stored is None else stored.scale.value
