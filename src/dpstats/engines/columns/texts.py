"""Texts read as numbers, truths or dates: one text at a time, so that no text decides how another is read.

A text is a number when, without the spaces around it, it is written in ASCII as 12, 12., 1.5, .5 or 1e-3, with a sign or
without, or is inf, infinity or nan in any case; nan is missing. It becomes the nearest float64, and one beyond the largest is
infinite. A whole number is one that is written in digits and has 64 bits, or another writing (27102.0, 5e3) of one below 2**53;
nothing is rounded to a whole one. A truth is true, false, or a number that is 1 or 0. A date is 2024-02-29, or
2024-02-29T12:00:00 with fractions of a second and an offset from UTC where it has them (Z too, and a space for the T); finer
fractions than microseconds are cut off. Everything else is missing.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Labels, Moments, Numbers
from dpstats.engines.columns.digits import exact_text
from dpstats.engines.columns.native import numbers_of

PLAIN_NUMBER = r"\A-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?\z"
"""Numbers that every library reads alike, none of them too large or too small for a float64; in the syntax of Rust and RE2."""
PLAIN_WHOLE = r"\A-?[0-9]{1,18}\z"
"""Whole numbers that every library reads alike, all of which have 64 bits."""

_SPACES = " \t\n\r\v\f"
_NUMBER = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LONGEST_WHOLE = 4000  # Python refuses to read more digits than 4300; more than 20 have no place anyway
_LARGEST_EXACT = 2**53
_INT64 = np.iinfo(np.int64)
_TRUTHS = {"true": 1, "1": 1, "false": 0, "0": 0}
_NOTHING = {"", "na", "<na>", "n/a", "nan", "nat", "null", "none", ".", "?", "-"}
"""How files write that there is nothing, in lower case. A share leaves these rows out. Whatever else is no truth it counts,
and it is refused where that is much: one text more here is one code that shares no longer see."""
NEITHER = 2
"""What stands for a text that is neither true nor false, where such texts count."""
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))?)?",
    re.ASCII,
)
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def number_of_text(text: str) -> float | None:
    """The number that a text is; None where it is none."""
    stripped = text.strip(_SPACES)
    return float(stripped) if _NUMBER.fullmatch(stripped) else None


def whole_of_text(text: str) -> int | None:
    """The whole number of 64 bits that a text is; None where it is none."""
    stripped = text.strip(_SPACES)
    if _WHOLE.fullmatch(stripped):
        return whole_of_number(int(stripped)) if len(stripped) <= _LONGEST_WHOLE else _long_whole(stripped)
    number = number_of_text(stripped)
    whole = None if number is None else whole_of_number(number)
    return whole if whole is not None and _is_written(stripped, whole) else None


def whole_of_number(number: int | float) -> int | None:
    """A number as a whole one: any int of 64 bits, and a float below 2**53 that is whole."""
    if isinstance(number, int):
        return number if _INT64.min <= number <= _INT64.max else None
    return int(number) if abs(number) < _LARGEST_EXACT and number == math.floor(number) else None


def truth_of_text(text: str) -> int | None:
    """1 where a text says true or is a number that is 1, 0 where it says false or is one that is 0; None otherwise."""
    stripped = text.strip(_SPACES).lower()
    if stripped in _TRUTHS:
        return _TRUTHS[stripped]
    whole = whole_of_text(stripped)
    return whole if whole in (0, 1) else None


def microseconds_of_text(text: str) -> int | None:
    """The date or time that a text is, in microseconds since 1970 (in UTC where it has an offset); None where it is none."""
    found = _MOMENT.fullmatch(text.strip(_SPACES))
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, off_hours, off_minutes = found.groups(default="0")
    if int(off_hours) > 23 or int(off_minutes) > 59:
        return None
    try:
        moment = datetime.datetime(int(year), int(month), int(day), int(hour), int(minute), int(second))
    except ValueError:
        return None
    offset = datetime.timedelta(hours=int(off_hours), minutes=int(off_minutes))
    seconds = (moment - _EPOCH) + (offset if sign == "-" else -offset)
    return seconds // _MICROSECOND + int(fraction[:6].ljust(6, "0"))


def exact_microseconds_of_text(text: str) -> int | None:
    """The same, and None where microseconds do not hold it in full."""
    found = _MOMENT.fullmatch(text.strip(_SPACES))
    is_finer = found is not None and (found[7] or "")[6:].strip("0")
    return None if is_finer else microseconds_of_text(text)


def identity_of_text(text: str) -> str | None:
    """The number that a text is, in full, so that different numbers stay different; None where it is none we can write."""
    stripped = text.strip(_SPACES)
    if not _NUMBER.fullmatch(stripped):
        return None
    try:
        return exact_text(Decimal(stripped))
    except ArithmeticError:  # an exponent beyond all decimals
        return None


def exact_label(label: str | bytes | None) -> str | None:
    """A text in full, and bytes as UTF-8 in which every stray byte keeps a place of its own; never two of them as one text."""
    if label is None or isinstance(label, str):
        return label
    return label.decode("utf-8", "surrogateescape")


def parsed_labels(cells: Labels, whole: bool) -> Numbers:
    """Texts as numbers, each distinct text once."""
    if whole:
        return _gathered(cells, whole_of_text, np.int64)
    return _gathered(cells, number_of_text, np.float64)


def parsed_truths(cells: Labels) -> Numbers:
    """Texts as truths, 1 and 0."""
    return _gathered(cells, truth_of_text, np.uint8)


def told_truths(cells: Labels, raw_there: NDArray[np.bool_]) -> Numbers:
    """Texts as truths, 1 and 0, and `NEITHER` for what is there and is none; texts that say that there is nothing are missing."""
    told = _gathered(cells, lambda text: None if _says_nothing(text) else _told_truth(text), np.uint8)
    raw_told = np.ones(len(told), dtype=np.bool_) if told.raw_present is None else told.raw_present
    raw_untold = raw_there & (cells.raw_codes < 0)  # elements that have no text
    return numbers_of(np.where(raw_untold, np.uint8(NEITHER), told.raw_values), raw_told | raw_untold)


def parsed_moments(cells: Labels, exact: bool = False) -> Moments:
    """Texts as dates or times, in microseconds; with `exact` those that are finer are missing."""
    moments = _gathered(cells, exact_microseconds_of_text if exact else microseconds_of_text, np.int64)
    raw_times = moments.raw_values.view("M8[us]")
    if moments.raw_present is not None:
        raw_times[~moments.raw_present] = np.datetime64("NaT", "us")
    return Moments(raw_times)


def completed(raw_plain: NDArray[Any], raw_is_plain: NDArray[np.bool_], rest: Labels, raw_rest: NDArray[np.bool_]) -> Numbers:
    """Plain numbers that a library has read, with the texts at the other rows read one by one."""
    raw_values = np.where(raw_is_plain, raw_plain, raw_plain.dtype.type(0))
    raw_present = raw_is_plain.copy()
    if raw_rest.any():
        others = parsed_labels(rest, whole=raw_values.dtype.kind == "i")
        raw_values[raw_rest] = others.raw_values
        raw_present[raw_rest] = True if others.raw_present is None else others.raw_present
    return numbers_of(raw_values, raw_present)


def _says_nothing(text: str) -> bool:
    return text.strip(_SPACES).lower() in _NOTHING


def _told_truth(text: str) -> int:
    truth = truth_of_text(text)
    return NEITHER if truth is None else truth


def _gathered(cells: Labels, read: Callable[[str], Any], dtype: type[np.generic]) -> Numbers:
    """What each distinct text is, at the rows that have it."""
    raw_read = [read(text) for text in cells.raw_labels]
    raw_found = np.array([value is not None for value in raw_read] + [False], dtype=np.bool_)
    raw_distinct = np.array([0 if value is None else value for value in raw_read] + [0], dtype=dtype)
    return numbers_of(raw_distinct[cells.raw_codes], raw_found[cells.raw_codes])  # -1, the missing code, is the last place


def _is_written(digits: str, whole: int) -> bool:
    """Whether a text that is a number is that whole one, to the last digit."""
    try:
        return Decimal(digits) == whole
    except ArithmeticError:  # an exponent beyond all decimals
        return False


def _long_whole(digits: str) -> int | None:
    """A whole number of thousands of digits has 64 bits only if nearly all of them are leading zeros."""
    sign, bare = (digits[0], digits[1:]) if digits[0] in "+-" else ("", digits)
    kept = bare.lstrip("0") or "0"
    return whole_of_number(int(sign + kept)) if len(kept) <= 20 else None
