"""What a selection releases: features, or an option with its popularity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpstats.foundations.text_tables import counted


@dataclass(frozen=True)
class SelectedFeatures:
    """The features that blocks of rows agree on."""

    names: tuple[str, ...]
    """Their names, or x1, x2, ... where they have none."""
    indices: tuple[int, ...]
    """Their places among all features, from 0."""
    of: int
    """How many features there were to choose from."""
    shares: tuple[float, ...] | None = None
    """For each of all features the noisy share of the blocks that took it; None where these were not bought."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __str__(self) -> str:
        return f"{', '.join(self.names) if self.names else 'none'} of {counted(self.of, 'feature')}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"names": self.names, "indices": self.indices, "of": self.of, "shares": self.shares}


@dataclass(frozen=True)
class PopularOption:
    """An option, with the noisy share of the blocks that took it."""

    name: str
    popularity: float

    def __str__(self) -> str:
        return f"{self.name} ({100 * self.popularity:.0f}% of the blocks)"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"name": self.name, "popularity": self.popularity}


def revive_option(plain: Any) -> str | PopularOption:
    """The option that was archived, with its popularity where that was bought."""
    return PopularOption(**plain) if isinstance(plain, Mapping) else str(plain)
