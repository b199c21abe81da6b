"""Private statistics that need no bounds: ask, and get an answer with its cost, or an honest "no reply".

>>> import dpstats as dp
>>> release = dp.median([12.5, 13.0, 14.5] * 100, epsilon=1)
>>> release.cost
PrivacyCost(epsilon=1, delta=0, neighbors='add_remove', unit='row')

`dir(dpstats)` lists the statistics; `help(dpstats.median)` explains one. `dpstats.protect` puts a table behind a ledger that
keeps count; `dpstats.connect` asks about tables that others hold; `dpstats.plan` says what to expect of a question before
anything is spent.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dpstats.foundations.version import __version__

if TYPE_CHECKING:
    from dpstats import accounting, functions, graphs, mechanisms, models, testing
    from dpstats.accounting.budgets import Budget
    from dpstats.block_functions import sample_and_aggregate
    from dpstats.client.curators import connect
    from dpstats.curator.catalog.catalog import open_catalog
    from dpstats.curator.documents.schema import question_schema
    from dpstats.curator.ledger.ledger import open_ledger
    from dpstats.curator.planning.plan import plan
    from dpstats.curator.protect import protect
    from dpstats.curator.publishing.publication import publish
    from dpstats.curator.publishing.verification import verify_publication
    from dpstats.formula_classification import classification
    from dpstats.formula_regression import regression
    from dpstats.foundations.errors import (
        AccessError,
        BudgetError,
        DataFileError,
        DataTypeError,
        DpstatsError,
        InvalidParameterError,
        LedgerError,
        MissingExtraError,
        MissingParameterError,
        NoReplyError,
        ServiceError,
        SpentError,
        UnknownNameError,
    )
    from dpstats.foundations.grouped import GroupedRelease
    from dpstats.foundations.privacy import Neighbors, PrivacyCost
    from dpstats.foundations.results import NoReply, Release
    from dpstats.functions import *  # noqa: F403  (the statistics, with their types)
    from dpstats.functions import select_model
    from dpstats.selecting import a_samp, aggregate_choices
    from dpstats.statistics.likelihood.user_model import LikelihoodModel

__all__ = [
    "AccessError",
    "Budget",
    "BudgetError",
    "DataFileError",
    "DataTypeError",
    "DpstatsError",
    "GroupedRelease",
    "InvalidParameterError",
    "LedgerError",
    "LikelihoodModel",
    "MissingExtraError",
    "MissingParameterError",
    "Neighbors",
    "NoReply",
    "NoReplyError",
    "PrivacyCost",
    "Release",
    "ServiceError",
    "SpentError",
    "UnknownNameError",
    "__version__",
    "a_samp",
    "accounting",
    "aggregate_choices",
    "classification",
    "connect",
    "graphs",
    "mechanisms",
    "models",
    "open_catalog",
    "open_ledger",
    "plan",
    "protect",
    "publish",
    "question_schema",
    "regression",
    "sample_and_aggregate",
    "select_model",
    "testing",
    "verify_publication",
]

_HOMES = {
    "accounting.budgets": ["Budget"],
    "block_functions": ["sample_and_aggregate"],
    "client.curators": ["connect"],
    "curator.catalog.catalog": ["open_catalog"],
    "curator.documents.schema": ["question_schema"],
    "curator.ledger.ledger": ["open_ledger"],
    "curator.planning.plan": ["plan"],
    "curator.protect": ["protect"],
    "curator.publishing.publication": ["publish"],
    "curator.publishing.verification": ["verify_publication"],
    "formula_classification": ["classification"],
    "formula_regression": ["regression"],
    "foundations.errors": [name for name in __all__ if name.endswith("Error")],
    "foundations.grouped": ["GroupedRelease"],
    "foundations.privacy": ["Neighbors", "PrivacyCost"],
    "foundations.results": ["NoReply", "Release"],
    "selecting": ["a_samp", "aggregate_choices", "select_model"],
    "statistics.likelihood.user_model": ["LikelihoodModel"],
}
_ON_FIRST_USE = {name: f"dpstats.{home}" for home, names in _HOMES.items() for name in names}
_ROOMS = ("accounting", "graphs", "mechanisms", "models", "testing")

if TYPE_CHECKING:
    __all__ += functions.__all__
else:

    def __getattr__(name: str) -> object:
        """A name from its home, which is loaded when it is first used; or a statistic, as a function of an array."""
        if name in _ROOMS:
            return import_module(f"dpstats.{name}")
        if name in _ON_FIRST_USE:
            return globals().setdefault(name, getattr(import_module(_ON_FIRST_USE[name]), name))
        if name.startswith("_") or name not in _statistics():
            from dpstats.foundations.registry import OTHER_NAMES
            from dpstats.foundations.words import likely_name

            near = None if name.startswith("_") else likely_name(name, __dir__(), OTHER_NAMES)
            hint = f"did you mean {near}?" if near else "dir(dpstats) lists what there is."
            raise AttributeError(f"dpstats has no {name!r}; {hint}")
        return globals().setdefault(name, getattr(import_module("dpstats.functions"), name))


def __dir__() -> list[str]:
    return sorted({*__all__, *_statistics()})


def _statistics() -> list[str]:
    import dpstats.statistics  # noqa: F401  (announces them to the registry)
    from dpstats.foundations.registry import statistic_names

    return statistic_names()
