"""The books of an audit: what the entries that were read so far say of each account."""

from __future__ import annotations

from dpstats.curator.ledger.books import Book, NoPast
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.openings import Opening


class AuditBooks:
    """A book for each account, begun from what was verified before."""

    def __init__(self, past: NoPast) -> None:
        self.past = past
        self._books: dict[str, Book | None] = {}

    def open(self, name: str) -> Book:
        """Begin the book of an account, unless there is one."""
        book = self.book(name)
        if book is None:
            book = self._books[name] = Book()
        return book

    def book(self, name: str) -> Book | None:
        """The book of an account; None where it was not opened."""
        if name not in self._books:
            self._books[name] = self.past.book(name)
        return self._books[name]

    def opened(self, name: str) -> tuple[Book, Opening]:
        """The book of an account whose terms could be read; raises `ValueError` for any other."""
        book = self.book(name)
        if book is None or book.opening is None:
            raise ValueError("no such account")
        return book, book.opening

    def lose_total(self, name: str) -> None:
        """What follows in an account cannot be added up."""
        book = self.book(name)
        if book is not None:
            book.total = None

    def granted(self, dataset: str, holder: str) -> Grant | None:
        """What a holder was granted on a data set."""
        book, opening = self.opened(dataset)
        if holder not in book.grants:
            book.grants[holder] = self.past.grant(dataset, holder, opening.terms.budget.accountant)
        return book.grants[holder]
