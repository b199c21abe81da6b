"""Publication plans: what is to be published about one table, as TOML or as a dict.

    title = "Incomes in six towns"
    [table]
    file = "people.csv"
    unit = "person"
    max_rows_per_unit = 1
    types = {income = "number"}
    [budget]
    epsilon = 2
    ledger = "people.ledger"
    [[question]]
    title = "What a person earns"
    statistic = "median"
    columns = ["income"]
    epsilon = 0.5

A question is a document (curator/documents) with a title and a description. Everything that can be known without the table is
checked here.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any

from dpstats.accounting.budgets import Budget
from dpstats.curator.documents.document import VERSION, QuestionDocument
from dpstats.curator.documents.reading import read_document
from dpstats.curator.documents.values import named, refuse_unknown
from dpstats.curator.ledger.entries import canonical_json
from dpstats.curator.ledger.ledger import Ledger, open_ledger
from dpstats.curator.protect import name_of_file, protect
from dpstats.curator.protection import ROW
from dpstats.curator.rows_per_unit import checked_rows_per_unit, rows_used_on
from dpstats.curator.session import Session
from dpstats.foundations.addresses import is_no_path
from dpstats.foundations.errors import DataFileError, InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import PrivacyCost

FORM = 1
"""Of plans, as they are written into a manifest."""
PLAN_WORDS = ("title", "description", "row_files", "table", "budget", "question")
ROWS_WORDS = ("max_rows_per_unit", "rows_per_unit_epsilon", "most_rows_per_unit")
TABLE_WORDS = ("file", "unit", "name", "types", "keys", *ROWS_WORDS, "missing_unit", "neighbors", "edition")
BUDGET_WORDS = ("epsilon", "delta", "accountant", "ledger")
ROW_FILES = ("parquet", "csv")
MEMORY = ":memory:"


@dataclass(frozen=True)
class PublishedQuestion:
    """One question of a plan, and what the report calls it."""

    document: QuestionDocument
    title: str
    description: str


@dataclass(frozen=True)
class PublicationPlan:
    """All that is to be published about one table; checked as far as that can be done without the table."""

    title: str
    description: str
    questions: tuple[PublishedQuestion, ...]
    row_files: str | None = None
    """How synthetic rows are written: "parquet" or "csv"; None takes Parquet where pyarrow is installed."""
    table: Mapping[str, Any] = field(default_factory=dict)
    """What `protect` is told of the table; empty where a session is given."""
    budget: Mapping[str, Any] = field(default_factory=dict)
    ledger: str = ""

    def open(self) -> Session:
        """A session on the plan's table. Nothing is read but names and types, and ids where a number of rows is found."""
        return self._opened(self.ledger, self.table)

    def open_priced(self) -> tuple[Session, PrivacyCost | None]:
        """A session at a ledger that is forgotten, to price questions, and what is still to be paid to find a number of rows per
        unit. Nothing is read but names and types; where the number has yet to be found, its cap stands in for it.
        """
        table, unit = dict(self.table), self.table["unit"]
        asked = checked_rows_per_unit(unit, *(table.get(word) for word in ROWS_WORDS))
        known = None if asked is not None and asked.epsilon is None else self._rows_in_ledger()
        rows = known if known is not None else None if asked is None else asked.most
        words = {name: value for name, value in table.items() if name not in ROWS_WORDS}
        session = self._opened(open_ledger(MEMORY), words if unit == ROW else {**words, "max_rows_per_unit": rows})
        if known is not None or asked is None or asked.epsilon is None:
            return session, None
        return session, PrivacyCost(asked.epsilon, 0, session._table.protection.neighbors, unit)

    def _opened(self, ledger: str | Ledger, table: Mapping[str, Any]) -> Session:
        words = {name: value for name, value in table.items() if name != "file"}
        with named("budget"):
            budget = Budget(**self.budget)
        return protect(table["file"], budget=budget, ledger=ledger, **words)

    def _rows_in_ledger(self) -> int | None:
        """How many rows of each unit are used on the account that the plan's ledger has for the table; None without one."""
        if self.ledger == MEMORY or (not is_no_path(self.ledger) and not Path(self.ledger).exists()):
            return None
        called = self.table.get("name") or name_of_file(self.table["file"])
        with open_ledger(self.ledger, read_only=True) as book:
            return rows_used_on(book.reader(called)) if called in book.account_names else None

    def to_dict(self) -> dict[str, Any]:
        """The canonical plan. Where its table and its ledger are is left out: that is nobody else's business."""
        told = {name: value for name, value in self.table.items() if name != "file"}
        return {
            "form": FORM,
            "title": self.title,
            **({"description": self.description} if self.description else {}),
            **({"row_files": self.row_files} if self.row_files else {}),
            **({"table": _plain(told)} if told else {}),
            **({"budget": _plain(self.budget)} if self.budget else {}),
            "question": [
                {
                    "title": each.title,
                    **({"description": each.description} if each.description else {}),
                    **{name: value for name, value in each.document.to_dict().items() if name != "version"},
                }
                for each in self.questions
            ],
        }


def plan_digest(plan: Mapping[str, Any]) -> str:
    """The SHA-256 of a canonical plan."""
    return hashlib.sha256(canonical_json(plan).encode()).hexdigest()


def read_plan(given: str | PurePath | Mapping[str, Any], *, needs_table: bool) -> PublicationPlan:
    """The plan in a TOML file, or of a dict; `needs_table` says whether it must name its table and its budget.

    Paths in a file are relative to the folder that it lies in.
    """
    if isinstance(given, Mapping):
        return _checked_plan(given, Path(), needs_table)
    if not isinstance(given, (str, PurePath)):
        raise InvalidParameterError(f"a plan is the path of a TOML file, or a dict; got {type(given).__name__}.")
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise DataFileError(f"cannot read the plan {path.name!r}: is it there, and text in UTF-8?") from None
    try:
        words = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(f"the plan {path.name!r} is no TOML: {error}.") from None
    return _checked_plan(words, path.parent, needs_table)


def _checked_plan(words: Mapping[str, Any], folder: Path, needs_table: bool) -> PublicationPlan:
    _known("a plan", words, PLAN_WORDS)
    asked = words.get("question", [])
    if not isinstance(asked, list) or not asked:
        raise MissingParameterError('a plan needs questions: [[question]], then statistic = "median", columns = ["income"] ...')
    row_files = words.get("row_files")
    if row_files is not None and row_files not in ROW_FILES:
        raise InvalidParameterError(f"row_files must be {' or '.join(map(repr, ROW_FILES))}.")
    plan = PublicationPlan(
        _text(words, "title", required=True),
        _text(words, "description"),
        tuple(_checked_question(each, number) for number, each in enumerate(asked, 1)),
        row_files,
    )
    if not needs_table:
        for name in ("table", "budget"):
            if name in words:
                raise InvalidParameterError(f"[{name}]: the session says that already: leave it out of the plan.")
        return plan
    table, budget = _section(words, "table", TABLE_WORDS), _section(words, "budget", BUDGET_WORDS)
    for section, name, example in (
        (table, "file", '"people.parquet"'),
        (table, "unit", '"person", the column that says whose row it is, or "row" if every row is somebody else'),
        (budget, "epsilon", "2"),
        (budget, "ledger", '"people.ledger"'),
    ):
        if name not in section:
            place = "table" if section is table else "budget"
            raise MissingParameterError(f"[{place}] needs {name}: for example {name} = {example}.")
    ledger = budget.pop("ledger")
    place = _located(ledger, folder, "[budget] ledger")
    amounts = {name: str(value) if isinstance(value, Decimal) else value for name, value in budget.items()}
    return PublicationPlan(
        plan.title,
        plan.description,
        plan.questions,
        row_files,
        _floats({**table, "file": _located(table["file"], folder, "[table] file")}),
        amounts,
        place,
    )


def _checked_question(words: object, number: int) -> PublishedQuestion:
    if not isinstance(words, Mapping):
        raise InvalidParameterError(f"question {number} must be a table of its own: [[question]].")
    own = {name: value for name, value in words.items() if name not in ("title", "description")}
    with named(f"question {number}"):
        document = read_document({"version": VERSION, **own})
        title = _text(words, "title") or _usual_title(document)
        return PublishedQuestion(document, title, _text(words, "description"))


def _usual_title(document: QuestionDocument) -> str:
    about = document.formula or ", ".join(document.columns) or "the whole table"
    what = {"synthesize": "synthetic rows", "mwem": "multiplicative weights"}.get(document.statistic, document.statistic)
    what = what.replace("_", " ")
    by = f" by {', '.join(document.by)}" if document.by else ""
    where = f" where {' and '.join(document.where)}" if document.where else ""
    return f"{what[:1].upper()}{what[1:]} of {about}{where}{by}"


def _known(place: str, words: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in words:
        if name not in known:
            refuse_unknown(place, name, known)


def _section(words: Mapping[str, Any], name: str, known: tuple[str, ...]) -> dict[str, Any]:
    section = words.get(name)
    if not isinstance(section, Mapping):
        raise MissingParameterError(f"a plan needs [{name}], with {', '.join(known)}; or give a session beside it.")
    _known(f"[{name}]", section, known)
    return dict(section)


def _text(words: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    text = words.get(name, "")
    if not isinstance(text, str) or (required and not text.strip()):
        raise MissingParameterError(f'{name} must be a text: for example {name} = "Incomes in six towns".')
    return " ".join(text.split())


def _located(given: object, folder: Path, place: str) -> str:
    """Where a file is; one that is not absolute lies beside the plan."""
    if not isinstance(given, (str, PurePath)) or not str(given):
        raise InvalidParameterError(f"{place} must be a text.")
    text = str(given)
    return text if is_no_path(text) or text == MEMORY else str(folder / text)


def _floats(value: Any) -> Any:
    """Plain values whose decimals are floats, as tables have them."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {name: _floats(item) for name, item in value.items()}
    return [_floats(item) for item in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Values of a plan as JSON has them; dates and exact numbers as texts."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
