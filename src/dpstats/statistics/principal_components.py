"""Principal components without bounds.

Claim      laplace_moments: epsilon-DP. gaussian_moments: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        A private middle and scale of every column (frame/frame.py), by which rows become points; a private size that most
           points do not exceed; then one matrix of sums of coordinates and of their products, over points that are drawn toward
           the middle where they are larger (principal/moments.py), with noise for the most that a row adds. Shares of one
           budget add up. Components, variances and what they are worth follow from the noisy matrix
Numerics   Exact whole numbers up to the noisy matrix, which is kept; the rest is the same on every machine
No reply   Where rows are too few, a column varies no more than noise, or the components might as well be random, all by released
           numbers; costs the same as an answer
Source     principal/moments.proof.md; Blum, Dwork, McSherry & Nissim 2005 (SuLQ: noisy covariances); Dwork, Talwar, Thakurta &
           Zhang 2014 (Gaussian noise)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import WHOLE
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.cards import public_line, switch_parameter
from dpstats.statistics.floors import Floor
from dpstats.statistics.frame.frame import TableFrame, find_frame
from dpstats.statistics.frame.sided_distances import SidedDistances
from dpstats.statistics.principal.components import PrincipalComponents, components_of, quality_text, still_columns
from dpstats.statistics.principal.moments import LARGEST, SMALLEST, HeldMoments, PointSizes
from dpstats.statistics.principal.noisy_moments import NoisyMoments
from dpstats.statistics.regression.budget_split import BudgetSplit, budget_split_for
from dpstats.statistics.regression.octaves import TOO_LARGE, draw_reach
from dpstats.statistics.regression.sums import ACROSS, ALONG

MOST_COLUMNS = 40
FRAME_SHARE, SIZE_SHARE = Fraction(35, 100), Fraction(10, 100)
"""What the frame and the draw of a size take at most."""
SIZE_NATS, LIKELY = 200, 2.0
"""Rows times epsilon that the draw of a size is given, and where it is expected, over what a normal row has."""
FRAME_NATS = 20.0
"""Rows times epsilon of a draw, below which middles and scales may be absurd."""
FLOOR_NATS, GAUSSIAN_FLOOR_NATS = 200, 120
"""Rows times epsilon, for each column, below which there is no answer, and no rough one: it might as well be random."""
LARGER, FEWEST_LARGER, MOST_LARGER = 5.0, 0.002, 0.1
"""The part of the rows that is drawn toward the middle: so much over the root of rows times epsilon, within these limits."""
AWAY_SHARE, LEAST_AWAY, AWAY = Fraction(2, 100), 0.04, 1.4
"""Where the middle is 0, most rows may lie at it, or none: what is spent on how many lie away from it. A standard deviation is
about so many times the median of their distances, times the root of their part of all rows, which counts as this at least."""
STANDS_OUT = 3.0
"""Correlations that exceed noise by fewer deviations are not told from none."""
LEAST_GAIN = 0.5
"""Components must be at least so far on the way from random ones to the best."""
NO_INTERVAL = "what the largest rows, which are drawn toward the middle, would change is not known"


def no_structure(question: Question) -> Refusal:
    """The refusal of components that might as well be random; it advises a delta where the question has none."""
    delta = "" if question.delta else ", and where there are many of them a delta"
    return Refusal(
        "The correlations of these columns do not stand out of the noise, so that components would be random.",
        f"More rows or a larger epsilon help, and fewer columns{delta}.",
    )


def _checked_components(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_COLUMNS:
        raise InvalidParameterError(f"components must be a whole number from 1 to {MOST_COLUMNS}, got {value!r}.")
    return value


PCA = register(
    Statistic(
        "pca",
        "Principal components: directions in which columns vary together most",
        (
            Parameter("components", "how many components, at most as many as columns", _checked_components, 2, WHOLE, takes=int),
            switch_parameter(
                "scale", "True divides columns by their standard deviations, False leaves them in their units", True
            ),
        ),
        reads=(Reads.FEATURES,),
        returns="PrincipalComponents with .components, .explained_variance_ratio, .means, .scales and .transform(rows)",
        value=PrincipalComponents,
        revive=PrincipalComponents.from_dict,
        prefer=lambda arguments, delta: "gaussian_moments" if delta else "laplace_moments",
    )
)


def _check(question: Question) -> None:
    """Raise where there are too few columns."""
    columns, components = len(question.columns), question.arguments["components"]
    if columns == 1:
        raise InvalidParameterError("pca needs two columns or more: for one there is spread, such as std.")
    if 0 < columns < components:
        raise InvalidParameterError(f"{columns} columns have at most {columns} components, and {components} were asked for.")


@method(
    PCA,
    "laplace_moments",
    claim="pure epsilon-DP, no bounds asked, no delta: whole-number Laplace noise on sums and products of standardised rows",
    check=_check,
)
def pca_laplace(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """Components of moments with Laplace noise."""
    return _answer(table, question, rng, absolute=True)


@method(
    PCA,
    "gaussian_moments",
    claim="(epsilon, delta)-DP, no bounds asked: whole-number Gaussian noise on sums and products of standardised rows",
    needs_delta=True,
    check=_check,
)
def pca_gaussian(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """Components of moments with Gaussian noise."""
    return _answer(table, question, rng, absolute=False)


def _answer(table: Table, question: Question, rng: RandomSource, *, absolute: bool) -> Outcome:
    columns = len(question.columns)
    nats = columns * (FLOOR_NATS if absolute else GAUSSIAN_FLOOR_NATS)
    floor = Floor(nats, rough_nats=nats)
    budget = budget_split_for(question, rng)
    frame = find_frame(table, columns, FRAME_SHARE, budget, rng, limits=False)
    if frame.is_too_large:
        return TOO_LARGE
    frame = _for_sparse(table, frame, budget)
    moments = noisy_moments(
        table, frame, float(row_epsilon(question.epsilon, question.neighbors)), budget, rng, absolute=absolute
    )
    refusal = floor.refusal(question, frame.noisy_rows)
    still = still_columns(moments)
    if still or frame.nats < FRAME_NATS:
        return refusal or (_varies_too_little(question, still[0]) if len(still) == 1 else no_structure(question))
    scaled = question.arguments["scale"]
    found = components_of(question.columns, moments, question.arguments["components"], scaled)
    if (scaled and found.strength < STANDS_OUT) or found.gain < LEAST_GAIN:
        return refusal or no_structure(question)
    return floor.judge(question, frame.noisy_rows, Answer(found.value, notes=_notes(question, found.value), unknown=NO_INTERVAL))


def noisy_moments(
    table: Table, frame: TableFrame, epsilon: float, budget: BudgetSplit, rng: RandomSource, *, absolute: bool
) -> NoisyMoments:
    """Spend the rest of the budget on moments of the points of a frame."""
    larger = min(MOST_LARGER, max(FEWEST_LARGER, LARGER / math.sqrt(frame.noisy_rows * epsilon)))
    size_share = min(SIZE_SHARE, budget.share_for_draw(SIZE_NATS / frame.noisy_rows))
    sizes = PointSizes(frame, absolute)
    beyond, epsilon_of_size = math.ceil(larger * frame.noisy_rows), budget.draw_epsilon(size_share)
    bound = draw_reach(table.row_sums(sizes), beyond, epsilon_of_size, rng, likely=LIKELY * sizes.likely)
    held = HeldMoments(frame, absolute, min(LARGEST, max(SMALLEST, bound)))
    raw_sums, share = table.row_sums(held), budget.left
    if absolute:
        noisy, deviation = _with_laplace(raw_sums, held.sensitivity, budget.draw_epsilon(share), rng)
    else:
        noisy, deviation = budget.noisy(raw_sums, held.sensitivity, share)
    weights = (1, 1) if absolute else (ALONG, ACROSS)
    return NoisyMoments(
        frame.middles, frame.scales, frame.noisy_rows, tuple(noisy), weights, held.unit, held.one, held.bound, larger, deviation
    )


def _with_laplace(raw_sums: Sequence[int], sensitivity: int, epsilon: Fraction, rng: RandomSource) -> tuple[list[int], float]:
    """Sums with discrete Laplace noise that hides a move by `sensitivity` in L1 norm, and its standard deviation."""
    scale = sensitivity / epsilon
    drawn = sample_discrete_laplace(scale, len(raw_sums), rng)
    return [raw + int(each) for raw, each in zip(raw_sums, drawn, strict=True)], math.sqrt(2) * float(scale)


def _for_sparse(table: Table, frame: TableFrame, budget: BudgetSplit) -> TableFrame:
    """The frame with scales of columns whose middle is 0 by how many rows lie away from it, for which AWAY_SHARE is spent."""
    places = [place for place, column in enumerate(frame.columns) if not column.middle]
    if not places:
        return frame
    raw_counts, columns = table.row_sums(SidedDistances(frame.middles)), list(frame.columns)
    for place in places:
        raw_away = sum(map(sum, SidedDistances.sides(raw_counts, place)))
        ((noisy_away,), _) = budget.noisy([raw_away], 1, AWAY_SHARE / len(places))
        part = min(1.0, max(LEAST_AWAY, noisy_away / frame.noisy_rows))
        columns[place] = replace(columns[place], scale=columns[place].scale * AWAY * math.sqrt(part))
    return replace(frame, columns=tuple(columns))


def _varies_too_little(question: Question, still: int) -> Refusal:
    name = question.columns[still]
    which = f"The column {name}" if name else f"Column {still + 1}"
    return Refusal(f"{which} varies no more than the noise, so that there is nothing to scale it by.", "Leave it out.")


def _notes(question: Question, found: PrincipalComponents) -> tuple[tuple[str, str], ...]:
    """What belongs on the card."""
    scaled = question.arguments["scale"]
    noise = found.moments.deviation / found.moments.weights[1] / found.moments.unit**2 / found.rows
    return (
        (
            "of",
            "correlations: columns were divided by their standard deviations" if scaled else "covariances",
        ),
        ("worth", quality_text(found.quality, len(found.components))),
        ("noise", f"standard deviation {noise:.2g} in a product of two columns, which were scaled to about 1"),
        ("large rows", "are drawn toward the middle, so that variances are those of the bulk of the rows"),
        ("signs", "the loading of largest magnitude of each component is positive"),
        ("missing values", MISSING_POLICY),
        public_line(question),
        ("numerics", "exact whole numbers up to the noisy matrix; the rest follows from it, the same on every machine"),
    )
