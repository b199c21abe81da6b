"""Rows drawn from a graphical model, nearer to it than independent draws.

Columns are drawn clique by clique along the junction tree. The rows that agree on the columns drawn already are a group, and the
values of the next columns are dealt out to it by systematic rounding: with expected counts e1, e2, ... and one random u in [0, 1)
the first k values get floor(e1 + ... + ek + u) rows together. So each value of a group gets its expected count, rounded down or
up, and on average exactly this; so does every run of values. Which row of a group gets which value is a random deal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import Floats
from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.statistics.synthetic.elimination import JointTable
from dpstats.statistics.synthetic.graphical_model import GraphicalModel

Integers = NDArray[np.int64]
Levels = NDArray[np.unsignedinteger]


def draw_rows(model: GraphicalModel, count: int, rng: RandomSource) -> Levels:
    """`count` rows in random order: the number of a level in each column, as the smallest unsigned integers that hold all.

    Each column lies in memory in one piece.
    """
    if count < 0:
        raise InvalidParameterError("the number of rows is 0 or more.")
    rows: Levels = np.zeros((len(model.sizes), count), dtype=np.min_scalar_type(max(model.sizes) - 1))
    for factor, separator in zip(model.clique_marginals(), model.tree.separators, strict=True):
        given = [column for column in factor.axes if column in separator]
        drawn = [column for column in factor.axes if column not in separator]
        if drawn and count:
            _extend(rows, model.sizes, factor, given, drawn, rng)
    return rows.T


def _extend(
    rows: Levels, sizes: tuple[int, ...], factor: JointTable, given: list[int], drawn: list[int], rng: RandomSource
) -> None:
    """Draw the columns `drawn` of all rows, whose columns `given` are there already."""
    turned = np.transpose(factor.values, [factor.axes.index(column) for column in (*given, *drawn)])
    shape = [sizes[column] for column in drawn]
    groups = np.ravel_multi_index([rows[column] for column in given], [sizes[column] for column in given]) if given else None
    count = rows.shape[1]
    order = shuffled(count, rng)
    if groups is None:
        members = np.array([count])
    else:
        order = order[np.argsort(groups[order], kind="stable")]
        members = np.bincount(groups, minlength=factor.values.size // int(np.prod(shape)))
    present = np.flatnonzero(members)
    shares = np.ascontiguousarray(turned).reshape(len(members), -1)[present]
    counts = rounded_counts(shares, members[present], rng)
    values = np.repeat(np.tile(np.arange(counts.shape[1]), len(present)), counts.ravel())
    for column, levels in zip(drawn, np.unravel_index(values, shape), strict=True):
        rows[column, order] = levels


def rounded_counts(shares: Floats, totals: Integers, rng: RandomSource) -> Integers:
    """Whole counts with the sums `totals`, one for each line of `shares`, in proportion to its numbers and rounded at random.

    A line without any positive share counts as even.
    """
    some = np.maximum.reduce(shares, axis=1, keepdims=True) > 0.0
    sums = np.add.accumulate(np.where(some, shares, 1.0), axis=1)
    sums /= sums[:, -1:].copy()
    sums *= totals[:, None]
    sums += np.ldexp(random_words(rng, len(totals)) >> np.uint64(11), -53)[:, None]
    ends = np.floor(sums, out=sums).astype(np.int64)
    np.minimum(ends, totals[:, None], out=ends)
    ends[:, -1] = totals
    ends[:, 1:] -= ends[:, :-1].copy()
    return ends


def shuffled(count: int, rng: RandomSource) -> Integers:
    """The numbers below `count` in a random order: that of as many random words, of which equal ones are next to impossible."""
    return np.asarray(np.argsort(random_words(rng, count), kind="stable"))
