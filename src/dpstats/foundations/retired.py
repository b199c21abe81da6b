"""Retired methods: names that are not computed any more, each with the method that took its place.

A method retires where no founding paper prints it and another method of its statistic serves better: it errs less, or as little
and always replies. Asking for a retired method is an error that names its successor, before anything is spent. Answers that a
ledger has archived are read by their statistic as before, because the values of its methods all have one form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Retired(NamedTuple):
    """A method that is not computed any more."""

    version: int
    """The last one, which debits in ledgers name."""
    successor: str
    """The method of the same statistic to ask for instead."""


RETIRED: Mapping[tuple[str, str], Retired] = {
    ("interquantile_range", "bin-centre"): Retired(1, "universal"),
    ("interquantile_range", "one-test"): Retired(1, "universal"),
    ("iqr", "bin-centre"): Retired(1, "universal"),
    ("iqr", "one-test"): Retired(1, "universal"),
    ("linear_regression", "robust_centre"): Retired(1, "huber"),
    ("linear_regression", "theil_sen"): Retired(3, "short_cut"),
    ("median", "bin-centre"): Retired(1, "universal"),
    ("median", "ladder"): Retired(1, "universal"),
    ("mle", "sufficient_statistics"): Retired(3, "scores"),
    ("quantile", "bin-centre"): Retired(1, "universal"),
    ("quantile", "ladder"): Retired(1, "universal"),
}
"""By statistic and name."""
