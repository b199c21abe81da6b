"""Formulas on the command line: `regression('income ~ age + C(region)', model=quantile, quantile=0.9)`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpstats.cli.pricing import Offer, refuse_words_of_the_call
from dpstats.cli.questions import ParsedQuestion
from dpstats.curator.formulas import FormulaQuestion, priced_formula, statistic_of
from dpstats.engines.cells import ColumnType
from dpstats.engines.formulas.design import read_design
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import AUTO, INTERVAL, may_spend_delta, must_spend_delta

LEVELS_DELTA = Fraction(1, 10**9)
"""Spent, and said so, where levels are not listed and no delta is given; as for the labels of a histogram."""


def offer_of_formula(
    question: ParsedQuestion, schema: Mapping[str, ColumnType], neighbors: object, unit: str, rough: bool = False
) -> Offer[FormulaQuestion]:
    """A question about a formula, checked but for its price."""
    refuse_words_of_the_call(question)
    if not isinstance(question.column, str) or question.positional:
        raise InvalidParameterError(
            f"{question.statistic} takes a formula and then words such as model=quantile: "
            f"{question.statistic}('income ~ age + C(region)', model=quantile, quantile=0.9)."
        )
    own = {word: value for word, value in question.keywords.items() if word not in ("epsilon", "delta")}
    model, levels = own.pop("model", "linear"), own.pop("levels", None)
    design = read_design(question.column, schema, levels=levels)  # type: ignore[arg-type]  # it checks them
    statistic, finds_levels = statistic_of(model).name, bool(design.unknown)
    may_spend, must_spend = may_spend_delta(statistic, (), own), must_spend_delta(statistic, (), own)
    asked = {"method": AUTO, "interval": INTERVAL, "rough": rough, "neighbors": neighbors, "unit": unit}
    asked |= {word: own.pop(word) for word in ("method", "interval") if word in own}

    def at(epsilon: Fraction, delta: Fraction) -> FormulaQuestion:
        formula = priced_formula(design, model, {**asked, "epsilon": epsilon, "delta": delta}, own)
        formula.check(formula.question)
        return formula

    usual = LEVELS_DELTA if finds_levels and not must_spend else None
    return Offer(question, may_spend or finds_levels, must_spend or finds_levels, usual, at)
