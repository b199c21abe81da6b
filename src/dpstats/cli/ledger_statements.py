"""What `dpstats ledger show` prints: terms, budgets and questions of the data sets in a ledger."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from dpstats.cli import exits
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.statements import Statement, StatementLine
from dpstats.curator.protection import ROW
from dpstats.curator.rows_per_unit import RowsPerUnit
from dpstats.foundations.errors import UnknownNameError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.results import value_text
from dpstats.foundations.text_tables import counted, headed_lines, shortened, table_lines

_LONGEST_QUESTION = 60


def show(ledger: Ledger, arguments: argparse.Namespace) -> int:
    """Print what a ledger says; doubts about it go where errors go."""
    for doubt in ledger.doubts():
        print(f"dpstats: not sound: {doubt}", file=sys.stderr)
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
    of_rows = isinstance(terms.neighbors, Neighbors) and terms.unit != ROW  # a graph's edges have any number of rows
    found = "" if RowsPerUnit.of_terms(terms).epsilon is None else "as many as were found privately, and "
    rows = f"; {found}at most {counted(terms.max_rows_per_unit, 'row')} of each {terms.unit}" if of_rows else ""
    amounts = f", that is {statement.spent}" if keeper.loss_name != "epsilon" else ""
    facts = [
        ("opened", statement.opened),
        (
            "protects",
            terms.neighbors.describe(terms.unit) + rows,
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
