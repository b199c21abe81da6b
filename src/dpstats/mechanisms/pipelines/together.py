"""Pipelines put together, on the same rows (Dwork & Lei 2009, Definitions 14 to 19), on parts, samples or functions of them.

Claim      As in pipeline.py; the prices are those of accounting/cascades.py. Given the coins, rows that differ in one unit give
           derived rows that differ in one unit
Neighbors  The relation under which the parts' promises hold. Each row is drawn or placed by its own coin, so either relation
           carries over; inside `Blocks` it is CHANGE_ONE
Why        Dwork & Lei 2009, section 5: the coins do not look at the rows, so condition on them. Sharper, the price of a
           `Subsample` counts that the changed row is probably not in it (accounting/cascades.py)
Numerics   Coins are exact; a fixed-size sample is the beginning of an exact shuffle
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.cascades import Prices, beside, first_reply, in_turn, on_disjoint_rows, on_subsample
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.rounding import decimal_text, exact_rational
from dpstats.mechanisms.coins import uniform_indices
from dpstats.mechanisms.pipelines.guards import value_or
from dpstats.mechanisms.pipelines.pipeline import Parts, Pipeline, Run, Step
from dpstats.mechanisms.propose_test_release import REFUSED, Refused


class Several(Pipeline):
    """Pipelines put together, or a single one on rows that are made from the rows given."""

    word: ClassVar[str]
    price: ClassVar[Callable[[Sequence[Prices]], Prices]] = in_turn
    """The rule that makes one price of those of the parts; of a single part in turn, its own."""
    shown: tuple[object, ...] = ()
    """What its text names before the parts."""

    def __init__(self, *parts: Pipeline) -> None:
        self._parts = checked_parts(parts, Pipeline)

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """The parts' prices, put together."""
        return type(self).price([part.prices(unit_epsilon, unit_delta) for part in self._parts])

    def steps(self) -> Iterator[Step]:
        """Every step of every part."""
        for part in self._parts:
            yield from part.steps()

    def __str__(self) -> str:
        return f"{self.word}({', '.join(map(str, (*self.shown, *self._parts)))})"


class Cascade(Several):
    """Steps in order until one replies (Definition 14), such as one statistic under several discretisations.

    Steps that share `value`, `propose` and `finish`, the very same functions, release the same law, which the sharper rule prices
    lower; so these must depend on their arguments alone.
    """

    word = "cascade"

    def __init__(self, *steps: Step) -> None:
        self._parts = checked_parts(steps, Step)
        laws = {(id(step.value), id(step.propose), id(step.finish), step.release_weight) for step in steps}
        self._same_release = len(laws) == 1

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """Every test, and one release."""
        return first_reply([step.budget(unit_epsilon, unit_delta) for step in self.steps()], self._same_release)

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The first reply."""
        outcomes = (step.reply(rows, proposal, run) for step in self._parts)
        return next((outcome for outcome in outcomes if not isinstance(outcome, Refused)), REFUSED)


class Levels(Several):
    """Pipelines in turn (Definitions 15 and 18, Theorem 22): each proposes from what the one before released.

    Their costs add up along the path that a run takes.
    """

    word = "levels"

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The last level's reply; a refusal anywhere, also of one part of a level, ends the run."""
        for part in self._parts:
            if isinstance(proposal, Refused) or (isinstance(proposal, Parts) and any(each is None for each in proposal)):
                return REFUSED
            proposal = part.reply(rows, proposal, run)
        return proposal


class Parallel(Several):
    """Pipelines beside each other on the same rows (Definition 19); the reply is a tuple, None where a part refused."""

    word = "parallel"
    price = beside

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """Every part's reply."""
        pieces = self._pieces(rows, run.rng)
        replies = (part.reply(piece, proposal, run) for part, piece in zip(self._parts, pieces, strict=True))
        return Parts(None if isinstance(each, Refused) else each for each in replies)

    def _pieces(self, rows: Any, rng: RandomSource) -> list[Any]:
        """The rows that each part sees."""
        return [rows] * len(self._parts)


class Partition(Parallel):
    """Pipelines beside each other, each on its own random part of the rows: every row picks a part by its own coin."""

    word = "partition"
    price = on_disjoint_rows

    def _pieces(self, rows: Any, rng: RandomSource) -> list[Any]:
        return _random_pieces(rows, len(self._parts), rng)


class View(Several):
    """A pipeline on a function of each row by itself; a row on which the function fails becomes `default`."""

    word = "view"

    def __init__(self, function: Callable[[Any], Any], inner: Pipeline, *, default: object = 0) -> None:
        super().__init__(inner)
        self._function = _with_default(function, default)

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The inner reply from the rows seen through the function."""
        _length(rows)
        return self._parts[0].reply([self._function(row) for row in rows], proposal, run)


class Blocks(Several):
    """A pipeline on one value for each of `count` random blocks of rows.

    Every row picks its block by its own coin, so that a row added, removed or changed touches one block: inside, the rows are
    `count` values of which one may change (CHANGE_ONE), whatever the relation outside. A block on which the function fails
    has the value `default`; no block is ever dropped.
    """

    word = "blocks"

    def __init__(self, count: int, function: Callable[[Any], Any], inner: Pipeline, *, default: object = 0) -> None:
        if type(count) is not int or count < 1:
            raise InvalidParameterError(f"the number of blocks must be a positive whole number, got {count!r}.")
        super().__init__(inner)
        self._count, self._function, self.shown = count, _with_default(function, default), (count,)

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The inner reply from the blocks' values."""
        values = [self._function(block) for block in _random_pieces(rows, self._count, run.rng)]
        return self._parts[0].reply(values, proposal, Run(run.allocation, Neighbors.CHANGE_ONE, run.rng))


class Subsample(Several):
    """A pipeline on a secret random sample: each row with probability `fraction` under ADD_REMOVE, the whole number of rows
    below `fraction` of all, without replacement, under CHANGE_ONE.
    """

    word = "subsample"

    def __init__(self, fraction: object, inner: Pipeline) -> None:
        self.fraction = exact_rational(fraction, "fraction")
        if not 0 < self.fraction <= 1 or self.fraction.denominator > 1 << 60:
            raise InvalidParameterError(f"fraction must lie between 0 and 1, such as 0.1, got {fraction}.")
        super().__init__(inner)
        self.shown = (decimal_text(self.fraction),)

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """Most rows are not in the sample."""
        return on_subsample(super().prices(unit_epsilon, unit_delta), self.fraction)

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """The inner reply from the sample."""
        count = _length(rows)
        if run.neighbors is Neighbors.CHANGE_ONE:
            chosen = _random_subset(count, int(self.fraction * count), run.rng)
        else:
            drawn = uniform_indices(self.fraction.denominator, count, run.rng)
            chosen = np.flatnonzero(drawn < self.fraction.numerator)
        return self._parts[0].reply(_take(rows, chosen), proposal, run)


def checked_parts(parts: tuple[Any, ...], kind: type) -> tuple[Any, ...]:
    """The parts of a pipeline, of which there must be one at least and all of that kind."""
    if not parts or not all(isinstance(part, kind) for part in parts):
        wanted = "steps" if kind is Step else "steps, or what cascade, levels, parallel and the others make of them"
        raise InvalidParameterError(f"give one or more {wanted}.")
    return parts


def _with_default(function: Callable[[Any], Any], default: object) -> Callable[[Any], Any]:
    if not callable(function):
        raise InvalidParameterError(f"give a function of the rows, got {type(function).__name__}.")

    return lambda argument: value_or(default, function, argument)


def _length(rows: Any) -> int:
    if not isinstance(rows, (list, tuple, np.ndarray)) or (isinstance(rows, np.ndarray) and not rows.ndim):
        raise DataTypeError(f"give the rows as a list or a numpy array, got {type(rows).__name__}.")
    return len(rows)


def _take(rows: Any, chosen: NDArray[np.int64]) -> Any:
    return rows[chosen] if isinstance(rows, np.ndarray) else [rows[place] for place in chosen.tolist()]


def _random_pieces(rows: Any, count: int, rng: RandomSource) -> list[Any]:
    """The rows in `count` pieces, each row in the piece that its own coin picked."""
    picked = uniform_indices(count, _length(rows), rng)
    order = np.argsort(picked, kind="stable")
    ends: Sequence[int] = np.searchsorted(picked[order], np.arange(1, count)).tolist()
    return [_take(rows, piece) for piece in np.split(order, ends)]


def _random_subset(count: int, size: int, rng: RandomSource) -> NDArray[np.int64]:
    """`size` of `count` places, every subset with the same probability, by the first steps of a shuffle."""
    places = list(range(count))
    for start in range(size):
        other = start + random_below(rng, count - start)
        places[start], places[other] = places[other], places[start]
    return np.array(sorted(places[:size]), dtype=np.int64)
