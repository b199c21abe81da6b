"""Quotes: what questions would cost, and when their replies would leave; nothing is read or spent to know that."""

from __future__ import annotations

from dataclasses import dataclass

from dpstats.curator.remaining import LeftAfter
from dpstats.foundations.privacy import PrivacyCost


@dataclass(frozen=True)
class Quote:
    """What a question would cost, and when its reply would leave; nothing was read or spent to know that."""

    question: str
    cost: PrivacyCost
    seconds: float
    own: LeftAfter | None = None
    """What it would leave of the asker's own cap; None where there is none. What others have is theirs to know."""
    method: str = ""
    """How it would be computed."""
    claim: str = ""
    """What that method promises."""

    def __str__(self) -> str:
        own = "" if self.own is None else f" ({self.own})"
        return f"{self.question} would cost {self.cost}{own}; its reply would leave {self.seconds:g} s after it is asked"


@dataclass(frozen=True)
class BasketQuote:
    """What several questions would cost together."""

    questions: tuple[Quote, ...]
    cost: PrivacyCost
    own: LeftAfter | None = None
    """What all of them would leave of the asker's own cap."""

    @property
    def seconds(self) -> float:
        """When the replies would leave: they are worked on one after the other."""
        return sum(each.seconds for each in self.questions)
