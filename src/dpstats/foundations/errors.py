"""The error tree: every complaint that dpstats raises, each about public things only.

A message may name a parameter, a column, a file or a type that the caller already knows. It never carries a value, a count
or a position from the data; what goes wrong *because of the data* is a `NoReply`, which is an answer and not an error.
"""

from __future__ import annotations


class DpstatsError(Exception):
    """Anything that dpstats raises on purpose."""


class InvalidParameterError(DpstatsError, ValueError):
    """A parameter has a value outside what it may be."""


class MissingParameterError(DpstatsError, TypeError):
    """A parameter that has no default was not given."""


class UnknownNameError(DpstatsError, LookupError):
    """A statistic, method, column or keyword that does not exist."""


class DataTypeError(DpstatsError, TypeError):
    """The declared type or shape of the data does not fit the question."""


class DataFileError(DpstatsError, OSError):
    """A file is missing, unreadable or of an unknown kind."""


class MissingExtraError(DpstatsError, ImportError):
    """An optional dependency is needed and not installed."""

    @classmethod
    def about(cls, need: str, extra: str) -> MissingExtraError:
        """The error where something needs an extra; `need` says so: "pictures need matplotlib"."""
        return cls(f"{need}: pip install 'dpstats[{extra}]', or in a clone of dpstats pip install -e '.[{extra}]'.")


class SpentError(DpstatsError, RuntimeError):
    """A further question to an `AboveThreshold` that has already said "above"."""


class BudgetError(DpstatsError, RuntimeError):
    """A question does not fit what is left of a budget; nothing was spent."""


class AccessError(DpstatsError, PermissionError):
    """Somebody asks about a data set on which nothing is granted to them."""


class LedgerError(DpstatsError, RuntimeError):
    """A ledger cannot be opened, read or written, or it says something other than its session does."""


class ServiceError(DpstatsError, ConnectionError):
    """A service cannot be reached, or does not reply in its own words."""


class NoReplyError(DpstatsError, ArithmeticError):
    """A number was asked of a `NoReply`, which has none."""
