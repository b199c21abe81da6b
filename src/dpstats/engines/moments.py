"""Moments: dates, times of day and durations as ISO 8601 text.

The text of a moment depends on the moment and not on the unit or the class that holds it: seconds are always written,
fractions of a second without trailing zeros and only where there are any, and a time with a zone in UTC. Only a date without
a time of day stays a date.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ZEROS_OF_FRACTION = re.compile(r"(\.\d*?)0+(?!\d)")
_BARE_POINT = re.compile(r"\.(?!\d)")
_HOUR_ONLY = re.compile(r"T\d\d$")
_NO_SECONDS = re.compile(r"T\d\d:\d\d$")
_UTC_OFFSET = "+00:00"
_MIDNIGHT = "T00:00:00"
_SECONDS = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
_DIGITS_OF_FRACTION = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
_MICROSECOND = datetime.timedelta(microseconds=1)


def moment_text(moment: Any) -> str | None:
    """The text of one date, time or duration of Python, numpy or pandas; None for NaT. An error for anything else."""
    if isinstance(moment, (np.datetime64, np.timedelta64)):
        return None if np.isnat(moment) else moment_texts(np.asarray(moment).reshape(1))[0]
    if isinstance(moment, (datetime.datetime, datetime.timedelta)) and type(moment).__module__.startswith("pandas"):
        write = zoned_texts if getattr(moment, "tzinfo", None) is not None else moment_texts
        with_nanoseconds: Any = moment
        return write(np.asarray(with_nanoseconds.asm8).reshape(1))[0]
    if isinstance(moment, datetime.timedelta):
        return duration_text(datetime.timedelta.__floordiv__(moment, _MICROSECOND), "us")
    if isinstance(moment, datetime.datetime):
        return _datetime_text(moment)
    if isinstance(moment, datetime.date):
        return datetime.date.isoformat(moment)
    return _trimmed(datetime.time.isoformat(moment))


def moment_texts(moments: NDArray[Any]) -> list[str]:
    """The texts of numpy's dates, times or durations, none of which is NaT."""
    unit, step = np.datetime_data(moments.dtype)
    if moments.dtype.kind == "m":
        return [duration_text(count * step, unit) for count in moments.view(np.int64).tolist()]
    if unit == "generic":
        return [str(count) for count in moments.view(np.int64).tolist()]
    return [_completed(text) for text in np.datetime_as_string(moments).tolist()]


def zoned_texts(moments: NDArray[Any]) -> list[str]:
    """The texts of numpy's times, which are times in UTC."""
    return [text + _UTC_OFFSET for text in moment_texts(moments)]


def label_texts(moments: NDArray[Any], *, zoned: bool) -> list[str]:
    """The labels of dates or times in a table: midnight is not written, so that a day has one label whatever type holds it."""
    return zoned_texts(moments) if zoned else [text.removesuffix(_MIDNIGHT) for text in moment_texts(moments)]


def clock_texts(moments: NDArray[Any]) -> list[str]:
    """The texts of times of day, counted from midnight as the times of numpy's first day are."""
    return [text.partition("T")[2] for text in moment_texts(moments)]


def duration_text(count: int, unit: str) -> str:
    """A duration of `count` of numpy's time units."""
    sign, size = "-" if count < 0 else "", abs(count)
    if unit in ("Y", "M"):
        return f"{sign}P{size}{unit}"
    if unit == "generic":
        return str(count)
    digits = _DIGITS_OF_FRACTION.get(unit, 0)
    seconds, rest = divmod(size * _SECONDS.get(unit, 1), 10**digits)
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{rest:0{digits}d}".rstrip("0") if rest else ""
    clock = [f"{hours}H" * bool(hours), f"{minutes}M" * bool(minutes), f"{seconds}{fraction}S" * bool(seconds or fraction)]
    day = f"{days}D" * bool(days)
    time = f"T{''.join(clock)}" if any(clock) else ""
    return f"{sign}P{day}{time}" if day or time else "PT0S"


def _datetime_text(moment: datetime.datetime) -> str:
    offset = datetime.datetime.utcoffset(moment)
    if offset is None:
        return _trimmed(datetime.datetime.isoformat(moment))
    plain = datetime.datetime.combine(datetime.datetime.date(moment), datetime.datetime.time(moment))
    return _trimmed((plain - offset).isoformat()) + _UTC_OFFSET


def _completed(text: str) -> str:
    """The text that numpy writes, with seconds where it stops at minutes or hours."""
    if _HOUR_ONLY.search(text):
        return f"{text}:00:00"
    return f"{text}:00" if _NO_SECONDS.search(text) else _trimmed(text)


def _trimmed(text: str) -> str:
    return _BARE_POINT.sub("", _ZEROS_OF_FRACTION.sub(r"\1", text)) if "." in text else text
