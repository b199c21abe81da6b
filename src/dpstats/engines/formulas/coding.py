"""How categories are coded in each term of a formula, so that no column of the design follows from the others.

A category has one column for each of its levels, or one for each but the reference. Which of them a term takes depends on the
terms before it: what these can say already is not said again (Chambers & Hastie 1992, section 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

Coding = frozenset[tuple[str, bool]]


class FactorPart(NamedTuple):
    """A factor in a term: whether it is a category, and if so, whether it has a column for its reference too."""

    name: str
    is_category: bool
    full: bool = False


def coded_terms(terms: Sequence[Sequence[FactorPart]], *, intercept: bool) -> list[tuple[FactorPart, ...]]:
    """Terms with codings that together say what the given ones say, and say nothing twice; short terms come first."""
    said: dict[frozenset[str], set[frozenset[str]]] = {}
    if intercept:
        said[frozenset()] = {frozenset()}
    coded: list[tuple[FactorPart, ...]] = []
    for term in sorted(terms, key=len):
        before = said.setdefault(frozenset(part.name for part in term if not part.is_category), set())
        categories = [part.name for part in term if part.is_category]
        subsets = (frozenset(each) for size in range(len(categories) + 1) for each in combinations(categories, size))
        new = [each for each in subsets if each not in before]
        before.update(new)
        for coding in _joined(new, categories):
            full = dict(coding)
            kept = [part for part in term if not part.is_category or part.name in full]
            coded.append(tuple(part._replace(full=full.get(part.name, False)) for part in kept))
    return coded


def _joined(subsets: Sequence[frozenset[str]], names: Sequence[str]) -> list[Coding]:
    """Codings that say what categories without their references say in these subsets.

    A category without its reference, beside the same without the category, is the category with its reference.
    """
    parts = [(name, False) for name in names]
    codings: list[Coding] = [frozenset((name, False) for name in subset) for subset in subsets]
    while pair := next(
        ((coding, part) for coding in codings for part in parts if part in coding and coding - {part} in codings), None
    ):
        longer, part = pair
        codings[codings.index(longer)] = longer - {part} | {(part[0], True)}
        codings.remove(longer - {part})
    return codings
