"""`dp.regression("income ~ age + C(region)", table)`: a regression by a formula, one question, no ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpstats.curator.desk import Desk
from dpstats.curator.formulas import ask_formula, priced_formula
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.formulas.declared import declared_levels
from dpstats.engines.formulas.design import read_design
from dpstats.engines.stores.opening import check_stored, open_store
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import AUTO, INTERVAL
from dpstats.foundations.results import NoReply, Release


def regression(
    formula: str,
    data: Any,
    *,
    model: str = "linear",
    epsilon: Any = None,
    delta: Any = 0,
    levels: Mapping[str, Any] | None = None,
    neighbors: object = Neighbors.ADD_REMOVE,
    method: str = AUTO,
    interval: Any = INTERVAL,
    unit: str = "row",
    types: Mapping[str, str] | None = None,
    rng: RandomSource | None = None,
    **parameters: Any,
) -> Release | NoReply:
    """A regression by a formula: the outcome, a ~, and features: "income ~ age + log(hours) + C(region) + age:hours".

    Parameters
      formula    a + b adds features, a:b multiplies two, a*b is a + b + a:b, (a + b)**2 all of them by pairs, - 1 leaves the
                 intercept out, . is all other columns of numbers. A feature is a column, an expression of one row such as
                 log(age), I(age ** 2), I(age > 65), or a category: C(year), or a column of texts or of True and False. Nothing in
                 it is run by Python
      data       a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      model      "linear", "quantile", "logistic" or "poisson"; what it takes by itself goes by name, such as quantile=0.9
      epsilon    the privacy that the answer spends; required, for example 0.5
      delta      for methods that need it, and for levels that are found privately, for example 1e-6
      levels     the labels of categories, where they are public: {"region": ["north", "south"]}, or in the formula
                 C(region, levels=["north", "south"]). The first one is the reference. Rows with another label are left out. Of a
                 column of True and False, and of a polars Enum, they are known. Left out, they are found privately: that needs
                 delta and a tenth of epsilon, and finds labels of many rows only, in their order
      neighbors  "add_remove" (one row more or less, the default) or "change_one" (the number of rows is public)
      method     the method of the model by name
      interval   the confidence level of intervals, or None for none
      unit       what one row stands for, in words, for the card
      types      declares columns of text or of no type: {"income": "number"}
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise

    Returns a RegressionFit with intercept, coef, names, predict and summary, in a Release, or a NoReply at the same cost.
    What several calls cost adds up, and nothing here keeps count.
    """
    if isinstance(data, Session):
        raise DataTypeError("a protected table keeps count and answers by itself: table.regression(formula, epsilon=...).")
    source = source_or_system(rng)
    store, schema = open_store(data, types)
    scope = Scope(schema, TableView(schema))
    check_stored(store)
    design = read_design(formula, schema, levels=levels, known_levels=declared_levels(data))
    common = {
        "epsilon": epsilon,
        "delta": delta,
        "method": method,
        "interval": interval,
        "neighbors": neighbors,
        "unit": unit,
    }
    return ask_formula(Desk(store, schema), scope, priced_formula(design, model, common, parameters), source)
