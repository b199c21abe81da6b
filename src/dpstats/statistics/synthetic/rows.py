"""Rows drawn from a graphical model, nearer to it than independent draws.

Columns are drawn clique by clique along the junction tree. The rows that agree on the columns which a clique shares with its
parent are a group, and the values of the clique's other columns are dealt out to each group in two steps:

How often  by systematic rounding: with expected counts e1, e2, ... and one random u in [0, 1) the first k values get
           floor(e1 + ... + ek + u) rows together. So each value of a group, and each run of values, gets its expected count,
           rounded down or up, and on average exactly this.
To whom    to the group's rows in the order of the columns drawn before, at even distances, beginning at random. So each row is as
           likely as any other to get a value, and rows that are alike in other columns share out the values nearly in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import Floats
from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.statistics.synthetic.elimination import JointTable
from dpstats.statistics.synthetic.graphical_model import GraphicalModel

Integers = NDArray[np.int64]
Levels = NDArray[np.unsignedinteger]

_MOST_ROWS = (1 << 32) - 1
_KEY_BITS = 32
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: its multiples, modulo 2**64, are spread evenly however many there are."""


def draw_rows(model: GraphicalModel, count: int, rng: RandomSource) -> Levels:
    """`count` rows in random order: the number of a level in each column, as the smallest unsigned integers that hold all.

    Each column lies in memory in one piece.
    """
    if not 0 <= count <= _MOST_ROWS:
        raise InvalidParameterError(f"the number of rows lies between 0 and {_MOST_ROWS}.")
    rows: Levels = np.zeros((len(model.sizes), count), dtype=np.min_scalar_type(max(model.sizes) - 1))
    before: list[int] = []
    for table, separator in zip(model.clique_marginals(), model.tree.separators, strict=True):
        drawn = [column for column in table.axes if column not in separator]
        if drawn and count:
            _extend(rows, table, drawn, before, rng)
        before += drawn
    return rows.T


def _extend(rows: Levels, table: JointTable, drawn: list[int], before: list[int], rng: RandomSource) -> None:
    """Draw the columns `drawn` of all rows, whose columns `before` are there already."""
    sizes = dict(zip(table.axes, table.values.shape, strict=True))
    given = [column for column in table.axes if column not in drawn]
    turned = np.transpose(table.values, [table.axes.index(column) for column in (*given, *drawn)])
    lines = np.ascontiguousarray(turned).reshape(-1, int(np.prod([sizes[column] for column in drawn])))
    groups = _mixed([rows[column] for column in given], [sizes[column] for column in given], rows.shape[1])
    members = np.bincount(groups, minlength=len(lines))
    present = np.flatnonzero(members)
    counts = rounded_counts(lines[present], members[present], rng)
    values = np.repeat(np.tile(np.arange(counts.shape[1]), len(present)), counts.ravel())
    order = dealing_order(groups, members, [rows[column] for column in reversed(before) if column not in given], rng)
    for column, levels in zip(drawn, np.unravel_index(values, [sizes[column] for column in drawn]), strict=True):
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


def dealing_order(groups: Integers, members: Integers, others: Sequence[Levels], rng: RandomSource) -> Integers:
    """In which order rows get values that stand group after group: row `order[j]` gets the j-th.

    `members[g]` is the number of rows in group g. Neighbors in the order of `others` get values that lie far apart.
    """
    order = shuffled(len(groups), rng)
    order = order[sorting_order(_sorting_key(groups, members, others)[order])]
    sorted_groups = groups[order]
    starts = np.add.accumulate(members) - members
    numbers = np.arange(len(groups)) - starts[sorted_groups]
    spread = (numbers.astype(np.uint64) * _GOLDEN) >> np.uint64(48)
    spread |= sorted_groups.astype(np.uint64) << np.uint64(16)
    order = order[sorting_order(spread)]
    shifts = (random_words(rng, len(members)) % np.maximum(members, 1).astype(np.uint64)).astype(np.int64)
    places = starts[sorted_groups] + (numbers + shifts[sorted_groups]) % members[sorted_groups]
    return np.asarray(order[places])


def shuffled(count: int, rng: RandomSource) -> Integers:
    """The numbers below `count` in a random order: that of as many random numbers of 32 bits; equal ones hardly ever meet."""
    return sorting_order(random_words(rng, count) >> np.uint64(32))


def sorting_order(keys: NDArray[np.uint64]) -> Integers:
    """The order that sorts whole numbers, and leaves equal ones as they are: by 16 bits at a time, which numpy sorts fastest."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, int(keys.max(initial=0)).bit_length(), 16):
        part = (keys[order] >> np.uint64(shift)).astype(np.uint16)
        order = order[np.argsort(part, kind="stable")]
    return order


def _mixed(columns: Sequence[Levels], sizes: Sequence[int], count: int) -> Integers:
    """One number for each row from its levels in `columns`, of which the first weighs most; 0 where there are none."""
    mixed = np.zeros(count, dtype=np.int64)
    for levels, size in zip(columns, sizes, strict=True):
        mixed *= size
        mixed += levels
    return mixed


def _sorting_key(groups: Integers, members: Integers, others: Sequence[Levels]) -> NDArray[np.uint64]:
    """Numbers that sort rows by group, and within it by `others`, of which as many count as fit into `_KEY_BITS` bits."""
    key, room = groups.astype(np.uint64), (1 << _KEY_BITS) // len(members)
    for levels in others:
        size = int(levels.max(initial=0)) + 1
        room //= size
        if not room:
            break
        key *= np.uint64(size)
        key += levels
    return key
