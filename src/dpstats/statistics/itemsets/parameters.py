"""Parameters of questions about itemsets: how many sets, of how many items, and what counts as an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.registry import Parameter, Question
from dpstats.foundations.rounding import exact_rational
from dpstats.statistics.coded.parameters import BOOLEAN, NUMERIC, bins_of, levels_of, settle_levels, with_levels
from dpstats.statistics.itemsets.candidates import CandidateSets
from dpstats.statistics.itemsets.picking import MOST_CANDIDATES

RULES = "association_rules"
MOST_SIZE, MOST_CHOSEN = 4, 1_000


def _checked_whole(name: str, most: int, least: int = 1) -> Any:
    def check(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise InvalidParameterError(f"{name} must be a whole number from {least} to {most:,}, got {value!r}.")
        return value

    return check


def _checked_baskets(value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(f"baskets must be True or False, got {value!r}.")
    return bool(value)


def checked_confidence(value: object) -> Fraction:
    """The least confidence of a rule, a share."""
    confidence = exact_rational(value, "confidence")
    if not 0 <= confidence <= 1:
        raise InvalidParameterError(f"confidence must be from 0 to 1, got {value}.")
    return confidence


def settle_items(question: Question, kinds: Mapping[str, str], keys: Mapping[str, Sequence[Any]]) -> Question:
    """The question about columns of these types; raises where baskets are no marks, or there are too many sets for certain."""
    if question.arguments["baskets"]:
        unfit = [name for name, kind in kinds.items() if kind not in (*NUMERIC, BOOLEAN) and name not in levels_of(question)]
        if unfit:
            raise DataTypeError(
                f"baskets=True takes columns of 0 and 1, or of True and False; {unfit[0]!r} is {kinds[unfit[0]]}."
            )
        marks = {name: (True,) if kind == BOOLEAN else (1,) for name, kind in kinds.items()}
        question = with_levels(question, {**marks, **levels_of(question)})
    settled = settle_levels(question, kinds, keys)
    known = [_most_codes(settled, name, kind) for name, kind in kinds.items()]
    most = CandidateSets(tuple(known), *set_sizes(settled)).how_many
    if most > MOST_CANDIDATES:
        raise InvalidParameterError(
            f"these columns make {most:,} sets of up to {set_sizes(settled)[1]} items, and {MOST_CANDIDATES:,} are the most: ask "
            "about fewer columns or bins, or smaller sets (size=2)."
        )
    return settled


def _most_codes(question: Question, name: str, kind: str) -> int:
    """How many codes a column has, at most where its bins are found; 1 where its labels are found, of which nothing is known."""
    levels = levels_of(question)
    if name in levels or kind not in NUMERIC:
        return len(levels.get(name, (None,)))
    bins = bins_of(question, name)
    return bins if isinstance(bins, int) else len(bins) + 1


def set_sizes(question: Question) -> tuple[int, int]:
    """The sizes of sets that are drawn, least and most: rules need two items."""
    most = min(question.arguments["size"], len(question.columns))
    return min(2 if question.statistic.name == RULES else 1, most), most


K = Parameter(
    "k", f"how many sets are drawn, from 1 to {MOST_CHOSEN:,}", _checked_whole("k", MOST_CHOSEN), 50, by_name=True, takes=int
)
BASKETS = Parameter(
    "baskets",
    "True reads columns of 0 and 1, or of True and False, as things in a basket: an item is a column that is 1 or True",
    _checked_baskets,
    False,
    by_name=True,
    takes=bool,
)


def size_parameter(least: int) -> Parameter:
    """The parameter `size`, from `least` on."""
    words = f"how many items a set has at most, from {least} to {MOST_SIZE}"
    return Parameter("size", words, _checked_whole("size", MOST_SIZE, least), 3, by_name=True, takes=int)
