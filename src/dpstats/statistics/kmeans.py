"""k-means without bounds: clusters of rows, their centres and sizes.

Claim      "steps": epsilon-DP; "gaussian_steps": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon or a
           quarter of rho
Why        All steps are bought from one budget (clusters/budget.py): a private frame of the columns, a private tree of boxes
           whose means are seeds, one exponential mechanism that chooses among them, and means of offsets from the own centre,
           cut off at a private radius (clusters/steps.py)
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where the noisy number of rows is too small for so many clusters and columns; costs the same as an answer
Source     clusters/clusters.proof.md; Lloyd 1982; Blum, Dwork, McSherry & Nissim 2005 (noisy sums of the rows of a cluster)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import rounded_ends
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.cards import public_line, switch_parameter
from dpstats.statistics.clipped.margins import critical_value
from dpstats.statistics.clusters.budget import cluster_budget
from dpstats.statistics.clusters.cluster_points import MOST_COLUMNS
from dpstats.statistics.clusters.clusters import Clusters, names_of
from dpstats.statistics.clusters.measured import clusters_of
from dpstats.statistics.clusters.simulated_groups import simulated_groups
from dpstats.statistics.clusters.steps import ClusterShares, MeasuredClusters, take_cluster_steps
from dpstats.statistics.floors import Floor
from dpstats.statistics.regression.octaves import TOO_LARGE
from dpstats.statistics.regression.points import BALL

MOST_CLUSTERS = 50
PURE, GAUSSIAN = "steps", "gaussian_steps"
PURE_NATS, DELTA_NATS = 60, 30
"""Rows times epsilon that a cluster takes for each column, and one more; without a delta and with one."""
COVERS = "the noise in a number of rows: those of a cluster before the last step moved its center"
LEAST_ROWS = 2
"""Below this, or one row for each cluster, there is no rough answer either."""
PURE_COLUMN_NATS, ROOT_COLUMN_NATS = 1600, 1000
"""And at least so many that a frame takes: for each column without a delta, for the root of their number with one."""
GAUSSIAN_SHARES = ClusterShares(
    boxes=Fraction(18, 100),
    frame=Fraction(32, 100),
    spreads=Fraction(5, 100),
    means=Fraction(18, 100),
    radius=Fraction(3, 100),
    choice=Fraction(13, 100),
    steps=5,
)
PURE_SHARES = ClusterShares(
    boxes=Fraction(22, 100),
    frame=Fraction(30, 100),
    spreads=Fraction(6, 100),
    means=Fraction(22, 100),
    radius=Fraction(3, 100),
    choice=Fraction(6, 100),
    steps=3,
)
CLAIM = "no bounds asked: seeds from a private tree, means of offsets from the own centre within a private radius"
WHY = "it needs no bounds; with a delta its noise is Gaussian, which costs many columns and steps less"


def number_parameter(name: str, default: int) -> Parameter:
    """How many clusters, or components, there are."""

    def check(value: object) -> int:
        if type(value) is not int or not 1 <= value <= MOST_CLUSTERS:
            raise InvalidParameterError(f"{name} must be a whole number from 1 to {MOST_CLUSTERS}, got {value!r}.")
        return value

    return Parameter(name, f"how many {name} there are, from 1 to {MOST_CLUSTERS}", check, default, takes=int, by_name=True)


STANDARDIZE = switch_parameter(
    "standardize", "whether each column counts in units of its own private spread; False: all in those of the widest", True
)
KMEANS = register(
    Statistic(
        "kmeans",
        "Clusters of rows by k-means: centers, sizes, and how much of the variance lies between them",
        (number_parameter("clusters", 5), STANDARDIZE),
        reads=(Reads.FEATURES,),
        returns="Clusters with centers, sizes, errors, predict, distances and summary",
        value=Clusters,
        why_preferred=WHY,
        revive=Clusters.from_dict,
        prefer=lambda arguments, delta: GAUSSIAN if delta else PURE,
        most_features=MOST_COLUMNS,
        simulate=simulated_groups,
    )
)


def floor_of(question: Question, clusters: int, pure_nats: float, delta_nats: float) -> Floor:
    """What an answer takes: so many rows times epsilon for each cluster and column, and what the frame takes."""
    columns = len(question.columns)
    nats = delta_nats if question.delta else pure_nats
    frame = ROOT_COLUMN_NATS * math.sqrt(columns) if question.delta else PURE_COLUMN_NATS * columns
    return Floor(max(nats * clusters * (columns + 1), frame))


@method(KMEANS, GAUSSIAN, claim=f"(epsilon, delta)-DP, {CLAIM}", needs_delta=True)
@method(KMEANS, PURE, claim=f"pure epsilon-DP, no delta, {CLAIM}")
def kmeans_steps(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """Clusters by noisy steps."""
    shares = GAUSSIAN_SHARES if question.delta else PURE_SHARES
    with Progress(shares.steps + 2, work="kmeans", pieces="steps") as progress:
        measured = take_cluster_steps(
            table,
            len(question.columns),
            question.arguments["clusters"],
            shares,
            cluster_budget(question, shares.boxes, rng),
            rng,
            progress,
            standardize=question.arguments["standardize"],
        )
    if measured is None:
        return TOO_LARGE
    clusters = clusters_of(measured, names_of(question.columns))
    floor = floor_of(question, question.arguments["clusters"], PURE_NATS, DELTA_NATS)
    if clusters.rows < max(LEAST_ROWS, len(clusters.sizes)):
        return hardly_any(floor, question)
    notes = (*_notes(clusters, measured, question), floor.note(question))
    answer = Answer(clusters, None, notes, size_intervals(clusters.sizes, clusters.size_noise, question, "a cluster's rows"))
    return floor.judge(question, clusters.rows, answer)


def left_out(measured: MeasuredClusters, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The card's line on columns that count as constant."""
    columns = zip(names, measured.frame.columns, strict=True)
    those = [name for name, column in columns if not (column.below or column.above)]
    return (("left out", f"{', '.join(those)}: too few rows to see lie away from the middle"),) if those else ()


def hardly_any(floor: Floor, question: Question) -> Refusal:
    """The refusal of what is not even a rough answer."""
    return Refusal("There are hardly more rows than clusters.", f"It takes {floor.rows_text(question)} at this epsilon.")


def size_intervals(sizes: Sequence[float], noise: float, question: Question, of: str) -> tuple[Interval, ...]:
    """Of each size, for the noise in it, whose law lies between a normal and a Laplace one: the wider of both."""
    if question.interval is None:
        return ()
    level = float(question.interval)
    laplace = 0.0 if question.delta else -math.log(1 - level) / math.sqrt(2)
    reach = noise * max(critical_value(level, 0.0), laplace)
    ends = [rounded_ends(max(0.0, size - reach), size + reach) for size in sizes]
    return tuple(Interval(low, high, level, COVERS, of) for low, high in ends)


def _notes(clusters: Clusters, measured: MeasuredClusters, question: Question) -> tuple[tuple[str, str], ...]:
    """What belongs on the card."""
    between = f"{100 * clusters.explained:.1f}% lies between clusters, standard deviation of the noise"
    weak = f"{len(clusters.weak)}: their sizes are not more than noise, and where they lie means nothing"
    scaled = "each column over its own spread" if question.arguments["standardize"] else "all columns over the widest spread"
    return (
        ("variance", f"{between} {100 * clusters.explained_error:.1f}%; of these rows, cut off far out"),
        ("centers", "means of the rows nearest to them; standard errors cover sampling and noise, for clusters cut as they are"),
        *((("weak clusters", weak),) if clusters.weak else ()),
        ("distances", f"Euclidean, {scaled}; the first of equally near centers counts"),
        ("cut off", f"rows beyond private limits of a column, or over {measured.radius / BALL:.3g} spreads from their center"),
        *left_out(measured, clusters.names),
        ("steps", str(measured.steps)),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
