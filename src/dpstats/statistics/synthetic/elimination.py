"""Marginals of a model over columns that no clique holds together, by elimination of the other columns along the tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.foundations.portable import Floats
from dpstats.statistics.synthetic.junction_tree import Columns, JunctionTree
from dpstats.statistics.synthetic.propagation import in_axis_order


@dataclass(frozen=True)
class JointTable:
    """A table of non-negative numbers with one axis for each of `axes`, in axis order."""

    axes: Columns
    values: Floats

    def summed_to(self, kept: Iterable[int]) -> JointTable:
        """The sums over all axes but those that are kept."""
        wanted = set(kept)
        others = tuple(place for place, column in enumerate(self.axes) if column not in wanted)
        if not others:
            return self
        left = tuple(column for column in self.axes if column in wanted)
        return JointTable(left, np.asarray(np.add.reduce(self.values, axis=others)))

    def times(self, other: JointTable, sizes: Sequence[int]) -> JointTable:
        """The product, over all axes of both."""
        axes = in_axis_order(sizes, {*self.axes, *other.axes})
        return JointTable(axes, np.asarray(self._spread(axes) * other._spread(axes)))

    def over(self, other: JointTable) -> JointTable:
        """The quotient by a factor over some of the axes, 0 where both are."""
        divisors = np.broadcast_to(other._spread(self.axes), self.values.shape)
        quotients = np.zeros_like(self.values)
        np.divide(self.values, divisors, out=quotients, where=divisors > 0.0)
        return JointTable(self.axes, quotients)

    def _spread(self, axes: Columns) -> Floats:
        sizes = dict(zip(self.axes, self.values.shape, strict=True))
        return self.values.reshape([sizes.get(column, 1) for column in axes])


@dataclass(frozen=True)
class Calibrated:
    """The joint probabilities of every clique of a tree, which agree with each other."""

    tree: JunctionTree
    beliefs: tuple[JointTable, ...]

    @cached_property
    def _behind(self) -> dict[tuple[int, int], frozenset[int]]:
        """The columns on the other side of each edge, by the clique before it and the one behind it."""
        found: dict[tuple[int, int], frozenset[int]] = {}

        def gather(clique: int, before: int) -> frozenset[int]:
            columns = set(self.tree.cliques[clique])
            for other in self.tree.neighbors[clique]:
                if other != before:
                    columns |= gather(other, clique)
            found[before, clique] = frozenset(columns)
            return found[before, clique]

        for clique, beside in enumerate(self.tree.neighbors):
            for other in beside:
                if (clique, other) not in found:
                    gather(other, clique)
        return found

    def marginal(self, columns: Columns) -> Floats:
        """The joint probabilities of any columns, given and returned in axis order."""
        home = self.tree.home(columns)
        if home is not None:
            return self.beliefs[home].summed_to(columns).values
        wanted = frozenset(columns)
        cliques = self.tree.cliques
        root = max(range(len(cliques)), key=lambda clique: (len(wanted & set(cliques[clique])), -clique))
        return self._gathered(root, -1, wanted).summed_to(columns).values

    def pairs_of(self, column: int) -> Iterator[tuple[int, Floats]]:
        """Each higher column, but for those of one level, with the joint probabilities of it (second axis) and `column`.

        The column is carried along the tree, from its own clique, as its probabilities given what separates it from the next.
        """
        home = self.tree.home((column,))
        assert home is not None, "every column lies in a clique"
        paths, done = [(home, -1, JointTable((), np.ones(())))], {column}
        while paths:
            clique, before, given = paths.pop()
            here = set(self.beliefs[clique].axes)
            for other in sorted(here - done):
                if other > column:
                    joint = self._joined(clique, given, column, {other})
                    yield other, joint.values if joint.axes[0] == column else joint.values.T
            done |= here
            for behind in self.tree.neighbors[clique]:
                if behind != before and any(other > column for other in self._behind[clique, behind] - done):
                    link = here & set(self.beliefs[behind].axes)
                    joint = self._joined(clique, given, column, link)
                    paths.append((behind, clique, joint.over(self._summed(behind, link))))

    def _joined(self, clique: int, given: JointTable, column: int, wanted: set[int]) -> JointTable:
        """The joint probabilities of `column` and wanted columns of a clique; `given` are those of the column given others."""
        if column in self.tree.cliques[clique]:
            return self._summed(clique, {*wanted, column})
        link = set(given.axes) - {column}
        return given.times(self._summed(clique, link | wanted), self.tree.sizes).summed_to({*wanted, column})

    def _summed(self, clique: int, columns: set[int]) -> JointTable:
        key = clique, frozenset(columns)
        if key not in self._sums:
            self._sums[key] = self.beliefs[clique].summed_to(columns)
        return self._sums[key]

    @cached_property
    def _sums(self) -> dict[tuple[int, frozenset[int]], JointTable]:
        """The marginals of cliques that were needed already."""
        return {}

    def _gathered(self, clique: int, before: int, wanted: frozenset[int]) -> JointTable:
        """The joint probabilities of wanted columns in this clique and behind it, and of those shared with the clique before."""
        here = set(self.tree.cliques[clique])
        shared = here & set(self.tree.cliques[before]) if before >= 0 else set()
        paths = [
            other for other in self.tree.neighbors[clique] if other != before and not wanted & self._behind[clique, other] <= here
        ]
        links = [here & set(self.tree.cliques[other]) for other in paths]
        kept = shared | wanted
        gathered = self.beliefs[clique].summed_to(kept.union(*links))
        for place, (other, link) in enumerate(zip(paths, links, strict=True)):
            part = self._gathered(other, clique, wanted)
            conditional = part.over(part.summed_to(link))
            gathered = gathered.times(conditional, self.tree.sizes).summed_to(kept.union(*links[place + 1 :]))
        return gathered
