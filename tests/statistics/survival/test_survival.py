"""Survival curves: Kaplan and Meier's where there is much epsilon, honest intervals where there is less, exact privacy."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.statistics import survival_curves
from dpstats.statistics.survival.curve import SurvivalCurve, value_at
from dpstats.statistics.survival.life_table import NoisyLifeTable, falling, wilson_with_noise
from dpstats.statistics.survival.median import Steps, per_unit_of
from dpstats.statistics.survival_curves import COUNT_SHARE, CUTS_SHARE, GRAIN_SHARE, SURVIVAL_LOSS, quantiles_for, raw_between
from dpstats.statistics.universal.decimals import ordinal_of
from dpstats.testing import seeded
from tests.laws.hypotheses import counts_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.hypotheses import at_risk_law

EPSILON = Fraction(7, 10)
ORDINALS = [ordinal_of(2.0), ordinal_of(4.0)]


def patients(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    event, end = chance.weibull(1.3, rows) * 100, chance.uniform(0, 250, rows)
    return np.minimum(event, end), (event <= end).astype(int)


def truth(times: Any) -> Any:
    return np.exp(-((np.array(times) / 100) ** 1.3))


def test_with_much_epsilon_the_curve_is_kaplan_and_meiers() -> None:
    times, events = patients(800)
    curve = dp.survival_curve(times, events, epsilon=1000, rng=seeded(1)).value
    usual = scipy.stats.ecdf(scipy.stats.CensoredData(times[events == 1], right=times[events == 0])).sf
    assert curve.survival == pytest.approx(usual.evaluate(np.array(curve.times)), abs=0.01)
    assert curve.median == pytest.approx(float(np.interp(-0.5, -np.array(curve.survival), curve.times)))
    assert curve.rows == pytest.approx(800, abs=1)


@pytest.mark.parametrize(("rows", "epsilon"), [(300, 1.0), (2_000, 0.2)])
def test_intervals_cover_the_true_curve(rows: int, epsilon: float) -> None:
    held, medians = [], []
    middle = 100 * np.log(2) ** (1 / 1.3)
    for seed in range(40):
        reply = dp.survival_curve(*patients(rows, seed), epsilon=epsilon, rng=seeded(seed))
        if not reply:
            continue
        curve = reply.value
        held += ((np.array(curve.low) <= truth(curve.times)) & (truth(curve.times) <= np.array(curve.high))).tolist()
        medians.append((curve.median_low or 0) <= middle <= (curve.median_high or np.inf))
    assert np.mean(held) > 0.9
    assert np.mean(medians) > 0.85


def cells(rows: list[tuple[float, bool]], cuts: list[int] = ORDINALS) -> list[int]:
    everyone = as_column(np.array([time for time, _ in rows], dtype=np.float64))
    happened = as_column(np.array([time for time, event in rows if event], dtype=np.float64))
    raw_all, raw_events = raw_between(everyone, cuts), raw_between(happened, cuts)
    return [*raw_events, *(whole - part for whole, part in zip(raw_all, raw_events, strict=True))]


POSSIBLE = [(time, event) for time in (1.0, 2.0, 3.0, 9.0) for event in (False, True)]
ROWS = st.lists(st.sampled_from(POSSIBLE), max_size=8)


@given(ROWS, st.sampled_from(POSSIBLE))
def test_one_row_more_moves_one_count_by_one(rows: list[tuple[float, bool]], row: tuple[float, bool]) -> None:
    moved = np.array(cells([*rows, row])) - np.array(cells(rows))
    assert moved.min() == 0
    assert moved.sum() == 1


def test_the_law_of_a_life_table_keeps_to_epsilon_and_numbers_at_risk_do_not() -> None:
    losses, twins = [], []
    for rows, row in itertools.product([[], POSSIBLE[3:5]], POSSIBLE[:6]):
        pair = [cells(list(each), ORDINALS[:1]) for each in (rows, [*rows, row])]
        losses.append(largest_log_ratio(*(counts_law(each, 1 / EPSILON, 0, 1) for each in pair)))
        twins.append(largest_log_ratio(*(at_risk_law(each, EPSILON, 0, 2) for each in pair)))
    assert max(losses) == pytest.approx(float(EPSILON))
    assert max(twins) > 1.9 * EPSILON


def test_the_steps_spend_epsilon_together() -> None:
    spent: list[Fraction] = []

    def watched(name: str, place: int) -> Any:
        real = getattr(survival_curves, name)

        def paid(*given: Any) -> Any:
            spent.append(given[place])
            return real(*given)

        return patch.object(survival_curves, name, paid)

    with watched("noisy_count", 1), watched("noisy_counts", 1), watched("draw_quantiles", 2):
        dp.survival_curve(*patients(500), epsilon=1, rng=seeded(1))
        assert spent == [COUNT_SHARE, CUTS_SHARE, 1 - COUNT_SHARE - CUTS_SHARE]
        spent.clear()
        times, events = patients(500)
        dp.survival_curve(times / 100, events, epsilon=1, rng=seeded(1))  # times that may be whole, as far as one knows
    assert spent == [COUNT_SHARE, CUTS_SHARE, GRAIN_SHARE, 1 - COUNT_SHARE - CUTS_SHARE - GRAIN_SHARE]
    assert sum(share**2 for share in spent) / 2 <= SURVIVAL_LOSS
    assert [len(quantiles_for(events, Fraction(1))) for events in (-5, 100, 500, 10**6)] == [7, 7, 15, 31]


def test_whole_times_in_a_column_of_floats_are_counted_and_medians_are_at_one() -> None:
    chance, fractions = np.random.default_rng(3), 0
    for seed in range(12):
        days = np.ceil(chance.exponential(8, 1_500))
        median = dp.survival_curve(days, np.ones(1_500), event=1, epsilon=0.5, rng=seeded(seed)).value.median
        fractions += median != round(median)
        years = chance.exponential(8, 1_500)
        median = dp.survival_curve(years, np.ones(1_500), event=1, epsilon=0.5, rng=seeded(seed)).value.median
        assert median != round(median)
    assert fractions == 0  # half of them before


@pytest.mark.floors
def test_few_events_get_no_reply() -> None:
    refused = dp.survival_curve(*patients(30), epsilon=0.5, rng=seeded(1))
    assert isinstance(refused, dp.NoReply)
    assert "too few" in refused.reason


def test_events_are_marked_by_any_label_and_groups_have_curves(tmp_path: Path) -> None:
    times, events = patients(3_000)
    frame = pd.DataFrame({"time": times, "status": np.where(events, "dead", "alive"), "sex": np.tile(["f", "m"], 1_500)})
    session = dp.protect(frame, unit="row", budget=dp.Budget(epsilon=9), ledger=":memory:", keys={"sex": ["f", "m"]})
    found = session.survival_curve("time", "status", event="dead", epsilon=1)
    assert found.value.rows == pytest.approx(3_000, abs=60)
    assert session.ask(session.document("survival_curve", "time", "status", event="dead", epsilon=1)).value == found.value
    found.plot(tmp_path / "curve.svg")
    by_sex = session.group_by("sex").survival_curve("time", "status", event="dead", epsilon=1)
    assert set(by_sex) == {"f", "m"}
    assert SurvivalCurve.from_dict(found.value.to_dict()) == found.value
    assert len(found.value.to_pandas()) == len(found.value.times)
    assert "median" in found.summary()
    assert np.isnan(found.value(1e9))


def test_curves_are_straight_between_times() -> None:
    assert value_at([10.0, 20.0], [0.8, 0.4], 5.0) == pytest.approx(0.9)
    assert value_at([10.0, 20.0], [0.8, 0.4], 15.0) == pytest.approx(0.6)
    assert Steps.between([10.5, 20.5], (), None).first_at([0.8, 0.4], 0.6) == pytest.approx(15.5)
    assert Steps.between([10.0], (), None).first_at([0.8], 0.5) is None


def test_a_median_is_a_time_at_which_the_step_function_falls() -> None:
    shares = [0.8, 0.65, 0.4]
    assert Steps.between([1.0, 3.0, 4.0], (), 1).first_at(shares, 0.5) == 4.0
    assert Steps.between([1.1, 3.2, 4.0], (), 10).first_at(shares, 0.5) == pytest.approx(3.7)  # 3.68, in tenths
    assert Steps.between([1.13121, 3.21232, 4.01], (), None).first_at(shares, 0.5) == pytest.approx(3.69093, abs=1e-5)


def test_most_of_the_times_tell_their_grain() -> None:
    assert per_unit_of([1.0, 2.0, 3.23, 4.0, 5.0, 6.0]) == 1
    assert per_unit_of([1.5, 2.0, 3.2, 4.123, 7.1, 8.5]) == 10
    assert per_unit_of([1.54321, 2.0, 3.23, 4.12345]) is None
    assert per_unit_of([3.0]) is None


def test_a_median_is_at_a_time_on_which_several_quantiles_fell() -> None:
    tied = Steps.between([3.1234, 6.1234], (1, 3), None)
    assert tied.first_at([0.65, 0.35], 0.5) == 6.1234
    assert tied.first_at([0.65, 0.35], 0.6) == pytest.approx(4.6234)
    assert tied.earliest_at([0.65, 0.35], 0.5) == pytest.approx(4.6234)
    assert falling([0.9, 0.95, 0.5]) == pytest.approx([0.925, 0.925, 0.5])
    low, high = wilson_with_noise(0.8, 100.0, 0.0, 1.96**2)
    assert (low, high) == pytest.approx((0.711, 0.867), abs=0.001)
    empty = NoisyLifeTable((1.0,), (-3, 2), (1, -4), 0.5).curve(0.95)
    assert empty.times == ()
    assert empty.median is None
