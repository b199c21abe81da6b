"""Choices of several analysts: each looks at rows that no other sees, and what most of them choose is released.

Claim      Without delta epsilon-DP, by report-noisy-max over public options; with delta (epsilon, delta)-DP, by a test of the
           lead
Neighbors  One piece changes, in any way: pieces are blocks of rows of which every row picks one by its own coin
Why        The i-th piece is shown to the i-th function, again from the first when there are more pieces, each in a process of
           its own (aggregation/evaluation.py). One piece makes one label, and labels are aggregated as in
           aggregation/choices.py. The functions must not talk to each other, nor remember anything: the processes see to the
           second
No reply   A label that is none of the options counts as none. Too few labels, or with delta a failed test
Source     Dwork & Roth 2014, Example 7.3
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Refusal
from dpstats.statistics.aggregation.choices import checked_options, choose_option, choose_stable
from dpstats.statistics.aggregation.evaluation import SECONDS, Function, RawPieces, evaluate
from dpstats.statistics.aggregation.replies import Label, LabelReply, ReplyForm


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
    labels: ReplyForm[LabelReply] = Label()
    with Progress(len(raw_pieces), work="asking analysts", pieces="blocks") as progress:
        return evaluate(functions, raw_pieces, labels, seconds=seconds, workers=workers, progress=progress)


def choose_among(
    raw_choices: Sequence[LabelReply | None], options: Sequence[object], *, epsilon: Fraction, delta: Fraction, rng: RandomSource
) -> object | Refusal:
    """One of the options, as it stands in their list: by report-noisy-max, or with a delta by a test of the first one's lead."""
    keys = checked_options(options)
    raw_known = [raw if raw in keys else None for raw in raw_choices]
    if not delta:
        return choose_option(raw_known, options, epsilon, rng)
    chosen = choose_stable(raw_known, 1, epsilon, delta, rng)
    return chosen if isinstance(chosen, Refusal) else options[keys.index(chosen)]
