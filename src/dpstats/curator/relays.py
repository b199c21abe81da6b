"""Relays: a session whose priced questions are handed to somebody else, who answers them elsewhere, later or all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from dpstats.curator.archive import Result
from dpstats.curator.desk import Desk, Missed, Request
from dpstats.curator.session import Session
from dpstats.foundations.randomness import RandomSource

Compute = Callable[[], Result]
Relay = Callable[[Request, Compute, RandomSource], Result]


@dataclass(frozen=True)
class RelayDesk(Desk):
    """A desk that hands every priced question on."""

    relay: Relay | None = None

    def serve(self, request: Request, compute: Compute, source: RandomSource, missed: Missed | None = None) -> Result:
        """Whatever the other one makes of it."""
        assert self.relay is not None
        return self.relay(request, compute, source)


def relayed(session: Session, relay: Relay) -> Session:
    """The session at a desk that hands its questions on."""
    desk = session._table
    return Session(RelayDesk(**{each.name: getattr(desk, each.name) for each in fields(Desk)}, relay=relay), session._scope)
