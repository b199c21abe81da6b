"""Any distribution of scipy.stats as a family: dp.mle("weibull_min", x), dp.mle(scipy.stats.gumbel_r, x, fixed={"floc": 0}).

Why        A block's estimate is a function of its rows: a maximiser starts at scipy's own fit, of a discrete law at the block's
           quartiles, and the jackknife takes off the bias of first order. Blocks are fitted one by one in worker processes
Limits     Scores are differences of scipy's logarithms of densities, and information is the mean of their products over the law's
           quantiles: good to a few digits. Laws whose support moves with a free parameter, and whose density does not vanish
           there, have no scores (a Weibull law with a free location): these are scipy's own fits and their jackknife, no more
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.evaluation import SECONDS
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.family import NamedParameters
from dpstats.statistics.likelihood.frozen_laws import SCIPY
from dpstats.statistics.likelihood.maximiser import Maximiser, maximiser
from dpstats.statistics.likelihood.quartiles import QUARTILES
from dpstats.statistics.likelihood.scipy_guess import guess_from
from dpstats.statistics.likelihood.scipy_law import ScipyLaw, scipy_law
from dpstats.statistics.likelihood.single_blocks import GROUPS, fit_single_blocks, is_inside, jackknifed

POINTS, REACH = 512, 3.0
"""Quantiles over which scores are averaged to information: dense in the tails (Takahasi & Mori 1974)."""
SIMULATED, SEED = 1 << 14, 7
STEP = 2.0**-14
"""Of a difference, as a part of the parameter's scale."""


@dataclass(frozen=True)
class ScipyFamily(NamedParameters):
    """A distribution of scipy.stats of which blocks can be fitted, and no more."""

    law: ScipyLaw
    seconds: float = SECONDS
    """What the fit of one block may take."""
    workers: int | None = None
    bias_correction = f"jackknife by {GROUPS} groups of rows"

    @property
    def name(self) -> str:
        """Such as "scipy.weibull_min(floc=0)"."""
        fixed = [(name, value) for name, value in self.law.fixed if not (self.law.is_discrete and name == "loc" and value == 0)]
        options = ", ".join(f"f{name}={value:.15g}" for name, value in fixed)
        return f"{SCIPY}{self.law.law.name}{f'({options})' if options else ''}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """As scipy calls them: shapes, then loc and scale, without fixed ones."""
        return self.law.parameters

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """The open range of each parameter."""
        return self.law.space

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The bias-corrected estimate of each block; NaN in all parameters where it has none."""
        fit = ScipyBlockFit(self.law, self.law.is_smooth, self.law.kept, maximiser(self.space))
        return fit_single_blocks(fit, raw_blocks, len(self.parameters), seconds=self.seconds, workers=self.workers)


@dataclass(frozen=True)
class SmoothScipyFamily(ScipyFamily):
    """One whose law can be worked with at any parameters: a `LineFamily`."""

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The gradient of each row's log density by central differences; 0 where that is no number."""
        raw_points, theta = raw_rows[:, 0], np.asarray(theta, dtype=np.float64)
        with _quiet():
            raw_scores = [self._slope(raw_points, theta, place) for place in range(len(theta))]
        raw_gradients = np.stack(raw_scores, axis=1)
        raw_gradients[~np.isfinite(raw_gradients).all(axis=1)] = 0.0
        return raw_gradients

    def information(self, theta: Floats) -> Floats:
        """The mean of products of scores over quantiles of the law."""
        points, weights = self._quantiles(theta)
        scores = self.scores(points[:, None], theta)
        return np.asarray((scores * weights[:, None]).T @ scores / weights.sum())

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        with _quiet():
            rows = self.law.law.rvs(**self.law.arguments(theta), size=count, random_state=generator)
        return np.asarray(rows, dtype=np.float64).reshape(count, 1)

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        with _quiet():
            return self.law.reached(points, theta)

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """Parameters whose quartiles are about these."""
        with _quiet():
            return guess_from(self.law, quantiles)

    def _slope(self, raw_points: Floats, theta: Floats, place: int) -> Floats:
        up, down = theta.copy(), theta.copy()
        step = STEP * self._unit(theta, place)
        up[place] += step
        down[place] -= step
        raw_rise: Floats = self.law.logs(raw_points, up) - self.law.logs(raw_points, down)
        return raw_rise / float(up[place] - down[place])

    def _unit(self, theta: Floats, place: int) -> float:
        """The scale of a parameter: the law's for a location, else the parameter's size or its distance from a limit."""
        low, high = self.space[place]
        if self.parameters[place] == "loc":
            return self.law.arguments(theta).get("scale", 1.0)
        value = float(theta[place])
        size = max(abs(value), 1.0) if math.isinf(low) else value - low
        return min(size, high - value)

    def _quantiles(self, theta: Floats) -> tuple[Floats, Floats]:
        """Quantiles of the law, and how much of it each stands for; simulated rows where scipy cannot say them."""
        places = np.linspace(-REACH, REACH, POINTS)
        exponents = math.pi * np.sinh(places)
        shares, rest = 1 / (1 + np.exp(-exponents)), 1 / (1 + np.exp(exponents))
        with _quiet():
            try:
                arguments = self.law.arguments(theta)
                below = self.law.law.ppf(shares[: POINTS // 2], **arguments)
                above = self.law.law.isf(rest[POINTS // 2 :], **arguments)
                points = np.concatenate([below, above]).astype(np.float64)
            except Exception:  # scipy's own complaints are many
                points = np.full(POINTS, np.nan)
        if np.isfinite(points).all():
            return points, shares * rest * np.cosh(places)
        return self.sample(theta, SIMULATED, np.random.default_rng(SEED))[:, 0], np.ones(SIMULATED)


@dataclass(frozen=True)
class ScipyBlockFit:
    """The estimate of one block, as it travels to worker processes: with all that it needs already found and loaded."""

    law: ScipyLaw
    is_smooth: bool
    kept: tuple[float, float]
    climber: Maximiser

    def __call__(self, raw_rows: Floats) -> tuple[float, ...]:
        """The estimate; raises where there is none."""
        with _quiet():
            raw_possible = self.law.possible(raw_rows)
            if len(raw_possible) <= len(self.law.parameters) or not (self.law.is_discrete or np.ptp(raw_possible) > 0):
                raise ValueError("too few rows that differ")
            raw_estimate = self._freed(raw_possible)
        if not is_inside(raw_estimate, self.law.space):
            raise ValueError("no estimate")
        return tuple(raw_estimate.tolist())

    def _freed(self, raw_rows: Floats) -> Floats:
        if not self.is_smooth:
            return jackknifed(self._by_scipy, raw_rows, self.law.space)
        raw_start = self._by_quartiles(raw_rows) if self.law.is_discrete else self._by_scipy(raw_rows)
        return jackknifed(lambda raw_part: self._highest(raw_part, raw_start), raw_rows, self.law.space)

    def _by_scipy(self, raw_rows: Floats) -> Floats:
        """scipy's own estimate."""
        if self.law.is_discrete:
            return self._highest(raw_rows, self._by_quartiles(raw_rows))
        fixed = {f"f{name}": value for name, value in self.law.fixed}
        named = dict(zip(self.law.all_parameters, self.law.law.fit(raw_rows, **fixed), strict=True))
        return np.array([named[name] for name in self.law.parameters], dtype=np.float64)

    def _by_quartiles(self, raw_rows: Floats) -> Floats:
        return guess_from(self.law, dict(zip(QUARTILES, np.quantile(raw_rows, QUARTILES).tolist(), strict=True)))

    def _highest(self, raw_rows: Floats, raw_start: Floats) -> Floats:
        """The maximum of the likelihood near a start; the start itself where nothing better is found."""
        raw_values, raw_counts = np.unique(raw_rows, return_counts=True)

        def mean_log(theta: Floats) -> float:
            return float((self.law.logs(raw_values, theta) * raw_counts).sum() / len(raw_rows))

        raw_highest = self.climber.maximum(mean_log, raw_start)
        return raw_highest if mean_log(raw_highest) >= mean_log(raw_start) else raw_start


def scipy_family(law: Any, fixed: Mapping[str, float] | None = None, *, workers: int | None = None) -> ScipyFamily:
    """The family of a distribution of scipy.stats, by its name or itself; smooth where its scores make sense."""
    known = scipy_law(law, fixed)
    return (SmoothScipyFamily if known.is_smooth else ScipyFamily)(known, workers=workers)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
