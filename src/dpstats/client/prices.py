"""What a service says of the price of questions, before they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.curator.protection import Protection
from dpstats.foundations.privacy import PrivacyCost


@dataclass(frozen=True)
class RemotePrice:
    """What questions would cost and leave; nothing was read or spent to know that."""

    cost: PrivacyCost
    seconds: float
    """How long after the payment the reply leaves."""
    fits: bool | None
    """Whether your own budget is enough; None where you have none of your own."""
    more: int | None
    """How many more of the same would fit after it."""
    words: str

    @classmethod
    def of(cls, plain: Mapping[str, Any], protection: Protection) -> RemotePrice:
        """The price that a service has named."""
        said = plain["cost"]
        cost = PrivacyCost(Fraction(said["epsilon"]), Fraction(said["delta"]), protection.neighbors, protection.unit)
        return cls(cost, plain["seconds"], plain["fits"], plain["more"], plain["words"])

    def __str__(self) -> str:
        return self.words
