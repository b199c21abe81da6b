"""Guards around a caller's functions: what they raise or warn of must not speak of rows, nor hide what was spent."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from dpstats.foundations.errors import DpstatsError


class ReleasedValueError(Exception):
    """A function of released values failed; what this says is about those alone."""


def quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of rows returns, without the warnings that it gives: they tell of rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def value_or(default: object, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of rows returns, and the default where it fails in whatever way."""
    try:
        return quietly(function, *arguments)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a row or a block must not be able to stop the others
        return default


def on_released(function: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """A function of released values whose errors can be told from others."""

    def guarded(released: Any) -> Any:
        try:
            return function(released)
        except Exception as error:
            words = f": {error}" if isinstance(error, DpstatsError) else "."
            raise ReleasedValueError(f"{what} raised {type(error).__name__} on a released value{words}") from error

    return guarded


def takes(function: object, arguments: int) -> bool:
    """Whether a function can be called with this number of arguments, as far as Python can tell."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:  # some built-in functions do not say
        return True
    return True
