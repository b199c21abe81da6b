"""Released decision trees: splits of features, and at each leaf noisy counts of the classes."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import shortened
from dpstats.statistics.classification.features import CodedFeature, Label
from dpstats.statistics.classification.model import label_array
from dpstats.statistics.classification.new_rows import RowsOf, codes_of_rows
from dpstats.statistics.classification.noise import Agreement
from dpstats.statistics.classification.splits import NodeSplit

Floats = NDArray[np.float64]
RawCodes = NDArray[np.signedinteger]
_LONGEST_NAME = 40


@dataclass(frozen=True)
class TreeNode:
    """A node: a split with a child for each branch, or a leaf."""

    split: NodeSplit | None = None
    children: tuple[TreeNode, ...] = ()
    number: int = 0
    """Of a leaf: its place among all leaves."""

    def leaves(self) -> Iterator[TreeNode]:
        """All leaves below, from left to right."""
        if self.split is None:
            yield self
        for child in self.children:
            yield from child.leaves()

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        if self.split is None:
            return {"leaf": self.number}
        children = [child.to_dict() for child in self.children]
        return {"feature": self.split.feature, "branches": list(self.split.branches), "children": children}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TreeNode:
        """The node that `to_dict` made plain."""
        if "leaf" in plain:
            return cls(number=plain["leaf"])
        split = NodeSplit(plain["feature"], tuple(plain["branches"]))
        return cls(split, tuple(cls.from_dict(child) for child in plain["children"]))


@dataclass(frozen=True)
class TreeShape:
    """The splits of a tree, as rows are shown to it."""

    root: TreeNode

    def leaf_of(self, raw_codes: RawCodes) -> NDArray[np.int64]:
        """The number of the leaf that each row comes to."""
        raw_leaves = np.zeros(len(raw_codes), dtype=np.int64)
        self._descend(self.root, np.arange(len(raw_codes)), raw_codes, raw_leaves)
        return raw_leaves

    def _descend(self, node: TreeNode, raw_here: NDArray[np.intp], raw_codes: RawCodes, raw_leaves: NDArray[np.int64]) -> None:
        if node.split is None:
            raw_leaves[raw_here] = node.number
            return
        raw_branches = np.array(node.split.branches)[raw_codes[raw_here, node.split.feature]]
        for branch, child in enumerate(node.children):
            self._descend(child, raw_here[raw_branches == branch], raw_codes, raw_leaves)


@dataclass(frozen=True, eq=False)
class DecisionTreeModel(Tabular):
    """A decision tree."""

    outcome: str
    features: tuple[CodedFeature, ...]
    classes: tuple[Label, ...]
    shape: TreeShape
    counts: Floats
    """For each leaf about how many rows of each class it has; noise may make it negative."""
    agreement: Agreement
    rows_of: RowsOf | None = field(default=None, repr=False)
    """Makes features of new rows, where a formula says how; public, and not a part of the release."""

    @property
    def depth(self) -> int:
        """The most splits that a row passes."""
        return _depth(self.shape.root)

    def probabilities(self) -> Floats:
        """For each leaf the probability of each class: its counts, none below 0, and 1 more for each."""
        counts = np.maximum(self.counts, 0.0) + 1.0
        return np.asarray(counts / counts.sum(axis=1)[:, np.newaxis])

    def predict_proba(self, data: Any) -> Floats:
        """The probabilities of all classes for new rows, rows by classes."""
        return self.probabilities()[self.shape.leaf_of(codes_of_rows(data, self.features, self.rows_of))]

    def predict(self, data: Any) -> NDArray[Any]:
        """The class of each of some new rows: of most probability, the first of equals."""
        return label_array(self.classes)[self.likeliest(codes_of_rows(data, self.features, self.rows_of))]

    def likeliest(self, raw_codes: RawCodes) -> NDArray[np.int64]:
        """The number of the class of each row, from the codes of its features."""
        return np.asarray(np.argmax(self.counts, axis=1)[self.shape.leaf_of(raw_codes)])

    def __str__(self) -> str:
        leaves = len(self.counts)
        size = f"depth {self.depth}, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
        return f"decision tree of {self.outcome} ({size}), right for {self.agreement.part:.3f} of its rows"

    def text(self) -> str:
        """The tree as lines, a step to the right for each split."""
        return "\n".join(self._lines(self.shape.root, 0))

    def _lines(self, node: TreeNode, indent: int) -> Iterator[str]:
        if node.split is None:
            yield f"{'  ' * indent}{self.leaf_text(node)}"
            return
        feature = self.features[node.split.feature]
        for branch, child in enumerate(node.children):
            words = branch_words(feature, node.split, branch)
            if child.split is None:
                yield f"{'  ' * indent}{feature.name} {words}: {self.leaf_text(child)}"
            else:
                yield f"{'  ' * indent}{feature.name} {words}"
                yield from self._lines(child, indent + 1)

    def leaf_text(self, leaf: TreeNode) -> str:
        """What a leaf says: its class, and how many of its rows have it."""
        counts = np.maximum(self.counts[leaf.number], 0.0)
        best = int(np.argmax(self.counts[leaf.number]))
        return f"{value_text(self.classes[best])} ({counts[best]:,.0f} of {counts.sum():,.0f})"

    def rows(self) -> Iterator[dict[str, Any]]:
        """The leaves one by one: the splits on the way to each, its class, and about how many rows of each class it has."""
        yield from self._rows(self.shape.root, ())

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each leaf."""
        return columns_of(self.rows())

    def _rows(self, node: TreeNode, way: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        if node.split is None:
            counts = {f"rows of {value_text(label)}": count for label, count in self._counted(node.number)}
            yield {"leaf": " and ".join(way) or "all", "class": self._class_at(node.number), **counts}
            return
        feature = self.features[node.split.feature]
        for branch, child in enumerate(node.children):
            yield from self._rows(child, (*way, f"{feature.name} {branch_words(feature, node.split, branch)}"))

    def _counted(self, leaf: int) -> list[tuple[Label, float]]:
        return list(zip(self.classes, self.counts[leaf].tolist(), strict=True))

    def _class_at(self, leaf: int) -> Label:
        return self.classes[int(np.argmax(self.counts[leaf]))]

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """All of it in words; counts at leaves have no intervals."""
        return f"{self}\n{self.text()}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "outcome": self.outcome,
            "features": [feature.to_dict() for feature in self.features],
            "classes": list(self.classes),
            "tree": self.shape.root.to_dict(),
            "counts": self.counts.tolist(),
            "agreement": list(self.agreement),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DecisionTreeModel:
        """The tree that `to_dict` made plain."""
        return cls(
            plain["outcome"],
            tuple(CodedFeature.from_dict(each) for each in plain["features"]),
            tuple(plain["classes"]),
            TreeShape(TreeNode.from_dict(plain["tree"])),
            np.array(plain["counts"], dtype=np.float64),
            Agreement(*plain["agreement"]),
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"


def branch_words(feature: CodedFeature, split: NodeSplit, branch: int) -> str:
    """Which values take a branch, in words: "below 30", "is a, b"."""
    codes = [code for code, each in enumerate(split.branches) if each == branch]
    ordered = [code for code in codes if code < feature.ordered]
    if ordered and ordered == list(range(ordered[0], ordered[-1] + 1)) and len(ordered) < feature.ordered:
        if not ordered[0]:
            return feature.sides(ordered[-1])[0]
        if ordered[-1] == feature.ordered - 1:
            return feature.sides(ordered[0] - 1)[1]
    if branch and split.ways == 2 and len(codes) > 1 and not feature.ordered:
        first = [name for name, each in zip(feature.names, split.branches, strict=True) if not each]
        return f"is not {shortened(', '.join(first), _LONGEST_NAME)}"
    return f"is {shortened(', '.join(feature.names[code] for code in codes), _LONGEST_NAME)}"


def _depth(node: TreeNode) -> int:
    return 1 + max(map(_depth, node.children)) if node.split is not None else 0
