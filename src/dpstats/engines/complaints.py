"""Complaints about tables, in our own words: no message of a library is passed on, because they quote data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TypeVar

from dpstats.foundations.addresses import without_passwords
from dpstats.foundations.errors import DataFileError, DpstatsError, MissingExtraError, UnknownNameError

_LISTED_COLUMNS = 30

Item = TypeVar("Item")


def shown(name: object) -> str:
    """A name from outside for a message: as it is, or escaped when a terminal could take offence at it; without passwords."""
    text = without_passwords(str(name))
    return text if text and text.isprintable() else ascii(text)


def check_column_name(name: str, columns: Sequence[str]) -> None:
    """Raise unless `name` is one of the columns; the error lists them."""
    if name in columns:
        return
    near = get_close_matches(name, columns, n=1)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    listed = ", ".join(shown(column) for column in columns[:_LISTED_COLUMNS])
    more = f" and {len(columns) - _LISTED_COLUMNS} more" if len(columns) > _LISTED_COLUMNS else ""
    raise UnknownNameError(f"there is no column {shown(name)}; the columns are {listed}{more}.{hint}")


@contextmanager
def one_error_for(subject: object, what_happened: str, error: type[DpstatsError] = DataFileError) -> Iterator[None]:
    """Lets our own errors pass and turns all others into one that says nothing about the data."""
    try:
        yield
    except (DpstatsError, KeyboardInterrupt):
        raise
    except BaseException:  # a panic of a reader is not an Exception
        raise error(f"{shown(subject)} {what_happened}.") from None


def one_error_along(
    items: Iterable[Item], subject: object, what_happened: str, error: type[DpstatsError] = DataFileError
) -> Iterator[Item]:
    """The same for a library that works while its items are fetched; what their consumer does is none of its business."""
    with one_error_for(subject, what_happened, error):
        rest = iter(items)
    while True:
        with one_error_for(subject, what_happened, error):
            try:
                item = next(rest)
            except StopIteration:
                return
        yield item


def require(need: str, extra: str, *packages: str) -> None:
    """Raise unless these packages are there, which come with an extra; `need` says what needs them: "tables in Spark need"."""
    if any(find_spec(package) is None for package in packages):
        *others, last = packages
        raise MissingExtraError.about(f"{need} {', '.join(others)}{' and ' if others else ''}{last}", extra)
