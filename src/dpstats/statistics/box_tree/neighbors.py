"""Released neighbours: rows of each class in boxes, and which class rows around a point have.

Around a point lie its last box, the box of which that is a half, and so on up to the first one. From the first box down, the
shares of classes in a box are mixed with those in the box around it, which count as `k` rows: where a box holds many rows it
speaks for itself, and where it holds few, the rows around it speak too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import OWN_DIGITS
from dpstats.foundations.results import value_text
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted
from dpstats.statistics.box_tree.halvings import Floats
from dpstats.statistics.box_tree.points import checked_points
from dpstats.statistics.box_tree.tree import BoxTree

USUAL_NEIGHBORS = 25
_MOST_NAMED = 6


@dataclass(frozen=True, eq=False)
class NeighborClasses(Tabular):
    """Rows of each class in boxes: `predict` and `predict_proba` answer at any point, for any `k`, at no further cost."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    tree: BoxTree

    @property
    def rows(self) -> int:
        """About how many rows there are, of all classes."""
        return round(float(self.tree.rows.sum()))

    def predict_proba(self, points: Any, k: float = USUAL_NEIGHBORS) -> Floats:
        """The part of the rows around each point that each class has, points by classes; of one point a single row."""
        rows, is_single = checked_points(points, self.names)
        if isinstance(k, bool) or not isinstance(k, (int, float, np.number)) or not 0 < k < np.inf:
            raise InvalidParameterError(f"k must be a positive number of rows, such as {USUAL_NEIGHBORS}; got {k!r}.")
        shares = np.full((len(rows), len(self.classes)), 1 / len(self.classes))
        for depth in range(self.tree.halvings.depth + 1):
            around = self.tree.counts_around(rows, depth)
            shares = (around + k * shares) / (around.sum(axis=1, keepdims=True) + k)
        shares = np.round(shares, OWN_DIGITS)
        return np.asarray(shares[0] if is_single else shares)

    def predict(self, points: Any, k: float = USUAL_NEIGHBORS) -> Any:
        """The class that most rows around each point have; the first of several."""
        shares = self.predict_proba(points, k)
        if shares.ndim == 1:
            return self.classes[int(np.argmax(shares))]
        labels: NDArray[Any] = np.array(self.classes)
        return labels[np.argmax(shares, axis=1)]

    def rows_around(self, point: Any, least: float = USUAL_NEIGHBORS) -> dict[Any, float]:
        """About how many rows of each class lie in the smallest box around a point that holds at least so many."""
        rows, _ = checked_points(point, self.names)
        around = [self.tree.counts_around(rows[:1], depth)[0] for depth in reversed(range(self.tree.halvings.depth + 1))]
        enough = next((counts for counts in around if counts.sum() >= least), around[-1])
        return dict(zip(self.classes, np.round(enough, 1).tolist(), strict=True))

    def window(self) -> tuple[tuple[float, float], ...]:
        """For each feature the range that holds nearly all rows."""
        return self.tree.window()

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"names": list(self.names), "classes": list(self.classes), "tree": self.tree.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> NeighborClasses:
        """The neighbours that `to_dict` made plain."""
        return cls(tuple(plain["names"]), tuple(plain["classes"]), BoxTree.from_dict(plain["tree"]))

    def table_columns(self) -> dict[Any, Any]:
        """The boxes, a row for each: where it begins and ends, and about how many rows of each class it has."""
        return self.tree.sides_by_name(self.names) | dict(zip(self.classes, self.tree.counts.T, strict=True))

    def __str__(self) -> str:
        named = [value_text(label) for label in self.classes[:_MOST_NAMED]]
        more = f" and {len(self.classes) - _MOST_NAMED} more" if len(self.classes) > _MOST_NAMED else ""
        listed = f"{', '.join(named[:-1])} and {named[-1]}" if not more else ", ".join(named) + more
        boxes = counted(self.tree.size, "box", "boxes")
        return f"neighbours in {boxes} of {', '.join(self.names)}: about {counted(self.rows, 'row')} of {listed}"
