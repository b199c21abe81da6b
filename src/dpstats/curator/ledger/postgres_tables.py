"""The tables of a ledger in Postgres, and the driver that reaches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpstats.curator.ledger.stores import ADD_ACTORS, CREATE_INDEXES, CREATE_TABLE
from dpstats.foundations.errors import MissingExtraError

if TYPE_CHECKING:
    import psycopg

CREATION = 0x64706C67  # the advisory lock under which tables are made: "dplg"
_TRIGGER = """\
CREATE FUNCTION dpstats_ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a ledger is append-only'; END $$;
CREATE TRIGGER dpstats_ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dpstats_ledger
EXECUTE FUNCTION dpstats_ledger_refuse()"""
_TURN = (
    "CREATE TABLE dpstats_ledger_turn (only_row INTEGER PRIMARY KEY CHECK (only_row = 1))",
    "INSERT INTO dpstats_ledger_turn VALUES (1)",
)
# A look at the catalog's rows; to_regclass may still remember what it saw before another writer made the table.
IS_THERE = """\
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_tables WHERE tablename = 'dpstats_ledger' AND schemaname = ANY (current_schemas(false))
)"""
HAS_ACTORS = """\
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_attribute WHERE attrelid = 'dpstats_ledger'::regclass AND attname = 'actor' AND NOT attisdropped
)"""


def driver() -> Any:
    """The client of Postgres."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError.about("a ledger in Postgres needs psycopg", "postgres") from None
    return psycopg


def run(connection: psycopg.Connection[Any], statement: str, parameters: Sequence[Any]) -> list[Any]:
    """The rows of a statement whose parameters are marked by question marks."""
    return connection.execute(statement.replace("?", "%s").encode(), parameters).fetchall()


def says(connection: psycopg.Connection[Any], question: str) -> bool:
    """Whether the first cell of the first row is true."""
    row = connection.execute(question.encode()).fetchone()
    return bool(row and row[0])


def create(connection: psycopg.Connection[Any]) -> None:
    """Make the tables, unless another writer is faster."""
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({CREATION})".encode())
        if not says(connection, IS_THERE):
            for statement in (CREATE_TABLE.format(whole="BIGINT"), *CREATE_INDEXES, *_TURN, _TRIGGER):
                connection.execute(statement.encode())


def add_actors(connection: psycopg.Connection[Any]) -> None:
    """Let a table of an earlier release say who, unless another writer is faster."""
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({CREATION})".encode())
        if not says(connection, HAS_ACTORS):
            for statement in ADD_ACTORS:
                connection.execute(statement.encode())
