"""Redraws: what synthetic data would be if a model were the truth and were measured again. Nothing here sees private data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.statistics.coded.budget import GaussianLaw, LaplaceLaw, NoiseLaw, NoisyTable
from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.graphical_model import GraphicalModel
from dpstats.statistics.synthetic.rounds import MeasuredPair

Summary = Callable[[Mapping[str, NDArray[Any]]], float]
"""A number that is computed from rows, column by column."""

_CALL = re.compile(r"\s*(mean|median|std)\s*\(\s*(.+?)\s*\)\s*")
_SHARE = re.compile(r"\s*share\s*\(\s*(.+?)\s*=\s*(.+?)\s*\)\s*")
_NUMBERS: dict[str, Callable[[NDArray[Any]], Any]] = {"mean": np.nanmean, "median": np.nanmedian, "std": np.nanstd}


def summary_of(statistic: str | Summary, names: Sequence[str]) -> Summary:
    """The function that a text stands for."""
    if callable(statistic):
        return lambda values: float(statistic(values))
    if call := _CALL.fullmatch(str(statistic)):
        compute, name = _NUMBERS[call[1]], _known(call[2], names)
        return lambda values: float(compute(_numbers(values, name)))
    if share := _SHARE.fullmatch(str(statistic)):
        name, label = _known(share[1], names), share[2]
        return lambda values: float(np.mean([str(value) == label for value in values[name].tolist()]))
    raise InvalidParameterError(
        f"{statistic!r} is no statistic of synthetic rows: write mean(income), median(income), std(income), "
        "share(region = north), or give a function of a dict of arrays."
    )


def _numbers(values: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float64]:
    try:
        return values[name].astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"column {name!r} is not one of numbers: write share({name} = ...) for a label of it."
        ) from None


def redrawn(
    columns: Sequence[MeasuredColumn], pairs: Sequence[MeasuredPair], model: GraphicalModel, total: float, rng: RandomSource
) -> tuple[tuple[MeasuredColumn, ...], tuple[MeasuredPair, ...]]:
    """Columns and pairs of a model of `total` rows that is measured anew, with fresh noise of the same laws."""
    again = []
    for place, column in enumerate(columns):
        shares = column.counts / np.maximum(np.bincount(column.merged, column.counts, column.size), 1e-300)[column.merged]
        expected = model.marginal((place,))[column.merged] * shares * total
        again.append(_remeasured(replace(column, noisy=_noisy(expected, column.noisy.law, rng)), total))
    return tuple(again), tuple(
        MeasuredPair(pair.columns, _noisy(model.marginal(pair.columns) * total, pair.noisy.law, rng)) for pair in pairs
    )


def _remeasured(column: MeasuredColumn, total: float) -> MeasuredColumn:
    """A column with fresh counts to draw by, and the same coarse codes, in which pairs are counted."""
    return replace(column, counts=MeasuredColumn.of(column.fine, column.noisy, total).counts)


def _noisy(expected: NDArray[np.float64], law: NoiseLaw, rng: RandomSource) -> NoisyTable:
    """Expected counts with noise of about the same law, in floats: nobody's rows are in them."""
    words = random_words(rng, 2 * expected.size).astype(np.float64) / 2.0**64
    first, second = np.maximum(words[: expected.size], 2.0**-64), words[expected.size :]
    if isinstance(law, LaplaceLaw):
        noise = law.scale * -np.log(first) * np.where(second < 0.5, 1.0, -1.0)
    else:
        assert isinstance(law, GaussianLaw)
        noise = np.sqrt(-2 * law.variance * np.log(first)) * np.cos(2 * np.pi * second)
    return NoisyTable(np.rint(expected + noise.reshape(expected.shape)).astype(np.int64), law)


def _known(name: str, names: Sequence[str]) -> str:
    if name not in names:
        raise UnknownNameError(f"there is no column {name!r}; the columns are {', '.join(names)}.")
    return name
