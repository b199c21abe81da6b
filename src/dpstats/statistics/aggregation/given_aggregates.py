"""Aggregates that the analyst gives: any function that makes a private number of an array of votes.

Claim      That of the given function, at its part of epsilon and delta, for one changed vote: the analyst's word
Why        It is called once for each coordinate, with all votes for it, and its parts of epsilon and delta add up
Numerics   The parts become floats that are no larger
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.errors import DpstatsError, InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.registry import COULD_NOT, Refusal
from dpstats.foundations.results import Interval, NoReply, Release
from dpstats.statistics.aggregation.row_blocks import Floats

GivenAggregate = Callable[..., Any]
"""(votes, *, epsilon, delta, neighbors, interval, rng) -> a Release, a number or numbers; it may leave out all but epsilon."""
NO_REPLY = Refusal(
    "The given aggregate gave no reply.",
    "More blocks, or a larger epsilon, may help; or take another aggregate such as 'universal'.",
)
_TRIAL = np.linspace(-1.0, 1.0, 201)
_TRIAL_SEED = 7
Reply = tuple[tuple[float, ...], tuple[Interval, ...]]


def try_aggregate(function: GivenAggregate, epsilon: Fraction, delta: Fraction, level: Fraction | None) -> None:
    """Run the function on made-up votes, so that a mistake in it shows before anything is spent."""
    advice = "it must take votes, epsilon=, and may take delta=, neighbors=, interval= and rng=, and return a Release or numbers"
    try:
        reply = _call(function, _TRIAL.copy(), epsilon, delta, level, seeded(_TRIAL_SEED))
        _read(reply)
    except DpstatsError:
        raise
    except Exception as error:
        problem = type(error).__name__
        raise InvalidParameterError(f"aggregate failed on made-up votes ({problem}): {advice}.") from None


def aggregate_with(
    function: GivenAggregate,
    raw_columns: Sequence[Floats],
    epsilon: Fraction,
    delta: Fraction,
    level: Fraction | None,
    rng: RandomSource,
) -> Reply | Refusal:
    """What the function makes of each coordinate's votes, one after the other, at equal parts of epsilon and delta."""
    values: list[float] = []
    intervals: list[Interval] = []
    parts = len(raw_columns)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            replies = [_read(_call(function, raw, epsilon / parts, delta / parts, level, rng)) for raw in raw_columns]
    except KeyboardInterrupt:
        raise
    except BaseException:  # what it raises, or how it ends, may speak of votes
        if not rng.private:
            raise
        return COULD_NOT
    for reply in replies:
        if reply is None:
            return NO_REPLY
        values.extend(reply[0])
        intervals.extend(reply[1])
    return tuple(values), tuple(intervals) if len(intervals) == len(values) else ()


def _call(
    function: GivenAggregate, raw_votes: Floats, epsilon: Fraction, delta: Fraction, level: Fraction | None, rng: RandomSource
) -> object:
    """Call the function with those of the keywords that it has."""
    offered = {
        "delta": float_below(delta),
        "neighbors": Neighbors.CHANGE_ONE.value,
        "interval": None if level is None else float(level),
        "rng": rng,
    }
    known = inspect.signature(function).parameters.values()
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known)
    names = {parameter.name for parameter in known}
    taken = {word: value for word, value in offered.items() if takes_all or word in names}
    return function(raw_votes, epsilon=float_below(epsilon), **taken)


def _read(reply: object) -> Reply | None:
    """The numbers and intervals of a reply; None for a `NoReply`."""
    if isinstance(reply, NoReply):
        return None
    if isinstance(reply, Release):
        values = _numbers(reply.value)
        return values, reply.intervals or ((reply.interval,) if reply.interval is not None else ())
    return _numbers(reply), ()


def _numbers(reply: Any) -> tuple[float, ...]:
    flat = np.asarray(reply, dtype=np.float64)
    if flat.ndim > 1:
        raise InvalidParameterError("aggregate must return one number or a flat list of numbers.")
    return tuple(flat.reshape(-1).tolist())


def float_below(number: Fraction) -> float:
    """A float whose shortest decimal, which is how parameters are read, is no larger than the number, nor is its exact value."""
    nearest = float(number)
    while max(Fraction(str(nearest)), Fraction(nearest)) > number:
        nearest = float(np.nextafter(nearest, -np.inf))
    return nearest
