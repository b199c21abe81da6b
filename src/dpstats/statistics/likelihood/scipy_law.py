"""A distribution of scipy.stats some of whose parameters are fixed: which are free, where they make sense, and its densities.

Numerics   What scipy makes of a row is taken to be the same bits whatever rows stand beside it, and tests look for cases where it
           is not. Where scipy raises, one row did it, for all: the rows are then asked for in halves, down to the row that it
           has no number for, and the others get what they get without it
Limits     scipy adds up the distribution function of some discrete laws number by number. Those of which that can take forever
           are refused: which rows there are, or a noisy estimate, must not decide whether there is an answer
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.lazy_scipy import stats
from dpstats.statistics.likelihood.frozen_laws import SCIPY

_LIMITS = (-math.inf, -1.0, 0.0, 1.0, 2.0, math.inf)
_BETWEEN = (-9.3, -3.7, -0.5, 0.05, 0.5, 1.5, 3.7, 9.3)
"""Numbers between each two limits: shapes are tried there to learn where they may be."""
_WHOLE = (4.0, 12.0)
_MANY_SHAPES = 4
_SMALL = (-0.25, 0.25)
"""Shapes at which a density must vanish at ends that move, if the law is to be smooth."""
_NEAR = 1e-6
_MANY_NUMBERS = 10_000
"""The longest support that scipy may add up over number by number: that takes seconds."""
_FEWER_NUMBERS = {"zipfian": _MANY_NUMBERS, "nchypergeom_fisher": 100, "nchypergeom_wallenius": 100}
"""The same for laws whose probabilities are themselves sums over the support."""


@dataclass(frozen=True)
class ScipyLaw:
    """What scipy knows as rv_continuous or rv_discrete, with some parameters fixed."""

    law: Any
    fixed: tuple[tuple[str, float], ...]
    """By the names that scipy gives parameters: its shapes', "loc" and "scale"."""

    @property
    def is_discrete(self) -> bool:
        """Whether it is a law of whole numbers, which have no scale."""
        return not hasattr(self.law, "pdf")

    @property
    def shapes(self) -> tuple[str, ...]:
        """The names of all its shapes."""
        return tuple(re.findall(r"\w+", self.law.shapes or ""))

    @property
    def all_parameters(self) -> tuple[str, ...]:
        """Shapes, then the location, then the scale where it has one."""
        return (*self.shapes, "loc") if self.is_discrete else (*self.shapes, "loc", "scale")

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Those that are free."""
        return tuple(name for name in self.all_parameters if name not in dict(self.fixed))

    def arguments(self, theta: Floats) -> dict[str, float]:
        """All parameters by name."""
        return {**dict(self.fixed), **dict(zip(self.parameters, map(float, theta), strict=True))}

    def logs(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The logarithm of each row's density, or probability."""
        logs = self.law.logpmf if self.is_discrete else self.law.logpdf
        # one number for all rows is squared and one for each is raised to a power, and scipy takes either by what other rows are
        each = {name: np.full(np.shape(raw_rows), value) for name, value in self.arguments(theta).items()}
        return _each(lambda rows, values: logs(rows, **dict(zip(each, values, strict=True))), raw_rows, list(each.values()))

    def reached(self, points: Floats, theta: Floats) -> Floats:
        """The share of the law at or below each point; in [0, 1], and 0 where scipy has no number."""
        arguments = self.arguments(theta)
        shares = _each(lambda some, _: self.law.cdf(some, **arguments), points, [])
        return np.clip(np.nan_to_num(shares, nan=0.0), 0.0, 1.0)

    @cached_property
    def tried_shapes(self) -> tuple[tuple[float, ...], ...]:
        """Shapes that make a law, from a few public numbers; fixed ones are as they are."""
        ways = _BETWEEN if self._valid(_BETWEEN) else (*_BETWEEN, *_WHOLE)
        return tuple(self._valid(ways))

    @cached_property
    def whole_shapes(self) -> tuple[str, ...]:
        """The free shapes that only whole numbers are allowed for."""
        tried = zip(self.shapes, zip(*self.tried_shapes, strict=True), strict=True)
        return tuple(name for name, values in tried if name in self.parameters and all(value.is_integer() for value in values))

    @cached_property
    def space(self) -> tuple[tuple[float, float], ...]:
        """The open range of each free parameter."""
        return tuple(self._range(name) for name in self.parameters)

    @cached_property
    def kept(self) -> tuple[float, float]:
        """The open range that holds all rows whatever the free parameters are; ends that move with them are infinite."""
        ends = [self._ends(shapes) for shapes in self.tried_shapes]
        low, high = ({pair[side] for pair in ends} for side in (0, 1))
        return low.pop() if len(low) == 1 else -math.inf, high.pop() if len(high) == 1 else math.inf

    @cached_property
    def is_smooth(self) -> bool:
        """Whether the density vanishes at every end of the support that moves with the parameters: scores make sense then."""
        if self.is_discrete:
            return all(name in self.shapes for name in self.parameters)
        return all(self._vanishes(shapes) for shapes in self._valid(_SMALL) or self.tried_shapes)

    @property
    def most_numbers(self) -> float:
        """The length that its support may have; infinite where scipy has a formula for the distribution function."""
        if self.is_discrete and type(self.law)._cdf is stats.rv_discrete._cdf:
            return _FEWER_NUMBERS.get(self.law.name, _MANY_NUMBERS)
        return _FEWER_NUMBERS.get(self.law.name, math.inf)

    def possible(self, raw_rows: Floats) -> Floats:
        """The rows that can come from the law."""
        low, high = self.kept
        if self.is_discrete:
            raw_good = (raw_rows >= low) & (raw_rows <= high) & (raw_rows == np.rint(raw_rows))
        else:
            raw_good = (raw_rows > low) & (raw_rows < high)
        return np.asarray(raw_rows[np.isfinite(raw_rows) & raw_good])

    def _valid(self, ways: tuple[float, ...]) -> list[tuple[float, ...]]:
        """Every way to give the free shapes one of these numbers that makes a law."""
        known = dict(self.fixed)
        choices = [(known[name],) if name in known else ways for name in self.shapes]
        return [shapes for shapes in itertools.product(*choices) if self._is_law(shapes)]

    def _is_law(self, shapes: tuple[float, ...]) -> bool:
        try:
            return not np.isnan(self.law.support(*shapes)).any()
        except Exception:  # scipy's own complaints are many
            return False

    def _range(self, name: str) -> tuple[float, float]:
        if name in ("loc", "scale"):
            return (0.0 if name == "scale" else -math.inf), math.inf
        tried = [shapes[self.shapes.index(name)] for shapes in self.tried_shapes]
        return max(limit for limit in _LIMITS if limit < min(tried)), min(limit for limit in _LIMITS if limit > max(tried))

    def _ends(self, shapes: tuple[float, ...]) -> tuple[float, float]:
        """The ends of the support at such shapes; infinite where the location or the scale moves them."""
        known = dict(self.fixed)
        low, high = (float(end) for end in self.law.support(*shapes))
        loc, scale = known.get("loc", math.nan), 1.0 if self.is_discrete else known.get("scale", math.nan)
        ends = [loc if end == 0 else loc + scale * end for end in (low, high)]
        return -math.inf if math.isnan(ends[0]) else ends[0], math.inf if math.isnan(ends[1]) else ends[1]

    def _vanishes(self, shapes: tuple[float, ...]) -> bool:
        ends = self.law.support(*shapes)
        for end, fixed_end, side in zip(ends, self.kept, (1, -1), strict=True):
            if math.isfinite(end) and math.isinf(fixed_end):
                with np.errstate(all="ignore"):
                    density = float(self.law.pdf(float(end) + side * _NEAR, *shapes))
                if not density < _NEAR:  # it must fall faster than the distance to the end
                    return False
        return True


def _each(of_rows: Callable[[Floats, list[Floats]], Any], raw_rows: Floats, others: list[Floats]) -> Floats:
    """What scipy makes of each row and of what belongs to it; NaN where it raises, for that row and for no other."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(of_rows(raw_rows, others), dtype=np.float64)
    except Exception:  # scipy's own complaints are many
        if len(raw_rows) <= 1:
            return np.full(len(raw_rows), np.nan)
    half = len(raw_rows) // 2
    halves = (slice(None, half), slice(half, None))
    return np.concatenate([_each(of_rows, raw_rows[part], [other[part] for other in others]) for part in halves])


def scipy_law(law: Any, fixed: Mapping[str, float] | None = None) -> ScipyLaw:
    """A distribution of scipy.stats by its name or itself, with parameters fixed as its `fit` spells that: floc=0, f0=2."""
    found = _found(law)
    whole = ScipyLaw(found, ())
    held = dict(_parameter(whole, option, value) for option, value in (fixed or {}).items())
    if whole.is_discrete:
        held = {"loc": 0.0, **held}
    known = ScipyLaw(found, tuple((name, held[name]) for name in whole.all_parameters if name in held))
    if not known.parameters:
        raise InvalidParameterError(f"all parameters of {found.name} are fixed: there is nothing to estimate.")
    if len(whole.shapes) > _MANY_SHAPES:
        raise InvalidParameterError(f"{found.name} has too many shapes for maximum likelihood here; {_MANY_SHAPES} at most.")
    if not known.tried_shapes:
        raise InvalidParameterError(f"no law of {found.name} was found with these parameters fixed: check their values.")
    if any(np.ptp(found.support(*shapes)) > known.most_numbers for shapes in known.tried_shapes):
        raise InvalidParameterError(
            f"scipy adds up {found.name} number by number, which takes too long here: take a law with a formula for its"
            f" distribution function, or fix its range to at most {known.most_numbers} numbers."
        )
    if known.whole_shapes:
        names = known.whole_shapes
        raise InvalidParameterError(
            f"{found.name} takes whole numbers for {', '.join(names)}, which are not estimated here: fix them, as f{names[0]}=10."
        )
    return known


def _found(law: Any) -> Any:
    name = law.removeprefix(SCIPY) if isinstance(law, str) else None
    found = getattr(stats, name, None) if name else law
    if isinstance(found, (stats.rv_continuous, stats.rv_discrete)):
        return found
    if name:
        raise UnknownNameError(f"scipy.stats has no distribution of the name {name!r}.")
    raise InvalidParameterError(
        "give a distribution of scipy.stats by its name, or itself and not frozen: scipy.stats.gumbel_r, without brackets."
    )


def _parameter(law: ScipyLaw, option: str, value: float) -> tuple[str, float]:
    """The parameter that an option fixes, with its value."""
    spelled = {f"f{name}": name for name in law.all_parameters} | {f"fix_{name}": name for name in law.all_parameters}
    spelled |= {f"f{place}": name for place, name in enumerate(law.shapes)}
    if option not in spelled:
        known = ", ".join(f"f{name}" for name in law.all_parameters)
        raise UnknownNameError(f"{law.law.name} has no {option!r} to fix: it has {known}.")
    name = spelled[option]
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidParameterError(f"{option} must be a number.") from None
    if not math.isfinite(number) or (name == "scale" and number <= 0):
        raise InvalidParameterError(f"{option} must be a finite number{', above 0' if name == 'scale' else ''}, got {number}.")
    return name, number
