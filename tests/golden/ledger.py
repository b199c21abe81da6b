"""A ledger as the code before the redesign wrote it, with its answers: it must verify, be recalled, and go on.

`ledger.jsonl` is written once, by `python -m tests.golden.ledger` where it is missing, and never again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.ledger import open_ledger
from dpstats.curator.session import Session
from tests.golden.questions import FORMULAS
from tests.golden.tables import SETTINGS, calls, session, table

FROZEN = Path(__file__).with_name("ledger.jsonl")
LEFT_OUT = ("synthesize", "sketch")
"""Questions whose answers are large."""
TYPES = {"age": "integer", "hours": "number", "income": "number", "region": "text", "employed": "boolean", "person": "integer"}


def questions() -> Iterator[tuple[str, Callable[[Session], Any]]]:
    """What was asked of the ledger's table, in this order."""
    for call in calls(by_auto=True):
        if call.statistic not in LEFT_OUT:
            yield call.name, lambda survey, call=call: getattr(survey, call.statistic)(*call.given, **call.words)  # type: ignore[misc]
    yield from ((name, ask) for name, ask in FORMULAS.items() if name not in LEFT_OUT)


def protected(folder: Path) -> Session:
    """The session on the table in a folder."""
    path = folder / "survey.csv"
    if not path.exists():  # a ledger knows a file by its content, and no library decides how a CSV file looks
        rows = zip(*(table()[name].tolist() for name in TYPES), strict=True)
        lines = [",".join(TYPES), *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return session(SETTINGS["person"], path, ledger=folder / "survey.ledger", edition=None, types=TYPES)


def restored(folder: Path, frozen: Path = FROZEN) -> Session:
    """The session, with the frozen entries in its ledger."""
    entries = [Entry(**json.loads(line)) for line in frozen.read_text(encoding="utf-8").splitlines()]
    path = folder / "survey.ledger"
    _keep_secret(folder)
    open_ledger(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(f"INSERT INTO dpstats_ledger VALUES ({', '.join('?' * len(Entry._fields))})", entries)
    return protected(folder)


def _keep_secret(folder: Path) -> None:
    """The secret of the frozen ledger, by which it knows its table."""
    path = folder / "survey.ledger.secret"
    path.write_text("01" * 32, encoding="ascii")
    path.chmod(0o600)


def write(folder: Path) -> None:
    """Ask everything of a new ledger, and keep its entries."""
    _keep_secret(folder)
    survey = protected(folder)
    for _, ask in questions():
        ask(survey)
    lines = [json.dumps(entry._asdict(), ensure_ascii=False) for entry in survey.ledger.entries()]
    FROZEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
