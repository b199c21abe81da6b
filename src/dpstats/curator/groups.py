"""Grouped questions: one question in every group of rows, at the cost of one.

Claim      (epsilon, delta)-DP for the unit, for all groups together
Neighbors  ADD_REMOVE or CHANGE_ONE of a unit
Why        A row lies in one group, so a row-level claim that holds in each group holds for all of them
           (accounting/groups.proof.md); the unit pays for its rows, in whichever groups they are. Where keys are chosen
           privately, the choice and the answers follow each other on the same rows, and their prices add up to the stated one
Source     McSherry 2009 (parallel composition); keys: mechanisms/thresholding.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpstats.curator.asker import Asker
from dpstats.curator.classifier_words import ClassifierWords
from dpstats.curator.desk import Desk, Priced, Request, RowsOf, of_units
from dpstats.curator.documents.asking import grouped_words, price_by_document, record_question, refuse_scope
from dpstats.curator.documents.document import REGRESSION
from dpstats.curator.documents.reading import read_document
from dpstats.curator.formula_words import FormulaWords
from dpstats.curator.formulas import design_on, fixed_words, priced_formula, statistic_of, with_design
from dpstats.curator.group_keys import Key, listed_keys
from dpstats.curator.scope import Scope
from dpstats.curator.statistic_methods import GroupMethods
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions.language import ColumnReference
from dpstats.engines.groups.answers import GroupKeys, answer_groups, count_keys
from dpstats.engines.stores.filtering import filter_there
from dpstats.engines.tables.groups import answer_group_tables
from dpstats.engines.tables.table import KeyedStore, StoreCodes
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.keys import in_key_order
from dpstats.foundations.privacy import spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, branches
from dpstats.foundations.registry import Answer, Outcome, Question, Statistic, may_spend_delta, outcome_of
from dpstats.foundations.results import NoReply, value_text
from dpstats.foundations.summaries import CodedTable, Column, Table
from dpstats.foundations.words import method_taking
from dpstats.mechanisms.thresholding import choose_keys, rows_for
from dpstats.statistics.classification.model import AdditiveModel
from dpstats.statistics.classification.tree import DecisionTreeModel
from dpstats.statistics.counts import count_interval
from dpstats.statistics.regression.fit import RegressionFit

KEYS_SHARE = Fraction(1, 4)
"""The part of epsilon that a private choice of keys gets; the answers get the rest."""
COUNTED_CLAIM = "(epsilon, delta)-DP: counts with whole-number Laplace noise, shown from a threshold on"


class Groups(Asker, GroupMethods):
    """A protected table in groups. Made by `Session.group_by`."""

    def __init__(self, table: Desk, scope: Scope, columns: Sequence[Any], keys: Any) -> None:
        if len(columns) == 1 and isinstance(columns[0], (list, tuple)):
            columns = columns[0]
        if not columns:
            raise MissingParameterError("group_by needs a column: for example group_by('region').")
        self._table = table
        self._scope = scope
        self._kinds = tuple(_key_kind(scope.kind_of(name)) for name in columns)
        self._by = tuple(columns)
        if len(set(self._by)) < len(self._by):
            raise InvalidParameterError("group_by takes each column once.")
        self._keys = listed_keys(scope, columns, keys, table.public_keys)

    def _price(
        self, statistic: Statistic, columns: tuple[str, ...], positional: tuple[object, ...], keywords: Mapping[str, Any]
    ) -> Priced:
        source = self._table.source_of_noise(keywords["rng"])
        asked = {name: value for name, value in keywords.items() if name != "rng"}
        if statistic.takes_tables and not columns:
            raise MissingParameterError(f"in groups {statistic.name} needs its columns: for example ['age', 'income'].")
        spends_delta = self._keys is not None or may_spend_delta(statistic.name, positional, asked)
        delta = self._checked_delta(asked["delta"])
        scope, columns = self._scope.with_conditions(statistic, columns)
        question = self._table.asked(scope, statistic, columns, positional, asked if spends_delta else {**asked, "delta": 0})
        return self._priced(question, scope, self._table.text_of(scope, question, self._by), delta, source)

    @method_taking(FormulaWords)
    def regression(self, asked: FormulaWords) -> GroupedRelease[RegressionFit] | NoReply:
        """A regression by a formula in every group: regression("income ~ age + log(hours)", epsilon=0.5).

        The levels of its categories must be known: declared keys, or `levels`. See Session.regression.
        """
        replies: GroupedRelease[RegressionFit] | NoReply = self._table.answer(self._price_regression(asked))
        return replies

    def _price_regression(self, asked: FormulaWords) -> Priced:
        source, spent = self._table.source_of_noise(asked.rng), self._checked_delta(asked.delta)
        design = design_on(self._table, self._scope, asked.formula, asked.levels)
        if design.unknown:
            raise MissingParameterError(
                f"in groups the levels of {shown(design.unknown[0].key)} must be known: list them, "
                f"levels={{{design.unknown[0].key!r}: [...]}}."
            )
        of_model = {**asked.own(), "method": asked.method}
        spends_delta = self._keys is not None or may_spend_delta(statistic_of(asked.model).name, (), of_model)
        common = {**asked.common(), **fixed_words(self._table), **({} if spends_delta else {"delta": 0})}
        formula = priced_formula(design, asked.model, common, asked.own())
        scope = replace(self._scope, view=design.on(self._scope.view))
        priced = self._priced(formula.question, scope, self._table.text_of(scope, formula.text, self._by), spent, source)
        document = self._recorded(REGRESSION, (asked.formula,), asked.named())
        return replace(priced, document=document).finished_by(lambda reply: with_design(reply, design, self._scope.view))

    @method_taking(ClassifierWords)
    def classification(self, asked: ClassifierWords) -> GroupedRelease[AdditiveModel | DecisionTreeModel] | NoReply:
        """A classifier by a formula in every group. See Session.classification."""
        replies: GroupedRelease[AdditiveModel | DecisionTreeModel] | NoReply = self._table.answer(
            self._price_classification(asked)
        )
        return replies

    def ask(self, document: object, *, rng: Any = None) -> Any:
        """The answer in every group to a question that is written as a document, without groups of its own. See Session.ask."""
        asked = read_document(document)
        refuse_scope(asked)
        return self._table.answer(price_by_document(self, self._scope, asked, rng))

    def document(self, statistic: str, *given: object, **keywords: Any) -> dict[str, Any]:
        """A question in every group as a document, which the session of the whole table answers. See Session.document."""
        declared = listed_keys(self._scope, self._by, None, self._table.public_keys)
        grouped = grouped_words(self._by, None if self._keys == declared else self._keys)
        return record_question(self._scope, grouped, statistic, given, keywords)

    def _checked_delta(self, given: object) -> Fraction:
        """The delta that is spent; an error where there is none for a private choice of keys."""
        delta = spendable_delta(given)
        if self._keys is None and not delta:
            raise MissingParameterError(
                f"the groups of {', '.join(self._by)} are chosen privately, which needs delta: for example delta=1e-7. "
                "If the groups are public, name them: group_by(..., keys=[...])."
            )
        return delta

    def _priced(self, question: Question, scope: Scope, text: str, delta: Fraction, source: RandomSource) -> Priced:
        """A question in every group with its price; `delta` is what a private choice of keys spends beside it."""
        cost = question.cost if self._keys is not None else replace(question.cost, delta=delta)
        keys = None if self._keys is None else [list(key) for key in in_key_order(self._keys)]
        columns = (*question.columns, *self._by)
        canonical = {**scope.to_dict(*columns), "by": list(self._by), "keys": keys}
        self._table.check_elements(scope, question, question.columns)
        keys_read = [ColumnReference(name, kind) for name, kind in zip(self._by, self._kinds, strict=True)]
        self._table.check_expressions(scope, [*keys_read, *scope.nodes_behind(columns)])
        request = Request(question, text, canonical, cost, scope.former_dict(*columns))
        row_question = self._table.protection.row_question(replace(question, cost=cost), narrowed=True, grouped=True)
        if self._keys is None:
            spendable_epsilon(row_question.epsilon * KEYS_SHARE)

        def compute() -> GroupedRelease:
            return _Answering(self._table, scope, self._by, self._kinds, request, source).answer(row_question, self._keys)

        return Priced(request, compute, source, self._table.as_given)

    def __repr__(self) -> str:
        keys = "keys chosen privately" if self._keys is None else f"{len(self._keys):,} public keys"
        return f"Groups({self._table.name} by {', '.join(self._by)}: {keys})"


@dataclass(frozen=True)
class _Answering:
    """One grouped question after its debit."""

    table: Desk
    scope: Scope
    by: tuple[str, ...]
    kinds: tuple[ColumnType, ...]
    request: Request
    source: RandomSource

    def answer(self, question: Question, keys: Sequence[Key] | None) -> GroupedRelease:
        """Answer in every group, after choosing keys that are not public; `question` has the price of a row for all of it."""
        if keys is not None:
            words = f"{len(keys):,} public keys; a row is in one group, so all of them cost what one does"
            return self._grouped(self._outcomes(question, in_key_order(keys)), question, ("groups", words))
        raw_counts = count_keys(*filter_there(self.table.store, self.scope.view), self.by, self.kinds)
        if question.statistic.only_counts and not question.columns:  # the choice itself has counted
            noisy_counts = choose_keys(raw_counts, question.epsilon, question.delta, self.source)
            counted = replace(question, method=replace(question.method, claim=COUNTED_CLAIM), why="")
            outcomes = {key: _counted(question, noisy_count) for key, noisy_count in noisy_counts.items()}
            return self._grouped(outcomes, counted, ("groups", _choice(question.epsilon, question.delta)))
        epsilon = question.epsilon * KEYS_SHARE
        delta = question.delta / 2 if question.method.needs_delta else question.delta
        keys = list(choose_keys(raw_counts, epsilon, delta, self.source))
        question = replace(question, cost=question.cost - replace(question.cost, epsilon=epsilon, delta=delta))
        price = f"{KEYS_SHARE} of epsilon and {'half' if question.method.needs_delta else 'all'} of delta went into the choice"
        return self._grouped(self._outcomes(question, keys), question, ("groups", f"{_choice(epsilon, delta)}; {price}"))

    def _outcomes(self, question: Question, keys: Sequence[Key]) -> dict[Key, Outcome]:
        """One outcome for each key, each from its own group's rows."""
        sources = dict(zip(keys, branches(self.source, len(keys)), strict=True))
        group_keys = GroupKeys(self.by, self.kinds, tuple(keys))
        store, view = filter_there(self.table.store, self.scope.view_for(question))
        columns = question.columns
        numeric = self.scope.reads_numbers(question, columns) if columns else ()

        def answer(key: Key, opened: Column | Table | CodedTable) -> Outcome:
            units = self.table.protection.units(question, self.table.schema, grouped=True)
            return outcome_of(lambda: question.run(of_units(opened, units), sources[key]), sources[key])

        if question.statistic.reads_codes:
            numbers = {key: number for number, key in enumerate(group_keys.keys)}
            stores = {key: KeyedStore(store, view, group_keys, numbers[key]) for key in keys}
            return {key: answer(key, StoreCodes(stores[key], view, columns, numeric)) for key in keys}
        if len(columns) > 1 or question.statistic.takes_features:
            return answer_group_tables(store, view, group_keys, columns, numeric, answer)
        if columns:
            return answer_groups(store, view, group_keys, columns[0], numeric[0], answer)
        any_column = next(iter(self.table.schema))
        return answer_groups(store, view, group_keys, any_column, False, lambda key, opened: answer(key, RowsOf(opened)))

    def _grouped(self, outcomes: Mapping[Key, Outcome], question: Question, note: tuple[str, str]) -> GroupedRelease:
        named = {}
        for key, outcome in outcomes.items():
            labels = tuple(
                bool(label) if kind is ColumnType.BOOLEAN else label for label, kind in zip(key, self.kinds, strict=True)
            )
            request = replace(self.request, text=f"{self.request.text}: {value_text(list(labels))}")
            shown_key = labels[0] if len(labels) == 1 else labels
            named[shown_key] = request.reply(outcome, question, self.table.protection, self.source)
        return GroupedRelease(self.request.text, self.by, named, self.request.cost, (note,), self.source.private)


def _counted(question: Question, noisy_count: int) -> Answer:
    """What the choice of keys has counted."""
    covers = "the noise; a group near the threshold is shown only when its noise is large"
    return Answer(noisy_count, count_interval(noisy_count, question, covers))


def _choice(epsilon: Fraction, delta: Fraction) -> str:
    return f"chosen privately: a group of {rows_for(epsilon, delta):,} rows is shown with probability 0.95 or more"


def _key_kind(kind: ColumnType) -> ColumnType:
    """How a key column is read: an undeclared one as text."""
    if kind is ColumnType.OTHER:
        raise InvalidParameterError("group_by cannot read a column of a nested or binary type.")
    return ColumnType.TEXT if kind is ColumnType.UNDECLARED else kind
