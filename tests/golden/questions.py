"""Questions as documents, and what the ledger writes for them: price, text, archive key and details."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import dpstats as dp
from dpstats.curator.session import Session
from tests.golden.tables import GROUPS, SETTINGS, calls, session, table
from tests.questions import UnreadableStore, outcome_of

PAIRS = {"employed": [True, False], "region": GROUPS}
FORMULAS: dict[str, Callable[[Session], Any]] = {
    "regression": lambda survey: survey.regression("income ~ age + log(hours) + C(region)", levels={"region": GROUPS}, epsilon=2),
    "regression, levels found": lambda survey: survey.regression("income ~ age + C(region)", epsilon=2, delta=1e-6),
    "regression, logistic": lambda survey: survey.regression("employed ~ age", model="logistic", epsilon=2),
    "regression by groups": lambda survey: survey.group_by("region", keys=GROUPS).regression("income ~ age", epsilon=2),
    "classification": lambda survey: survey.classification("employed ~ age + C(region)", levels={"region": GROUPS}, epsilon=2),
    "where": lambda survey: survey.where("age >= 30").where("region in ['a', 'b']").median("income", epsilon=1),
    "derived": lambda survey: survey.with_columns(rate="income / hours").mean("rate", epsilon=1),
    "condition": lambda survey: survey.proportion("hours > 30", epsilon=1),
    "groups found": lambda survey: survey.group_by("region").mean("income", epsilon=1, delta=1e-6),
    "groups of two": lambda survey: survey.group_by("employed", "region", keys=PAIRS).count(epsilon=1),
    "no interval": lambda survey: survey.median("income", epsilon=1, interval=None),
    "rough": lambda survey: survey.mean("income", epsilon=0.01, rough=True),
    "sketch": lambda survey: survey.sketch(columns=["age", "region"], levels={"region": GROUPS}),
}
"""Questions by other ways than a statistic's own method."""


def all_questions() -> Iterator[tuple[str, str]]:
    """Every golden question: its name, and its line in questions.jsonl."""
    for name, setting in SETTINGS.items():
        survey = session(setting, UnreadableStore(table()))
        asker: Any = survey.group_by("region", keys=GROUPS) if name == "groups" else survey
        for call in calls():
            document = asker.document(call.statistic, *call.given, **call.words)
            yield _line(f"{name}/{call.name}", survey, lambda: survey.ask(document), document)  # noqa: B023
        if name != "groups":
            for words, ask in FORMULAS.items():
                yield _line(f"{name}/{words}", survey, lambda: ask(survey))  # noqa: B023


def _line(name: str, survey: Session, ask: Callable[[], Any], document: Any = None) -> tuple[str, str]:
    debit = outcome_of(survey, ask)
    return name, json.dumps({"name": name, "document": document, "debit": debit}, ensure_ascii=False, default=str)


def schema() -> str:
    """The schema of documents, one property a line."""
    return json.dumps(dp.question_schema(), indent=1, ensure_ascii=False) + "\n"
