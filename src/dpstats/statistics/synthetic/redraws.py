"""Redraws: rows that may be the truth, and what synthetic data would be if they were measured again.

Nothing here sees private data. An imagined truth has the relations of the fitted model, but differs from it where released
numbers leave things open: fine codes have their noisy counts with as much noise again, also those that the model takes for empty;
the rows of a code need not lie evenly in it, so all are put at one place, anywhere in it; and the rows of an outer code lie as
far out as tails may that thin out about as those within sight. How far statistics of data that are measured and drawn anew are
from those of the imagined truth is how far a release may be off.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.statistics.coded.budget import GaussianLaw, LaplaceLaw, NoiseLaw, NoisyTable
from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.fine_codes import LARGEST, FineColumn, settled_counts
from dpstats.statistics.synthetic.graphical_model import GraphicalModel
from dpstats.statistics.synthetic.rounds import MeasuredPair
from dpstats.statistics.synthetic.tails import outer_codes, tails_of

Summary = Callable[[Mapping[str, NDArray[Any]]], float]
"""A number that is computed from rows, column by column."""
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TAIL_SPREAD = 0.7
"""The standard deviation of the logarithm of how far out the rows of an outer code are, in what is expected."""

_CALL = re.compile(r"\s*(mean|median|std)\s*\(\s*(.+?)\s*\)\s*")
_SHARE = re.compile(r"\s*share\s*\(\s*(.+?)\s*=\s*(.+?)\s*\)\s*")
_NUMBERS: dict[str, Callable[[NDArray[Any]], Any]] = {"mean": np.nanmean, "median": np.nanmedian, "std": np.nanstd}
_RULED_BY_TAILS = ("mean", "std")


def summary_of(statistic: str | Summary, columns: Sequence[MeasuredColumn]) -> Summary:
    """The function that a text stands for."""
    if callable(statistic):
        return lambda values: float(statistic(values))
    if call := _CALL.fullmatch(str(statistic)):
        compute, column = _NUMBERS[call[1]], _known(call[2], columns)
        if call[1] in _RULED_BY_TAILS and _hangs_on_tails(column):
            raise InvalidParameterError(
                f"{statistic} has no interval here, because it hangs on rows far out, and the release does not say how far: "
                f"take a median, or ask for {call[1]} itself."
            )
        return lambda values: _of_numbers(compute, _numbers(values, column.fine.name))
    if share := _SHARE.fullmatch(str(statistic)):
        name, label = _known(share[1], columns).fine.name, share[2]
        return lambda values: float(np.mean([str(value) == label for value in values[name].tolist()]))
    raise InvalidParameterError(
        f"{statistic!r} is no statistic of synthetic rows: write mean(income), median(income), std(income), "
        "share(region = north), or give a function of a dict of arrays."
    )


def _of_numbers(compute: Callable[[NDArray[Any]], Any], numbers: Floats) -> float:
    """The statistic of the numbers among the rows; NaN where all are missing."""
    return math.nan if np.isnan(numbers).all() else float(compute(numbers))


def _numbers(values: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float64]:
    try:
        return values[name].astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"column {name!r} is not one of numbers: write share({name} = ...) for a label of it."
        ) from None


@dataclass(frozen=True)
class ImaginedColumn(FineColumn):
    """A column of numbers whose codes have their rows elsewhere than spread over them evenly."""

    places: tuple[tuple[Fraction, Fraction], ...] = ()

    def spans(self) -> list[tuple[Fraction, Fraction]]:
        """From where to where the rows of each code lie."""
        return list(self.places)


def imagined(columns: Sequence[MeasuredColumn], total: float, rng: RandomSource) -> tuple[MeasuredColumn, ...]:
    """Columns as they may be in truth: with counts that would give the released ones, and rows anywhere in their codes."""
    return tuple(
        replace(column, counts=_imagined_counts(column, total, rng), fine=_imagined_places(column, rng)) for column in columns
    )


def remeasured(
    truth: Sequence[MeasuredColumn],
    data: Sequence[MeasuredColumn],
    pairs: Sequence[MeasuredPair],
    model: GraphicalModel,
    total: float,
    rng: RandomSource,
) -> tuple[tuple[MeasuredColumn, ...], tuple[MeasuredPair, ...]]:
    """Columns and pairs of `total` rows, of the model and an imagined truth, measured with fresh noise of the same laws.

    Coarse codes, in which pairs are counted, are those of the data.
    """
    again = []
    for place, (there, column) in enumerate(zip(truth, data, strict=True)):
        shares = there.counts / np.maximum(np.bincount(there.merged, there.counts, there.size), 1e-300)[there.merged]
        expected = model.marginal((place,))[there.merged] * shares * total
        noisy = _noisy(expected, column.noisy.law, rng)
        again.append(replace(column, noisy=noisy, counts=MeasuredColumn.of(column.fine, noisy, total).counts))
    return tuple(again), tuple(
        MeasuredPair(pair.columns, _noisy(model.marginal(pair.columns) * total, pair.noisy.law, rng)) for pair in pairs
    )


def _imagined_counts(column: MeasuredColumn, total: float, rng: RandomSource) -> Floats:
    """Counts of fine codes, all of which but empty ones may have rows; missing cells and unlisted labels as in the data."""
    known = column.fine.may_hold
    if column.fine.is_labels:
        known[-2] = False
    if not known.any():
        return column.counts
    noisy = _noisy(column.noisy.noisy_counts, column.noisy.law, rng).noisy_counts
    counts = np.where(known, 0.0, column.counts)
    counts[known] = settled_counts(noisy[known], total - float(counts.sum()))
    return counts


def _imagined_places(column: MeasuredColumn, rng: RandomSource) -> FineColumn:
    """The column with rows of each code at one place, and of outer codes far out; labels as they are."""
    fine = column.fine
    if fine.is_labels:
        return fine
    parts, stretch = _uniform(fine.size - 1, rng), np.exp(TAIL_SPREAD * _normal(2, rng))
    places = [_somewhere(fine, low, high, part) for (low, high), part in zip(fine.spans(), parts.tolist(), strict=True)]
    below, above = (
        Fraction(min(excess, float(LARGEST)))
        for excess in (2 * stretch * np.array([tail.excess for tail in tails_of(column)])).tolist()
    )
    first, last = outer_codes(fine)
    low, high = fine.edges[min(first, len(fine.edges) - 1)], fine.edges[max(last - 1, 0)]
    if below:
        places[first] = (max(low - below, -LARGEST), low)
    if above:
        places[last] = (high, min(high + above, LARGEST))
    return ImaginedColumn(fine.name, edges=fine.edges, whole=fine.whole, places=tuple(places))


def _somewhere(column: FineColumn, low: Fraction, high: Fraction, part: float) -> tuple[Fraction, Fraction]:
    """One place of a code, as a span that holds no other value."""
    place = low if column.is_single(low, high) else low + (high - low) * Fraction(part)
    place = Fraction(math.floor(place)) if column.whole else place
    return place, place


def _noisy(expected: Floats | Integers, law: NoiseLaw, rng: RandomSource) -> NoisyTable:
    """Expected counts with noise of about the same law, in floats: nobody's rows are in them."""
    if isinstance(law, LaplaceLaw):
        sizes, signs = _uniform(expected.size, rng), _uniform(expected.size, rng)
        noise = law.scale * -np.log(sizes) * np.where(signs < 0.5, 1.0, -1.0)
    else:
        assert isinstance(law, GaussianLaw)
        noise = math.sqrt(law.variance) * _normal(expected.size, rng)
    return NoisyTable(np.rint(expected + noise.reshape(expected.shape)).astype(np.int64), law)


def _normal(count: int, rng: RandomSource) -> Floats:
    """Standard normal numbers."""
    first, second = _uniform(count, rng), _uniform(count, rng)
    return np.asarray(np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second))


def _uniform(count: int, rng: RandomSource) -> Floats:
    """Numbers between 0 and 1, never 0."""
    return np.maximum(random_words(rng, count).astype(np.float64) / 2.0**64, 2.0**-64)


def _hangs_on_tails(column: MeasuredColumn) -> bool:
    return not column.fine.is_labels and any(tail.is_heavy for tail in tails_of(column))


def _known(name: str, columns: Sequence[MeasuredColumn]) -> MeasuredColumn:
    for column in columns:
        if column.fine.name == name:
            return column
    raise UnknownNameError(f"there is no column {name!r}; the columns are {', '.join(each.fine.name for each in columns)}.")
