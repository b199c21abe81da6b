"""`dpstats ask`: private answers about the columns of a CSV or Parquet file."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence

import dpstats.statistics  # noqa: F401  (fills the registry)
from dpstats.cli import exits
from dpstats.cli.command import Command
from dpstats.cli.pricing import price_questions, total_cost
from dpstats.cli.questions import parse_question
from dpstats.engines.files import check_column_name, open_table
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.registry import REQUIRED, Question, Statistic, find_statistic, statistic_names
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release, value_text

_DESCRIPTION = """\
Answers questions about a CSV or Parquet file with differential privacy. No bounds are needed.

  dpstats ask people.csv "median(income)" --epsilon 1
  dpstats ask people.csv "median(income)" "quantile(income, 0.9)" --epsilon 1 --unit person
  dpstats ask people.parquet "quantile(income, [0.1, 0.5, 0.9], epsilon=0.3)" 'count("net income")' --epsilon 1 --json

--epsilon is the total for this call. A question that names its own epsilon takes that much; the others share the rest
equally. Smaller epsilon, more privacy, more noise: 0.1 is cautious, 1 is common, 10 hides little.
Everything is checked and priced before the file is read; what goes wrong because of the data is a "no reply" at full cost.
"""


def describe() -> str:
    """The help text, with the statistics as the registry has them."""
    statistics = [find_statistic(name) for name in statistic_names()]
    calls = {_call_text(statistic): statistic for statistic in statistics}
    width = max((len(call) for call in calls), default=0)
    lines = [_DESCRIPTION, "What can be asked:"]
    for call, statistic in calls.items():
        lines.append(f"  {call:<{width}}  {statistic.summary}")
        lines += [f"  {'':<{width}}    {parameter.name}: {parameter.help}" for parameter in statistic.parameters]
    lines += ["", "Exit codes:", *(f"  {code}  {meaning}" for code, meaning in exits.MEANINGS.items())]
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats ask`."""
    parser.add_argument("file", metavar="FILE", help="a table: .csv, .tsv or .parquet; the first line of a CSV names its columns")
    parser.add_argument("questions", metavar="QUESTION", nargs="+", help="such as 'median(income)'; quote it for the shell")
    parser.add_argument("--epsilon", metavar="E", help="the privacy that all questions may spend together, such as 1")
    parser.add_argument("--delta", metavar="D", help="only for methods that need it; the total, such as 1e-6")
    parser.add_argument(
        "--neighbors",
        metavar="RELATION",
        default=Neighbors.ADD_REMOVE.value,
        help="add_remove (the default: the number of rows is private) or change_one (it is public)",
    )
    parser.add_argument("--unit", default="row", help="what one row stands for, such as person; it is printed, not checked")
    parser.add_argument(
        "--types",
        metavar="COLUMN=TYPE,...",
        action="append",
        default=[],
        help="declare columns of a CSV file as number, integer or text: --types income=number,region=text",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--card", action="store_true", help="print each answer's card: how it was made and what it protects")
    parser.add_argument("--seed", metavar="N", type=int, help="repeat the same noise, for tests: the answers are NOT PRIVATE")


def run(arguments: argparse.Namespace) -> int:
    """Price, read, answer, print."""
    questions = price_questions(
        [parse_question(text) for text in arguments.questions],
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        neighbors=arguments.neighbors,
        unit=arguments.unit,
    )
    source = None if arguments.seed is None else seeded(arguments.seed)
    answers = answer_questions(arguments.file, questions, parse_types(arguments.types), source)
    if arguments.json:
        print(json_text(arguments.file, answers, total_cost(questions)))
    else:
        print(plain_text(answers, total_cost(questions), cards=arguments.card))
    if source is not None:
        print(f"dpstats: {NOT_PRIVATE}. Do not publish these answers.", file=sys.stderr)
    return exits.NO_REPLY if any(isinstance(answer, NoReply) for answer in answers) else exits.ANSWERED


def answer_questions(
    file: str, questions: Sequence[Question], types: dict[str, str], source: RandomSource | None
) -> list[Release | NoReply]:
    """Open the table, fetch every column, and only when all of that has gone well answer the questions."""
    table = open_table(file, types)
    for question in questions:
        check_column_name(question.column, table.columns)
    wanted = dict.fromkeys((question.column, question.statistic.numeric) for question in questions)
    columns = {(name, numeric): table.column(name, numeric=numeric) for name, numeric in wanted}

    def answer(question: Question) -> Release | NoReply:
        return question.answer(lambda: columns[question.column, question.statistic.numeric], source)

    return [answer(question) for question in questions]


def parse_types(declarations: Sequence[str]) -> dict[str, str]:
    """`income=number,region=text` as a dictionary; a name with a comma in it goes in double quotes."""
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


def plain_text(answers: Sequence[Release | NoReply], total: PrivacyCost, *, cards: bool) -> str:
    """The answers for people."""
    blocks = [_card_text(answer) if cards else _answer_text(answer) for answer in answers]
    blocks.append(
        f"Spent by this call: {total}. Neighbours: {total.neighbors.describe(total.unit)}.\n"
        "Nothing keeps count between calls: every further call on the same data spends more on top of this."
    )
    if not all(answer.private for answer in answers):
        blocks.insert(0, f"*** {NOT_PRIVATE} ***")
    return "\n\n".join(blocks)


def json_text(file: str, answers: Sequence[Release | NoReply], total: PrivacyCost) -> str:
    """The answers for programs: one object."""
    result = {
        "file": file,
        "answers": [answer.to_dict() for answer in answers],
        "total": total.to_dict(),
        "private": all(answer.private for answer in answers),
    }
    return json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False)


def _card_text(answer: Release | NoReply) -> str:
    return str(answer.card(whole=True) if isinstance(answer, Release) else answer.card())


def _answer_text(answer: Release | NoReply) -> str:
    if isinstance(answer, NoReply):
        return f"{answer.question}: no reply\n  {answer.reason} {answer.advice}\n  cost      {answer.cost}"
    lines = [f"{answer.question} = {value_text(answer.value)}"]
    if answer.interval:
        lines.append(f"  interval  {answer.interval}; covers {answer.interval.covers}")
    lines.append(f"  cost      {answer.cost}")
    if reliable_from := dict(answer.notes).get("reliable from"):
        lines.append(f"  note      reliable from {reliable_from.partition(';')[0]}")
    return "\n".join(lines)


def _call_text(statistic: Statistic) -> str:
    parameters = (
        parameter.name if parameter.default is REQUIRED else f"{parameter.name}={parameter.default}"
        for parameter in statistic.parameters
    )
    return f"{statistic.name}({', '.join(('column', *parameters))})"


COMMAND = Command("ask", "private answers about a CSV or Parquet file", describe, add_arguments, run)
