"""Selections from public lists: which model, or which family of laws, the rows speak for, by the votes of random blocks of rows.

Claim      "noisy_max": epsilon-DP; "stable": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        One row changes one block's vote (selection/votes.py). The winner is the option with the highest noisy count, or the
           most frequent one if its lead passes a test; its popularity is one more noisy count, paid for by its own part of
           epsilon (aggregation/choices.py)
Numerics   Votes are found in floats and counted as they are; from there on exact
No reply   "stable" where the lead of the winner does not pass its test; "noisy_max" where the blocks without an answer win.
           Costs the same as an answer
Source     feature_selections.proof.md; Dwork & Roth 2014, Example 7.1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from dpstats.foundations.accepted import several_of
from dpstats.foundations.json_types import TEXT, list_of, one_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Refusal, Statistic, ValueBy, method, register
from dpstats.foundations.summaries import Column, Table
from dpstats.statistics.aggregation.choices import NONE_OF_THEM, choose_option, choose_stable, popularity
from dpstats.statistics.aggregation.plans import POPULARITY_SHARE
from dpstats.statistics.cards import switch_parameter
from dpstats.statistics.selection.block_counts import BLOCKS, blocks_for_options, blocks_for_share, blocks_for_stable
from dpstats.statistics.selection.laws import LAWS, best_law, checked_laws, checked_names
from dpstats.statistics.selection.majorities import NO_ANSWERS
from dpstats.statistics.selection.models import MODELS, best_model, check_scikit_learn, estimators_of
from dpstats.statistics.selection.simulations import simulated_law, simulated_model
from dpstats.statistics.selection.values import PopularOption, revive_option
from dpstats.statistics.selection.votes import blocks_of, notes_on_votes, votes_of

STABLE, NOISY_MAX = "stable", "noisy_max"
WHY = "it names an option whatever the lead is, and takes fewer blocks than a test"
LOSES = ("families", "one that cannot have made a number of a block loses the block: a single 0 rules out lognormal there")


POPULARITY = switch_parameter("popularity", "whether a quarter of epsilon buys the winner's share of blocks", False)
WITH_POPULARITY = ValueBy("popularity", ((Literal[False], str), (Literal[True], PopularOption), (bool, str | PopularOption)))
SELECT_MODEL = register(
    Statistic(
        "select_model",
        "The model, of a public list, that predicts the outcome best from the features",
        (
            Parameter(
                "models",
                f"two or more of {', '.join(MODELS)}",
                partial(checked_names, word="models", known=MODELS),
                ["linear", "quadratic", "forest"],
                list_of(one_of(MODELS), 2),
                takes=several_of(MODELS),
            ),
            POPULARITY,
            BLOCKS,
        ),
        reads=(Reads.FEATURES, Reads.NUMBERS),
        returns="the name of the model, or with popularity a PopularOption",
        value=WITH_POPULARITY,
        why_preferred=WHY,
        revive=revive_option,
        simulate=simulated_model,
    )
)
SELECT_FAMILY = register(
    Statistic(
        "select_family",
        "The family of laws, of a public list, that fits the numbers best",
        (
            Parameter(
                "families",
                f"two or more of {', '.join(LAWS)}",
                checked_laws,
                ["normal", "lognormal", "gamma"],
                list_of(TEXT, 2),
                takes=several_of(LAWS),
            ),
            POPULARITY,
            BLOCKS,
        ),
        returns="the name of the family, or with popularity a PopularOption",
        value=WITH_POPULARITY,
        why_preferred=WHY,
        revive=revive_option,
        simulate=simulated_law,
    )
)


@method(
    SELECT_MODEL,
    STABLE,
    claim="(epsilon, delta)-DP, may refuse: the model that wins most blocks, if its lead passes a test",
    needs_delta=True,
    check=check_scikit_learn,
)
@method(
    SELECT_MODEL,
    NOISY_MAX,
    claim="pure epsilon-DP, no delta: the model that wins most blocks by its error on unseen rows, by report-noisy-max",
    check=check_scikit_learn,
)
def select_model(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The winner of the blocks, each decided by cross-validation."""
    from threadpoolctl import threadpool_limits

    names = question.arguments["models"]
    vote = partial(best_model, estimators=estimators_of(names))
    with threadpool_limits(1):  # blocks are small: more threads only wait for each other
        return select_option(
            lambda blocks: votes_of(table.matrix(), blocks, vote, "selecting a model", rng), names, question, rng
        )


@method(
    SELECT_FAMILY,
    STABLE,
    claim="(epsilon, delta)-DP, may refuse: the family that wins most blocks, if its lead passes a test",
    needs_delta=True,
)
@method(
    SELECT_FAMILY,
    NOISY_MAX,
    claim="pure epsilon-DP, no delta: the family that wins most blocks by Akaike's information criterion, by report-noisy-max",
)
def select_family(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The winner of the blocks, each decided by maximum likelihood."""
    names, raw_runs = question.arguments["families"], column.tally()
    raw_rows = np.repeat(raw_runs.raw_values.astype(np.float64), raw_runs.raw_counts)[:, None]

    def raw_votes_of(blocks: int) -> list[str | None]:
        return votes_of(raw_rows, blocks, lambda raw_block: best_law(raw_block[:, 0], names), "selecting a family", rng)

    answer = select_option(raw_votes_of, names, question, rng)
    return answer if isinstance(answer, Refusal) else replace(answer, notes=(LOSES, *answer.notes))


def select_option(
    raw_votes_of: Callable[[int], Sequence[str | None]], names: Sequence[str], question: Question, rng: RandomSource
) -> Answer | Refusal:
    """One of the names by the votes of blocks, with its popularity where that is asked for."""
    with_share, stable = question.arguments["popularity"], question.method.name == STABLE
    epsilon, delta = question.epsilon * (1 - POPULARITY_SHARE if with_share else 1), question.delta
    least = partial(blocks_for_stable, epsilon, delta) if stable else partial(blocks_for_options, epsilon, len(names))
    share_epsilon = question.epsilon - epsilon
    blocks = blocks_of(question, lambda: max(least(), blocks_for_share(share_epsilon) if with_share else 0))
    raw_votes = raw_votes_of(blocks)
    winner = choose_stable(raw_votes, 1, epsilon, delta, rng) if stable else choose_option(raw_votes, names, epsilon, rng)
    if isinstance(winner, Refusal):
        return NO_ANSWERS if winner is NONE_OF_THEM else winner  # the analyst has no function to try
    if not with_share:
        return Answer(str(winner), notes=notes_on_votes(question, blocks))
    share = popularity(raw_votes, winner, 1, share_epsilon, rng, question.interval)
    return Answer(PopularOption(str(winner), share.share), share.interval, notes_on_votes(question, blocks))
