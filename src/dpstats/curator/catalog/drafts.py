"""Drafts: data sets that are registered and not open yet, and what is planned for when they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.registrations import PlannedGrant, Registration, written
from dpstats.curator.ledger.openings import checked_name
from dpstats.curator.protect import checked_protection
from dpstats.curator.protection import Protection
from dpstats.curator.rows_per_unit import ASKED, AUTO, PRICE, RowsPerUnit
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import decimal_text


@dataclass(frozen=True)
class Draft:
    """A draft as somebody sees it who decides about it."""

    registration: Registration
    columns: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Stands for all of it: another one where anything is changed."""
        return hashlib.sha256(f"{written(self.registration)}\n{json.dumps(self.columns)}".encode()).hexdigest()


def protection_words(protection: Protection, rows: RowsPerUnit | None = None) -> dict[str, Any]:
    """Whom a data set protects as plain values; `rows` is what was agreed on, where the number is still to be found."""
    price = {} if rows is None or rows.epsilon is None else {PRICE: str(rows.epsilon)}
    found = {word: text for word in ("found", "share") if (text := getattr(protection, word))}
    return {
        "unit": protection.unit,
        ASKED: protection.rows_per_unit,
        "missing_unit": protection.missing_unit.value,
        "neighbors": protection.neighbors.value,
        **price,
        **found,
    }


def protection_of_words(said: Mapping[str, Any]) -> Protection:
    """Whom a data set protects, from the plain values."""
    protection = checked_protection(said["unit"], said[ASKED], said["missing_unit"], said["neighbors"])
    found = said.get("found", "")
    if PRICE in said:
        found = f"to be found privately for epsilon = {decimal_text(Fraction(said[PRICE]))} when it is opened"
    return replace(protection, found=found, share=said.get("share", ""))


def words_of_protection(said: Mapping[str, Any], *, keeps_rows: bool) -> dict[str, Any]:
    """What `register` and `protect` take of the plain values; without the number of rows, where that is said elsewhere."""
    words = {word: said[word] for word in ("unit", "missing_unit", "neighbors")}
    if not keeps_rows:
        return words
    if PRICE in said:
        return {**words, ASKED: AUTO, PRICE: said[PRICE], "most_rows_per_unit": said[ASKED]}
    return {**words, ASKED: said[ASKED]}


def granted_words(planned: PlannedGrant, accountant: str) -> dict[str, Any]:
    """What a planned grant is in the words of the ledger."""
    budget = None if planned.epsilon is None else Budget(planned.epsilon, planned.delta, accountant)
    return {"analyst": planned.analyst, "group": planned.group, "budget": budget}


def check_planned(planned: PlannedGrant, accountant: str) -> None:
    """Raise where a grant could not be made as it is planned."""
    for holder in (planned.analyst, planned.group):
        if holder is not None:
            checked_name(holder, "who is granted something")
    if planned.analyst is None and planned.group is None:
        raise InvalidParameterError("a grant is for an analyst or for a group: name one.")
    granted_words(planned, accountant)
