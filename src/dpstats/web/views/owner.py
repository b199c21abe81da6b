"""What an owner sees: her data sets, how their budgets were spent, what analysts ask of her, and what she can do about it.

Rights are the catalog's: whoever does not own a data set is told the same as where there is none. No page shows a row. An owner
sees the questions and costs of all analysts, and answers only as far as policy goes: see `web/owning/answers.py`.
"""

from __future__ import annotations

from pydantic import Field

from dpstats.curator.catalog.policy import REGRESSION, Policy
from dpstats.curator.catalog.registrations import Registration
from dpstats.curator.ledger.entries import AMEND, DEBIT, GRANT, REVOKE
from dpstats.curator.ledger.stores import LAST_NUMBER
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, UnknownNameError
from dpstats.foundations.registry import statistic_names
from dpstats.web.owning.answers import answer_values, find_answer, line_values, may_see, publications
from dpstats.web.owning.grants import grant_values, listed_caps, oversubscription
from dpstats.web.owning.holdings import burn_down_values, change_values, edition_values, policy_values, standing_values
from dpstats.web.owning.letters import letter_values
from dpstats.web.papers import LetterKind, LetterState
from dpstats.web.people.roles import Action, Role, Who
from dpstats.web.routes import Plain, Query, RouteTable, Visit

ROUTES = RouteTable()
LATEST = 8
"""Questions on the first page of a data set."""
MOST_LINES = 200


class OwnedPage(Query):
    """Which questions to show: those after an entry."""

    after: int | None = Field(None, ge=0, le=LAST_NUMBER)
    limit: int = Field(50, ge=1, le=MOST_LINES)
    actor: str = ""


@ROUTES.page("/own", Who.OWNER, "own.html", action=Action.OWN)
def owned_datasets(visit: Visit) -> Plain:
    """The data sets of the owner, and the drafts of others that she is to confirm."""
    catalog = visit.office.catalog
    return {
        "datasets": [_listed(visit, each) for each in catalog.owned(visit.name) if reaches(visit, each.name)],
        "to_confirm": [
            {"name": each.name, "owner": each.owner} for each in catalog.drafts_for(visit.name) if reaches(visit, each.name)
        ],
    }


@ROUTES.page("/own/{name}", Who.OWNER, "own_dataset.html", action=Action.OWN)
def owned_dataset(visit: Visit) -> Plain:
    """One data set: how its budget was spent, letters that wait, questions, publications and editions."""
    registration = visit.office.catalog.registration(visit.path["name"], actor=visit.name)
    if not registration.is_open:
        return {**_heading(registration), "undecided": list(registration.undecided)}
    office, name = visit.office, registration.name
    reader = office.ledger.reader(name)
    letters = office.papers.letters(dataset=name)
    waiting = [letter_values(office, each) for each in letters if each.state is LetterState.OPEN]
    debits = reader.entries(kinds=[DEBIT])
    policy = Policy.from_dict(reader.policy)
    after = debits[-LATEST - 1].sequence if len(debits) > LATEST else None
    lines = office.ledger.questions(name, after=after, limit=LATEST)
    return {
        **opened_heading(visit, registration),
        "standing": standing_values(reader),
        "unit": registration.protection["unit"],
        "max_rows_per_unit": registration.protection["max_rows_per_unit"],
        "rows_found": "; ".join(filter(None, (registration.protection.get(word) for word in ("share", "found")))),
        "source": office.catalog.whereabouts(registration),
        "burn_down": burn_down_values(reader, debits),
        "proposals": [each for each in waiting if each["kind"] == LetterKind.PROPOSAL.value],
        "requests": [each for each in waiting if each["kind"] == LetterKind.REQUEST.value],
        "decided": [letter_values(office, each) for each in letters if each.state is not LetterState.OPEN][:MOST_LINES],
        "questions": [line_values(each, shown=may_see(policy, visit.name, each.actor)) for each in lines][::-1],
        "asked": len(debits),
        "publications": publications(reader),
        "editions": edition_values(reader),
    }


@ROUTES.page("/own/{name}/questions", Who.OWNER, "own_questions.html", query=OwnedPage, action=Action.OWN)
def owned_questions(visit: Visit) -> Plain:
    """All questions about a data set and what they cost, in pages; answers as far as policy goes."""
    registration = opened(visit)
    given: OwnedPage = visit.query
    policy = Policy.from_dict(visit.office.ledger.reader(registration.name).policy)
    lines = visit.office.ledger.questions(registration.name, actor=given.actor or None, after=given.after, limit=given.limit + 1)
    shown = lines[: given.limit]
    return {
        **opened_heading(visit, registration),
        "archive": policy.archive,
        "actor": given.actor,
        "limit": given.limit,
        "lines": [line_values(each, shown=may_see(policy, visit.name, each.actor)) for each in shown],
        "next": shown[-1].sequence if len(lines) > given.limit else None,
    }


@ROUTES.page("/own/{name}/answers/{sequence:int}", Who.OWNER, "own_answer.html", action=Action.OWN)
def owned_answer(visit: Visit) -> Plain:
    """An archived answer that the owner may see, and publish."""
    registration = opened(visit)
    ledger, name = visit.office.ledger, registration.name
    sequence = int(visit.path["sequence"])
    found = find_answer(ledger, name, sequence)
    reader = ledger.reader(name)
    if not may_see(Policy.from_dict(reader.policy), visit.name, found.debit.actor):
        raise UnknownNameError(f"there is no archived answer about {name} to entry {sequence}.")
    return {**opened_heading(visit, registration), "answer": answer_values(found, publications(reader))}


@ROUTES.page("/own/{name}/people", Who.OWNER, "own_people.html", action=Action.OWN)
def owned_people(visit: Visit) -> Plain:
    """Who may ask about a data set, with which caps, and all changes of that."""
    registration = opened(visit)
    ledger, name = visit.office.ledger, registration.name
    reader = ledger.reader(name)
    grants = grant_values(ledger, name)
    budget = reader.budget
    return {
        **opened_heading(visit, registration),
        "standing": standing_values(reader),
        "grants": grants,
        "subscription": oversubscription(budget, listed_caps(grants, budget.accountant)),
        "analysts": analysts(visit),
        "needs_delta": budget.accountant != "basic",
        "changes": change_values(reader.entries(kinds=[GRANT, REVOKE]))[::-1],
    }


@ROUTES.page("/own/{name}/policy", Who.OWNER, "own_policy.html", action=Action.OWN)
def owned_policy(visit: Visit) -> Plain:
    """What may be asked of a data set, its budget, and all changes of them."""
    registration = opened(visit)
    reader = visit.office.ledger.reader(registration.name)
    policy = Policy.from_dict(reader.policy)
    try:
        columns = visit.office.catalog.draft(registration.name, actor=visit.name)
    except DpstatsError:  # the table cannot be reached now; its policy can be changed all the same
        columns = dict.fromkeys(policy.columns or (), "")
    return {
        **opened_heading(visit, registration),
        "standing": standing_values(reader),
        "policy": policy_values(policy),
        "columns": columns,
        "statistics": [*statistic_names(), REGRESSION],
        "changes": change_values(reader.entries(kinds=[AMEND]))[::-1],
    }


def reaches(visit: Visit, name: str) -> bool:
    """Whether a program's token is for this data set; somebody at a browser reaches all of theirs."""
    token = None if visit.visitor is None else visit.visitor.token
    return token is None or token.datasets is None or name in token.datasets


def opened(visit: Visit) -> Registration:
    """The data set of an address, if it is the visitor's and open."""
    found = visit.office.catalog.registration(visit.path["name"], actor=visit.name)
    if not found.is_open:
        raise InvalidParameterError(f"{found.name} is a draft: confirm it first.")
    return found


def opened_heading(visit: Visit, registration: Registration) -> Plain:
    """What stands above every page of a data set that is open."""
    policy = Policy.from_dict(visit.office.ledger.reader(registration.name).policy)
    return {**_heading(registration), "frozen": policy.frozen, "granted_to_me": _is_granted(visit, registration.name)}


def analysts(visit: Visit) -> list[str]:
    """Who could be let in: everybody who is an analyst here, and the owner herself."""
    found = {each.name for each in visit.office.people.all() if Role.ANALYST in each.roles and not each.is_barred}
    return sorted({*found, visit.name})


def _heading(registration: Registration) -> Plain:
    return {"name": registration.name, "state": registration.state}


def _is_granted(visit: Visit, name: str) -> bool:
    return visit.office.ledger.reader(name).granted(visit.name) is not None


def _listed(visit: Visit, registration: Registration) -> Plain:
    said = {**_heading(registration), "unit": registration.protection["unit"]}
    if not registration.is_open:
        return {**said, "undecided": list(registration.undecided), "source": visit.office.catalog.whereabouts(registration)}
    reader = visit.office.ledger.reader(registration.name)
    letters = visit.office.papers.letters(dataset=registration.name)
    grants = grant_values(visit.office.ledger, registration.name)
    return {
        **said,
        "standing": standing_values(reader),
        "frozen": bool(reader.policy.get("frozen")),
        "letters": sum(each.state is LetterState.OPEN for each in letters),
        "analysts": [each["holder"] for each in grants if each["kind"] == "analyst"],
    }
