"""`dpstats plan`: what to expect of questions before they are asked, from simulated tables."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpstats.cli import exits
from dpstats.cli.command import add_delta_and_neighbors, add_questions_and_epsilon
from dpstats.cli.pricing import asked_statistic, price_questions
from dpstats.cli.questions import ParsedQuestion, comes_first, name_columns, parse_question, take_first
from dpstats.curator.documents.document import REGRESSION
from dpstats.curator.planning.bundles import planned_columns
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.joint import JointPlan
from dpstats.curator.planning.plan import checked_wish, plan_questions
from dpstats.curator.planning.shapes import DEFAULT_SHAPES, SHAPES, SHARE_SHAPES
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.randomness import seeded
from dpstats.foundations.registry import Question
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.text_tables import headed_lines

_DESCRIPTION = """\
Says what to expect of questions before they are asked: how likely a reply is, how wide its interval, how large its error.
No file is read and nothing is spent; the questions are answered on simulated tables. For usual ones that was done before: they
are read off stored tables at once, unless --repeats or --seed is given.

  dpstats plan "median(income)" --epsilon 0.5 --n 10000
  dpstats plan "median(income)" "quantile(income, 0.9)" "count(region)" --epsilon 1 --n 10000
  dpstats plan "median(income)" --half-width 5% --n 1000,10000 --shape lognormal
  dpstats plan "median(income)" --half-width 500 --n 10000 --shape '{"0.1": 12000, "0.5": 30000, "0.9": 85000}'
  dpstats plan "linear_regression([age, schooling], income)" --epsilon 1 --n 10000
  dpstats plan "logistic_regression(X, y)" --features 12 --epsilon 1 --n 10000
  dpstats plan "mle(gamma)" "sample_and_aggregate(median)" --epsilon 1 --n 10000

Questions are written as for dpstats ask; a column's name is only a word here, and may be left out. --epsilon is the total: a
question that names its own epsilon takes that much, the others share the rest equally. With --half-width in its place, the plan
says the smallest epsilon, up to 10, with which the interval reaches no farther to either side: in the unit of the answer, or with
% as a share of the interquartile range (of the value itself for counts, sums and others that are not in the unit of the data).
"""


def describe() -> str:
    """The help text, with the shapes as the list has them."""
    shapes = headed_lines({name: shape.summary for name, shape in SHAPES.items()})
    usual = f"{', '.join(DEFAULT_SHAPES)}; for shares {', '.join(SHARE_SHAPES)}"
    return "\n".join([_DESCRIPTION, f"Shapes (where none is named: {usual}):", *shapes])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats plan`."""
    add_questions_and_epsilon(parser)
    parser.add_argument("--half-width", metavar="W", help="in place of --epsilon: how wide an interval may be to either side")
    parser.add_argument("--n", metavar="N,...", action="append", default=[], help="about how many rows the table has")
    parser.add_argument("--rows", metavar="N,...", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument(
        "--shape",
        metavar="SHAPE,...",
        action="append",
        default=[],
        help="how the data may look: names, or known quantiles in JSON; may be given several times",
    )
    parser.add_argument("--features", metavar="N", type=int, help="how many features a regression has that names one, such as X")
    add_delta_and_neighbors(parser)
    parser.add_argument("--rough", action="store_true", help="plan for rough answers where good ones would be refused")
    parser.add_argument("--repeats", metavar="N", type=int, help="tables to simulate for each line, in place of stored ones")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--plot", metavar="FILE", help="draw the plan into an .svg or .png file too")
    parser.add_argument("--seed", metavar="N", type=int, help="simulate, and the same tables again")


def run(arguments: argparse.Namespace) -> int:
    """Price, plan, print."""
    wanted = checked_wish(arguments.epsilon, arguments.half_width)
    parsed = with_features([parse_question(text, needs_column=False) for text in arguments.questions], arguments.features)
    questions = _priced(parsed, arguments, searching=wanted is not None)
    plans = plan_questions(
        questions,
        n=parse_rows(arguments.n, arguments.rows),
        wanted=wanted,
        shape=parse_shapes(arguments.shape),
        repeats=arguments.repeats,
        rng=None if arguments.seed is None else seeded(arguments.seed),
    )
    joint = JointPlan(tuple(plans))
    whole: Plan | JointPlan = plans[0] if len(plans) == 1 else joint
    if arguments.plot is not None:
        whole.plot(arguments.plot)
    print(json.dumps(joint.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) if arguments.json else whole)
    return exits.ANSWERED


def with_features(parsed: Sequence[ParsedQuestion], features: int | None) -> list[ParsedQuestion]:
    """The questions, with a word for each column that they leave out, and `features` features in place of one."""
    for question in parsed:
        if question.statistic == REGRESSION:
            raise InvalidParameterError(
                "a formula cannot be planned without its table: plan linear_regression(X, y) with --features."
            )
    parsed = [name_columns(question, asked_statistic(question)) for question in parsed]
    if features is None:
        return parsed
    if not any(_names_one_feature(question) for question in parsed):
        raise InvalidParameterError("none of these questions is a regression that names one feature: leave --features out.")
    return [_of_several(question, features) if _names_one_feature(question) else question for question in parsed]


def _of_several(question: ParsedQuestion, features: int) -> ParsedQuestion:
    """The question about `features` columns, an outcome apart, in place of one."""
    statistic = asked_statistic(question)
    names = planned_columns(statistic.name, features)[: -1 if statistic.has_outcome else None]
    if comes_first(question, statistic):
        return replace(question, positional=(names, *question.positional[1:]))
    return replace(question, column=names)


def _names_one_feature(question: ParsedQuestion) -> bool:
    statistic = asked_statistic(question)
    if not statistic.takes_features:
        return False
    _, rest = take_first(question, statistic)
    return isinstance(rest.column, str) and (statistic.has_outcome or not rest.positional)


def _priced(parsed: Sequence[ParsedQuestion], arguments: argparse.Namespace, *, searching: bool) -> list[Question]:
    """The questions with their shares; where an epsilon is searched for, at one that stands in for it."""
    if searching:
        for question in parsed:
            if "epsilon" in question.keywords:
                raise InvalidParameterError(f"{question.text} names an epsilon, and --half-width asks for one: leave one out.")
    return price_questions(
        parsed,
        epsilon=Fraction(len(parsed)) if searching else arguments.epsilon,
        delta=arguments.delta,
        neighbors=arguments.neighbors,
        unit="row",
        rough=arguments.rough,
    )


def parse_rows(given: Sequence[str], by_old_name: Sequence[str] = ()) -> list[Any]:
    """`1000,10_000` or `1e4` as numbers of rows; those of --rows, the old name of --n, come with a word about it."""
    if by_old_name:
        print("dpstats plan: --rows is now --n.", file=sys.stderr)
    if not given and not by_old_name:
        raise MissingParameterError("plan needs --n, about how many rows the table has: for example --n 10000.")
    numbers = [exact_rational(item.strip(), "--n") for text in (*given, *by_old_name) for item in text.split(",")]
    return [number.numerator if number.denominator == 1 else float(number) for number in numbers]


def parse_shapes(given: Sequence[str]) -> list[Any] | None:
    """Names of shapes, and JSON objects of known quantiles; None for the usual ones."""
    shapes: list[Any] = []
    for text in given:
        if text.lstrip().startswith("{"):
            shapes.append(_quantiles(text))
        else:
            shapes += [name.strip() for name in text.split(",")]
    return shapes or None


def _quantiles(text: str) -> dict[str, Any]:
    try:
        known = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParameterError(
            """a shape by its quantiles is one JSON object, such as --shape '{"0.1": 12000, "0.5": 30000, "0.9": 85000}'."""
        ) from None
    return dict(known)
