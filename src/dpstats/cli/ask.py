"""`dpstats ask`: private answers about the columns of a CSV or Parquet file."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.cli import exits
from dpstats.cli.answers import json_text, plain_text
from dpstats.cli.command import add_delta_and_neighbors, add_questions_and_epsilon
from dpstats.cli.pricing import Offer, offer_of, priced, total_cost
from dpstats.cli.questions import ParsedQuestion, parse_question
from dpstats.curator.desk import Desk, Priced
from dpstats.curator.documents.document import REGRESSION
from dpstats.curator.scope import Scope
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.stores.opening import INFER, Types, open_store
from dpstats.engines.views import TableView
from dpstats.foundations.arguments import call_words, split_parameters
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource, seeded, source_or_system
from dpstats.foundations.registry import REQUIRED, Question, Reads, Statistic, find_statistic, statistic_names
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.foundations.rounding import decimal_text

if TYPE_CHECKING:
    from dpstats.curator.formulas import FormulaQuestion

_DESCRIPTION = """\
Answers questions about a CSV or Parquet file with differential privacy. No bounds are needed.

  dpstats ask people.csv "median(income)" --epsilon 1
  dpstats ask people.csv "median(income)" "quantile(income, 0.9)" --epsilon 1 --unit person
  dpstats ask people.csv "proportion(hours > 0)" --epsilon 1
  dpstats ask people.csv "mean(income)" "histogram(region)" --epsilon 1 --plot answers.svg
  dpstats ask people.csv "linear_regression([age, schooling], income)" --epsilon 1
  dpstats ask people.csv "regression('log(income) ~ age + C(region)')" --epsilon 1
  dpstats ask people.csv "mle(gamma, income)" "mle(multivariate_normal, [age, income])" --epsilon 1
  dpstats ask people.parquet "quantile(income, [0.1, 0.5, 0.9], epsilon=0.3)" 'count("net income")' --epsilon 1 --json

A question names a column first, or two where it is about two, and then its parameters; a regression names its features, in a
list where there are several, and then the outcome, or has a formula. Maximum likelihood names a law first, and then one column
or several; other parameters go by name. A proportion names a column of true and false, or a condition. interval=0.9 sets the
confidence level of intervals, which is 0.95 otherwise; interval=None leaves them out.
A question with too few rows for its epsilon gets no reply, at full cost, which says about what it takes; --rough takes a rough
answer there.
--epsilon is the total for this call. A question that names its own epsilon takes that much; the others share the rest
equally. Smaller epsilon, more privacy, more noise: 0.1 is cautious, 1 is common, 10 hides little.
A histogram of labels that are not listed also spends a delta to find them, and so does a formula with a category whose levels
are not listed: --delta, or if that is left out 1e-9.
Everything is checked and priced before the file is read; what goes wrong because of the data is a "no reply" at full cost.
"""

_FORMULAS = """
  {regression}('income ~ age + C(region)', model=linear)  A regression by a formula
    model: {models}; what it takes by itself goes by name, such as quantile=0.9
    levels: those of categories, where they are public: levels={{region: [north, south]}}, the first being the reference"""


SYNTHESIZE = "synthesize"


def describe() -> str:
    """The help text, with the statistics as the registry has them."""
    from dpstats.curator.formulas import MODELS

    statistics = [find_statistic(name) for name in statistic_names()]
    calls = {_call_text(statistic): statistic for statistic in statistics}
    width = max((len(call) for call in calls), default=0)
    lines = [_DESCRIPTION, "What can be asked:"]
    for call, statistic in calls.items():
        lines.append(f"  {call:<{width}}  {statistic.summary}")
        lines += [f"  {'':<{width}}    {parameter.name}: {parameter.help}" for parameter in statistic.parameters]
    lines += [_FORMULAS.format(regression=REGRESSION, models=", ".join(MODELS))]
    lines += ["", "Exit codes:", *(f"  {code}  {meaning}" for code, meaning in exits.MEANINGS.items())]
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats ask`."""
    parser.add_argument("file", metavar="FILE", help="a table: .csv, .tsv or .parquet; the first line of a CSV names its columns")
    add_questions_and_epsilon(parser)
    add_delta_and_neighbors(parser)
    parser.add_argument("--unit", default="row", help="what one row stands for, such as person; it is printed, not checked")
    parser.add_argument(
        "--types",
        metavar="COLUMN=TYPE,...",
        action="append",
        default=[],
        help="declare columns of a CSV file as number, integer, boolean, text or date: --types income=number,region=text; "
        "or --types infer, which looks at the rows, so that the types are not private",
    )
    parser.add_argument(
        "--rough", action="store_true", help="take rough answers where rows times epsilon are too few for good ones"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--card", action="store_true", help="print each answer's card: how it was made and what it protects")
    parser.add_argument("--plot", metavar="FILE", help="draw the answers into an .svg or .png file too")
    parser.add_argument("--seed", metavar="N", type=int, help="repeat the same noise, for tests: the answers are NOT PRIVATE")


def run(arguments: argparse.Namespace) -> int:
    """Price, read, answer, draw, print."""
    if arguments.json and arguments.card:
        raise InvalidParameterError("--card prints cards as text, and --json prints all that they say: leave one of them out.")
    if arguments.plot is not None:
        from dpstats.pictures.looks import check_can_draw

        check_can_draw(arguments.plot)
    types = parse_types(arguments.types)
    parsed = [parse_question(text) for text in arguments.questions]
    if not arguments.json and any(each.statistic == SYNTHESIZE for each in parsed):
        raise InvalidParameterError(
            f"ask prints answers, and {SYNTHESIZE} makes rows: dpstats {SYNTHESIZE} FILE --out rows.csv writes them; or with "
            "--json ask prints what was measured, from which they follow."
        )
    questions = price_all(parsed, types, arguments)
    source = None if arguments.seed is None else seeded(arguments.seed)
    answers = answer_questions(arguments.file, questions, types, source)
    try:
        if arguments.plot is not None:
            from dpstats.pictures.releases import plot_answers

            plot_answers(arguments.plot, answers)
    finally:  # what was paid for is printed, whatever becomes of its picture
        if arguments.json:
            print(json_text(arguments.file, answers, total_cost(answers)))
        else:
            print(plain_text(answers, total_cost(answers), cards=arguments.card))
            if arguments.delta is None and (usual := _usual_deltas(questions, answers)):
                print(usual)
    if source is not None:
        print(f"dpstats: {NOT_PRIVATE}. Do not publish these answers.", file=sys.stderr)
    return exits.NO_REPLY if any(isinstance(answer, NoReply) for answer in answers) else exits.ANSWERED


def price_all(parsed: Sequence[ParsedQuestion], types: Types, arguments: argparse.Namespace) -> list[Question | FormulaQuestion]:
    """Checked and priced questions; where there is a formula among them, the names and types of the columns are read for it."""
    neighbors, unit = arguments.neighbors, arguments.unit
    offers: list[Offer[Question | FormulaQuestion]] = []
    for each in parsed:
        if each.statistic == REGRESSION:
            from dpstats.cli.formulas import offer_of_formula

            offers.append(offer_of_formula(each, open_store(arguments.file, types)[1], neighbors, unit, arguments.rough))
        else:
            offers.append(offer_of(each, neighbors, unit, arguments.rough))
    return priced(offers, epsilon=arguments.epsilon, delta=arguments.delta)


def answer_questions(
    file: str, questions: Sequence[Question | FormulaQuestion], types: Types, source: RandomSource | None
) -> list[Release | NoReply]:
    """Open the table, look at the types of all columns, and only when all of that has gone well answer the questions."""
    store, schema = open_store(file, types)
    desk, scope, chosen = Desk(store, schema), Scope(schema, TableView(schema)), source_or_system(source)
    asked: list[Priced] = []
    for question in questions:
        if isinstance(question, Question):
            own, names = _scope_of(question, scope).with_conditions(question.statistic, question.columns)
            question = question.on(names)
            asked.append(desk.price(own, own.settled(question), chosen))
        else:
            from dpstats.curator.formulas import price_formula

            asked.append(price_formula(desk, scope, question, chosen))
    return [desk.answer(each) for each in asked]


def _scope_of(question: Question, scope: Scope) -> Scope:
    """A statistic of numbers or labels that is not told which takes a column without a type, of a CSV file, for labels."""
    if question.statistic.reads_codes or question.statistic.told(question.arguments, None) is not None:
        return scope
    reads = question.statistic.reads_of(len(question.columns))
    either = {name for name, each in zip(question.columns, reads, strict=True) if each is Reads.EITHER}
    texts = {name: ColumnType.TEXT for name in either if scope.columns.get(name) is ColumnType.UNDECLARED}
    return Scope({**scope.columns, **texts}, TableView({**scope.columns, **texts})) if texts else scope


def parse_types(declarations: Sequence[str]) -> Types:
    """`income=number,region=text` as a dictionary, a name with a comma in it in double quotes; or the word infer."""
    if list(declarations) == [INFER]:
        return "infer"
    types: dict[str, str] = {}
    for declaration in declarations:
        for item in next(csv.reader([declaration]), []):
            name, equals, kind = item.rpartition("=")
            if not equals:
                raise InvalidParameterError(f"--types takes COLUMN=TYPE, such as income=number, got {item!r}.")
            if name.strip() in types:
                raise InvalidParameterError(f"--types declares column {name.strip()!r} twice.")
            types[name.strip()] = kind.strip()
    return types


def _usual_deltas(questions: Sequence[Question | FormulaQuestion], answers: Sequence[Release | NoReply]) -> str:
    """A word on deltas that were spent although none was given; empty where there is none."""
    for question, answer in zip(questions, answers, strict=True):
        if isinstance(question, Question):
            usual, way = question.statistic.usual_delta, "took delta = {} to find"
            listed = f"{question.statistic.name}({question.column}, ['...', '...'])"
        else:
            from dpstats.cli.formulas import LEVELS_DELTA

            unknown, way = question.design.unknown, "made the question take delta = {}"
            usual = LEVELS_DELTA if unknown else None
            listed = f"C({shown(unknown[0].key)}, levels=['...', '...'])" if unknown else ""
        if usual is not None and answer.cost.delta == usual:
            spent = way.format(decimal_text(usual))
            return f"Labels that were not listed {spent}. --delta sets another one; {listed} lists them and takes none."
    return ""


def _call_text(statistic: Statistic) -> str:
    parameters = (
        parameter.name if parameter.default is REQUIRED else f"{parameter.name}={parameter.default}"
        for parameter in split_parameters(statistic)[1]
    )
    return f"{statistic.name}({', '.join((*call_words(statistic, 'column'), *parameters))})"
