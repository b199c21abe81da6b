"""A data set as everybody may see it: whom it protects, what was spent, its releases, and how what is allowed has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.policy import BY_GROUP, OWN, SHARED, Policy
from dpstats.curator.catalog.registrations import Registration
from dpstats.curator.ledger.entries import AMEND, OPEN, Entry
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.ledger.standing import BUDGET, amended, total_after
from dpstats.curator.publishing.cards import guarantee
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import counted
from dpstats.web.figures.miniatures import miniature_of
from dpstats.web.figures.spent_bar import spent_bar
from dpstats.web.published.answers import in_short
from dpstats.web.published.documents import declared, protection_of
from dpstats.web.published.reading import MOST_KEPT, PublishedAnswer, publications, read_published
from dpstats.web.routes import Plain

CONFIRMED = "The policy was confirmed as it was."
NEWEST = 6
"""Releases of a data set among which those of the first page are."""
_ARCHIVES = {
    SHARED: "A question that was asked before gets the same answer at no cost, whoever asks.",
    BY_GROUP: "A question that was asked before gets the same answer at no cost, within the group of whoever asked it.",
    OWN: "A question that was asked before gets the same answer at no cost, for whoever asked it.",
}


def listed_dataset(ledger: Ledger, registration: Registration) -> Plain | None:
    """A line of the first page; None where nothing was published."""
    entries = publications(ledger, registration.name)
    if not entries:
        return None
    return {
        "name": registration.name,
        "owner": registration.owner,
        "unit": str(registration.protection["unit"]),
        "guarantee": guarantee(promise(ledger.reader(registration.name))),
        "releases": len(entries),
        "latest": entries[-1].time,
        "newest": [release_line(read_published(ledger, entry)) for entry in entries[-NEWEST:]],
    }


def dataset_values(ledger: Ledger, registration: Registration) -> Plain | None:
    """The page of a data set; None where nothing was published."""
    entries = publications(ledger, registration.name)
    if not entries:
        return None
    reader = ledger.reader(registration.name)
    standing, releases = reader.standing, [read_published(ledger, entry) for entry in entries]
    limit = max(standing.limit.loss, standing.total.loss)
    ticks = [(float(total_after(each.debit, standing.accountant).loss / limit), each.title) for each in releases]
    share = float(standing.total.loss / limit)
    words = f"{standing.spent} of {'nothing more' if standing.closed else standing.budget} is spent."
    return {
        "name": registration.name,
        "owner": registration.owner,
        "unit": str(registration.protection["unit"]),
        "protects": protection_of(registration).describe(),
        "declared": declared(registration.keys),
        "guarantee": guarantee(promise(reader)),
        "spent": _amounts(standing.spent),
        "budget": None if standing.closed else {"epsilon": str(standing.budget.epsilon), "delta": str(standing.budget.delta)},
        "accountant": standing.budget.accountant,
        "spent_words": words,
        "bar": spent_bar(share, ticks, f"{words} Ticks are releases."),
        "releases": [release_line(each) for each in reversed(releases)],
        "policy": policy_sentences(Policy.from_dict(reader.policy)),
        "history": history(reader),
    }


def promise(reader: AccountReader) -> PrivacyCost:
    """What is promised to each unit: the largest budget that was ever set."""
    opened = reader.opened_with.terms
    budgets = [opened.budget, *filter(None, (_amended(opened.budget, each) for each in reader.entries(kinds=[AMEND])))]
    return opened.cost(max(each.epsilon for each in budgets), max(each.delta for each in budgets))


def policy_sentences(policy: Policy) -> list[str]:
    """What the owner of a data set allows, in sentences."""
    largest = policy.largest_epsilon
    said = [
        "Every column may be asked about." if policy.columns is None else f"Columns: {', '.join(policy.columns) or 'none'}.",
        "Every statistic may be asked."
        if policy.statistics is None
        else f"Statistics: {', '.join(policy.statistics) or 'none'}.",
        "One question may spend all that is left."
        if largest is None
        else f"One question may spend epsilon = {decimal_text(largest)} at most.",
        _ARCHIVES[policy.archive],
    ]
    return [*said, "It is frozen: no new question is answered."] if policy.frozen else said


def history(reader: AccountReader) -> list[Plain]:
    """Every change of what is allowed: when, who, what and why; the newest first."""
    lines: list[Plain] = []
    budget, policy = reader.opened_with.terms.budget, Policy()
    for entry in reader.entries(kinds=[OPEN, AMEND]):
        if entry.kind == OPEN:
            changes, why = [f"The account was opened with a budget of {budget}."], ""
        else:
            why = entry.read(lambda content: str(content["why"]), "does not say why")
            if entry.key == BUDGET:
                said = _amended(reader.opened_with.terms.budget, entry)
                changes = ["The budget was closed." if said is None else f"The budget became {said}; it was {budget}."]
                budget = said or budget
            else:
                now = Policy.from_dict(entry.read(lambda content: dict(content["policy"]), "has no policy"))
                changes = list(_changes(policy.to_dict(), now)) or [CONFIRMED]
                policy = now
        lines.append({"sequence": entry.sequence, "time": entry.time, "who": entry.actor, "changes": changes, "why": why})
    return lines[::-1]


def policy_changes(ledger: Ledger, entry: Entry) -> list[str]:
    """What an amendment has changed in a policy, in sentences."""
    before = ledger.reader(entry.dataset, checked=False).policy_before(entry.sequence)
    now = Policy.from_dict(entry.read(lambda content: dict(content["policy"]), "has no policy"))
    return list(_changes(Policy.from_dict(before).to_dict(), now)) or [CONFIRMED]


def _changes(before: Mapping[str, Any], now: Policy) -> Iterable[str]:
    after = now.to_dict()
    sentences = policy_sentences(now)
    by_name = dict(zip(("columns", "statistics", "largest_epsilon", "archive"), sentences, strict=False))
    by_name["frozen"] = "No new question is answered." if now.frozen else "New questions are answered."
    by_name["rows"] = f"The table is said to have about {counted(now.rows, 'row')}."
    by_name["pace"] = f"Replies leave after {decimal_text(now.pace)} times the usual time."
    return (by_name[name] for name in after if after[name] != before[name])


def _amended(opened: Budget, entry: Entry) -> Budget | None:
    """The budget that an amendment sets; None where it closes the account, or is about the policy."""
    if entry.key != BUDGET:
        return None
    return entry.read(lambda content: amended(opened, content), "has no budget that can be read")


@lru_cache(MOST_KEPT)
def release_line(published: PublishedAnswer) -> Plain:
    """A release in a list; not to be changed."""
    first = published.results[0]
    return {
        "number": published.number,
        "dataset": published.dataset,
        "title": published.title,
        "time": published.entry.time,
        "in_short": in_short(first) if len(published.results) == 1 else f"{len(published.results):,} answers",
        "cost": _amounts(published.cost),
        "picture": miniature_of(first),
    }


def _amounts(cost: PrivacyCost) -> Plain:
    return {"epsilon": str(cost.epsilon), "delta": str(cost.delta), "words": str(cost)}
