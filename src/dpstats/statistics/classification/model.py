"""Released additive models: what each value of each column adds to the score of each class."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import exponential
from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import counted, shortened
from dpstats.statistics.classification.features import OTHERS, CodedFeature, Label
from dpstats.statistics.classification.new_rows import RowsOf, codes_of_rows
from dpstats.statistics.classification.noise import Agreement

Floats = NDArray[np.float64]
_LONGEST_NAME = 28
_SHOWN = 12
TWO = 2


@dataclass(frozen=True, eq=False)
class AdditiveModel(Tabular):
    """A classifier: the score of a class is its base and, for each column, the effect of the row's value there."""

    kind: str
    """What it is called: an additive classifier, or naive Bayes."""
    outcome: str
    features: tuple[CodedFeature, ...]
    classes: tuple[Label, ...]
    base: Floats
    """One number for each class."""
    effects: tuple[Floats, ...]
    """For each feature, classes by codes. Of two classes the first has zeros: effects are those on the log odds of the second."""
    agreement: Agreement
    rows_of: RowsOf | None = field(default=None, repr=False)
    """Makes features of new rows, where a formula says how; public, and not a part of the release."""

    def scores(self, data: Any) -> Floats:
        """The scores of all classes for new rows, rows by classes; the largest wins."""
        return self._scores(codes_of_rows(data, self.features, self.rows_of)).T

    def predict_proba(self, data: Any) -> Floats:
        """The probabilities of all classes for new rows, rows by classes."""
        scores = self._scores(codes_of_rows(data, self.features, self.rows_of))
        powers = exponential(scores - scores.max(axis=0))
        total = np.zeros(powers.shape[1])
        for power in powers:
            total += power
        return np.asarray((powers / total).T)

    def predict(self, data: Any) -> NDArray[Any]:
        """The class of each of some new rows: of most probability, the first of equals."""
        return label_array(self.classes)[self.likeliest(codes_of_rows(data, self.features, self.rows_of))]

    def likeliest(self, raw_codes: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        """The number of the class of each row, from the codes of its features."""
        return np.asarray(np.argmax(self._scores(raw_codes), axis=0))

    def _scores(self, raw_codes: NDArray[np.signedinteger]) -> Floats:
        raw_scores = np.repeat(self.base[:, np.newaxis], len(raw_codes), axis=1)
        for place, effects in enumerate(self.effects):
            raw_scores += effects[:, raw_codes[:, place]]
        return raw_scores

    def strengths(self) -> list[float]:
        """For each feature how far apart its effects lie: the widest range over all classes."""
        return [float((effects.max(axis=1) - effects.min(axis=1)).max()) for effects in self.effects]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The effects one by one: feature, value, class and effect."""
        for feature, effects in zip(self.features, self.effects, strict=True):
            for name, column in zip(feature.names, effects.T.tolist(), strict=True):
                for label, effect in list(zip(self.classes, column, strict=True))[1 if len(self.classes) == TWO else 0 :]:
                    yield {"feature": feature.name, "value": name, "class": label, "effect": effect}

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each effect."""
        return columns_of(self.rows())

    def __str__(self) -> str:
        columns = counted(len(self.features), "column")
        named = ", ".join(shortened(value_text(label), _LONGEST_NAME) for label in self.classes[:_SHOWN])
        more = f" and {len(self.classes) - _SHOWN} more" if len(self.classes) > _SHOWN else ""
        return f"{self.kind} of {self.outcome} ({named}{more}) by {columns}, right for {self.agreement.part:.3f} of its rows"

    def text(self) -> str:
        """The features by strength, each with the values of its least and greatest effects on the last class."""
        order = sorted(range(len(self.features)), key=lambda place: -self.strengths()[place])
        last = value_text(self.classes[-1])
        lines = [f"effects on the score of {last}, beside that of {value_text(self.classes[0])}"]
        for place in order:
            effects, names = self.effects[place][-1] - self.effects[place][0] + 0.0, self.features[place].names
            if len(names) == 1:
                lines.append(f"  {shortened(self.features[place].name, _LONGEST_NAME)}: {_no_effect(names[0])}")
                continue
            low, high = int(np.argmin(effects)), int(np.argmax(effects))
            ends = [f"{effects[at]:+.2f} ({shortened(names[at], _LONGEST_NAME)})" for at in (low, high)]
            lines.append(f"  {shortened(self.features[place].name, _LONGEST_NAME)}: {ends[0]} to {ends[1]}")
        return "\n".join(lines)

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """All of it in words; effects have no intervals."""
        return f"{self}\n{self.text()}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "kind": self.kind,
            "outcome": self.outcome,
            "features": [feature.to_dict() for feature in self.features],
            "classes": list(self.classes),
            "base": self.base.tolist(),
            "effects": [effects.tolist() for effects in self.effects],
            "agreement": list(self.agreement),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> AdditiveModel:
        """The model that `to_dict` made plain."""
        return cls(
            plain["kind"],
            plain["outcome"],
            tuple(CodedFeature.from_dict(each) for each in plain["features"]),
            tuple(plain["classes"]),
            np.array(plain["base"], dtype=np.float64),
            tuple(np.array(each, dtype=np.float64) for each in plain["effects"]),
            Agreement(*plain["agreement"]),
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Labels as an array, of their own type where they are of one."""
    kinds = {type(label) for label in labels}
    return np.array(labels) if len(kinds) == 1 else np.array(labels, dtype=object)


def _no_effect(only_value: str) -> str:
    """Why a feature with a single value adds nothing."""
    if only_value == OTHERS:
        return "no effect, for no label was found; if it holds numbers, declare its type"
    return "no effect, for it has a single value"
