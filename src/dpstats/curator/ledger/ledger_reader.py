"""A whole ledger to be looked at: its entries, its accounts, and what was asked."""

from __future__ import annotations

from dpstats.curator.ledger.debits import standing_in
from dpstats.curator.ledger.entries import DEBIT, HEAD, OPEN, Entry
from dpstats.curator.ledger.openings import ANALYST, GROUP, cap_name, checked_name, opening_of
from dpstats.curator.ledger.readers import AccountReader, all_entries
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import public_key
from dpstats.curator.ledger.statements import Statement, StatementLine, lines_of, statements
from dpstats.curator.ledger.stores import Chosen
from dpstats.curator.ledger.witness import Testimony
from dpstats.curator.ledger.writer import Writer
from dpstats.foundations.errors import MissingParameterError, UnknownNameError


class LedgerReader:
    """What a ledger says."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    @property
    def address(self) -> str:
        """Where it is; never with a password."""
        return self._writer.store.address

    @property
    def last(self) -> Entry | None:
        """The last entry."""
        return self._writer.read(lambda table: table.last())

    @property
    def head(self) -> str | None:
        """The hash of the last entry, which stands for all of them: whoever remembers it notices if any is removed."""
        last = self.last
        return last.hash if last else None

    def hash_at(self, sequence: int) -> str | None:
        """The hash of the entry of that number, None where there is none."""
        return self._writer.read(lambda table: table.hash_at(sequence))

    def reader(self, name: str, *, checked: bool = True) -> AccountReader:
        """Any account by its name, to be looked at: `account_names` has them. Raises `LedgerError` where what it stands on was
        changed, unless with `checked=False`, for whoever looks for what is wrong.
        """
        opened = self._writer.read(lambda table: table.latest(name, OPEN))
        if opened is None:
            raise UnknownNameError(f"the ledger has no account {name!r}.")
        if checked:
            self._writer.read(lambda table: standing_in(table, name, {}))
        return AccountReader(self._writer, name, opening_of(opened))

    def cap(self, dataset: str, *, analyst: str | None = None, group: str | None = None) -> AccountReader | None:
        """The account of an analyst's or a group's own cap on a data set; None where they have none."""
        kind, holder = named_holder(analyst, group)
        name = cap_name(dataset, kind, holder)
        opened = self._writer.read(lambda table: table.latest(name, OPEN))
        return None if opened is None else AccountReader(self._writer, name, opening_of(opened))

    @property
    def account_names(self) -> list[str]:
        """The names of all accounts."""
        return self._writer.read(lambda table: [name for name in table.names() if name])

    def entry(self, sequence: int) -> Entry | None:
        """The entry of that number."""
        return self._writer.read(lambda table: table.numbered(sequence))

    def receipt(self, entry: Entry) -> KeptReceipt:
        """What anybody may keep of an entry, to show later that the ledger had it: signed, if the ledger has a key here."""
        key = self._writer.key
        return KeptReceipt.of(entry, None if key is None else key.named(public_key(self.last_signed)))

    def signed_heads(self, after: int | None = None, limit: int | None = None) -> list[Entry]:
        """The entries that sign all entries before them, in order, in pages."""
        return list(all_entries(self._writer, Chosen("", kinds=(HEAD,)), after=after, limit=limit))

    @property
    def last_signed(self) -> Entry | None:
        """The last entry that signs all before it; None where nothing is signed."""
        return self._writer.read(lambda table: table.latest("", HEAD))

    @property
    def testimony(self) -> Testimony | None:
        """What the witness has seen; None where there is none, or where it has seen nothing."""
        witness = self._writer.store.witness
        return None if witness is None else witness.read()

    def page(self, after: int | None) -> list[Entry]:
        """Some entries in order, from the first or from `after` on; none after the last."""
        return self._writer.read(lambda table: table.page(after))

    def entries(self) -> list[Entry]:
        """Every entry, in order."""
        return list(all_entries(self._writer))

    def questions(
        self,
        name: str,
        *,
        actor: str | None = None,
        start: str | None = None,
        end: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> list[StatementLine]:
        """What was paid for out of an account, with the answers, in pages: see `AccountReader.entries`."""
        reader = self.reader(name)
        debits = reader.entries(actor=actor, kinds=[DEBIT], start=start, end=end, after=after, limit=limit)
        return self._writer.read(lambda table: lines_of(table, debits, reader.opened_with.terms))

    def statements(self) -> list[Statement]:
        """What the ledger says about each account, for people."""
        return statements(all_entries(self._writer))


def named_holder(analyst: str | None, group: str | None) -> tuple[str, str]:
    """The kind and the name of whoever is granted something."""
    if (analyst is None) == (group is None):
        raise MissingParameterError("name an analyst or a group, such as analyst='alice'.")
    if analyst is not None:
        return ANALYST, checked_name(analyst, "analyst")
    return GROUP, checked_name(group, "group")
