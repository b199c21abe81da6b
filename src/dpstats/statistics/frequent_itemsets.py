"""Frequent itemsets: combinations of values of several columns that most rows share, and rules made of them.

Claim      laplace: epsilon-DP. gaussian: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        Codes of columns that nobody listed are found first, out of a part of the price (coded/finding.py). A part of the
           rest draws k sets, one after another: counts are monotone, so a draw at a rate costs that rate (itemsets/picking.py).
           What is left buys noise on the counts of what was drawn: sets of the same columns share a part, because a row has the
           items of one of them at most. Rules, intervals, and which sets are too small to be told, look at these numbers alone
Numerics   Whole numbers, exact draws and exact noise
No reply   Where labels must be found and a column has none of many rows, where no drawn set has rows enough to be told from
           chance, or where found codes make too many sets; costs the same as an answer
Source     itemsets/picking.proof.md; McSherry & Talwar 2007; Bhaskar, Laxman, Smith & Thakurta 2010 (top-k itemsets)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.coded.budget import PureTableBudget, TableBudget, table_budget
from dpstats.statistics.coded.finding import FINDING_SHARE, NO_LABELS, FoundCodes, codes_within, unknown_columns
from dpstats.statistics.coded.parameters import BINS, BOOLEAN, LEVELS, NUMERIC, bins_of, levels_of, settle_levels, with_levels
from dpstats.statistics.contingency.reaches import reach_of
from dpstats.statistics.contingency.tables import count_text
from dpstats.statistics.floors import Floor
from dpstats.statistics.itemsets.candidates import CandidateSets, Items, RawSetCounts
from dpstats.statistics.itemsets.found_sets import Itemsets
from dpstats.statistics.itemsets.measured_sets import MeasuredSets, measure_sets, with_parts
from dpstats.statistics.itemsets.picking import MOST_CANDIDATES, draw_highest
from dpstats.statistics.itemsets.rules import AssociationRules, rules_of

MOST_SIZE, MOST_CHOSEN, MOST_TABLES = 4, 1_000, 12_000
DRAW_SHARE = Fraction(2, 3)
"""What drawing the sets takes; their counts get what is left."""
ALL_NOISE = 0.05
"""How likely it is at most that the noise alone lifts one of the drawn sets to where it counts as told from chance."""
TOO_MANY_SETS = Refusal(
    f"The codes that were found make more than {MOST_CANDIDATES:,} sets of items.",
    "The cost is spent; ask about fewer columns or bins, or smaller sets (size=2).",
)


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


def _checked_confidence(value: object) -> Fraction:
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
    most = CandidateSets(tuple(known), *_sizes(settled)).how_many
    if most > MOST_CANDIDATES:
        raise InvalidParameterError(
            f"these columns make {most:,} sets of up to {_sizes(settled)[1]} items, and {MOST_CANDIDATES:,} are the most: ask "
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


def _sizes(question: Question) -> tuple[int, int]:
    """The sizes of sets that are drawn: rules need two items."""
    most = min(question.arguments["size"], len(question.columns))
    return min(1 if question.statistic is FREQUENT_ITEMSETS else 2, most), most


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


def _size(least: int) -> Parameter:
    words = f"how many items a set has at most, from {least} to {MOST_SIZE}"
    return Parameter("size", words, _checked_whole("size", MOST_SIZE, least), 3, by_name=True, takes=int)


FREQUENT_ITEMSETS = register(
    Statistic(
        "frequent_itemsets",
        "The combinations of values of up to `size` columns that most rows share, with their counts",
        (K, _size(1), LEVELS, BINS, BASKETS),
        reads=(Reads.COLUMNS,),
        returns="Itemsets with .sets, .counts, .rows, .rules() and .to_pandas()",
        value=Itemsets,
        revive=Itemsets.from_dict,
        prefer=lambda arguments, delta: "gaussian" if delta else "laplace",
        settle_columns=settle_items,
        labelled=lambda arguments: dict(arguments["levels"]),
    )
)
ASSOCIATION_RULES = register(
    Statistic(
        "association_rules",
        "Rules such as 'of the rows with these values, 80% have that one', of the sets that most rows share",
        (
            K,
            _size(2),
            Parameter(
                "confidence", "the least confidence of rules that are shown", _checked_confidence, 0.5, by_name=True, takes=float
            ),
            LEVELS,
            BINS,
            BASKETS,
        ),
        reads=(Reads.COLUMNS,),
        returns="AssociationRules: each has .before, .after, .confidence and .lift with their ends; .to_pandas() has all",
        value=AssociationRules,
        revive=AssociationRules.from_dict,
        prefer=lambda arguments, delta: "gaussian" if delta else "laplace",
        settle_columns=settle_items,
        labelled=lambda arguments: dict(arguments["levels"]),
    )
)


def _check_tables(question: Question) -> None:
    """Raise where there are too many sets of columns."""
    most = _sizes(question)[1]
    tables = sum(math.comb(len(question.columns), size) for size in range(1, most + 1))
    if question.statistic is ASSOCIATION_RULES and len(question.columns) < 2:
        raise InvalidParameterError("rules need two columns or more.")
    if tables > MOST_TABLES:
        raise InvalidParameterError(
            f"{len(question.columns)} columns make {tables:,} combinations of up to {most} of them, and {MOST_TABLES:,} are the "
            "most: ask about fewer columns, or smaller sets (size=2)."
        )


_LAPLACE = "pure epsilon-DP: exact draws of sets by their counts, and whole-number Laplace noise on these"
_GAUSSIAN = (
    "(epsilon, delta)-DP: exact draws of sets by their counts, and whole-number Gaussian noise, or Laplace where that is less"
)


@method(FREQUENT_ITEMSETS, "laplace", claim=_LAPLACE, check=_check_tables)
def itemsets_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Sets with Laplace noise on their counts."""
    return _answer(table, question, rng)


@method(FREQUENT_ITEMSETS, "gaussian", claim=_GAUSSIAN, needs_delta=True, check=_check_tables)
def itemsets_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Sets with the noise that is less at this price."""
    return _answer(table, question, rng)


@method(ASSOCIATION_RULES, "laplace", claim=_LAPLACE, check=_check_tables)
def rules_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Rules of sets with Laplace noise on their counts."""
    return _answer(table, question, rng)


@method(ASSOCIATION_RULES, "gaussian", claim=_GAUSSIAN, needs_delta=True, check=_check_tables)
def rules_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Rules of sets with the noise that is less at this price."""
    return _answer(table, question, rng)


@dataclass(frozen=True)
class DrawnSets:
    """The sets that were drawn, with all that was measured, and below how many rows a set may be there by chance."""

    sets: tuple[Items, ...]
    measured: MeasuredSets
    least: float


def _answer(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    numbers, labels = unknown_columns(question, table.numeric)
    finding_epsilon = question.epsilon * FINDING_SHARE if numbers + labels else Fraction(0)
    finding_delta = question.delta / 2 if labels else Fraction(0)
    found = codes_within(table, question, finding_epsilon, finding_delta, rng)
    if found is None:
        return NO_LABELS
    candidates = CandidateSets(tuple(column.size for column in found.columns), *_sizes(question))
    if candidates.how_many > MOST_CANDIDATES:
        return TOO_MANY_SETS
    drawn = draw_sets(table, found, candidates, question, question.epsilon - finding_epsilon, question.delta - finding_delta, rng)
    return _told(found, drawn, candidates, question)


def draw_sets(
    table: CodedTable,
    found: FoundCodes,
    candidates: CandidateSets,
    question: Question,
    epsilon: Fraction,
    delta: Fraction,
    rng: RandomSource,
) -> DrawnSets:
    """Draw sets and measure them, of rules their parts too, at this price."""
    how_many = min(question.arguments["k"], candidates.how_many)
    budget = _cheapest(question, epsilon, delta, how_many, rng)
    every = CandidateSets(candidates.sizes, 0, candidates.most).tables
    raw = RawSetCounts.of(table, found.codings, every)
    places, by_chance = list(range(how_many)), 0.0
    if how_many < candidates.how_many:  # otherwise there is nothing to choose
        rate = min(budget.draw_epsilon(DRAW_SHARE / how_many) for _ in range(how_many))
        places = draw_highest(raw.flat(candidates.tables), rate, how_many, rng)
        by_chance = math.log(candidates.how_many / how_many) / float(rate)
    sets = tuple(candidates.items(place) for place in places)
    with_rules = question.statistic is ASSOCIATION_RULES
    measured = measure_sets(raw, with_parts(sets) if with_rules else sets, budget)
    of_noise = reach_of(((1.0, 1, measured.noise),), 1 - 2 * ALL_NOISE / how_many)
    return DrawnSets(sets, measured, max(by_chance, of_noise))


def _cheapest(question: Question, epsilon: Fraction, delta: Fraction, how_many: int, rng: RandomSource) -> TableBudget:
    """The budget whose noise on so many counts is less, with or without delta."""
    budgets = [table_budget(epsilon, each, question.neighbors, rng) for each in sorted({Fraction(0), delta})]
    share = (1 - DRAW_SHARE) / (how_many + 1)
    return min(budgets, key=lambda budget: (budget.law(share).variance, isinstance(budget, PureTableBudget)))


def _told(found: FoundCodes, drawn: DrawnSets, candidates: CandidateSets, question: Question) -> Outcome:
    """The sets, or the rules, that can be told from chance; all of them, marked as rough, where that is asked for."""
    counts = drawn.measured.counts
    large = [items for items in drawn.sets if counts[items] >= drawn.least]
    kept = large if large and not question.rough else list(drawn.sets)
    level = None if question.interval is None else float(question.interval)
    value: Itemsets | AssociationRules
    if question.statistic is FREQUENT_ITEMSETS:
        value = Itemsets(found.columns, drawn.measured.kept(kept), level)
    else:
        value = rules_of(found.columns, drawn.measured, kept, level, float(question.arguments["confidence"]))
    answer = Answer(value, intervals=value.intervals(), notes=_notes(drawn, kept, candidates, question))
    if len(large) == len(kept):
        return answer
    few = Refusal(
        f"No set of items has the {count_text(drawn.least)} rows from which on it can be told from chance at this epsilon.",
        "Ask for fewer sets (k=), about fewer columns, or with a larger epsilon; rough=True takes a rough answer.",
    )
    return Floor.refuse(question, answer, few, f"sets below {count_text(drawn.least)} rows may be there by chance")


def _notes(drawn: DrawnSets, kept: Sequence[Items], candidates: CandidateSets, question: Question) -> tuple[tuple[str, str], ...]:
    """What belongs on the card."""
    left = len(drawn.sets) - len(kept)
    dropped = f"; {left:,} with fewer are left out, for they may be there by chance" if left else ""
    return (
        (
            "sets",
            f"{len(drawn.sets):,} drawn out of {candidates.how_many:,}, told from {count_text(drawn.least)} rows on{dropped}",
        ),
        ("noise", f"{drawn.measured.noise} on each count"),
        ("missing values", "a row without a value, or with a label that is not listed or found, has no item of that column"),
        ("public", "the parameters, names and types of columns; nothing about the rows"),
        ("numerics", "exact: whole numbers, exact draws and an exact sampler"),
    )
