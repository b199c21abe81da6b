"""Rough parameters of a distribution of scipy.stats from three quantiles: those whose law has them as nearly as possible."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.lazy_scipy import optimize
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.quartiles import QUARTILES
from dpstats.statistics.likelihood.scipy_law import ScipyLaw

_SEARCHED = 2
"""How many of the starts are improved."""
_STARTS = 32
"""About how many starts are looked at."""
_LARGEST = 1e100
_FLAT = 1e-3
_AWAY = 1e-4
"""What a free coordinate's distance from 0 costs: it decides where three quantiles leave parameters open."""


def guess_from(law: ScipyLaw, quantiles: Mapping[float, float]) -> Floats:
    """Parameters inside the space, from quantiles at 0.25, 0.5 and 0.75, whatever they are."""
    points = _sane(law, quantiles)
    coordinates = Coordinates(law.space)
    bounded = np.array([name != "loc" for name in law.parameters])
    unit = max(points[2] - points[0], abs(points[1]) * _FLAT)
    units = np.where(bounded, 1.0, unit)

    def misfit(free: Floats) -> float:
        theta = coordinates.held(free)
        shares = law.reached(points, theta)
        if law.is_discrete:  # with half of the point itself
            shares = (shares + law.reached(np.ceil(points) - 1, theta)) / 2
        away = np.where(bounded & (np.array(law.parameters) != "scale"), free, 0.0)
        return float(np.square(shares - QUARTILES).sum() + _AWAY * np.square(np.minimum(np.abs(away), 1e3)).sum() / 100)

    starts = sorted((coordinates.free(start) for start in _starts(law, points)), key=misfit)[:_SEARCHED]
    found = []
    for start in starts:
        simplex = start + 0.4 * units * np.vstack([np.zeros(len(start)), np.eye(len(start))])
        options = {"initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-7, "maxiter": 60 * len(start)}
        found.append(optimize.minimize(misfit, start, method="Nelder-Mead", options=options))
    best = min(found, key=lambda each: float(each.fun)).x
    return coordinates.held(np.nan_to_num(best, nan=0.0))


def _sane(law: ScipyLaw, quantiles: Mapping[float, float]) -> Floats:
    """Three finite numbers in their order, not all the same, inside the range of all rows."""
    low, high = law.kept
    given = [float(quantiles.get(share, math.nan)) for share in QUARTILES]
    finite = np.clip(np.sort(np.nan_to_num(given, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)), -_LARGEST, _LARGEST)
    least = max(abs(finite[1]) * _FLAT, 0.5 if law.is_discrete else 1e-9)
    spread = finite if finite[2] - finite[0] > least else finite[1] + least * np.array([-1.0, 0.0, 1.0])
    inner_low = low + (least if math.isfinite(low) and not law.is_discrete else 0.0)
    inner_high = high - (least if math.isfinite(high) and not law.is_discrete else 0.0)
    return np.asarray(np.clip(spread, inner_low, inner_high) if inner_low < inner_high else spread)


def _starts(law: ScipyLaw, points: Floats) -> list[Floats]:
    """Tried shapes, with a location and a scale that put their own quartiles where they should be."""
    tried = law.tried_shapes[:: 1 + len(law.tried_shapes) // _STARTS]
    return [start for shapes in tried if np.isfinite(start := _start(law, points, shapes)).all()] or [
        Coordinates(law.space).held(np.zeros(len(law.space)))
    ]


def _start(law: ScipyLaw, points: Floats, shapes: tuple[float, ...]) -> Floats:
    known = {**dict(zip(law.shapes, shapes, strict=True)), **dict(law.fixed)}
    if {"loc", "scale"} & set(law.parameters):
        own = _own_quartiles(law, shapes)
        known = {**_placed(known, points, own), **known}
    return np.array([known[name] for name in law.parameters])


def _own_quartiles(law: ScipyLaw, shapes: tuple[float, ...]) -> Floats:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(law.law.ppf(QUARTILES, *shapes), dtype=np.float64)
    except Exception:  # scipy's own complaints are many
        return np.full(len(QUARTILES), np.nan)


def _placed(known: Mapping[str, float], points: Floats, own: Floats) -> dict[str, float]:
    """A location and a scale that are not fixed."""
    width = float(own[2] - own[0])
    scale = known.get("scale", (points[2] - points[0]) / width if width > 0 else 1.0)
    if "loc" in known and "scale" not in known and own[1] != 0:
        ratio = (points[1] - known["loc"]) / own[1]
        scale = ratio if ratio > 0 else scale
    return {"loc": float(points[1] - scale * own[1]), "scale": float(scale)}
