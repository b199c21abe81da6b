"""Dates and times of whatever unit, compared and taken apart without overflow.

Times without a zone count as UTC, and a date as its first instant. Cells are first settled into days, seconds, milli-, micro- or
nanoseconds; numpy's other units are turned into these, and what lies beyond them is missing.
"""

from __future__ import annotations

import datetime
import re

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Moments

Wholes = NDArray[np.int64]
NANOSECONDS = {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_SETTLED = {
    **{"Y": ("D", 367), "M": ("D", 32), "W": ("D", 7), "h": ("s", 3600), "m": ("s", 60)},
    **{unit: (unit, 1) for unit in NANOSECONDS},
}
"""The unit that another is turned into, and how many of it that may take."""
_PER_NANOSECOND = {"ps": 10**3, "fs": 10**6, "as": 10**9}
_NOT_A_TIME = np.iinfo(np.int64).min
_LARGEST = np.iinfo(np.int64).max
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_DAYS_OF_ERA = 146_097
"""The days of 400 years, after which the calendar repeats."""
_FIRST_OF_MARCH = 719_468
"""The days from 1 March of the year 0 to 1 January 1970."""


def canonical_moment(text: str) -> str | None:
    """A typed date or time as ISO text in UTC, without a time of day at midnight; None where it is no date."""
    text = text.strip()
    try:
        moment = datetime.datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
        if moment is None:
            return None
        plain = moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None
    return plain.date().isoformat() if plain.time() == datetime.time() else plain.isoformat()


def moment_of(text: str) -> Moments:
    """A canonical date or time as a cell."""
    return Moments(np.array(text, dtype="datetime64[us]" if "T" in text else "datetime64[D]"))


def nanoseconds_of(text: str) -> int:
    """A canonical date or time, counted from the beginning of 1970."""
    since = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC) - _EPOCH
    return since // datetime.timedelta(microseconds=1) * 1000


def settled(moments: Moments) -> Moments:
    """The same moments in one of the units that we count in."""
    raw_values = moments.raw_values.astype(moments.raw_values.dtype.newbyteorder("="), copy=False)
    unit, step = np.datetime_data(raw_values.dtype)
    if unit in NANOSECONDS and step == 1:
        return Moments(raw_values, moments.zoned)
    if unit not in _SETTLED and unit not in _PER_NANOSECOND:  # numpy's times without a unit count from nowhere
        return Moments(np.full(raw_values.shape, "NaT", dtype="datetime64[s]"), moments.zoned)
    if unit in _PER_NANOSECOND:
        raw_near = _dropped_beyond(raw_values.view(np.int64), step)
        raw_counts = np.where(raw_near == _NOT_A_TIME, _NOT_A_TIME, raw_near * step // _PER_NANOSECOND[unit])
        return Moments(raw_counts.view("datetime64[ns]"), moments.zoned)
    target, factor = _SETTLED[unit]
    raw_near = _dropped_beyond(raw_values.view(np.int64), factor * step).view(raw_values.dtype)
    return Moments(raw_near.astype(f"datetime64[{target}]"), moments.zoned)


def counted(moments: Moments) -> tuple[Wholes, int]:
    """Settled moments as whole numbers, and the nanoseconds that one of them stands for."""
    return moments.raw_values.view(np.int64), NANOSECONDS[unit_of(moments)]


def unit_of(moments: Moments) -> str:
    """The unit of settled moments."""
    return np.datetime_data(moments.raw_values.dtype)[0]


def in_unit(moments: Moments, unit: str) -> Moments:
    """Settled moments in another unit, cut off where it is coarser, missing where it does not reach."""
    raw_counts, size = counted(moments)
    if size >= NANOSECONDS[unit]:
        factor = size // NANOSECONDS[unit]
        raw_counts = _dropped_beyond(raw_counts, factor)
        raw_counts = np.where(raw_counts == _NOT_A_TIME, _NOT_A_TIME, raw_counts * factor)
    else:
        raw_counts = np.where(raw_counts == _NOT_A_TIME, _NOT_A_TIME, raw_counts // (NANOSECONDS[unit] // size))
    return Moments(raw_counts.view(f"datetime64[{unit}]"), moments.zoned)


def split(moments: Moments) -> tuple[Wholes, Wholes]:
    """Settled moments as days since 1970 and nanoseconds of the day."""
    raw_counts, size = counted(moments)
    raw_days, raw_rest = np.divmod(raw_counts, NANOSECONDS["D"] // size)
    return raw_days, raw_rest * size


def weekday(moments: Moments) -> Wholes:
    """The day of the week: Monday is 1, Sunday is 7."""
    return (split(moments)[0] % 7 + 3) % 7 + 1  # the first day of 1970 was a Thursday


def hour(moments: Moments) -> Wholes:
    """The hour, from 0 to 23; 0 for dates."""
    return split(moments)[1] // (3600 * 10**9)


def civil(moments: Moments) -> tuple[Wholes, Wholes, Wholes]:
    """Year, month and day, both from 1. Years are counted from March here, so that a leap day is the last of its year."""
    eras, raw_rest = np.divmod(split(moments)[0], _DAYS_OF_ERA)  # first, so that no sum can overflow
    more, raw_day = np.divmod(raw_rest + _FIRST_OF_MARCH, _DAYS_OF_ERA)
    raw_year = (raw_day - raw_day // 1460 + raw_day // 36_524 - raw_day // 146_096) // 365
    raw_day = raw_day - (365 * raw_year + raw_year // 4 - raw_year // 100)
    raw_month = (5 * raw_day + 2) // 153
    raw_day = raw_day - (153 * raw_month + 2) // 5 + 1
    return raw_year + 400 * (eras + more) + (raw_month >= 10), (raw_month + 2) % 12 + 1, raw_day


def _dropped_beyond(raw_counts: Wholes, factor: int) -> Wholes:
    """Counts, missing where `factor` times as much would overflow."""
    limit = _LARGEST // factor
    return np.where((raw_counts > limit) | (raw_counts < -limit), _NOT_A_TIME, raw_counts)
