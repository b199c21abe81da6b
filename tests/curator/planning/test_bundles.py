"""Several questions in one plan share its budget exactly, and each line says what it gets."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.joint import JointPlan
from dpstats.curator.planning.plan_rows import Found


def planned(questions: list[Any], **keywords: Any) -> JointPlan:
    return dp.plan(questions, **{"rng": dp.testing.seeded(7), "n": 300, "shape": "normal", "repeats": 3, **keywords})


def epsilons(plan: JointPlan) -> list[Fraction]:
    return [each.rows[0].cost.epsilon for each in plan]


def test_questions_share_epsilon_in_exact_parts() -> None:
    plan = planned(["median", "count", ("quantile", 0.9)], epsilon=1)
    assert epsilons(plan) == [Fraction(1, 3)] * 3
    assert plan.total == dp.PrivacyCost(1)
    assert [each.question for each in plan] == ["median", "count", "quantile(0.9)"]
    assert len(plan) == 3
    assert plan[1].question == "count"


def test_a_question_takes_what_it_names_and_the_others_share_the_rest() -> None:
    plan = planned(["count", ("quantile", 0.9, {"epsilon": 0.5}), ("count", {"epsilon": "0.1"}), "median"], epsilon=1)
    assert epsilons(plan) == [Fraction(1, 5), Fraction(1, 2), Fraction(1, 10), Fraction(1, 5)]


def test_delta_is_shared_among_those_who_need_it() -> None:
    plan = planned(["count", "mode", ("median", {"method": "ptr"})], epsilon=3, delta=1e-6)
    assert [each.rows[0].cost.delta for each in plan] == [0, Fraction(1, 2 * 10**6), Fraction(1, 2 * 10**6)]
    assert planned(["count"], epsilon=1, delta=1e-6)[0].rows[0].cost.delta == 0


def test_a_share_is_planned_as_the_question_alone_would_be() -> None:
    both = planned(["median", "count"], epsilon=1)
    alone: Plan = dp.plan("count", epsilon=0.5, n=300, shape="normal", repeats=3, rng=dp.testing.seeded(7))
    assert both[1].rows == alone.rows


def test_the_text_says_what_share_each_question_gets() -> None:
    text = str(planned(["count", ("count", {"epsilon": 0.75})], epsilon=1))
    assert text.startswith("2 questions, sharing epsilon = 1\n")
    assert "count by laplace: epsilon = 0.25, 25% of the total epsilon" in text
    assert "count by laplace: epsilon = 0.75, 75% of the total epsilon" in text
    assert "No data was read and nothing was spent." in text
    assert all(len(line) <= 130 for line in text.splitlines())


def test_a_wanted_half_width_is_found_for_each_and_added_up() -> None:
    plan = planned(["count", "count"], half_width=20, repeats=20)
    first, second = epsilons(plan)
    assert first == second
    assert plan.total is not None
    assert plan.total.epsilon == first + second
    assert "2 questions, together epsilon = " in str(plan)


def test_where_one_cannot_be_reached_there_is_no_total() -> None:
    plan = planned(["count", "median"], half_width="0.5%", repeats=10)
    assert plan[1].rows[0].found is Found.NONE
    assert plan.total is None
    assert plan.to_dict()["total"] is None
    assert "cannot be reached" in plan.title


def test_a_joint_plan_becomes_json_html_and_a_picture(tmp_path: Path) -> None:
    plan = planned(["count", "count"], epsilon=1)
    read = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert [each["question"] for each in read["plans"]] == ["count", "count"]
    assert read["total"]["epsilon"] == 1
    assert JointPlan.from_dict(read) == plan
    assert plan._repr_html_().count("<tr>") == 3
    assert repr(plan) == "JointPlan(2 questions, sharing epsilon = 1: print it)"
    pytest.importorskip("matplotlib")
    plan.plot(tmp_path / "plan.svg")
    picture = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    assert "count (1)" in picture
    assert "count (2)" in picture


@pytest.mark.parametrize(
    ("questions", "keywords", "error", "words"),
    [
        ([], {}, dp.InvalidParameterError, "1 to 100"),
        ([7], {}, dp.InvalidParameterError, "a name, or a tuple"),
        ([()], {}, dp.InvalidParameterError, "a name, or a tuple"),
        (["medain"], {}, dp.UnknownNameError, "no statistic 'medain'"),
        ([("median", [1.0, 2.0])], {}, dp.InvalidParameterError, "plan reads no data"),
        ([("median", {"column": "income"})], {}, dp.UnknownNameError, "no parameter 'column'"),
        ([("median", {"neighbors": "change_one"})], {}, dp.UnknownNameError, "once for all questions"),
        ([("median", {"epsilon": 2})], {}, dp.InvalidParameterError, "more epsilon than the total of 1"),
        ([("median", {"epsilon": 1}), "count"], {}, dp.InvalidParameterError, "nothing of epsilon is left for count"),
        (["mode"], {}, dp.MissingParameterError, "mode needs delta"),
        (["median"], {"epsilon": None}, dp.MissingParameterError, "plan needs epsilon"),
        (["median"], {"half_width": 1}, dp.InvalidParameterError, "not both"),
        (["median"], {"method": "ptr"}, dp.InvalidParameterError, "its own parameters"),
        ([("count", {"epsilon": 1})], {"epsilon": None, "half_width": 1}, dp.InvalidParameterError, "leave one of them out"),
    ],
)
def test_bad_input_is_refused_in_words(
    questions: list[Any], keywords: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        planned(questions, **{"epsilon": 1, **keywords})
