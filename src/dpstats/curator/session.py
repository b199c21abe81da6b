"""The session: a protected table as its analyst sees it.

    survey = dp.protect("survey.parquet", unit="person", max_rows_per_unit=1, budget=dp.Budget(epsilon=3), ledger="survey.ledger")
    survey.where("age >= 30").median("income", epsilon=0.2)

Column names, types and declared facts are public; nothing else is. Every statistic of the registry is a method. `where`,
`select`, `with_columns` and `group_by` give narrower sessions on the same account; they read nothing and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

from dpstats.curator.asker import Asker, columns_among, refuse_fixed_words, sketched
from dpstats.curator.classifier_words import ClassifierWords
from dpstats.curator.desk import Desk, Priced
from dpstats.curator.documents.asking import narrowed_scope, price_by_document, record_question
from dpstats.curator.documents.document import REGRESSION, QuestionDocument
from dpstats.curator.documents.reading import read_document
from dpstats.curator.formula_words import FormulaWords
from dpstats.curator.formulas import design_on, fixed_words, price_formula, priced_formula
from dpstats.curator.groups import Groups
from dpstats.curator.ledger.accounts import Account
from dpstats.curator.ledger.readers import AccountReader
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan import PLANNED_ROWS, RowCounts, checked_wish, plan_priced
from dpstats.curator.remaining import Remaining
from dpstats.curator.rows_per_unit import recalled
from dpstats.curator.scope import Scope
from dpstats.curator.statistic_methods import SessionMethods
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import MissingParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, INTERVAL, Statistic, find_statistic
from dpstats.foundations.results import Card, NoReply, Release, value_text
from dpstats.foundations.words import method_taking
from dpstats.mechanisms.unit_octaves import UnitOctaves
from dpstats.statistics.classification.model import AdditiveModel
from dpstats.statistics.classification.tree import DecisionTreeModel
from dpstats.statistics.regression.fit import RegressionFit


class Session(Asker, SessionMethods):
    """A protected table, whole or narrowed. Made by `dpstats.protect`."""

    def __init__(self, table: Desk, scope: Scope) -> None:
        self._table = table
        self._scope = scope

    @property
    def name(self) -> str:
        """The name under which the ledger keeps the table's account."""
        return self._table.name

    @property
    def columns(self) -> dict[str, str]:
        """The names and types of the columns, which are public."""
        return {name: kind.value for name, kind in self._scope.columns.items()}

    @property
    def _account(self) -> Account:
        assert self._table.account is not None  # a session that is handed to somebody has one
        return self._table.account

    @property
    def _budget(self) -> str:
        """What may be spent in all, in words."""
        return str(self._account.budget)

    @property
    def ledger(self) -> AccountReader:
        """The account: what was spent, and on which questions."""
        return self._account.reader()

    @property
    def remaining(self) -> Remaining:
        """What is left of the budget; print it, or ask for `.more("median", epsilon=0.1)`."""
        return Remaining(self._account)

    @property
    def rows_per_unit(self) -> Release[UnitOctaves] | None:
        """The release that says how many rows of each unit are used, where they were found privately; None where the number was
        named. See dpstats.protect."""
        return recalled(self._account)

    def where(self, condition: str) -> Self:
        """Rows for which a condition is true: where("age >= 30 and region in ['north', 'south']"). See docs/expressions.md."""
        return self._narrowed(self._scope.where(condition))

    def select(self, *names: str, **derived: str) -> Self:
        """Only these columns, and new ones from expressions: select("income", rate="income / hours")."""
        if not names and not derived:
            raise MissingParameterError("select needs columns: for example select('income', rate='income / hours').")
        return self._narrowed(self._scope.with_columns(derived).only([*names, *derived]))

    def with_columns(self, **derived: str) -> Self:
        """All columns, and new ones from expressions: with_columns(rate="income / hours")."""
        return self._narrowed(self._scope.with_columns(derived))

    def group_by(self, *columns: str | Sequence[str], keys: Any = None) -> Groups:
        """The same question in every group, at the cost of one: group_by("region").median("income", epsilon=0.3, delta=1e-7).

        `keys` is the public list of groups: values of the column; for several columns tuples of values, or a list for each column
        by name, of which all combinations are taken. Left out, declared keys are taken (`protect(..., keys=...)`; a boolean
        column has two). Where there are none, keys are chosen privately: that needs delta, and shows only groups of many rows.
        """
        return Groups(self._table, self._scope, columns, keys)

    def ask(self, document: object, *, rng: Any = None) -> Any:
        """The answer to a question that is written as a document: a dict of plain values, or JSON text. See docs/documents.md.

        It goes the way of the method that it names: the same price, and the same archive. `rng` as for the methods.
        """
        return self._table.answer(self._price_document(read_document(document), rng))

    def _price_document(self, document: QuestionDocument, rng: Any = None) -> Priced:
        """The question of a document, checked and priced; nothing is read or spent."""
        session = self._narrowed(narrowed_scope(self._scope, document))
        asker = session.group_by(*document.by, keys=document.keys) if document.by else session
        return price_by_document(asker, session._scope, document, rng)

    def document(self, statistic: str, *given: object, **keywords: Any) -> dict[str, Any]:
        """A question as a document, from what its method takes: document("median", "income", epsilon=0.2). Asks nothing.

        It says what `where`, `with_columns` and `select` have narrowed too, so that the whole table answers it: `ask`.
        """
        return record_question(self._scope, {}, statistic, given, keywords)

    def describe(self) -> Card:
        """What is public: columns, types, whom the table protects, the budget and what is left of it."""
        table, scope = self._table, self._scope
        rows = scope.condition_text()
        return Card(
            f"{shown(table.name)}, a protected table",
            (
                ("protects", table.protection.describe()),
                ("budget", self._budget),
                ("left", str(self.remaining)),
                *((("only rows", rows),) if rows else ()),
                *((shown(name), self._column_text(name)) for name in scope.columns),
            ),
        )

    def plan(
        self,
        statistic: str,
        *given: object,
        epsilon: Number | None = None,
        delta: Number = 0,
        method: str = AUTO,
        interval: Number | None = INTERVAL,
        rough: bool = False,
        n: RowCounts = PLANNED_ROWS,
        half_width: Number | None = None,
        shape: object = None,
        repeats: int | None = None,
        rng: RandomSource | None = None,
        **keywords: Any,
    ) -> Plan:
        """What to expect of a question before it is asked: plan("median", "income", epsilon=0.2). Reads nothing, costs nothing.

        With half_width in place of epsilon, the smallest epsilon that reaches it: plan("median", "income", half_width="5%"). How
        many rows there are is private, so the plan shows a few sizes; `n` names others. See dpstats.plan.
        """
        refuse_fixed_words(keywords)
        columns, parameters = columns_among(find_statistic(statistic), given, keywords)
        wanted = checked_wish(epsilon, half_width)
        price = epsilon if wanted is None else 1
        asked = {"epsilon": price, "delta": delta, "method": method, "interval": interval, "rough": rough, **keywords}
        scope, columns = self._scope.with_conditions(find_statistic(statistic), columns)
        question = self._table.asked(scope, find_statistic(statistic), columns, parameters, asked)
        as_row = partial(self._table.protection.row_question, narrowed=scope.is_narrowed)
        text = self._table.text_of(scope, question)
        return plan_priced(question, text, as_row=as_row, wanted=wanted, n=n, shape=shape, repeats=repeats, rng=rng)

    @method_taking(FormulaWords)
    def regression(self, asked: FormulaWords) -> Release[RegressionFit] | NoReply:
        """A regression by a formula: regression("income ~ age + log(hours) + C(region)", epsilon=0.5).

        `model` is "linear", "quantile", "logistic" or "poisson". `levels` are the labels of categories, where they are public:
        {"region": ["north", "south"]}; declared keys are taken too (`protect(..., keys=...)`). Where there are none, they are
        chosen privately: that needs delta. How formulas are written: see dpstats.regression.
        """
        reply: Release[RegressionFit] | NoReply = self._table.answer(self._price_regression(asked))
        return reply

    @method_taking(ClassifierWords)
    def classification(self, asked: ClassifierWords) -> Release[AdditiveModel | DecisionTreeModel] | NoReply:
        """A classifier by a formula: classification("works ~ age + log(income) + C(region)", epsilon=1, delta=1e-6).

        `model` is "additive", "naive_bayes" or "tree". It is the same question as that of the classifier about columns that
        `with_columns` derives, at the same price. How formulas are written: see dpstats.classification.
        """
        reply: Release[AdditiveModel | DecisionTreeModel] | NoReply = self._table.answer(self._price_classification(asked))
        return reply

    def sketch(self, *, epsilon: Number = 0.1, delta: Number = 0, rng: RandomSource | None = None, **words: Any) -> Any:
        """Rough synthetic rows to write formulas and try plans on, for a small epsilon: sketch().value.to_pandas().

        They are marked "not for conclusions": what they show is there, or is noise. Other words are those of `synthesize`.
        """
        return self.synthesize(**sketched(epsilon=epsilon, delta=delta, rng=rng, **words))

    def _price(
        self, statistic: Statistic, columns: tuple[str, ...], positional: tuple[object, ...], keywords: Mapping[str, Any]
    ) -> Priced:
        source = self._table.source_of_noise(keywords["rng"])
        asked = {name: value for name, value in keywords.items() if name != "rng"}
        named = columns or (self._all_columns() if statistic.takes_tables else ())
        scope, named = self._scope.with_conditions(statistic, named)
        question = self._table.asked(scope, statistic, named, positional, asked)
        return self._table.price(scope, question, source)

    def _price_regression(self, asked: FormulaWords) -> Priced:
        table = self._table
        source = table.source_of_noise(asked.rng)
        design = design_on(table, self._scope, asked.formula, asked.levels)
        common = {**asked.common(), **fixed_words(table)}
        question = priced_formula(design, asked.model, common, asked.own())
        document = self._recorded(REGRESSION, (asked.formula,), asked.named())
        return replace(price_formula(table, self._scope, question, source), document=document)

    def _narrowed(self, scope: Scope) -> Self:
        session = copy(self)
        session._scope = scope
        return session

    def _all_columns(self) -> tuple[str, ...]:
        """The columns that whole tables are made of: all but the unit's ids, and those that have no values."""
        left_out = self._table.protection.unit
        return tuple(name for name, kind in self._scope.columns.items() if name != left_out and kind is not ColumnType.OTHER)

    def _column_text(self, name: str) -> str:
        kind = self._scope.columns[name].value
        keys = self._table.public_keys.get(name)
        derived = self._scope.view.derived.get(name)
        return f"{kind}{f' = {derived}' if derived else ''}{f', one of {value_text(list(keys))}' if keys else ''}"

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()

    def __repr__(self) -> str:
        rows = f" where {text}" if (text := self._scope.condition_text()) else ""
        return f"{type(self).__name__}({shown(self.name)}{rows}: {len(self._scope.columns)} columns, left {self.remaining})"
