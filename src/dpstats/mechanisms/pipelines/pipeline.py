"""A pipeline: propose-test-release functions put together, run, and priced.

Claim      A run is (epsilon, delta)-DP for the total that it was given, if every step keeps its promise (see `Step`)
Neighbors  The relation under which the steps' promises hold
Why        Each step is a PTR function with a LaplaceTest; accounting/cascades.py adds them up, and the budget of a single
           step is one for which the sum stays within the total
Numerics   Budgets are exact rationals, rounded down; tests and noise are exact
No reply   Costs the same as an answer and says only that a test failed
Source     Dwork & Lei 2009, section 5
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.accounting.cascades import Prices, TestedStep, first_reply
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text, exact_rational
from dpstats.mechanisms.distance_tests import LaplaceTest
from dpstats.mechanisms.grid import refuse_container
from dpstats.mechanisms.pipelines.guards import ReleasedValueError, on_released, quietly, takes, value_or
from dpstats.mechanisms.propose_test_release import ADVICE, REASON, REFUSED, Refused, cost_of_test, release_if_stable, unchanged

METHOD = "pipeline"
CLAIM = (
    "(epsilon, delta)-DP if every step keeps its promise: its distance moves by at most 1, and its bound holds where it is far"
)

_HALVINGS = 60


class Parts(tuple[Any, ...]):
    """What several pipelines beside each other replied, None where one refused."""


class Pipeline(ABC):
    """A step, or steps put together. `allocate` shares a total among them; `run` answers."""

    def allocate(self, *, epsilon: object, delta: object, rule: str = "sharp") -> Allocation:
        """How much every step gets, so that all of them together cost at most (epsilon, delta) by the rule."""
        total = cost_of_test(epsilon, delta, Neighbors.ADD_REMOVE)
        one, half = Fraction(1), Fraction(1, 2)
        unit_epsilon = total.epsilon / self.prices(one, half).by(rule).epsilon
        if self.prices(unit_epsilon, half).by(rule).epsilon != total.epsilon:  # a subsample makes it other than linear
            unit_epsilon = _largest(lambda unit: self.prices(unit, half).by(rule).epsilon <= total.epsilon, unit_epsilon)
        unit_delta = total.delta / len(list(self.steps()))
        if self.prices(one, 2 * unit_delta).by(rule).delta <= total.delta:  # a little less than the most is no loss
            unit_delta = _largest(lambda unit: self.prices(one, unit).by(rule).delta <= total.delta, unit_delta)
        return Allocation(self, unit_epsilon, min(unit_delta, Fraction(1, 4)), total, rule)

    def run(
        self,
        rows: Any,
        *,
        epsilon: object,
        delta: object,
        rule: str = "sharp",
        proposal: object = None,
        neighbors: object = Neighbors.ADD_REMOVE,
        rng: RandomSource | None = None,
    ) -> Release | NoReply:
        """Run on the rows (a list or an array of them) within the total. `proposal` is what the first level proposes from.

        A part of a `Parallel` or `Partition` that did not reply is None in the tuple that comes back.
        """
        allocation = self.allocate(epsilon=epsilon, delta=delta, rule=rule)
        relation = Neighbors.named(neighbors)
        cost = PrivacyCost(allocation.total.epsilon, allocation.total.delta, relation)
        source = source_or_system(rng)
        refuse_container(rows, "give the rows as a list or an array")
        reason, advice = REASON, ADVICE
        try:
            outcome = self.reply(rows, proposal, Run(allocation, relation, source))
        except ReleasedValueError as failure:
            if not source.private:
                raise
            outcome, reason, advice = REFUSED, str(failure), "The cost is spent; let the function take any number."
        if isinstance(outcome, Refused) or (isinstance(outcome, Parts) and all(part is None for part in outcome)):
            return NoReply(str(self), cost, METHOD, reason, advice, source.private)
        notes = [(f"step {place}", text) for place, text in enumerate(allocation.lines(), 1)]
        return Release(str(self), outcome, cost, METHOD, CLAIM, source.private, notes=(*notes, *allocation.totals()))

    @abstractmethod
    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """The price when a step of weight 1 gets these."""

    @abstractmethod
    def steps(self) -> Iterator[Step]:
        """Every step, in the order in which they run."""

    @abstractmethod
    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """What leaves for these rows: a value or REFUSED."""


@dataclass(frozen=True)
class Allocation:
    """How a total is shared among the steps of a pipeline."""

    pipeline: Pipeline
    unit_epsilon: Fraction
    unit_delta: Fraction
    total: PrivacyCost
    rule: str

    def budget(self, step: Step) -> TestedStep:
        """What one step gets."""
        return step.budget(self.unit_epsilon, self.unit_delta)

    def test(self, step: Step) -> LaplaceTest:
        """The test of one step."""
        budget = self.budget(step)
        return LaplaceTest(budget.test_epsilon, budget.delta, step.unstable_at, 1, step.least_threshold)

    @property
    def prices(self) -> Prices:
        """What all steps cost together, by either rule."""
        return self.pipeline.prices(self.unit_epsilon, self.unit_delta)

    def lines(self) -> list[str]:
        """One line for each step."""
        return [self._line(step) for step in self.pipeline.steps()]

    def _line(self, step: Step) -> str:
        budget = self.budget(step)
        test, release, delta = map(decimal_text, (budget.test_epsilon, budget.release_epsilon, budget.delta))
        threshold = self.test(step).threshold
        return f"{step.name}: test epsilon {test}, release epsilon {release}, delta {delta}, passes from {threshold} on"

    def totals(self) -> list[tuple[str, str]]:
        """The price of all, by either rule."""
        named = {"by the printed theorem": self.prices.printed, "by the sharper rule": self.prices.sharp}
        return [
            (name, f"epsilon = {decimal_text(one.epsilon)}, delta = {decimal_text(one.delta)}") for name, one in named.items()
        ]

    def __str__(self) -> str:
        totals = [f"total {name}: {text}" for name, text in self.totals()]
        return "\n".join([f"{self.pipeline} within {self.total}, shared by the {self.rule} rule", *self.lines(), *totals])


@dataclass(frozen=True)
class Run:
    """What every part of a running pipeline needs to know."""

    allocation: Allocation
    neighbors: Neighbors
    rng: RandomSource


@dataclass(frozen=True, eq=False)
class Step(Pipeline):
    """A PTR function (Definition 13): propose a bound, test the distance, release.

    The promise that a step makes: `distance(rows, bound)` moves by at most 1 between neighbours; and from a table whose
    distance is above `unstable_at` no neighbour's value is further than `bound` away (an `Exact` value is the same there). Where
    either function raises, or returns no number, it counts as 0, and the promise is about these numbers.
    `propose` sees only what the level before released, never rows. `finish` works on the released value alone; an `Exact`
    value leaves without it.
    """

    name: str
    value: Callable[[Any, Fraction], object]
    """The raw statistic from (rows, bound): a number, or an `Exact`."""
    distance: Callable[[Any, Fraction], object]
    """How many rows must change before the proposal may fail, from (rows, bound)."""
    propose: Callable[[Any], object]
    """The bound, from what the level before released; 0 releases the value as it is."""
    finish: Callable[[Any], Any] = unchanged
    unstable_at: int = 0
    least_threshold: int = 0
    test_weight: Fraction = Fraction(1)
    release_weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        for field in ("test_weight", "release_weight"):
            object.__setattr__(self, field, exact_rational(getattr(self, field), field))
        if self.test_weight <= 0 or self.release_weight < 0:
            raise InvalidParameterError(f"{self.name}: test_weight must be positive, and release_weight 0 or positive.")
        if type(self.least_threshold) is not int or self.least_threshold < 0:
            raise InvalidParameterError(f"{self.name}: least_threshold must be a whole number, 0 or more.")
        for field, arguments in (("value", 2), ("distance", 2), ("propose", 1), ("finish", 1)):
            if not takes(getattr(self, field), arguments):
                words = "(rows, bound)" if arguments == 2 else "one released value"
                raise InvalidParameterError(f"{self.name}: {field} must be a function of {words}.")
        LaplaceTest(Fraction(1), Fraction(1, 4), self.unstable_at)  # complains about unstable_at

    def budget(self, unit_epsilon: Fraction, unit_delta: Fraction) -> TestedStep:
        """What the step gets when one of weight 1 gets these."""
        return TestedStep(unit_epsilon * self.test_weight, unit_epsilon * self.release_weight, unit_delta)

    def prices(self, unit_epsilon: Fraction, unit_delta: Fraction) -> Prices:
        """A cascade of one."""
        return first_reply([self.budget(unit_epsilon, unit_delta)], same_release=True)

    def steps(self) -> Iterator[Step]:
        """Itself."""
        yield self

    def reply(self, rows: Any, proposal: object, run: Run) -> Any:
        """Propose, test, release."""
        if isinstance(proposal, Refused):
            return REFUSED
        bound = on_released(self._bound, f"propose of {self.name}")(proposal)
        test, budget = run.allocation.test(self), run.allocation.budget(self)
        raw_distance = _from_rows(self.distance, rows, bound, run)
        return release_if_stable(
            lambda: _from_rows(self.value, rows, bound, run),
            raw_distance,
            bound,
            test,
            budget.release_epsilon,
            run.rng,
            on_released(self.finish, f"finish of {self.name}"),
        )

    def _bound(self, proposal: object) -> Fraction:
        bound = exact_rational(self.propose(proposal), "the bound")
        if bound < 0 or (bound and not self.release_weight):
            raise InvalidParameterError("the bound must be 0, or positive with a weight for the release.")
        return bound

    def __str__(self) -> str:
        return self.name


def _from_rows(function: Callable[[Any, Fraction], object], rows: Any, bound: Fraction, run: Run) -> object:
    """What a function of the rows returns, and 0 where it fails; with a source that is not private, tests see the error."""
    return value_or(0, function, rows, bound) if run.rng.private else quietly(function, rows, bound)


def _largest(fits: Callable[[Fraction], bool], start: Fraction) -> Fraction:
    """A number that fits, and nearly the largest, for a condition that small numbers meet."""
    low, high = start, start
    while not fits(low):
        low /= 2
    while fits(high):
        low, high = high, high * 2
        if high > start * 2**_HALVINGS:
            return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
