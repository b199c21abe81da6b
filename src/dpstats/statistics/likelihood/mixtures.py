"""Mixtures of normal laws on the line.

Components stand in ascending order of their means, which settles which is which; the last weight is what the others leave.
Blocks are fitted by expectation-maximisation from two starts: parts of the sorted block with equal numbers of rows, and parts of
equal width. The start with the higher likelihood after a few rounds goes on, until its block moves no more or the rounds are used
up. No component gets narrower than a small share of its block's own deviation, where the likelihood would have no bound. Rows
that are infinite are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.likelihood.block_groups import finite_rows, fit_in_groups

FIRST_ROUNDS = 20
ROUNDS = 200
STILL = 1e-5
"""A block is done when no parameter moved by more than this, in deviations of the block."""
NARROWEST = 0.02
"""The least deviation of a component, in deviations of its block."""
LEAST_WEIGHT = 1e-3
"""No component stands for less than this, in rows of its block, nor in the law at given parameters."""
ROWS_EACH = 5
"""A block needs this many rows for each component."""
_POINTS = 1 << 12


@dataclass(frozen=True)
class NormalMixture:
    """A mixture of a public number of normal laws."""

    components: int = 2
    bias_correction = "none: it is small in blocks of some hundred rows"

    @property
    def name(self) -> str:
        """What it is asked for by, with the number of components."""
        return f"normal_mixture(components={self.components})"

    @property
    def least_rows(self) -> int:
        """Smaller blocks tell too little of their components."""
        return 100 * self.components

    @property
    def parameters(self) -> tuple[str, ...]:
        """weight_1, ..., all but the last, mean_1, ..., std_1, ..."""
        numbers = range(1, self.components + 1)
        return (
            *(f"weight_{number}" for number in numbers[:-1]),
            *(f"mean_{number}" for number in numbers),
            *(f"std_{number}" for number in numbers),
        )

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """Weights between 0 and 1, positive deviations; that weights leave something for the last, ranges cannot say."""
        return (
            *[(0.0, 1.0)] * (self.components - 1),
            *[(-np.inf, np.inf)] * self.components,
            *[(0.0, np.inf)] * self.components,
        )

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """By expectation-maximisation; none where a block has few rows or only one value."""
        return fit_in_groups(finite_rows(raw_blocks), len(self.parameters), self._fit_group)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """Weights, all of them, means and deviations as vectors."""
        weights, means, stds = self._parts(values)
        return {"weights": weights, "means": means, "stds": stds}

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """By each component's share in a row's density."""
        weights, means, stds = self._parts(theta)
        with np.errstate(all="ignore"):
            raw_shares, _ = _shares(raw_rows[:, 0], [*np.log(weights / stds)], [*means], [*stds])
            raw_offs = [(raw_rows[:, 0] - mean) / std for mean, std in zip(means, stds, strict=True)]
            raw_ratios = [share / weight for share, weight in zip(raw_shares, weights, strict=True)]
            raw_scores = np.column_stack(
                [
                    *(ratio - raw_ratios[-1] for ratio in raw_ratios[:-1]),
                    *(share * off / std for share, off, std in zip(raw_shares, raw_offs, stds, strict=True)),
                    *(share * (off**2 - 1) / std for share, off, std in zip(raw_shares, raw_offs, stds, strict=True)),
                ]
            )
        raw_scores[~np.isfinite(raw_scores).all(axis=1)] = 0.0
        return raw_scores

    def information(self, theta: Floats) -> Floats:
        """The mean of the products of scores over public rows: evenly spaced quantiles of every component."""
        weights, means, stds = self._parts(theta)
        quantiles = special.ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
        information = np.zeros((len(self.parameters), len(self.parameters)))
        for weight, mean, std in zip(weights, means, stds, strict=True):
            scores = self.scores((mean + std * quantiles)[:, None], theta)
            information += weight * (scores.T @ scores) / _POINTS
        return information

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Each row from a component picked by its weight."""
        weights, means, stds = self._parts(theta)
        picked = np.searchsorted(np.cumsum(weights)[:-1], generator.random(count), side="right")
        return (means[picked] + stds[picked] * generator.standard_normal(count))[:, None]

    def _parts(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """All weights, which sum to 1, means and deviations."""
        free = np.maximum(theta[: self.components - 1], 0.0)
        last = max(1 - float(free.sum()), LEAST_WEIGHT)
        weights = np.array([*free, last])
        middle = 2 * self.components - 1
        return weights / weights.sum(), theta[self.components - 1 : middle].copy(), theta[middle:].copy()

    def _fit_group(self, raw_group: RowBlocks) -> Floats:
        raw_numbers = raw_group.raw_rows[:, 0]
        raw_means = raw_group.means(raw_numbers)
        raw_offs = raw_numbers - raw_group.of_rows(raw_means)
        raw_stds = np.sqrt(raw_group.means(raw_offs**2))
        raw_stds[(raw_group.raw_counts < ROWS_EACH * self.components) | (raw_stds == 0)] = np.nan
        raw_units = replace(raw_group, raw_rows=(raw_offs / raw_group.of_rows(raw_stds))[:, None])
        runs = []
        for raw_parts in _starts(raw_units, self.components):
            raw_shares = [(raw_parts == part).astype(np.float64) for part in range(self.components)]
            runs.append(_MixtureRun(raw_units, _maximised(raw_units, raw_shares)))
            runs[-1].go(FIRST_ROUNDS)
        best = runs[0].better(runs[1])
        best.go(ROUNDS)
        weights, means, stds = best.in_order()
        return np.column_stack([weights[:, :-1], means * raw_stds[:, None] + raw_means[:, None], stds * raw_stds[:, None]])


class _MixtureRun:
    """Expectation-maximisation in all blocks of a group at once; each block stops by itself."""

    def __init__(self, raw_units: RowBlocks, raw_parameters: Floats) -> None:
        self._raw_units = raw_units
        self._raw_parameters = raw_parameters
        """Weights, means and deviations: for each component those of every block."""

    def go(self, rounds: int) -> None:
        """Take at most `rounds` rounds."""
        raw_moving = np.ones(self._raw_units.blocks, dtype=np.bool_)
        for _ in range(rounds):
            raw_next = _maximised(self._raw_units, self._shares()[0])
            raw_moved = np.fmax.reduce(np.abs(raw_next - self._raw_parameters), axis=(0, 1), initial=0.0)
            self._raw_parameters = np.where(raw_moving, raw_next, self._raw_parameters)
            raw_moving &= raw_moved > STILL
            if not raw_moving.any():
                return

    def better(self, other: _MixtureRun) -> _MixtureRun:
        """For every block the parameters with the higher likelihood of two runs."""
        raw_here, raw_there = (self._raw_units.sums(run._shares()[1]) for run in (self, other))
        return _MixtureRun(self._raw_units, np.where(raw_there > raw_here, other._raw_parameters, self._raw_parameters))

    def in_order(self) -> Floats:
        """Weights, means and deviations, each blocks by components, in ascending order of means."""
        raw_kinds = self._raw_parameters.transpose(0, 2, 1)
        return np.take_along_axis(raw_kinds, np.argsort(raw_kinds[1], axis=1, kind="stable")[None], axis=2)

    def _shares(self) -> tuple[list[Floats], Floats]:
        weights, means, stds = self._raw_parameters
        raw_levels = [np.log(weight / std) for weight, std in zip(weights, stds, strict=True)]
        levels, means, stds = ([self._raw_units.of_rows(component) for component in kind] for kind in (raw_levels, means, stds))
        return _shares(self._raw_units.raw_rows[:, 0], levels, means, stds)


def _shares(raw_numbers: Floats, levels: list[Any], means: list[Any], stds: list[Any]) -> tuple[list[Floats], Floats]:
    """The share of each component in the density of every row, and the logarithm of that density but for a constant.

    A component's level is the logarithm of its weight over its deviation.
    """
    raw_logs = [level - ((raw_numbers - mean) / std) ** 2 / 2 for level, mean, std in zip(levels, means, stds, strict=True)]
    raw_most = reduce(np.maximum, raw_logs)
    raw_densities = [np.exp(raw_log - raw_most) for raw_log in raw_logs]
    raw_total = reduce(np.add, raw_densities)
    return [raw_density / raw_total for raw_density in raw_densities], raw_most + np.log(raw_total)


def _maximised(raw_units: RowBlocks, raw_shares: list[Floats]) -> Floats:
    """Weights, means and deviations of components from their shares in rows: these three by components by blocks."""
    raw_numbers = raw_units.raw_rows[:, 0]
    raw_squared = raw_numbers**2
    raw_components = []
    for raw_share in raw_shares:
        raw_sums = np.maximum(raw_units.sums(raw_share), LEAST_WEIGHT)
        raw_means = raw_units.sums(raw_share * raw_numbers) / raw_sums
        raw_squares = raw_units.sums(raw_share * raw_squared) / raw_sums - raw_means**2
        raw_stds = np.sqrt(np.maximum(raw_squares, NARROWEST**2))
        raw_components.append([raw_sums / raw_units.raw_counts, raw_means, raw_stds])
    return np.array(raw_components).transpose(1, 0, 2)


def _starts(raw_units: RowBlocks, components: int) -> tuple[Floats, Floats]:
    """For each row the part that it is in: parts with equal numbers of rows, and parts of equal width of the inner rows."""
    raw_numbers, raw_places = raw_units.raw_rows[:, 0], raw_units.raw_places
    order = np.lexsort((raw_numbers, raw_places))
    raw_begins = np.concatenate([[0], np.cumsum(raw_units.raw_counts)[:-1]]).astype(np.int64)
    raw_ranks = np.empty(len(order))
    raw_ranks[order] = np.arange(len(order)) - raw_begins[raw_places[order]]
    raw_even = np.floor(raw_ranks * components / raw_units.of_rows(raw_units.raw_counts))
    raw_sorted = np.append(raw_numbers[order], np.nan)
    raw_low, raw_high = (
        raw_sorted[np.minimum(raw_begins + (raw_units.raw_counts * share).astype(np.int64), len(order))] for share in (0.02, 0.98)
    )
    raw_wide = np.floor((raw_numbers - raw_units.of_rows(raw_low)) / raw_units.of_rows(raw_high - raw_low) * components)
    return raw_even, np.clip(raw_wide, 0, components - 1)
