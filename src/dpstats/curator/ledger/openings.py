"""Openings: the entries that open accounts, and what each account is for.

An account is a name and a budget. A data set has one, and so may have the population whose persons are in several data sets, and
each analyst or group with a cap of their own on a data set. A name is opened once, so that no two accounts share one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpstats.curator.ledger.entries import VERSION, Entry
from dpstats.curator.ledger.terms import Terms
from dpstats.foundations.errors import InvalidParameterError

DATASET, POPULATION, GROUP, ANALYST = "dataset", "population", "group", "analyst"
LONGEST_NAME = 200
_ROW = "row"


@dataclass(frozen=True)
class Opening:
    """What opens an account."""

    terms: Terms
    account: str = DATASET
    population: str | None = None
    """The population that pays along with a data set."""
    sources: tuple[str, ...] = ()
    """Fingerprints of where a data set's rows were when it was opened."""
    dataset: str | None = None
    """The data set on which an analyst or a group has a cap."""
    holder: str | None = None
    """The name of that analyst or group."""

    def content(self) -> dict[str, Any]:
        """The body of the entry."""
        own: dict[str, dict[str, Any]] = {
            DATASET: {"population": self.population, "sources": list(self.sources)},
            POPULATION: {},
        }
        held = {"dataset": self.dataset, "holder": self.holder}
        return {**self.terms.content(), "account": self.account, **own.get(self.account, held)}

    @classmethod
    def from_entry(cls, entry: Entry) -> Opening:
        """The opening that an entry has; raises `ValueError` where it cannot be read. Before version 3 all were of data sets."""
        content = entry.content()
        if entry.version != VERSION:
            return cls(Terms.from_content(content))
        words = ("account", "population", "sources", "dataset", "holder")
        own: dict[str, Any] = {name: content.pop(name) for name in words if name in content}
        opening = cls(Terms.from_content(content), **(own | {"sources": tuple(own.get("sources", ()))}))
        if opening.content() != content | own or not opening._is_whole(entry.dataset):
            raise ValueError("not an opening")
        return opening

    def _is_whole(self, name: str) -> bool:
        if self.account in (GROUP, ANALYST):
            held = isinstance(self.dataset, str) and isinstance(self.holder, str)
            return held and name == cap_name(str(self.dataset), self.account, str(self.holder))
        if self.account == POPULATION:
            return name.startswith(_POPULATION)
        texts = [*self.sources, *([] if self.population is None else [self.population])]
        return self.account == DATASET and all(isinstance(text, str) for text in texts)

    def complaint_about(self, population: Terms) -> str | None:
        """Why a population of these terms cannot pay for this data set, or None."""
        ours, theirs = self.terms, population
        if ours.neighbors is not theirs.neighbors:
            return f"its costs are under {ours.neighbors.value}, those of its population under {theirs.neighbors.value}"
        if (ours.unit == _ROW) != (theirs.unit == _ROW):
            return f"its costs are per {ours.unit}, those of its population per {theirs.unit}"
        return None


def opening_of(entry: Entry) -> Opening:
    """The opening in an entry that was read from a ledger; a `LedgerError` where there is none."""
    return entry.read(lambda _: Opening.from_entry(entry), "has no terms that can be read")


def population_name(population: str) -> str:
    """The name of a population's account."""
    return f"{_POPULATION}{population}"


def cap_name(dataset: str, kind: str, holder: str) -> str:
    """The name of the account in which the cap of an analyst or a group on a data set is kept."""
    return f"{dataset}, {kind} {holder}"


def holder_key(kind: str, holder: str) -> str:
    """What grants call an analyst or a group."""
    return f"{kind} {holder}"


def checked_name(name: object, what: str) -> str:
    """One line of printable text."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InvalidParameterError(f"{what} must be one line of printable text, of {LONGEST_NAME} letters at most.")
    return name


def amounts(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Checked to be the two texts of a budget's epsilon and delta."""
    if set(content) != {"epsilon", "delta"}:
        raise ValueError("not the amounts of a budget")
    return content


_POPULATION = "population "
