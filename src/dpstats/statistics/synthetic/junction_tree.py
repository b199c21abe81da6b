"""The junction tree of a graphical model: which columns are modelled together, and how these groups hang together.

Everything here is arithmetic on the numbers of levels of columns (`sizes`) and on sets of columns (cliques), which are public.
A column of one level is the same in every row, so it stands alone and is taken to lie in every clique.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

Columns = tuple[int, ...]
"""Columns by their numbers, in increasing order."""


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques of a triangulated graph, joined to a tree.

    The cliques that hold any given column are connected in the tree, so that a model is a product of one table for each clique.
    `parents[i]` is the neighbor of clique i towards the root, and -1 for the root; parents stand before their children.
    """

    sizes: Columns
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], cliques: Iterable[Iterable[int]]) -> JunctionTree:
        """The tree of a model whose tables may hold any of `cliques`, and every column by itself."""
        maximal = triangulated(sizes, cliques)
        order, parents = _maximum_spanning_tree(maximal)
        return cls(tuple(sizes), tuple(maximal[place] for place in order), parents)

    @cached_property
    def separators(self) -> tuple[Columns, ...]:
        """The columns that each clique shares with its parent; none for the root."""
        return tuple(
            () if parent < 0 else tuple(sorted(set(clique) & set(self.cliques[parent])))
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    @cached_property
    def neighbors(self) -> tuple[tuple[int, ...], ...]:
        """The cliques beside each clique: its parent and its children."""
        beside: list[list[int]] = [[] for _ in self.cliques]
        for clique, parent in enumerate(self.parents):
            if parent >= 0:
                beside[clique].append(parent)
                beside[parent].append(clique)
        return tuple(map(tuple, beside))

    def home(self, columns: Iterable[int]) -> int | None:
        """The number of the smallest clique that holds all of `columns`; None where none does."""
        wanted = {column for column in columns if self.sizes[column] > 1}
        holding = [place for place, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(holding, key=lambda place: cells_of(self.sizes, self.cliques[place]), default=None)

    @property
    def cells(self) -> int:
        """How many cells the tables of all cliques have together."""
        return sum(cells_of(self.sizes, clique) for clique in self.cliques)


def cells_of(sizes: Sequence[int], columns: Iterable[int]) -> int:
    """How many cells the table of `columns` has."""
    return math.prod(sizes[column] for column in columns)


def model_cells(sizes: Sequence[int], cliques: Iterable[Iterable[int]], most: int | None = None) -> int:
    """How many cells the tables of a model have that holds `cliques`; counting may stop once there are more than `most`."""
    found: list[set[int]] = []
    total = 0
    for clique in _eliminations(sizes, cliques):
        if not any(clique <= other for other in found):
            found.append(clique)
            total += cells_of(sizes, clique)
            if most is not None and total > most:
                break
    return total


def triangulated(sizes: Sequence[int], cliques: Iterable[Iterable[int]]) -> list[Columns]:
    """Maximal cliques of a triangulated graph in which each of `cliques` lies in one, as does every column."""
    found: list[set[int]] = []
    for clique in _eliminations(sizes, cliques):
        if not any(clique <= other for other in found):
            found.append(clique)
    return [tuple(sorted(clique)) for clique in found]


def _eliminations(sizes: Sequence[int], cliques: Iterable[Iterable[int]]) -> Iterable[set[int]]:
    """Eliminate all columns, the one whose clique has the fewest cells first, and yield their cliques.

    The clique of a column is itself with its neighbors, which are joined to each other when it goes. Of equals the first column
    goes first.
    """
    neighbors: list[set[int]] = [set() for _ in sizes]
    for clique in cliques:
        members = {column for column in clique if sizes[column] > 1}
        for column in members:
            neighbors[column] |= members
    for column, beside in enumerate(neighbors):
        beside.discard(column)
    costs = [size * cells_of(sizes, beside) for size, beside in zip(sizes, neighbors, strict=True)]
    queue = [(cost, column) for column, cost in enumerate(costs)]
    heapq.heapify(queue)
    while queue:
        cost, column = heapq.heappop(queue)
        if cost != costs[column]:
            continue  # its clique has changed since
        costs[column] = -1
        beside = neighbors[column]
        yield beside | {column}
        for other in beside:
            joined = neighbors[other]
            joined |= beside
            joined -= {column, other}
            changed = sizes[other] * cells_of(sizes, joined)
            if changed != costs[other]:
                costs[other] = changed
                heapq.heappush(queue, (changed, other))


def _maximum_spanning_tree(cliques: Sequence[Columns]) -> tuple[list[int], tuple[int, ...]]:
    """An order of cliques that starts at the one with most columns, and for each but the first the place of its parent in it.

    Each next clique is the one that shares most columns with one that is in already; cliques that share none are joined too, by
    an empty separator. Of a triangulated graph this makes a junction tree.
    """
    sets = [set(clique) for clique in cliques]
    root = max(range(len(cliques)), key=lambda place: (len(sets[place]), -place), default=-1)
    order, parents = [root] if cliques else [], [-1] if cliques else []
    best = {place: (len(sets[place] & sets[root]), 0) for place in range(len(cliques)) if place != root}
    while best:
        place = max(best, key=lambda each: (best[each][0], -each))
        _, parent = best.pop(place)
        order.append(place)
        parents.append(parent)
        for other, (shared, _) in best.items():
            now = len(sets[other] & sets[place])
            if now > shared:
                best[other] = (now, len(order) - 1)
    return order, tuple(parents)
