"""Which tests `make quick` leaves out: files over three seconds of a processor, and all that starts Spark or a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

SLOW_FILES = frozenset(
    [
        "accountants",
        "aggregators",
        "any_family",
        "any_limits",
        "anywhere",
        "ask_formulas",
        "bin_edges",
        "block_functions",
        "bounded_scores",
        "cascades",
        "cell_tests",
        "cells",
        "centred_means",
        "composition",
        "contributions",
        "correlations",
        "csv_lines",
        "cube_laplace",
        "demo",
        "distance_tests",
        "distances",
        "draw",
        "duckdb",
        "edges",
        "ends",
        "epsilon_100",
        "evaluation",
        "every_answer",
        "every_store",
        "exact_privacy",
        "every_option",
        "examples",
        "exponential",
        "faults",
        "histograms",
        "hypothesis_tests",
        "intervals",
        "labels",
        "levels",
        "limits",
        "line",
        "line_families",
        "links",
        "main",
        "many",
        "maximum_likelihood",
        "means",
        "more_families",
        "no_interval",
        "passes",
        "pictures",
        "pipeline",
        "plan",
        "postgres_states",
        "powers",
        "properties",
        "propose_test_release",
        "quantile_methods",
        "quantile_regression",
        "quantiles",
        "range_methods",
        "rank_sums",
        "reach_steps",
        "reading",
        "readme",
        "robust",
        "round_trips",
        "row_map_property",
        "score_bits",
        "score_steps",
        "selecting",
        "selections",
        "session",
        "short_cut",
        "sparse_vector",
        "spherical_laplace",
        "spreads",
        "steps",
        "stored_tables",
        "sums",
        "tails",
        "tested_statistic_laws",
        "thresholding",
        "together",
        "trimmed_means",
        "type_checkers",
        "ugly_columns",
        "unit_ids",
        "unit_privacy",
        "verification",
        "votes",
        "windows",
        "winsorized",
        "work",
    ]
)
"""Names of files, without test_ and .py."""


def is_slow_file(path: Path) -> bool:
    """Whether all tests of a file are slow."""
    return path.name.startswith("test_") and path.stem.removeprefix("test_") in SLOW_FILES


def starts_spark(nodeid: str) -> bool:
    """Whether a test may start Spark, which it says in its name or in that of a case."""
    return "spark" in nodeid


def drives_browser(path: Path) -> bool:
    """Whether the tests of a file drive a browser."""
    return path.parent.name == "browser"


def is_slow(item: pytest.Item) -> bool:
    """Whether a test gets the mark `slow`."""
    return starts_spark(item.nodeid) or is_slow_file(item.path) or drives_browser(item.path)
