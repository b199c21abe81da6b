from __future__ import annotations

from fractions import Fraction

import pytest

import dpstats.statistics  # noqa: F401
from dpstats.cli.pricing import price_questions, total_cost
from dpstats.cli.questions import parse_question
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.registry import Question


def priced(*texts: str, epsilon: object = None, delta: object = None) -> list[Question]:
    parsed = [parse_question(text) for text in texts]
    return price_questions(parsed, epsilon=epsilon, delta=delta, neighbors="add_remove", unit="person")


def test_questions_share_the_total_in_equal_exact_parts() -> None:
    questions = priced("median(a)", "median(b)", "count(c)", epsilon="1")
    assert [question.epsilon for question in questions] == [Fraction(1, 3)] * 3
    assert total_cost(questions).epsilon == 1


def test_a_question_that_names_its_epsilon_takes_it_and_the_others_share_the_rest() -> None:
    questions = priced("median(a)", "quantile(b, 0.5, epsilon=0.3)", "count(c)", epsilon="1")
    assert [question.epsilon for question in questions] == [Fraction(7, 20), Fraction(3, 10), Fraction(7, 20)]


def test_without_a_total_every_question_must_name_its_own() -> None:
    assert total_cost(priced("median(a, epsilon=1)", "count(b, epsilon=0.5)")).epsilon == Fraction(3, 2)
    with pytest.raises(MissingParameterError, match="--epsilon 1"):
        priced("median(a, epsilon=1)", "count(b)")


def test_nothing_left_to_share_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="nothing is left for count"):
        priced("median(a, epsilon=1)", "count(b)", epsilon="1")


def test_naming_more_than_the_total_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="more than the total of 1"):
        priced("median(a, epsilon=0.6)", "count(b, epsilon=0.6)", epsilon="1")


def test_naming_less_than_the_total_spends_only_what_is_named() -> None:
    assert total_cost(priced("median(a, epsilon=0.25)", epsilon="1")).epsilon == Fraction(1, 4)


@pytest.mark.usefixtures("odd_statistics")
def test_delta_goes_to_the_questions_that_need_it() -> None:
    questions = priced("needy(a)", "median(b)", "needy(c, delta=1e-7)", epsilon="1", delta="1e-6")
    assert [question.cost.delta for question in questions] == [Fraction(9, 10**7), 0, Fraction(1, 10**7)]


@pytest.mark.usefixtures("odd_statistics")
def test_delta_that_is_needed_and_missing_or_given_and_useless_is_an_error() -> None:
    with pytest.raises(MissingParameterError, match="--delta 1e-6"):
        priced("needy(a)", epsilon="1")
    with pytest.raises(InvalidParameterError, match="leave --delta out"):
        priced("median(a)", epsilon="1", delta="1e-6")


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "much", "", "1/0"])
def test_a_total_that_is_no_positive_number_is_an_error(epsilon: str) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon must be"):
        priced("median(a)", epsilon=epsilon)


@pytest.mark.parametrize(
    "text",
    [
        "medain(a)",
        "median(a, method=magic)",
        "median(a, colour=red)",
        "median(a, 0.5)",
        "quantile(a)",
        "quantile(a, 1.5)",
        "quantile(a, [])",
        "quantile(a, income)",
        "median(a, epsilon=0)",
        "median(a, epsilon=1e999)",
        "median(a, epsilon=[1])",
        "median(a, epsilon=None)",
        "median(a, epsilon=True)",
        "median(a, method=universal, delta=0.1)",
    ],
)
def test_a_question_that_cannot_be_asked_is_an_error(text: str) -> None:
    with pytest.raises(DpstatsError):
        priced(text, epsilon="1")


@pytest.mark.parametrize("keyword", ["neighbors", "unit", "rng", "column", "name"])
def test_what_belongs_to_the_whole_call_is_not_taken_from_a_question(keyword: str) -> None:
    with pytest.raises(UnknownNameError, match=keyword):
        priced(f"median(a, {keyword}=x)", epsilon="1")
