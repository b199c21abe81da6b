"""Sums over a junction tree: from factors of a model to its marginals, by messages between cliques.

A model is a product of factors, one for each of some tables. Arrays of tables and cliques have the columns with the fewest levels
first, so that a table fits into its clique without being turned, and the innermost loops are the longest. All arrays are made
once; they are used again by every call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpstats.foundations.portable import Floats, exponential
from dpstats.statistics.synthetic.junction_tree import Columns, JunctionTree, cells_of

_LEAST_SHARE = 1e-280
"""Shares of a message that are lower count as 0, because what is divided by them may not be a float."""
_LEAST_TOTAL = 1e-20
"""Beliefs of a lower total are multiplied by a power of two first: what was divided by a share of a message is divided by the
total, too."""


def in_axis_order(sizes: Sequence[int], columns: Iterable[int]) -> Columns:
    """Columns in the order of axes of arrays: those with the fewest levels first; those of one level have no axis."""
    return tuple(sorted((each for each in columns if sizes[each] > 1), key=lambda each: (sizes[each], each)))


@dataclass(frozen=True)
class _Summing:
    """One sum over axes of an array into another."""

    source: Floats
    axes: tuple[int, ...]
    target: Floats

    def run(self) -> None:
        np.add.reduce(self.source, axis=self.axes, out=self.target)


class Propagation:
    """The marginals of a model with one factor for each of `tables`, for any factors.

    `exponents` and `marginals` are vectors that hold all tables one after another; `lengths` and `places` say how many cells each
    has, and where. After `run`, `beliefs` are the joint probabilities of each clique, with one axis for each of its `axes`.
    """

    def __init__(self, tree: JunctionTree, tables: Sequence[Columns]) -> None:
        self.tree, self.tables = tree, tuple(tables)
        sizes = tree.sizes
        lengths = [cells_of(sizes, table) for table in tables]
        self.lengths, ends = np.array(lengths, dtype=np.int64), np.cumsum([0, *lengths]).tolist()
        self.places = [slice(start, end) for start, end in pairwise(ends)]
        self._starts = np.array(ends[:-1], dtype=np.int64)
        self.cells: int = ends[-1]
        self._factors, self.marginals = np.ones(self.cells), np.zeros(self.cells)
        self.axes = [in_axis_order(sizes, clique) for clique in tree.cliques]
        self.beliefs = [np.ones(self._shape(axes)) for axes in self.axes]
        shapes = [self._shape(in_axis_order(sizes, separator)) for separator in tree.separators]
        self._messages = [np.ones(shape) for shape in shapes]
        self._shared = [np.ones(shape) for shape in shapes]
        self._totals = [1.0] * len(shapes)
        self._place_factors()
        self._place_sums()

    def run(self, exponents: Floats) -> bool:
        """Work out marginals and beliefs where the logarithms of all factors are `exponents`; False where none is a float."""
        if self.cells:
            highest = np.maximum.reduceat(exponents, self._starts)
            self._factors[:] = exponential(exponents - np.repeat(highest, self.lengths))
        for inner, outer in self._merges:
            outer *= inner
        for belief, factors in zip(self.beliefs, self._multiplied, strict=True):
            _multiply(factors, belief)
        return self._collect() and self._distribute()

    def _collect(self) -> bool:
        """Send messages towards the root."""
        for clique in range(len(self.beliefs) - 1, 0, -1):
            message = self._messages[clique]
            self._up_sums[clique].run()
            total = float(np.add.reduce(message, axis=None))
            if not 0.0 < total < np.inf:
                return False
            if total < _LEAST_TOTAL:
                exponent = -math.frexp(total)[1]
                for array in (self.beliefs[clique], message):
                    np.ldexp(array, exponent, out=array)
                total = math.ldexp(total, exponent)
            message /= total
            self._totals[clique] = total
            message[message < _LEAST_SHARE] = 0.0
            self.beliefs[self.tree.parents[clique]] *= self._up_views[clique]
        return True

    def _distribute(self) -> bool:
        """Send messages back from the root, which make the beliefs probabilities, and sum these up to marginals."""
        total = float(np.add.reduce(self.beliefs[0], axis=None))
        if not 0.0 < total < np.inf:
            return False
        self.beliefs[0] /= total
        for clique, belief in enumerate(self.beliefs):
            if clique:
                shared, message = self._shared[clique], self._messages[clique]
                np.divide(shared, message, out=shared, where=message > 0.0)
                shared /= self._totals[clique]
                belief *= self._down_views[clique]
            for each in self._sums[clique]:
                each.run()
        return True

    def _shape(self, axes: Columns) -> tuple[int, ...]:
        return tuple(self.tree.sizes[column] for column in axes)

    def _spread(self, array: Floats, inner: Columns, outer: Columns) -> Floats:
        """A view of an array over `inner` that can be multiplied by one over `outer`."""
        return array.reshape([self.tree.sizes[column] if column in inner else 1 for column in outer])

    def _factor(self, number: int) -> Floats:
        return self._factors[self.places[number]].reshape(self._shape(self.tables[number]))

    def _place_factors(self) -> None:
        """Say which factor is multiplied into which: into the smallest other table that holds it, or else into its clique."""
        self._merges: list[tuple[Floats, Floats]] = []
        self._multiplied: list[list[Floats]] = [[] for _ in self.beliefs]
        self.homes = [0] * len(self.tables)
        by_cells = sorted(range(len(self.tables)), key=lambda number: (cells_of(self.tree.sizes, self.tables[number]), number))
        merged = []
        for place, number in enumerate(by_cells):
            table = self.tables[number]
            host = next((other for other in by_cells[place + 1 :] if set(table) <= set(self.tables[other])), None)
            if host is not None:
                self._merges.append((self._spread(self._factor(number), table, self.tables[host]), self._factor(host)))
                merged.append((number, host))
                continue
            home = self.tree.home(table)
            assert home is not None, "every table lies in a clique"
            self.homes[number] = home
            self._multiplied[home].append(self._spread(self._factor(number), table, self.axes[home]))
        for number, host in reversed(merged):
            self.homes[number] = self.homes[host]

    def _place_sums(self) -> None:
        """Say which sums give the messages, and which the marginals of tables and of separators, each from the smallest array."""
        tree, sizes = self.tree, self.tree.sizes
        separators = [in_axis_order(sizes, separator) for separator in tree.separators]
        self._up_sums = [
            _Summing(belief, _others(axes, kept), message)
            for belief, axes, kept, message in zip(self.beliefs, self.axes, separators, self._messages, strict=True)
        ]
        parents_axes = [self.axes[parent] for parent in tree.parents]
        up = zip(self._messages, separators, parents_axes, strict=True)
        self._up_views = [self._spread(message, kept, outer) for message, kept, outer in up]
        down = zip(self._shared, separators, self.axes, strict=True)
        self._down_views = [self._spread(shared, kept, axes) for shared, kept, axes in down]
        wanted: list[list[tuple[Columns, Floats]]] = [[] for _ in self.beliefs]
        for number, table in enumerate(self.tables):
            array = self.marginals[self.places[number]].reshape(self._shape(table))
            wanted[self.homes[number]].append((table, array))
        for clique, parent in enumerate(tree.parents):
            if clique:
                wanted[parent].append((separators[clique], self._shared[clique]))
        self._sums = [self._plan(*each) for each in zip(self.axes, self.beliefs, wanted, strict=True)]

    def _plan(self, axes: Columns, belief: Floats, wanted: list[tuple[Columns, Floats]]) -> list[_Summing]:
        known, plan = [(axes, belief)], []
        for columns, array in sorted(wanted, key=lambda each: -each[1].size):
            held, source = min((each for each in known if set(columns) <= set(each[0])), key=lambda each: each[1].size)
            plan.append(_Summing(source, _others(held, columns), array))
            known.append((columns, array))
        return plan


def _others(axes: Columns, kept: Columns) -> tuple[int, ...]:
    """The places of those axes that are not kept."""
    return tuple(place for place, column in enumerate(axes) if column not in kept)


def _multiply(factors: list[Floats], product: Floats) -> None:
    if len(factors) < 2:
        product[...] = factors[0] if factors else 1.0
        return
    np.multiply(factors[0], factors[1], out=product)
    for factor in factors[2:]:
        product *= factor
