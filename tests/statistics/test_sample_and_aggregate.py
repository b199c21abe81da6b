"""Functions of blocks by name, through the registry: on arrays, in sessions, in groups, and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import dpstats as dp
from dpstats.cli.main import main
from dpstats.curator.session import Session
from dpstats.direct import function_for
from dpstats.foundations.registry import ask, find_statistic
from dpstats.statistics.aggregation.named_functions import NAMED, NamedFunction, named_function
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.sample_and_aggregate import answer_named, plan_of

CHANCE = np.random.default_rng(4)
AGE = CHANCE.normal(40, 5, 3000)
WAGE = 10 + 2 * AGE + CHANCE.normal(0, 3, 3000)
ROWS: Floats = np.column_stack([AGE[:50], WAGE[:50], CHANCE.normal(size=50)])


def session(**changes: Any) -> Session:
    columns = {"age": AGE, "wage": WAGE, "region": np.array(["north", "south"])[CHANCE.integers(0, 2, 3000)]}
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=1000, delta=0.1), "ledger": ":memory:", **changes}
    return dp.protect(columns, **settings)


# The functions

ORACLES: dict[str, Callable[[Floats], Any]] = {
    "mean": lambda rows: [sum(column) / len(column) for column in rows.T],
    "median": lambda rows: [sorted(column)[24:26] @ np.array([0.5, 0.5]) for column in rows.T],
    "std": scipy.stats.tstd,
    "variance": scipy.stats.tvar,
    "minimum": scipy.stats.tmin,
    "maximum": scipy.stats.tmax,
    "iqr": lambda rows: scipy.stats.iqr(rows, axis=0),
    "mad": lambda rows: scipy.stats.median_abs_deviation(rows, axis=0),
    "skewness": scipy.stats.skew,
    "kurtosis": lambda rows: scipy.stats.kurtosis(rows, fisher=False),
    "correlation": lambda rows: scipy.stats.pearsonr(*rows.T).statistic,
    "least_squares": lambda rows: _by_normal_equations(rows),
}


def _by_normal_equations(rows: Floats) -> Any:
    design = np.column_stack([np.ones(len(rows)), rows[:, :-1]])
    return np.linalg.solve(design.T @ design, design.T @ rows[:, -1])


@pytest.mark.parametrize("name", NAMED)
def test_a_function_by_name_agrees_with_another_system(name: str) -> None:
    function, raw_rows = NAMED[name], ROWS[:, :2] if name == "correlation" else ROWS
    expected = np.asarray(ORACLES[name](raw_rows)).reshape(-1)
    assert np.asarray(function.of_block(raw_rows)).reshape(-1) == pytest.approx(expected, rel=1e-9)
    assert function.check(raw_rows.shape[1]) == len(expected)


def test_rows_without_spread_and_collinear_features_are_no_answer() -> None:
    assert named_function("least_squares").of_block(np.ones((9, 3))) is None
    with np.errstate(all="ignore"):
        assert np.isnan(named_function("correlation").of_block(np.ones((9, 2))))


@pytest.mark.parametrize(
    ("name", "columns", "words"), [("correlation", 3, "takes 2 columns"), ("least_squares", 1, "from 2 to 41")]
)
def test_a_function_takes_so_many_columns(name: str, columns: int, words: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=words):
        named_function(name).check(columns)


def test_rows_that_miss_a_number_are_left_out_of_a_container() -> None:
    raw_holed = np.vstack([ROWS, [np.nan, 0, 0], [0, np.nan, 0]])
    assert named_function("mean").of_container(raw_holed).tolist() == named_function("mean").of_container(ROWS).tolist()
    assert named_function("mean").of_container({"a": ROWS[:, 0]}, ROWS[:, 1]).tolist() == ROWS[:, :2].mean(axis=0).tolist()


# On arrays


def asked(function: str, *columns: Any, **changes: Any) -> Any:
    settings: dict[str, Any] = {"epsilon": 200, "blocks": 50, "rng": dp.testing.seeded(1), **changes}
    return function_for("sample_and_aggregate")(function, *columns, **settings)


def test_one_column_gives_a_number_and_several_give_one_each() -> None:
    assert asked("median", AGE).value == pytest.approx(40, abs=1)
    assert asked("mean", {"age": AGE, "wage": WAGE}).value == pytest.approx((40, 90), rel=0.05)
    bounded = asked("least_squares", AGE, WAGE, aggregate="mean", range=[(-100, 100), (0, 5)])
    assert bounded.value == pytest.approx((10, 2), abs=5)
    assert len(bounded.intervals) == 2


def test_the_claim_and_the_price_are_those_of_the_aggregate() -> None:
    pure, tested = asked("mean", AGE), asked("mean", AGE, aggregate="median", delta=0.01)
    assert (pure.method, tested.method) == ("numbers", "tested")
    assert (float(pure.cost.delta), float(tested.cost.delta)) == (0, 0.01)
    methods = find_statistic("sample_and_aggregate").methods
    assert methods["tested"].needs_delta
    assert not methods["numbers"].needs_delta


def test_where_most_blocks_are_too_small_there_is_no_reply() -> None:
    reply = asked("std", AGE[:10], blocks=50)
    assert isinstance(reply, dp.NoReply)
    assert reply.reason.startswith("Fewer than half of the blocks gave an answer")


def test_a_block_on_which_a_function_raises_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_on_many(raw_rows: Floats) -> Any:
        if len(raw_rows) > 66:
            raise ArithmeticError(raw_rows)
        return raw_rows.mean(axis=0)

    monkeypatch.setitem(NAMED, "mean", NamedFunction("mean", fails_on_many, lambda columns: columns))
    assert asked("mean", AGE, aggregate="mean", range=(0, 80)).value == pytest.approx(40, abs=4)
    monkeypatch.setitem(NAMED, "mean", NamedFunction("mean", lambda raw_rows: 1 / 0, lambda columns: columns))
    assert isinstance(asked("mean", AGE), dp.NoReply)


def test_replies_are_those_of_rows_in_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_seen: list[Floats] = []

    def keep(raw_rows: Floats) -> Any:
        raw_seen.append(raw_rows.copy())
        return raw_rows.mean(axis=0)

    monkeypatch.setitem(NAMED, "mean", NamedFunction("mean", keep, lambda columns: columns))
    asked("mean", AGE, blocks=30)
    assert len(raw_seen) == 30
    assert sorted(np.concatenate(raw_seen)[:, 0].tolist()) == sorted(AGE.tolist())


# In sessions


def test_a_session_runs_functions_by_name_and_keeps_count() -> None:
    survey = session()
    release = survey.sample_and_aggregate("median", "age", blocks=100, epsilon=200)
    assert release.value == pytest.approx(40, abs=1)
    assert release.question == "sample_and_aggregate(median, age, blocks=100)"
    slopes = survey.sample_and_aggregate("least_squares", "age", "wage", blocks=100, epsilon=200)
    assert slopes.value == pytest.approx((10, 2), abs=3)
    assert survey.ledger.spent.epsilon == 400
    again = survey.sample_and_aggregate("median", "age", blocks=100, epsilon=200)
    assert "archive" in dict(again.notes)
    assert again.value == release.value
    assert survey.ledger.spent.epsilon == 400


def test_a_session_asks_in_every_group() -> None:
    groups = session().group_by("region", keys=["north", "south"]).sample_and_aggregate("mean", "age", blocks=50, epsilon=200)
    assert [groups[key].value for key in ("north", "south")] == pytest.approx([40, 40], abs=1)


@pytest.mark.parametrize(
    ("question", "error", "words"),
    [
        (
            lambda table: table.sample_and_aggregate(np.median, "age", epsilon=1),
            dp.InvalidParameterError,
            "give function by name",
        ),
        (lambda table: table.sample_and_aggregate("medain", "age", epsilon=1), dp.UnknownNameError, "did you mean 'median'"),
        (lambda table: table.sample_and_aggregate("correlation", "age", epsilon=1), dp.InvalidParameterError, "takes 2 columns"),
        (lambda table: table.sample_and_aggregate("mean", "region", epsilon=1), dp.DataTypeError, "needs numbers"),
        (
            lambda table: table.sample_and_aggregate("mean", "age", aggregate="argmax", epsilon=1),
            dp.InvalidParameterError,
            "aggregate must be one of 'mean'",
        ),
        (
            lambda table: table.sample_and_aggregate("mean", "age", aggregate=dp.mean, epsilon=1),
            dp.InvalidParameterError,
            "give aggregate by name",
        ),
        (lambda table: table.sample_and_aggregate("mean", "age", aggregate="mean", epsilon=1), dp.DpstatsError, "needs range"),
        (
            lambda table: table.sample_and_aggregate("mean", ["age", "wage"], aggregate="mean", range=[(0, 1)] * 3, epsilon=1),
            dp.InvalidParameterError,
            "for 3 numbers, but the answer has 2",
        ),
        (lambda table: table.sample_and_aggregate("mean", "age", aggregate="median", epsilon=1), dp.DpstatsError, "needs delta"),
        (
            lambda table: table.sample_and_aggregate("mean", "age", blocks=0, epsilon=1),
            dp.InvalidParameterError,
            "blocks must be",
        ),
    ],
)
def test_errors_in_sessions_cost_nothing(question: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    survey = session()
    with pytest.raises(error, match=words):
        question(survey)
    assert survey.ledger.spent.epsilon == 0


# On the command line


def test_the_command_line_answers_functions_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,wage\n" + "".join(f"{age},{wage}\n" for age, wage in zip(AGE, WAGE, strict=True)), encoding="utf-8")
    questions = ["sample_and_aggregate(median, age, blocks=50)", "sample_and_aggregate(least_squares, [age], wage, blocks=50)"]
    assert main(["ask", str(path), *questions, "--epsilon", "400", "--json"]) == 0
    median, slopes = json.loads(capsys.readouterr().out)["answers"]
    assert median["value"] == pytest.approx(40, abs=1)
    assert slopes["value"] == pytest.approx([10, 2], abs=3)
    assert main(["ask", str(path), "sample_and_aggregate(mean, age, aggregate=median)", "--epsilon", "1"]) != 0
    assert "needs delta" in capsys.readouterr().err


def test_the_plan_of_a_question_is_that_of_its_parameters() -> None:
    question = asked_question("least_squares", ("a", "b", "c"))
    assert (plan_of(question).blocks, plan_of(question).outputs) == (1080, 3)
    assert question.method.run is answer_named
    assert asked_question("correlation", ("a", "b")).epsilon == Fraction(1)


def asked_question(function: str, columns: tuple[str, ...]) -> Any:
    return ask("sample_and_aggregate", function, epsilon=1, column=columns)
