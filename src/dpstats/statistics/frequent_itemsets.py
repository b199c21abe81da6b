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
from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.by_unit import no_step
from dpstats.statistics.coded.finding import FINDING_SHARE, NO_LABELS, FoundCodes, codes_within, unknown_columns
from dpstats.statistics.coded.parameters import BINS, LEVELS
from dpstats.statistics.contingency.tables import count_text
from dpstats.statistics.floors import Floor
from dpstats.statistics.itemsets.candidates import CandidateSets, Items
from dpstats.statistics.itemsets.drawing import DrawnSets, cheapest_budget, draw_sets
from dpstats.statistics.itemsets.found_sets import Itemsets
from dpstats.statistics.itemsets.parameters import BASKETS, RULES, K, checked_confidence, set_sizes, settle_items, size_parameter
from dpstats.statistics.itemsets.picking import MOST_CANDIDATES
from dpstats.statistics.itemsets.rules import AssociationRules, rules_of

MOST_TABLES = 12_000
TOO_MANY_SETS = Refusal(
    f"The codes that were found make more than {MOST_CANDIDATES:,} sets of items.",
    "The cost is spent; ask about fewer columns or bins, or smaller sets (size=2).",
)


FREQUENT_ITEMSETS = register(
    Statistic(
        "frequent_itemsets",
        "The combinations of values of up to `size` columns that most rows share, with their counts",
        (K, size_parameter(1), LEVELS, BINS, BASKETS),
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
        RULES,
        "Rules such as 'of the rows with these values, 80% have that one', of the sets that most rows share",
        (
            K,
            size_parameter(2),
            Parameter(
                "confidence", "the least confidence of rules that are shown", checked_confidence, 0.5, by_name=True, takes=float
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
    most = set_sizes(question)[1]
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


@method(FREQUENT_ITEMSETS, "laplace", claim=_LAPLACE, check=_check_tables, by_unit=no_step)
def itemsets_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Sets with Laplace noise on their counts."""
    return _answer(table, question, rng)


@method(FREQUENT_ITEMSETS, "gaussian", claim=_GAUSSIAN, needs_delta=True, check=_check_tables, by_unit=no_step)
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


def _answer(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    numbers, labels = unknown_columns(question, table.numeric)
    finding_epsilon = question.epsilon * FINDING_SHARE if numbers + labels else Fraction(0)
    finding_delta = question.delta / 2 if labels else Fraction(0)
    found = codes_within(table, question, finding_epsilon, finding_delta, rng)
    if found is None:
        return NO_LABELS
    candidates = CandidateSets(tuple(column.size for column in found.columns), *set_sizes(question))
    if candidates.how_many > MOST_CANDIDATES:
        return TOO_MANY_SETS
    how_many = min(question.arguments["k"], candidates.how_many)
    left = question.epsilon - finding_epsilon, question.delta - finding_delta
    budget = cheapest_budget(*left, question.neighbors, how_many, rng)
    parts = question.statistic is ASSOCIATION_RULES
    drawn = draw_sets(table, found, candidates, how_many, budget, rng, parts=parts)
    return _told(found, drawn, candidates, question)


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
