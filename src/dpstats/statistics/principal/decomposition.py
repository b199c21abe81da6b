"""Eigenvalues and eigenvectors of a small symmetric matrix, the same on every machine.

LAPACK's last digits depend on the processor and on its threads. Rotations after Jacobi use sums, products, quotients and roots of
single elements alone, in a fixed order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_SWEEPS = 60


def decompose(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, the largest first, and their unit eigenvectors as rows; of each the largest entry by magnitude, to nine digits
    the first of these, is positive."""
    turned = np.array(matrix, dtype=np.float64)
    size = len(turned)
    vectors = np.eye(size)
    for _ in range(MOST_SWEEPS):
        rotations = [_rotate(turned, vectors, first, second) for first in range(size) for second in range(first + 1, size)]
        if not any(rotations):
            break
    values = np.diag(turned)
    order = np.argsort(-values, kind="stable")
    return values[order], np.array([_signed(vectors[place]) for place in order])


def _rotate(turned: Floats, vectors: Floats, first: int, second: int) -> bool:
    """Turn two coordinates so that their product vanishes; whether there was anything to do."""
    product, low, high = (float(turned[place]) for place in ((first, second), (first, first), (second, second)))
    if abs(product) <= 1e-17 * (abs(low) + abs(high)) or product == 0.0:
        return False
    steepness = (high - low) / (2.0 * product)
    tangent = math.copysign(1.0, steepness) / (abs(steepness) + math.sqrt(1.0 + steepness * steepness))
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    for rows in (turned, turned.T, vectors):
        one, other = rows[first] * cosine - rows[second] * sine, rows[first] * sine + rows[second] * cosine
        rows[first], rows[second] = one, other
    turned[first, second] = turned[second, first] = 0.0
    return True


def _signed(vector: Floats) -> Floats:
    sizes = np.round(np.abs(vector), 9)
    return np.asarray(-vector if vector[int(np.argmax(sizes))] < 0 else vector)
