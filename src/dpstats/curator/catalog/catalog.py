"""The catalog of a curator: tables are registered as drafts, confirmed, opened to analysts, and asked at their desks.

    curator = dp.open_catalog("catalog.toml")
    curator.register("survey", "survey.parquet", owner="office", unit="person", max_rows_per_unit=1, budget=dp.Budget(3))
    curator.confirm("survey", actor="office", why="approved by the board")
    curator.grant("survey", analyst="alice", budget=dp.Budget(1), actor="office", why="thesis")
    curator.desk("survey").ask({"version": 1, "statistic": "median", "columns": ["income"], "epsilon": 0.2}, actor="alice")

A draft shows nothing to anybody but its owner; confirming it makes the names and types of its columns public. From then on every
change of what is allowed is an entry of the ledger, with who, when and why.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal

from dpstats.accounting.budgets import Budget
from dpstats.curator.catalog.drafts import (
    Draft,
    check_planned,
    granted_words,
    protection_of_words,
    protection_words,
    words_of_protection,
)
from dpstats.curator.catalog.planner import Planner
from dpstats.curator.catalog.policed_desk import no_access, unreadable
from dpstats.curator.catalog.policy import Policy
from dpstats.curator.catalog.registrations import PlannedGrant, Registration, Registrations
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.curator.catalog.settings import CatalogSettings
from dpstats.curator.desk import Desk
from dpstats.curator.jobs.pool import JobPool
from dpstats.curator.jobs.recipes import TableRecipe
from dpstats.curator.jobs.slots import Slots
from dpstats.curator.ledger.changes import checked_reason
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.ledger.openings import checked_name
from dpstats.curator.opening import open_table
from dpstats.curator.protect import bounding_key, checked_protection, protect
from dpstats.curator.rows_per_unit import check_can_be_found, checked_rows_per_unit
from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import AccessError, DataFileError, DataTypeError, DpstatsError, InvalidParameterError


class Catalog:
    """The tables of one curator, their ledger, and the processes that work on what is paid for. Threads may share one."""

    def __init__(self, settings: CatalogSettings) -> None:
        self._settings = settings
        self._places = settings.places
        self._registrations = Registrations(settings.registrations)
        self._ledger = settings.open_ledger()
        self._ledger.check()
        self._slots = Slots(settings.slots)
        self._lock = threading.Lock()
        self._pool: JobPool | None = None
        self._plan_pool: JobPool | None = None
        self._planner: Planner | None = None
        self._desks: dict[str, ServiceDesk] = {}

    @property
    def places(self) -> tuple[str, ...]:
        """Where it keeps its own files, for whoever must not say so."""
        return self._settings.registrations, *self._settings.roots

    @property
    def ledger(self) -> Ledger:
        """The ledger, for whoever keeps the catalog."""
        return self._ledger

    def register(
        self,
        name: str,
        table: str,
        *,
        owner: str,
        unit: str,
        budget: Budget,
        max_rows_per_unit: int | Literal["auto"] | None = None,
        rows_per_unit_epsilon: Number | None = None,
        most_rows_per_unit: int | None = None,
        missing_unit: str = "drop",
        neighbors: str = "add_remove",
        types: Mapping[str, str] | None = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        population: str | None = None,
        policy: Mapping[str, Any] | None = None,
        grants: Sequence[PlannedGrant] = (),
        second: str = "",
        undecided: Sequence[str] = (),
    ) -> dict[str, str]:
        """Keep a draft of a data set, and return the names and types of its columns, which its owner should look at.

        `max_rows_per_unit` must be said unless `unit` is "row"; "auto" has it found, and paid for, when the draft is confirmed.
        Nothing of it is public before it is confirmed. A draft may be registered again by its owner, with changes. `grants` are
        made when it is confirmed, `second` is who is to confirm it, and `undecided` names what must be decided before.
        """
        checked_name(name, "a data set's name")
        checked_name(owner, "owner")
        if not isinstance(budget, Budget):
            raise InvalidParameterError("budget must be a dp.Budget, such as dp.Budget(epsilon=3).")
        rows = checked_rows_per_unit(unit, max_rows_per_unit, rows_per_unit_epsilon, most_rows_per_unit)
        protection = checked_protection(unit, None if rows is None else rows.most, missing_unit, neighbors)
        if rows is not None and "budget" not in undecided:
            check_can_be_found(rows, budget, protection.unit, protection.neighbors)
        draft = Registration(
            name,
            owner,
            self._places.checked(table),
            protection_words(protection, rows),
            budget.to_dict(),
            dict(types or {}),
            {column: list(values) for column, values in (keys or {}).items()},
            population,
            Policy().changed(policy or {}).to_dict(),
            tuple(grants),
            second,
            tuple(undecided),
        )
        for each in draft.grants:
            check_planned(each, budget.accountant)
        columns = self._columns(draft)
        for column in Policy.from_dict(draft.policy).columns or ():
            if column not in columns:
                raise InvalidParameterError(f"the policy names a column {column!r}, which the table does not have.")
        self._registrations.add(draft)
        return columns

    def revise(self, name: str, *, actor: str, **changes: Any) -> dict[str, str]:
        """Register a draft of one's own again, with some changes: words as for `register`."""
        known = self._owned(name, actor)
        kept = {
            "table": known.address,
            **words_of_protection(known.protection, keeps_rows="max_rows_per_unit" not in changes),
            "budget": Budget(**known.budget),
            **{word: getattr(known, word) for word in _KEPT},
            "policy": vars(Policy.from_dict(known.policy)),
        }
        return self.register(name, owner=actor, **{**kept, **changes})

    def draft(self, name: str, *, actor: str) -> dict[str, str]:
        """The names and types of the columns of a draft, for its owner."""
        return self._columns(self._owned(name, actor))

    def look_at_draft(self, name: str, *, actor: str) -> Draft:
        """A draft, for its owner and for whoever is to confirm it."""
        found = self._registrations.find(name)
        if found is None or found.is_open or actor not in (found.owner, found.second):
            raise no_access(name)
        return Draft(found, self._columns(found))

    def registration(self, name: str, *, actor: str) -> Registration:
        """What the catalog knows of a data set, for its owner."""
        return self._owned(name, actor)

    def owned(self, actor: str) -> list[Registration]:
        """The data sets of an owner, drafts too."""
        return [each for each in self._registrations.all() if each.owner == actor]

    def drafts_for(self, actor: str) -> list[Registration]:
        """The drafts of others that somebody is to confirm."""
        return [each for each in self._registrations.all() if not each.is_open and each.second == actor]

    def candidates(self) -> list[str]:
        """Files that could be registered; see `AllowedPlaces.candidates`."""
        return self._places.candidates()

    def whereabouts(self, registration: Registration) -> str:
        """Where the rows of a data set are, as its owner may see it."""
        return self._places.shown(registration.address)

    def for_owners(self, error: DpstatsError) -> str:
        """What is wrong with a table, without saying where on this machine it lies."""
        return self._places.without_roots(str(error))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of databases from which tables may be registered."""
        return self._places.hosts

    @property
    def buckets(self) -> tuple[str, ...]:
        """The buckets of objects from which tables may be registered."""
        return self._places.buckets

    @property
    def needs_second_person(self) -> bool:
        """Whether somebody else than the owner must confirm a draft."""
        return self._settings.second_person

    def withdraw(self, name: str, *, actor: str) -> None:
        """Forget a draft."""
        if self._owned(name, actor).is_open:
            raise InvalidParameterError(f"{name} is open, and its entries stay in the ledger: freeze it instead.")
        self._registrations.remove_draft(name)

    def confirm(self, name: str, *, actor: str, why: str, seen: str | None = None) -> None:
        """Open a draft: the names and types of its columns become public, and analysts are granted what is planned for them.

        `seen` is the digest of what the actor has looked at (`Draft.digest`): nothing is done if it is another draft by now.
        """
        with self._lock:
            draft = self._registrations.find(name)
            checked_reason(actor, why)
            if draft is None or (actor != draft.owner and not (self._settings.second_person and draft.second in ("", actor))):
                raise no_access(name)
            if draft.is_open:
                raise InvalidParameterError(f"{name} is open already.")
            if self._settings.second_person and actor == draft.owner:
                raise AccessError(f"{name} must be confirmed by somebody else than its owner.")
            if draft.undecided:
                raise InvalidParameterError(
                    f"{name} cannot be confirmed yet: these are not decided: {', '.join(draft.undecided)}."
                )
            if seen is not None and seen != Draft(draft, self._columns(draft)).digest:
                raise InvalidParameterError(f"{name} has changed since you looked at it: look again.")
            desk, _ = self._opened_table(draft, self._ledger.acting_for(actor))
            self._ledger.amend_policy(name, draft.policy, actor=actor, why=why)
            accountant = Budget(**draft.budget).accountant
            for each in sorted(draft.grants, key=lambda grant: grant.analyst is not None):  # groups before those in them
                self._ledger.grant(name, **granted_words(each, accountant), actor=actor, why=why)
            self._registrations.open(name, protection_words(desk.protection))

    def amend(self, name: str, *, actor: str, why: str, budget: Budget | None = None, **policy: Any) -> None:
        """Change the budget, or parts of the policy, of a data set: amend("survey", largest_epsilon=0.5, actor=..., why=...)."""
        self._opened(name, actor)
        if budget is not None:
            self._ledger.amend(name, budget=budget, actor=actor, why=why)
        if policy:
            now = Policy.from_dict(self._ledger.reader(name).policy)
            self._ledger.amend_policy(name, now.changed(policy).to_dict(), actor=actor, why=why)

    def freeze(self, name: str, *, actor: str, why: str) -> None:
        """Answer nothing more, but for what was answered before; `amend(name, frozen=False, ...)` takes it back."""
        self.amend(name, actor=actor, why=why, frozen=True)

    def grant(
        self,
        name: str,
        *,
        actor: str,
        why: str,
        analyst: str | None = None,
        group: str | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Let an analyst, or a group, ask about a data set; `budget` is their own cap. See `Ledger.grant`."""
        self._opened(name, actor)
        self._ledger.grant(name, analyst=analyst, group=group, budget=budget, actor=actor, why=why)

    def revoke(self, name: str, *, actor: str, why: str, analyst: str | None = None, group: str | None = None) -> None:
        """Take back what an analyst or a group was granted; what is being worked on is not handed out any more."""
        self._opened(name, actor)
        self._ledger.revoke(name, analyst=analyst, group=group, actor=actor, why=why)

    def publish(self, name: str, *, answer: int, title: str, actor: str, facts: Mapping[str, Any] | None = None) -> int:
        """Publish the answer that an entry has, for the owner; the number of the entry that says so."""
        self._opened(name, actor)
        return self._ledger.publish(name, answer, title, actor=actor, facts=facts)

    def datasets(self, actor: str) -> list[str]:
        """The data sets that somebody may ask about, and those that are theirs, drafts too."""
        return [each.name for each in self._registrations.all() if actor == each.owner or self._may_ask(each, actor)]

    def open_datasets(self) -> list[Registration]:
        """All data sets that are open, as their owners registered them; where their tables are is for nobody else."""
        return [each for each in self._registrations.all() if each.is_open]

    def open_dataset(self, name: str) -> Registration | None:
        """An open data set, as its owner registered it."""
        found = self._registrations.find(name)
        return found if found is not None and found.is_open else None

    def desk(self, name: str) -> ServiceDesk:
        """Where analysts ask about a data set. A table that has changed since it was opened is opened anew: another edition.

        While it cannot be opened, what was answered before can still be had at the desk that was opened last.
        """
        known = self.opened_desk(name)
        if known is not None:  # what is open stays so
            return known
        registration = self._registrations.find(name)
        if registration is None or not registration.is_open:
            raise no_access(name)
        return self._desk_of(registration)

    def desk_for(self, name: str, actor: str) -> ServiceDesk:
        """The desk of a data set for somebody who may ask there; nobody else learns whether there is one, or can be one."""
        known = self.opened_desk(name)
        if known is not None:
            known.check_access(actor)
            return known
        registration = self._registrations.find(name)
        if registration is None or not self._may_ask(registration, actor):
            raise no_access(name)
        return self._desk_of(registration)

    def opened_desk(self, name: str) -> ServiceDesk | None:
        """The desk of a data set about which something was asked before; whoever asks there is checked by every question."""
        known = self._desks.get(name)
        return known if known is not None and known.is_current else None

    def _desk_of(self, registration: Registration) -> ServiceDesk:
        name = registration.name
        with self._lock:
            known = self._desks.get(name)
            if known is None or not known.is_current:
                settings = self._settings
                self._pool = self._pool or JobPool(settings.processes, settings.memory)
                if settings.plan_processes:
                    self._plan_pool = self._plan_pool or JobPool(settings.plan_processes, settings.memory)
                self._planner = self._planner or Planner(self._plan_pool)
                try:
                    opened = self._opened_table(registration, self._ledger)
                except (DataFileError, DataTypeError):
                    if known is None:
                        raise unreadable(name) from None
                    return known  # where nothing more is paid for, and the archive still answers
                if known is not None:
                    known.close()
                known = ServiceDesk(self._ledger, *opened, self._pool, self._slots, self._planner)
                self._desks[name] = known
            return known

    def close(self) -> None:
        """End the processes, and let go of the ledger."""
        with self._lock:
            for pool in (self._pool, self._plan_pool):
                if pool is not None:
                    pool.close()
            self._ledger.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()

    def _may_ask(self, registration: Registration, actor: str) -> bool:
        return registration.is_open and self._ledger.reader(registration.name).granted(actor) is not None

    def _owned(self, name: str, actor: str) -> Registration:
        found = self._registrations.find(name)
        if found is None or found.owner != actor:
            raise no_access(name)
        return found

    def _opened(self, name: str, actor: str) -> Registration:
        found = self._owned(name, actor)
        if not found.is_open:
            raise InvalidParameterError(f"{name} is a draft: confirm it first.")
        return found

    def _columns(self, registration: Registration) -> dict[str, str]:
        """The names and types of a table's columns; nothing else of it is read."""
        _, schema = open_table(registration.address, dict(registration.types), protection_of_words(registration.protection))
        return {name: kind.value for name, kind in schema.items()}

    def _opened_table(self, registration: Registration, ledger: Ledger) -> tuple[Desk, TableRecipe]:
        """The desk of a table with its account, which is opened if there is none yet, and how workers open the same table."""
        name = registration.name
        self._places.checked(registration.address)  # it may have become a link meanwhile
        is_known = name in self._ledger.account_names
        session = protect(
            registration.address,
            name=name,
            budget=self._ledger.reader(name).budget if is_known else Budget(**registration.budget),
            ledger=ledger,
            types=dict(registration.types),
            keys=registration.keys,
            population=registration.population,
            **words_of_protection(registration.protection, keeps_rows=not (registration.is_open and is_known)),
        )
        desk = session._table
        assert desk.account is not None
        recipe = TableRecipe(
            name,
            registration.address,
            desk.protection,
            dict(registration.types),
            registration.keys,
            bounding_key(desk.account, repeats=False),
            desk.source,
            secrets.token_hex(8),
        )
        return desk, recipe


_KEPT = ("types", "keys", "population", "grants", "second", "undecided")
"""What a revised draft keeps of the one before."""


def open_catalog(settings: str | PurePath | Mapping[str, Any]) -> Catalog:
    """The catalog of a curator, from its settings: a TOML file, or a dict. See docs/catalog.md."""
    return Catalog(CatalogSettings.read(settings))
