"""What a regression by a formula takes: one list for sessions and groups, and with more for `dp.regression`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from dpstats.engines.stores.opening import Types
from dpstats.foundations.accepted import Elements, NeighborsName, Number
from dpstats.foundations.calls import FIXED
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, INTERVAL

ModelName = Literal["linear", "quantile", "logistic", "poisson"]


@dataclass(frozen=True)
class FormulaWords:
    """What a regression on a protected table takes."""

    refused: ClassVar = {
        "intercept": "a formula says itself whether it has an intercept: write - 1 in it for none.",
        **{word: f"{word} was fixed when the table was protected: leave it out." for word in FIXED},
    }
    """Words that belong elsewhere, and what to say about them."""
    formula: str
    _: KW_ONLY
    model: ModelName = "linear"
    levels: Mapping[str, Elements] | None = None
    quantile: Number | None = None
    """Of model="quantile"; None: the median."""
    epsilon: Number
    delta: Number = 0
    method: str = AUTO
    interval: Number | None = INTERVAL
    rough: bool = False
    rng: RandomSource | None = None

    def named(self) -> dict[str, Any]:
        """All but the formula, as a call says it."""
        return {"model": self.model, "levels": self.levels, **self.own(), **self.common()}

    def own(self) -> dict[str, Any]:
        """The parameters of the model itself that were given."""
        return {} if self.quantile is None else {"quantile": self.quantile}

    def common(self) -> dict[str, Any]:
        """What all statistics take."""
        return {word: getattr(self, word) for word in ("epsilon", "delta", "method", "interval", "rough")}


@dataclass(frozen=True)
class TableFormulaWords(FormulaWords):
    """What `dp.regression` takes: the table too, and what a protected table has fixed."""

    refused: ClassVar = {"intercept": FormulaWords.refused["intercept"]}
    data: Any
    _: KW_ONLY
    neighbors: NeighborsName = "add_remove"
    unit: str = "row"
    types: Types | None = None

    def common(self) -> dict[str, Any]:
        """What all statistics take."""
        return {**super().common(), "neighbors": self.neighbors, "unit": self.unit}
