"""Cells of the shapes on which intervals were found to miss: rare shares, top codes, heaps, sentinels, heavy pairs, persons with
several rows; on drawn populations, and on real tables that have them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.real_tables import questions as ask
from benchmarks.real_tables.drawn import (
    CODE_DIGITS,
    PANEL_CORRELATIONS,
    PANEL_ROWS,
    PARETO_INDICES,
    PREFIX,
    SENTINEL_SHARES,
    SHARES,
    STEPS,
    code_name,
    panel_name,
    share_name,
)
from benchmarks.real_tables.jobs import Job

THREE_STEPS = tuple(f"{PREFIX} brackets {share:g}" for share in STEPS)


def harder_jobs() -> list[Job]:
    """All of them."""
    return [*_shares(), *_ties(), *_tails(), *_pairs(), *_persons(), *_power()]


def _shares() -> Iterator[Job]:
    for share in SHARES:
        table = f"{PREFIX} {share_name(share)}"
        for question in (ask.of_column("mean", table, "x"), ask.proportion(table, "x")):
            yield Job(question, 3_000, (0.5, 1))
    yield Job(ask.of_column("mean", f"{PREFIX} {share_name(0.005)}", "x"), 10_000, (0.5,))
    yield Job(ask.proportion(f"{PREFIX} {share_name(0.005)}", "x"), 200, (1,))
    yield Job(ask.of_column("mean", "diamonds", "cut=Fair"), 3_000, (0.5, 1))
    yield Job(ask.proportion("DoctorAUS", "hospadmi>1"), 3_000, (1,))


def _ties() -> Iterator[Job]:
    for digits in CODE_DIGITS:
        yield Job(ask.quantile(0.9, f"{PREFIX} {code_name(digits)}", "x"), 3_000, (0.33, 1))
    yield Job(ask.quantile(0.1, f"{PREFIX} ties below", "x"), 3_000, (0.33, 1))
    for table in THREE_STEPS:
        yield Job(ask.quantile(0.9, table, "x"), 3_000, (1.7,))
        yield Job(ask.quantile(0.9, table, "x"), 10_000, (1,))
    for name in ("median", "iqr"):
        yield Job(ask.of_column(name, f"{PREFIX} rounded speeds", "x"), 3_000, (0.5, 1))
        yield Job(ask.of_column(name, f"{PREFIX} hours", "x"), 3_000, (1,))
    for name in ("median", "iqr", "trimmed_mean"):
        yield Job(ask.of_column(name, f"{PREFIX} cigarettes", "x"), 3_000, (1,))
    yield Job(ask.of_column("trimmed_mean", f"{PREFIX} rare counts", "x"), 3_000, (0.5, 1))
    yield Job(ask.quantile(0.9, "Chile", "income"), 2_500, (1,))
    yield Job(ask.of_column("median", "Vocab", "vocabulary"), 5_000, (0.5,))
    yield Job(ask.quantile(0.9, "Workinghours", "hours"), 3_382, (0.5, 1))
    yield Job(ask.of_column("iqr", "Earnings", "y"), 4_000, (0.5,))
    yield Job(ask.of_column("median", "amis", "speed"), 5_000, (0.5,))


def _tails() -> Iterator[Job]:
    for name in ("mean", "std"):
        for table in ("test scores", "weekly wages", "rare counts", "incomes with zeros", "lopsided", "clump at 999"):
            yield Job(ask.of_column(name, f"{PREFIX} {table}", "x"), 3_000, (1,))
            yield Job(ask.of_column(name, f"{PREFIX} {table}", "x"), 10_000, (0.33,))
        yield Job(ask.of_column(name, "VietNamI", "illdays"), 10_000, (0.5,))
        yield Job(ask.of_column(name, "Treatment", "re75"), 2_675, (1,))
        yield Job(ask.of_column(name, "flchain", "kappa"), 5_000, (1,))
        yield Job(ask.of_column(name, "bmw", "x"), 6_000, (1,))
        yield Job(ask.of_column(name, "SLID", "wages"), 4_000, (0.5,))
    for share in SENTINEL_SHARES:
        yield Job(ask.of_column("mean", f"{PREFIX} sentinels {100 * share:g}%", "x"), 3_000, (1.7,))


def _pairs() -> Iterator[Job]:
    for index in PARETO_INDICES:
        table = f"{PREFIX} pareto {index:g}"
        yield Job(ask.correlation("pearson", table, "x", "y"), 3_000, (1.7,))
        yield Job(ask.correlation("pearson", table, "x", "y"), 10_000, (4,))
    for name in ("places", "outliers in one", "normal pair"):
        yield Job(ask.correlation("pearson", f"{PREFIX} {name}", "x", "y"), 3_000, (1.7,))
        yield Job(ask.correlation("pearson", f"{PREFIX} {name}", "x", "y"), 10_000, (4,))
    yield Job(ask.covariance(f"{PREFIX} normal pair", "x", "y"), 3_000, (1,))
    yield Job(ask.covariance(f"{PREFIX} pareto 3", "x", "y"), 10_000, (1,))
    yield Job(ask.correlation("pearson", "movies", "votes", "length"), 10_000, (4,))
    yield Job(ask.correlation("pearson", "flchain", "kappa", "lambda"), 5_000, (2,))


def _persons() -> Iterator[Job]:
    for rows in PANEL_ROWS:
        for correlation in PANEL_CORRELATIONS:
            table = panel_name(rows, correlation)
            for statistic in ("mean", "median"):
                yield Job(ask.of_persons(statistic, table, "x", "person", rows), 3_000, (2,))
    table = panel_name(8, 0.5)
    yield Job(ask.of_persons("quantile", table, "x", "person", 8, 0.9), 6_000, (2,))
    yield Job(ask.of_persons("proportion", table, "is_high", "person", 8), 3_000, (2,))
    yield Job(ask.of_persons("mean", "Males", "wage", "nr", 8), 2_000, (2,))
    yield Job(ask.of_persons("median", "Males", "wage", "nr", 8), 2_000, (2,))
    yield Job(ask.of_persons("mean", "rwm5yr", "hhninc", "id", 5), 5_000, (1,))
    yield Job(ask.of_persons("mean", "rwm5yr", "docvis", "id", 5), 5_000, (2,))


def _power() -> Iterator[Job]:
    for column in ("normal", "gamma"):
        question = ask.two_sample_t_test(f"{PREFIX} two groups", column, "group", ("1", "0"))
        yield Job(question, 1_000, (1,))
        yield Job(question, 2_000, (0.5,))
        yield Job(ask.anova(f"{PREFIX} four groups", column, "group", ("0", "1", "2", "3")), 1_400, (1,))
    yield Job(ask.t_test(f"{PREFIX} test scores", "x", 491.1), 1_000, (1,))
    yield Job(ask.anova("Star", "tmathssk", "classk", ("regular", "regular.with.aide", "small.class")), 2_000, (1,))
