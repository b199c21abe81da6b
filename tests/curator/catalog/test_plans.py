"""Plans at a service desk: from stored tables at once, simulated elsewhere, and never for those who may not ask."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.catalog import planner
from dpstats.curator.catalog.catalog import Catalog
from dpstats.curator.catalog.ceilings import MOST_CURVE_POINTS, MOST_PLAN_LINES, MOST_PLAN_WORK
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.jobs.pool import JobFailedError
from dpstats.curator.planning.curves import POINTS, EpsilonCurve, epsilon_grid
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan_rows import Found, Source
from dpstats.curator.remaining import LeftAfter
from dpstats.foundations.errors import AccessError, DpstatsError, InvalidParameterError
from tests.curator.catalog.conftest import OFFICE, PoolHere, make_catalog

MEDIAN: dict[str, Any] = {"version": 1, "statistic": "median", "columns": ["income"]}
ASKED = {**MEDIAN, "epsilon": "0.2"}
SIMULATED = {**ASKED, "plan": {"n": 60, "shape": "ratings", "repeats": 2}}


def planned(question: dict[str, Any], **words: Any) -> dict[str, Any]:
    return {**question, "plan": words}


@pytest.fixture
def desk(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> ServiceDesk:
    """A desk where nothing can be worked on: whoever plans waits for nobody."""
    monkeypatch.setattr(PoolHere, "run", lambda *_: pytest.fail("a plan went behind paid work"))
    catalog.grant("survey", analyst="alice", budget=dp.Budget("1.4"), **OFFICE)
    return catalog.desk("survey")


@pytest.fixture
def simulating(root: Path) -> Iterator[Catalog]:
    """A catalog that simulates plans."""
    with make_catalog(root, plan_processes=1) as made:
        made.register("survey", "survey.parquet", owner="office", unit="person", budget=dp.Budget(9), max_rows_per_unit=2)
        made.confirm("survey", **OFFICE)
        made.grant("survey", analyst="alice", **OFFICE)
        yield made


def test_a_plan_is_that_of_a_session_and_spends_nothing(desk: ServiceDesk, catalog: Catalog, root: Path) -> None:
    entries = len(list(catalog.ledger.entries()))
    session = desk._session("alice", "")[0]
    (root / "survey.parquet").rename(root / "moved.parquet")  # it reads no rows
    for words in ({"n": [5_000, 20_000]}, {"half_width": "5%", "n": 10_000, "shape": "normal"}, {}):
        wanted = {"epsilon": 0.2} if "half_width" not in words else {}
        plan = desk.plan(json.dumps(planned(ASKED, **words)), "alice")
        assert plan == session.plan("median", "income", **wanted, **words)
        assert {row.source for row in plan.rows} == {Source.STORED}
        assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert desk.plan(planned(MEDIAN, epsilon="1/3", n=5_000), "alice").epsilon == Fraction(1, 3)
    assert len(list(catalog.ledger.entries())) == entries


def test_sizes_that_nobody_named_are_those_that_the_tables_have(desk: ServiceDesk) -> None:
    plan = desk.plan({**MEDIAN, "epsilon": "0.05"}, "alice")
    assert {row.n for row in plan.rows} == {10_000, 100_000}
    with pytest.raises(InvalidParameterError, match="not in the stored tables"):
        desk.plan(planned(MEDIAN, epsilon="0.05", n=[1_000, 10_000]), "alice")


def test_a_plan_of_groups_is_one_of_a_group_and_their_keys_must_be_public(desk: ServiceDesk) -> None:
    grouped = desk.plan({**planned(ASKED, n=5_000), "group_by": {"columns": ["region"]}}, "alice")
    assert grouped.question == "median(income) by region (at most 1 row of each person)"
    assert grouped.rows == desk.plan(planned(ASKED, n=5_000), "alice").rows
    chosen = {**planned(ASKED, n=5_000), "delta": "1e-7", "group_by": {"columns": ["person"]}}
    with pytest.raises(InvalidParameterError, match="chosen privately"):
        desk.plan(chosen, "alice")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (MEDIAN, "needs epsilon"),
        (planned(MEDIAN, epsilon=0.2, half_width="5%"), "not both"),
        (planned(MEDIAN, epsilon=[0.1, 0.2]), "a curve"),
        (planned(MEDIAN, epsilon=[]), "one number"),
        (planned(MEDIAN, epsilon=-1), "positive"),
        (planned(ASKED, n="many"), "whole number"),
        (planned(ASKED, rows=5_000), "plan has no 'rows'"),
        (planned(ASKED, n=list(range(MOST_PLAN_LINES // 4 + 1))), "lines at most"),
        (planned(ASKED, shape="round"), "no shape"),
        ({**ASKED, "plan": 5_000}, "an object"),
        ([ASKED], "an object"),
        (planned({**ASKED, "interval": 0.9}, n=5_000), "your own computer"),
        (SIMULATED, "your own computer"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(desk: ServiceDesk, document: Any, words: str) -> None:
    with pytest.raises(DpstatsError, match=words):
        desk.plan(document, "alice")


def test_who_may_not_ask_may_not_plan_and_the_policy_holds(desk: ServiceDesk, catalog: Catalog) -> None:
    catalog.amend("survey", largest_epsilon="0.5", columns=["income"], statistics=["median"], **OFFICE)
    for look in (desk.plan, desk.curve):
        with pytest.raises(AccessError):
            look(planned(ASKED, n=5_000), "eve")
        with pytest.raises(InvalidParameterError, match="at most epsilon"):
            look(planned(ASKED, n=5_000, epsilon=0.6), "alice")
        with pytest.raises(InvalidParameterError, match="does not allow"):
            look(planned({**ASKED, "statistic": "mean"}, n=5_000), "alice")
        with pytest.raises(DpstatsError, match="person"):
            look(planned({**ASKED, "columns": ["person"]}, n=5_000), "alice")
    assert desk.plan(planned(MEDIAN, half_width="5%", n=5_000), "alice").epsilon is not None
    assert desk.curve(planned(MEDIAN, n=5_000), "alice").epsilons[-1] == Fraction(1, 2)


def test_a_curve_goes_from_a_hundredth_to_what_is_left_and_agrees_with_plans(desk: ServiceDesk) -> None:
    curve = desk.curve(planned(MEDIAN, n=5_000), "alice")
    assert (len(curve.epsilons), curve.epsilons[0], curve.epsilons[-1]) == (POINTS, Fraction(1, 100), Fraction(7, 5))
    assert EpsilonCurve.from_dict(json.loads(json.dumps(curve.to_dict(), allow_nan=False, sort_keys=True))) == curve
    assert desk.curve(MEDIAN, "bob").epsilons[-1] == 10  # who has no cap learns nothing of anybody's
    [normal] = desk.curve(planned(MEDIAN, n=5_000, epsilon=[1, 0.2, 0.005], shape="normal"), "alice").lines
    [row] = desk.plan(planned(MEDIAN, n=5_000, epsilon=0.2, shape="normal"), "alice").rows
    assert normal.half_widths[0] is None
    assert (normal.half_widths[1], normal.reply_probabilities[1]) == (row.half_width, row.reply_probability)
    assert normal.without_privacy == row.sampling_half_width
    assert row.half_width is not None
    assert normal.whole == pytest.approx(row.half_width / (row.relative_half_width or 0))
    back = desk.plan(planned(MEDIAN, n=5_000, half_width=row.half_width, shape="normal"), "alice").rows[0]
    assert (back.found, back.cost.epsilon) == (Found.SMALLEST, Fraction(1, 5))
    assert "median(income) (at most 1 row of each person) by universal: half-width of the IQR, by epsilon" in str(curve)


def test_a_curve_is_drawn_with_its_lines_their_floor_and_what_is_left_without_privacy(desk: ServiceDesk, tmp_path: Path) -> None:
    curve = desk.curve(planned(MEDIAN, n=[2_000, 100_000]), "alice")  # on delays of 100,000 rows there is no width at all
    with pytest.raises(InvalidParameterError, match="nothing to draw"):
        replace(curve, lines=()).plot(tmp_path / "curve.svg")
    pytest.importorskip("matplotlib")
    curve.plot(tmp_path / "curve.svg")
    picture = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    for words in ("lognormal, 2,000 rows", "too few rows", "dashed: without privacy", "half-width to expect (share of the IQR)"):
        assert words in picture


def test_below_the_floor_of_a_curve_fewer_than_half_of_the_tables_reply(simulating: Catalog) -> None:
    desk, words = simulating.desk("survey"), {"n": 5_000, "shape": "normal"}  # where two rows of a person are used
    [line] = (curve := desk.curve(planned(MEDIAN, **words), "alice")).lines
    assert line.floor > 0
    for epsilon, reply, width in zip(curve.epsilons, line.reply_probabilities, line.half_widths, strict=True):
        assert (width is not None) == (epsilon >= line.floor) == (width is not None and reply is not None and reply >= 0.5)
    assert desk.curve(planned({**MEDIAN, "statistic": "count"}, **words), "alice").lines[0].floor == 0  # which always replies


@pytest.mark.parametrize("words", [{"half_width": "5%"}, {"repeats": 5}, {"epsilon": [0.1] * (MOST_CURVE_POINTS // 4 + 1)}])
def test_a_curve_is_no_search_no_simulation_and_not_too_long(desk: ServiceDesk, words: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match="a curve"):
        desk.curve(planned(MEDIAN, n=5_000, **words), "alice")
    with pytest.raises(InvalidParameterError, match="not in the stored tables"):
        desk.curve({**MEDIAN, "interval": 0.9}, "alice")


def test_a_grid_has_three_digits_and_no_more_than_is_left() -> None:
    for most in (Fraction(1, 30), Fraction(1, 3), Fraction(10)):
        grid = epsilon_grid(most)
        assert list(grid) == sorted(set(grid))
        assert 0.99 * most < grid[-1] <= most
        assert all(float(f"{float(each):.3g}") == float(each) for each in grid)


def test_what_is_not_stored_is_simulated_elsewhere_where_settings_allow_it(simulating: Catalog) -> None:
    desk = simulating.desk("survey")
    for document in (SIMULATED, planned(MEDIAN, half_width="50%", n=60, shape="ratings", repeats=2)):
        plan = desk.plan(document, "alice")
        assert {row.source for row in plan.rows} == {Source.SIMULATED}
        assert plan.question.startswith("median(income)")
    exact = desk.plan(planned(MEDIAN, **{**SIMULATED["plan"], "epsilon": "1/3"}), "alice")
    assert exact.epsilon == Fraction(1, 3)
    rows = "at most 2 rows of each person"
    assert exact.question == f"median(income) ({rows}) (epsilon = 1/3 for a person is epsilon = 0.15 for a row)"
    paid, plans = simulating._pool, simulating._plan_pool
    assert isinstance(paid, PoolHere)
    assert isinstance(plans, PoolHere)
    assert (paid.jobs, plans.jobs) == (0, 3)
    with pytest.raises(InvalidParameterError, match=f"{MOST_PLAN_WORK:,} can be simulated"):
        desk.plan(planned(ASKED, n=10**6, repeats=50), "alice")
    with pytest.raises(InvalidParameterError, match="repeats must be"):
        desk.plan(planned(ASKED, n=100, repeats=0), "alice")
    with pytest.raises(InvalidParameterError, match="has no scale"):
        desk.plan(planned(MEDIAN, half_width="5%", n=60, shape="constant", repeats=2), "alice")
    assert (paid.jobs, plans.jobs) == (0, 4)


def test_a_late_plan_says_what_to_ask_instead(simulating: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> dict[str, Any]:
        raise JobFailedError

    monkeypatch.setattr(PoolHere, "run", late)
    with pytest.raises(InvalidParameterError, match=f"within {planner.PLAN_SECONDS:g} s: name one size"):
        simulating.desk("survey").plan(SIMULATED, "alice")


def test_a_quote_says_what_is_left_of_ones_own_cap_as_the_accountant_counts(catalog: Catalog) -> None:
    desk = catalog.desk("survey")
    catalog.grant("survey", analyst="alice", budget=dp.Budget("1.4"), **OFFICE)
    own = desk.price(ASKED, "alice").own
    assert own is not None
    assert (own.fits, own.leaves, own.more) == (True, "epsilon = 1.2", 6)
    assert "(leaves epsilon = 1.2: about 6 more of these)" in str(desk.price(ASKED, "alice"))
    large = desk.price({**ASKED, "epsilon": 2}, "alice").own
    assert large is not None
    assert (large.fits, large.leaves, large.more) == (False, "epsilon = 1.4", 0)
    assert desk.price(ASKED, "bob").own is None
    catalog.grant("survey", analyst="alice", **OFFICE)  # without a cap from now on
    assert (desk.price(ASKED, "alice").own, desk.remaining("alice")) == (None, None)


def test_a_quote_of_a_concentrated_budget_counts_as_a_session_does(root: Path) -> None:
    budget = dp.Budget(1, delta="1e-6", accountant="zcdp")
    with make_catalog(root) as catalog:
        catalog.register("survey", "survey.parquet", owner="office", unit="person", max_rows_per_unit=1, budget=budget)
        catalog.confirm("survey", **OFFICE)
        catalog.grant("survey", analyst="alice", budget=budget, **OFFICE)
        own = catalog.desk("survey").price({**ASKED, "epsilon": "0.1"}, "alice").own
        session = dp.protect({"person": [1]}, unit="person", max_rows_per_unit=1, budget=budget, ledger=":memory:", name="other")
        assert own is not None
        assert own.more + 1 == session.remaining.more("median", epsilon="0.1") > 10


def test_a_quote_says_that_a_question_does_not_fit_what_is_left_for_everybody(catalog: Catalog) -> None:
    catalog.amend("survey", budget=dp.Budget("0.5"), **OFFICE)
    catalog.grant("survey", analyst="alice", budget=dp.Budget(3), **OFFICE)
    desk = catalog.desk("survey")
    median = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.4"}
    assert desk.price(median, "alice").own == LeftAfter(True, "epsilon = 2.6", 6)
    dear = desk.price({**median, "epsilon": "0.6"}, "alice")
    assert (dear.own, str(dear.own)) == (LeftAfter(False, "epsilon = 3", 0, shared=True), "more than is left for everybody")
    together = desk.price_together([median, {**median, "statistic": "mean"}], "alice")
    assert together.own is not None
    assert not together.own.fits
