"""What an owner changes: budget, policy, grants, letters and publications. Every change says who and why, in the ledger."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.policy import SHARED, Policy
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.results import NoReply
from dpstats.web.owning.amounts import budget_of, epsilon_of
from dpstats.web.owning.answers import ArchivedAnswer, find_answer, may_see, publications, published_parts
from dpstats.web.owning.letters import agreeing, open_letter, proposed_sequence, raised_cap
from dpstats.web.papers import Letter, LetterKind, LetterState
from dpstats.web.people.roles import Action, Who
from dpstats.web.published.reading import PARTS
from dpstats.web.routes import Body, Done, RouteTable, Visit
from dpstats.web.views.owner import analysts, opened

ROUTES = RouteTable()
LONGEST_TITLE = 200
Why = Annotated[str, Field(min_length=1, max_length=2000, description="why, for the ledger and whoever reads it")]
Amount = Annotated[str | float | None, Field(description="an exact amount: a number, or a text such as 0.2 or 1/3")]


class WithReason(Body):
    """A change that needs a reason and nothing else."""

    why: Why


class PolicyChange(Body):
    """Parts of a policy; what is left out stays, unless this is the whole of it, as a form sends it."""

    columns: list[str] = Field([])
    every_column: bool = False
    statistics: list[str] = Field([])
    every_statistic: bool = False
    largest_epsilon: Amount = None
    archive: str = SHARED
    rows: int | None = None
    pace: Amount = None
    whole: bool = False
    why: Why


class BudgetChange(Body):
    """Another budget."""

    epsilon: Amount
    delta: Amount = None
    why: Why


class GrantChange(Body):
    """Who may ask, and with which cap of their own."""

    analyst: str = ""
    group: str = ""
    epsilon: Amount = None
    delta: Amount = None
    why: Why


class RevokedGrant(Body):
    """Whose grant is taken back."""

    analyst: str = ""
    group: str = ""
    why: Why


class AgreedLetter(Body):
    """What is agreed to: a publication under a title, or a cap."""

    title: str = Field("", max_length=LONGEST_TITLE)
    words: str = Field("", max_length=2000)
    epsilon: Amount = None
    why: str = Field("", max_length=2000)


class RefusedLetter(Body):
    """Why not, for whoever wrote the letter."""

    words: str = Field(min_length=1, max_length=2000)


class PublishedParts(Body):
    """An archived answer to publish: all questions of a basket, or some of them."""

    sequence: int = Field(ge=1, le=LAST_NUMBER)
    title: str = Field(min_length=1, max_length=LONGEST_TITLE)
    words: str = Field("", max_length=2000)
    parts: list[int] = Field([])


@ROUTES.act("/own/{name}/policy", Who.OWNER, PolicyChange, action=Action.OWN, again="/own/{name}/policy")
def change_policy(visit: Visit) -> Done:
    """Change what may be asked of a data set."""
    registration, given = opened(visit), visit.body
    now = Policy.from_dict(visit.office.ledger.reader(registration.name).policy)
    changes = policy_changes(given)
    if set(changes.get("columns") or ()) - set(now.columns or ()):
        known = visit.office.catalog.draft(registration.name, actor=visit.name)
        for each in changes["columns"]:
            if each not in known:
                raise InvalidParameterError(f"the policy names a column {each!r}, which the table does not have.")
    visit.office.catalog.amend(registration.name, actor=visit.name, why=given.why, **changes)
    return Done(_page(registration.name, "/policy"), {"policy": visit.office.ledger.reader(registration.name).policy})


@ROUTES.act("/own/{name}/budget", Who.OWNER, BudgetChange, action=Action.OWN, again="/own/{name}/policy")
def change_budget(visit: Visit) -> Done:
    """Set another budget for a data set; what was spent stays spent."""
    registration, given = opened(visit), visit.body
    now = visit.office.ledger.reader(registration.name).budget
    budget = budget_of(given.epsilon, given.delta, now.accountant, usual_delta=now.delta)
    visit.office.catalog.amend(registration.name, budget=budget, actor=visit.name, why=given.why)
    return Done(_page(registration.name, "/policy"), {"budget": budget.to_dict()})


@ROUTES.act("/own/{name}/freeze", Who.OWNER, WithReason, action=Action.OWN, again="/own/{name}")
def freeze(visit: Visit) -> Done:
    """Answer nothing new about a data set."""
    registration = opened(visit)
    visit.office.catalog.freeze(registration.name, actor=visit.name, why=visit.body.why)
    return Done(_page(registration.name), {"frozen": True})


@ROUTES.act("/own/{name}/thaw", Who.OWNER, WithReason, action=Action.OWN, again="/own/{name}")
def thaw(visit: Visit) -> Done:
    """Answer questions about a data set again."""
    registration = opened(visit)
    visit.office.catalog.amend(registration.name, actor=visit.name, why=visit.body.why, frozen=False)
    return Done(_page(registration.name), {"frozen": False})


@ROUTES.act("/own/{name}/grants", Who.OWNER, GrantChange, action=Action.OWN, again="/own/{name}/people")
def grant_access(visit: Visit) -> Done:
    """Let an analyst, or a group, ask about a data set, in place of what they were granted before."""
    registration, given = opened(visit), visit.body
    check_holder(visit, given.analyst, given.group)
    now = visit.office.ledger.reader(registration.name).budget
    budget = None
    if given.epsilon is not None:
        budget = budget_of(given.epsilon, given.delta, now.accountant, usual_delta=now.delta)
    visit.office.catalog.grant(
        registration.name,
        analyst=given.analyst or None,
        group=given.group or None,
        budget=budget,
        actor=visit.name,
        why=given.why,
    )
    granted = {"analyst": given.analyst or None, "group": given.group or None}
    return Done(_page(registration.name, "/people"), {**granted, "budget": None if budget is None else budget.to_dict()})


@ROUTES.act("/own/{name}/revoke", Who.OWNER, RevokedGrant, action=Action.OWN, again="/own/{name}/people")
def revoke_access(visit: Visit) -> Done:
    """Take back what an analyst or a group was granted; what was spent stays spent."""
    registration, given = opened(visit), visit.body
    if bool(given.analyst) == bool(given.group):
        raise InvalidParameterError("name an analyst or a group, one of them.")
    visit.office.catalog.revoke(
        registration.name, analyst=given.analyst or None, group=given.group or None, actor=visit.name, why=given.why
    )
    return Done(_page(registration.name, "/people"))


@ROUTES.act("/own/{name}/letters/{letter:int}/agree", Who.OWNER, AgreedLetter, action=Action.OWN, again="/own/{name}")
def agree(visit: Visit) -> Done:
    """Agree to a letter: publish what is proposed, or set the cap that is asked for."""
    registration, given = opened(visit), visit.body
    letter = open_letter(visit.office, registration.name, int(visit.path["letter"]))
    if letter.kind is LetterKind.PROPOSAL:
        number = _publish_proposal(visit, letter)
        return Done(_page(registration.name), {"number": number, "release": f"/r/{number}"})
    budget = _agree_to_budget(visit, letter, given)
    return Done(_page(registration.name), {"budget": budget.to_dict()})


@ROUTES.act("/own/{name}/letters/{letter:int}/refuse", Who.OWNER, RefusedLetter, action=Action.OWN, again="/own/{name}")
def refuse(visit: Visit) -> Done:
    """Refuse what a letter asks for, with words for whoever wrote it."""
    registration = opened(visit)
    letter = open_letter(visit.office, registration.name, int(visit.path["letter"]))
    visit.office.papers.decide(letter.id, LetterState.REFUSED, visit.name, visit.body.words)
    return Done(_page(registration.name))


@ROUTES.act("/own/{name}/publish", Who.OWNER, PublishedParts, action=Action.OWN, again="/own/{name}/questions")
def publish_answer(visit: Visit) -> Done:
    """Publish an archived answer that the owner may see: all of it, or some questions of a basket."""
    registration, given = opened(visit), visit.body
    ledger, name = visit.office.ledger, registration.name
    found = find_answer(ledger, name, given.sequence)
    if not may_see(Policy.from_dict(ledger.reader(name).policy), visit.name, found.debit.actor):
        raise UnknownNameError(f"there is no archived answer about {name} to entry {given.sequence}.")
    number = _publish(visit, name, found, given.title, given.words, given.parts)
    return Done(f"{_page(name)}/answers/{given.sequence}", {"number": number, "release": f"/r/{number}"})


def policy_changes(given: Any) -> dict[str, Any]:
    """The parts of a policy that a body names; all of them where it is whole."""
    said = set(type(given).model_fields) if given.whole else given.model_fields_set
    changes: dict[str, Any] = {}
    for listed, every in (("columns", "every_column"), ("statistics", "every_statistic")):
        if said & {listed, every}:
            changes[listed] = None if getattr(given, every) else tuple(getattr(given, listed))
    if "largest_epsilon" in said:
        changes["largest_epsilon"] = None if given.largest_epsilon is None else epsilon_of(given.largest_epsilon)
    if "archive" in said:
        changes["archive"] = given.archive
    if "rows" in said and given.rows is not None:
        changes["rows"] = given.rows
    if "pace" in said and given.pace is not None:
        changes["pace"] = epsilon_of(given.pace)
    return changes


def check_holder(visit: Visit, analyst: str, group: str) -> None:
    """Raise unless there is somebody of that name who may be let in, or a group alone is meant."""
    if not analyst and not group:
        raise InvalidParameterError("name an analyst or a group.")
    if analyst and analyst not in analysts(visit):
        raise InvalidParameterError(f"there is no analyst named {analyst!r} here: an administrator can add one.")


def _agree_to_budget(visit: Visit, letter: Letter, given: AgreedLetter) -> Budget:
    if not given.why.strip():
        raise InvalidParameterError("say why: the ledger keeps the reason of every change of a budget.")
    catalog, cap = visit.office.catalog, raised_cap(visit.office.ledger, letter, given.epsilon)
    with agreeing(visit.office, letter, visit.name, given.words or given.why):
        if cap.holder is None:
            catalog.amend(letter.dataset, budget=cap.then, actor=visit.name, why=given.why)
        else:
            catalog.grant(letter.dataset, **cap.holder, budget=cap.then, actor=visit.name, why=given.why)
    return cap.then


def _publish_proposal(visit: Visit, letter: Letter) -> int:
    given: AgreedLetter = visit.body
    title = (given.title or str(letter.content.get("title", ""))).strip()
    words = given.words or str(letter.content.get("words", ""))
    found = find_answer(visit.office.ledger, letter.dataset, proposed_sequence(letter))
    with agreeing(visit.office, letter, visit.name, given.why):
        return _publish(visit, letter.dataset, found, title, words, [])


def _publish(visit: Visit, name: str, found: ArchivedAnswer, title: str, words: str, parts: list[int]) -> int:
    _check_publication(visit, name, found, title, parts)
    chosen = {PARTS: sorted(set(parts))} if parts and len(set(parts)) < len(found.parts) else {}
    facts = {"words": words, **chosen}
    return visit.office.catalog.publish(name, answer=found.answer.sequence, title=title, actor=visit.name, facts=facts)


def _check_publication(visit: Visit, name: str, found: ArchivedAnswer, title: str, parts: list[int]) -> None:
    if not title.strip() or not title.isprintable() or len(title) > LONGEST_TITLE:
        raise InvalidParameterError(f"a release has a title: one line of {LONGEST_TITLE} letters at most.")
    places = set(parts) or set(range(len(found.parts)))
    if not places <= set(range(len(found.parts))):
        raise InvalidParameterError(f"this answer has the parts 0 to {len(found.parts) - 1}.")
    if all(isinstance(found.parts[place], NoReply) for place in places):
        raise InvalidParameterError("there was no reply, so there is nothing to publish.")
    known = published_parts(publications(visit.office.ledger.reader(name)), found)
    if places <= known.keys():
        raise InvalidParameterError(f"this was published already: /r/{known[min(places)]}.")


def _page(name: str, below: str = "") -> str:
    return f"/own/{quote(name, safe='')}{below}"
