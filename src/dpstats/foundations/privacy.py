"""What a release costs and whom it protects: `PrivacyCost` under a relation, of `Neighbors` or of `GraphNeighbors`."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import decimal_text, exact_rational

SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**9), Fraction(10**9)
LONGEST_UNIT = 60


class Neighbors(enum.Enum):
    """Which two tables count as neighbours, that is, what one person can change."""

    ADD_REMOVE = "add_remove"
    """One unit is added or removed; the number of rows is private. The default."""
    CHANGE_ONE = "change_one"
    """One unit's row is replaced by another; the number of rows is public."""

    @classmethod
    def named(cls, value: object) -> Neighbors:
        """The relation that `value` names: a member, or its text."""
        if isinstance(value, cls):
            return value
        for member in cls:
            if value == member.value:
                return member
        names = " or ".join(f"'{member.value}'" for member in cls)
        raise InvalidParameterError(f"neighbors must be {names}, got {value!r}.")

    def describe(self, unit: str = "row") -> str:
        """The relation in words."""
        if self is Neighbors.ADD_REMOVE:
            return f"one {unit} added or removed; the number of rows is private"
        return f"one {unit} changed; the number of rows is public"


class GraphNeighbors(enum.Enum):
    """Which two graphs count as neighbours. No question about rows knows these relations."""

    EDGE = "edge"
    """One edge is added or removed; who the nodes are is public."""
    NODE = "node"
    """One node is added or removed together with all its edges; who the nodes are, and how many, is private."""

    def describe(self, unit: str = "") -> str:
        """The relation in words; `unit` is what an edge, or a node, stands for."""
        if self is GraphNeighbors.EDGE:
            return f"one {unit or 'edge'} added or removed; who the nodes are is public"
        return f"one {unit or 'node'} added or removed together with all edges; the number of nodes is private"


Relation = Neighbors | GraphNeighbors


def relation_named(value: object) -> Relation:
    """The relation that `value` names, of rows or of graphs."""
    for member in GraphNeighbors:
        if value is member or value == member.value:
            return member
    return Neighbors.named(value)


@dataclass(frozen=True)
class PrivacyCost:
    """Exact (epsilon, delta) under one relation for one unit. Costs of the same kind add up.

    >>> PrivacyCost(0.1) + PrivacyCost("0.2")
    PrivacyCost(epsilon=0.3, delta=0, neighbors='add_remove', unit='row')
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    neighbors: Relation = Neighbors.ADD_REMOVE
    unit: str = "row"

    def __init__(
        self,
        epsilon: object,
        delta: object = 0,
        neighbors: object = Neighbors.ADD_REMOVE,
        unit: str = "row",
    ) -> None:
        exact_epsilon = exact_rational(epsilon, "epsilon")
        exact_delta = exact_rational(delta, "delta")
        if exact_epsilon < 0:
            raise InvalidParameterError(f"a cost cannot have a negative epsilon, got {epsilon}.")
        if not 0 <= exact_delta <= 1:
            raise InvalidParameterError(f"a cost must have delta between 0 and 1, got {delta}.")
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "delta", exact_delta)
        object.__setattr__(self, "neighbors", relation_named(neighbors))
        object.__setattr__(self, "unit", _checked_unit(unit))

    def __add__(self, other: object) -> PrivacyCost:
        if not isinstance(other, PrivacyCost):
            return NotImplemented
        self._require_same_kind(other)
        delta = min(self.delta + other.delta, Fraction(1))
        return PrivacyCost(self.epsilon + other.epsilon, delta, self.neighbors, self.unit)

    def __radd__(self, other: object) -> PrivacyCost:
        return self if other == 0 else NotImplemented  # so that sum(costs) works

    def __sub__(self, other: object) -> PrivacyCost:
        """What is left of a budget after a cost that fits within it."""
        if not isinstance(other, PrivacyCost):
            return NotImplemented
        if not other <= self:
            raise InvalidParameterError(f"a cost of {other} does not fit within {self}.")
        return PrivacyCost(self.epsilon - other.epsilon, self.delta - other.delta, self.neighbors, self.unit)

    def __le__(self, other: object) -> bool:
        """Whether this cost fits within `other`: neither its epsilon nor its delta is larger."""
        if not isinstance(other, PrivacyCost):
            return NotImplemented
        self._require_same_kind(other)
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def _require_same_kind(self, other: PrivacyCost) -> None:
        if (self.neighbors, self.unit) != (other.neighbors, other.unit):
            raise InvalidParameterError(
                f"a cost per {self.unit} under {self.neighbors.value} and one per {other.unit} under {other.neighbors.value} "
                "cannot be added or compared: ask both questions with the same neighbors and unit."
            )

    def __repr__(self) -> str:
        return (
            f"PrivacyCost(epsilon={decimal_text(self.epsilon)}, delta={decimal_text(self.delta)}, "
            f"neighbors={self.neighbors.value!r}, unit={self.unit!r})"
        )

    def __str__(self) -> str:
        amount = f"epsilon = {decimal_text(self.epsilon)}"
        return f"{amount}, delta = {decimal_text(self.delta)}" if self.delta else amount

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; the exact rationals are kept as text."""
        return {
            "epsilon": _shown_float(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": _shown_float(self.delta),
            "delta_exact": str(self.delta),
            "neighbors": self.neighbors.value,
            "unit": self.unit,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrivacyCost:
        """The cost that `to_dict` wrote, exactly."""
        return cls(Fraction(plain["epsilon_exact"]), Fraction(plain["delta_exact"]), plain["neighbors"], plain["unit"])


def spendable_epsilon(value: object) -> Fraction:
    """`value` as an epsilon that a question may spend: exact, positive, finite, and not so small that it asks for nothing."""
    epsilon = exact_rational(value, "epsilon")
    if epsilon <= 0:
        raise InvalidParameterError(f"epsilon must be a positive number such as 0.5 or 1, got {value}.")
    if epsilon < SMALLEST_EPSILON:
        raise InvalidParameterError(f"epsilon must be at least 1e-9, because less buys no information at all, got {value}.")
    if epsilon > LARGEST_EPSILON:
        raise InvalidParameterError("epsilon must be at most 1e9; from about 10 on it protects hardly anybody.")
    return epsilon


def spendable_delta(value: object) -> Fraction:
    """`value` as a delta that a question may spend: exact, at least 0 and below 1/2."""
    delta = exact_rational(value, "delta")
    if not 0 <= delta < Fraction(1, 2):
        raise InvalidParameterError(f"delta must be at least 0 and below 0.5, such as 1e-6, got {value}.")
    return delta


def _checked_unit(unit: object) -> str:
    """A unit in words that can stand in a line of a card without breaking it."""
    if not isinstance(unit, str) or not unit.strip() or not unit.isprintable() or len(unit) > LONGEST_UNIT:
        raise InvalidParameterError(f"unit must be one line of printable text such as person, of {LONGEST_UNIT} letters at most.")
    return unit


def _shown_float(amount: Fraction) -> float:
    """The nearest float; an amount that is too small for one is rounded up, so that no cost reads as none."""
    return float(amount) or (math.ulp(0.0) if amount else 0.0)
