"""A graphical model of all columns of a table: the most even distribution that agrees with released tables.

It holds one factor for each measured table; everything that it says is arithmetic on released numbers. The results are the same
to the last bit on every machine, because later tables are chosen by what the model says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import Floats
from dpstats.statistics.synthetic.elimination import Calibrated, JointTable
from dpstats.statistics.synthetic.fitting import FIRST_STEP, Fitting
from dpstats.statistics.synthetic.independence import independent_rows
from dpstats.statistics.synthetic.junction_tree import Columns, JunctionTree
from dpstats.statistics.synthetic.propagation import Propagation, in_axis_order
from dpstats.statistics.synthetic.smoothness import Smoothness


@dataclass(frozen=True)
class Measured:
    """A released table: counts with one axis for each of `columns`, and the variance of the noise of each."""

    columns: Columns
    noisy_counts: NDArray[np.float64] | NDArray[np.int64]
    variance: float


class GraphicalModel:
    """A distribution over rows of columns with `sizes` levels: a product of factors, each over columns that a clique holds.

    `ordered` says of columns of numbers how many of their first levels stand in order, such as bins from left to right; further
    ones, such as a level for missing values, stand apart. How alike such neighbors are is estimated from released tables.
    """

    def __init__(
        self, sizes: Sequence[int], cliques: Iterable[Iterable[int]] = (), *, ordered: Mapping[int, int] | None = None
    ) -> None:
        self.sizes = tuple(map(int, sizes))
        if not self.sizes or min(self.sizes) < 1:
            raise InvalidParameterError("a model needs at least one column, and each column at least one level.")
        self.cliques = tuple(dict.fromkeys(tuple(sorted(set(clique))) for clique in cliques))
        if any(not 0 <= column < len(self.sizes) for clique in self.cliques for column in clique):
            raise InvalidParameterError(f"columns are numbered from 0 to {len(self.sizes) - 1}.")
        self.tree = JunctionTree.of(self.sizes, self.cliques)
        self.loss = 0.0
        self.ordered = dict(ordered or {})
        self._exponents: Mapping[Columns, Floats] = {}
        self._step = FIRST_STEP

    def grown(self, cliques: Iterable[Iterable[int]]) -> GraphicalModel:
        """The same distribution as a model that may be fitted to tables of `cliques` too."""
        larger = GraphicalModel(self.sizes, [*self.cliques, *cliques], ordered=self.ordered)
        larger.loss, larger._exponents, larger._step = self.loss, self._exponents, self._step
        return larger

    def fitted(
        self, measured: Sequence[Measured], total: float, iterations: int = 60, *, prior_rows: float | None = None
    ) -> GraphicalModel:
        """A model whose counts, `total` times its probabilities, come as near to all measured tables as their noise deserves.

        The fit starts at this model, whose cliques grow by what was measured; at most `iterations` steps are tried. `total` is
        taken to be at least 1. That the columns of a table are independent is believed as if `prior_rows` rows had shown it, or
        as many as the table suggests (see `independence`); 0 gives the nearest model.
        """
        model = self.grown(each.columns for each in measured)
        tables = _combined(self.sizes, measured)
        names = [*tables, *(axes for axes in self._exponents if axes not in tables)]
        total = max(1.0, float(total))
        weights = [total**2 / tables[axes][1] if axes in tables else 0.0 for axes in names]
        propagation = Propagation(model.tree, names)
        start, shares = np.zeros(propagation.cells), np.zeros(propagation.cells)
        for axes, place in zip(names, propagation.places, strict=True):
            if axes in self._exponents:
                start[place] = self._exponents[axes].ravel()
            if axes in tables:
                shares[place] = tables[axes][0].ravel() / total
        smoothness = Smoothness.estimated(self.sizes, self.ordered, tables)
        beliefs = [independent_rows(*tables[axes], total) if axes in tables else 0.0 for axes in names]
        if prior_rows is not None:
            beliefs = [prior_rows] * len(names)
        found = Fitting(propagation, smoothness, shares, weights, beliefs).run(start, step=self._step, iterations=iterations)
        model.loss, model._step = found.loss, max(found.step, FIRST_STEP / 1024)
        model._exponents = {axes: found.exponents[place] for axes, place in zip(names, propagation.places, strict=True)}
        model._calibrated = _calibrated(propagation)
        return model

    @property
    def cells(self) -> int:
        """How many cells the tables of all cliques have together."""
        return self.tree.cells

    def marginal(self, columns: Sequence[int]) -> Floats:
        """The joint probabilities of any columns, with one axis for each, in the order in which they are given."""
        if len(set(columns)) != len(columns):
            raise InvalidParameterError("the columns of a marginal are distinct.")
        axes = in_axis_order(self.sizes, columns)
        turned = [axes.index(column) for column in columns if self.sizes[column] > 1]
        values = np.transpose(self._calibrated.marginal(axes), turned)
        return np.ascontiguousarray(values).reshape([self.sizes[column] for column in columns])

    def pair_marginals(self) -> dict[Columns, Floats]:
        """All pairs of columns, the lower one first, with their joint probabilities; faster than asking for one after another."""
        several = [column for column, size in enumerate(self.sizes) if size > 1]
        found = {(column, other): table for column in several for other, table in self._calibrated.pairs_of(column)}
        return {pair: found[pair] if pair in found else self.marginal(pair) for pair in combinations(range(len(self.sizes)), 2)}

    def clique_marginals(self) -> tuple[JointTable, ...]:
        """The joint probabilities of each clique of `tree`."""
        return self._calibrated.beliefs

    @cached_property
    def _calibrated(self) -> Calibrated:
        propagation = Propagation(self.tree, list(self._exponents))
        exponents = np.concatenate([np.zeros(0), *self._exponents.values()])
        while not propagation.run(exponents):
            exponents = exponents * 0.5
        return _calibrated(propagation)


def _calibrated(propagation: Propagation) -> Calibrated:
    beliefs = zip(propagation.axes, propagation.beliefs, strict=True)
    return Calibrated(propagation.tree, tuple(JointTable(axes, belief) for axes, belief in beliefs))


def _combined(sizes: Columns, measured: Sequence[Measured]) -> dict[Columns, tuple[Floats, float]]:
    """Each measured table once, with axes in axis order: the mean, weighted by precision, of its releases, and its variance."""
    tables: dict[Columns, tuple[Floats, float]] = {}
    for each in measured:
        if not 0.0 < each.variance < math.inf or len(set(each.columns)) != len(each.columns):
            raise InvalidParameterError("a measured table has distinct columns and noise of a positive, finite variance.")
        several = [column for column in each.columns if sizes[column] > 1]
        axes = in_axis_order(sizes, several)
        if not axes:
            continue  # all columns have one level: nothing to fit
        counts = np.asarray(each.noisy_counts, dtype=np.float64).reshape([sizes[column] for column in several])
        counts, variance = np.transpose(counts, [several.index(column) for column in axes]), each.variance
        if axes in tables:
            before, of_before = tables[axes]
            share = of_before / (of_before + variance)
            counts, variance = before + (counts - before) * share, variance * share
        tables[axes] = counts, variance
    return tables
