from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.cli.questions import parse_question
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, MissingParameterError


@pytest.mark.parametrize(
    ("text", "statistic", "column", "positional", "keywords"),
    [
        ("median(income)", "median", "income", (), {}),
        ("  median( income )  ", "median", "income", (), {}),
        ("quantile(income, 0.9)", "quantile", "income", (0.9,), {}),
        ("quantile(income, [0.1, 0.5, 0.9], epsilon=0.3)", "quantile", "income", ([0.1, 0.5, 0.9],), {"epsilon": 0.3}),
        ("quantile(income, (0.1, 0.5))", "quantile", "income", ([0.1, 0.5],), {}),
        ('count("net income")', "count", "net income", (), {}),
        ("count('')", "count", "", (), {}),
        ("median(income, method=universal)", "median", "income", (), {"method": "universal"}),
        ("median(income, method='universal')", "median", "income", (), {"method": "universal"}),
        ("median(income, epsilon='1/3')", "median", "income", (), {"epsilon": "1/3"}),
        ("f(x, -1, flag=True, interval=None)", "f", "x", (-1,), {"flag": True, "interval": None}),
        ("f(größe)", "f", "größe", (), {}),
    ],
)
def test_a_question_is_taken_apart(
    text: str, statistic: str, column: str, positional: tuple[object, ...], keywords: dict[str, object]
) -> None:
    question = parse_question(text)
    assert (question.statistic, question.column, question.positional, dict(question.keywords)) == (
        statistic,
        column,
        positional,
        keywords,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "median",
        "median(income",
        "median income",
        "median[income]",
        "median(income).value",
        "median(income)(age)",
        "dp.median(income)",
        "median(income); import os",
        "median(income)\nmedian(age)",
        "lambda: 1",
        "median(open('secrets'))",
        "median(__import__('os').system('true'))",
        "median(income.__class__)",
        "median([x for x in income])",
        "median(income, *args)",
        "median(income, **kwargs)",
        "median(income, q:=1)",
        "median(income, 1 + 1)",
        "median(income, not 1)",
        "median(income, -income)",
        "median(income, --1)",
        "median(income, f'{1}')",
        "median(income, b'bytes')",
        "median(income, 1j)",
        "median(income, ...)",
        "median(income, {1: 2})",
        "median(class)",
        "median(income, await x)",
        "median(income, yield)",
        "median(\0)",
        "median(\ud800)",
        "(" * 500 + ")" * 500,
        "median(" + "[" * 300 + "]" * 300 + ")",
        "median(income, " + "-" * 1500 + "1)",
        "median(income, " + "1" * 1900 + "x)",
        "m(" + "a." * 900 + "b)",
        "median(" + "x" * 10_000 + ")",
    ],
)
def test_anything_else_is_one_clear_error(text: str) -> None:
    with pytest.raises(InvalidParameterError) as complaint:
        parse_question(text)
    message = str(complaint.value)
    assert message.isprintable()
    assert len(message) < 300


def test_odd_literals_raise_no_warning() -> None:
    assert parse_question(r'count("\d")').column == r"\d"


def test_a_keyword_given_twice_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="epsilon twice"):
        parse_question("median(income, epsilon=1, epsilon=2)")


def test_a_question_without_a_column_says_so() -> None:
    with pytest.raises(MissingParameterError, match="names no column"):
        parse_question("count()")
    with pytest.raises(InvalidParameterError, match="must name a column first"):
        parse_question("quantile(0.9, income)")


@given(st.text(max_size=60))
def test_no_text_gets_more_than_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(DpstatsError):
        parse_question(text)


@given(st.text(alphabet="f(x,)[]='\"-1.e:*", max_size=40))
def test_no_almost_question_gets_more_than_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(DpstatsError):
        parse_question(text)


@pytest.mark.parametrize(("text", "value"), [("1/2", Fraction(1, 2)), ("[1/3, 0.5]", [Fraction(1, 3), 0.5])])
def test_a_ratio_of_whole_numbers_is_exact(text: str, value: object) -> None:
    assert parse_question(f"quantile(income, {text})").positional == (value,)
    assert parse_question(f"quantile(income, q={text})").keywords == {"q": value}


@pytest.mark.parametrize("text", ["1/0", "1.5/2", "1/2/3", "a/2", "True/2", "1/(2+1)", "2//1", "[1]/2"])
def test_other_arithmetic_is_not_evaluated(text: str) -> None:
    with pytest.raises(InvalidParameterError, match="is not clear"):
        parse_question(f"quantile(income, {text})")
