"""One line of a plan: a question asked of simulated tables of one shape and one size.

Every table has a random stream of its own, made of the seed, the line and its number: a plan with more repeats begins with the
tables of one with fewer, and two epsilons are tried on the same streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator.planning.plan_rows import (
    BY_ERRORS,
    BY_INTERVAL,
    LEVEL,
    Figures,
    Found,
    PlanRow,
    kept_value,
    wilson_interval,
)
from dpstats.curator.planning.samples import Sample, drawn_rows, drawn_sample
from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.widths import covered_share, half_width
from dpstats.curator.planning.yardsticks import Scale, Yardstick, error_of, nearly_exact, plain_numbers, reply_to
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.registry import Question
from dpstats.foundations.results import Release

_YARDSTICK_ERROR = 1e-6
"""How far a shape's value may be off, in interquartile ranges; an interval that misses it by less covers it."""


class Trial(NamedTuple):
    """What came back from one table."""

    replied: bool
    error: float | None = None
    width: float | None = None
    """The half-width of its interval; None without one."""
    covered: float | None = None


class Trials(NamedTuple):
    """What came back from some tables, and from the same ones with next to no noise."""

    noisy: list[Trial]
    bare: list[Trial]
    drawn: int
    """Rows that were drawn of a table, at most."""


@dataclass(frozen=True)
class SimulatedLine:
    """A shape and a size, with what is needed to judge answers on them."""

    shape: Shape
    rows: int
    yardstick: Yardstick
    scale: Scale
    seed: int

    @cached_property
    def truth(self) -> Any:
        """What the statistic is on the shape."""
        return self.yardstick.value_at(self.rows)

    def replies(
        self,
        question: Question,
        numbers: Iterable[int],
        step: Callable[[], None],
        spend: Callable[[int], None] = lambda drawn: None,
    ) -> list[Trial]:
        """The question on the tables of these numbers; `spend` hears how many rows each of them has drawn."""
        trials = []
        for number in numbers:
            sample, source = self._table(question, number)
            trials.append(self._judged(reply_to(question, sample, source)))
            spend(drawn_rows(sample, self.rows))
            step()
        return trials

    def replies_and_bare(self, question: Question, numbers: Iterable[int], step: Callable[[], None]) -> Trials:
        """The question on the tables of these numbers, and on the same tables with next to no noise."""
        noisy, bare, drawn = [], [], 0
        for number in numbers:
            sample, source = self._table(question, number)
            noisy.append(self._judged(reply_to(question, sample, source)))
            bare.append(self._judged(nearly_exact(question, sample, source) if self.rows else None))
            drawn = max(drawn, drawn_rows(sample, self.rows))
            step()
        return Trials(noisy, bare, drawn)

    def bare(self, question: Question, repeats: int) -> list[Trial]:
        """The question on the first tables with next to no noise."""
        numbers = range(repeats if self.rows else 0)
        return [self._judged(nearly_exact(question, *self._table(question, number))) for number in numbers]

    def _table(self, question: Question, number: int) -> tuple[Sample, RandomSource]:
        """A table, and the source of noise for what is asked of it."""
        generator = np.random.default_rng([self.seed, self.rows, *self.shape.name.encode(), number])
        source = seeded(int(generator.integers(2**63)))
        return drawn_sample(question, self.shape, self.rows, generator), source

    def _judged(self, release: Release | None) -> Trial:
        if release is None:
            return Trial(False)
        is_exact = self.yardstick.grows or self.yardstick.is_exact
        slack = 0.0 if is_exact else _YARDSTICK_ERROR * self.shape.iqr
        truth = self.truth
        return Trial(True, error_of(release.value, truth), half_width(release), covered_share(release, truth, slack))


def figures_of(noisy: Sequence[Trial], bare: Sequence[Trial]) -> Figures:
    """What trials came to."""
    width, source = typical_width(noisy)
    covered = [trial.covered for trial in noisy if trial.covered is not None]
    return Figures(
        repeats=len(noisy),
        reply_probability=sum(trial.replied for trial in noisy) / len(noisy),
        half_width=width,
        half_width_of=source,
        coverage=sum(covered) / len(covered) if covered else None,
        error_median=at_most(0.5, (trial.error for trial in noisy)),
        error_95=at_most(LEVEL, (trial.error for trial in noisy)),
        sampling_error_median=at_most(0.5, (trial.error for trial in bare)),
        sampling_half_width=typical_width(bare)[0],
    )


def row_of(line: SimulatedLine, question: Question, cost: PrivacyCost, figures: Figures, found: Found) -> PlanRow:
    """One line of a plan; `cost` is what the asker pays."""
    truth, iqr = line.truth, line.shape.iqr
    in_unit = line.scale is Scale.IQR and plain_numbers(truth) is not None and iqr > 0
    unit, whole = iqr if in_unit else None, line.scale.amount(line.shape, truth)
    return PlanRow(
        n=line.rows,
        shape=line.shape.name,
        method=question.method.name,
        cost=cost,
        reply_interval=wilson_interval(round(figures.reply_probability * figures.repeats), figures.repeats),
        shape_value=kept_value(truth),
        relative_half_width=_share(figures.half_width, whole),
        relative_error_median=_share(figures.error_median, unit),
        relative_error_95=_share(figures.error_95, unit),
        found=found,
        **vars(figures),
    )


def _share(amount: float | None, whole: float | None) -> float | None:
    return None if amount is None or whole is None else amount / whole


def typical_width(trials: Sequence[Trial]) -> tuple[float | None, str]:
    """The median half-width among replies, without intervals what 95% of the errors do not exceed; and which of the two it is."""
    width = at_most(0.5, (trial.width for trial in trials))
    return (at_most(LEVEL, (trial.error for trial in trials)), BY_ERRORS) if width is None else (width, BY_INTERVAL)


def at_most(share: float, amounts: Iterable[float | None]) -> float | None:
    """The smallest amount that a `share` of all do not exceed; None where there is none."""
    known = [amount for amount in amounts if amount is not None]
    return float(np.quantile(known, share, method="inverted_cdf")) if known else None
