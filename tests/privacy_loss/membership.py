"""A membership attack by shadow models: was one row in the table of which synthetic rows were made?

The attacker knows that row and all others, and makes as many releases as he likes of the table with the row and without it. On
some of them he learns a rule; how often it is right on others bounds epsilon from below.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.coded.budget import LaplaceLaw, NoiseLaw
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.statistics.synthetic.fine_codes import FineColumn
from tests.privacy_loss.sampled import SampledEpsilon, epsilon_lower_bound

Views = NDArray[np.float64]
"""One line of numbers for each release."""
Rule = tuple[int, float, bool, bool]
"""A place in a line, a threshold, whether numbers from it on or below it are the event, and whether rows with the target have it
more often."""
NEAR = 0.1
"""Numbers that differ by less than this part count as near."""


def views_of(data: SyntheticData, others: Mapping[str, NDArray[Any]], target: Mapping[str, Any]) -> list[float]:
    """What an attacker looks at: tables of one and two columns as released, as in the model, and as in rows."""
    columns, names = data.columns, data.names
    cells = [_code(column.fine, target[column.fine.name]) for column in columns]
    coarse = [int(column.merged[cell]) for column, cell in zip(columns, cells, strict=True)]
    known = [np.array([_code(column.fine, value) for value in others[column.fine.name].tolist()]) for column in columns]
    ratios = [
        _log_ratio(column.noisy.law, int(column.noisy.noisy_counts[cell]) - int((codes == cell).sum()))
        for column, cell, codes in zip(columns, cells, known, strict=True)
    ]
    for pair in data.pairs:
        place = tuple(coarse[column] for column in pair.columns)
        there = np.all([columns[each].merged[known[each]] == coarse[each] for each in pair.columns], axis=0)
        ratios.append(_log_ratio(pair.noisy.law, int(pair.noisy.noisy_counts[place]) - int(there.sum())))
    near = [_near(data.values[name], target[name]) for name in names]
    sizes = [max(float(column.fine.edges[-1]) if column.fine.edges else 0.0, 0.0) for column in columns]
    return [
        sum(ratios),
        sum(ratios[: len(columns)]),
        data.rows,
        *(float(each.sum()) for each in near),
        float(np.all(near, axis=0).sum()),
        float(np.max(np.sum(near, axis=0), initial=0)),  # how many cells of the nearest row are near
        float(sum(str(target[name]) in map(str, column.fine.labels) for name, column in zip(names, columns, strict=True))),
        float(data.model.marginal(range(len(columns)))[tuple(coarse)]) * data.total,
        float(sum(len(column.fine.edges) for column in columns)),
        float(np.log1p(sizes).sum()),
    ]


def lower_bound(without: Views, with_target: Views, training: int, *, confidence: float, delta: float) -> SampledEpsilon:
    """How large epsilon must be, by a rule that is learned on the first `training` releases of each side, tried on the others."""
    learned = _scores(without[:training], with_target[:training])
    rule = _best_rule(learned(without[:training]), learned(with_target[:training]), confidence, delta)
    return _tried(rule, learned(without[training:]), learned(with_target[training:]), confidence, delta)


def _scores(without: Views, with_target: Views) -> Callable[[Views], Views]:
    """Adds to each line the score of Fisher's linear discriminant between the two sides."""
    lines = np.arcsinh(np.vstack([without, with_target]))
    middle, spread = lines.mean(axis=0), lines.std(axis=0) + 1e-9
    sides = [(np.arcsinh(side) - middle) / spread for side in (without, with_target)]
    within = sum(np.cov(side, rowvar=False) for side in sides) / 2 + 0.05 * np.eye(len(middle))
    weights = np.linalg.solve(within, sides[1].mean(axis=0) - sides[0].mean(axis=0))
    return lambda views: np.column_stack([views, ((np.arcsinh(views) - middle) / spread) @ weights])


def _best_rule(without: Views, with_target: Views, confidence: float, delta: float) -> Rule:
    both = np.vstack([without, with_target])
    rules = [
        (place, float(cut), above, more)
        for place in range(both.shape[1])
        for cut in np.unique(np.quantile(both[:, place], np.linspace(0.01, 0.99, 50)))
        for above in (True, False)
        for more in (True, False)
    ]
    return max(rules, key=lambda rule: _tried(rule, without, with_target, confidence, delta).at_least)


def _tried(rule: Rule, without: Views, with_target: Views, confidence: float, delta: float) -> SampledEpsilon:
    place, cut, above, more = rule
    often, seldom = (with_target, without) if more else (without, with_target)
    hits, alarms = ((side[:, place] >= cut) == above for side in (often, seldom))
    return epsilon_lower_bound(hits, alarms, bool, confidence=confidence, delta=delta)


def _code(column: FineColumn, value: Any) -> int:
    """The fine code of a value."""
    if column.is_labels:
        return column.labels.index(value) if value in column.labels else len(column.labels)
    return bisect_right(column.edges, value)


def _log_ratio(law: NoiseLaw, beyond: int) -> float:
    """How much likelier a noisy count is with the target, where it is by so much more than the other rows give."""
    if isinstance(law, LaplaceLaw):
        return (abs(beyond) - abs(beyond - 1)) / law.scale
    return (beyond - 0.5) / law.variance


def _near(values: NDArray[Any], value: Any) -> NDArray[np.bool_]:
    if isinstance(value, str):
        return np.asarray(values == value)
    return np.asarray(np.abs(values.astype(np.float64) - value) <= NEAR * abs(value))
