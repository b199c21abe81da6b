"""Keeping: what a store does that keeps what was made of its rows, where these are, for several passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from dpstats.engines.stores.store import Batch

Maker = Callable[[Iterable[Batch]], Iterator[Any]]
"""Makes parts of batches, one after the other; stores may pickle it."""


class KeptParts(Protocol):
    """Parts that are kept until nobody refers to this any more."""

    def run(self, job: Any) -> Any:
        """Run a job over all parts, whose `scan` is shown some of them, and whose `merge` puts together what comes back."""
        ...


@runtime_checkable
class KeepsParts(Protocol):
    """A store that can keep parts where its rows are."""

    def keep(self, make: Maker, columns: Sequence[str]) -> KeptParts | None:
        """What `make` makes of batches with those columns; None where it cannot be kept. It is made at the first run."""
        ...
