"""`dpstats plan`: what to expect, without a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.plan import parse_rows, parse_shapes
from tests.cli.conftest import Run

QUICK = ("--n", "300", "--repeats", "5", "--shape", "normal", "--seed", "7")


def test_one_question_is_the_plan_of_the_function(run: Run) -> None:
    outcome = run("plan", "count(region)", "--epsilon", "0.5", *QUICK)
    assert (outcome.code, outcome.err) == (exits.ANSWERED, "")
    plan = dp.plan("count", epsilon=0.5, n=300, repeats=5, shape="normal", rng=dp.testing.seeded(7))
    assert outcome.out == str(plan).replace("count by", "count(region) by", 1) + "\n"
    assert "at epsilon 0.5, about 300 rows: half-width about 6 (2% of the value), no reply 0%" in outcome.out


def test_several_questions_share_the_total(run: Run) -> None:
    out = run("plan", "median(income)", "count(region, epsilon=0.5)", 'quantile("net income", 0.9)', "--epsilon", "1", *QUICK).out
    assert "median(income) by universal: epsilon = 0.25, 25% of the total epsilon" in out
    assert "count(region) by laplace: epsilon = 0.5, 50% of the total epsilon" in out
    assert "quantile(net income, 0.9) by universal: epsilon = 0.25" in out


def test_json_is_one_object_with_plans_and_total(run: Run) -> None:
    result = json.loads(run("plan", "count(region)", "--epsilon", "1/3", "--json", *QUICK).out, parse_constant=pytest.fail)
    assert set(result) == {"plans", "total"}
    assert result["total"]["epsilon_exact"] == "1/3"
    assert result["plans"][0]["rows"][0]["n"] == 300
    assert {"half_width", "coverage"} <= set(result["plans"][0]["rows"][0])


def test_a_half_width_is_turned_into_an_epsilon(run: Run) -> None:
    out = run("plan", "count(region)", "--half-width", "5%", *QUICK).out
    assert "for a half-width of 5% of the value" in out
    assert "at epsilon 0.2, about 300 rows: half-width about 15 (5% of the value), no reply 0%" in out


def test_the_same_seed_gives_the_same_plan(run: Run) -> None:
    arguments = ("plan", "count(region)", "--epsilon", "0.1", "--n", "300", "--repeats", "5", "--seed")
    assert run(*arguments, 7).out == run(*arguments, 7).out
    assert len({run(*arguments, seed).out for seed in range(5)}) > 1


def test_a_delta_and_a_relation_are_passed_on(run: Run) -> None:
    out = run("plan", "mode(region)", "--epsilon", "1", "--delta", "1e-6", "--neighbors", "change_one", *QUICK).out
    assert "epsilon = 1, delta = 0.000001, neighbours: change_one" in out


def test_a_picture_is_drawn(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "plan.svg"
    assert run("plan", "count(region)", "--epsilon", "1", "--plot", file, *QUICK).code == exits.ANSWERED
    assert "half-width of the interval" in file.read_text(encoding="utf-8")
    run("plan", "count(region)", "--half-width", "5", "--plot", file, *QUICK)
    assert "epsilon that it takes (half-width 5)" in file.read_text(encoding="utf-8")


def test_the_old_name_of_the_number_of_rows_still_works_and_says_so(run: Run) -> None:
    common = ("plan", "count(region)", "--epsilon", "1", "--repeats", "2", "--shape", "normal", "--seed", "7")
    old, new = run(*common, "--rows", "300"), run(*common, "--n", "300")
    assert old.out == new.out
    assert (old.err, new.err) == ("dpstats plan: --rows is now --n.\n", "")


def test_rows_and_shapes_are_read_from_text() -> None:
    assert parse_rows(["1000,10_000", "1e5"]) == [1_000, 10_000, 100_000]
    assert parse_shapes([]) is None
    assert parse_shapes(["normal, delays", ' {"0.5": 3, "0.9": "7.5"}']) == ["normal", "delays", {"0.5": 3, "0.9": "7.5"}]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("count", "count by"),
        ("count()", "count by"),
        ("quantile(0.9)", "quantile(0.9) by"),
        ("quantile(q=0.9)", "quantile(0.9) by"),
        ("covariance", "covariance by"),
        ("linear_regression", "linear_regression(X, y) by"),
        ("sample_and_aggregate(median, blocks=20)", "sample_and_aggregate(median, blocks=20) by"),
        ("sample_and_aggregate(function=median)", "sample_and_aggregate(median) by"),
    ],
)
def test_columns_may_be_left_out(run: Run, question: str, shown: str) -> None:
    outcome = run("plan", question, "--epsilon", "1", "--n", "200", "--repeats", "1", "--shape", "normal")
    assert (outcome.code, outcome.err) == (exits.ANSWERED, "")
    assert outcome.out.startswith(shown)


def test_questions_whose_parameter_comes_first_need_no_column(run: Run) -> None:
    quick = ("--epsilon", "1", "--n", "2000", "--repeats", "1", "--seed", "7")
    without = run("plan", "mle(gamma)", *quick)
    assert (without.code, without.err) == (exits.ANSWERED, "")
    assert run("plan", "mle(gamma, income)", *quick).out == without.out.replace("mle(gamma)", "mle(gamma, income)", 1)


def test_features_are_counted_where_columns_are_left_out(run: Run) -> None:
    quick = ("--features", "3", "--epsilon", "1", "--n", "200", "--repeats", "1")
    assert run("plan", "select_features", *quick).out.startswith("select_features([x1, x2, x3], y) by")
    named = run("plan", "sample_and_aggregate(median)", *quick, "--shape", "normal").out
    assert named.startswith("sample_and_aggregate(median, [x1, x2, x3]) by")


def test_known_quantiles_are_a_shape(run: Run) -> None:
    known = '{"0.25": 10, "0.5": 30, "0.75": 50}'
    result = json.loads(run("plan", "median(income)", "--epsilon", "5", "--json", *QUICK[:4], "--shape", known).out)
    assert result["plans"][0]["rows"][0]["shape_value"] == pytest.approx(30, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["median(income)", "--n", "10"], "plan needs epsilon"),
        (["median(income)", "--epsilon", "1", "--half-width", "1", "--n", "10"], "not both"),
        (["median(income)", "--epsilon", "1"], "plan needs --n"),
        (["median(income)", "--epsilon", "1", "--n", "many"], "--n must be a number"),
        (["median(income)", "--epsilon", "1", "--n", "2.5"], "whole number"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--repeats", "0"], "repeats must be"),
        (["median(income)", "--half-width", "0", "--n", "10"], "half_width must be above 0"),
        (["median(income)", "--half-width", "wide", "--n", "10"], "half_width must be a number"),
        (["median(income, epsilon=1)", "--half-width", "1", "--n", "10"], "leave one out"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", "norml"], "there is no shape 'norml'"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", '{"0.5": 1'], "one JSON object"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", "{}"], "two different ones"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", '{"0.1": 9, "0.5": 1}'], "never fall"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", '{"0.1": 1, "1.5": 2}'], "between 0 and 1"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", '{"0.1": NaN, "0.5": 2}'], "must be a finite number"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--shape", '{"0.1": [1], "0.5": 2}'], "must be a number"),
        (["median(income)", "--epsilon", "1", "--n", "10", "--repeats", "1", "--plot", "plan.pdf"], ".svg or .png"),
        (["median income", "--epsilon", "1", "--n", "10"], "is not clear"),
        (["mle", "--epsilon", "1", "--n", "10"], "must name family: normal, "),
        (["mle(3)", "--epsilon", "1", "--n", "10"], "must name family: normal, "),
        (["regression", "--epsilon", "1", "--n", "10"], "a formula cannot be planned"),
        (["count(0.9)", "--epsilon", "1", "--n", "10"], "takes nothing after the column"),
        (["medain(income)", "--epsilon", "1", "--n", "10"], "there is no statistic 'medain'"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: list[str], words: str) -> None:
    outcome = run("plan", *arguments)
    assert outcome.code == exits.BAD_INPUT
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
