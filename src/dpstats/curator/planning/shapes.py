"""Public shapes of data: what a column may look like, as a quantile function, without a single row of it.

A shape is a non-decreasing function from (0, 1) to values: the value below which a fraction q of the rows lies. Some are named
here; a caller may bring another. The middle of a named continuous shape is no round number: methods that favour round numbers
would look better on it than they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.registry import Question
from dpstats.foundations.rounding import exact_rational

QuantileFunction = Callable[[NDArray[np.float64]], Any]

_WHAT_TO_PASS = "such as lambda q: 20 + 10 * q, written for numpy arrays"
_EXAMPLE = "such as {0.1: 12, 0.5: 30, 0.9: 95}"
_LONGEST_NAME = 30
_QUARTILES = 2
_CHECKED = np.concatenate([np.logspace(-12, -3, 60), np.linspace(0.001, 0.999, 999), 1 - np.logspace(-3, -12, 60)])
"""Where a shape is checked before it is used."""


@dataclass(frozen=True)
class Shape:
    """A distribution by its quantile function, which takes an array of numbers in (0, 1) and never falls."""

    name: str
    summary: str
    quantiles: QuantileFunction

    def values_at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at ascending places in (0, 1); ascending too, where the function errs by the last digit of a float."""
        try:
            with np.errstate(all="ignore"):
                values = np.array(self.quantiles(places), dtype=np.float64)
        except Exception as error:
            raise self._wrong(f"raised {type(error).__name__} ({error})") from error
        if values.shape != places.shape:
            raise self._wrong(f"made {places.shape[0]} numbers into an array of shape {values.shape}")
        if np.isnan(values).any():
            raise self._wrong("returned NaN")
        return np.maximum.accumulate(values) + 0.0  # -0.0 is 0.0

    @cached_property
    def iqr(self) -> float:
        """The interquartile range."""
        low, high = self.values_at(np.array([0.25, 0.75]))
        return float(high - low)

    def checked(self) -> Shape:
        """The shape, if its function can be used."""
        self.values_at(_CHECKED)
        with np.errstate(all="ignore"):
            values = np.asarray(self.quantiles(_CHECKED), dtype=np.float64)
        if (values[1:] < values[:-1]).any():
            raise self._wrong("falls somewhere between 0 and 1, and a quantile function never does")
        if not np.isfinite(self.iqr):
            raise self._wrong("has infinite quartiles")
        return self

    def _wrong(self, what: str) -> InvalidParameterError:
        return InvalidParameterError(f"the shape {self.name} {what}: give the value at each q in (0, 1), {_WHAT_TO_PASS}.")


@dataclass(frozen=True)
class QuantileTable:
    """A quantile function through known points: straight between them, and beyond the outermost ones as straight on."""

    places: tuple[float, ...]
    """Ascending, from 0 to 1; at least two."""
    values: tuple[float, ...]

    @classmethod
    def of(cls, given: Mapping[Any, Any]) -> QuantileTable:
        """From a mapping of quantiles to values, which may be numbers or text."""
        known = sorted(
            (_number(place, "a quantile"), _number(value, "the value at a quantile")) for place, value in given.items()
        )
        places, values = tuple(place for place, _ in known), tuple(value for _, value in known)
        if len(set(places)) < 2 or len(set(places)) < len(places):
            raise InvalidParameterError(f"a shape by its quantiles needs two different ones at least, each once, {_EXAMPLE}.")
        if places[0] < 0 or places[-1] > 1:
            raise InvalidParameterError(f"the quantiles of a shape lie between 0 and 1, {_EXAMPLE}.")
        if any(later < earlier for earlier, later in pairwise(values)):
            raise InvalidParameterError(f"the values of a shape never fall from one quantile to the next, {_EXAMPLE}.")
        return cls(places, values)

    def __call__(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at places in (0, 1)."""
        places, values = np.array(self.places), np.array(self.values)
        segment = np.clip(np.searchsorted(places, q) - 1, 0, places.size - 2)
        share = (q - places[segment]) / (places[segment + 1] - places[segment])
        return np.asarray(values[segment] + share * (values[segment + 1] - values[segment]), dtype=np.float64)


def _number(given: object, name: str) -> float:
    try:
        return float(exact_rational(given, name))
    except OverflowError:
        raise InvalidParameterError(f"{name} of a shape must be a number of ordinary size.") from None


def _standard_normal(q: NDArray[np.float64]) -> Any:
    if q.size <= _QUARTILES:  # scipy takes longer to load than these to compute, and a plan from stored tables needs no more
        return np.array([NormalDist().inv_cdf(each) for each in q.tolist()])
    from scipy.special import ndtri

    return ndtri(q)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("normal", "bell-shaped, mean pi, standard deviation 1", lambda q: math.pi + _standard_normal(q)),
        Shape(
            "lognormal",
            "skewed like incomes: the exponential of a normal with mean 10 and standard deviation 0.75",
            lambda q: np.exp(10 + 0.75 * _standard_normal(q)),
        ),
        Shape(
            "heavy_tailed",
            "Student's t with 2 degrees of freedom around e: no variance",
            lambda q: math.e + (2 * q - 1) / np.sqrt(2 * q * (1 - q)),
        ),
        Shape(
            "delays",
            "whole minutes with many ties: exponential with mean 20, less 5, a quarter of the rows at 0",
            lambda q: np.rint(np.maximum(0, -20 * np.log1p(-q) - 5)),
        ),
        Shape(
            "ratings",
            "five values, 1 to 5, with 5, 10, 20, 40 and 25% of the rows",
            lambda q: np.searchsorted([0.05, 0.15, 0.35, 0.75], q) + 1.0,
        ),
        Shape("uniform", "evenly spread from 0 to pi", lambda q: math.pi * q),
        Shape("constant", "the same value, 7.25, in every row", lambda q: np.full_like(q, 7.25)),
        Shape("share_1", "true in 1% of the rows, false in the others", lambda q: np.where(q > 0.99, 1.0, 0.0)),
        Shape("share_10", "true in 10% of the rows", lambda q: np.where(q > 0.9, 1.0, 0.0)),
        Shape("share_50", "true in half of the rows", lambda q: np.where(q > 0.5, 1.0, 0.0)),
    )
}
DEFAULT_SHAPES = ("normal", "lognormal", "heavy_tailed", "delays")
SHARE_SHAPES = ("share_1", "share_10", "share_50")
"""Of questions about shares. Those below a half stand for those above it: yes and no are treated alike."""


def usual_shapes(question: Question) -> tuple[str, ...]:
    """The shapes on which a question is planned where none is named."""
    return SHARE_SHAPES if question.is_share else DEFAULT_SHAPES


def checked_shapes(given: object, usual: Sequence[str] = DEFAULT_SHAPES) -> tuple[Shape, ...]:
    """What was given as `shape=`: a name, known quantiles, a quantile function, a list of these, or None for the usual ones."""
    if given is None:
        given = usual
    several = given if isinstance(given, Iterable) and not isinstance(given, (str, Mapping)) else [given]
    shapes = [_checked_shape(item) for item in several]
    if not shapes:
        raise InvalidParameterError(f"shape must name at least one shape, such as 'normal'; there are {_names()}.")
    return told_apart(shapes)


def _checked_shape(given: object) -> Shape:
    if isinstance(given, Shape):
        return given.checked()
    if isinstance(given, str):
        if given not in SHAPES:
            raise UnknownNameError(f"there is no shape {given!r}; there are {_names()}. A quantile function is one too.")
        return SHAPES[given]
    if isinstance(given, Mapping):
        known = QuantileTable.of(given)
        return Shape("own", f"through {len(known.places)} quantiles as given, straight between and beyond them", known).checked()
    if callable(given):
        name = getattr(given, "__name__", "")
        plain = isinstance(name, str) and name.isidentifier() and len(name) <= _LONGEST_NAME
        return Shape(name if plain else "own", "as given", given).checked()
    raise InvalidParameterError(
        f"shape must be a name ({_names()}), known quantiles such as {{0.1: 12, 0.5: 30, 0.9: 95}}, or a quantile function, "
        f"{_WHAT_TO_PASS}; got {type(given).__name__}."
    )


def told_apart(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """The shapes, with numbers after names that come more than once."""
    seen: Counter[str] = Counter()
    result = []
    for shape in shapes:
        seen[shape.name] += 1
        result.append(shape if seen[shape.name] == 1 else replace(shape, name=f"{shape.name} {seen[shape.name]}"))
    return tuple(result)


def _names() -> str:
    return ", ".join(SHAPES)
