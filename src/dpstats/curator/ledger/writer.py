"""The writer: brings what the threads of a process want to write into few transactions.

A thread queues its request. Whoever finds that no other has the turn takes it and writes all that is queued in one transaction,
so that threads share one wait for the disk; who comes meanwhile waits to be called: the request was written, or it is up to this
thread to write. Nobody is told that a request was written before its transaction is durable.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Generic, TypeVar, cast

from dpstats.curator.ledger.heads import HighestHead
from dpstats.curator.ledger.pages import Page, SoundEntries
from dpstats.curator.ledger.postgres import PostgresEntryStore
from dpstats.curator.ledger.signing import SigningKey
from dpstats.curator.ledger.sqlite import SqliteEntryStore
from dpstats.curator.ledger.stores import EntryTable, Sought
from dpstats.foundations.errors import DpstatsError, LedgerError

T = TypeVar("T")
EntryStore = SqliteEntryStore | PostgresEntryStore
Signing = tuple[SigningKey, Callable[[Page], None], Callable[[Page], None]]
"""A key, and how it signs: what is due, and the end."""

_INTERRUPTED = "writing to the ledger was interrupted. Whether the cost was debited, `dpstats ledger show` says."


class _WriteRequest(Generic[T]):
    """What one thread wants written, and what became of it."""

    def __init__(self, work: Callable[[Page], T]) -> None:
        self.work = work
        self.finished = False
        self.result: T | None = None
        self.error: DpstatsError | None = LedgerError(_INTERRUPTED)  # whoever is stopped on the way leaves this behind
        self._refusal: DpstatsError | None = None
        self._called = threading.Lock()  # a bare lock: an interruption leaves it whole
        self._called.acquire()

    def wait(self) -> None:
        """Wait to be called, or for a while."""
        self._called.acquire(timeout=_LONGEST_WAIT)

    def call(self) -> None:
        """Let the thread that waits, or is about to, look what is up."""
        with suppress(RuntimeError):  # it was called already
            self._called.release()

    def finish(self) -> None:
        """Let the thread that waits go its way."""
        self.finished = True
        self.call()

    def run(self, page: Page) -> None:
        """Do the work, or note why it cannot be done; work that fails has appended nothing."""
        try:
            self.result = self.work(page)
        except DpstatsError as error:
            self._refusal = error

    def accept(self) -> None:
        """What it appended is durable, or its refusal stands."""
        self.error = self._refusal


class Writer:
    """The way of one process to one store. Threads may share it; a child process makes its own connection."""

    def __init__(self, store: EntryStore) -> None:
        self.store = store
        self.head = HighestHead(store.address, store.witness)
        self._queue: deque[_WriteRequest[object]] = deque()
        self._turn = threading.Lock()
        self._sound = SoundEntries()
        self._expected: list[Sought] = []
        self._reading = threading.Lock()  # whoever needs both takes the turn first
        self.key: SigningKey | None = None
        self._found_key: Callable[[Page], Signing | None] | None = None
        self._sign_if_due: Callable[[Page], None] | None = None
        self._at_end: list[Callable[[Page], None]] = []
        _WRITERS.add(self)
        weakref.finalize(self, _end, store, self.head, self._at_end, store.close)

    def sign_with(self, key: SigningKey, if_due: Callable[[Page], None], at_end: Callable[[Page], None]) -> None:
        """Have pages signed before they are written, and the last one when the ledger is closed."""
        self.key, self._sign_if_due, self._at_end[:] = key, if_due, [at_end]
        self._found_key = None

    def look_for_key(self, found: Callable[[Page], Signing | None]) -> None:
        """Look for a key before a page is written, as long as there is none to sign with."""
        self._found_key = found

    def write(self, work: Callable[[Page], T]) -> T:
        """Run `work` on the end of the chain; what it appended is durable when this returns."""
        request: _WriteRequest[Any] = _WriteRequest(work)
        self._queue.append(request)
        try:
            while not request.finished:
                if self._turn.locked():
                    request.wait()
                else:
                    self._see_to(request)
        except BaseException:  # an interrupted thread no longer waits; what was not yet begun is not written
            with suppress(ValueError):
                self._queue.remove(request)
            self._call_first()
            raise
        if request.error is not None:
            raise request.error
        return cast(T, request.result)

    def read(self, look: Callable[[EntryTable], T]) -> T:
        """What `look` finds in the entries as they are now. It does not wait for writers, where the store can do without."""
        with self._reading:
            if self.store.reads_apart:
                return self._read(self.store.reading_apart(), look)
        with self.turn():
            return self._read(self.store.reading(), look)

    def _read(self, reading: AbstractContextManager[EntryTable], look: Callable[[EntryTable], T]) -> T:
        seen = self.head.seen
        with reading as table:
            self.head.check(seen, table)
            found = look(table)
        self.head.notice(table.highest)
        return found

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Held while the store is used; whoever is the first to wait then is called."""
        try:
            with self._turn:
                yield
        finally:
            self._call_first()

    def close(self) -> None:
        """Let go of the connections."""
        with self.turn(), self._reading:
            _end(self.store, self.head, self._at_end, self.store.disconnect)

    def _see_to(self, request: _WriteRequest[Any]) -> None:
        """Write everything that is queued, unless another thread was faster."""
        with self.turn():
            if not request.finished:
                self._write_all()
            if not request.finished:  # somebody took it from the queue, and was stopped before saying what became of it
                request.finish()

    def _call_first(self) -> None:
        with suppress(IndexError):
            self._queue[0].call()

    def _write_all(self) -> None:
        requests: list[_WriteRequest[object]] = []
        try:
            with suppress(IndexError):  # until none is left
                while True:
                    requests.append(self._queue.popleft())
            seen = self.head.seen
            with self.store.writing(self._expected) as table:
                page = Page(table, self.store.address, self._sound)
                self.head.check(seen, table, page.last)
                for request in requests:
                    request.run(page)
                if self._found_key is not None and (signing := self._found_key(page)) is not None:
                    self.sign_with(*signing)
                if self._sign_if_due is not None:
                    self._sign_if_due(page)
                table.insert(page.appended)
            self.head.notice(page.last)
            self.head.tell()
            self._expected = page.asked[:_MOST_EXPECTED]
            if page.appended:
                self._sound.add(page.appended[-1])
            self.head.has_written = self.head.has_written or bool(page.appended)
            for request in requests:
                request.accept()
        except DpstatsError as error:
            for request in requests:
                request.error = LedgerError(str(error))
        finally:
            for request in requests:
                request.finish()


def _end(store: EntryStore, head: HighestHead, at_end: list[Callable[[Page], None]], close: Callable[[], None]) -> None:
    """Close a store, after the last page was signed if there is a key."""
    try:
        for sign in at_end if head.has_written else ():
            seen = head.seen
            with suppress(DpstatsError), store.writing() as table:
                page = Page(table, store.address)
                head.check(seen, table, page.last)
                sign(page)
                table.insert(page.appended)
                head.notice(page.last)
                head.has_written = False
            with suppress(DpstatsError):
                head.tell()
    finally:
        close()


_MOST_EXPECTED = 20
"""Entries that a store is told beforehand to be needed, as they were in the last transaction."""
_LONGEST_WAIT = 0.5
"""Seconds after which a thread looks by itself, should the one that was to call it have been interrupted just then."""
_WRITERS: weakref.WeakSet[Writer] = weakref.WeakSet()
_FORKING = threading.Lock()
_held: list[Writer] = []


def _before_fork() -> None:
    """Wait until no thread is writing, and hold no connection: neither database lets two processes share one."""
    _FORKING.acquire()
    for writer in sorted(_WRITERS, key=id):
        writer._turn.acquire()
        writer._reading.acquire()
        _held.append(writer)
        writer.store.disconnect()


def _after_fork() -> None:
    while _held:
        writer = _held.pop()
        writer._reading.release()
        writer._turn.release()
        writer._call_first()
    _FORKING.release()


def _in_the_child() -> None:
    for writer in _held:
        writer._queue.clear()  # the parent's threads write their own requests
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_the_child)
