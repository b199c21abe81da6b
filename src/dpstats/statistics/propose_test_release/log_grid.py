"""A public grid on the logarithmic scale: bins whose edges are a constant factor apart, divided into fine cells.

An edge is a rational number given by a fixed rule, so that the cell of a number is exact by definition and no logarithm is
ever rounded: 2.0 lies in [2, 4) whatever the machine says of log(2). The cell of zero is none; zero is a bin of its own.
"""

from __future__ import annotations

import decimal
import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

CELLS = 4096
"""Cells in one bin: a released range is a cell's edge, and so exact to a 4096th of a bin on the logarithmic scale."""
_DIGITS = 60
_LARGEST_EXPONENT = 709.0


@dataclass(frozen=True)
class LogGrid:
    """Edges at base**(cell / CELLS) for whole cells; bins begin at every multiple of CELLS, moved by a public shift."""

    base: Fraction

    def edge(self, cell: int) -> Fraction:
        """Where a cell begins: base**(cell / CELLS), exact where base and power are whole, otherwise to 60 digits."""
        power, rest = divmod(cell, CELLS)
        if not rest and self.base.denominator == 1:
            return self.base**power
        context = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_HALF_EVEN)
        return Fraction(context.exp(context.multiply(self._cell_width, Decimal(cell))))

    def cell(self, value: Fraction) -> int:
        """The cell of a positive number: the last one whose edge is not above it."""
        guess = math.floor((math.log(value.numerator) - math.log(value.denominator)) / float(self._cell_width))
        while self.edge(guess) > value:
            guess -= 1
        while self.edge(guess + 1) <= value:
            guess += 1
        return guess

    def bin_edges(self, cell: int, shift: int) -> tuple[Fraction, Fraction]:
        """Where the bin of a cell begins and ends when bins are moved by `shift` cells."""
        first = (cell - shift) // CELLS * CELLS + shift
        return self.edge(first), self.edge(first + CELLS)

    def bin_centre(self, cell: int, shift: int) -> float:
        """The middle, on the logarithmic scale, of the bin of a cell."""
        return self.number((cell - shift) // CELLS * CELLS + shift + CELLS / 2)

    def number(self, cell: float) -> float:
        """What is released for a place on the grid, which may lie between cells."""
        exponent = cell * float(self._cell_width)
        return math.exp(max(-_LARGEST_EXPONENT, min(exponent, _LARGEST_EXPONENT)))

    @functools.cached_property
    def _cell_width(self) -> Decimal:
        context = decimal.Context(prec=2 * _DIGITS, rounding=decimal.ROUND_HALF_EVEN)
        logarithm = context.ln(context.divide(Decimal(self.base.numerator), Decimal(self.base.denominator)))
        return context.divide(logarithm, Decimal(CELLS))
