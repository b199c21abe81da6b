"""Questions about formulas: a regression on the columns that a formula makes of each row.

Claim      (epsilon, delta)-DP for the unit, for the levels that are chosen and the fit together
Neighbors  ADD_REMOVE or CHANGE_ONE of a unit
Why        A design's columns are functions of one row (engines/formulas), so that the regression's own claim holds for them.
           Where levels are chosen privately, the choice and the fit follow each other on the same rows, and their prices add up
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.archive import Result
from dpstats.curator.chosen_levels import choose_levels, split_price
from dpstats.curator.desk import Desk, Priced, Request
from dpstats.curator.scope import Scope
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions.language import Node, columns_of
from dpstats.engines.formulas.design import Design, read_design
from dpstats.engines.formulas.factors import NumberFactor
from dpstats.engines.formulas.new_rows import design_rows
from dpstats.engines.stores.filtering import filter_there
from dpstats.engines.stores.store import Store
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.arguments import check_features
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import spendable_delta
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import PURE_LOSS, Outcome, Question, Refusal, Statistic, ask, find_statistic, may_spend_delta
from dpstats.foundations.results import NoReply, Release
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.step_regressions import MOST_FEATURES

MODELS = {kind: f"{kind}_regression" for kind in ("linear", "quantile", "logistic", "poisson")}
"""What a formula can be fitted by, and the statistic behind it."""
TOO_FEW = Refusal(
    "Too few rows share a label of a category.",
    "The cost is spent; where the labels are public, list them: levels={'region': ['north', 'south']}.",
)
_LEFT_OUT = "rows with another label are left out"


@dataclass(frozen=True)
class FormulaQuestion:
    """A checked and priced question about a formula; nothing in it comes from data."""

    design: Design
    question: Question
    """At the price of all of it."""
    text: str
    """The question with its formula, for people."""

    def check(self, row_question: Question) -> None:
        """Raise where the price of a row leaves too little for the choice of levels."""
        if self.design.unknown:
            split_price(row_question, len(self.design.unknown))

    def run(self, store: Store, view: TableView, row_question: Question, source: RandomSource) -> Outcome:
        """Choose the levels that are not known, and fit; `row_question` has the price of a row for all of it."""
        design, question = self.design, row_question
        notes = []
        if design.unknown:
            price, question = split_price(row_question, len(design.unknown))
            chosen = choose_levels(store, view, design, price, MOST_FEATURES, source)
            if chosen is None:
                return TOO_FEW
            notes, design = [("choice of levels", price.describe(row_question))], chosen
        names, table_view = design.columns, design.on(view)
        table = StoreTable(*filter_there(store, table_view), names, [True] * len(names))
        outcome = replace(question, columns=names).run(table, source)
        if isinstance(outcome, Refusal):
            return replace(outcome, advice=f"{outcome.advice}{_on_undeclared(design, view)}")
        if design.categories:
            notes.insert(0, ("levels", f"{design.describe_levels()}; {_LEFT_OUT}"))
        claim = f"{question.method.claim}; with the choice of levels, (epsilon, delta)-DP in all" if self.design.unknown else ""
        value = attach_design(outcome.value, design, view)
        return replace(outcome, value=value, claim=claim, notes=(*outcome.notes, *notes))


def _on_undeclared(design: Design, view: TableView) -> str:
    """Advice where the formula reads columns as numbers that declare no type: they may hold labels."""
    numbers = [each.node for each in (design.outcome, *design.factors.values()) if isinstance(each, NumberFactor)]
    read = dict.fromkeys(column.name for node in numbers for column in columns_of(node))
    undeclared = [name for name in read if view.schema.get(name) is ColumnType.UNDECLARED]
    if not undeclared:
        return ""
    named = ", ".join(map(shown, undeclared))
    return f" No type is declared for {named}, read as numbers: for labels, declare text, or write C(...) in the formula."


def statistic_of(model: object) -> Statistic:
    """The statistic behind a model."""
    if not isinstance(model, str) or model not in MODELS:
        raise UnknownNameError(f"model must be one of {', '.join(map(repr, MODELS))}.")
    return find_statistic(MODELS[model])


def priced_formula(design: Design, model: object, common: Mapping[str, Any], parameters: Mapping[str, Any]) -> FormulaQuestion:
    """A formula at its price; every complaint about the question is raised here.

    `common` has epsilon, delta, method, interval, neighbors and unit; `parameters` are the model's own.
    """
    statistic = statistic_of(model)
    if "intercept" in parameters:
        raise InvalidParameterError("a formula says itself whether it has an intercept: write - 1 in it for none.")
    for category in design.categories:
        if category.levels is not None and len(category.levels) < 2:
            raise InvalidParameterError(
                f"the category {shown(category.key)} has one level, and nothing to compare it with: list two levels or more, or "
                "ask about those rows alone."
            )
    own = dict(parameters) if design.formula.intercept else {**parameters, "intercept": False}
    if not design.unknown:
        if not design.features:
            raise InvalidParameterError("the formula has no features: a category needs two levels or more.")
        check_features(statistic, design.columns, MOST_FEATURES)
        question = ask(statistic.name, column=design.columns, **common, **own)
        return FormulaQuestion(design, question, _text(question, design))
    if len(design.formula.terms) > MOST_FEATURES:
        raise InvalidParameterError(f"a formula may have {MOST_FEATURES} terms at most.")
    delta = spendable_delta(common["delta"])
    if not delta:
        names = ", ".join(shown(each.key) for each in design.unknown)
        raise MissingParameterError(
            f"the levels of {names} are not known. List them if they are public: levels={{{design.unknown[0].key!r}: [...]}}; "
            "or have them chosen privately, which needs delta: for example delta=1e-7."
        )
    asked = dict(common) if may_spend_delta(statistic.name, (), {**own, "method": common["method"]}) else {**common, "delta": 0}
    terms = [":".join(factor.text for factor in term) for term in design.formula.terms]
    question = ask(statistic.name, column=[*terms, design.outcome.name], **asked, **own)
    if question.method.check is not None:  # how many features there are is found with the levels
        raise MissingParameterError(
            f"{statistic.name} by method {question.method.name!r} takes few features, so that the levels must be listed: "
            f"levels={{{design.unknown[0].key!r}: [...]}}."
        )
    cost = replace(question.cost, delta=delta)
    method = replace(question.method, loss=PURE_LOSS)  # the choice of levels is beside it
    return FormulaQuestion(design, replace(question, cost=cost, method=method), _text(question, design))


def price_formula(desk: Desk, scope: Scope, asked: FormulaQuestion, source: RandomSource) -> Priced:
    """A formula with its price, debited once for all of it, and what computes its fit."""
    design, question = asked.design, asked.question
    canonical, former = _scope_of(design, scope), _former_scope_of(design, scope)
    request = Request(question, desk.text_of(scope, asked.text), canonical, question.cost, former)
    narrowed = scope.is_narrowed or bool(design.unknown)
    row_question = desk.protection.row_question(question, narrowed=narrowed)
    asked.check(row_question)
    check_first_elements(desk, scope, design)

    def compute() -> Release | NoReply:
        return request.reply(asked.run(desk.store, scope.view, row_question, source), row_question, desk.protection, source)

    priced = Priced(request, compute, source)
    return priced if design.unknown else priced.finished_by(lambda reply: with_design(reply, design, scope.view))


def check_first_elements(desk: Desk, scope: Scope, design: Design) -> None:
    """Raise where a column of a formula that declares no type begins with an element that the formula cannot read."""
    desk.check_expressions(scope, [*_nodes_of(design), *scope.nodes_behind(_columns_behind(design))])


def design_on(table: Desk, scope: Scope, formula: object, levels: Mapping[str, Any] | None) -> Design:
    """The design of a formula on a protected table; declared keys are levels, and the unit is no feature."""
    unit = table.protection.unit
    return read_design(formula, scope.columns, levels=levels, known_levels=table.public_keys, left_out=[unit])


def fixed_words(table: Desk) -> dict[str, Any]:
    """What a session has fixed of a price."""
    return {"neighbors": table.protection.neighbors, "unit": table.protection.unit}


def attach_design(value: object, design: Design, view: TableView) -> object:
    """A fit that predicts from the columns of the formula; any other value as it is."""
    if not isinstance(value, RegressionFit):
        return value
    return replace(value, rows_of=design_rows(design.on(view), tuple(design.features)))


def with_design(reply: Result, design: Design, view: TableView) -> Result:
    """A reply from the archive, whose fit has lost its formula, with it; in groups, each of them."""
    if isinstance(reply, GroupedRelease):
        return replace(reply, replies={key: _with_design(each, design, view) for key, each in reply.items()})
    return _with_design(reply, design, view)


def _with_design(reply: Release | NoReply, design: Design, view: TableView) -> Release | NoReply:
    if isinstance(reply, NoReply) or getattr(reply.value, "rows_of", None) is not None:
        return reply
    return replace(reply, value=attach_design(reply.value, design, view))


def _text(question: Question, design: Design) -> str:
    arguments = {name: value for name, value in question.arguments.items() if name != "intercept"} | {"intercept": True}
    return str(replace(question, columns=(shown(" ".join(design.formula.text.split())),), arguments=arguments))


def _scope_of(design: Design, scope: Scope) -> dict[str, object]:
    """The canonical form of all that decides which numbers a formula sees."""
    if not design.unknown:
        return replace(scope, view=design.on(scope.view)).to_dict(*design.columns)
    return {**scope.to_dict(*_columns_behind(design)), "formula": design.to_dict()}


def _former_scope_of(design: Design, scope: Scope) -> dict[str, object]:
    """What earlier releases wrote otherwise of it."""
    if not design.unknown:
        return replace(scope, view=design.on(scope.view)).former_dict(*design.columns)
    return scope.former_dict(*_columns_behind(design))


def _columns_behind(design: Design) -> list[str]:
    return [column.name for node in _nodes_of(design) for column in columns_of(node)]


def _nodes_of(design: Design) -> list[Node]:
    return [design.outcome.node, *(each.node for each in design.factors.values())]
