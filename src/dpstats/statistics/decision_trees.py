"""Decision trees: splits that are drawn privately, and noisy counts of the classes at the leaves.

Claim      agreement, id3: epsilon-DP. gaussian_agreement: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        Codes of all columns are found first, out of a part of one budget (classification/finding.py). A level of the tree is
           one draw for each node (classification/splits.py), or noisy counts of each node (id3), and nodes of a level hold
           different rows (classification/growing.py). The leaves are noisy counts. Shares of the budget add up to at most 1
Numerics   Whole numbers, exact draws and exact noise
No reply   Below a floor of rows; where classes are to be found and fewer than two have many rows. Costs the same as an answer
Source     classification/classifiers.proof.md; Blum, Dwork, McSherry & Nissim 2005 (id3)
"""

from __future__ import annotations

from dataclasses import replace

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Outcome, Question, Refusal, method, register
from dpstats.foundations.summaries import CodedTable
from dpstats.foundations.text_tables import counted
from dpstats.statistics.classification.answers import classifier_answer
from dpstats.statistics.classification.finding import find_features
from dpstats.statistics.classification.growing import grown
from dpstats.statistics.classification.noise import AGREEMENT_SHARE, UNSEEN, noisy_agreement
from dpstats.statistics.classification.parameters import classifier_statistic
from dpstats.statistics.classification.pruning import pruned
from dpstats.statistics.classification.tree import DecisionTreeModel

DECISION_TREE = register(
    classifier_statistic(
        "decision_tree",
        "A classifier of rows that asks about one column after the other",
        "DecisionTreeModel with .predict(X), .predict_proba(X), .counts and .text()",
        DecisionTreeModel,
        "agreement",
        "gaussian_agreement",
    )
)


@method(
    DECISION_TREE,
    "agreement",
    claim="pure epsilon-DP: private cuts, splits drawn by how many rows they put right, and whole-number Laplace noise on leaves",
)
def tree_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """Splits that put most rows right."""
    return _tree(table, question, rng)


@method(
    DECISION_TREE,
    "gaussian_agreement",
    claim="(epsilon, delta)-DP: private cuts and labels, splits drawn by how many rows they put right, Gaussian noise on leaves",
    needs_delta=True,
)
def tree_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """The same with Gaussian noise."""
    return _tree(table, question, rng)


@method(
    DECISION_TREE,
    "id3",
    claim="pure epsilon-DP: as printed, features of most information gain by counts with whole-number Laplace noise",
)
def tree_id3(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """ID3 by noisy counts."""
    return _tree(table, question, rng, by_gain=True)


def _tree(table: CodedTable, question: Question, rng: RandomSource, *, by_gain: bool = False) -> Outcome:
    found, budget = find_features(table, question, rng)
    if isinstance(found, Refusal):
        return found
    tree = grown(table, found, budget, budget.left - AGREEMENT_SHARE, rng, by_gain=by_gain)
    shape, counts = pruned(tree.shape, tree.counts, tree.error)
    unseen = DecisionTreeModel(question.columns[-1], found.features, found.classes, shape, counts, UNSEEN)
    model = replace(unseen, agreement=noisy_agreement(table, found.codings, unseen, budget, rng))
    leaves = counted(len(counts), "leaf", "leaves")
    how = ("tree", f"depth {model.depth}, {leaves}, half of the budget for its splits and half for its leaves")
    return classifier_answer(question, found, model, model.agreement, how)
