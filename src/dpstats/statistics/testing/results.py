"""What a hypothesis test releases: its statistic and p-value, and the estimate that its interval is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar

from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Statistic, register
from dpstats.foundations.results import Interval
from dpstats.statistics.testing.parameters import choice_parameter

TWO_SIDED, LESS, GREATER = ALTERNATIVES = ("two-sided", "less", "greater")
_SMALLEST_SHOWN = 1e-4


@dataclass(frozen=True)
class TestResult:
    """A released test. Everything in it comes from noisy numbers; the p-value has the noise in it."""

    __test__: ClassVar[bool] = False  # a name that test runners would take for a test of their own

    symbol: str
    """What the statistic is called: "t", "D", "chi2"."""
    statistic: float
    p_value: float
    estimate: float
    estimates: str
    """What the estimate is of, in words."""
    df: float | None
    """Degrees of freedom, where the statistic has any."""
    rows: tuple[float, ...]
    """The noisy number of rows; of several groups one for each."""
    alternative: str = TWO_SIDED
    p_is_upper_bound: bool = field(default=False, kw_only=True)
    """Whether the p-value is the smallest that the test can give, so that the true one may be smaller."""

    @property
    def pvalue(self) -> float:
        """The p-value under the name that scipy has for it."""
        return self.p_value

    def __str__(self) -> str:
        return f"{self.symbol} = {self.statistic:.4g}, {p_text(self.p_value, is_upper_bound=self.p_is_upper_bound)}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True)
class CountsResult(TestResult):
    """A released test on a table of counts."""

    row_labels: tuple[Any, ...] = ()
    column_labels: tuple[Any, ...] = ()
    counts: tuple[tuple[float, ...], ...] = ()
    """The noisy table, row by row; noise can make a count negative."""
    expected: tuple[tuple[float, ...], ...] = ()
    """The counts that the null hypothesis makes of the noisy margins."""


def register_test(
    name: str,
    summary: str,
    parameters: tuple[Parameter, ...] = (),
    *,
    returns: str,
    reads: tuple[Reads, ...] = (Reads.NUMBERS,),
    value: type[TestResult] = TestResult,
    prefer: Callable[[Mapping[str, Any], Fraction], str] | None = None,
) -> Statistic:
    """Register a test that releases a `value`."""
    return register(
        Statistic(
            name, summary, parameters, reads, returns=returns, value=value, revive=lambda plain: value(**plain), prefer=prefer
        )
    )


def answer_of_test(
    result: TestResult,
    question: Question,
    notes: tuple[tuple[str, str], ...],
    ends: Callable[[float], tuple[float, float]],
    covers: str,
) -> Answer:
    """A result, with the interval of its estimate from the `ends` at a level where the question wants one."""
    notes = (("estimate", f"{result.estimate:.6g}, {result.estimates}"), *notes)
    if question.interval is None:
        return Answer(result, None, notes)
    level = float(question.interval)
    return Answer(result, Interval(*ends(level), level, covers, result.estimates), notes)


def p_text(p_value: float, *, is_upper_bound: bool = False) -> str:
    """A p-value for people; one that is only known not to be exceeded says so."""
    if p_value < _SMALLEST_SHOWN:
        return f"p < {_SMALLEST_SHOWN:.4f}"
    return f"p {'<=' if is_upper_bound else '='} {p_value:.2g}"


def simulated_text(simulated: str, p_value: float, *, is_upper_bound: bool) -> str:
    """The card's words on a p-value that was found among simulations of the null hypothesis."""
    bound = f"; none of them is as far out, so that p is at most {p_value:.2g}" if is_upper_bound else ""
    return f"{simulated}{bound}"


ALTERNATIVE = choice_parameter(
    "alternative", "what speaks against the null hypothesis: 'two-sided', 'less' or 'greater'", ALTERNATIVES, TWO_SIDED
)
