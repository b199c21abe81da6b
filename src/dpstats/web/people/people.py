"""People of the service: who they are, how they sign in, and the tokens of their programs.

What somebody has to show is random and secret, and only its SHA-256 digest is kept: nobody can sign in with what is in the file.
A change of roles, or of the password, ends all sign-ins; a revoked token is refused from the next request on.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpstats.curator.ledger.openings import checked_name
from dpstats.foundations.errors import AccessError, InvalidParameterError, UnknownNameError
from dpstats.foundations.privacy import spendable_epsilon
from dpstats.web.people.passwords import Attempts, digest_of, is_right
from dpstats.web.people.roles import Action, Role, TokenScope, Visitor
from dpstats.web.people.store import PeopleStore

SIGN_IN_HOURS = 12
TOKEN_DAYS = 30
MOST_TOKEN_DAYS = 366
MARK = "dpst"
"""Tokens begin with it, so that they are found where they should not be."""


@dataclass(frozen=True)
class Person:
    """Somebody who may sign in."""

    name: str
    roles: frozenset[Role]
    created: str
    is_barred: bool


@dataclass(frozen=True)
class Token:
    """What is known of a token after it was handed out."""

    id: str
    person: str
    label: str
    scope: TokenScope
    created: str
    ends: str
    is_revoked: bool

    @property
    def is_good(self) -> bool:
        """Whether it still opens doors."""
        return not self.is_revoked and self.ends > _now()


class People:
    """Everybody who may sign in, in the service's file."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store
        self._attempts = Attempts()

    def add(self, name: str, password: str, roles: Iterable[Role]) -> Person:
        """Somebody new."""
        checked_name(name, "name")
        kept = digest_of(password)
        with self._store.writing() as file:
            if file.execute("SELECT 1 FROM people WHERE name = ?", (name,)).fetchone():
                raise InvalidParameterError(f"there is somebody named {name!r} already.")
            file.execute("INSERT INTO people VALUES (?, ?, ?, ?, 0)", (name, _roles_text(roles), kept, _now()))
        return self.find(name)

    def find(self, name: str) -> Person:
        """Somebody by name."""
        found = [each for each in self.all() if each.name == name]
        if not found:
            raise UnknownNameError(f"there is nobody named {name!r}.")
        return found[0]

    def all(self) -> list[Person]:
        """Everybody, by name."""
        rows = self._store.rows("SELECT name, roles, created, is_barred FROM people ORDER BY name")
        return [Person(str(name), _roles(str(roles)), str(created), bool(barred)) for name, roles, created, barred in rows]

    def change(
        self, name: str, *, roles: Iterable[Role] | None = None, password: str | None = None, is_barred: bool | None = None
    ) -> None:
        """Give somebody other roles, or another password, or bar them; all their sign-ins end, and if barred, their tokens.

        The last administrator stays one.
        """
        before = self.find(name)
        kept = None if password is None else digest_of(password)
        with self._store.writing() as file:
            if roles is not None:
                file.execute("UPDATE people SET roles = ? WHERE name = ?", (_roles_text(roles), name))
            if kept is not None:
                file.execute("UPDATE people SET password = ? WHERE name = ?", (kept, name))
            if is_barred is not None:
                file.execute("UPDATE people SET is_barred = ? WHERE name = ?", (is_barred, name))
            if Role.ADMIN in before.roles and not before.is_barred and not _administrators(file):
                raise InvalidParameterError(f"{name} is the last administrator: make somebody else one first.")
            file.execute("DELETE FROM sign_ins WHERE person = ?", (name,))

    def sign_in(self, name: str, password: str) -> str:
        """The secret of a new sign-in, for a cookie; the same complaint whether the name or the password is wrong."""
        self._attempts.check(name)
        rows = self._store.rows("SELECT password FROM people WHERE name = ? AND is_barred = 0", name)
        was_right = is_right(password, str(rows[0][0]) if rows else None)
        self._attempts.note(name, was_right=was_right)
        if not was_right:
            raise AccessError("name or password is wrong.")
        return self.begin_sign_in(name)

    def begin_sign_in(self, name: str) -> str:
        """The secret of a sign-in of somebody who has shown who they are, here or elsewhere."""
        secret = secrets.token_urlsafe(32)
        ends = (datetime.now(UTC) + timedelta(hours=SIGN_IN_HOURS)).strftime(_FORM)
        with self._store.writing() as file:
            file.execute("DELETE FROM sign_ins WHERE ends < ?", (_now(),))
            file.execute("INSERT INTO sign_ins VALUES (?, ?, ?, ?)", (_digest(secret), name, _now(), ends))
        return secret

    def sign_out(self, secret: str) -> None:
        """End a sign-in."""
        with self._store.writing() as file:
            file.execute("DELETE FROM sign_ins WHERE digest = ?", (_digest(secret),))

    def signed_in(self, secret: str) -> Visitor | None:
        """Whoever has a sign-in with this secret."""
        rows = self._store.rows(
            "SELECT people.name, people.roles FROM sign_ins JOIN people ON people.name = sign_ins.person "
            "WHERE sign_ins.digest = ? AND sign_ins.ends > ? AND people.is_barred = 0",
            _digest(secret),
            _now(),
        )
        return Visitor(str(rows[0][0]), _roles(str(rows[0][1]))) if rows else None

    def new_token(self, person: str, label: str, scope: TokenScope, days: int = TOKEN_DAYS) -> str:
        """A new token of somebody, which is shown once and never again."""
        if not isinstance(label, str) or not 1 <= len(label) <= 100 or not label.isprintable():
            raise InvalidParameterError("a token has a label of 1 to 100 letters, which says what it is for.")
        if type(days) is not int or not 1 <= days <= MOST_TOKEN_DAYS:
            raise InvalidParameterError(f"a token lasts 1 to {MOST_TOKEN_DAYS} days.")
        token, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        ends = (datetime.now(UTC) + timedelta(days=days)).strftime(_FORM)
        with self._store.writing() as file:
            file.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                (token, _digest(secret), person, label, json.dumps(scope_document(scope)), _now(), ends),
            )
        return f"{MARK}_{token}_{secret}"

    def tokens(self, person: str) -> list[Token]:
        """The tokens of somebody, the newest first."""
        rows = self._store.rows(
            "SELECT id, person, label, scope, created, ends, is_revoked FROM tokens WHERE person = ? ORDER BY created DESC",
            person,
        )
        return [
            Token(
                str(row[0]), str(row[1]), str(row[2]), read_scope(json.loads(str(row[3]))), str(row[4]), str(row[5]), bool(row[6])
            )
            for row in rows
        ]

    def revoke_token(self, person: str, token: str) -> None:
        """Make a token useless, at once."""
        with self._store.writing() as file:
            changed = file.execute("UPDATE tokens SET is_revoked = 1 WHERE id = ? AND person = ?", (token, person)).rowcount
        if not changed:
            raise UnknownNameError("you have no such token.")

    def with_token(self, text: str) -> Visitor | None:
        """The person of a token, with its scope."""
        mark, _, rest = text.partition("_")
        token, _, secret = rest.partition("_")
        if mark != MARK:
            return None
        rows = self._store.rows(
            "SELECT digest, scope, people.name, people.roles FROM tokens JOIN people ON people.name = tokens.person "
            "WHERE tokens.id = ? AND tokens.ends > ? AND tokens.is_revoked = 0 AND people.is_barred = 0",
            token,
            _now(),
        )
        if not rows or not secrets.compare_digest(str(rows[0][0]), _digest(secret)):
            return None
        return Visitor(str(rows[0][2]), _roles(str(rows[0][3])), _scope_in(str(rows[0][1])))


def scope_document(scope: TokenScope) -> dict[str, Any]:
    """A scope as plain values."""
    return {
        "actions": sorted(each.value for each in scope.actions),
        "datasets": None if scope.datasets is None else list(scope.datasets),
        "largest_epsilon": None if scope.largest_epsilon is None else str(scope.largest_epsilon),
    }


def read_scope(plain: dict[str, Any]) -> TokenScope:
    """The scope that `scope_document` wrote, or that somebody asks for."""
    try:
        actions = frozenset(Action(each) for each in plain["actions"])
    except ValueError:
        raise InvalidParameterError(f"a token is for some of {', '.join(each.value for each in Action)}.") from None
    datasets, largest = plain.get("datasets"), plain.get("largest_epsilon")
    epsilon = None if largest is None else spendable_epsilon(Fraction(largest) if isinstance(largest, str) else largest)
    return TokenScope(actions, None if datasets is None else tuple(datasets), epsilon)


@lru_cache(maxsize=1024)
def _scope_in(text: str) -> TokenScope:
    """The scope that was written down."""
    return read_scope(json.loads(text))


def _administrators(file: sqlite3.Connection) -> int:
    """How many administrators may sign in."""
    rows = file.execute("SELECT roles FROM people WHERE is_barred = 0").fetchall()
    return sum(Role.ADMIN in _roles(roles) for (roles,) in rows)


_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def _now() -> str:
    """As `_FORM` has it, which takes three times as long."""
    return f"{datetime.now(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _roles_text(roles: Iterable[Role]) -> str:
    return " ".join(sorted(each.value for each in roles))


@lru_cache(maxsize=1024)
def _roles(text: str) -> frozenset[Role]:
    return frozenset(Role(each) for each in text.split())
