"""Registration: five steps from a file to a draft, which is then confirmed and open.

The draft itself keeps what is decided, so that it can be left and taken up again, and no name of a column ever stands in an
address: a file without a header has a person in its first line. Nobody but the owner, and whoever is to confirm it, sees a draft.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field, WithJsonSchema

from dpstats.accounting.accountants import ACCOUNTANTS
from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.drafts import Draft
from dpstats.curator.catalog.policy import REGRESSION, Policy
from dpstats.curator.catalog.registrations import PlannedGrant, Registration
from dpstats.curator.protection import ROW
from dpstats.curator.rows_per_unit import ASKED, AUTO, MOST_ROWS_PER_UNIT, PRICE, USUAL_MOST
from dpstats.foundations.errors import DataFileError, InvalidParameterError, MissingParameterError
from dpstats.foundations.registry import statistic_names
from dpstats.foundations.rounding import decimal_text
from dpstats.web.complaints import NOT_FOR_YOU, ComplaintError
from dpstats.web.owning.amounts import budget_of, epsilon_of, exact_of
from dpstats.web.owning.drafts import (
    DECLARABLE,
    STEPS,
    budget_of_questions,
    checked_dataset_name,
    column_values,
    finding_epsilon,
    in_words,
    keys_text,
    planned_subscription,
    planned_values,
    read_keys,
    read_kinds,
    rows_per_unit,
    steps_per_row,
    steps_values,
)
from dpstats.web.owning.headers import suspicious
from dpstats.web.owning.holdings import policy_values
from dpstats.web.owning.purchases import error_by_rows, purchases
from dpstats.web.people.roles import Action, Role, Who
from dpstats.web.routes import Body, Done, Lane, Plain, Query, RouteTable, Visit
from dpstats.web.views.entrance import NoWords
from dpstats.web.views.owner import analysts, reaches
from dpstats.web.views.owner_changes import Amount, Why, check_holder, policy_changes

ROUTES = RouteTable()
FIRST_BUDGET = Budget(1)
"""Of a draft whose owner has not decided yet."""
USUAL_DELTA = "1e-6"
USUAL_PRICE = "0.05"
"""Of finding how many rows of each unit are used: a number of rows is then seen where about 50 units have it."""
_DRAFT = "/own/{name}/draft"
_WHOLE = re.compile(r"[0-9]{1,12}")
_A_NUMBER: Plain = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS_PER_UNIT}
_NOTHING: Plain = {"type": "null"}
RowsOrAuto = Annotated[int | float | str | None, WithJsonSchema({"anyOf": [_A_NUMBER, {"const": AUTO}, _NOTHING]})]
Rows = Annotated[int | float | str | None, WithJsonSchema({"anyOf": [_A_NUMBER, _NOTHING]})]
"""Numbers are checked where they are used, in words; the schema says which are right."""


class DraftPage(Query):
    """Which step to show; left out: the first that is not decided."""

    step: int | None = Field(None, ge=1, le=5)


class NewDraft(Body):
    """A name, and where the table is: a file that is listed, or an address."""

    name: str
    table: str = ""
    address: str = ""


class DraftColumns(Body):
    """Which columns analysts may use, the types of columns that have none, and values that are public."""

    columns: list[str] = Field([])
    kinds: list[str] = Field([], description="such as income:number")
    keys: str = Field("", description="lines such as region: east, west")


class DraftUnit(Body):
    """Whom the data set protects."""

    unit: str = ROW
    max_rows_per_unit: RowsOrAuto = Field(
        None, description='needed unless each row is a unit of its own; "auto" has it found privately when the draft is confirmed'
    )
    rows_per_unit_epsilon: Amount = Field(None, description='with "auto": what finding it costs, such as 0.05')
    most_rows_per_unit: Rows = Field(
        None, description=f'with "auto": the largest number that may be found, which is public; {USUAL_MOST} if left out'
    )
    missing_unit: str = "drop"
    neighbors: str = "add_remove"
    rows: int | None = None
    stay: bool = Field(False, description="whether to look at the same step again")


class DraftBudget(Body):
    """The budget for all questions together, and what may be asked."""

    epsilon: Amount
    delta: Amount = None
    accountant: str = "basic"
    statistics: list[str] = Field([])
    every_statistic: bool = False
    largest_epsilon: Amount = None
    archive: str = "shared"
    rows: int | None = None
    pace: Amount = None
    whole: bool = False
    stay: bool = False


class DraftGrant(Body):
    """Somebody who is to be let in."""

    analyst: str = ""
    group: str = ""
    epsilon: Amount = None
    delta: Amount = None


class RemovedGrant(Body):
    """The place of somebody in the list who is not to be let in."""

    place: int = Field(ge=0, le=10_000)


class DraftPeople(Body):
    """That the list is complete, and who is to confirm the draft where that takes somebody else."""

    second: str = ""


class Confirmation(Body):
    """What somebody has looked at, and why it is opened."""

    seen: str
    why: Why


@ROUTES.page("/own/new", Who.OWNER, "own_new.html", action=Action.OWN)
def new_draft(visit: Visit) -> Plain:
    """Where a table may come from: the first step."""
    catalog = visit.office.catalog
    taken = {catalog.whereabouts(each): each.name for each in catalog.owned(visit.name) if reaches(visit, each.name)}
    files = [{"table": each, "registered_as": taken.get(each)} for each in catalog.candidates()]
    return {"files": files, "hosts": list(catalog.hosts), "buckets": list(catalog.buckets)}


@ROUTES.act("/own/new", Who.OWNER, NewDraft, action=Action.OWN, again="/own/new")
def begin_draft(visit: Visit) -> Done:
    """Begin a draft; its owner alone sees it."""
    given: NewDraft = visit.body
    name = checked_dataset_name(given.name.strip())
    if not reaches(visit, name):
        raise NOT_FOR_YOU
    table = given.address.strip() or given.table
    if not table:
        raise InvalidParameterError("choose a file, or write the address of a table.")
    catalog = visit.office.catalog
    if any(each.name == name for each in catalog.owned(visit.name)):
        raise InvalidParameterError(f"you have a data set {name!r} already: choose another name.")
    with _about_places(visit):
        columns = catalog.register(name, table, owner=visit.name, unit=ROW, budget=FIRST_BUDGET, undecided=tuple(STEPS.values()))
    return Done(_step(name, 2), {"name": name, "columns": columns})


@ROUTES.page(_DRAFT, Who.OWNER, "own_draft.html", query=DraftPage, action=Action.OWN)
def draft_page(visit: Visit) -> Plain:
    """One step of a draft, with what is decided so far and what that does to answers."""
    draft = _own_draft(visit)
    registration = draft.registration
    step = visit.query.step or next((number for number, what in STEPS.items() if what in registration.undecided), 5)
    policy, budget = Policy.from_dict(registration.policy), Budget(**registration.budget)
    catalog, unit_rows, row_steps = visit.office.catalog, rows_per_unit(registration), steps_per_row(registration)
    price, spendable = finding_epsilon(registration), budget_of_questions(registration)
    return {
        "name": registration.name,
        "state": registration.state,
        "step": step,
        "steps": steps_values(registration, step),
        "undecided": list(registration.undecided),
        "source": catalog.whereabouts(registration),
        "is_csv": catalog.whereabouts(registration).lower().endswith((".csv", ".tsv")),
        "columns": column_values(draft),
        "suspicious": suspicious(draft.columns),
        "declarable": list(DECLARABLE),
        "public_values": keys_text(registration.keys),
        "protection": dict(registration.protection),
        "rows_per_unit": {
            "number": unit_rows,
            "epsilon": None if price is None else decimal_text(price),
            "most": None if price is None else registration.protection[ASKED],
            "usual_epsilon": USUAL_PRICE,
            "usual_most": USUAL_MOST,
        },
        "picture": error_by_rows(policy.rows, unit_rows, row_steps),
        "budget": budget.to_dict(),
        "accountants": [*ACCOUNTANTS],
        "usual_delta": USUAL_DELTA,
        "purchases": None
        if spendable is None
        else purchases(spendable, policy.rows, (unit_rows or 1) * row_steps, policy.largest_epsilon),
        "policy": policy_values(policy),
        "statistics": [*statistic_names(), REGRESSION],
        "grants": planned_values(registration),
        "subscription": planned_subscription(registration),
        "analysts": analysts(visit),
        "needs_second": catalog.needs_second_person,
        "second": registration.second,
        "seconds": _seconds(visit),
    }


@ROUTES.act(f"{_DRAFT}/columns", Who.OWNER, DraftColumns, action=Action.OWN, again=f"{_DRAFT}?step=2")
def decide_columns(visit: Visit) -> Done:
    """Decide which columns analysts may use, and how columns of text are read."""
    draft, given = _own_draft(visit), visit.body
    registration = draft.registration
    for each in given.columns:
        if each not in draft.columns:
            raise InvalidParameterError(f"the table has no column {each!r}.")
    types = read_kinds(given.kinds, draft.columns, registration.types)
    keys = read_keys(given.keys, {**draft.columns, **types})
    return _decided(visit, registration, 2, types=types, keys=keys, **_with_policy(registration, columns=tuple(given.columns)))


@ROUTES.act(f"{_DRAFT}/unit", Who.OWNER, DraftUnit, action=Action.OWN, again=f"{_DRAFT}?step=3")
def decide_unit(visit: Visit) -> Done:
    """Decide whom the data set protects, and with how many rows each."""
    registration, given = _own_draft(visit).registration, visit.body
    rows = {} if given.rows is None else _with_policy(registration, rows=given.rows)
    unit = {name: getattr(given, name) for name in ("unit", "missing_unit", "neighbors")}
    return _decided(visit, registration, 3, stay=given.stay, **unit, **_rows_of_units(given), **rows)


@ROUTES.act(f"{_DRAFT}/budget", Who.OWNER, DraftBudget, action=Action.OWN, again=f"{_DRAFT}?step=4")
def decide_budget(visit: Visit) -> Done:
    """Decide how much may be spent in all, and what may be asked."""
    registration, given = _own_draft(visit).registration, visit.body
    budget = budget_of(given.epsilon, given.delta or 0, given.accountant, usual_delta=FIRST_BUDGET.delta)
    changes = policy_changes(given)
    grants = tuple(replace(each, delta=str(budget.delta)) for each in registration.grants)
    return _decided(
        visit, registration, 4, stay=given.stay, budget=budget, grants=grants, **_with_policy(registration, **changes)
    )


@ROUTES.act(f"{_DRAFT}/grants", Who.OWNER, DraftGrant, action=Action.OWN, again=f"{_DRAFT}?step=5")
def plan_grant(visit: Visit) -> Done:
    """Put somebody on the list of those who are let in when the draft is opened."""
    registration, given = _own_draft(visit).registration, visit.body
    check_holder(visit, given.analyst, given.group)
    budget = Budget(**registration.budget)
    delta = str(budget.delta if given.delta is None else exact_of(given.delta, "delta"))
    epsilon = None if given.epsilon is None else str(epsilon_of(given.epsilon))
    grant = PlannedGrant(given.analyst or None, given.group or None, epsilon, delta)
    others = tuple(each for each in registration.grants if not _same_holder(each, grant))
    if grant.analyst and grant.group and not any(each.analyst is None and each.group == grant.group for each in others):
        raise InvalidParameterError(f"put the group {grant.group!r} on the list first, with its own cap or without.")
    return _kept(visit, registration, 5, grants=(*others, grant))


@ROUTES.act(f"{_DRAFT}/grants/remove", Who.OWNER, RemovedGrant, action=Action.OWN, again=f"{_DRAFT}?step=5")
def unplan_grant(visit: Visit) -> Done:
    """Take somebody off that list."""
    registration, place = _own_draft(visit).registration, visit.body.place
    if place >= len(registration.grants):
        raise InvalidParameterError("there is nobody at this place of the list.")
    gone = registration.grants[place]
    if gone.analyst is None and any(each.analyst and each.group == gone.group for each in registration.grants):
        raise InvalidParameterError(f"there are analysts of the group {gone.group!r} on the list: take these off first.")
    return _kept(visit, registration, 5, grants=(*registration.grants[:place], *registration.grants[place + 1 :]))


@ROUTES.act(f"{_DRAFT}/who", Who.OWNER, DraftPeople, action=Action.OWN, again=f"{_DRAFT}?step=5")
def decide_people(visit: Visit) -> Done:
    """Say that everybody is on the list, and who is to confirm the draft."""
    registration, second = _own_draft(visit).registration, visit.body.second
    if visit.office.catalog.needs_second_person and second not in _seconds(visit):
        raise InvalidParameterError("choose who is to confirm it: another owner of this service.")
    _decided(visit, registration, 5, second=second if visit.office.catalog.needs_second_person else "")
    return Done(_page(registration.name, "/confirm"), {"name": registration.name})


@ROUTES.page("/own/{name}/confirm", Who.OWNER, "own_confirm.html", action=Action.OWN)
def confirm_page(visit: Visit) -> Plain:
    """Everything that becomes public with a draft, in words, for its owner and for whoever confirms it."""
    catalog = visit.office.catalog
    with _about_places(visit):
        draft = catalog.look_at_draft(visit.path["name"], actor=visit.name)
    registration = draft.registration
    is_owner = registration.owner == visit.name
    return {
        "name": registration.name,
        "state": registration.state,
        "owner": registration.owner,
        "is_owner": is_owner,
        "second": registration.second,
        "needs_second": catalog.needs_second_person,
        "may_confirm": not registration.undecided and is_owner != catalog.needs_second_person,
        "undecided": list(registration.undecided),
        "words": in_words(draft),
        "suspicious": suspicious(draft.columns),
        "grants": planned_values(registration),
        "subscription": planned_subscription(registration),
        "seen": draft.digest,
    }


@ROUTES.act("/own/{name}/confirm", Who.OWNER, Confirmation, action=Action.OWN, again="/own/{name}/confirm", lane=Lane.PAID)
def confirm(visit: Visit) -> Done:
    """Open a draft, if it is still what somebody has looked at."""
    catalog, name, given = visit.office.catalog, visit.path["name"], visit.body
    with _about_places(visit):
        catalog.confirm(name, actor=visit.name, why=given.why, seen=given.seen)
    is_owner = name in [each.name for each in catalog.owned(visit.name)]
    return Done(_page(name) if is_owner else "/own", {"name": name, "state": "open"})


@ROUTES.act("/own/{name}/withdraw", Who.OWNER, NoWords, action=Action.OWN, again="/own")
def withdraw(visit: Visit) -> Done:
    """Forget a draft."""
    visit.office.catalog.withdraw(visit.path["name"], actor=visit.name)
    return Done("/own")


@contextmanager
def _about_places(visit: Visit) -> Iterator[None]:
    """A table that cannot be opened is what the owner has named wrongly, and not a fault of the service."""
    try:
        yield
    except DataFileError as error:
        raise ComplaintError(422, type(error).__name__, visit.office.catalog.for_owners(error)) from None


def _own_draft(visit: Visit) -> Draft:
    """The visitor's own draft of that name."""
    registration = visit.office.catalog.registration(visit.path["name"], actor=visit.name)
    if registration.is_open:
        raise InvalidParameterError(f"{registration.name} is open already: change its policy instead.")
    with _about_places(visit):
        return visit.office.catalog.look_at_draft(registration.name, actor=visit.name)


def _with_policy(registration: Registration, **changes: Any) -> dict[str, Any]:
    return {"policy": vars(Policy.from_dict(registration.policy).changed(changes))}


def _kept(visit: Visit, registration: Registration, step: int, **changes: Any) -> Done:
    with _about_places(visit):
        visit.office.catalog.revise(registration.name, actor=visit.name, **changes)
    now = visit.office.catalog.registration(registration.name, actor=visit.name)
    return Done(_step(registration.name, step), {"name": registration.name, "undecided": list(now.undecided)})


def _decided(visit: Visit, registration: Registration, step: int, *, stay: bool = False, **changes: Any) -> Done:
    """Keep what was decided at a step, and go on to the next, or stay to see what it does."""
    left = tuple(each for each in registration.undecided if each != STEPS[step])
    return _kept(visit, registration, step if stay else min(step + 1, 5), undecided=left, **changes)


def _rows_of_units(given: DraftUnit) -> dict[str, Any]:
    """How many rows of each unit are used, or how that is found, in the words of `Catalog.register`."""
    asked, price, most = _as_whole(given.max_rows_per_unit), given.rows_per_unit_epsilon, _as_whole(given.most_rows_per_unit)
    if asked == AUTO:
        if given.unit == ROW:
            raise InvalidParameterError(
                "where each row is a unit of its own there is no number of rows to find: choose the column of the unit, or do "
                "not have it found."
            )
        if price is None:
            raise MissingParameterError(
                f"say what finding the number of rows may cost (rows_per_unit_epsilon), such as {USUAL_PRICE}. It is paid for "
                "out of the budget, once, when the data set is opened."
            )
        return {ASKED: AUTO, PRICE: exact_of(price, PRICE), "most_rows_per_unit": most}
    if price is not None or most is not None:
        raise InvalidParameterError(
            "a price (rows_per_unit_epsilon) and a largest number (most_rows_per_unit) are for a number of rows that is found: "
            "have it found (max_rows_per_unit is auto), or leave both empty."
        )
    if given.unit == ROW:
        return {ASKED: 1}
    if asked is None:
        raise MissingParameterError(
            f"say how many rows of each {given.unit} are used at most: 1 if every {given.unit} has one row; otherwise a number "
            f"that nearly every {given.unit} stays within. Rows beyond it are left out. Or have the number found privately "
            "(max_rows_per_unit is auto)."
        )
    return {ASKED: asked}


def _as_whole(given: float | str | None) -> object:
    """A whole number as it is typed, so that `register` says what is wrong with any other text or number."""
    text = str(given).strip()
    return int(text) if not isinstance(given, bool) and _WHOLE.fullmatch(text) else given


def _same_holder(one: PlannedGrant, other: PlannedGrant) -> bool:
    return one.analyst == other.analyst if one.analyst or other.analyst else one.group == other.group


def _seconds(visit: Visit) -> list[str]:
    """Who could confirm a draft: the other owners."""
    found = [each.name for each in visit.office.people.all() if Role.OWNER in each.roles and not each.is_barred]
    return [each for each in found if each != visit.name]


def _page(name: str, below: str = "") -> str:
    return f"/own/{quote(name, safe='')}{below}"


def _step(name: str, step: int) -> str:
    return f"{_page(name, '/draft')}?step={step}"
