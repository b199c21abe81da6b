"""Debits: one question, charged to every account that it touches, or to none.

The first entry is the data set's, with the question; it lists the other accounts, whose own entries follow it directly, each with
the same cost and a running total. Every limit is looked at before anything is appended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpstats.accounting.accountants import Total, checked_factor, read_exact
from dpstats.curator.ledger.entries import DEBIT, FIRST_VERSION, GRANT, REVOKE, VERSION, Entry
from dpstats.curator.ledger.grants import Grant, Granted, grant_in, last_of, payers
from dpstats.curator.ledger.openings import ANALYST, Opening, cap_name, holder_key, population_name
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.standing import Standing, sought_for, standing
from dpstats.curator.ledger.stores import EntryTable, Sought
from dpstats.curator.ledger.terms import Terms
from dpstats.foundations.errors import BudgetError, InvalidParameterError, UnknownNameError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import PURE_LOSS


@dataclass(frozen=True)
class Receipt:
    """What a debit hands back: it was paid, and is on the disk."""

    dataset: str
    sequence: int
    key: str
    hash: str
    total: Total
    """What the data set has spent, this debit included."""
    actor: str = ""
    request: str = ""
    time: str = ""
    """When it was written, as its entry has it."""


@dataclass(frozen=True)
class DebitOrder:
    """A question to be paid for."""

    key: str
    question: str
    cost: PrivacyCost
    details: Mapping[str, object] = field(default_factory=dict)
    loss: Fraction = PURE_LOSS
    """rho / epsilon**2 of the method, for the unit."""
    actor: str = ""
    request: str = ""
    former: tuple[str, ...] = ()
    """Keys under which earlier releases may have archived the answer to the very same question."""

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys of the question."""
        return (self.key, *self.former)

    def amounts(self) -> dict[str, str]:
        """The cost as it is written; a loss of 1/2 is not named."""
        named = {} if self.loss == PURE_LOSS else {"loss": str(self.loss)}
        return {"epsilon": str(self.cost.epsilon), "delta": str(self.cost.delta), **named}


Standings = dict[str, tuple[tuple[Entry | None, ...], Standing]]
"""How accounts stood when this process last looked, by the entries that said so: most often they are still the last ones."""


def spend(page: Page, dataset: str, opening: Opening, order: DebitOrder, known: Standings) -> Receipt:
    """Charge an order to all who pay for it; raises `BudgetError` or `AccessError`, and appends nothing, where that fails."""
    page.latest_of(_first_look(dataset, opening, order.actor))  # in one question to the store
    if order.request and page.with_request(order.actor, order.request) is not None:
        raise InvalidParameterError(f"the request {order.request!r} was paid for already.")
    granted = grants_in(page, dataset, opening.terms.budget.accountant)
    names = payers(dataset, opening, order.actor, granted)
    standings = [standing_in(page, name, known) for name in names]
    charges = [each.accountant.charge(order.cost, order.loss) for each in standings]
    totals = [each.accountant.add(each.total, charge) for each, charge in zip(standings, charges, strict=True)]
    short = [number for number, (each, total) in enumerate(zip(standings, totals, strict=True)) if not total <= each.limit]
    if short:
        raise BudgetError(_refusal(order, dataset, [(standings[number], charges[number]) for number in short]))
    also = names[1:]
    first = page.append(
        dataset,
        DEBIT,
        order.key,
        {
            "question": order.question,
            "cost": order.amounts(),
            "total": standings[0].accountant.to_dict(totals[0]),
            "details": dict(order.details),
            **({"also": also} if also else {}),
        },
        actor=order.actor,
        request=order.request,
    )
    for name, each, total in zip(also, standings[1:], totals[1:], strict=True):
        content = {"of": first.sequence, "cost": order.amounts(), "total": each.accountant.to_dict(total)}
        page.append(name, DEBIT, order.key, content, actor=order.actor, request=order.request)
    for each, total, debit in zip(standings, totals, page.appended[-len(names) :], strict=True):
        opened, amendment, _ = known[each.name][0]
        now = Standing(each.name, each.opening, each.budget, each.closed, total)
        known[each.name] = (opened, amendment, debit), now
    return Receipt(dataset, first.sequence, order.key, first.hash, totals[0], order.actor, order.request, first.time)


def grants_in(page: Page | EntryTable, dataset: str, accountant: str) -> Granted:
    """The grants on a data set as they are in this transaction."""

    def granted(holder: str) -> Grant | None:
        entry = last_of(page.latest_of([(dataset, GRANT, holder), (dataset, REVOKE, holder)]).values())
        return None if entry is None else grant_in(entry, accountant)

    return granted


def standing_in(page: Page | EntryTable, name: str, known: Standings) -> Standing:
    """How an account stands in this transaction."""
    opened, amendment, debit = page.latest_of(sought_for(name)).values()
    if opened is None:
        raise UnknownNameError(f"the ledger has no account {name!r}.")
    entries, before = known.get(name, ((), None))
    if before is None or entries != (opened, amendment, debit):
        before = standing(name, opened, amendment, debit)
        known[name] = (opened, amendment, debit), before
    return before


def cost_of(debit: Entry, terms: Terms) -> PrivacyCost:
    """What a debit cost."""
    cost = debit.content()["cost"]
    return terms.cost(read_exact(cost["epsilon"]), read_exact(cost["delta"]))


def loss_of(debit: Entry) -> Fraction:
    """The loss of a debit's method; raises `ValueError` where it cannot be read."""
    return read_loss(debit.version, debit.content()["cost"])


def read_loss(version: int, cost: Mapping[str, Any]) -> Fraction:
    """The loss that a cost names: none in version 1, always one in version 2; one of 1/2 is not named."""
    if version == FIRST_VERSION or (version == VERSION and "loss" not in cost):
        return PURE_LOSS
    loss = checked_factor(read_exact(cost["loss"]))
    if loss == PURE_LOSS:
        raise ValueError("a loss of 1/2 is not written down")
    return loss


def _first_look(dataset: str, opening: Opening, actor: str) -> list[Sought]:
    """What a debit is sure to need."""
    sought = sought_for(dataset)
    if opening.population is not None:
        sought += sought_for(population_name(opening.population))
    if actor:
        holder = holder_key(ANALYST, actor)
        sought += [(dataset, GRANT, holder), (dataset, REVOKE, holder), *sought_for(cap_name(dataset, ANALYST, actor))]
    return sought


def _refusal(order: DebitOrder, dataset: str, short: Sequence[tuple[Standing, Total]]) -> str:
    """Why an order does not fit: the data holder's program is told of any account, an actor of the own cap alone."""
    if order.actor:
        own = cap_name(dataset, ANALYST, order.actor)
        mine = [each for each in short if each[0].name == own]
        if not mine:
            return (
                f"this question costs more than is left of {dataset} for everybody. Nothing was spent. Ask with a smaller "
                "epsilon or delta, or ask the data holder."
            )
        short = mine
    (account, charge), *_ = short
    if account.closed:
        return (
            f"the budget of {account.name} was closed, so that nothing more can be paid for. Nothing was spent; what was "
            "answered before can still be had."
        )
    amount = "epsilon" if account.total.loss + charge.loss > account.limit.loss else "delta"
    return (
        f"this question costs {account.accountant.words(charge)}, and of the budget of {account.name}, {account.budget}, "
        f"there is {account.remaining} left. Nothing was spent. Ask with a smaller {amount}, or ask less."
    )
