"""The program of a worker: answers questions about stored tables that were paid for elsewhere, or plans, one after the other.

It reads frames from its standard input, each the JSON of a job, and writes one frame for each of them: the answer in the form of
the archive, the plan, or that there is none. What goes wrong while it works on one shows nowhere. It ends with its input, and is
killed by whoever started it when it takes too long.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

LENGTH = struct.Struct(">Q")
READY = b"1"
FAILED = {"failed": True}
MOST_TABLES = 16
"""Open at the same time."""
KEPT_BYTES = 2**26
"""Memory for the columns of one table that a worker keeps."""
_KEPT_PART = 64
"""What part of a worker's memory that may be at most."""
MOST_ROWS = 2_000_000
"""Of a table that is read when it is opened."""


def frames(source: IO[bytes]) -> Iterator[bytes]:
    """What is sent, piece by piece, until there is no more."""
    while len(head := source.read(LENGTH.size)) == LENGTH.size:
        (length,) = LENGTH.unpack(head)
        piece = source.read(length)
        if len(piece) < length:
            return
        yield piece


def frame(piece: bytes) -> bytes:
    """A piece as it is sent."""
    return LENGTH.pack(len(piece)) + piece


class TableShelf:
    """The tables that a worker has opened, each by its recipe, the last one of its name; those that were used last are kept."""

    def __init__(self, kept_bytes: int = 0) -> None:
        """`kept_bytes` is the memory for columns of one table that are kept, for one thread."""
        self._kept_bytes = kept_bytes
        self._sessions: OrderedDict[str, Any] = OrderedDict()

    def session(self, recipe: str) -> Any:
        """A session on the table, without an account."""
        from dpstats.curator.jobs.recipes import TableRecipe
        from dpstats.curator.scope import Scope
        from dpstats.curator.session import Session
        from dpstats.engines.views import TableView

        if recipe not in self._sessions:
            desk = TableRecipe.from_json(recipe).desk(self._kept_bytes)
            for known, session in list(self._sessions.items()):
                if session.name == desk.name:  # as it was opened before
                    del self._sessions[known]
            self._sessions[recipe] = Session(desk, Scope(desk.schema, TableView(desk.schema)))
        self._sessions.move_to_end(recipe)
        while len(self._sessions) > MOST_TABLES:
            self._sessions.popitem(last=False)
        return self._sessions[recipe]


def answer(job: dict[str, Any], shelf: TableShelf) -> dict[str, Any]:
    """The answer to a job's question in the form of the archive."""
    from dpstats.curator.archive import document_of
    from dpstats.curator.documents.reading import read_document

    priced = shelf.session(job["table"])._price_document(read_document(job["question"]))
    return document_of(priced.computed())


def prepare(recipe: str, shelf: TableShelf) -> dict[str, Any]:
    """Open a table, choose the rows of its units, and answer one question of each usual kind about it, for nobody.

    After that no question has to wait for what is done once: the answers are thrown away, and spend nothing.
    """
    from dpstats.curator.jobs.recipes import TableRecipe
    from dpstats.engines.cells import ColumnType

    session, expected = shelf.session(recipe), TableRecipe.from_json(recipe).expected_rows()
    if expected is not None and expected <= MOST_ROWS:
        numeric = [name for name, kind in session._table.schema.items() if kind in (ColumnType.NUMBER, ColumnType.INTEGER)]
        columns = numeric[-1:]
        for statistic in ("count", *(("mean", "median") if columns else ())):
            named = {} if statistic == "count" else {"columns": columns}
            answer({"table": recipe, "question": {"version": 1, "statistic": statistic, "epsilon": 1, **named}}, shelf)
    return {"opened": True}


def plan(job: dict[str, Any], shelf: TableShelf) -> dict[str, Any]:
    """The plan that a job asks for, or why there is none: a plan knows no rows and no places, so its complaints are public."""
    from dpstats.curator.documents.plan_documents import read_plan
    from dpstats.curator.planned_documents import planned_request
    from dpstats.foundations.errors import DpstatsError

    session = shelf.session(job["table"])  # whose complaints would name places
    try:
        return planned_request(session, read_plan(job["plan"])).simulated().to_dict()
    except DpstatsError as error:
        return {"refused": str(error)}


def done(job: dict[str, Any], shelf: TableShelf) -> dict[str, Any]:
    """What a job asks for: a plan, an answer, or that a table is opened."""
    if "plan" in job:
        return plan(job, shelf)
    return answer(job, shelf) if "question" in job else prepare(job["table"], shelf)


def work(requests: IO[bytes], replies: IO[bytes], shelf: TableShelf) -> None:
    """Answer jobs, and open tables, until there are no more."""
    for piece in frames(requests):
        try:
            job = json.loads(piece)
            _limit_processor_time(job.get("seconds"))
            said = json.dumps(done(job, shelf), allow_nan=False)
        except Exception:  # whatever it was, it shows in nothing but that there is no answer
            said = json.dumps(FAILED)
        replies.write(frame(said.encode("ascii")))
        replies.flush()


def _limit_memory(size: int) -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        if size:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _limit_processor_time(seconds: float | None) -> None:
    """Let the system end this process if the job at hand takes more of the processor than that; None for no limit."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        last = most if seconds is None else int(used.ru_utime + used.ru_stime + seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (last, most))


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes to whoever started this program, where nothing else reads or prints."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return requests, replies


def main() -> None:
    """Read the settings, load what answers need, say so, and work."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--memory", type=int, default=0)
    settings = parser.parse_args()
    requests, replies = _own_pipes()
    from dpstats.curator import session  # noqa: F401  (loaded before the first job is timed, and all statistics with it)
    from dpstats.foundations.registry import find_statistic, statistic_names

    for name in statistic_names():
        find_statistic(name)
    _limit_memory(settings.memory)
    replies.write(READY)
    replies.flush()
    kept = min(KEPT_BYTES, settings.memory // _KEPT_PART) if settings.memory else KEPT_BYTES
    work(requests, replies, TableShelf(kept))


if __name__ == "__main__":
    main()
