"""`dpstats ledger`: verifies a ledger, or shows what it says."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from dpstats.cli import exits
from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.curator.ledger.statements import Statement, StatementLine
from dpstats.foundations.errors import UnknownNameError
from dpstats.foundations.results import value_text
from dpstats.foundations.text_tables import headed_lines, shortened, table_lines

UNSOUND = 1
_LONGEST_QUESTION = 60

_DESCRIPTION = f"""\
A ledger keeps every question that was put to a protected table, what it cost, and what was answered. Each entry is chained to
the one before it by a hash. Reading a ledger changes nothing in it, and needs neither the data nor the writer's machine.

  dpstats ledger verify survey.ledger
  dpstats ledger verify survey.ledger --head 5a49dcfc1ee8...
  dpstats ledger show survey.ledger --dataset survey
  dpstats ledger show postgresql://user@host/database --json

verify checks every hash, the chain, every running total, the budgets and the archived answers. A ledger whose last entries were
cut off is still sound by itself: remember the head that is printed, and give it with --head the next time.

Exit codes of verify:
  {exits.ANSWERED}  the ledger is sound
  {UNSOUND}  it is not; every complaint is printed with the number of its entry
  {exits.BAD_INPUT}  it cannot be read; one sentence says why
"""


def describe() -> str:
    """The text above the arguments in the help."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `dpstats ledger`."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    verify = actions.add_parser("verify", help="check a ledger from its first entry to its last", allow_abbrev=False)
    show = actions.add_parser("show", help="print terms, budgets, questions and costs", allow_abbrev=False)
    for each in (verify, show):
        each.add_argument("ledger", metavar="LEDGER", help="a file such as survey.ledger, or a postgresql:// URL")
    verify.add_argument("--head", metavar="HASH", help="a head that was printed before; it must still be in the ledger")
    show.add_argument("--json", action="store_true", help="print one JSON object, with the archived answers")
    show.add_argument("--dataset", metavar="NAME", help="only this data set")


def run(arguments: argparse.Namespace) -> int:
    """Verify or show."""
    with open_ledger(arguments.ledger, read_only=True) as ledger:
        return _verify(ledger, arguments.head) if arguments.action == "verify" else _show(ledger, arguments)


def _verify(ledger: Ledger, head: str | None) -> int:
    found = ledger.verify(head.strip().lower() if head else None)
    for complaint in found.complaints:
        print(complaint)
    verdict = "sound" if found.sound else f"NOT SOUND, {_counted(len(found.complaints), 'complaint')}"
    print(f"{ledger.address}: {_counted(found.entries, 'entry', 'entries')}, {verdict}")
    print(f"head {found.head or 'none'}")
    return exits.ANSWERED if found.sound else UNSOUND


def _show(ledger: Ledger, arguments: argparse.Namespace) -> int:
    entries = ledger.entries()
    head = entries[-1].hash if entries else None
    chosen = _chosen(ledger.statements(), arguments.dataset)
    if arguments.json:
        plain = {"ledger": ledger.address, "head": head, "datasets": [statement.to_dict() for statement in chosen]}
        print(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print("\n\n".join([*map(_statement_text, chosen), f"head {head or 'none'}"]))
    return exits.ANSWERED


def _chosen(statements: Sequence[Statement], dataset: str | None) -> list[Statement]:
    chosen = [statement for statement in statements if dataset in (None, statement.dataset)]
    if dataset is not None and not chosen:
        known = ", ".join(statement.dataset for statement in statements) or "none"
        raise UnknownNameError(f"the ledger has no data set {dataset!r}; it has {known}.")
    return chosen


def _statement_text(statement: Statement) -> str:
    terms, keeper = statement.terms, statement.terms.budget.keeper
    amounts = f", that is {statement.spent}" if keeper.loss_name != "epsilon" else ""
    facts = [
        ("opened", statement.opened),
        (
            "protects",
            f"{terms.neighbors.describe(terms.unit)}; at most {_counted(terms.max_rows_per_unit, 'row')} per {terms.unit}",
        ),
        *((name, value_text(fact)) for name, fact in sorted(terms.facts.items())),
        ("budget", str(terms.budget)),
        ("spent", f"{keeper.words(statement.total)}{amounts}"),
        ("remaining", statement.remaining),
    ]
    return "\n".join([statement.dataset, *headed_lines(facts), "", *_table(statement.lines, statement)])


def _table(lines: Sequence[StatementLine], statement: Statement) -> list[str]:
    if not lines:
        return ["  no questions yet"]
    keeper = statement.terms.budget.keeper
    rows = [("when (UTC)", "question", "cost", "total", "answer")]
    for line in lines:
        when, question = line.time[:19].replace("T", " "), shortened(value_text(line.question), _LONGEST_QUESTION)
        answered = "archived" if line.document is not None else "none"
        rows.append((when, question, str(line.cost), keeper.words(line.total), answered))
    return [f"  {line}" for line in table_lines(rows)]


def _counted(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
