"""What a classifier by a formula takes: one list for sessions and groups, and with more for `dp.classification`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from dpstats.curator.formula_words import FormulaWords
from dpstats.engines.stores.opening import Types
from dpstats.foundations.accepted import Elements, NeighborsName, Number
from dpstats.foundations.calls import FIXED
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, INTERVAL

ClassifierName = Literal["additive", "naive_bayes", "tree"]


@dataclass(frozen=True)
class ClassifierWords:
    """What a classifier on a protected table takes."""

    refused: ClassVar = {word: FormulaWords.refused[word] for word in FIXED}
    """Words that belong elsewhere, and what to say about them."""
    formula: str
    _: KW_ONLY
    model: ClassifierName = "additive"
    classes: Elements | None = None
    levels: Mapping[str, Elements] | None = None
    epsilon: Number
    delta: Number = 0
    method: str = AUTO
    interval: Number | None = INTERVAL
    rough: bool = False
    rng: RandomSource | None = None

    def common(self) -> dict[str, Any]:
        """What all statistics take."""
        return {word: getattr(self, word) for word in ("epsilon", "delta", "method", "interval", "rough")}


@dataclass(frozen=True)
class TableClassifierWords(ClassifierWords):
    """What `dp.classification` takes: the table too, and what a protected table has fixed."""

    refused: ClassVar = {}
    data: Any
    _: KW_ONLY
    neighbors: NeighborsName = "add_remove"
    unit: str = "row"
    types: Types | None = None

    def common(self) -> dict[str, Any]:
        """What all statistics take."""
        return {**super().common(), "neighbors": self.neighbors, "unit": self.unit}
