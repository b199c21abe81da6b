"""Histograms: how many rows lie in each bin, of numbers or of labels.

Claim      laplace: epsilon-DP. thresholded: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon and delta
Why        A row is in one bin, so one row more moves one count by 1, and discrete Laplace noise on every count hides it. Bins are
           public, given by the asker with one more for everything else, or edges that part of epsilon has found
           (binned/edges.py). Labels that nobody listed are shown from a threshold on, which a label of a single row reaches with
           probability at most delta (mechanisms/thresholding.py)
Numerics   Whole numbers, exact noise; a negative result is shown as 0 afterwards
Source     histograms.proof.md
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpstats.accounting.groups import row_epsilon, steps_between
from dpstats.foundations.accepted import Elements, literal_of
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.json_types import LABEL, NOTHING, WHOLE, either, list_of, one_of
from dpstats.foundations.keys import are_distinct, counts_of, plain_key
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Statistic, method, register
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import Column
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.mechanisms.thresholding import choose_keys, rows_for
from dpstats.statistics.binned.edges import draw_edges, noisy_counts_between
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.by_unit import no_step
from dpstats.statistics.counts import noise_reach
from dpstats.statistics.floors import Floor
from dpstats.statistics.universal.decimals import float_of, ordinal_of

MOST_BINS = 999
RELIABLE_NATS = 1_000
EDGES_FLOOR = Floor(500)
"""With fewer rows, edges that are found privately miss most of them."""
"""Rows times epsilon from which on private edges were good in every shape that was tried."""
KINDS = ("numbers", "labels")
_ALL = 1 << 62
"""More labels than any column has."""
_EXAMPLES = "a number of bins, such as 10, a list of ascending edges, or a list of labels"

Bins = int | tuple[Fraction, ...] | tuple[str | int | float, ...]


def checked_bins(value: object) -> Bins:
    """A number of bins; edges as exact rationals; or labels, if one of a list is a text."""
    if hasattr(value, "__index__") and not isinstance(value, bool) and not getattr(value, "ndim", 0):
        if not 1 <= operator.index(value) <= MOST_BINS:
            raise InvalidParameterError(f"bins must be from 1 to {MOST_BINS}, or a list; got {value}.")
        return int.__int__(operator.index(value))
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise InvalidParameterError(f"bins must be {_EXAMPLES}.")
    listed = list(value)
    if not 1 <= len(listed) <= MOST_BINS:
        raise InvalidParameterError(f"bins must list 1 to {MOST_BINS} edges or labels, got {len(listed)}.")
    return _checked_labels(listed) if any(isinstance(item, str) for item in listed) else _checked_edges(listed)


def _checked_labels(listed: Sequence[object]) -> tuple[str | int | float, ...]:
    labels = [plain_key(item) for item in listed]
    plain = tuple(label for label in labels if isinstance(label, (str, int, float)) and not isinstance(label, bool))
    if len(plain) < len(labels):
        raise InvalidParameterError("bins must list labels that are texts or numbers.")
    if not are_distinct(plain):
        raise InvalidParameterError("bins must list each label once.")
    return plain


def _checked_edges(listed: Sequence[object]) -> tuple[Fraction, ...]:
    edges = tuple(exact_rational(item, "bins") for item in listed)
    places = [ordinal_of(float(edge)) for edge in edges if abs(edge) < 10**308]
    if len(places) < len(edges) or any(after <= before for before, after in pairwise(places)):
        raise InvalidParameterError("bins must list edges that ascend and differ in their first 15 digits.")
    return edges


def checked_kind(given: object) -> str | None:
    """How the column is read; None where its declared type says it."""
    if given is not None and given not in KINDS:
        raise InvalidParameterError(f"kind must be 'numbers' or 'labels', or be left out, got {given!r}.")
    return str(given) if given is not None else None


def told_kind(arguments: Mapping[str, Any], declared: bool | None) -> bool | None:
    """Whether the column holds numbers: by `kind`, by its declared type, or where it has none by bins that are texts."""
    if arguments["kind"] is not None:
        return bool(arguments["kind"] == "numbers")
    if declared is not None:
        return declared
    bins = arguments["bins"]
    return False if isinstance(bins, tuple) and any(isinstance(item, str) for item in bins) else None


def settle(question: Question, numeric: bool) -> Question:
    """The question once it is known whether the column has numbers: those take no delta, and labels need some, or a list."""
    bins = question.arguments["bins"]
    if numeric:
        if isinstance(bins, tuple) and not all(isinstance(item, Fraction) for item in bins):
            raise DataTypeError("the bins are labels, and the column holds numbers: list edges, or give a number of bins.")
        if not question.method.needs_delta:
            return question
        cost = PrivacyCost(question.epsilon, 0, question.neighbors, question.cost.unit)
        return replace(question, method=question.statistic.methods["laplace"], cost=cost)
    if isinstance(bins, int) and not question.method.needs_delta:
        raise DataTypeError(
            "a histogram of labels needs either a list of them, such as bins=['north', 'south'], or delta, such as delta=1e-6, "
            "to find them."
        )
    return question


HISTOGRAM = register(
    Statistic(
        "histogram",
        "How many rows lie in each bin, of numbers or of labels",
        (
            Parameter(
                "bins",
                "about how many bins numbers get (their edges are found privately), or a list of edges, or of labels; "
                "labels that are not listed need delta",
                checked_bins,
                10,
                either(WHOLE, list_of(LABEL)),
                takes=int | Elements,
            ),
            Parameter(
                "kind",
                "'numbers' or 'labels': how a column is read that declares no type, such as a list",
                checked_kind,
                None,
                either(one_of(KINDS), NOTHING),
                takes=literal_of(KINDS) | None,
                by_name=True,
            ),
        ),
        reads=(Reads.EITHER,),
        returns="a Histogram with .edges or .labels, .counts, .low and .high, .shares, .rows and .bars()",
        value=Histogram,
        revive=Histogram.from_dict,
        prefer=lambda arguments, delta: "thresholded" if delta and isinstance(arguments["bins"], int) else "laplace",
        told=told_kind,
        settle=settle,
        usual_delta=Fraction(1, 10**9),
    )
)


@method(
    HISTOGRAM,
    "laplace",
    claim="pure epsilon-DP: whole-number Laplace noise on every count, and edges found privately",
    version=3,
    by_unit=no_step,
)
def histogram_laplace(column: Column, question: Question, rng: RandomSource) -> Outcome:
    """Counts in bins that are listed, or between private edges."""
    bins, epsilon = question.arguments["bins"], row_epsilon(question.epsilon, question.neighbors)
    if column.dtype is None:
        return _answer(question, _of_listed_labels(column, bins, question, rng), "the bins and the other parameters")
    notes: tuple[tuple[str, str], ...] = ()
    if isinstance(bins, int):
        edges, spent = draw_edges(column, bins, epsilon, rng)
        reliable = -(-RELIABLE_NATS // epsilon)
        notes = (
            ("edges", f"found privately, with {float(100 * (spent / epsilon)):.0f}% of epsilon; the counts have the rest"),
            ("reliable from", f"about {counted(reliable, 'row')} at this epsilon; with fewer, edges may miss most of the rows"),
        )
        public = "the parameters; nothing about the rows"
    else:
        edges, spent = tuple(float_of(ordinal_of(float(edge))) for edge in bins), Fraction(0)
        public = "the bins and the other parameters"
    noisy = noisy_counts_between(column, edges, epsilon - spent, rng)
    answer = _answer(question, _histogram(question, edges, (), noisy, epsilon - spent), public, notes)
    return EDGES_FLOOR.judge(question, sum(noisy), answer) if isinstance(bins, int) else answer


@method(
    HISTOGRAM,
    "thresholded",
    claim="(epsilon, delta)-DP: whole-number Laplace noise on every count, and labels shown from a threshold on",
    needs_delta=True,
    by_unit=no_step,
)
def histogram_thresholded(column: Column, question: Question, rng: RandomSource) -> Answer:
    """Labels that nobody listed, those of many rows."""
    bins, epsilon = question.arguments["bins"], row_epsilon(question.epsilon, question.neighbors)
    if not isinstance(bins, int):
        return _answer(question, _of_listed_labels(column, bins, question, rng), "the bins and the other parameters")
    delta = question.delta / steps_between(question.neighbors, 1)
    chosen = choose_keys(dict(column.most_common(_ALL)), epsilon, delta, rng)
    labels = sorted(chosen, key=lambda label: -chosen[label])  # stays in the order of labels where counts are equal
    histogram = _histogram(question, (), labels, [chosen[label] for label in labels], epsilon)
    notes = (("labels", f"a label of {counted(rows_for(epsilon, delta), 'row')} is shown with probability 0.95 or more"),)
    return _answer(question, histogram, "the parameters; no label, and nothing else about the rows", notes)


def _of_listed_labels(column: Column, bins: Sequence[Any], question: Question, rng: RandomSource) -> Histogram:
    """The rows of each listed label, and of all others together."""
    labels = tuple(plain_key(float(item) if isinstance(item, Fraction) else item) for item in bins)
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    return _histogram(question, (), labels, noisy_counts(raw_label_counts(column, labels), epsilon, rng), epsilon)


def raw_label_counts(column: Column, labels: Sequence[Any]) -> list[int]:
    """The rows of each label, and of all others; every row is counted once."""
    raw_known = dict(column.most_common(_ALL))
    raw_counts = counts_of(raw_known, labels)
    return [*raw_counts, sum(raw_known.values()) - sum(raw_counts)]


def _histogram(
    question: Question, edges: Sequence[float], labels: Sequence[Any], noisy_counts: Sequence[int], epsilon: Fraction
) -> Histogram:
    level = None if question.interval is None else float(question.interval)
    reach = 0 if level is None else noise_reach(float(epsilon), level)
    return Histogram(tuple(edges), tuple(labels), tuple(noisy_counts), reach, level, float(1 / epsilon))


def _answer(question: Question, histogram: Histogram, public: str, notes: tuple[tuple[str, str], ...] = ()) -> Answer:
    """The histogram with its intervals, and what belongs on the card."""
    covers = "the noise in the count of one bin: rows of this table, and nothing beyond it"
    if question.method.needs_delta:
        covers += "; a label near the threshold is shown only when its noise is large"
    level = histogram.level
    ends = zip(histogram.low, histogram.high, strict=True)
    intervals = () if level is None else tuple(Interval(low, high, level, covers, "a bin's rows") for low, high in ends)
    return Answer(
        histogram,
        notes=(
            *notes,
            ("noise", f"in every bin, of scale {histogram.noise:.6g}; a negative count is shown as 0"),
            ("missing values", "rows with null or NaN are not counted"),
            ("public", public),
            ("numerics", "exact: whole numbers and an exact sampler"),
        ),
        intervals=intervals,
    )
