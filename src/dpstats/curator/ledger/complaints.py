"""Complaints: what is wrong with a ledger, for people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong, and in which entry."""

    sequence: int | None
    """The number of the entry; None where the ledger as a whole is at fault."""
    text: str

    def __str__(self) -> str:
        return f"entry {self.sequence}: {self.text}" if self.sequence is not None else self.text
