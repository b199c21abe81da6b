"""`dp.regression("income ~ age + C(region)", table)`: a regression by a formula, one question, no ledger."""

from __future__ import annotations

from dpstats.curator.desk import Desk
from dpstats.curator.formula_words import TableFormulaWords
from dpstats.curator.formulas import price_formula, priced_formula
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.formulas.design import declared_levels, read_design
from dpstats.engines.stores.opening import check_stored, open_store
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.randomness import source_or_system
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.words import taking
from dpstats.statistics.regression.fit import RegressionFit


@taking(TableFormulaWords)
def regression(asked: TableFormulaWords) -> Release[RegressionFit] | NoReply:
    """A regression by a formula: the outcome, a ~, and features: "income ~ age + log(hours) + C(region) + age:hours".

    Parameters
      formula    a + b adds features, a:b multiplies two, a*b is a + b + a:b, (a + b)**2 all of them by pairs, - 1 leaves the
                 intercept out, . is all other columns of numbers. A feature is a column, an expression of one row such as
                 log(age), I(age ** 2), I(age > 65), or a category: C(year), or a column of texts or of True and False. Nothing in
                 it is run by Python
      data       a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      model      "linear", "quantile", "logistic" or "poisson"
      levels     the labels of categories, where they are public: {"region": ["north", "south"]}, or in the formula
                 C(region, levels=["north", "south"]). The first one is the reference. Rows with another label are left out. Of a
                 column of True and False, and of a polars Enum, they are known. Left out, they are found privately: that needs
                 delta and a tenth of epsilon, and finds labels of many rows only, in their order
      quantile   of model="quantile": which one, such as 0.9; left out: the median
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, and for levels that are found privately, for example 1e-6
      method     the method of the model by name
      interval   the confidence level of intervals, or None for none
      rough      True takes a rough fit, marked as such, where rows times epsilon are too few for a good one
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise
      neighbors  "add_remove" (one row more or less, the default) or "change_one" (the number of rows is public)
      unit       what one row stands for, in words, for the card
      types      declares columns of text or of no type: {"income": "number"}

    Returns a RegressionFit with intercept, coef, names, predict and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """
    if isinstance(asked.data, Session):
        raise DataTypeError("a protected table keeps count and answers by itself: table.regression(formula, epsilon=...).")
    source = source_or_system(asked.rng)
    store, schema = open_store(asked.data, asked.types)
    check_stored(store)
    design = read_design(asked.formula, schema, levels=asked.levels, known_levels=declared_levels(asked.data))
    question = priced_formula(design, asked.model, asked.common(), asked.own())
    desk = Desk(store, schema)
    reply: Release[RegressionFit] | NoReply = desk.answer(price_formula(desk, Scope(schema, TableView(schema)), question, source))
    return reply
