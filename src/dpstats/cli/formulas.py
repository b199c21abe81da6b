"""Formulas on the command line: `regression('income ~ age + C(region)', model=quantile, quantile=0.9)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpstats.cli.pricing import Offer, refuse_words_of_the_call
from dpstats.cli.questions import ParsedQuestion
from dpstats.curator.formulas import FormulaQuestion, priced_formula, statistic_of
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import shown
from dpstats.engines.expressions.language import columns_of
from dpstats.engines.files import open_table
from dpstats.engines.formulas.design import Design, read_design
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.store import Store
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, INTERVAL, may_spend_delta, must_spend_delta
from dpstats.foundations.results import NoReply, Release

LEVELS_DELTA = Fraction(1, 10**9)
"""Spent, and said so, where levels are not listed and no delta is given; as for the labels of a histogram."""


@dataclass(frozen=True)
class FormulaTable:
    """A file as formulas read it; names and types are read as it is opened, rows are not."""

    file: str
    types: Mapping[str, str]
    store: Store
    schema: Mapping[str, ColumnType]

    @classmethod
    def open(cls, file: str, types: Mapping[str, str]) -> FormulaTable:
        """The table in a file, with the same complaints about it as for other questions."""
        open_table(file, types)
        return cls(file, types, *open_store(file, types))

    def offer(self, question: ParsedQuestion, neighbors: object, unit: str) -> Offer[AskedFormula]:
        """A question about a formula, checked but for its price."""
        refuse_words_of_the_call(question)
        if not isinstance(question.column, str) or question.positional:
            raise InvalidParameterError(
                f"{question.statistic} takes a formula and then words such as model=quantile: "
                f"{question.statistic}('income ~ age + C(region)', model=quantile, quantile=0.9)."
            )
        own = {word: value for word, value in question.keywords.items() if word not in ("epsilon", "delta")}
        model, levels = own.pop("model", "linear"), own.pop("levels", None)
        design = read_design(question.column, self.schema, levels=levels)  # type: ignore[arg-type]  # it checks them
        statistic, finds_levels = statistic_of(model).name, bool(design.unknown)
        may_spend, must_spend = may_spend_delta(statistic, (), own), must_spend_delta(statistic, (), own)
        asked = {"method": AUTO, "interval": INTERVAL, "neighbors": neighbors, "unit": unit}
        asked |= {word: own.pop(word) for word in ("method", "interval") if word in own}

        def at(epsilon: Fraction, delta: Fraction) -> AskedFormula:
            formula = priced_formula(design, model, {**asked, "epsilon": epsilon, "delta": delta}, own)
            formula.check(formula.question)
            return AskedFormula(self, formula)

        usual = LEVELS_DELTA if finds_levels and not must_spend else None
        return Offer(question, may_spend or finds_levels, must_spend or finds_levels, usual, at)

    def check_numbers(self, design: Design) -> None:
        """Raise where a column that is read as numbers, and has no declared type, holds none by what most of its cells are."""
        nodes = [design.outcome.node, *(each.node for each in design.factors.values())]
        names = dict.fromkeys(column.name for node in nodes for column in columns_of(node) if column.type.is_numeric)
        table = open_table(self.file, self.types)
        for name in names:
            if self.schema[name] is ColumnType.UNDECLARED:
                try:
                    table.column(name, numeric=True)
                except DataTypeError:
                    raise DataTypeError(
                        f"column {shown(name)} holds no numbers, as most of its cells are none: write C({shown(name)}) in the "
                        f"formula for its labels, or declare its type: --types {shown(name)}=text."
                    ) from None


@dataclass(frozen=True)
class AskedFormula:
    """A formula at its price, and the table that it is asked of."""

    table: FormulaTable
    formula: FormulaQuestion

    @property
    def cost(self) -> PrivacyCost:
        """What all of it costs."""
        return self.formula.question.cost

    def check_columns(self) -> None:
        """Raise where a column does not fit the formula."""
        self.table.check_numbers(self.formula.design)

    def answer(self, source: RandomSource) -> Release | NoReply:
        """Read the rows and reply."""
        return self.formula.answer_by_itself(self.table.store, self.table.schema, source)

    @property
    def usual_delta(self) -> Fraction | None:
        """What is spent where no delta is given; None where none is needed."""
        return LEVELS_DELTA if self.formula.design.unknown else None

    def with_levels(self) -> str:
        """How levels that were not listed are listed, for the first category that has some; empty where there is none."""
        unknown = self.formula.design.unknown
        return f"C({shown(unknown[0].key)}, levels=['...', '...'])" if unknown else ""
