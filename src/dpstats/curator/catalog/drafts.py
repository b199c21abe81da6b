"""Drafts: data sets that are registered and not open yet, and what is planned for when they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.registrations import PlannedGrant, Registration, written
from dpstats.curator.ledger.openings import checked_name
from dpstats.foundations.errors import InvalidParameterError


@dataclass(frozen=True)
class Draft:
    """A draft as somebody sees it who decides about it."""

    registration: Registration
    columns: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Stands for all of it: another one where anything is changed."""
        return hashlib.sha256(f"{written(self.registration)}\n{json.dumps(self.columns)}".encode()).hexdigest()


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
