"""Proposals: an answer of a service can be proposed to the owner of its table, who may publish it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpstats.foundations.errors import InvalidParameterError

SendProposal = Callable[[int, str, str], int]
"""Sends the number of a debit, a title and words to the owner; gives the number of the letter."""


class Proposable:
    """An answer with a receipt, and, where a service has given it, a way to its owner."""

    receipt: Any
    send_proposal: SendProposal | None

    def propose(self, title: str, words: str = "") -> int:
        """Propose this answer of a service to the owner of its table for publication; the number of the letter that was sent."""
        if self.send_proposal is None or self.receipt is None:
            raise InvalidParameterError("only an answer of a service can be proposed: see dpstats.connect.")
        return self.send_proposal(int(self.receipt["sequence"]), title, words)

    def __getstate__(self) -> dict[str, Any]:
        """A copy that is kept or sent elsewhere leaves the connection behind."""
        return {**self.__dict__, "send_proposal": None}
