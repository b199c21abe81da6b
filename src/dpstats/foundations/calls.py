"""How a statistic is called: its signature and its help, as a function of data and as a method on named columns.

The order is the same everywhere: a first parameter, the columns, the statistic's own parameters, and then by name alone what all
statistics take. A method has no `neighbors` and no `unit`, which were fixed when its table was protected.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpstats.foundations.accepted import NeighborsName, Number
from dpstats.foundations.arguments import column_words, split_parameters
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, INTERVAL, REQUIRED, Method, Reads, Statistic
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.summaries import MISSING_POLICY
from dpstats.foundations.text_tables import headed_lines


class Caller(enum.Enum):
    """Where a statistic is called, and what its single column is called there."""

    FUNCTION = "data"
    METHOD = "column"


@dataclass(frozen=True)
class Word:
    """Something that all statistics take by name."""

    name: str
    default: Any
    takes: Any
    help: str
    help_of_method: str | None = None
    """Where the help of a method is another."""
    fixed_by_tables: bool = False


COMMON = (
    Word(
        "epsilon",
        REQUIRED,
        Number,
        "the privacy that the answer spends; required, for example 0.5",
        "the privacy that the answer spends, for the unit that the session protects; required, for example 0.2",
    ),
    Word(
        "delta",
        0,
        Number,
        "for methods that need it, for example 1e-6; with method='auto' it is spent where a method gains by it",
        "for methods and private group keys that need it, for example 1e-7; "
        "with method='auto' it is spent where a method gains by it",
    ),
    Word(
        "neighbors",
        Neighbors.ADD_REMOVE.value,
        NeighborsName,
        "'add_remove' (one row more or less, the default) or 'change_one' (the number of rows is public)",
        fixed_by_tables=True,
    ),
    Word(
        "method", AUTO, str, "the method by name; 'auto' takes the first one listed below, or the one that a given delta serves"
    ),
    Word("interval", INTERVAL, Number | None, "the confidence level of the interval, or None for none"),
    Word("rough", False, bool, "True takes a rough answer, marked as such, where rows times epsilon are too few for a good one"),
    Word("unit", "row", str, "what one row stands for, in words, for the card", fixed_by_tables=True),
    Word(
        "rng",
        None,
        RandomSource | None,
        "dpstats.testing.seeded(7) repeats itself and marks the release NOT PRIVATE; leave it out otherwise",
        "dpstats.testing.seeded(7), on tables that were protected with allow_seeded=True: repeats itself, NOT PRIVATE",
    ),
)
"""In the order in which they are shown."""
FIXED = tuple(word.name for word in COMMON if word.fixed_by_tables)
MORE = "more"
"""The word for further columns."""
OF_TABLES = (
    Word("columns", None, Sequence[str] | None, "the columns that are asked about, by name; left out: all of the table"),
    Word(
        "types",
        None,
        Mapping[str, str] | None,
        "declares columns of text or of no type: {'income': 'number'}",
    ),
)
"""What functions of whole tables take besides."""

DEBITED = "What it costs is debited before a row is read, and is never refunded."
NOT_COUNTED = "What several calls cost adds up, and nothing here keeps count."
_CONTAINERS = "a list, a numpy array, a pandas or polars Series, an arrow array"
_SEVERAL = (
    "a two-dimensional array, a pandas or polars DataFrame, an arrow table, a dict of columns, "
    "a list of rows, a list of arrays or Series, each a column, or one column alone"
)
_KINDS = {
    Reads.NUMBERS: "numbers",
    Reads.LABELS: "values of any type",
    Reads.EITHER: "numbers, or values of any other type",
    Reads.FEATURES: "numbers",
    Reads.COLUMNS: "columns of any types",
}
_TABLES = "a DataFrame, a dict of columns, a Parquet or CSV file, or any other table that dpstats.protect takes"


def common_words(caller: Caller) -> tuple[Word, ...]:
    """What all statistics take by name."""
    return tuple(word for word in COMMON if caller is Caller.FUNCTION or not word.fixed_by_tables)


def signature(statistic: Statistic, caller: Caller, more: Sequence[Word] = ()) -> inspect.Signature:
    """How the statistic is called, with `more` words of its own; the types are in the stubs, where they can be read."""
    either, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    first, others = split_parameters(statistic)
    optional = (statistic.only_counts or statistic.takes_tables) and caller is Caller.METHOD
    further = [inspect.Parameter(MORE, inspect.Parameter.VAR_POSITIONAL)] if statistic.takes_only_columns else []
    if statistic.takes_tables and caller is Caller.FUNCTION:
        columns, *others_of_tables = OF_TABLES
        further, more = [inspect.Parameter(columns.name, either, default=None)], (*others_of_tables, *more)
    own_kind = keyword if statistic.takes_only_columns else either
    return inspect.Signature(
        [
            *(inspect.Parameter(each.name, either) for each in first),
            *(inspect.Parameter(word, either, default=None if optional else REQUIRED) for word in _columns(statistic, caller)),
            *further,
            *(inspect.Parameter(each.name, own_kind, default=each.default) for each in others),
            *(inspect.Parameter(word.name, keyword, default=word.default) for word in (*more, *common_words(caller))),
        ],
        return_annotation=Release | NoReply if caller is Caller.FUNCTION else Release | GroupedRelease | NoReply,
    )


def documentation(statistic: Statistic, caller: Caller, more: Sequence[Word] = ()) -> str:
    """The docstring: what the statistic is, what it takes, what its methods claim, what comes back."""
    first, others = ({each.name: each.help for each in part} for part in split_parameters(statistic))
    of_method = caller is Caller.METHOD
    more = (*OF_TABLES[1:], *more) if statistic.takes_tables and not of_method else more
    rows = {
        **first,
        **(_column_names_help(statistic) if of_method else _data_help(statistic)),
        **others,
        **{word.name: (of_method and word.help_of_method) or word.help for word in (*more, *common_words(caller))},
    }
    returns = f"{statistic.returns}, in " if statistic.returns else ""
    lines = [
        f"{statistic.summary.rstrip('.')}.",
        "",
        "Parameters",
        *headed_lines(rows),
        "",
        "Methods and what they claim",
        *headed_lines({method.name: f"{method.claim}{_taken_for(statistic, method)}" for method in statistic.methods.values()}),
        "",
        f"Returns {returns}a Release{' (of groups, one for each)' if of_method else ''}, or a NoReply at the same cost.",
        DEBITED if of_method else NOT_COUNTED,
    ]
    return "\n".join(lines)


def _taken_for(statistic: Statistic, method: Method) -> str:
    """Of which columns "auto" takes a method that is not the first, by their type."""
    return "; 'auto' takes it for columns of true and false" if method.name == statistic.boolean_method else ""


def _columns(statistic: Statistic, caller: Caller) -> tuple[str, ...]:
    return column_words(statistic, caller.value)


def _data_help(statistic: Statistic) -> dict[str, str]:
    """What the columns may be; the first one's line says what holds for all."""
    names = _columns(statistic, Caller.FUNCTION)
    helps = dict(zip(names, (_KINDS[reads] for reads in statistic.reads), strict=True))
    if statistic.takes_tables:
        return {names[0]: _TABLES, OF_TABLES[0].name: OF_TABLES[0].help}
    if statistic.takes_only_columns:
        return {
            names[0]: f"{helps[names[0]]}: {_CONTAINERS}; of several columns {_SEVERAL}; "
            f"a row that is missing in one column is left out of all; {MISSING_POLICY}",
            f"*{MORE}": "further columns of the same rows in the same order, such as the outcome of a regression",
        }
    if statistic.takes_conditions:
        return {names[0]: f"true and false, or 1 and 0: {_CONTAINERS}; missing rows are left out, too many others refused"}
    if len(names) == 1:
        return {name: f"{kind}: {_CONTAINERS}; {MISSING_POLICY}" for name, kind in helps.items()}
    if statistic.reads_codes:
        return {
            names[0]: f"the features, {helps[names[0]]}: {_SEVERAL}; a missing cell counts as a value of its own",
            names[1]: f"the classes, {helps[names[1]]}: {_CONTAINERS}, of the same rows in the same order; a row without one of "
            "the classes is left out",
        }
    if statistic.takes_features:
        return {
            names[0]: f"the features: {_SEVERAL}; a row that is missing in one column is left out of all; {MISSING_POLICY}",
            names[1]: f"the outcome, {helps[names[1]]}: {_CONTAINERS}, of the same rows in the same order",
        }
    helps[names[0]] += f": {_CONTAINERS}; a row that is missing in one column is left out of all; {MISSING_POLICY}"
    helps[names[1]] += ", of the same rows in the same order"
    return helps


def _column_names_help(statistic: Statistic) -> dict[str, str]:
    """What the columns of a protected table are, by their words."""
    words = _columns(statistic, Caller.METHOD)
    if statistic.takes_tables:
        return {
            words[0]: "columns by name in a list, such as ['age', 'region']; left out: all",
            f"*{MORE}": "further columns by name",
        }
    if statistic.takes_only_columns:
        several = "a column by name, or several in a list, such as ['age', 'income']"
        return {words[0]: several, f"*{MORE}": "further columns by name, such as the outcome of a regression"}
    if statistic.takes_features:
        helps = (
            "the features: columns by name in a list, such as ['age', 'schooling'], or one by its name",
            "the outcome: a column by name",
        )
        return dict(zip(words, helps, strict=True))
    if statistic.takes_conditions:
        return dict.fromkeys(words, "a column of true and false (or 1 and 0) by name, or a condition, such as 'hours > 0'")
    return dict.fromkeys(words, f"a column by name{'; left out: all rows of the table' if statistic.only_counts else ''}")
