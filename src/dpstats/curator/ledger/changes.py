"""Changes of what is allowed: budgets and policies that are amended, grants and revocations, each with who and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.debits import grants_in, standing_in
from dpstats.curator.ledger.entries import AMEND, GRANT, OPEN, REVOKE, Entry
from dpstats.curator.ledger.grants import Grant
from dpstats.curator.ledger.openings import DATASET, GROUP, Opening, cap_name, checked_name, holder_key, opening_of
from dpstats.curator.ledger.pages import Page
from dpstats.curator.ledger.standing import BUDGET, POLICY, complaint_about
from dpstats.foundations.errors import InvalidParameterError, LedgerError, MissingParameterError, UnknownNameError

LONGEST_REASON = 2000


def checked_reason(actor: object, why: object) -> tuple[str, str]:
    """Who changes something, and why."""
    who = checked_name(actor, "actor, who changes it,")
    if not isinstance(why, str) or not why.strip() or len(why) > LONGEST_REASON:
        raise MissingParameterError(f"say why: one to {LONGEST_REASON:,} letters, which the ledger keeps.")
    return who, why


def amend_budget(page: Page, name: str, budget: Budget | None, actor: str, why: str) -> None:
    """Set the budget of an account, or close it with None."""
    account = standing_in(page, _opened(page, name).dataset, {})
    if budget is not None and (complaint := complaint_about(account.opening.terms.budget, budget)):
        raise InvalidParameterError(f"the budget of {name} cannot be amended to {budget}: {complaint}.")
    said = None if budget is None else {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
    page.append(name, AMEND, BUDGET, {"budget": said, "why": why}, actor=actor)


def amend_policy(page: Page, name: str, policy: Mapping[str, object], actor: str, why: str) -> None:
    """Set the policy of a data set."""
    _opened_dataset(page, name)
    page.append(name, AMEND, POLICY, {"policy": dict(policy), "why": why}, actor=actor)


def grant(page: Page, dataset: str, kind: str, holder: str, given: Grant, actor: str, why: str) -> None:
    """Let an analyst or a group ask about a data set, in place of what they were granted before."""
    terms = _opened_dataset(page, dataset).terms
    if given.group is not None and grants_in(page, dataset, terms.budget.accountant)(holder_key(GROUP, given.group)) is None:
        raise UnknownNameError(f"nothing is granted to the group {given.group!r} on {dataset}: grant it something first.")
    if given.budget is not None:
        _set_cap(page, Opening(replace(terms, budget=given.budget, facts={}), kind, dataset=dataset, holder=holder), actor, why)
    page.append(dataset, GRANT, holder_key(kind, holder), given.content(why), actor=actor)


def revoke(page: Page, dataset: str, kind: str, holder: str, actor: str, why: str) -> None:
    """Take back what an analyst or a group was granted on a data set; what was spent stays spent."""
    terms = _opened_dataset(page, dataset).terms
    if grants_in(page, dataset, terms.budget.accountant)(holder_key(kind, holder)) is None:
        raise UnknownNameError(f"nothing is granted to the {kind} {holder!r} on {dataset}.")
    page.append(dataset, REVOKE, holder_key(kind, holder), {"why": why}, actor=actor)


def _set_cap(page: Page, asked: Opening, actor: str, why: str) -> None:
    """Open the account of a cap, or amend it where it was another."""
    assert asked.dataset is not None
    assert asked.holder is not None
    name, budget = cap_name(asked.dataset, asked.account, asked.holder), asked.terms.budget
    accountant = opening_of(_opened(page, asked.dataset)).terms.budget.accountant
    if budget.accountant != accountant:
        raise InvalidParameterError(f"costs of {asked.dataset} are added up by {accountant!r}: a cap on it is of that kind too.")
    if page.latest(name, OPEN) is None:
        page.append(name, OPEN, "", asked.content(), actor=actor)
        return
    now = standing_in(page, name, {})
    there = now.opening
    if (there.account, there.dataset, there.holder) != (asked.account, asked.dataset, asked.holder):
        raise LedgerError(f"the name {name!r} is taken by another account of this ledger.")
    if now.closed or now.budget != budget:
        amend_budget(page, name, budget, actor, why)


def _opened(page: Page, name: str) -> Entry:
    entry = page.latest(name, OPEN)
    if entry is None:
        raise UnknownNameError(f"the ledger has no account {name!r}.")
    return entry


def _opened_dataset(page: Page, name: str) -> Opening:
    opening = opening_of(_opened(page, name))
    if opening.account != DATASET:
        raise InvalidParameterError(f"{name!r} is not the account of a data set.")
    return opening
