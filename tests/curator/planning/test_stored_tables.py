"""Plans from stored tables: they are those of this code, agree with simulations, and say where their figures come from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.planning import simulations
from dpstats.curator.planning.plan_rows import Found, Source
from dpstats.curator.planning.searches import CANDIDATES
from dpstats.curator.planning.shapes import DEFAULT_SHAPES, SHAPES, Shape
from dpstats.curator.planning.stored_tables import MOST_ROWS, StoredLine, StoredShape, stored_tables, tables_for
from dpstats.curator.planning.yardsticks import Yardstick, measured, scale_of
from dpstats.foundations.registry import ask
from tests.plan_tables import PATH, QUESTIONS, fingerprint, fresh_cells, question_at, read, text_of


@pytest.fixture
def no_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws a table fails."""

    def fail(*_: Any) -> Any:
        raise AssertionError("a table was simulated")

    monkeypatch.setattr(simulations, "drawn_sample", fail)


@pytest.mark.parametrize("asked", QUESTIONS, ids=text_of)
def test_the_tables_are_those_of_this_code(asked: tuple[Any, ...]) -> None:
    """Where this fails: `python -m tests.plan_tables --renew` keeps tables that still hold, `make plan-tables` makes new ones."""
    assert read()[text_of(asked)]["fingerprint"] == fingerprint(asked)


def test_fresh_cells_agree_with_the_tables() -> None:
    assert [cell for cell in fresh_cells(stored_tables()) if not cell.agrees] == []


WRONG = [("half_width", 0.5), ("half_width", 2), ("error_median", 0.1), ("error_median", 5)]


@pytest.mark.parametrize(("figure", "factor"), WRONG)
def test_fresh_cells_refute_tables_that_are_off(figure: str, factor: float) -> None:
    cells = [cell for cell in fresh_cells(stored_tables(), factor) if cell.text.endswith(figure)]
    assert sum(not cell.agrees for cell in cells) > len(cells) / 2


def test_another_release_has_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(("median",))
    run = ask("median", epsilon=1).method.run
    method = ask("median", epsilon=1).method
    noisier = replace(method, run=lambda column, question, rng: run(column, replace_epsilon(question), rng))
    monkeypatch.setitem(ask("median", epsilon=1).statistic.methods, "universal", noisier)
    assert fingerprint(("median",)) != before


def replace_epsilon(question: Any) -> Any:
    return replace(question, cost=replace(question.cost, epsilon=question.cost.epsilon * Fraction(95, 100)))


@pytest.mark.parametrize("asked", QUESTIONS, ids=text_of)
@pytest.mark.parametrize("shape", DEFAULT_SHAPES)
def test_the_tables_know_method_scale_and_value(asked: tuple[Any, ...], shape: str) -> None:
    question = question_at(asked, 1)
    stored = tables_for(question)
    assert stored.scale is scale_of(question)
    known, now = stored.shapes[shape].yardstick, measured(question, SHAPES[shape])
    assert known.value_at(5_000) == pytest.approx(now.value_at(5_000), rel=1e-5)  # both drawn, with next to no noise
    assert known.grows is now.grows


def test_the_tables_are_small_and_hold_no_more_than_the_questions() -> None:
    assert set(stored_tables()) == {text_of(asked) for asked in QUESTIONS}
    assert PATH.stat().st_size < 300_000


@pytest.mark.usefixtures("no_simulation")
@pytest.mark.parametrize("asked", QUESTIONS, ids=text_of)
def test_usual_questions_with_defaults_are_read_off_the_tables(asked: tuple[Any, ...]) -> None:
    shapes = [shape for shape in DEFAULT_SHAPES if (asked[0], shape) != ("variance", "delays")]  # which has steep cells
    rare = asked in (("quantile", 0.95), ("quantile", 0.05))
    fewest = 10_000 if asked in (("std",), ("variance",)) else 5_000 if rare else 1_000  # below, some cells are steep
    plan = dp.plan(*asked, n=[fewest, 10_000, 100_000, MOST_ROWS], epsilon=1, shape=shapes)
    assert {row.source for row in plan.rows} == {Source.STORED}
    for row in plan.rows:
        assert row.reply_probability > 0.99
        assert row.half_width_of == "interval"
        assert row.repeats >= 12
        assert 0 <= row.error_median <= row.error_95 < math.inf
    assert "from stored tables of simulations" in str(plan)
    assert plan.to_dict()["rows"][0]["source"] == "stored tables"
    assert set(plan.to_dict()["stored_tables_within"]) == {"half_width", "error_median", "error_95"}


@pytest.mark.usefixtures("no_simulation")
def test_a_session_plans_its_defaults_from_the_tables_at_the_price_of_a_row(tmp_path: Path) -> None:
    table = {"who": list(range(40)), "income": [float(each) for each in range(40)]}
    people = dp.protect(
        table, unit="who", max_rows_per_unit=4, budget=dp.Budget(epsilon=1), ledger=tmp_path / "ledger.sqlite", name="people"
    )
    plan = people.plan("median", "income", epsilon=1)
    assert {row.source for row in plan.rows} == {Source.STORED}
    assert {row.cost.epsilon for row in plan.rows} == {1}
    plain = dp.plan("median", epsilon="0.225", n=[1_000, 10_000, 100_000])  # a tenth is spent on a step by unit
    assert [row.half_width for row in plan.rows] == [row.half_width for row in plain.rows]
    wanted = people.plan("median", "income", half_width="10%", n=10_000, shape="normal")
    (alone,) = dp.plan("median", half_width="10%", n=10_000, shape="normal").rows
    assert wanted.rows[0].cost.epsilon == pytest.approx(4 / 0.9 * float(alone.cost.epsilon), rel=0.1)


@pytest.mark.parametrize("keywords", [{"repeats": 3}, {"rng": dp.testing.seeded(1)}])
def test_whoever_names_repeats_or_a_seed_gets_a_simulation(keywords: dict[str, Any]) -> None:
    plan = dp.plan("count", n=1_000, epsilon=1, **keywords)
    assert {row.source for row in plan.rows} == {Source.SIMULATED}
    assert f"{plan.rows[0].repeats} simulated tables for each line" in str(plan)


@pytest.mark.parametrize(
    "keywords",
    [
        {"interval": 0.9},
        {"interval": None},
        {"neighbors": "change_one"},
        {"method": "ptr", "delta": 1e-6},
        {"delta": 1e-6, "method": "stable"},
    ],
)
def test_other_laws_have_no_tables(keywords: dict[str, Any]) -> None:
    assert tables_for(ask("median", **{"epsilon": 1, **keywords})) is None
    assert tables_for(ask("median", epsilon=1, delta=1e-6)) is not None  # a delta that is not needed is not spent


def test_a_quantile_at_one_half_is_a_median() -> None:
    assert tables_for(ask("quantile", 0.5, epsilon=1)) is tables_for(ask("median", epsilon=1))
    assert tables_for(ask("quantile", 0.51, epsilon=1)) is None


@pytest.mark.parametrize(("rows", "epsilon"), [(0, 1), (99, 1), (MOST_ROWS + 1, 1), (1_000, 100), (1_000, 0.001), (100, 0.3)])
def test_what_is_far_from_all_cells_is_not_in_the_tables(rows: int, epsilon: float) -> None:
    shape = stored_tables()["median"].shapes["normal"]
    assert shape.at(rows, epsilon) is None
    assert shape.at(1_000, 1) is not None


def test_a_cell_itself_is_known_however_steep_its_surroundings() -> None:
    shape = stored_tables()["median"].shapes["normal"]
    line = read()["median"]["shapes"]["normal"]["lines"]["1000"]
    assert shape.at(1_000, line["epsilons"][0]).half_width == pytest.approx(line["half_width"][0])
    assert shape.at(1_001, line["epsilons"][0]) is None


def test_between_cells_that_differ_steeply_small_tables_are_simulated_and_searches_read_on() -> None:
    def line(rows: int, widths: list[float]) -> StoredLine:
        columns = dict.fromkeys(("half_width", "coverage", "error_median", "error_95", "reply_probability"), widths)
        return StoredLine(rows, 40, (0.3, 0.3), [0.0, 1.0, 2.0], columns)

    steep, even, unknown = [30.3, 1.7, 1.1], [2.3, 1.7, 1.1], [math.inf, 1.7, 1.1]
    for rows, widths, is_known in (
        (1_000, even, True),
        (1_000, steep, False),
        (1_000, unknown, False),
        (100_000, steep, True),
        (100_000, unknown, False),
    ):
        shape = StoredShape(Yardstick(9.0, False, 0), (line(rows, widths), line(10 * rows, widths)))
        assert (shape.at(rows, 2) is not None) is is_known
        assert shape.at(rows, 2, roughly=True) is not None
        assert shape.at(rows, math.e) is not None  # a cell itself
        assert shape.at(rows, 5) is not None
    apart = StoredShape(Yardstick(9.0, False, 0), (line(1_000, unknown), line(10_000, [math.inf, math.inf, 1.1])))
    assert apart.at(3_000, 2) is None
    assert 1.1 < apart.at(3_000, 2, roughly=True).half_width < 1.7  # where epsilon * n is the same, among 1,000 rows
    assert apart.at(3_000, 0.5, roughly=True).half_width == math.inf


def test_lines_that_are_not_in_the_tables_are_simulated_and_marked() -> None:
    plan = dp.plan("count", n=[50, 1_000], epsilon=1, shape=["normal", "uniform"])
    assert [row.source for row in plan.rows] == [Source.SIMULATED, Source.SIMULATED, Source.STORED, Source.SIMULATED]
    text = str(plan)
    assert text.count("normal *") == 1
    assert text.count("uniform *") == 2
    assert "lines with * are new, from 60 simulated tables each" in text
    joint = str(dp.plan(["count", ("count", {"interval": None})], n=1_000, epsilon=1, shape="normal"))
    assert joint.count("normal *") == 1
    assert "*" not in str(dp.plan("count", n=1_000, epsilon=1))


def test_a_shape_of_ones_own_is_simulated_whatever_its_name() -> None:
    def normal(q: Any) -> Any:
        return 20 + 10 * q

    own = dp.plan("count", n=1_000, epsilon=1, shape=[normal, Shape("delays", "mine", normal)])
    assert {row.source for row in own.rows} == {Source.SIMULATED}


@pytest.mark.usefixtures("no_simulation")
@pytest.mark.parametrize("asked", [("median",), ("mean",), ("quantile", 0.75), ("sum",)], ids=text_of)
@pytest.mark.parametrize(("rows", "share"), [(10_000, 0.15), (100_000, 0.1)])
def test_a_wanted_half_width_takes_the_smallest_epsilon_that_the_tables_allow(
    asked: tuple[Any, ...], rows: int, share: float
) -> None:
    for row in dp.plan(*asked, n=rows, half_width=f"{100 * share}%", shape=["normal", "lognormal"]).rows:
        assert row.found is Found.SMALLEST
        assert row.relative_half_width <= share
        less = CANDIDATES[CANDIDATES.index(row.cost.epsilon) - 1]
        before = stored_tables()[text_of(asked)].shapes[row.shape].at(rows, float(less), roughly=True)
        assert before.half_width > row.half_width * share / row.relative_half_width or before.reply_probability < 0.5


@pytest.mark.usefixtures("no_simulation")
def test_a_half_width_that_sampling_exceeds_is_unreached_by_the_tables_too() -> None:
    plan = dp.plan("median", n=500, half_width="2%", shape="normal")
    assert plan.rows[0].found is Found.NONE
    assert "cannot be reached at any epsilon up to 10" in str(plan)


def test_a_search_goes_on_by_simulation_below_the_tables() -> None:
    (row,) = dp.plan("count", n=1_000, half_width=300, shape="normal").rows
    assert row.found is Found.SMALLEST
    assert 0.009 <= row.cost.epsilon <= 0.0101  # ln(20) / 300
    assert row.source is Source.SIMULATED


def law(rows: int, epsilon: float) -> float:
    """An error of sampling and one of noise."""
    return math.hypot(2 / math.sqrt(rows), 8 / (rows * epsilon))


def made_up(*, grows: bool = False) -> StoredShape:
    """Tables that hold a law without any chance."""
    epsilons = [digit * 10.0**power for power in range(-3, 2) for digit in (1, 2, 5)]

    def line(rows: int) -> StoredLine:
        scale = rows if grows else 1
        known = [each for each in epsilons if each * rows >= 50]
        errors = [scale * law(rows, each) for each in known]
        columns = dict.fromkeys(("half_width", "error_median", "error_95"), errors)
        shares = {"coverage": [0.95] * len(known), "reply_probability": [1.0] * len(known)}
        sampling = scale * 2 / math.sqrt(rows)
        return StoredLine(rows, 40, (sampling, sampling), [math.log(each) for each in known], {**columns, **shares})

    return StoredShape(Yardstick(1.0, grows, 1 if grows else 0), tuple(map(line, (100, 1_000, 10_000, 100_000))))


def places() -> Iterator[tuple[int, float]]:
    for rows in (100, 170, 600, 1_000, 4_000, 30_000, 100_000, 900_000):
        for nats in (101, 300, 2_000, 50_000):
            if nats / rows <= 10:
                yield rows, nats / rows


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize(("rows", "epsilon"), list(places()))
def test_between_and_beyond_cells_a_law_of_sampling_and_noise_is_found_again(rows: int, epsilon: float, grows: bool) -> None:
    figures = made_up(grows=grows).at(rows, epsilon)
    wanted = law(rows, epsilon) * (rows if grows else 1)
    assert figures.half_width == pytest.approx(wanted, rel=0.02)
    assert figures.sampling_half_width == pytest.approx(2 / math.sqrt(rows) * (rows if grows else 1))
    assert (figures.coverage, figures.reply_probability) == pytest.approx((0.95, 1))


def test_figures_of_values_with_ties_stay_in_steps() -> None:
    def line(rows: int, errors: list[float]) -> StoredLine:
        columns = dict.fromkeys(("half_width", "coverage", "error_median", "error_95", "reply_probability"), errors)
        return StoredLine(rows, 40, (1.0, 1.0), [0.0, 1.0, 2.0], columns)

    shape = StoredShape(Yardstick(9.0, False, 0), (line(100, [3.0, 1.0, 0.0]), line(1_000, [1.0, 0.5, 0.0])))
    for rows in (100, 200, 500, 1_000):
        for epsilon in (1.2, 2, 3, 6):
            figures = shape.at(rows, epsilon)
            assert (2 * figures.half_width).is_integer()
            assert figures.half_width <= 3
