"""Classes of the nearest neighbours, which can be asked at any point, for any number of neighbours, for ever after.

Claim      epsilon-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon
Why        A frame of the features, of all rows (frame/frame.py); then a tree of boxes and the rows of each class in them
           (box_tree/tree.py), of which a row moves one by 1, out of parts of epsilon that add up. Predictions are functions of
           the released boxes
Numerics   Exact up to the noisy counts
No reply   Where the noisy number of rows is too small; costs the same as an answer
Source     box_tree/growth.proof.md; Dwork & Smith 2009 ask how neighbours may be had; trees: Zhang, Xiao & Xie 2016
"""

from __future__ import annotations

import numpy as np

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Question, Reads, Simulated, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.box_tree.framed import GROWTH_SHARE, framed_tree
from dpstats.statistics.box_tree.neighbors import NeighborClasses
from dpstats.statistics.cards import public_line
from dpstats.statistics.floors import Floor
from dpstats.statistics.regression.octaves import TOO_LARGE
from dpstats.statistics.testing.parameters import labels_parameter

MOST_CLASSES, MOST_FEATURES = 50, 12
FLOOR_NATS = 300
"""Rows times epsilon that each feature takes: its limits must be found."""
CLASSES = labels_parameter("classes", "the labels of the classes, such as ['no', 'yes']; other rows are left out", MOST_CLASSES)


def _simulate(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """Rows whose classes lie one standard deviation apart."""
    places = generator.integers(0, len(question.arguments["classes"]), rows)
    features = generator.normal(size=(rows, len(question.columns) - 1)) + places[:, np.newaxis]
    return Simulated(np.column_stack([features, places]), None, "classes that are normal, one standard deviation apart")


NEAREST_NEIGHBORS = register(
    Statistic(
        "nearest_neighbors",
        "Which class the rows around a point have, as a classifier that can be asked at any point",
        (CLASSES,),
        reads=(Reads.FEATURES, Reads.LABELS),
        returns="NeighborClasses: .predict(points), .predict_proba(points), .rows_around(point), .to_pandas()",
        value=NeighborClasses,
        revive=NeighborClasses.from_dict,
        most_features=MOST_FEATURES,
        simulate=_simulate,
    )
)


@method(
    NEAREST_NEIGHBORS,
    "tree",
    claim="pure epsilon-DP, no bounds asked: boxes are halved where noisy counts say that rows are many; then rows of each class "
    "are counted with noise",
)
def neighbors_tree(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """Rows of each class in a tree of boxes."""
    features, classes = len(question.columns) - 1, question.arguments["classes"]
    epsilon = row_epsilon(question.epsilon, question.neighbors)
    tree = framed_tree(table.tables_by_label(features, classes), table.without(features), features, epsilon, GROWTH_SHARE, rng)
    if tree is None:
        return TOO_LARGE
    names = tuple(name or f"x{place}" for place, name in enumerate(question.columns[:features], 1))
    neighbors = NeighborClasses(names, classes, tree)
    floor = Floor(FLOOR_NATS * features + 200, rough_nats=100)
    notes = (
        ("boxes", f"{tree.size:,}; halvings went by counts with discrete Laplace noise of scale {tree.growth_scale:.6g}"),
        ("noise", f"{tree.noisy.law} in the count of each class in each box"),
        ("left out", "rows of other classes; rows beyond the outermost boxes count as rows in these"),
        floor.note(question),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
    return floor.judge(question, neighbors.rows, Answer(neighbors, notes=notes))
