"""What `dpstats ledger show` prints: terms, budgets and questions of the data sets in a ledger."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence

from dpstats.cli import exits
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.openings import POPULATION
from dpstats.curator.ledger.statements import Statement, StatementLine
from dpstats.curator.protection import ROW
from dpstats.curator.rows_per_unit import RowsPerUnit, found_among
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
    by_name = {statement.dataset: statement for statement in ledger.statements()}
    chosen = _chosen(list(by_name.values()), arguments.dataset)
    if arguments.json:
        datasets = [{**each.to_dict(), "rows_per_unit": _rows_used(each, by_name)} for each in chosen]
        plain = {"ledger": ledger.address, "head": head, "datasets": datasets}
        print(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print("\n\n".join([*(_statement_text(each, by_name) for each in chosen), f"head {head or 'none'}"]))
    return exits.ANSWERED


def _chosen(statements: Sequence[Statement], dataset: str | None) -> list[Statement]:
    chosen = [statement for statement in statements if dataset in (None, statement.dataset)]
    if dataset is not None and not chosen:
        known = ", ".join(statement.dataset for statement in statements) or "none"
        raise UnknownNameError(f"the ledger has no data set {dataset!r}; it has {known}.")
    return chosen


def _of_dataset(statement: Statement, by_name: Mapping[str, Statement]) -> Statement:
    """The statement of the data set that an account is about. The account of a cap has no facts of its own."""
    return by_name.get(statement.opening.dataset or "", statement)


def _is_found(statement: Statement, by_name: Mapping[str, Statement]) -> bool:
    """Whether the number of rows of each unit is found privately, not named."""
    return RowsPerUnit.of_terms(_of_dataset(statement, by_name).terms).epsilon is not None


def _rows_used(statement: Statement, by_name: Mapping[str, Statement]) -> int | None:
    """How many rows of each unit are used; None where that is still to be found, and where an account bounds no rows."""
    terms = statement.terms
    if not isinstance(terms.neighbors, Neighbors) or statement.opening.account == POPULATION:
        return None  # a graph's edges have any number of rows; the rows of a population are bounded by each of its data sets
    if not _is_found(statement, by_name):
        return terms.max_rows_per_unit
    dataset = _of_dataset(statement, by_name)
    release = found_among(dataset.lines, dataset.terms)
    return None if release is None else release.value.rows


def _rows_text(statement: Statement, by_name: Mapping[str, Statement]) -> str:
    """How many rows of each unit are used, in words."""
    terms, number = statement.terms, _rows_used(statement, by_name)
    if terms.unit == ROW:
        return ""
    is_found = _is_found(statement, by_name)
    if number is None:
        limit = counted(terms.max_rows_per_unit, "row")
        return f"; at most {limit} of each {terms.unit}, how many is still to be found privately" if is_found else ""
    return f"; at most {counted(number, 'row')} of each {terms.unit}{', found privately' if is_found else ''}"


def _statement_text(statement: Statement, by_name: Mapping[str, Statement]) -> str:
    terms, keeper = statement.terms, statement.terms.budget.keeper
    amounts = f", that is {statement.spent}" if keeper.loss_name != "epsilon" else ""
    facts = [
        ("opened", statement.opened),
        (
            "protects",
            terms.neighbors.describe(terms.unit) + _rows_text(statement, by_name),
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
