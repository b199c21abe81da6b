"""The features that LASSO finds in a few rows.

The path of LASSO gives the sets to choose from; each is fitted again by least squares, and the extended Bayesian information
criterion takes one, which is then changed by one feature at a time for as long as that lowers the criterion. Features are
standardised by these rows alone, and no answer looks at anything but them. See `EXTRA_OF_SETS` for what the criterion weighs.
Where correlations are noisy, each feature's gain is weighed against sampling error and noise together (`noisy_set_of`).

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

EXTRA_OF_SETS, EXTRA_OF_FEATURES, EXTRA_OF_NOISY = 0.5, 0.0, 1.0
"""What a feature costs in the criterion beside ln(rows), in units of 2 ln(features). Where whole sets are counted one wrong
feature spoils a vote; where features are counted one by one a few wrong ones in each block do no harm, and a missed one does.
Noisy correlations are looked at once, and no vote of blocks drops a wrong feature: on 100 tables of 10,000 rows and 20 correlated
features at epsilon 1 a cost of 1 gave no wrong feature, one of 0.5 in 5 tables. Where the weakest of three signals is in doubt
(3,000 rows, 10 features) it missed one in 35 tables of 100, against 21, and had a wrong one in 5, against 16."""
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
    noise: Floats | None = None
    """One number for each feature and, last, the outcome; the noise of a correlation has the product of two as its deviation."""

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


def noisy_set_of(known: Correlations, features: int, at_most: int | None, extra: float) -> FeatureSet:
    """The significant ones where correlations have noise.

    LASSO's path is searched as if every feature had the noise of the median one. Then the set is changed by one feature at a
    time, each by its own noise, for as long as that lowers the criterion.
    """
    found: FeatureSet = ()
    for _ in range(NOISY_ROUNDS):
        informative = int(np.median(_gains(known, found)[1]))
        if informative < 1:
            return ()
        before, found = found, _set_in(replace(known, rows=informative), features, at_most, extra)
        if found == before:
            break
    most, seen = _most_features(known, at_most), set[FeatureSet]()
    while found not in seen:  # each feature has its own noise, so there is no one criterion that falls with every change
        seen.add(found)
        gains, informative_rows = _gains(known, found)
        changes = np.log(informative_rows) + 2 * extra * math.log(features) - gains
        changes[list(found)] *= -1
        if len(found) >= most:
            changes[[place for place in range(len(changes)) if place not in found]] = math.inf
        place = int(np.argmin(changes)) if len(changes) else 0
        if not len(changes) or not changes[place] < -_GAIN:
            break
        found = _toggled(found, place)
    return tuple(known.places[list(found)].tolist())


def _gains(known: Correlations, chosen: FeatureSet) -> tuple[Floats, Floats]:
    """How much each feature lowers the criterion beside the other chosen ones, and the rows whose sampling errs as much as
    sampling and noise do there.

    With u the residual of the feature and v that of the outcome, as weights of columns, and R all correlations, the gain is the
    square of u'Rv. Symmetric noise N of a unit deviation adds u'Nv, whose variance is |u|^2 |v|^2 + (u'v)^2.
    """
    noise = np.zeros(len(known.places) + 1) if known.noise is None else known.noise
    gains, informative = np.zeros(len(known.places)), np.ones(len(known.places))
    for place in range(len(known.places)):
        others = [each for each in chosen if each != place]
        beside = known.among[others, place]
        slopes, own_slopes = np.linalg.solve(
            known.among[np.ix_(others, others)], np.column_stack([known.outcome[others], beside])
        ).T
        left, own = known.unexplained(tuple(others)), 1.0 - float(beside @ own_slopes)
        if own < _COLLINEAR:
            continue
        u, v = noise[[*others, place]] * [*own_slopes, 1.0], noise[[*others, -1]] * [*slopes, 1.0]
        variance = float(u @ u) * float(v @ v) + float(u[:-1] @ v[:-1]) ** 2
        informative[place] = 1 / (1 / max(known.rows, 1) + variance / (own * left))
        gained = float(known.outcome[place] - beside @ slopes) ** 2 / own
        gains[place] = -informative[place] * math.log(max(1.0 - gained / left, _NO_VARIANCE))
    return gains, informative


def _set_in(known: Correlations, features: int, at_most: int | None, extra: float) -> FeatureSet:
    """The same by their places in the correlations."""
    most = _most_features(known, at_most)
    price = math.log(known.rows) + 2 * extra * math.log(features)
    if not most:
        return ()
    best = min(_path_sets(known, most), key=lambda chosen: (_criterion(known, chosen, price), chosen))
    return _polished(known, best, price, most)


def _most_features(known: Correlations, at_most: int | None) -> int:
    most = min(known.rows // ROWS_FOR_EACH, len(known.places))
    return most if at_most is None else min(most, at_most)


def _toggled(chosen: FeatureSet, place: int) -> FeatureSet:
    return tuple(each for each in chosen if each != place) if place in chosen else tuple(sorted((*chosen, place)))


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
    return _toggled(chosen, int(np.argmin(criteria)))
