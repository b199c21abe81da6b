"""The terms of a data set in a ledger: whom it protects, which is fixed when its first session opens, and the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpstats.accounting.accountants import read_exact
from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import canonical_json, exact
from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, Relation, relation_named


@dataclass(frozen=True)
class Terms:
    """What all sessions on a data set must agree on."""

    budget: Budget
    unit: str = "row"
    neighbors: Relation = Neighbors.ADD_REMOVE
    max_rows_per_unit: int = 1
    facts: Mapping[str, object] = field(default_factory=dict)
    """Further public facts by name, as plain values."""

    def __post_init__(self) -> None:
        self.cost(0, 0)  # checks unit and neighbors
        if type(self.max_rows_per_unit) is not int or self.max_rows_per_unit < 1:
            raise InvalidParameterError("max_rows_per_unit must be a whole number of at least 1.")
        canonical_json(self.facts)

    def cost(self, epsilon: object, delta: object) -> PrivacyCost:
        """An amount as a cost of this data set."""
        return PrivacyCost(epsilon, delta, self.neighbors, self.unit)

    def content(self) -> dict[str, Any]:
        """The body of the entry that opens the data set."""
        return {
            "budget": {"epsilon": str(self.budget.epsilon), "delta": str(self.budget.delta)},
            "accountant": self.budget.accountant,
            "unit": self.unit,
            "neighbors": self.neighbors.value,
            "max_rows_per_unit": self.max_rows_per_unit,
            "facts": exact(self.facts),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Terms:
        """The terms that `content` wrote; raises `ValueError` for anything else."""
        try:
            amounts = content["budget"]
            budget = Budget(read_exact(amounts["epsilon"]), read_exact(amounts["delta"]), content["accountant"])
            neighbors = relation_named(content["neighbors"])
            terms = cls(budget, content["unit"], neighbors, content["max_rows_per_unit"], content["facts"])
            if terms.content() == content:
                return terms
        except (DpstatsError, KeyError, TypeError):
            pass
        raise ValueError("the terms cannot be read")

    def differences(self, asked: Terms) -> list[str]:
        """In words, how the terms that a session asks for differ from these, which the ledger has."""
        here, there = _exact_parts(self), _exact_parts(asked)
        names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
        return [_difference(name, (self, here), (asked, there)) for name in names]


def _exact_parts(terms: Terms) -> dict[str, str]:
    """Everything in the terms by name, as exact text."""
    content = terms.content()
    facts = {f"{name!r}": canonical_json(value) for name, value in sorted(terms.facts.items())}
    named = {name: str(content[name]) for name in ("unit", "neighbors", "max_rows_per_unit")}
    return {"budget": canonical_json(terms.budget.to_dict()), **named, **facts}


def _difference(name: str, ours: tuple[Terms, dict[str, str]], theirs: tuple[Terms, dict[str, str]]) -> str:
    (here, exact_here), (there, exact_there) = ours, theirs
    words = exact_here.get(name, "not at all"), exact_there.get(name, "none")
    if name == "budget" and str(here.budget) != str(there.budget):  # in digits for people, where these tell them apart
        words = str(here.budget), str(there.budget)
    return f"the ledger has {name} {words[0]}, this session asks for {words[1]}"
