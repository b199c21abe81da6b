"""Half-widths: of intervals where there are some, of errors where not, and as somebody wants them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.planning.plan_rows import BY_ERRORS, BY_INTERVAL
from dpstats.curator.planning.shapes import SHAPES
from dpstats.curator.planning.widths import WantedWidth, checked_width, covered_share, half_width
from dpstats.curator.planning.yardsticks import Scale, scale_of
from dpstats.foundations import registry
from dpstats.foundations.registry import Answer, Refusal, Statistic, ask
from dpstats.foundations.results import Interval, Release
from dpstats.foundations.summaries import WindowRequest

REFUSED = Refusal("The test failed.", "Ask with more epsilon.")


def release(*intervals: tuple[float, float], value: Any = 0.0) -> Release:
    made = tuple(Interval(low, high, 0.95, "everything") for low, high in intervals)
    return Release(
        "toy", value, dp.PrivacyCost(1), "plain", "none", False, made[0] if len(made) == 1 else None, (), made[1:] and made
    )


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    def add(run: Callable[..., Any]) -> None:
        statistic = Statistic("toy", "Only for tests.")
        registry.method(statistic, "plain", claim="none")(run)
        monkeypatch.setitem(registry._STATISTICS, "toy", statistic)

    return add


def toy_row(**keywords: Any) -> Any:
    wanted = {"epsilon": 1, "n": 100, "shape": "normal", "repeats": 40, "rng": dp.testing.seeded(3), **keywords}
    return dp.plan("toy", **wanted).rows[0]


def test_a_half_width_is_half_of_the_widest_interval() -> None:
    assert half_width(release((1, 3))) == 1
    assert half_width(release((1, 3), (0, 10))) == 5
    assert half_width(release()) is None
    assert half_width(release((-math.inf, 3))) == math.inf
    assert half_width(release((math.inf, math.inf))) == 0


def test_coverage_is_a_share_of_intervals_and_forgives_the_yardstick() -> None:
    assert covered_share(release((1, 3)), 3.0, 0) == 1
    assert covered_share(release((1, 3)), 3.1, 0) == 0
    assert covered_share(release((1, 3)), 3.1, 0.2) == 1
    assert covered_share(release((1, 3), (1, 3)), (2, 4), 0) == 0.5
    assert covered_share(release((1, 3)), (2, 4), 0) is None
    assert covered_share(release((1, 3)), "green", 0) is None
    assert covered_share(release(), 1.0, 0) is None


def test_the_half_width_is_the_median_of_replies_and_coverage_is_counted(toy: Callable[..., None]) -> None:
    calls: list[int] = []

    def run(column: Any, question: Any, rng: Any) -> Answer | Refusal:
        calls.append(1)
        if question.epsilon > 1:  # measures the shape
            return Answer(5.0)
        turn = sum(rng.octets(1)) % 4
        return REFUSED if turn == 0 else Answer(5.0, Interval(5.0 - turn, 5.5 + turn if turn < 3 else 4.0, 0.95, "all"))

    toy(run)
    row = toy_row(repeats=400)
    assert row.half_width_of == BY_INTERVAL
    assert row.half_width == 1.25  # of 1.25, 2.25 and 1, each as likely
    assert row.coverage == pytest.approx(2 / 3, abs=0.1)
    assert row.reply_probability == pytest.approx(3 / 4, abs=0.1)


def test_without_an_interval_95_percent_of_the_errors_take_its_place_and_the_plan_says_so(toy: Callable[..., None]) -> None:
    toy(lambda column, question, rng: Answer(float(sum(rng.octets(1))) if question.epsilon == 1 else 0.0))
    row = toy_row()
    assert row.half_width_of == BY_ERRORS
    assert row.half_width == row.error_95 > 0
    assert row.coverage is None
    assert "No interval is released here" in str(dp.plan("toy", epsilon=1, n=10, shape="normal", repeats=2))


def test_a_count_covers_the_planned_rows_about_as_often_as_it_says() -> None:
    row: Any = dp.plan("count", epsilon=0.1, n=1_000, shape="normal", repeats=400, rng=dp.testing.seeded(1)).rows[0]
    assert row.half_width_of == BY_INTERVAL
    assert 0.9 < row.coverage <= 1
    assert row.half_width == pytest.approx(30, abs=2)  # ln(20) / 0.1
    assert row.relative_half_width == pytest.approx(row.half_width / 1_000)
    assert row.sampling_half_width < 1


def test_without_a_reply_there_is_no_half_width(toy: Callable[..., None]) -> None:
    toy(lambda *_: REFUSED)
    row = toy_row()
    assert (row.half_width, row.coverage, row.relative_half_width) == (None, None, None)
    assert str(row) == "at epsilon 1, about 100 rows: no reply 100%"


def test_a_line_is_a_sentence() -> None:
    row = dp.plan("count", epsilon=0.5, n=10_000, shape="normal", repeats=20, rng=dp.testing.seeded(1)).rows[0]
    assert str(row) == "at epsilon 0.5, about 10,000 rows: half-width about 6, no reply 0%"


def test_a_plan_says_in_words_what_to_expect_over_all_shapes() -> None:
    plan = dp.plan("count", epsilon=0.5, n=[1_000, 10_000], repeats=5, rng=dp.testing.seeded(1))
    assert plan.in_words() == [
        "  at epsilon 0.5, about 1,000 rows: half-width about 0.6% of the value, no reply 0%",
        "  at epsilon 0.5, about 10,000 rows: half-width about 0.06% of the value, no reply 0%",
    ]


@pytest.mark.parametrize(
    ("question", "scale"),
    [
        (("median",), Scale.IQR),
        (("quantile", [0.1, 0.9]), Scale.IQR),
        (("iqr",), Scale.IQR),
        (("mode",), Scale.IQR),
        (("count",), Scale.VALUE),
        (("cdf",), Scale.PROBABILITY),
    ],
)
def test_percentages_are_of_the_iqr_where_a_value_is_in_the_unit_of_the_data(question: tuple[Any, ...], scale: Scale) -> None:
    delta = 1e-6 if question[0] == "mode" else 0
    assert scale_of(ask(*question, epsilon=1, delta=delta)) is scale


def test_a_squared_unit_and_no_unit_are_not_that_of_the_data(toy: Callable[..., None]) -> None:
    def middle(column: Any) -> float:
        (window,) = column.order_windows([WindowRequest(Fraction(1, 2), 0)])
        return float(window.raw_values[0])

    for run in (lambda column, *_: Answer(middle(column) ** 2), lambda *_: Answer(0.5)):
        toy(run)
        assert scale_of(ask("toy", epsilon=1)) is Scale.VALUE


def test_a_wanted_half_width_is_a_number_or_a_percentage() -> None:
    assert checked_width(0.5) == WantedWidth(0.5, False)
    assert checked_width("0.5") == WantedWidth(0.5, False)
    assert checked_width(" 5 %") == WantedWidth(0.05, True)
    assert WantedWidth(0.05, True).on(Scale.IQR, SHAPES["normal"], 3.0) == pytest.approx(0.05 * 1.34898)
    assert WantedWidth(0.05, True).on(Scale.VALUE, SHAPES["normal"], (10.0, -200.0)) == 10
    assert WantedWidth(0.05, True).on(Scale.PROBABILITY, SHAPES["normal"], None) == 0.05
    assert WantedWidth(0.5, False).on(Scale.IQR, SHAPES["constant"], 7.25) == 0.5
    with pytest.raises(dp.InvalidParameterError, match="the shape constant has no scale to take 5% of"):
        WantedWidth(0.05, True).on(Scale.IQR, SHAPES["constant"], 7.25)


@pytest.mark.parametrize("given", [0, -1, "0%", "-5%", "%", "five", True, None, [1], float("inf"), float("nan"), "1e-400"])
def test_a_half_width_that_cannot_be_is_refused_in_words(given: object) -> None:
    with pytest.raises(dp.InvalidParameterError, match="half_width must be"):
        checked_width(given)
