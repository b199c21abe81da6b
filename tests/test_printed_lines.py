"""What every statistic prints of replies and refusals: intervals are named, counts agree with their nouns, and advice helps."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.foundations import registry
from dpstats.foundations.registry import MOST_ADVISED_EPSILON, Refusal, advice_of
from dpstats.foundations.text_tables import counted
from dpstats.statistics.testing.results import TestResult, p_text
from tests.seeded_releases import ASKED, LABELS, POSITIVE, X, Y, cases

pytestmark = pytest.mark.floors
FEW = 40
"""Rows of a table that most questions refuse."""
_NOUNS = "rows columns groups features tables blocks bins cells sets rules points steps times cycles leaves boxes edges nodes"
_MORE_NOUNS = "components clusters intervals coefficients parameters directions labels counts values weights databases samples"
_ONE_OF_SEVERAL = re.compile(rf"(?<![\d.,])(?<!, )1 (\w+ )?({'|'.join((*_NOUNS.split(), *_MORE_NOUNS.split()))})\b")
_AT_MOST_ONE_OF_ITSELF = re.compile(r"\b1 (\w+) per \1\b")
_EPSILON = re.compile(r"epsilon (\d+(?:\.\d+)?)")


def _short(value: Any) -> Any:
    """The first rows of a column or a table."""
    if isinstance(value, dict):
        return {name: _short(column) for name, column in value.items()}
    return value[:FEW] if isinstance(value, np.ndarray) else value


def _refused() -> Iterator[tuple[str, Any]]:
    """Every statistic by every method on a few rows."""
    for statistic in map(registry.find_statistic, registry.statistic_names()):
        if statistic.name in ("mle", "sample_and_aggregate"):
            continue
        columns, parameters = ASKED.get(statistic.name, [((POSITIVE,), {})])[0]
        for method in statistic.methods.values():
            given = (LABELS,) if (statistic.name, method.name) == ("histogram", "thresholded") else columns
            settings = {"method": method.name, "epsilon": 0.5, **({"delta": 1e-6} if method.needs_delta else {})}
            try:
                ask = getattr(dp, statistic.name)
                yield (
                    f"{statistic.name}/{method.name}",
                    ask(*map(_short, given), rng=dp.testing.seeded(7), **parameters, **settings),
                )
            except dp.InvalidParameterError:
                continue


@functools.cache
def replies() -> dict[str, Any]:
    """A reply or a refusal of every statistic by every method; of maximum likelihood for two families."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rough = dp.quantile_regression(X, Y, epsilon=2, rough=True, rng=dp.testing.seeded(7))
        kept = {name: ask() for name, ask in cases() if not name.startswith("mle/") or name.endswith(("/normal", "/linear"))}
        found = {name: each for name, each in kept.items() if isinstance(each, (dp.Release, dp.NoReply))}
        return {"quantile_regression/steps": rough} | found | {f"{name} of {FEW} rows": each for name, each in _refused()}


def printed(reply: Any) -> list[str]:
    """All lines that people read of a reply."""
    lines = [str(reply), *str(reply.card()).splitlines()]
    if isinstance(reply, dp.Release) and hasattr(reply.value, "summary"):
        lines += reply.summary().splitlines()
    return lines


def releases() -> dict[str, Any]:
    return {name: each for name, each in replies().items() if isinstance(each, dp.Release)}


def refusals() -> dict[str, Any]:
    return {name: each for name, each in replies().items() if isinstance(each, dp.NoReply)}


def test_every_statistic_is_looked_at() -> None:
    assert {name.partition("/")[0] for name in releases()} >= set(registry.statistic_names())
    assert len(refusals()) > 40


def test_an_interval_says_what_it_is_of_where_that_is_not_the_number_before_it() -> None:
    for name, release in releases().items():
        is_number = isinstance(release.value, (int, float))
        assert release.interval is None or is_number or release.interval.of, name
        if release.interval is not None and release.interval.of:
            assert f"interval of {release.interval.of}: {release.interval}" in str(release), name
            assert f"of {release.interval.of}: {release.interval}; covers" in str(release.card()), name
            assert release.to_dict()["interval"]["of"] == release.interval.of
        fitted = hasattr(release.value, "params") or isinstance(release.value, tuple)
        assert fitted or all(each.of for each in release.intervals), name


def test_every_test_names_its_estimate_before_the_interval() -> None:
    tests = {name: each for name, each in releases().items() if isinstance(each.value, TestResult)}
    assert len({name.partition("/")[0] for name in tests}) == 11
    for name, release in tests.items():
        assert release.interval.of == release.value.estimates, name


def test_a_p_value_that_no_simulation_reached_is_an_upper_bound() -> None:
    bounds = {name for name, each in releases().items() if getattr(each.value, "p_is_upper_bound", False)}
    assert {"anova/clipped/0", "goodness_of_fit_test/laplace/0"} <= bounds
    for name, release in releases().items():
        value = release.value
        if isinstance(value, TestResult):
            assert "p = 0.0001," not in str(release), name
            assert value.to_dict()["p_is_upper_bound"] is value.p_is_upper_bound
    anova = releases()["anova/clipped/0"]
    assert "p <= 0.0001" in str(anova)
    assert "p is at most 0.0001" in str(anova.card())
    assert p_text(0.0001) == "p = 0.0001"
    assert p_text(1e-15, is_upper_bound=True) == "p < 0.0001"
    for name, release in releases().items():
        if hasattr(release.value, "pvalues"):
            assert " 0.000 " not in release.summary(), name


def test_counts_agree_with_their_nouns() -> None:
    assert _ONE_OF_SEVERAL.search("1 more groups got no reply")
    assert _ONE_OF_SEVERAL.search("about 1 rows")
    assert not _ONE_OF_SEVERAL.search("0.1 of rows; 1,001 rows, 11 rows; 1 row is")
    for name, reply in replies().items():
        for line in printed(reply):
            assert not _ONE_OF_SEVERAL.search(line), (name, line)
            assert not _AT_MOST_ONE_OF_ITSELF.search(line), (name, line)


def test_one_more_group_without_a_reply_is_one_group() -> None:
    cost = dp.PrivacyCost(1)
    silent = {key: dp.NoReply("mean", cost, "clipped", "Few rows.", "Ask for more.", True) for key in "abc"}
    grouped = dp.GroupedRelease("mean by region", ("region",), silent, cost)
    assert "1 more group got no reply" in str(grouped)
    assert "1 group," in repr(dp.GroupedRelease("mean by region", ("region",), {"a": silent["a"]}, cost))


def test_a_ledger_of_rows_does_not_bound_rows_per_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dp.protect({"x": [1.0]}, unit="row", budget=dp.Budget(epsilon=1), ledger=tmp_path / "a.ledger", name="rows")
    dp.protect(
        {"x": [1.0], "id": ["a"]},
        unit="id",
        max_rows_per_unit=1,
        budget=dp.Budget(epsilon=1),
        ledger=tmp_path / "b.ledger",
        name="ids",
    )
    for name in ("a.ledger", "b.ledger"):
        assert main(["ledger", "show", str(tmp_path / name)]) == 0
    by_row, by_id = capsys.readouterr().out.split("head ")[:2]
    assert " of each " not in by_row
    assert "at most 1 row of each id" in by_id


def test_no_refusal_advises_an_epsilon_that_protects_nobody() -> None:
    named = [float(each) for reply in refusals().values() for each in _EPSILON.findall(reply.advice)]
    assert named
    assert max(named) <= MOST_ADVISED_EPSILON
    assert any("no epsilon up to 10 is enough" in reply.advice for reply in refusals().values())
    cost = dp.PrivacyCost(1)
    assert advice_of(Refusal("Few.", "It takes 9 rows{epsilon}.", 2.0), cost) == "It takes 9 rows, or epsilon 2 with these."
    assert advice_of(Refusal("Few.", "It takes 9 rows{epsilon}."), cost) == "It takes 9 rows."


def test_a_delta_is_advised_only_where_none_was_given() -> None:
    for name, reply in replies().items():
        told = " ".join(printed(reply)) if reply.cost.delta else ""
        assert not re.search(r"(with|does|or) a delta\b|[Aa] delta, or|a delta help|such as delta=", told), name


def test_texts_are_spoken_of_only_where_there_are_some() -> None:
    for name, reply in refusals().items():
        assert name.startswith(("histogram", "mode")) or "text" not in reply.advice, name


def test_the_parts_of_every_error_add_up() -> None:
    fits = {name: each.value for name, each in releases().items() if hasattr(each.value, "error_parts")}
    assert {name.partition("/")[0] for name in fits} == {
        "linear_regression", "logistic_regression", "mle", "poisson_regression", "quantile_regression"
    }  # fmt: skip
    clipped = 0
    for name, fit in fits.items():
        for parts in filter(None, fit.error_parts()):
            assert sum(part for part in parts if part is not None) == pytest.approx(1), name
            assert sum(parts.percents) == 100, name
            clipped += bool(parts.clipping)
        if any(fit.error_parts()):
            assert "sampling" in str(releases()[name].card().to_dict()["error"]), name
    assert clipped > 10


def test_one_of_something_has_no_plural() -> None:
    assert [counted(number, "row") for number in (0, 1, 2, 1e3)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
