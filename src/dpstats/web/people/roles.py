"""Roles, and whoever stands at the door: somebody who is signed in, a program with a token, or nobody."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Role(Enum):
    """What somebody is to the service; one may be several."""

    ANALYST = "analyst"
    OWNER = "owner"
    AUDITOR = "auditor"
    ADMIN = "admin"


class Who(Enum):
    """Who may pass a door."""

    PUBLIC = "public"
    SIGNED_IN = "signed in"
    ANALYST = "analyst"
    OWNER = "owner"
    AUDITOR = "auditor"
    ADMIN = "admin"


class Action(Enum):
    """What a token lets a program do."""

    READ = "read"
    """Look at what its person may look at."""
    ASK = "ask"
    """Ask questions, and propose answers for publication."""
    OWN = "own"
    """What owners, auditors and administrators do."""


@dataclass(frozen=True)
class TokenScope:
    """What a token is good for, beside what its person may do."""

    actions: frozenset[Action]
    datasets: tuple[str, ...] | None = None
    """The data sets that it may be used on; None for all of its person's."""
    largest_epsilon: Fraction | None = None
    """Of one question."""


@dataclass(frozen=True)
class Visitor:
    """Whoever asks for a page or an action."""

    name: str
    roles: frozenset[Role]
    token: TokenScope | None = None
    """What a program may do that came with a token; None for a person at a browser."""

    def may_pass(self, who: Who) -> bool:
        """Whether a door is open to this visitor by role."""
        return who in (Who.PUBLIC, Who.SIGNED_IN) or Role(who.value) in self.roles
