"""Whereabouts: what tells one table from another, whatever it is called.

All of it stays with the curator, who writes down keyed fingerprints of it and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Whereabouts:
    """Where a table lies, and what is in it; a table in memory lies nowhere."""

    places: tuple[str, ...] = ()
    """Names of the places where it lies, whichever way leads there, by which it is known from now on."""
    sought: tuple[str, ...] = ()
    """Names of places by which it may be known already, or another table that has the same rows."""
    stamp: str = ""
    """Changes whenever the content does, and perhaps oftener; costs nothing to know."""
    content: Callable[[], str] | None = None
    """A digest of all rows, which may take a pass over the files; None where it is not known. It is not to be shown: whoever
    knows all rows but one could try them out."""


def whereabouts_of(store: object) -> Whereabouts:
    """Those of a store; none where it does not know its own."""
    tell = getattr(store, "whereabouts", None)
    return Whereabouts() if tell is None else tell()
