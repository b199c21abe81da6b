"""A Postgres server: how to reach it, and what its catalog says about a table.

What a server answers to a URL that is wrong may repeat the URL with its password, so no message of its own or of the driver's
is passed on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpstats.engines.complaints import shown
from dpstats.engines.stores.postgres_columns import PostgresColumn
from dpstats.foundations.addresses import HOW_TO_WRITE, is_plain_url
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError

if TYPE_CHECKING:
    import psycopg

PLAIN, PARTITIONED, VIEWS = ("r", "m"), "p", ("v", "f")
"""The catalog's letters for kinds of tables; one that others inherit from counts as partitioned."""
LOCKED = ("r", "p")
_PATIENCE = 30  # seconds to wait for a server to answer
_RELATION = """\
SELECT c.oid, n.nspname, c.relname, c.relkind::text, c.relhassubclass, has_table_privilege(c.oid, 'SELECT'),
  c.relkind = 'v' OR row_security_active(c.oid)
  OR EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND to_jsonb(a) ->> 'attgenerated' = 'v')
  OR EXISTS (
    WITH RECURSIVE parts AS (
      SELECT c.oid UNION ALL SELECT inhrelid FROM pg_catalog.pg_inherits JOIN parts ON inhparent = parts.oid)
    SELECT FROM parts JOIN pg_catalog.pg_class part ON part.oid = parts.oid WHERE part.relkind = 'f')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(%s)"""
_COLUMNS = """\
WITH RECURSIVE typed AS (
  SELECT attnum, attname, atttypid AS type FROM pg_catalog.pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT attnum, attname, t.typbasetype FROM typed JOIN pg_catalog.pg_type t ON t.oid = typed.type WHERE t.typtype = 'd')
SELECT attname, t.typname, t.typnamespace = 'pg_catalog'::regnamespace,
  CASE WHEN t.typtype = 'c' OR t.typcategory = 'A' THEN 'nested' WHEN EXISTS (
    SELECT FROM pg_catalog.pg_cast WHERE castsource = t.oid AND casttarget = 'text'::regtype AND castfunc <> 0
    AND t.typnamespace <> 'pg_catalog'::regnamespace) THEN 'nested'
  WHEN t.typtype = 'e' THEN 'enum' ELSE 'plain' END
FROM typed JOIN pg_catalog.pg_type t ON t.oid = typed.type WHERE t.typtype <> 'd' ORDER BY attnum"""


@dataclass(frozen=True)
class Relation:
    """A table or view as the catalog has it."""

    oid: int
    schema: str
    name: str
    kind: str
    is_computed: bool
    """Whether rows are computed while they are read: by a view, a policy, a generated column, or another server."""
    can_be_locked: bool
    """Whether a lock can keep it from being altered while it is read."""
    columns: list[PostgresColumn]


def quoted(*names: str) -> str:
    """A name, with its schema where it has one, as SQL writes it."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def encoding_of(connection: psycopg.Connection[Any]) -> tuple[str, bool]:
    """How texts are encoded on the connection from now on, and whether all of them are known to be good in it.

    The server converts and checks nothing: one value that cannot be converted would make a whole question fail.
    """
    server = connection.info.parameter_status("server_encoding")
    if server == "UTF8":
        return "utf-8", True
    connection.execute("SELECT set_config('client_encoding', current_setting('server_encoding'), false)")
    return ("utf-8" if server == "SQL_ASCII" else connection.info.encoding), False  # SQL_ASCII is anything at all


def find_relation(connection: psycopg.Connection[Any], table: str) -> Relation:
    """A table by its name as SQL would have it."""
    import psycopg

    found: list[tuple[Any, ...]] = []
    with suppress(psycopg.Error):  # no name at all
        found = connection.execute(_RELATION, [table]).fetchall()
    if not found:
        raise InvalidParameterError(
            f"there is no table {shown(table)} in the database, or its user may not see it. Name its schema unless it is in the "
            'search path (clinic.visits), and put names with capitals in double quotes (clinic."Visits").'
        )
    [(oid, schema, name, kind, has_children, may_read, is_computed)] = found
    if kind not in (*PLAIN, PARTITIONED, *VIEWS):
        raise DataTypeError(f"{shown(table)} is neither a table nor a view.")
    if not may_read:
        raise InvalidParameterError(f"the database's user may not read {shown(table)}: GRANT SELECT on it first.")
    columns = [
        PostgresColumn(column, type_name, built_in=built_in, form=form)
        for column, type_name, built_in, form in connection.execute(_COLUMNS, [oid]).fetchall()
    ]
    kept_as = PARTITIONED if has_children and kind in PLAIN else kind
    return Relation(oid, schema, name, kept_as, is_computed, kind in LOCKED, columns)


def place_of(connection: psycopg.Connection[Any], relation: Relation) -> tuple[str, ...]:
    """Which table it is, by its numbers and by its name, whatever the server is called."""
    import psycopg

    server = f"{connection.info.host} {connection.info.port}"
    with suppress(psycopg.Error), connection.transaction():  # not every user may ask
        [(number,)] = connection.execute("SELECT system_identifier FROM pg_control_system()").fetchall()
        server = str(number)
    [(database,)] = connection.execute("SELECT oid::int8 FROM pg_database WHERE datname = current_database()").fetchall()
    names = json.dumps([relation.schema, relation.name])
    return f"postgres {server} {database} {relation.oid}", f"postgres {server} {database} {names}"


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection, or an error without the password."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    where: dict[str, Any] = {}
    if not is_plain_url(url):  # the driver would log parts of it
        raise InvalidParameterError(f"this is no URL of a Postgres database: write {HOW_TO_WRITE}.")
    with suppress(Exception):
        where = conninfo_to_dict(url)
        return psycopg.connect(url, client_encoding="UTF8", connect_timeout=where.get("connect_timeout", _PATIENCE))
    if not where:
        raise InvalidParameterError(f"this is no URL of a Postgres database: write {HOW_TO_WRITE}.")
    address = f"{shown(where.get('host', 'localhost'))}, database {shown(where.get('dbname', 'of the user'))}"
    raise DataFileError(
        f"no connection to Postgres at {address}: check that the server runs there, and the user and the password."
    )
