"""Points: rows as whole numbers of public units, standardised, turned into public directions and held within a ball.

Claim      What a row becomes depends on that row and on released numbers alone, to the last bit; a bounded point's squared length
           in whole units is at most `radius`**2, whatever the row holds
Why        Each cell is subtracted from, divided, rounded and cut off by itself (IEEE arithmetic, which is exact to the last bit).
           From there on all numbers are whole and so small that floats hold every sum of their products exactly, in whatever
           order a matrix product adds them up. The length of a bounded point is checked in whole numbers, and a point that
           rounding left outside is put to 0
Numerics   |point| <= 2**23 in units of 2**-16, |turn| <= 2**24 in units of 2**-14, at most 41 coordinates: sums stay below 2**53
Source     steps.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POINT_BITS, FARTHEST = 16, float(1 << 23)
TURN_BITS, STEEPEST = 14, float(1 << 24)
BALL_BITS = 12
"""A bounded point is in units of 2**-12."""
LIGHT_WORK = 1 << 18
"""Multiplications that OpenBLAS does in one thread."""
POINT = float(1 << POINT_BITS)
BALL = float(1 << BALL_BITS)
LARGEST = 1e125
"""No coefficient of a line is larger: beyond the largest magnitude (octaves.py), and floats hold its square."""


@dataclass(frozen=True)
class Points:
    """How rows become points: first the ones of an intercept, then the features, which are the first columns of a row."""

    middles: tuple[float, ...]
    scales: tuple[float, ...]
    intercept: bool
    turn: tuple[tuple[int, ...], ...] | None = None
    """Whole numbers by which standardised points are turned and stretched, column by column; None to leave them."""
    radius: int = 1
    """The radius of the ball, in its units."""

    @property
    def coordinates(self) -> int:
        """How many numbers a point has."""
        return len(self.middles) + self.intercept

    @property
    def turned(self) -> Floats:
        """The turn as a matrix: what coefficients of turned points are multiplied by to be those of standardised ones."""
        if self.turn is None:
            return np.eye(self.coordinates)
        return np.asarray(np.ldexp(np.array(self.turn, dtype=np.float64), -TURN_BITS))

    def of(self, raw_rows: Floats) -> Floats:
        """The points of rows, in whole units."""
        raw_points = np.empty((len(raw_rows), self.coordinates), order="F")
        raw_points[:, : self.intercept] = POINT
        raw_features = raw_points[:, self.intercept :]
        with np.errstate(over="ignore"):  # a sum beyond the largest float is infinite, and cut off
            np.subtract(raw_rows[:, : len(self.middles)], self.middles, out=raw_features)
            np.divide(raw_features, self.scales, out=raw_features)
            np.multiply(raw_features, POINT, out=raw_features)
        self.held(raw_features)
        if self.turn is None:
            return raw_points
        turn = np.array(self.turn, dtype=np.float64)
        raw_turned = np.empty_like(raw_points)
        for rows in few_at_a_time(len(raw_points), self.coordinates):
            np.matmul(turn.T, raw_points[rows].T, out=raw_turned[rows].T)
        np.multiply(raw_turned, 2.0**-TURN_BITS, out=raw_turned)
        return self.held(raw_turned)

    @staticmethod
    def held(raw_points: Floats) -> Floats:
        """Points in whole units, cut off far out; in place."""
        np.clip(raw_points, -FARTHEST, FARTHEST, out=raw_points)
        return np.rint(raw_points, out=raw_points)

    def weights(self, raw_points: Floats) -> Floats:
        """By how much each point is drawn toward 0 to lie within the ball, at most 1."""
        raw_lengths = np.sqrt(np.square(raw_points).sum(axis=1))
        reach = self.radius * 2.0 ** (POINT_BITS - BALL_BITS)
        return np.asarray(np.minimum(1.0, reach / np.maximum(raw_lengths, 1.0)))

    def bounded(self, raw_points: Floats, raw_weights: Floats) -> Floats:
        """The points within the ball, in its units."""
        raw_ball = np.trunc(raw_points * (raw_weights * 2.0 ** (BALL_BITS - POINT_BITS))[:, None])
        raw_ball[np.square(raw_ball).sum(axis=1) > self.radius**2] = 0.0
        return raw_ball


def few_at_a_time(rows: int, coordinates: int) -> Iterator[slice]:
    """Rows in pieces that a matrix product does not hand out to several threads, which mostly wait for each other."""
    step = max(1, LIGHT_WORK // coordinates**2)
    return (slice(start, start + step) for start in range(0, rows, step))


def whole_turn(matrix: Floats) -> tuple[tuple[int, ...], ...]:
    """A public matrix in whole units of a turn."""
    whole = np.clip(np.rint(matrix * 2.0**TURN_BITS), -STEEPEST, STEEPEST)
    return tuple(tuple(int(entry) for entry in row) for row in whole)


@dataclass(frozen=True)
class WholeLine:
    """Coefficients in whole numbers of one power of two, so that what they give for a point is exact."""

    steps: tuple[int, ...]
    exponent: int
    """The unit is two to this power, for points in their units."""

    def at(self, raw_points: Floats) -> Floats:
        """The linear predictor of points."""
        return np.asarray(np.ldexp((raw_points * np.array(self.steps, dtype=np.float64)).sum(axis=1), self.exponent))

    @property
    def values(self) -> Floats:
        """The coefficients, for points in standard units."""
        return np.asarray(np.ldexp(np.array(self.steps, dtype=np.float64), self.exponent + POINT_BITS))


def line_of(coefficients: Floats) -> WholeLine:
    """The nearest line in whole numbers below 2**24; coefficients beyond LARGEST are cut off: no predictor is infinite."""
    held = np.clip(coefficients, -LARGEST, LARGEST)
    unit = max(math.frexp(float(np.max(np.abs(held), initial=0.0)))[1] - 23, -1000)
    steps = np.rint(np.ldexp(held, -unit))
    return WholeLine(tuple(int(step) for step in steps), unit - POINT_BITS)
