"""What each random block of rows votes for.

Claim      A row added, removed or changed changes one vote; the number of votes is public
Neighbors  ADD_REMOVE and CHANGE_ONE alike
Why        Every row picks a block by its own coin (aggregation/row_blocks.py). A block's vote is a function of a copy of its
           rows: a vote that fails, for whatever reason, is None and keeps its place. Functions given to `votes_of` carry
           nothing from block to block: those of this package draw no randomness, or begin it anew in every block. Functions of
           analysts go to `choices_of`: the i-th piece is shown to the i-th function, again from the first when there are more
           pieces, each in a process of its own (aggregation/evaluation.py). They must not talk to each other, nor remember
           anything: the processes see to the second
Numerics   Floats, by the same code for every block; a vote is one of finitely many labels
Source     Dwork & Roth 2014, Example 7.3, for several analysts
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, Question
from dpstats.foundations.summaries import MISSING_POLICY
from dpstats.statistics.aggregation.evaluation import SECONDS, Function, RawPieces, evaluate
from dpstats.statistics.aggregation.replies import LabelForm, LabelReply, ReplyForm
from dpstats.statistics.aggregation.row_blocks import Floats, toss_blocks
from dpstats.statistics.cards import public_line

Vote = TypeVar("Vote")


def votes_of(
    raw_rows: Floats, blocks: int, vote: Callable[[Floats], Vote | None], work: str, rng: RandomSource
) -> list[Vote | None]:
    """The vote of every block, None where it has none; never raises, never warns."""
    raw_blocks = toss_blocks(raw_rows, blocks, rng)
    with Progress(blocks, work=work, pieces="blocks") as progress:
        raw_votes = []
        for raw_places in raw_blocks.raw_pieces:
            raw_votes.append(vote_of(raw_rows[raw_places], vote))
            progress.step()
    return raw_votes


def choices_of(
    functions: Sequence[Function],
    raw_pieces: RawPieces,
    *,
    seconds: float = SECONDS,
    workers: int | None = None,
) -> list[LabelReply | None]:
    """The label that each piece's analyst chose, None where there is none; raw."""
    if not functions:
        raise InvalidParameterError("give at least one analyst's function.")
    labels: ReplyForm[LabelReply] = LabelForm()
    with Progress(len(raw_pieces), work="asking analysts", pieces="blocks") as progress:
        return evaluate(functions, raw_pieces, labels, seconds=seconds, workers=workers, progress=progress)


def blocks_of(question: Question, least: Callable[[], int]) -> int:
    """The number of blocks that the question names, or where it leaves that to us the least."""
    given = question.arguments["blocks"]
    return least() if given == AUTO else int(given)


def notes_on_votes(question: Question, blocks: int) -> tuple[tuple[str, str], ...]:
    """The card's lines on votes of blocks."""
    several = "; a row that is missing in one column is left out of all" if len(question.columns) > 1 else ""
    return (
        ("blocks", f"{blocks:,}; every row is in one of them, by its own coin"),
        ("missing values", f"{MISSING_POLICY}{several}"),
        ("memory", f"all rows of {'all columns' if several else 'the column'} at once"),
        public_line(question),
        ("numerics", "votes are found in floats, each from the rows of its block alone; their counts are exact, as the noise is"),
    )


def vote_of(raw_rows: Floats, vote: Callable[[Floats], Vote | None]) -> Vote | None:
    """What a vote makes of some rows; None where it fails."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return vote(raw_rows)
    except Exception:  # whatever the rows did to it
        return None
