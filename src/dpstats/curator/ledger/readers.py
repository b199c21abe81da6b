"""An account to be looked at: how it stands, its entries, and the archived answers of a data set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from dpstats.accounting.accountants import Accountant, Total
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.debits import Standings, cost_of, grants_in, loss_of, standing_in
from dpstats.curator.ledger.entries import AMEND, ANSWER, DEBIT, GRANT, KINDS, REVOKE, Entry, digest
from dpstats.curator.ledger.grants import Grant, grant_in, last_of
from dpstats.curator.ledger.openings import ANALYST, GROUP, Opening, holder_key, population_name
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.standing import POLICY, Standing, least_in_words, sought_for
from dpstats.curator.ledger.stores import PAGE, Chosen, EntryTable
from dpstats.curator.ledger.terms import Terms
from dpstats.curator.ledger.writer import Writer
from dpstats.foundations.errors import InvalidParameterError, LedgerError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import PURE_LOSS

LONGEST_KEY = 200


@dataclass(frozen=True)
class Rights:
    """What somebody may do with a data set."""

    grant: Grant | None
    """None where nothing is granted."""
    policy: Entry | None
    """The last amendment of the policy; None where nothing was said."""


class AccountReader:
    """One account of a ledger, to be looked at."""

    def __init__(self, writer: Writer, dataset: str, opening: Opening) -> None:
        self.dataset = dataset
        self.opened_with = opening
        self._writer = writer
        self._known: Standings = {}

    @property
    def standing(self) -> Standing:
        """The budget and what has been spent, both of one moment."""
        return self._writer.read(lambda table: standing_in(table, self.dataset, self._known))

    @property
    def paying(self) -> list[Standing]:
        """How all accounts stand that a question is charged to, at one moment: this one first, then its population's."""
        return self._writer.read(
            lambda table: [standing_in(table, name, self._known) for name in self._payers_in(table)],
        )

    def _payers_in(self, table: EntryTable) -> list[str]:
        population = self.opened_with.population
        return [self.dataset, *([] if population is None else [population_name(population)])]

    @property
    def terms(self) -> Terms:
        """Whom the data set protects, and its budget as it was last amended."""
        return self.standing.terms

    @property
    def budget(self) -> Budget:
        """What all questions may spend together, as it was last amended."""
        return self.standing.budget

    @property
    def accountant(self) -> Accountant:
        """Who adds the costs up."""
        return self.opened_with.terms.budget.keeper

    @property
    def total(self) -> Total:
        """What has been spent, as the accountant counts it."""
        return self.standing.total

    @property
    def left(self) -> Total:
        """What has not been spent, as the accountant counts it."""
        return self.standing.left

    @property
    def largest_epsilon(self) -> Fraction:
        """The largest epsilon that one more question without a delta may have, by all accounts that pay for it."""
        return min(each.accountant.largest_epsilon(each.total, each.limit) for each in self.paying)

    @property
    def largest_delta(self) -> Fraction:
        """The largest delta that one more question may have, by all accounts that pay for it."""
        return min(each.left.delta for each in self.paying)

    @property
    def last_question(self) -> tuple[str, PrivacyCost, Fraction] | None:
        """The question that was paid for last, what it cost, and the loss of its method."""
        debit = self._writer.read(lambda table: table.latest(self.dataset, DEBIT))
        if debit is None:
            return None
        return debit.content()["question"], cost_of(debit, self.opened_with.terms), loss_of(debit)

    @property
    def spent(self) -> PrivacyCost:
        """The (epsilon, delta) that has been spent."""
        return self.standing.spent

    @property
    def remaining(self) -> str:
        """What is left for one more question, by all accounts that pay for it, in words: "epsilon = 1.4" or "rho = 0.08"."""
        return least_in_words(self.paying)

    @property
    def policy(self) -> dict[str, Any]:
        """What the data holder allows, as it was last amended; empty where nothing was said."""
        entry = self._writer.read(lambda table: table.latest(self.dataset, AMEND, POLICY))
        return {} if entry is None else policy_in(entry)

    def policy_before(self, sequence: int) -> dict[str, Any]:
        """What the data holder allowed before the entry of that number."""
        sought = (self.dataset, AMEND, POLICY)
        entry = self._writer.read(lambda table: table.latest_of([sought], until=sequence - 1)[sought])
        return {} if entry is None else entry.read(lambda content: dict(content["policy"]), "has no policy that can be read")

    def last_debit_before(self, sequence: int) -> Entry | None:
        """The debit of this account that comes before the entry of that number."""
        sought = (self.dataset, DEBIT, None)
        return self._writer.read(lambda table: table.latest_of([sought], until=sequence - 1)[sought])

    def granted(self, analyst: str) -> Grant | None:
        """What an analyst was granted on this data set; None where that is nothing, or was taken back, also from the group."""
        return self._writer.read(lambda table: self.rights_in(table, analyst)).grant

    def rights(self, analyst: str) -> Rights:
        """What an analyst was granted, and the policy, both of one moment."""
        return self._writer.read(lambda table: self.rights_in(table, analyst))

    def rights_in(self, table: EntryTable, analyst: str) -> Rights:
        """What an analyst was granted, and the policy, as one transaction sees them."""
        holder, policy = holder_key(ANALYST, analyst), (self.dataset, AMEND, POLICY)
        accountant = self.opened_with.terms.budget.accountant
        found = table.latest_of([(self.dataset, GRANT, holder), (self.dataset, REVOKE, holder), policy])
        amended = found.pop(policy)
        entry = last_of(found.values())
        grant = None if entry is None else grant_in(entry, accountant)
        if grant is not None and grant.group is not None:
            shared = grants_in(table, self.dataset, accountant)(holder_key(GROUP, grant.group))
            grant = None if shared is None else grant
        return Rights(grant, amended)

    @property
    def opening(self) -> str:
        """The hash of the entry that opened the account; no other account has it."""
        entry = self._writer.read(lambda table: table.latest(*sought_for(self.dataset)[0]))
        assert entry is not None
        return entry.hash

    def how_many(self, cost: PrivacyCost, loss: Fraction = PURE_LOSS) -> int:
        """How many more questions of this cost fit, in all accounts that pay for them; `loss` is rho / epsilon**2 of their
        method."""
        own = self._own(cost)
        return min(each.accountant.how_many(each.total, each.accountant.charge(own, loss), each.limit) for each in self.paying)

    def fits(self, cost: PrivacyCost, loss: Fraction = PURE_LOSS) -> bool:
        """Whether one more question of this cost fits, in all accounts that pay for it."""
        return self.short_of(cost, loss) is None

    def short_of(self, cost: PrivacyCost, loss: Fraction = PURE_LOSS) -> Standing | None:
        """The first account that has too little for one more question of this cost; None where it fits."""
        own = self._own(cost)
        charges = [(each, each.accountant.charge(own, loss)) for each in self.paying]
        return next((each for each, charge in charges if not each.accountant.fits(each.total, charge, each.limit)), None)

    def entries(
        self,
        *,
        actor: str | None = None,
        kinds: Sequence[str] = KINDS,
        start: str | None = None,
        end: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        """The entries about this account, in order: those of an actor, of some kinds, from one time to another, if so asked.

        `after` is the number of an entry, and `limit` how many to return at most: together they make pages.
        """
        chosen = Chosen(self.dataset, actor, tuple(kinds), start, end)
        return list(all_entries(self._writer, chosen, after=after, limit=limit))

    def recall(self, key: str, *former: str) -> dict[str, Any] | None:
        """The archived document of an identical question, at no cost; the first one, where there are several.

        `former` are keys that the question had in earlier releases.
        """
        answer = self._first_answer(key, *former)
        return None if answer is None else archived_document(answer)

    def debit_behind(self, key: str, *former: str) -> Entry:
        """The debit that paid for what `recall` finds."""
        answer = self._first_answer(key, *former)
        if answer is None:
            raise LedgerError("there is no archived answer to this question.")
        return self.entry(answer.read(lambda content: int(content["debit"]), "names no debit"))

    def answer_to(self, debit: Entry) -> Entry | None:
        """The answer to a debit that the archive has; None where there is none."""
        answers = self._writer.read(lambda table: table.with_key(self.dataset, ANSWER, debit.key))
        own = (each for each in answers if each.read(lambda content: content["debit"] == debit.sequence, "names no debit"))
        return first_answer(own)

    def entry(self, sequence: int) -> Entry:
        """The entry of that number."""
        return found(self._writer.read(lambda table: table.numbered(sequence)), sequence)

    def _first_answer(self, *keys: str) -> Entry | None:
        checked = tuple(map(checked_key, keys))
        return first_answer(self._writer.read(lambda table: answers_in(table, self.dataset, checked)))

    def _own(self, cost: PrivacyCost) -> PrivacyCost:
        terms = self.opened_with.terms
        if (cost.neighbors, cost.unit) != (terms.neighbors, terms.unit):
            raise InvalidParameterError(
                f"{self.dataset} is charged per {terms.unit} under {terms.neighbors.value}; "
                f"this cost is per {cost.unit} under {cost.neighbors.value}."
            )
        return cost


def policy_in(amendment: Entry) -> dict[str, Any]:
    """The policy that an amendment sets."""
    return amendment.read(lambda content: dict(content["policy"]), "has no policy that can be read")


def found(entry: Entry | None, sequence: int) -> Entry:
    """An entry that must be there."""
    if entry is None:
        raise LedgerError(f"the ledger has no entry {sequence}: run `dpstats ledger verify`.")
    return entry


def answers_in(table: EntryTable | Page, dataset: str, keys: Sequence[str]) -> list[Entry]:
    """The entries that answer a question or say that there is no answer, in order; former keys come after the first."""
    found = list(table.with_key(dataset, ANSWER, keys[0]))
    if keys[1:] and first_answer(found) is None:
        found += (entry for key in keys[1:] for entry in table.with_key(dataset, ANSWER, key))
    return sorted(found, key=lambda entry: entry.sequence)


def first_answer(answers: Iterable[Entry]) -> Entry | None:
    """The first of some answers that holds a document."""
    return next((answer for answer in answers if not is_failure(answer)), None)


def is_failure(answer: Entry) -> bool:
    """Whether an answer only says that there will be none."""
    return answer.read(lambda content: "failed" in content, "is not the answer that was archived")


def archived_document(answer: Entry) -> dict[str, Any]:
    """The document that an answer holds, if it is the one that was archived."""

    def document(content: Mapping[str, Any]) -> dict[str, Any]:
        if digest(content["document"]) != content["digest"]:
            raise ValueError("another document")
        found: dict[str, Any] = json.loads(content["document"])
        return found

    return answer.read(document, "is not the answer that was archived")


def all_entries(
    writer: Writer, chosen: Chosen | None = None, *, after: int | None = None, limit: int | None = None
) -> Iterator[Entry]:
    """Every entry of a ledger in order, or those that are chosen; they are read some at a time."""
    left = limit
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        found = writer.read(partial(EntryTable.page, after=after, limit=size, chosen=chosen))
        yield from found
        if len(found) < size:
            return
        after, left = found[-1].sequence, None if left is None else left - len(found)


def checked_key(key: object) -> str:
    """A question's name: short plain text."""
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise InvalidParameterError(
            f"a key must be printable ASCII text of 1 to {LONGEST_KEY} letters, such as a hash of the question."
        )
    return key
