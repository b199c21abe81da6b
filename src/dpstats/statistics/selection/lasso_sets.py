"""The features that LASSO finds in a few rows.

The path of LASSO gives the sets to choose from; each is fitted again by least squares, and the extended Bayesian information
criterion takes one, which is then changed by one feature at a time for as long as that lowers the criterion. Features are
standardised by these rows alone, and no answer looks at anything but them. See `EXTRA` for what the criterion weighs.

Source     Tibshirani 1996 and Efron, Hastie, Johnstone & Tibshirani 2004 (the path); Chen & Chen 2008 (the criterion)
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats

FeatureSet = tuple[int, ...]
"""Places of features, from 0, in order."""

EXTRA_OF_SETS, EXTRA_OF_FEATURES = 0.5, 0.0
"""What a feature costs in the criterion beside ln(rows), in units of 2 ln(features). Where whole sets are counted one wrong
feature spoils a vote; where features are counted one by one a few wrong ones in each block do no harm, and a missed one does."""
ROWS_FOR_EACH = 4
"""A block of m rows finds at most m / ROWS_FOR_EACH features."""
LEAST_ROWS = 8
NOISY_ROUNDS = 4
"""How often a set is found anew with the noise that its own fit gives."""
_NO_VARIANCE = 1e-12
_COLLINEAR = 1e-9
_GAIN = 1e-9


@dataclass(frozen=True)
class Correlations:
    """All that least squares needs of some rows, with every column standardised; features that do not vary are left out."""

    rows: int
    among: Floats
    """Correlations of features with each other."""
    outcome: Floats
    """Correlations of features with the outcome."""
    places: NDArray[np.int64]
    """Which features these are."""

    def unexplained(self, chosen: FeatureSet) -> float:
        """The part of the outcome's variance that a least-squares fit on these features leaves."""
        if not chosen:
            return 1.0
        some = list(chosen)
        solution = np.linalg.solve(self.among[np.ix_(some, some)], self.outcome[some])
        return max(_NO_VARIANCE, 1.0 - float(self.outcome[some] @ solution))


def lasso_set(raw_rows: Floats, at_most: int | None, extra: float) -> FeatureSet | None:
    """The significant features of a block whose last column is the outcome; None where its rows determine nothing."""
    with np.errstate(all="ignore"):
        known = _correlations(raw_rows)
    if known is None:
        return None
    return set_of(known, raw_rows.shape[1] - 1, at_most, extra)


def set_of(known: Correlations, features: int, at_most: int | None, extra: float) -> FeatureSet:
    """The significant ones of so many features, by their correlations."""
    return tuple(known.places[list(_set_in(known, features, at_most, extra))].tolist())


def noisy_set_of(known: Correlations, noise: float, features: int, at_most: int | None, extra: float) -> FeatureSet:
    """The significant ones where correlations have noise of this deviation, which counts for more the more others explain."""
    rows = known.rows
    found: FeatureSet = ()
    for _ in range(NOISY_ROUNDS):
        some = list(found)
        slopes = np.linalg.solve(known.among[np.ix_(some, some)], known.outcome[some])
        more = noise**2 * (1 + float(slopes @ slopes)) / max(known.unexplained(found), noise)
        informative = int(1 / (1 / max(rows, 1) + more))
        if informative < 1:
            return ()
        before, found = found, _set_in(replace(known, rows=informative), features, at_most, extra)
        if found == before:
            break
    return tuple(known.places[list(found)].tolist())


def _set_in(known: Correlations, features: int, at_most: int | None, extra: float) -> FeatureSet:
    """The same by their places in the correlations."""
    most = min(known.rows // ROWS_FOR_EACH, len(known.places), math.inf if at_most is None else at_most)
    price = math.log(known.rows) + 2 * extra * math.log(features)
    if not most:
        return ()
    best = min(_path_sets(known, int(most)), key=lambda chosen: (_criterion(known, chosen, price), chosen))
    return _polished(known, best, price, int(most))


def _correlations(raw_rows: Floats) -> Correlations | None:
    if len(raw_rows) < LEAST_ROWS:
        return None
    centred = raw_rows - raw_rows.mean(axis=0)
    spreads = np.sqrt((centred**2).mean(axis=0))
    largest = np.abs(raw_rows).max(axis=0)
    varies = spreads > _NO_VARIANCE * largest
    if not np.isfinite(spreads).all() or not varies[-1]:
        return None
    places = np.flatnonzero(varies[:-1])
    standard = centred[:, varies] / spreads[varies]
    products = standard.T @ standard / len(raw_rows)
    return Correlations(len(raw_rows), products[:-1, :-1], products[:-1, -1], places)


def _path_sets(known: Correlations, most: int) -> list[FeatureSet]:
    """The sets along the path of LASSO, of at most `most` features; the empty one first."""
    from sklearn.linear_model import lars_path_gram

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, _, path = lars_path_gram(
            known.outcome * known.rows, known.among * known.rows, n_samples=known.rows, method="lasso", max_iter=3 * most
        )
    found = [tuple(np.flatnonzero(step).tolist()) for step in path.T]
    return list(dict.fromkeys([(), *(each for each in found if len(each) <= most)]))


def _criterion(known: Correlations, chosen: FeatureSet, price: float) -> float:
    return known.rows * math.log(known.unexplained(chosen)) + price * len(chosen)


def _polished(known: Correlations, chosen: FeatureSet, price: float, most: int) -> FeatureSet:
    """The set after as many single changes as lower the criterion."""
    best = _criterion(known, chosen, price)
    while True:
        changed = _best_change(known, chosen, price, most)
        lowest = _criterion(known, changed, price)
        if not lowest < best - _GAIN:
            return chosen
        best, chosen = lowest, changed


def _best_change(known: Correlations, chosen: FeatureSet, price: float, most: int) -> FeatureSet:
    """The set with one feature more or less that has the lowest criterion."""
    some = list(chosen)
    inverse = np.linalg.inv(known.among[np.ix_(some, some)])
    slopes = inverse @ known.outcome[some]
    left = known.unexplained(chosen)
    without = left + slopes**2 / np.diag(inverse)
    beside = known.among[:, some]
    own = np.maximum(1.0 - ((beside @ inverse) * beside).sum(axis=1), _NO_VARIANCE)
    criteria = known.rows * np.log(np.maximum(left - (known.outcome - beside @ slopes) ** 2 / own, _NO_VARIANCE)) + price
    criteria[(own < _COLLINEAR) | (len(chosen) >= most)] = math.inf
    criteria[some] = known.rows * np.log(without) - price
    place = int(np.argmin(criteria))
    return tuple(each for each in chosen if each != place) if place in chosen else tuple(sorted((*chosen, place)))
