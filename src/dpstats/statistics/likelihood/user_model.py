"""A model that an analyst writes: parameters and the logarithm of a density, fitted to blocks by maximum likelihood."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.aggregation.evaluation import SECONDS, ship
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.family import NamedParameters
from dpstats.statistics.likelihood.maximiser import Maximiser, maximiser
from dpstats.statistics.likelihood.single_blocks import GROUPS, fit_single_blocks, is_inside, jackknifed

Start = Sequence[float] | Floats | Callable[[Floats], ArrayLike]
Limits = Sequence[tuple[float | None, float | None]] | Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class LikelihoodModel(NamedParameters):
    """A model of one's own for `mle`: names of its parameters, and log densities of rows at given parameters.

        def laplace(x, mean, scale):
            return -np.log(2 * scale) - abs(x - mean) / scale

        model = dp.LikelihoodModel(
            ("mean", "scale"), laplace, start=lambda x: (np.median(x), x.std()), bounds={"scale": (0, None)}
        )
        dp.mle(model, x, epsilon=1)

    `log_likelihood(rows, *parameters)` returns one number for each row, or their sum. Rows come as a one-dimensional array where
    there is one column, else as a two-dimensional one. It runs on blocks of rows in worker processes, so it sees private rows: it
    must look at nothing but its arguments. `start` is a list of parameters, or a function that makes one of a block's rows; parts
    of a block start there too. `bounds` are open ranges, by name or one for each; None and missing ones are unlimited. Starts of
    the right size help.
    """

    parameters: tuple[str, ...]
    log_likelihood: Callable[..., Any]
    start: Start
    bounds: Limits | None = None
    name: str = "model"
    groups: int = GROUPS
    """The number of groups of the jackknife; with 1 there is none, and estimates are biased but four times as fast."""
    seconds: float = SECONDS
    """What the fit of one block may take."""
    workers: int | None = None
    space: tuple[tuple[float, float], ...] = field(init=False)
    """The open range of each parameter."""

    def __post_init__(self) -> None:
        """All that can be checked without rows."""
        names = (self.parameters,) if isinstance(self.parameters, str) else tuple(self.parameters)
        if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
            raise InvalidParameterError('parameters must be different names, such as ("mean", "scale").')
        if not callable(self.log_likelihood):
            raise InvalidParameterError("log_likelihood must be a function of rows and of each parameter.")
        if not isinstance(self.groups, int) or self.groups < 1:
            raise InvalidParameterError("groups must be a whole number: 4 for the jackknife, 1 for none.")
        object.__setattr__(self, "parameters", names)
        object.__setattr__(self, "space", _space(names, self.bounds))
        if not callable(self.start):
            object.__setattr__(self, "start", _checked_start(self.start, self.space))
        if self.workers != 0:
            ship([self._block_fit()])

    @property
    def bias_correction(self) -> str:
        """How estimates of blocks are freed of bias."""
        return "none" if self.groups == 1 else f"jackknife by {self.groups} groups of rows"

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The bias-corrected estimate of each block; NaN in all parameters where it has none."""
        fit, count = self._block_fit(), len(self.parameters)
        return fit_single_blocks(fit, raw_blocks, count, seconds=self.seconds, workers=self.workers)

    def _block_fit(self) -> ModelBlockFit:
        return ModelBlockFit(self.log_likelihood, self.start, self.space, self.groups, maximiser(self.space))


@dataclass(frozen=True)
class ModelBlockFit:
    """The estimate of one block, as it travels to worker processes."""

    log_likelihood: Callable[..., Any]
    start: Start
    space: tuple[tuple[float, float], ...]
    groups: int
    climber: Maximiser

    def __call__(self, raw_rows: Floats) -> tuple[float, ...]:
        """The estimate; raises where there is none."""
        if not len(raw_rows):
            raise ValueError("no rows")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            raw_start = np.array(self.start(raw_rows) if callable(self.start) else self.start, dtype=np.float64)
            if raw_start.shape != (len(self.space),) or not is_inside(raw_start, self.space):
                raise ValueError("no start")

            def highest(raw_part: Floats) -> Floats:
                return self.climber.maximum(lambda theta: self._mean_log(raw_part, theta), raw_start)

            return tuple(jackknifed(highest, raw_rows, self.space, self.groups).tolist())

    def _mean_log(self, raw_rows: Floats, theta: Floats) -> float:
        """The mean log-likelihood of the rows; the model returns one number for each row, or their sum."""
        raw_logs = np.asarray(self.log_likelihood(raw_rows, *theta.tolist()), dtype=np.float64)
        if raw_logs.size not in (1, len(raw_rows)):
            raise ValueError("one log density for each row, or their sum")
        return float(raw_logs.sum() / len(raw_rows))


def _space(names: tuple[str, ...], bounds: Limits | None) -> tuple[tuple[float, float], ...]:
    """The open range of each parameter."""
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in names]
        if unknown:
            raise InvalidParameterError(f"bounds are given for {unknown[0]!r}, which is no parameter: {', '.join(names)}.")
        bounds = [bounds.get(name, (None, None)) for name in names]
    given = [(None, None)] * len(names) if bounds is None else list(bounds)
    if len(given) != len(names):
        raise InvalidParameterError(f"bounds must have a pair for each of {', '.join(names)}, or be given by name.")
    return tuple(_limits(name, pair) for name, pair in zip(names, given, strict=True))


def _limits(name: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = pair
        limits = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
    except (TypeError, ValueError):
        limits = (math.nan, math.nan)
    if not limits[0] < limits[1]:
        raise InvalidParameterError(f"the bounds of {name} must be a lower and a higher number, or None: (0, None).")
    return limits


def _checked_start(start: Any, space: tuple[tuple[float, float], ...]) -> tuple[float, ...]:
    try:
        numbers = np.array(start, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (len(space),) or not is_inside(numbers, space):
        raise InvalidParameterError("start must hold a number for each parameter, strictly inside its bounds; or be a function.")
    return tuple(numbers.tolist())
