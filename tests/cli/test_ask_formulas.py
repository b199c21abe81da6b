"""`dpstats ask` answers formulas: regression('income ~ age + C(region)')."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpstats as dp
from dpstats.cli import exits
from dpstats.cli.questions import parse_question
from tests.cli.conftest import SECRET_TEXT, Outcome, Run

ROWS = 4_000
REGIONS = ["north", "south", "west"]


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """A table in which income rises by 2 with age and by 30 in the south; one person lives in a place of their own."""
    chance = np.random.default_rng(8)
    age, region = chance.integers(18, 80, ROWS), chance.choice(REGIONS, ROWS).tolist()
    income = 100 + 2 * age + 30 * (np.array(region) == "south") + chance.normal(0, 5, ROWS)
    region[7] = SECRET_TEXT
    return pl.DataFrame({"age": age, "region": region, "income": income, "works": chance.random(ROWS) < 0.7})


@pytest.fixture(scope="module", params=["csv", "parquet"])
def people(request: pytest.FixtureRequest, frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / f"people.{request.param}"
    if request.param == "csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)
    return path


def answers(outcome: Outcome, code: int = exits.ANSWERED) -> list[dict[str, Any]]:
    assert outcome.code == code, outcome.err
    found: list[dict[str, Any]] = json.loads(outcome.out)["answers"]
    return found


def test_a_formula_is_answered_as_by_the_function(run: Run, people: Path) -> None:
    formula = "income ~ age + C(region, levels=['north', 'south'])"
    (answer,) = answers(run("ask", people, f'regression("{formula}")', "--epsilon", "2", "--json", "--seed", "7"))
    release = dp.regression(formula, people, epsilon=2, rng=dp.testing.seeded(7))
    assert isinstance(release, dp.Release)
    assert answer == json.loads(release.to_json())
    assert answer["value"]["names"] == ["Intercept", "age", "C(region)[T.south]"]
    assert answer["value"]["coefficients"] == pytest.approx([2, 30], rel=0.1)
    assert answer["cost"]["delta"] == 0


def test_levels_that_are_not_listed_take_the_usual_delta_and_the_output_says_so(run: Run, people: Path) -> None:
    asked = "regression('income ~ age + C(region)', epsilon=2)"
    out = run("ask", people, asked, "median(income)", "--epsilon", "3", "--seed", "7").out
    assert "C(region)[T.south]" in out
    assert "Private linear regression" in out
    assert "cost      epsilon = 2, delta = 1e-9\n" in out
    assert "Spent by this call: epsilon = 3, delta = 1e-9." in out
    assert out.endswith(
        "Labels that were not listed made the question take delta = 1e-9. --delta sets another one; "
        "C(region, levels=['...', '...']) lists them and takes none.\n"
    )
    given = run("ask", people, asked, "--epsilon", "2", "--delta", "1e-7", "--seed", "7").out
    assert "cost      epsilon = 2, delta = 1e-7\n" in given
    assert "not listed" not in given


def test_epsilon_and_delta_are_shared_with_other_questions(run: Run, people: Path) -> None:
    asked = ("regression('income ~ C(region)')", "linear_regression(age, income)", "median(age)", "histogram(region)")
    given = ("--epsilon", "4", "--delta", "3e-6", "--json", "--seed", "7")
    costs = [answer["cost"] for answer in answers(run("ask", people, *asked, *given))]
    assert [cost["epsilon"] for cost in costs] == [1, 1, 1, 1]
    assert [cost["delta"] for cost in costs] == pytest.approx([1e-6, 1e-6, 0, 1e-6])


def test_a_regression_spends_no_delta_where_none_is_given(run: Run, people: Path) -> None:
    asked = ("regression('income ~ age')", "linear_regression(age, income)")
    found = answers(run("ask", people, *asked, "--epsilon", "2", "--json", "--seed", "7"))
    assert [(answer["method"], answer["cost"]["delta"]) for answer in found] == [("steps", 0), ("steps", 0)]


def test_models_have_their_parameters_and_levels_may_be_listed_beside_the_formula(run: Run, people: Path) -> None:
    asked = (
        "regression('income ~ age', model=quantile, quantile=0.25, interval=0.9)",
        "regression('I(income > 250) ~ age', model=logistic, interval=None)",
        "regression('income ~ C(region) - 1', levels={region: [south, 'north']})",
    )
    quantile, logistic, listed = answers(run("ask", people, *asked, "--epsilon", "9", "--json", "--seed", "7"))
    assert quantile["question"] == "quantile_regression(income ~ age, 0.25, interval=0.9)"
    assert quantile["value"]["model"] == "quantile 0.25"
    assert {each["level"] for each in quantile["intervals"]} == {0.9}
    assert logistic["value"]["model"] == "logistic"
    assert "intervals" not in logistic
    assert listed["value"]["names"] == ["C(region)[south]", "C(region)[north]"]
    assert not listed["value"]["has_intercept"]


def test_cards_and_pictures_are_made_of_formulas_too(run: Run, people: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "answer.svg"
    outcome = run("ask", people, "regression('income ~ age')", "--epsilon", "1", "--seed", "7", "--card", "--plot", picture)
    assert outcome.code == exits.ANSWERED
    assert "linear_regression(income ~ age)\n  value" in outcome.out
    assert "coefficients in units of their errors" in picture.read_text(encoding="utf-8")


def test_too_rare_labels_are_a_no_reply_at_the_full_price(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("x,y,name\n" + "".join(f"{place},{place},n{place}\n" for place in range(50)), encoding="utf-8")
    (answer,) = answers(run("ask", path, "regression('y ~ x + C(name)')", "--epsilon", "1", "--json"), exits.NO_REPLY)
    assert answer["reason"] == "Too few rows share a label of a category."
    assert (answer["cost"]["epsilon"], answer["cost"]["delta"]) == (1, 1e-9)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("regression(income ~ age)", "write a formula in quotes, like regression('income ~ age + C(region)')"),
        ("regression()", "holds no formula: write a formula in quotes"),
        ("regression([age], income)", "takes a formula and then words such as model=quantile"),
        ("regression('income ~ age', linear)", "takes a formula and then words such as model=quantile"),
        ("regression('income')", "has no outcome before a ~"),
        ("regression('income ~ wage')", "there is no column wage"),
        ("regression('income ~ __import__(1)')", "__import__"),
        ("regression('income ~ age', model=cubic)", "model must be one of 'linear', 'quantile', 'logistic', 'poisson'"),
        ("regression('income ~ age', quantile=0.9)", "linear_regression has no parameter 'quantile'"),
        ("regression('income ~ age', unit=person)", "give it once for all questions: --unit"),
        ("regression('income ~ age', intercept=False)", "write - 1 in it"),
        ("regression('income ~ age', levels={region: [north]})", "no category of the formula"),
        ("regression('income ~ C(region)', levels={region: 3})", "must be a list"),
        ("regression('income ~ C(region)', levels={1 + 1: [north]})", "is not clear"),
        ("regression('income ~ C(region)', method=robust)", "needs delta: add for example --delta 1e-6"),
        ("regression('income ~ age', epsilon=0)", "epsilon must be"),
        ("median({region: 3})", "is not clear"),
    ],
)
def test_a_wrong_formula_is_one_sentence(run: Run, people: Path, question: str, words: str) -> None:
    outcome = run("ask", people, question, "--epsilon", "1")
    assert outcome.code == exits.BAD_INPUT
    assert words in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""


def test_labels_of_a_csv_file_that_stand_as_numbers_are_missing_and_declared_ones_are_categories(
    run: Run, frame: pl.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    frame.head(300).write_csv(path)
    for formula in ("income ~ age + region", "region ~ age", "income ~ I(region > 3)"):
        outcome = run("ask", path, f"regression('{formula}')", "--epsilon", "1")
        assert outcome.code == exits.NO_REPLY
        assert "write C(...) in the formula" in outcome.out  # no type is declared, so that region may hold labels
    frame.head(300).write_parquet(tmp_path / "people.parquet")
    numbers = run("ask", tmp_path / "people.parquet", "regression('income ~ age')", "--epsilon", "1")
    assert numbers.code == exits.NO_REPLY
    assert "C(" not in numbers.out
    declared = run("ask", path, "regression('income ~ region')", "--epsilon", "1", "--types", "region=text", "--seed", "1")
    assert declared.code in (exits.ANSWERED, exits.NO_REPLY)
    assert "delta = 1e-9" in declared.out


def test_the_help_tells_of_formulas(run: Run) -> None:
    shown = run("ask", "--help").out
    assert "regression('income ~ age + C(region)', model=linear)" in shown
    assert "linear, quantile, logistic, poisson" in shown


def test_a_formula_is_parsed_and_not_evaluated() -> None:
    parsed = parse_question("regression('y ~ x', model=poisson, levels={a: [b, 1], 'c d': [2.5]})")
    assert (parsed.statistic, parsed.column, parsed.positional) == ("regression", "y ~ x", ())
    assert parsed.keywords == {"model": "poisson", "levels": {"a": ["b", 1], "c d": [2.5]}}
