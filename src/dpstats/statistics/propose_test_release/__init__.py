"""Propose-test-release: statistics that are released only after a private test has shown that few rows cannot move them far.

`ranks` and `distances` are what is tested, `log_grid` and `proposals` what is proposed, `setting` what is spent; `scales` and
`locations` put them together, and `answers` says how such methods reply and refuse. Importing the package registers the
statistics and methods of the modules that it imports below.
"""

from __future__ import annotations

from dpstats.statistics.propose_test_release import modes, quantile_methods, range_methods, trimmed_means

__all__ = ["modes", "quantile_methods", "range_methods", "trimmed_means"]
