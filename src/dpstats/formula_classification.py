"""`dp.classification("works ~ age + C(region)", table)`: a classifier by a formula, one question, no ledger."""

from __future__ import annotations

from dpstats.curator.classifier_words import TableClassifierWords
from dpstats.curator.desk import Desk
from dpstats.curator.formula_classifiers import classifier_call
from dpstats.curator.scope import Scope
from dpstats.curator.session import Session
from dpstats.engines.formulas.design import declared_levels
from dpstats.engines.stores.opening import check_stored, open_store
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.randomness import source_or_system
from dpstats.foundations.registry import ask
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.words import taking
from dpstats.statistics.classification.model import AdditiveModel
from dpstats.statistics.classification.tree import DecisionTreeModel


@taking(TableClassifierWords)
def classification(asked: TableClassifierWords) -> Release[AdditiveModel | DecisionTreeModel] | NoReply:
    """A classifier by a formula: the outcome, a ~, and features: "works ~ age + log(income) + C(region)".

    Parameters
      formula    features are added up: columns, expressions of one row such as log(age) or I(age > 65), and categories, which
                 are columns of texts, or C(year); . is all other columns of numbers. The outcome is a column of labels, or a
                 condition: I(hours >= 35) ~ age. Products of features and - 1 are errors. Nothing in it is run by Python
      data       a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes
      model      "additive" (the default), "naive_bayes" or "tree"
      classes    the labels of the outcome, where they are public: ["no", "yes"]; without it as for dpstats.additive_classifier
      levels     the labels of categories, where they are public: {"region": ["north", "south"]}, or in the formula
                 C(region, levels=["north", "south"]); other labels count as one. Left out, they are found privately: that needs
                 delta. Those of numbers, C(year), must be listed
      epsilon    the privacy that the answer spends; required, for example 1
      delta      worth having, and needed where labels are found privately, for example 1e-6
      method     the method of the model by name
      interval   takes no effect: classifiers have no intervals
      rough      True takes a rough model, marked as such, where rows times epsilon are too few for a good one
      rng        dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise
      neighbors  "add_remove" (one row more or less, the default) or "change_one" (the number of rows is public)
      unit       what one row stands for, in words, for the card
      types      declares columns of text or of no type: {"income": "number"}

    Returns a model with predict and predict_proba, which take the columns of the formula, in a Release, or a NoReply at the same
    cost. What several calls cost adds up, and nothing here keeps count.
    """
    if isinstance(asked.data, Session):
        raise DataTypeError("a protected table keeps count and answers by itself: table.classification(formula, epsilon=...).")
    source = source_or_system(asked.rng)
    store, schema = open_store(asked.data, asked.types)
    check_stored(store)
    desk = Desk(store, schema, public_keys=declared_levels(asked.data))
    call = classifier_call(asked, Scope(schema, TableView(schema)), desk.public_keys)
    question = ask(call.statistic.name, column=call.columns, **call.parameters, **asked.common())
    priced = desk.price(call.scope, call.scope.settled(question, desk.public_keys), source)
    reply: Release[AdditiveModel | DecisionTreeModel] | NoReply = desk.answer(priced.finished_by(call.attached))
    return reply
