"""`dpstats demo`: questions about the bundled table, their answers, their costs and what is left."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.cli import exits
from dpstats.cli.pricing import offer_of, priced
from dpstats.cli.questions import parse_question
from dpstats.data import survey
from dpstats.direct import answer_given
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource, seeded, source_or_system
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.foundations.rounding import decimal_text

BUDGET = PrivacyCost(4, unit="person")
Numbers = NDArray[Any]


@dataclass(frozen=True)
class DemoQuestion:
    """A question of the demo, how to read its answer, and what the true answer is."""

    text: str
    epsilon: str
    truth: Callable[[Numbers], Any]
    """Of the rows that have all columns: of one column an array, of several rows by columns."""
    read: Callable[[Any], Any] = lambda value: value
    note: str = ""
    on_a_hit: str = ""
    """What to say when the private answer is the true one."""


def least_squares(raw_rows: Numbers) -> Numbers:
    """The intercept and the coefficients of the last column on the others."""
    with_ones = np.column_stack([np.ones(len(raw_rows)), raw_rows[:, :-1]])
    return np.asarray(np.linalg.lstsq(with_ones, raw_rows[:, -1])[0])


QUESTIONS = (
    DemoQuestion("count(person)", "0.1", len),
    DemoQuestion("median(income)", "0.5", np.median),
    DemoQuestion("linear_regression([age, schooling], hours)", "1", least_squares),
    DemoQuestion("quantile(income, [0.1, 0.9])", "0.5", lambda raw: np.quantile(raw, [0.1, 0.9])),
    DemoQuestion("iqr(income)", "0.5", lambda raw: np.subtract(*np.quantile(raw, [0.75, 0.25]))),
    DemoQuestion("median(age)", "0.3", np.median, on_a_hit="ties make an exact hit likely"),
    DemoQuestion("mean(income)", "0.4", np.mean),
    DemoQuestion(
        "cdf(commute)",
        "0.4",
        lambda raw: np.mean(raw <= 30),
        lambda distribution: distribution(30),
        "the fraction that commutes 30 minutes at most; reading the released curve elsewhere costs nothing more",
    ),
    DemoQuestion("quantile(income, 0.95)", "0.5", lambda raw: np.quantile(raw, 0.95)),
)
CARD_FOR = "median(income)"

_DESCRIPTION = """\
Asks a bundled, synthetic table some private questions, until its budget is short. Takes about a second.

  dpstats demo
  dpstats demo --seed 7       the same noise at every run, marked NOT PRIVATE
"""


def describe() -> str:
    """The text above the arguments in the help."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats demo`."""
    parser.add_argument("--seed", metavar="N", type=int, help="repeat the same noise, for tests: the answers are NOT PRIVATE")


def run(arguments: argparse.Namespace) -> int:
    """Print the demo."""
    source = None if arguments.seed is None else seeded(arguments.seed)
    bold = _bold if _is_terminal() and "NO_COLOR" not in os.environ else str
    table = survey()
    if source is not None:
        print(bold(f"*** {NOT_PRIVATE} ***\n"))
    _introduce(table, bold)
    card = _ask_in_turn(table, source, bold)
    print(bold("\nEvery answer has a card that says how it was made and whom it protects. This is the median's:\n"))
    print(card)
    _say_what_next(bold)
    return exits.ANSWERED


def _introduce(table: dict[str, Numbers], bold: Callable[[str], str]) -> None:
    persons = len(table["person"])
    print(bold(f"The table: a survey of {persons:,} persons. It is synthetic: nobody in it exists."))
    print(f"  columns   {', '.join(table)}")
    print("  bounds    none were given; income has zeros, losses, fortunes and holes")
    print(bold(f"\nThe budget: {BUDGET} for all questions together."))
    print(f"  protects  {BUDGET.neighbors.describe(BUDGET.unit)}")
    print("  epsilon   the privacy spent: 0.1 is cautious, 1 common, 10 hides little")
    print("  cost      known before the data is read; when the budget is spent, no more questions\n")


def _ask_in_turn(table: dict[str, Numbers], source: RandomSource | None, bold: Callable[[str], str]) -> str:
    """Ask while the budget lasts; returns the card to show."""
    left = BUDGET.epsilon
    card = ""
    print(bold(_row("question", "private answer", "95% interval", "epsilon", "left", "true (*)")))
    for demo_question in QUESTIONS:
        offer = offer_of(parse_question(demo_question.text), BUDGET.neighbors, BUDGET.unit)
        (question,) = priced([offer], epsilon=demo_question.epsilon, delta=None)
        price = decimal_text(question.epsilon)
        if question.epsilon > left:
            print(_row(demo_question.text, "not asked", "", price, decimal_text(left)))
            print(f"    (it costs {price}, more than the {decimal_text(left)} that is left; no data was read to find out)")
            continue
        raw_columns = [table[name] for name in question.columns]
        answer = answer_given(question, raw_columns, source_or_system(source))
        left -= answer.cost.epsilon
        truth = _numbers(demo_question.truth(_raw_complete(raw_columns)))
        if len(raw_columns) > 1:
            _show_table(demo_question.text, answer, price, decimal_text(left), truth)
            continue
        value = "no reply" if isinstance(answer, NoReply) else _numbers(demo_question.read(answer.value))
        print(_row(demo_question.text, value, _interval(answer), price, decimal_text(left), truth))
        for note in (demo_question.note, demo_question.on_a_hit if value == truth else ""):
            if note:
                print(f"    ({note})")
        if demo_question.text == CARD_FOR:
            card = str(answer.card())
    print("\n(*) The true value is shown only because these persons are invented. With real data, nobody who gets only")
    print("    the releases sees it.")
    return card


def _raw_complete(raw_columns: Sequence[Numbers]) -> Numbers:
    """The rows that have all columns: of one column an array, of several rows by columns."""
    raw_rows: Numbers = np.column_stack([column.astype(float) for column in raw_columns])
    raw_kept: Numbers = raw_rows[~np.isnan(raw_rows).any(axis=1)]
    return raw_kept[:, 0] if len(raw_columns) == 1 else raw_kept


def _show_table(text: str, answer: Release | NoReply, price: str, left: str, truth: str) -> None:
    """A line for an answer that is a table, and the table below."""
    print(_row(text, "no reply" if isinstance(answer, NoReply) else "", "", price, left))
    if isinstance(answer, Release):
        print("\n".join(f"      {line}" for line in answer.summary().splitlines()))
    print(f"    (true, by least squares (*): {truth})")


def _say_what_next(bold: Callable[[str], str]) -> None:
    print(bold("\nNext"))
    bundled = Path(str(resources.files("dpstats.data").joinpath("survey.csv")))
    print(f'  {_program()} ask {_from_here(bundled)} "median(income)" --epsilon 1')
    print("      the same table as a file; put your own CSV, TSV or Parquet file in its place")
    print(f"  {_program()} ask --help\n      all the questions there are")
    print("  python: import dpstats as dp; dp.median(x, epsilon=1)\n      lists, numpy, pandas, polars, arrow")


def _program() -> str:
    """How the shell finds this program: by its name, or by where it lies."""
    script = Path(sys.executable).with_name("dpstats")
    return "dpstats" if shutil.which("dpstats") or not script.exists() else _from_here(script)


def _from_here(path: Path) -> str:
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _row(question: str, answer: str, interval: str, epsilon: str, left: str, truth: str = "") -> str:
    answer = answer.rjust(14 - max(0, len(question) - 28))
    interval = interval.rjust(18 - max(0, len(question) + len(answer) - 42))
    return f"  {question:<28} {answer} {interval} {epsilon:>8} {left:>5} {truth:>14}".rstrip()


def _interval(answer: Release | NoReply) -> str:
    """The interval of a single number, in short."""
    if isinstance(answer, NoReply) or answer.interval is None:
        return ""
    return f"{answer.interval.low:,.5g} to {answer.interval.high:,.5g}"


def _numbers(value: Any) -> str:
    """A number, or several in brackets."""
    shown = "; ".join(f"{number:,.6g}" for number in np.atleast_1d(value))
    return f"[{shown}]" if np.ndim(value) else shown


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m"
