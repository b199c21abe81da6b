"""`dp.protect`: puts a table behind a ledger, and says whom it protects and how much may be spent."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Literal

from dpstats.accounting.budgets import Budget
from dpstats.curator.desk import Desk, library_of
from dpstats.curator.group_keys import checked_values
from dpstats.curator.ledger.ledger import Account, Ledger, Terms, open_ledger
from dpstats.curator.ledger.openings import population_name
from dpstats.curator.memory_ledgers import MEMORY, ledger_in_memory, remember
from dpstats.curator.opening import bounded_rows, open_table
from dpstats.curator.protection import Protection
from dpstats.curator.rows_per_unit import (
    RowsPerUnit,
    check_can_be_found,
    checked_rows_per_unit,
    found_protection,
    left_out,
)
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.stores.opening import INFER, Types
from dpstats.engines.stores.store import Store
from dpstats.engines.stores.whereabouts import Whereabouts, whereabouts_of
from dpstats.engines.units.contributions import MissingUnit
from dpstats.engines.views import TableView
from dpstats.foundations.accepted import NeighborsName, Number
from dpstats.foundations.addresses import is_no_path
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.words import with_known_words

UNNAMED = "table"
NEEDED = {
    "unit": "whom to protect: the column that says whose row it is, such as unit='person', or unit='row' if every row is "
    "somebody else",
    "budget": "how much all questions may spend: for example budget=dp.Budget(epsilon=3)",
    "ledger": "where to keep count of what was spent: for example ledger='survey.ledger', or ':memory:' to forget it when this "
    "process ends",
}
"""What is said where one of these is left out."""


@with_known_words(NEEDED)
def protect(
    table: object,
    *,
    unit: str,
    budget: Budget,
    ledger: str | PurePath | Ledger,
    max_rows_per_unit: int | Literal["auto"] | None = None,
    rows_per_unit_epsilon: Number | None = None,
    most_rows_per_unit: int | None = None,
    missing_unit: Literal["drop", "each", "together"] = "drop",
    neighbors: NeighborsName = "add_remove",
    types: Types | None = None,
    keys: Mapping[str, Any] | None = None,
    name: str | None = None,
    edition: str | None = None,
    population: str | None = None,
    may_fail: bool = False,
    allow_seeded: bool = False,
) -> Session:
    """A session on a protected table: every statistic as a method, and a ledger that keeps count.

    Parameters
      table              a DataFrame (pandas, polars, pyarrow, Spark), a dict of columns, a Parquet or CSV file or a pattern such
                         as "visits/*.parquet", the same of objects in a store ("s3://bucket/visits/*.parquet"), a Delta or
                         Iceberg table, a table in DuckDB, a Postgres table "postgresql://host/database#schema.table"
      unit               whom to protect: the column that says whose row it is, or "row" where every row is somebody else
      budget             how much all questions together may spend: dp.Budget(epsilon=3, delta=1e-6)
      ledger             where to keep count: a file, or "postgresql://..." for several machines; ":memory:" is forgotten when
                         this process ends. One that was opened, dp.open_ledger("postgresql://...", witness="survey.witness",
                         key="survey.key"), brings along its witness and the key that signs it
      max_rows_per_unit  how many rows of each unit are used at most, picked by a keyed hash: 1 if every unit has one row, or a
                         number that nearly all units stay within. Rows beyond it are left out, and a larger one costs accuracy.
                         "auto" has it found privately. Where the unit is a column it must be said, unless the ledger knows it
      rows_per_unit_epsilon
                         with "auto", what finding it costs, once, when the account is opened
      most_rows_per_unit with "auto", the largest number that may be found, which is public; 64 unless it is named
      missing_unit       rows without a unit: "drop" leaves them out, "each" takes each for a unit of its own, "together" takes
                         all of them for one unit
      neighbors          "add_remove" (one unit more or less) or "change_one" (one unit's rows replaced, their number public)
      types              declares columns of text or of no type: {"income": "number"}; number, integer, boolean, text or date.
                         Columns of a CSV file are text where they are not declared. "infer" lets the rows decide, which is not
                         private: the ledger keeps that it was your decision
      keys               the values of columns where those are public, for group_by: {"region": ["north", "south"]}
      name               the table's name in the ledger; a file has its own
      edition            names the state of the rows; change it when the rows of a database change, and questions are answered
                         anew. Files and tables in memory tell by themselves
      population         names the persons, where several tables are about the same ones: all tables of a population share one
                         budget, which each of them names
      may_fail           True takes queries, views and lazy frames too, which are computed while they are read: a row on which
                         one fails shows in that there are no answers, which epsilon does not cover. The ledger records it
      allow_seeded       for tests of invented tables: answers may repeat (rng=dp.testing.seeded(7)), and are NOT PRIVATE

    Nothing is read but names and types, and files and tables in memory once, for a fingerprint; the ids of units too where "auto"
    finds a number, which is paid for. What is asked is debited before a question reads a row, and never refunded.
    """
    rows = checked_rows_per_unit(_checked_unit(unit), max_rows_per_unit, rows_per_unit_epsilon, most_rows_per_unit)
    protection = checked_protection(unit, 1 if rows is None else rows.most, missing_unit, neighbors, may_fail)
    if not isinstance(budget, Budget):
        raise InvalidParameterError(f"budget must be a dp.Budget, such as dp.Budget(epsilon=3), got {type(budget).__name__}.")
    store, schema = open_table(table, types, protection)
    if rows is None and _is_new(ledger):
        raise left_out(unit)
    if rows is not None:
        check_can_be_found(rows, budget, unit, protection.neighbors)
    scope = Scope(schema, TableView(schema))
    public_keys = {column: checked_values(column, scope.kind_of(column), values) for column, values in (keys or {}).items()}
    called = _checked_name(name) if name is not None else _name_of(table, store)
    label = _checked_edition(edition)
    decided = {"types": INFER} if types == INFER else {}

    def terms_on(book: Ledger) -> Terms:
        known = rows or _known_rows(book, called or UNNAMED, unit)
        return replace(protection, rows_per_unit=known.most).terms(budget, {**decided, **known.facts})

    account, state = _opened_account(ledger, called or UNNAMED, whereabouts_of(store), label or "", terms_on, population)
    if label is None and not called and not state:  # never taken for a table of an earlier session
        label = secrets.token_hex(8)
    key = bounding_key(account, repeats=allow_seeded is True)
    protection = replace(protection, rows_per_unit=account.opened_with.terms.max_rows_per_unit)
    protection = found_protection(account, store, schema, protection, key)
    return Session(
        Desk(
            name=called or UNNAMED,
            store=bounded_rows(store, schema, protection, key),
            schema=schema,
            protection=protection,
            account=account,
            public_keys=public_keys,
            edition=label or "",
            source=state,
            allow_seeded=allow_seeded is True,
            library=library_of(table),
        ),
        scope,
    )


def checked_protection(
    unit: object, rows: object, missing: object = "drop", neighbors: object = "add_remove", may_fail: object = False
) -> Protection:
    """Whom a table protects, from what the data holder says of it; `rows` is a number, or None with unit='row'."""
    name = _checked_unit(unit)
    asked = checked_rows_per_unit(name, rows)
    if asked is None:
        raise left_out(name)
    if missing not in [each.value for each in MissingUnit]:
        raise InvalidParameterError(f"missing_unit must be 'drop', 'each' or 'together', got {missing!r}.")
    return Protection(name, asked.most, MissingUnit(missing), Neighbors.named(neighbors), may_fail is True)


def _checked_unit(unit: object) -> str:
    if not isinstance(unit, str) or not unit:
        raise MissingParameterError(f"protect needs unit, {NEEDED['unit']}.")
    return unit


def _is_new(ledger: str | PurePath | Ledger) -> bool:
    """Whether a ledger is in a file that is not there yet, so that it cannot know any table."""
    if isinstance(ledger, Ledger) or str(ledger) == MEMORY or is_no_path(str(ledger)):
        return False
    return not Path(ledger).exists()


def _known_rows(book: Ledger, called: str, unit: str) -> RowsPerUnit:
    """What the ledger has agreed on for a table of that name; an error where it does not know one."""
    if called not in book.account_names:
        raise left_out(unit)
    return RowsPerUnit.of_terms(book.reader(called).opened_with.terms)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 200:
        raise InvalidParameterError("name must be one line of printable text, such as 'survey'.")
    return name


def _name_of(table: object, store: Store) -> str:
    """The name that a file, a folder of files or a database table brings along; empty for what lies in memory."""
    if own := getattr(store, "name", ""):
        return str(own)
    return name_of_file(table)


def name_of_file(table: object) -> str:
    """The name that a path brings along; empty for anything else."""
    if not isinstance(table, (str, PurePath)):
        return ""
    path = Path(table)
    while any(sign in path.name for sign in "*?["):  # a pattern is named after its folder
        path = path.parent
    stem = path.absolute().name.partition(".")[0]
    return stem if stem.strip() and stem.isprintable() else ""


def bounding_key(account: Account, *, repeats: bool) -> bytes:
    """What decides which rows of a unit are used: the same in all sessions on an account, and unknown before it was opened."""
    secret = "" if repeats else account.opening
    return hashlib.sha256(f"rows per unit\n{secret}".encode()).digest()


def _opened_account(
    ledger: str | PurePath | Ledger,
    called: str,
    table: Whereabouts,
    label: str,
    terms_on: Callable[[Ledger], Terms],
    population: str | None,
) -> tuple[Account, str]:
    """The account of a table, under its own name or another, and what tells its state from others."""
    book = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    is_alone = str(ledger) == MEMORY and population is None and not table.places  # in a ledger that no other session will see
    is_known = bool(table.places or table.content) and not is_alone
    prints = book.prints_of(called, table, label) if is_known else None
    if str(ledger) == MEMORY:
        book = ledger_in_memory(prints, population)
    book.check()
    terms = terms_on(book)
    if population is not None:
        _open_population(book, population, called, terms)
    account = book.account(called, terms, population=population, prints=prints)
    if str(ledger) == MEMORY:
        remember(book, prints)
    return account, "" if prints is None else prints.state


def _open_population(book: Ledger, population: str, called: str, terms: Terms) -> None:
    """Open a population with the budget of its first table; the others must name the same when they come to it. Later the budgets
    of a table and of its population are amended apart.
    """
    name, known = population_name(population), book.account_names
    if name in known:
        found = book.reader(name).terms
        terms = replace(terms, unit=found.unit)  # every table calls its persons as it likes
        if called in known:
            terms = replace(terms, budget=found.budget)
    book.population(population, replace(terms, max_rows_per_unit=1, facts={}))


def _checked_edition(edition: object) -> str | None:
    if edition is not None and (not isinstance(edition, str) or not edition.isprintable()):
        raise InvalidParameterError("edition must be one line of printable text, such as '2026-11'.")
    return edition
