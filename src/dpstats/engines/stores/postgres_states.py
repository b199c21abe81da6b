"""States of a Postgres table: whether it has the same rows in the same places as when a backend last looked.

Claim      Two looks get the same token only if every pass over the table gives the same rows in the same order.
Why        Every change of a row leaves a row version made by a transaction that was not over before, or one version fewer. So a
           part of the table that has as many versions as at the last look, none of them by a transaction that might have been
           under way then, in the same file, has the same versions in the same places. Writes to other tables, such as those of a
           ledger in the same database, change none of this. The proof names what Postgres guarantees for it.
Otherwise  Where that cannot be seen (another storage than Postgres's own, a column whose text depends on the catalog, more
           than a billion transactions in between), a state lasts as long as nobody on the server ends a transaction. Rows that
           are computed while they are read have another state for each question.
Cost       One count on the server where a transaction ended since the last look; no row travels.
Source     contributions.proof.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpstats.engines.stores.postgres_server import PLAIN, Relation, quoted

if TYPE_CHECKING:
    import psycopg

# No backend outlives a crash of its server, after which numbers of transactions may come again. A standby does not list the
# transactions that are under way, so that equal lists mean nothing there.
_VIEW = """\
SELECT pg_backend_pid(), (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()),
  pg_postmaster_start_time()::text, seen::text, txid_snapshot_xmin(seen), txid_snapshot_xmax(seen), pg_is_in_recovery()
FROM txid_current_snapshot() seen"""
_NEW = "(age({}) > age('{}'::xid)) IS NOT TRUE"
# Versions of what the catalog says of columns: another one may change what cells hold, although no row was touched.
_COLUMNS = """\
SELECT count(*), count(*) FILTER (WHERE {new}) FROM (
  SELECT xmin AS made FROM pg_catalog.pg_attribute WHERE attrelid = ANY(%(parts)s::oid[])
  UNION ALL SELECT xmin FROM pg_catalog.pg_enum) described"""
_FILES = """\
SELECT c.oid::int8, pg_relation_filenode(c.oid)::int8
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_am a ON a.oid = c.relam WHERE a.amname = 'heap' AND c.oid = ANY(%(parts)s::oid[])"""
_TRANSACTIONS = 1 << 32  # numbers that there are before they begin again
_MOST_TRANSACTIONS = 1 << 30
_PLAIN_STEPS = {"Aggregate", "Append", "Result", "Seq Scan"}


@dataclass(frozen=True)
class State:
    """A table as a backend saw it."""

    token: object
    """The same object for two states only if they have the same rows in the same places."""
    backend: tuple[Any, ...]
    seen: object
    """Which transactions were over, as the server writes it."""
    first: int
    """The first transaction that was not over."""
    is_listed: bool
    """Whether `seen` lists all transactions after the first that were not over."""
    raw_contents: object
    """The row versions of each part and its file, and how many versions describe columns; None where this does not tell."""


def state_of(connection: psycopg.Connection[Any], encoding: str, relation: Relation, last: State | None) -> State:
    """How a table is in the transaction of a connection; `last` is how a transaction of the same connection saw it before."""
    if relation.is_computed:
        return State(object(), (), None, 0, False, None)
    [(*backend, seen, first, end, recovers)] = connection.execute(_VIEW).fetchall()
    if last is None or last.backend != tuple(backend):
        raw_contents, _ = _contents(connection, encoding, relation, first)
        return State(object(), tuple(backend), seen, first, not recovers, raw_contents)
    if last.is_listed and last.seen == seen:
        return last
    raw_contents, raw_is_new = _contents(connection, encoding, relation, last.first)
    is_same = raw_contents is not None and raw_contents == last.raw_contents and not raw_is_new and _are_near(last.first, end)
    return State(last.token if is_same else object(), last.backend, seen, first, not recovers, raw_contents)


def _are_near(first: int, end: int) -> bool:
    """Whether two transactions can be told apart by the last 32 bits of their numbers, which rows keep."""
    return 0 <= end - first < _MOST_TRANSACTIONS


def _contents(connection: psycopg.Connection[Any], encoding: str, relation: Relation, first: int) -> tuple[object, bool]:
    """The row versions that a table has, and whether any of them may have been made by a transaction from `first` on."""
    import psycopg

    if not all(column.stands_alone for column in relation.columns):
        return None, True
    part, grouping = (f"{relation.oid}", "") if relation.kind in PLAIN else ("tableoid", " GROUP BY tableoid")
    new = _NEW.format("{}", first % _TRANSACTIONS)
    table = quoted(relation.schema, relation.name)
    statement = f"SELECT {part}::int8, count(*), count(*) FILTER (WHERE {new.format('xmin')}) FROM {table}{grouping}"
    try:
        with connection.transaction():
            if not set(steps_of(plan_of(connection, statement, encoding))) <= _PLAIN_STEPS:
                return None, True
            raw_rows = connection.execute(statement.encode(encoding)).fetchall()
            parts = {"parts": sorted({relation.oid, *(oid for oid, _, _ in raw_rows)})}
            raw_files = dict(connection.execute(_FILES.encode(), parts).fetchall())
            [(described, changed)] = connection.execute(_COLUMNS.format(new=new.format("made")).encode(), parts).fetchall()
    except (psycopg.ProgrammingError, psycopg.NotSupportedError, psycopg.InternalError):  # a storage without versions of rows
        return None, True
    if not all(raw_files.get(oid) for oid, _, _ in raw_rows):  # a part in another storage
        return None, True
    raw_parts = {oid: (rows, raw_files[oid]) for oid, rows, _ in raw_rows}
    return (raw_parts, described), any(new_rows for _, _, new_rows in raw_rows) or changed > 0


def plan_of(connection: psycopg.Connection[Any], statement: str, encoding: str) -> dict[str, Any]:
    """How the server would go about a statement; it reads no row."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(encoding))
        explained = cursor.pgresult.get_value(0, 0) if cursor.pgresult else None  # psycopg would read it as UTF-8
    plan: dict[str, Any] = json.loads((explained or b"").decode(encoding, errors="replace"))[0]["Plan"]
    return plan


def steps_of(plan: dict[str, Any]) -> Iterator[str]:
    """The kinds of all steps of a plan."""
    yield plan["Node Type"]
    for part in plan.get("Plans", ()):
        yield from steps_of(part)
