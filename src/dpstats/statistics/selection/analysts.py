"""Choices of several analysts: the label that each makes of rows that no other sees.

Claim      One row changes one label; the number of labels is public
Neighbors  One piece changes, in any way: pieces are blocks of rows of which every row picks one by its own coin
Why        The i-th piece is shown to the i-th function, again from the first when there are more pieces, each in a process of
           its own (aggregation/evaluation.py). The functions must not talk to each other, nor remember anything: the processes
           see to the second
Source     Dwork & Roth 2014, Example 7.3
"""

from __future__ import annotations

from collections.abc import Sequence

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.progress import Progress
from dpstats.statistics.aggregation.evaluation import SECONDS, Function, RawPieces, evaluate
from dpstats.statistics.aggregation.replies import LabelForm, LabelReply, ReplyForm


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
