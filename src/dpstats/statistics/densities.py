"""The density of one, two or three columns, which can be asked at any point, with any bandwidth, for ever after.

Claim      epsilon-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        A frame of the columns (frame/frame.py), then a tree of boxes (box_tree/tree.py), out of parts of epsilon that add up.
           The density is a function of the released boxes
Numerics   Exact up to the noisy counts
No reply   Where the noisy number of rows is too small; costs the same as an answer
Source     box_tree/growth.proof.md; trees: Zhang, Xiao & Xie 2016
"""

from __future__ import annotations

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, Reads, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.box_tree.density import Density
from dpstats.statistics.box_tree.framed import GROWTH_SHARE, MORE_GROWTH, framed_tree
from dpstats.statistics.cards import public_line
from dpstats.statistics.floors import Floor
from dpstats.statistics.regression.octaves import TOO_LARGE

MOST_COLUMNS = 3
FLOOR_NATS = {1: 500, 2: 1_500, 3: 3_000}
"""Rows times epsilon below which densities of so many columns were as far off as half of all rows, now and then."""
ROUGH_NATS = 100


DENSITY = register(
    Statistic(
        "density",
        "The density of one to three columns of numbers, as a function that can be asked at any point",
        reads=(Reads.FEATURES,),
        returns="a Density: density(points), .interval(points), .error(points), .probability(low, high), .to_pandas()",
        value=Density,
        revive=Density.from_dict,
        most_features=MOST_COLUMNS,
    )
)


@method(
    DENSITY,
    "tree",
    claim="pure epsilon-DP, no bounds asked: boxes are halved where noisy counts say that rows are many, and counted with noise",
)
def density_tree(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """The density by a tree of boxes."""
    columns = len(question.columns)
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    tree = framed_tree([table], table, columns, epsilon, GROWTH_SHARE if columns == 1 else MORE_GROWTH, rng)
    if tree is None:
        return TOO_LARGE
    names = tuple(name or f"x{place}" for place, name in enumerate(question.columns, 1))
    density = Density(names, tree)
    floor = Floor(FLOOR_NATS[columns], rough_nats=ROUGH_NATS)
    notes = (
        (
            "boxes",
            f"{tree.size:,}; halvings went by counts with discrete Laplace noise of scale {tree.growth_scale:.6g}",
        ),
        ("noise", f"{tree.noisy.law} in the count of each box"),
        ("beyond", "rows beyond the outermost boxes count as rows in these"),
        ("intervals", ".interval(points) covers noise and sampling at a point, not what smoothing blurs"),
        floor.note(question),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
    return floor.judge(question, density.rows, Answer(density, notes=notes))
