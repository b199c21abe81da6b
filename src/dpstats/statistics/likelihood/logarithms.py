"""The logarithm by itself: the same number has the same logarithm in every place of every array.

Numerics   Only halves and doubles, sums, products and quotients are computed, which are exact to the last bit; the logarithm of a
           machine's library may differ in its last bit by the place of a number in an array, and then one row more would change
           the votes of many blocks. Off by a few units of the last place
"""

from __future__ import annotations

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats

_ROOT_HALF = 0.7071067811865476
_LOG2_HIGH = 0.693147180369123816490  # the leading bits of log 2: their multiples by exponents of floats are exact
_LOG2_LOW = 1.90821492927058770002e-10
_TERMS = [2 / (2 * power + 1) for power in range(11, -1, -1)]
_PIECE = 1 << 15  # rows at a time, so that they stay near the processor


def log_of(raw_numbers: Floats) -> Floats:
    """The logarithm of each positive finite number; -inf of 0, inf of inf, NaN of negative numbers and NaN."""
    raw_flat = np.ravel(raw_numbers)
    raw_logs = np.empty_like(raw_flat)
    for start in range(0, len(raw_flat), _PIECE):
        raw_logs[start : start + _PIECE] = _log_of_piece(raw_flat[start : start + _PIECE])
    with np.errstate(invalid="ignore"):
        raw_logs[raw_flat == 0] = -np.inf
        raw_logs[raw_flat == np.inf] = np.inf
        raw_logs[~(raw_flat >= 0)] = np.nan
    return raw_logs.reshape(np.shape(raw_numbers))


def _log_of_piece(raw_numbers: Floats) -> Floats:
    """The logarithms of positive numbers: log(2^e (1+s)/(1-s)) = e log 2 + 2 (s + s^3/3 + s^5/5 + ...), with |s| < 0.172."""
    with np.errstate(all="ignore"):  # what is no positive number is settled by `log_of`
        raw_parts, raw_twos = np.frexp(raw_numbers)
        raw_low = raw_parts < _ROOT_HALF
        raw_parts = np.where(raw_low, 2.0 * raw_parts, raw_parts)
        raw_exponents = raw_twos - raw_low.astype(np.float64)
        raw_steps = (raw_parts - 1.0) / (raw_parts + 1.0)
        raw_squares = raw_steps * raw_steps
        raw_sums = np.full_like(raw_steps, _TERMS[0])
        for term in _TERMS[1:]:
            np.multiply(raw_sums, raw_squares, out=raw_sums)
            np.add(raw_sums, term, out=raw_sums)
        return np.asarray(raw_exponents * _LOG2_HIGH + (raw_steps * raw_sums + raw_exponents * _LOG2_LOW))
