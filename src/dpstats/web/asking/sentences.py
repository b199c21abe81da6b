"""Sentences: a question as the fields of a form, "median of income where age >= 30 by region", and the document that they make.

Fields are texts that somebody typed; the document is checked as every other one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from dpstats.curator.documents.document import REGRESSION, VERSION
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import find_statistic, statistic_names

NO_INTERVAL = "none"
MOST_NAMED = 50
"""Columns of a sentence."""


class Sentence(BaseModel):
    """The fields of a sentence; empty ones are left out."""

    statistic: str = ""
    columns: list[str] = Field(default=[], max_length=MOST_NAMED)
    outcome: str = ""
    condition: str = ""
    """In place of a column, for a statistic that takes conditions."""
    formula: str = ""
    model: str = ""
    parameters: str = ""
    """Lines such as q = 0.9: a name, and a number, a text, or a list in brackets."""
    where: str = ""
    by: list[str] = Field(default=[], max_length=MOST_NAMED)
    epsilon: str = ""
    delta: str = ""
    interval: str = ""
    method: str = ""
    rough: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked yet."""
        return not self.statistic

    @property
    def has_more_words(self) -> bool:
        """Whether it says more than a statistic, two columns, a condition and a group."""
        others = (
            self.outcome,
            self.condition,
            self.formula,
            self.model,
            self.parameters,
            self.delta,
            self.interval,
            self.method,
            self.rough,
        )
        return any(others) or len(self.columns) > 2

    def as_document(self) -> dict[str, Any]:
        """The question as a document, which is yet to be checked."""
        said: dict[str, Any] = {"version": VERSION, "statistic": self.statistic.strip(), **self._columns()}
        if self.parameters.strip():
            said["parameters"] = read_parameters(self.parameters)
        for word in ("epsilon", "delta", "method"):
            if text := getattr(self, word).strip():
                said[word] = text
        if self.interval.strip():
            said["interval"] = None if self.interval.strip() == NO_INTERVAL else self.interval.strip()
        if self.rough:
            said["rough"] = True
        if self.where.strip():
            said["where"] = [self.where.strip()]
        if self.by:
            said["group_by"] = {"columns": list(dict.fromkeys(self.by))}
        return said

    def fields(self) -> list[tuple[str, str]]:
        """The fields as they stand in an address."""
        found = []
        for name, value in self.model_dump().items():
            listed = value if isinstance(value, list) else ["true"] if value is True else [value]
            found += [(name, each) for each in listed if each]
        return found

    def _columns(self) -> dict[str, Any]:
        """The columns by the words that the statistic has for them."""
        statistic, columns = self.statistic.strip(), list(dict.fromkeys(self.columns))
        if statistic == REGRESSION:
            return {"formula": self.formula.strip(), **({"model": self.model} if self.model else {})}
        if statistic in statistic_names() and find_statistic(statistic).has_outcome:
            return {"features": columns, "outcome": self.outcome.strip()}
        if self.condition.strip() and _takes_conditions(statistic):
            return {"columns": [self.condition.strip()]}
        return {"columns": columns} if columns else {}


def sentence_of(document: Mapping[str, Any]) -> Sentence | None:
    """The sentence that makes a document; None where none does, as with new columns or listed groups."""
    said = {name: str(document[name]) for name in ("statistic", "formula", "model", "outcome", "method") if name in document}
    said |= {name: str(document[name]) for name in ("epsilon", "delta") if name in document}
    if "interval" in document:
        said["interval"] = NO_INTERVAL if document["interval"] is None else str(document["interval"])
    columns = document.get("columns", document.get("features", []))
    if _takes_conditions(document["statistic"]) and not columns[0].isidentifier():
        said["condition"], columns = columns[0], []
    sentence = Sentence(
        **said,
        columns=columns,
        parameters=written_parameters(document.get("parameters", {})),
        where=" and ".join(f"({each})" if len(document["where"]) > 1 else each for each in document.get("where", ())),
        by=document.get("group_by", {}).get("columns", []),
        rough=document.get("rough", False),
    )
    left_out = {"select", "with_columns", "levels"} & document.keys() or "keys" in document.get("group_by", {})
    return None if left_out else sentence


def read_parameters(text: str) -> dict[str, Any]:
    """The parameters that lines such as `q = 0.9` name; what is no JSON is a text."""
    found: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = (part.strip() for part in line.partition("="))
        if not sign or not name or not value:
            raise InvalidParameterError('parameters: write one on each line, such as q = 0.9, or groups = ["north", "south"].')
        if name in found:
            raise InvalidParameterError(f"parameters: {name} stands there twice.")
        try:
            found[name] = json.loads(value, parse_constant=_refuse)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def written_parameters(parameters: Mapping[str, Any]) -> str:
    """The lines that `read_parameters` reads."""
    return "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in parameters.items())


def _takes_conditions(statistic: str) -> bool:
    return statistic in statistic_names() and find_statistic(statistic).takes_conditions


def _refuse(text: str) -> None:
    raise ValueError(text)
