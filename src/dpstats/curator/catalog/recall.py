"""Recall: what the archive has on a question, as the plain document that goes out, without asking the question again.

Which archive key a document has is worked out once, by checking and pricing it in full, for each policy and each audience, and
remembered. From then on one transaction of the ledger says whether the asker may ask now, what the policy is now, and what the
archive has. Nothing else is remembered: a right that is taken back is gone at once, whoever took it back.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpstats.curator.archive import noted_document
from dpstats.curator.catalog.policy import Policy
from dpstats.curator.desk import Missed
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.entries import Entry
from dpstats.curator.ledger.readers import answers_in, archived_document, first_answer
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.reservations import last_number
from dpstats.curator.ledger.stores import EntryTable

MOST_KEYS = 10_000
"""Documents whose keys are remembered."""
LONGEST_KEPT = 2_000
"""Letters of a document whose key is remembered; longer ones are worked out every time."""

Keys = tuple[str, ...]
"""The key of a question, and those that it had in earlier releases."""
Asked = tuple[str, Policy, str]
"""The text of a document, the policy under which it was checked, and the audience that shares its answer."""


class KnownKeys:
    """The archive's keys of documents that were checked before, for one edition of a table; the ones used last are kept."""

    def __init__(self) -> None:
        self._keys: OrderedDict[Asked, Keys] = OrderedDict()
        self._changing = threading.Lock()

    def find(self, asked: Asked) -> Keys | None:
        """The keys; None where they have to be worked out."""
        with self._changing:
            if (found := self._keys.get(asked)) is not None:
                self._keys.move_to_end(asked)
            return found

    def keep(self, asked: Asked, keys: Keys) -> None:
        """Remember the keys of a question."""
        if len(asked[0]) > LONGEST_KEPT:
            return
        with self._changing:
            self._keys[asked] = keys
            while len(self._keys) > MOST_KEYS:
                self._keys.popitem(last=False)


@dataclass(frozen=True)
class RecalledAnswer:
    """An answer that was paid for before."""

    document: dict[str, Any]
    """With a word on where it comes from."""
    receipt: dict[str, Any]
    """Of the debit that paid for it."""

    @property
    def debit(self) -> int:
        """The number of the entry that paid for it."""
        return int(self.receipt["sequence"])


def recalled(account: Account, choose: Callable[[EntryTable], Keys | None]) -> RecalledAnswer | Missed | None:
    """The archived answer to the question whose keys are chosen, or that there is none; None where none are chosen.

    `choose` looks at the same entries, and raises where the asker may not ask.
    """

    def look(table: EntryTable) -> tuple[Entry, KeptReceipt] | Missed | None:
        if (keys := choose(table)) is None:
            return None
        answers = answers_in(table, account.dataset, keys)
        if (answer := first_answer(answers)) is None:
            return Missed(keys, last_number(answers))
        debit = answer.read(lambda content: int(content["debit"]), "names no debit")
        return answer, account.receipt_in(table, debit)

    found = account.read(look)
    if found is None or isinstance(found, Missed):
        return found
    answer, receipt = found
    return RecalledAnswer(noted_document(archived_document(answer)), receipt.to_dict())
