"""Solutions of many small systems of linear equations, each by itself.

A system of d equations in d unknowns has one solution, or it abstains: its equations do not determine one, or one of them is
missing. Whether they do is decided exactly. Most systems are solved in floats, with a certificate that they have a solution and
that it is near; the few without a certificate are solved again in whole numbers of any length.

Claim      None by itself: what a system gives depends on its own numbers alone, to the last bit
Why        Systems are solved side by side by operations that act on each number by itself; no sum runs over systems, and none is
           left to a library that may order it by the shape of an array
Numerics   Floats are rational numbers. Infinities count as the largest floats, and so do solutions beyond them. A certified
           solution has about 6 digits at least, and mostly 14; all others are the exact ones, rounded
Source     solves.proof.md; whole numbers: Bareiss 1968
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.rounding import nearest_float

Floats = NDArray[np.float64]
LARGEST = sys.float_info.max
CERTAIN = 2.0**-20
"""How far the product of a matrix and its approximate inverse may be from the identity, rounding errors included."""
SYSTEMS_AT_ONCE = 1 << 12
_ROUNDING = 2.0**-52
_TINY = 2.0**-1000
"""More than all that underflow can add up to."""
_NO_EXPONENT = -(1 << 14)


def solve_systems(raw_systems: Floats) -> Floats:
    """The solutions (systems, d) of systems (systems, d, d + 1), the right-hand side last; NaN where one abstains."""
    parts = [_solve(raw_systems[start : start + SYSTEMS_AT_ONCE]) for start in range(0, len(raw_systems), SYSTEMS_AT_ONCE)]
    return np.concatenate(parts) if parts else np.empty(raw_systems.shape[:2])


def _solve(raw_systems: Floats) -> Floats:
    raw_solutions = np.full(raw_systems.shape[:2], np.nan)
    complete = np.flatnonzero(~np.isnan(raw_systems).any(axis=(1, 2)))
    raw_complete = np.clip(raw_systems[complete], -LARGEST, LARGEST)
    with np.errstate(all="ignore"):
        raw_found, certain = solve_quickly(raw_complete)
    for place in np.flatnonzero(~certain).tolist():
        exact = solve_exactly(raw_complete[place].tolist())
        raw_found[place] = np.nan if exact is None else [nearest_float(value) for value in exact]
    raw_solutions[complete] = raw_found + 0.0  # -0.0 becomes 0.0
    return raw_solutions


def solve_quickly(raw_systems: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Solutions in floats, and which of them are certain; the others may be anything."""
    systems = np.moveaxis(raw_systems, 0, -1)  # each operation runs along the systems
    matrix, right, exponents, exact = _scaled(systems)
    inverse = _inverse(matrix)
    size = len(matrix)
    product, spread = _product(inverse, matrix), _product(np.abs(inverse), np.abs(matrix))
    off = np.abs(product - np.eye(size)[:, :, None]) + ((2 * size + 8) * _ROUNDING * spread + _TINY)
    certain = exact & (_added(np.swapaxes(off, 0, 1)).max(axis=0) < CERTAIN)
    solution = _times(inverse, right)
    solution = solution + _times(inverse, right - _times(matrix, solution))
    return np.clip(np.ldexp(solution, exponents), -LARGEST, LARGEST).T, certain


def _scaled(systems: Floats) -> tuple[Floats, Floats, NDArray[np.int32], NDArray[np.bool_]]:
    """Matrices and right-hand sides with rows and columns multiplied by powers of two until none is larger than 1.

    Also the exponents that take solutions back, and whether no number was lost on the way.
    """
    original, right = systems[:, :-1], systems[:, -1]
    row_exponents = np.frexp(np.abs(original).max(axis=1))[1]
    matrix = np.ldexp(original, -row_exponents[:, None])
    exact = (np.ldexp(matrix, row_exponents[:, None]) == original).all(axis=(0, 1))
    column_exponents = np.frexp(np.abs(matrix).max(axis=0))[1]
    matrix = np.ldexp(matrix, -column_exponents[None])
    mantissas, right_exponents = np.frexp(right)
    right_exponents = np.where(mantissas == 0, _NO_EXPONENT, right_exponents - row_exponents)
    largest = right_exponents.max(axis=0)
    return matrix, np.ldexp(mantissas, right_exponents - largest), largest - column_exponents, exact


def _inverse(matrix: Floats) -> Floats:
    """Approximate inverses by elimination with pivots; of a singular matrix anything."""
    size, _, systems = matrix.shape
    identity = np.broadcast_to(np.eye(size)[:, :, None], matrix.shape)
    work, every = np.concatenate([matrix, identity], axis=1), np.arange(systems)
    for step in range(size):
        pivots = step + np.abs(work[step:, step]).argmax(axis=0)
        chosen = work[pivots, :, every].T
        work[pivots, :, every] = work[step].T
        work[step] = chosen / chosen[step]
        for other in range(size):
            if other != step:
                work[other] -= work[other, step] * work[step]
    return work[:, size:]


def _product(left: Floats, right: Floats) -> Floats:
    """The products of matrices."""
    return _added(left[:, :, None] * right[None], axis=1)


def _times(matrix: Floats, vector: Floats) -> Floats:
    """The products of matrices and vectors."""
    return _added(matrix * vector[None], axis=1)


def _added(terms: Floats, axis: int = 0) -> Floats:
    """Sums along an axis, term by term in their order."""
    return np.asarray(reduce(np.add, np.moveaxis(terms, axis, 0)))


def solve_exactly(raw_system: list[list[float]]) -> list[Fraction] | None:
    """The exact solution of one system of finite floats; None where there is none, or more than one."""
    rows = [_whole(row) for row in raw_system]
    size, last_pivot = len(rows), 1
    for step in range(size):
        found = next((place for place in range(step, size) if rows[place][step]), None)
        if found is None:
            return None
        rows[step], rows[found] = rows[found], rows[step]
        chosen = rows[step]
        pivot = chosen[step]
        for place, row in enumerate(rows):
            if place != step:
                factor = row[step]
                rows[place] = [(pivot * own - factor * other) // last_pivot for own, other in zip(row, chosen, strict=True)]
        last_pivot = pivot
    return [Fraction(row[-1], last_pivot) for row in rows]


def _whole(raw_equation: list[float]) -> list[int]:
    """An equation in whole numbers: all of it multiplied by one power of two."""
    ratios = [value.as_integer_ratio() for value in raw_equation]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios]
