"""The law of which boxes of a tree are halved, from its definition and apart from the code that draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.laws.mechanisms import exponential_of_minus

Tree = frozenset[tuple[int, int]]
"""Last boxes, by depth and path."""
Lowered = Callable[[int, int], int]
"""What a decision goes by: from a box's count and its depth."""


def lowered_with_floor(step: int) -> Lowered:
    """A count lowered by a step for each depth, at least minus one step."""
    return lambda count, depth: max(count - depth * step, -step)


def halving_chance(number: int, scale: Fraction) -> Fraction:
    """The probability that a whole number with discrete Laplace noise is positive."""
    ratio = exponential_of_minus(1 / scale)
    if number <= 1:
        return exponential_of_minus((1 - number) / scale) / (1 + ratio)
    return 1 - exponential_of_minus(number / scale) / (1 + ratio)


def tree_law(raw_counts: Sequence[int], scale: Fraction, lowered: Lowered) -> dict[Tree, Fraction]:
    """Trees by their probabilities, where `raw_counts` has the rows of each full path; the first box is decided on first."""
    return _below(list(raw_counts), 0, 0, scale, lowered)


def _below(raw_counts: list[int], depth: int, path: int, scale: Fraction, lowered: Lowered) -> dict[Tree, Fraction]:
    alone: Tree = frozenset({(depth, path)})
    if len(raw_counts) == 1:
        return {alone: Fraction(1)}
    chance, half = halving_chance(lowered(sum(raw_counts), depth), scale), len(raw_counts) // 2
    first = _below(raw_counts[:half], depth + 1, 2 * path, scale, lowered)
    second = _below(raw_counts[half:], depth + 1, 2 * path + 1, scale, lowered)
    law = {one | other: chance * p * q for one, p in first.items() for other, q in second.items()}
    return {alone: 1 - chance, **law}
