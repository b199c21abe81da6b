"""Features of rows, centred and scaled within each block, and the systems of equations that they make.

All blocks are solved at once by elementwise operations in a fixed order, so that what a block gets depends on its own rows alone,
to the last bit. A number "of every block" is an array with one place for each.
"""

from __future__ import annotations

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks

COLLINEAR = 1e-10
"""A block has no solution where a feature leaves less than this share of its square beside those before it."""


class Systems:
    """Symmetric positive systems, one for every block, by their lower triangles: Cholesky's roots of them."""

    def __init__(self, raw_triangle: list[list[Floats]]) -> None:
        self._raw_roots: list[list[Floats]] = []
        for one, raw_row in enumerate(raw_triangle):
            raw_root: list[Floats] = []
            for other, raw_entry in enumerate(raw_row):
                raw_left = raw_entry
                for step in range(other):
                    raw_left = raw_left - raw_root[step] * (raw_root[step] if other == one else self._raw_roots[other][step])
                if other == one:
                    raw_root.append(np.sqrt(np.where(raw_left > COLLINEAR * raw_entry, raw_left, np.nan)))
                else:
                    raw_root.append(raw_left / self._raw_roots[other][other])
            self._raw_roots.append(raw_root)

    def solve(self, raw_right: list[Floats]) -> list[Floats]:
        """The solutions: for each unknown that of every block."""
        raw_solved = self._forward(raw_right, self._raw_roots)
        for one in reversed(range(len(raw_solved))):
            for later in range(one + 1, len(raw_solved)):
                raw_solved[one] = raw_solved[one] - self._raw_roots[later][one] * raw_solved[later]
            raw_solved[one] = raw_solved[one] / self._raw_roots[one][one]
        return raw_solved

    def leverages(self, raw_design: BlockDesign, raw_weights: Floats) -> Floats:
        """For each row how much its own outcome pulls on its fitted one, at these weights of rows."""
        raw_roots = [[raw_design.raw_group.of_rows(entry) for entry in raw_root] for raw_root in self._raw_roots]
        raw_sum = np.zeros(len(raw_weights))
        for raw_part in self._forward(raw_design.raw_columns, raw_roots):
            raw_sum = raw_sum + raw_part * raw_part
        return raw_weights * raw_sum

    @staticmethod
    def _forward(raw_right: list[Floats], raw_roots: list[list[Floats]]) -> list[Floats]:
        raw_solved: list[Floats] = []
        for raw_root, raw_entry in zip(raw_roots, raw_right, strict=True):
            raw_left = raw_entry
            for raw_factor, raw_earlier in zip(raw_root[:-1], raw_solved, strict=True):
                raw_left = raw_left - raw_factor * raw_earlier
            raw_solved.append(raw_left / raw_root[-1])
        return raw_solved


class BlockDesign:
    """A column of ones and the features, each with mean 0 and variance 1 in every block."""

    def __init__(self, raw_group: RowBlocks, features: int) -> None:
        self.raw_group = raw_group
        self.raw_outcomes: Floats = raw_group.raw_rows[:, features]
        self.raw_columns: list[Floats] = [np.ones(len(raw_group.raw_rows))]
        self._raw_middles: list[Floats] = []
        self._raw_scales: list[Floats] = []
        for feature in range(features):
            raw_feature = raw_group.raw_rows[:, feature]
            raw_middle = raw_group.means(raw_feature)
            raw_off = raw_feature - raw_group.of_rows(raw_middle)
            raw_scale = np.sqrt(raw_group.means(raw_off * raw_off))
            self._raw_middles.append(raw_middle)
            self._raw_scales.append(raw_scale)
            self.raw_columns.append(raw_off / raw_group.of_rows(raw_scale))

    def predictors(self, raw_coefficients: list[Floats]) -> Floats:
        """For each row its place on the line."""
        raw_sum = self.raw_group.of_rows(raw_coefficients[0])
        for raw_column, raw_coefficient in zip(self.raw_columns[1:], raw_coefficients[1:], strict=True):
            raw_sum = raw_sum + raw_column * self.raw_group.of_rows(raw_coefficient)
        return raw_sum

    def pulls(self, raw_values: Floats) -> list[Floats]:
        """For each column the sum of its products with a number of each row, of every block."""
        return [self.raw_group.sums(raw_column * raw_values) for raw_column in self.raw_columns]

    def products(self, raw_weights: Floats) -> list[list[Floats]]:
        """The lower triangle of the weighted products of columns by pairs, of every block."""
        raw_weighted = [raw_column * raw_weights for raw_column in self.raw_columns]
        return [
            [self.raw_group.sums(raw_column * raw_other) for raw_other in self.raw_columns[: one + 1]]
            for one, raw_column in enumerate(raw_weighted)
        ]

    def unscaled(self, raw_coefficients: list[Floats]) -> Floats:
        """The coefficients of features as they came: blocks by coefficients."""
        raw_slopes = [slope / scale for slope, scale in zip(raw_coefficients[1:], self._raw_scales, strict=True)]
        raw_intercept = raw_coefficients[0]
        for raw_slope, raw_middle in zip(raw_slopes, self._raw_middles, strict=True):
            raw_intercept = raw_intercept - raw_slope * raw_middle
        return np.column_stack([raw_intercept, *raw_slopes])
