"""Eigenvalues and eigenvectors by rotations agree with LAPACK's, and have stated signs."""

from __future__ import annotations

import numpy as np
import pytest

from dpstats.statistics.principal.decomposition import decompose


@pytest.mark.parametrize("size", [1, 2, 3, 8, 40])
def test_they_agree_with_lapack(size: int) -> None:
    generator = np.random.default_rng(size)
    matrix = generator.normal(size=(size, size)) * 10.0 ** generator.integers(-3, 4)
    matrix += matrix.T
    values, vectors = decompose(matrix)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix)[::-1], rel=1e-11, abs=1e-12 * np.abs(matrix).max())
    assert vectors @ vectors.T == pytest.approx(np.eye(size), abs=1e-12)
    assert vectors @ matrix @ vectors.T == pytest.approx(np.diag(values), abs=1e-10 * np.abs(matrix).max())


def test_the_largest_entry_of_a_vector_is_positive_and_the_first_of_equals() -> None:
    _, vectors = decompose(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    assert vectors.tolist() == [pytest.approx([0.5**0.5, -(0.5**0.5)]), pytest.approx([0.5**0.5, 0.5**0.5])]


def test_equal_eigenvalues_keep_the_order_of_columns() -> None:
    values, vectors = decompose(np.eye(3))
    assert values.tolist() == [1.0] * 3
    assert vectors.tolist() == np.eye(3).tolist()
