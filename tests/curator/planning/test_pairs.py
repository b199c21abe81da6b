"""Planned tables of two columns: the shape on both margins, the copula between them, and the contract of a table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dp
from dpstats.curator.planning.pairs import PairTable, drawn_places, even_places
from dpstats.curator.planning.samples import even_sample, labels_of
from dpstats.curator.planning.shapes import SHAPES
from dpstats.foundations import registry
from dpstats.foundations.registry import Answer, Parameter, Reads, Statistic, ask
from dpstats.foundations.summaries import Clip

NUMBERS, LABELS = Reads.NUMBERS, Reads.LABELS


def table(*reads: Reads, rows: int = 2_000, shape: str = "normal", labels: tuple[Any, ...] = ("a", "b")) -> PairTable:
    return PairTable(SHAPES[shape], drawn_places(rows, np.random.default_rng(5)), reads, labels)


def test_both_margins_have_the_shape_and_ranks_go_together_as_in_the_copula() -> None:
    x, y = table(NUMBERS, NUMBERS, rows=20_000, shape="lognormal").pairs()
    for column in (x, y):
        assert stats.kstest(np.log(column), stats.norm(10, 0.75).cdf).pvalue > 1e-4
    assert stats.pearsonr(np.log(x), np.log(y))[0] == pytest.approx(0.5, abs=0.03)


def test_the_regular_table_has_the_moments_of_the_copula() -> None:
    x, y = PairTable(SHAPES["normal"], even_places(99_999), (NUMBERS, NUMBERS), ()).pairs()
    assert [x.mean(), y.mean(), x.std(), y.std()] == pytest.approx([np.pi, np.pi, 1, 1], abs=1e-3)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(0.5, abs=1e-3)


def test_labels_are_equally_likely_and_go_with_the_numbers() -> None:
    pairs = table(NUMBERS, LABELS)
    assert dict(pairs.column(1).most_common(5)) == pytest.approx({"a": 1_000, "b": 1_000}, abs=120)
    low, high = pairs.columns_by_label(0, 1, ["a", "b"])
    assert low.count() + high.count() == 2_000
    means = [column.tally().raw_values.mean() for column in (low, pairs.column(0), high)]
    assert means[0] < means[1] < means[2]
    assert [column.count() for column in pairs.columns_by_label(0, 1, ["no such label"])] == [0]


def test_label_pairs_count_every_row_once() -> None:
    counts = table(LABELS, LABELS, labels=("x", "y", "z")).label_pairs()
    assert sum(counts.values()) == 2_000
    assert counts.keys() == {(one, other) for one in "xyz" for other in "xyz"}
    assert counts["x", "x"] > counts["x", "z"]


def test_product_sums_are_those_of_the_rows() -> None:
    pairs = table(NUMBERS, NUMBERS, rows=50)
    clips = Clip(0, 4_000, Fraction(1, 1024)), Clip(1_000, 3_000, Fraction(1, 1024))
    places = [(clips[0].place(x), clips[1].place(y)) for x, y in zip(*(column.tolist() for column in pairs.pairs()), strict=True)]
    expected = tuple(tuple(sum(x**i * y**j for x, y in places) for j in range(3)) for i in range(3))
    assert pairs.product_sums(clips, 2) == expected
    assert pairs.column(1).power_sums(clips[1], 2) == expected[0]


def test_too_many_rows_are_refused_in_words() -> None:
    with pytest.raises(dp.InvalidParameterError, match="n up to 2,000,000"):
        drawn_places(10**8, np.random.default_rng(1))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Any:
    def add(reads: tuple[Reads, ...], run: Any, *parameters: Parameter) -> None:
        statistic = Statistic("toy", "Only for tests.", parameters, reads=reads)
        registry.method(statistic, "plain", claim="none")(run)
        monkeypatch.setitem(registry._STATISTICS, "toy", statistic)

    return add


def test_a_statistic_of_two_columns_is_planned(toy: Any) -> None:
    toy((NUMBERS, NUMBERS), lambda pairs, *_: Answer(float(np.corrcoef(*pairs.pairs())[0, 1])))
    row: Any = dp.plan("toy", epsilon=1, n=400, shape="normal", repeats=50, rng=dp.testing.seeded(1)).rows[0]
    assert row.shape_value == pytest.approx(0.5, abs=1e-3)
    assert row.error_median == pytest.approx(0.6745 * 0.75 / 20, rel=0.5)
    assert row.relative_error_95 is None
    with pytest.raises(dp.InvalidParameterError, match="n up to 2,000,000"):
        dp.plan("toy", epsilon=1, n=10**8, shape="normal", repeats=1)


def test_a_statistic_of_numbers_and_labels_gets_the_labels_that_it_names(toy: Any) -> None:
    def gap(pairs: Any, question: Any, rng: Any) -> Answer:
        low, high = pairs.columns_by_label(0, 1, question.arguments["labels"])
        return Answer(float(high.tally().raw_values.mean() - low.tally().raw_values.mean()))

    toy((NUMBERS, LABELS), gap, Parameter("labels", "two labels", lambda given: given, ("old", "new")))
    assert labels_of(ask("toy", epsilon=1)) == ("old", "new")
    assert isinstance(even_sample(ask("toy", epsilon=1), SHAPES["normal"], 9), PairTable)
    row: Any = dp.plan("toy", epsilon=1, n=400, shape="normal", repeats=10, rng=dp.testing.seeded(1)).rows[0]
    assert row.shape_value == pytest.approx(0.5 * 2 * np.sqrt(2 / np.pi), abs=1e-2)
    assert row.reply_probability == 1
