"""Mixtures of normal laws without bounds: weights, means and variances of components that rows are divided among.

Claim      "steps": epsilon-DP; "gaussian_steps": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon or a
           quarter of rho
Why        Steps of k-means and then of expectation and maximisation, all bought from one budget (clusters/mixture_steps.py): a
           row is divided among components in whole shares that add up, so that it moves all sums together by what one row may
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where the noisy number of rows is too small for so many components and columns; costs the same as an answer
Source     clusters/clusters.proof.md; Dempster, Laird & Rubin 1977
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, Reads, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.cards import public_line
from dpstats.statistics.clusters.budget import cluster_budget
from dpstats.statistics.clusters.cluster_points import MOST_COLUMNS
from dpstats.statistics.clusters.clusters import names_of
from dpstats.statistics.clusters.measured import mixture_of
from dpstats.statistics.clusters.mixture_steps import take_mixture_steps
from dpstats.statistics.clusters.mixtures import MixtureFit
from dpstats.statistics.clusters.simulated_groups import simulated_groups
from dpstats.statistics.clusters.steps import MeasuredClusters
from dpstats.statistics.kmeans import (
    GAUSSIAN,
    GAUSSIAN_SHARES,
    LEAST_ROWS,
    PURE,
    PURE_SHARES,
    WHY,
    floor_of,
    hardly_any,
    left_out,
    number_parameter,
    size_intervals,
)
from dpstats.statistics.regression.octaves import TOO_LARGE

PURE_NATS, DELTA_NATS = 120, 60
"""Rows times epsilon that a component takes for each column, and one more; without a delta and with one."""
MIXED_SHARES = GAUSSIAN_SHARES._replace(means=Fraction(16, 100), choice=Fraction(7, 100), steps=3, later=Fraction(22, 100))
PURE_MIXED_SHARES = PURE_SHARES._replace(frame=Fraction(26, 100), means=Fraction(18, 100), steps=2, later=Fraction(25, 100))
SOFT_STEPS, PURE_SOFT_STEPS = 4, 3
CLAIM = "no bounds asked: from private clusters, by sums of rows that are divided among components in whole shares"
GAUSSIAN_MIXTURE = register(
    Statistic(
        "gaussian_mixture",
        "A mixture of normal laws with independent columns: weights, means and variances of its components",
        (number_parameter("components", 3),),
        reads=(Reads.FEATURES,),
        returns="a MixtureFit with weights, means, variances, predict, predict_proba, score_samples and summary",
        value=MixtureFit,
        why_preferred=WHY,
        revive=MixtureFit.from_dict,
        prefer=lambda arguments, delta: GAUSSIAN if delta else PURE,
        most_features=MOST_COLUMNS,
        simulate=simulated_groups,
    )
)


@method(GAUSSIAN_MIXTURE, GAUSSIAN, claim=f"(epsilon, delta)-DP, {CLAIM}", needs_delta=True)
@method(GAUSSIAN_MIXTURE, PURE, claim=f"pure epsilon-DP, no delta, {CLAIM}")
def mixture_steps(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """A mixture by noisy steps."""
    shares, soft_steps = (MIXED_SHARES, SOFT_STEPS) if question.delta else (PURE_MIXED_SHARES, PURE_SOFT_STEPS)
    components = question.arguments["components"]
    with Progress(shares.steps + soft_steps + 2, work="gaussian_mixture", pieces="steps") as progress:
        measured = take_mixture_steps(
            table,
            len(question.columns),
            components,
            shares,
            soft_steps,
            cluster_budget(question, shares.boxes, rng),
            rng,
            progress,
        )
    if measured is None:
        return TOO_LARGE
    mixture = mixture_of(measured, names_of(question.columns))
    floor = floor_of(question, components, PURE_NATS, DELTA_NATS)
    if mixture.rows < max(LEAST_ROWS, components):
        return hardly_any(floor, question)
    answer = Answer(
        mixture,
        None,
        (*_notes(mixture, measured, question), floor.note(question)),
        size_intervals(mixture.sizes, mixture.size_noise, question, "a component's rows"),
    )
    return floor.judge(question, mixture.rows, answer)


def _notes(mixture: MixtureFit, measured: MeasuredClusters, question: Question) -> tuple[tuple[str, str], ...]:
    """What belongs on the card."""
    weak = f"{len(mixture.weak)}: their sizes are not more than noise, and what they say means nothing"
    return (
        ("components", "normal laws whose columns are independent; the likeliest of all such mixtures only as far as steps led"),
        ("means", "standard errors cover sampling and noise, for rows divided among components as they are"),
        *((("weak components", weak),) if mixture.weak else ()),
        (
            "cut off",
            "rows beyond private limits of a column, or beyond a private radius around a component: variances lack these",
        ),
        ("fit", "no likelihood of these rows was bought; score_samples gives that of public ones"),
        *left_out(measured, mixture.names),
        ("steps", str(measured.steps)),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
