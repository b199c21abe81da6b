"""A draft as its owner sees it on the way, and in words before it is confirmed: all that becomes public."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.accounting.groups import steps_between
from dpstats.curator.catalog.drafts import Draft, protection_of_words
from dpstats.curator.catalog.policy import Policy
from dpstats.curator.catalog.registrations import PlannedGrant, Registration
from dpstats.curator.ledger.openings import ANALYST, GROUP
from dpstats.curator.rows_per_unit import ASKED, PRICE
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.rounding import decimal_text
from dpstats.web.owning.grants import oversubscription
from dpstats.web.owning.headers import looks_like_a_value, suspicious
from dpstats.web.owning.holdings import policy_values
from dpstats.web.routes import Plain

STEPS = {2: "columns", 3: "unit", 4: "budget", 5: "who may ask"}
"""What is decided at each step; the first one makes the draft."""
TITLES = ("Source", "Columns", "Whom it protects", "Budget and policy", "Who may ask")
DECLARABLE = ("text", "number", "integer", "boolean", "date")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def checked_dataset_name(name: str) -> str:
    """A name that can stand in an address."""
    if not _NAME.fullmatch(name) or name == "new":
        raise InvalidParameterError("a data set's name has up to 64 letters a to z, digits, - and _, such as survey-2026.")
    return name


def steps_values(registration: Registration, step: int) -> list[Plain]:
    """The five steps, and which of them are done."""
    return [
        {"number": number, "title": title, "done": STEPS.get(number, "") not in registration.undecided, "current": number == step}
        for number, title in enumerate(TITLES, 1)
    ]


def column_values(draft: Draft) -> list[Plain]:
    """The columns of a draft: where some names look like values, nothing is ticked by itself."""
    policy, declared = Policy.from_dict(draft.registration.policy), draft.registration.types
    has_header = not suspicious(draft.columns)
    return [
        {
            "name": name,
            "type": kind,
            "can_declare": name in declared or kind == "text",
            "suspicious": looks_like_a_value(name),
            "usable": has_header if policy.columns is None else name in policy.columns,
        }
        for name, kind in draft.columns.items()
    ]


def keys_text(keys: Mapping[str, Any]) -> str:
    """Public values by column, one line for each."""
    return "\n".join(f"{name}: {', '.join(map(str, values))}" for name, values in keys.items())


def read_keys(text: str, columns: Mapping[str, str]) -> dict[str, list[Any]]:
    """The public values in lines such as "region: east, west", as their columns have them."""
    found: dict[str, list[Any]] = {}
    for line in filter(str.strip, text.splitlines()):
        name, colon, listed = line.rpartition(":") if line.partition(":")[0].strip() not in columns else line.partition(":")
        name = name.strip()
        if not colon or name not in columns:
            raise InvalidParameterError("public values are lines such as region: east, west, each of which begins with a column.")
        found[name] = [_value(each.strip(), columns[name]) for each in listed.split(",") if each.strip()]
        if not found[name]:
            raise InvalidParameterError(f"list the public values of {name} after the colon, with commas between them.")
    return found


def read_kinds(given: list[str], columns: Mapping[str, str], declared: Mapping[str, str]) -> dict[str, str]:
    """Declared types in texts such as "income:number"; the type that a column has anyway is not declared."""
    types = {name: kind for name, kind in declared.items() if name in columns}
    for each in given:
        name, _, kind = each.rpartition(":")
        if name not in columns:
            raise InvalidParameterError("a type is declared as income:number, for a column of the table.")
        if kind != columns[name]:
            types[name] = kind
    return types


def planned_values(registration: Registration) -> list[Plain]:
    """Who is to be let in, by place."""
    return [
        {
            "place": place,
            "kind": GROUP if each.analyst is None else ANALYST,
            "holder": each.group if each.analyst is None else each.analyst,
            "group": None if each.analyst is None else each.group,
            "epsilon": None if each.epsilon is None else decimal_text(Fraction(each.epsilon)),
        }
        for place, each in enumerate(registration.grants)
    ]


def planned_subscription(registration: Registration) -> Plain:
    """All planned caps against the budget."""
    budget = Budget(**registration.budget)
    listed = [
        (line["kind"], line["holder"], line["group"], _cap(grant, budget.accountant))
        for line, grant in zip(planned_values(registration), registration.grants, strict=True)
    ]
    return oversubscription(budget, listed)


def finding_epsilon(registration: Registration) -> Fraction | None:
    """What finding the number of rows of each unit will cost; None where it is named."""
    price = registration.protection.get(PRICE)
    return None if price is None else Fraction(price)


def rows_per_unit(registration: Registration) -> int | None:
    """How many rows of each unit are used; None where that is still to be found."""
    return int(registration.protection[ASKED]) if finding_epsilon(registration) is None else None


def steps_per_row(registration: Registration) -> int:
    """How many steps apart one row puts two tables."""
    return steps_between(Neighbors.named(registration.protection["neighbors"]), 1)


def budget_of_questions(registration: Registration) -> Budget | None:
    """What is left for questions when the number of rows is found; None where nothing is. Epsilon is counted plainly, so that
    budgets of other accountants have a little more left."""
    budget, price = Budget(**registration.budget), finding_epsilon(registration)
    if price is None:
        return budget
    try:
        return replace(budget, epsilon=budget.epsilon - price)
    except InvalidParameterError:  # nothing, or too little for the accountant
        return None


def in_words(draft: Draft) -> list[Plain]:
    """Everything that becomes public when a draft is confirmed."""
    registration = draft.registration
    protection, budget = protection_of_words(registration.protection), Budget(**registration.budget)
    columns = ", ".join(f"{name} ({kind})" for name, kind in draft.columns.items())
    keys = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in registration.keys.items())
    lines = [
        ["name", registration.name],
        ["owner", registration.owner],
        ["names and types of all columns", columns],
        *([["public values of columns", keys]] if keys else []),
        ["whom it protects", protection.describe()],
        ["budget for all questions together", str(budget)],
        *([[what, words] for what, words in policy_values(Policy.from_dict(registration.policy))["words"] if what != "frozen"]),
    ]
    return [{"what": what, "words": words} for what, words in lines]


def _cap(grant: PlannedGrant, accountant: str) -> Budget | None:
    return None if grant.epsilon is None else Budget(grant.epsilon, grant.delta, accountant)


def _value(text: str, kind: str) -> Any:
    """A public value as its column has it."""
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
    except ValueError:
        raise InvalidParameterError(f"{text!r} is no value of a column of type {kind}.") from None
    if kind == "boolean" and text.lower() in (*_TRUE, *_FALSE):
        return text.lower() in _TRUE
    return text
