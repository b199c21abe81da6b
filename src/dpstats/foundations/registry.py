"""The registry: each statistic once, with its parameters, methods, help and claim.

The array functions, the command line, sessions, the service and the docs all read it, so a new statistic is one module in
`statistics/` and nothing else. Asking has two halves that never mix: `ask` checks every public thing and prices the question
from its parameters alone; `Question.run` then reads the data.
"""

from __future__ import annotations

import enum
import inspect
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import (
    DataTypeError,
    DpstatsError,
    InvalidParameterError,
    MissingParameterError,
    UnknownNameError,
)
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import Interval, NoReply, Release, value_text
from dpstats.foundations.retired import RETIRED
from dpstats.foundations.rounding import exact_rational, round_up
from dpstats.foundations.summaries import CodedTable, Column, Table
from dpstats.foundations.words import likely_name, unknown_word
from dpstats.foundations.working import one_question, own_state

REQUIRED: Any = inspect.Parameter.empty
JsonType = Mapping[str, Any]
"""What a JSON value may be, as JSON Schema."""
AUTO = "auto"
INTERVAL = 0.95
"""The confidence level of intervals where the asker names none."""
_USUAL_LEVEL = Fraction(95, 100)
PURE_LOSS = Fraction(1, 2)
"""rho / epsilon**2 of an epsilon-DP method of which nothing more is known."""


class Reads(enum.Enum):
    """What a statistic reads a column as."""

    NUMBERS = "numbers"
    LABELS = "labels"
    """Values of any type, for their number and as labels."""
    EITHER = "either"
    """Numbers where the column's declared type is one of numbers, labels where not."""
    FEATURES = "features"
    """One column of numbers or several, as many as are given; only as the first of a statistic's columns. Alone, they are columns
    of the same rows without an outcome. The statistic reads a table, also of one column."""
    COLUMNS = "columns"
    """Columns of any types, as many as are given: those of numbers are read as numbers, and others as labels. The statistic reads
    a table whose rows are counted by codes. Alone, they are columns of a whole table: where none are named, all are meant. Before
    an outcome they are its features."""


class Outcomes(enum.Enum):
    """What the outcome of a regression is, among numbers; whoever simulates tables wants to know."""

    NUMBERS = "any numbers"
    MARKS = "0 or 1"
    COUNTS = "counts"


@dataclass(frozen=True)
class Simulated:
    """Rows that are public because nobody's data is in them, on which a plan tries a question."""

    rows: NDArray[np.float64]
    """Rows by columns, as many columns as the question has; where the last is one of labels, their places among these."""
    truth: object = None
    """What an answer should be: numbers in the order of the answer's, from which errors are counted; None where it has none."""
    words: str = "simulated rows"
    """What these rows are, for people."""


@dataclass(frozen=True)
class Parameter:
    """One public parameter of a statistic."""

    name: str
    help: str
    check: Callable[[object], Any]
    """Turns what a caller gave into the value that the method reads, or raises `InvalidParameterError`."""
    default: Any = REQUIRED
    """What a caller would write for it; checked like anything that a caller gives."""
    json_type: JsonType | None = None
    """What a document may give for it, where the type of its default does not say that."""
    by_name: bool = False
    """Whether a question shows it by its name."""
    takes: Any = Any
    """The type of what a caller may give, for type checkers and editors."""
    takes_by_name: Any = None
    """The same in a session, which runs nobody's code, where that is less; None where it is the same."""


@dataclass(frozen=True)
class ValueBy:
    """What type the value of a release has, where that goes by what a caller gives for a parameter."""

    parameter: str
    cases: tuple[tuple[Any, Any], ...]
    """The type of what is given, and that of the value; the default, where there is one, in the first case and the last."""


@dataclass(frozen=True)
class SameQuestion:
    """A question as another statistic asks it."""

    statistic: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As the checks of its parameters leave them."""


@dataclass(frozen=True)
class Answer:
    """What a method hands back: the released value, and what belongs on the card beside it."""

    value: object
    interval: Interval | None = None
    notes: tuple[tuple[str, str], ...] = ()
    intervals: tuple[Interval, ...] = ()
    """One for each of several values, in their order."""
    claim: str = ""
    """What the answer claims, where that is not what its method claims."""
    rough: str = ""
    """Why the answer is rough, where it is: below its statistic's floor (statistics/floors.py)."""
    unknown: str = ""
    """Why there is no interval although one was asked for, for the card and the printed line."""


@dataclass(frozen=True)
class Refusal:
    """What a method hands back when its test said no, or too few rows were seen; a function of released numbers alone."""

    reason: str
    advice: str
    times: float | None = None
    """How many times this epsilon an answer takes, where that is known. The advice then says {epsilon} where `advice_of` is to
    name an epsilon, for which the price of this question must be known."""


Outcome = Answer | Refusal

BOOLEAN_COLUMN = "the column holds true and false"
"""Why "auto" takes another method for a column whose declared type is boolean, for the card."""
NEEDED_EPSILON = "{epsilon}"
"""Stands in a refusal's advice for words on the epsilon that an answer takes."""
MOST_ADVISED_EPSILON = 10
"""No refusal advises to spend more: a larger epsilon protects next to nobody (a factor of 22,000 for any probability)."""
COULD_NOT = Refusal("The answer could not be computed.", "The cost is spent; ask again or ask the data holder.")
"""What is said of everything that goes wrong because of the data."""


@dataclass(frozen=True)
class Method:
    """One way to compute a statistic, with what it claims."""

    name: str
    claim: str
    run: Callable[[Any, Question, RandomSource], Answer | Refusal]
    """Takes a `Column`, or where the statistic reads several columns a `Table`."""
    needs_delta: bool = False
    version: int = 1
    """Goes up when the claim or what is released for the same question changes, so that old ledger lines keep their meaning."""
    loss: Fraction = PURE_LOSS
    """At most rho / epsilon**2, where rho is its cost in zero-concentrated privacy apart from delta: 1/8 for an exponential
    mechanism, less for several steps that share an epsilon."""
    check: Callable[[Question], None] | None = None
    """Raises where the method cannot answer a question of the statistic, such as one with too many features; before anything is
    spent or read. None where it can answer all."""
    by_unit: Callable[[Question], int] | None = None
    """Where units have several rows: how many steps by unit it takes, by the question alone, so that its errors allow for them; 0
    where they need none. None where errors take rows as independent, which the reply then says."""
    tells_truths: bool = False
    """Whether it counts the rows of a column that are true, false or neither: a text that is neither must not be missing then."""


@dataclass(frozen=True)
class Statistic:
    """A named statistic: what it is, what it takes, and the methods that compute it, the preferred one first."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    reads: tuple[Reads, ...] = (Reads.NUMBERS,)
    """Its columns, and what they are read as."""
    only_counts: bool = False
    """Whether it asks for nothing but a number of rows, so that a table without a named column has one too."""
    methods: dict[str, Method] = field(default_factory=dict)
    returns: str = ""
    """What the value of a release is, for the help: "a step function that ..."."""
    value: Any = Any
    """The type of the value of a release, or a `ValueBy`, for type checkers and editors."""
    why_preferred: str = ""
    """Why "auto" takes the first method, for the card."""
    revive: Callable[[Any], Any] = lambda plain: plain
    """Makes the value of a release again from the plain form in which it was archived; lists have become tuples already."""
    prefer: Callable[[Mapping[str, Any], Fraction], str] | None = None
    """Which method "auto" takes, by the checked arguments and the delta that may be spent; None for the first one, always."""
    told: Callable[[Mapping[str, Any], bool | None], bool | None] = lambda arguments, declared: declared
    """For a column that is read as numbers or labels: whether it holds numbers, by the checked arguments and by its declared type
    (True for numbers, None for no type); None where neither says it."""
    settle: Callable[[Question, bool], Question] = lambda question, numeric: question
    """For a column that is read as numbers or labels: the question as it stands when that is known (True: numbers). The
    method may become another one, and the cost less, never more; raises `DataTypeError` where the question does not fit."""
    usual_delta: Fraction | None = None
    """The delta that the command line spends, and says so, where a question may need one and none is given."""
    outcomes: Outcomes = Outcomes.NUMBERS
    """Of a statistic of features: what its outcome is."""
    parameter_first: bool = False
    """Whether its first parameter comes before the data, as in mle("gamma", x); it is required then."""
    most_features: int = 40
    """Of a statistic of features: how many columns it takes, an outcome apart."""
    settle_columns: Callable[[Question, Mapping[str, str], Mapping[str, Sequence[Any]]], Question] = (
        lambda question, kinds, keys: question
    )
    """For columns of any types: the question as it stands when their declared types are known, and the values of those that have
    public ones; at the same cost. Raises where the question does not fit them."""
    labelled: Callable[[Mapping[str, Any]], Collection[str]] = lambda arguments: ()
    """For columns of any types: which of them are read as labels whatever their types are, by the checked arguments."""
    same_as: Callable[[Mapping[str, Any]], SameQuestion | None] = lambda arguments: None
    """The question of another statistic that is the very same, by the checked arguments; None where there is none. The method of
    the same name, in the same version, releases the same for it."""
    boolean_method: str = ""
    """The method that "auto" takes for a column whose declared type is boolean; empty where that makes no difference. It takes no
    delta."""
    takes_conditions: bool = False
    """Whether a condition may stand for its column: hours > 0."""
    is_share: bool = False
    """Whether its value is a share of the rows. Plans count its errors in shares, on tables of zeros and ones."""
    simulate: Callable[[Question, int, np.random.Generator], Simulated] | None = None
    """For plans, where tables of public shapes are of no use: a random table of that many rows, such as rows of the law that a
    question fits. None: tables of shapes will do."""

    @property
    def takes_features(self) -> bool:
        """Whether it reads as many columns as it is given."""
        return self.reads[0] in (Reads.FEATURES, Reads.COLUMNS)

    @property
    def reads_codes(self) -> bool:
        """Whether it reads columns of any types, as codes."""
        return self.reads[0] is Reads.COLUMNS

    @property
    def takes_tables(self) -> bool:
        """Whether it reads columns of any types without an outcome, by default all of a table."""
        return self.reads_codes and len(self.reads) == 1

    @property
    def has_outcome(self) -> bool:
        """Whether the last of the columns that it is given is the outcome of the others."""
        return self.takes_features and len(self.reads) > 1

    @property
    def takes_only_columns(self) -> bool:
        """Whether everything that it is given by position, but for a first parameter, is a column; the rest goes by name."""
        return self.takes_features and not self.has_outcome

    def reads_of(self, columns: int) -> tuple[Reads, ...]:
        """What each of `columns` columns is read as: features are numbers, unless they are columns of any types."""
        if not self.takes_features:
            return self.reads
        feature = Reads.EITHER if self.reads_codes else Reads.NUMBERS
        return (*(feature,) * (columns - len(self.reads) + 1), *self.reads[1:])

    def refuse_retired(self, name: object) -> None:
        """Raise where a method of that name was retired."""
        if isinstance(name, str) and (retired := RETIRED.get((self.name, name))):
            without = "" if self.methods[retired.successor].needs_delta else ", without delta"
            instead = f"ask with method={retired.successor!r}{without}"
            raise UnknownNameError(f"{self.name} has no method {name!r} any more: {instead}.")

    def method_for(self, name: object, arguments: Mapping[str, Any] | None = None, delta: Fraction = Fraction(0)) -> Method:
        """The method of that name; "auto" takes the preferred one, where that depends on them by arguments and delta."""
        if name == AUTO:
            if self.prefer is not None and arguments is not None:
                return self.methods[self.prefer(arguments, delta)]
            return next(iter(self.methods.values()))
        self.refuse_retired(name)
        if not isinstance(name, str) or name not in self.methods:
            known = ", ".join(repr(known) for known in (AUTO, *self.methods))
            raise UnknownNameError(f"{self.name} has no method {name!r}; it has {known}.")
        return self.methods[name]


@dataclass(frozen=True)
class Question:
    """A checked and priced question; nothing in it comes from data."""

    statistic: Statistic
    method: Method
    arguments: Mapping[str, Any]
    cost: PrivacyCost
    columns: tuple[str, ...] = ()
    """The names of its columns; of an array without a name the empty text."""
    why: str = ""
    """Why this method was taken, where the asker left the choice to us."""
    interval: Fraction | None = _USUAL_LEVEL
    """The confidence level of intervals; None where none is wanted, and none is paid for."""
    rough: bool = False
    """Whether a rough answer is wanted where rows times epsilon are too few for a good one, and a refusal would be due."""
    by_auto: bool = False
    """Whether the asker left the choice of the method to us."""

    @property
    def column(self) -> str:
        """Its columns in words: income; income, age; of features [age, schooling], income; without an outcome [age, income]."""
        if not self.statistic.takes_features or len(self.columns) < 2 or not any(self.columns):
            return ", ".join(name for name in self.columns if name)
        *features, last = self.columns if self.statistic.has_outcome else (*self.columns, None)
        names = ", ".join(name or f"x{place}" for place, name in enumerate(features, 1))
        listed = names if len(features) == 1 else f"[{names}]"
        return listed if last is None else f"{listed}, {last or 'y'}"

    @property
    def is_share(self) -> bool:
        """Whether its value is a share of the rows: always, or for a column of true and false."""
        return self.statistic.is_share or self.method.name == self.statistic.boolean_method

    @property
    def largest_loss(self) -> Fraction:
        """rho / epsilon**2 of the method that it takes, whatever the type of its column turns out to be."""
        by_type = self.statistic.methods.get(self.statistic.boolean_method) if self.by_auto else None
        return max(self.method.loss, self.method.loss if by_type is None else by_type.loss)

    @property
    def epsilon(self) -> Fraction:
        """What the whole answer may spend."""
        return self.cost.epsilon

    @property
    def delta(self) -> Fraction:
        """The delta that the whole answer may spend."""
        return self.cost.delta

    @property
    def neighbors(self) -> Neighbors:
        """The relation that the answer protects."""
        return Neighbors.named(self.cost.neighbors)

    def on(self, columns: Sequence[str]) -> Question:
        """The same question about these columns; raises where its method cannot answer it about them.

        Of features nothing can be said before they are known.
        """
        question = replace(self, columns=tuple(columns))
        if self.method.check is not None and (columns or not self.statistic.takes_features):
            self.method.check(question)
        return question

    def reads_numbers(self, declared: Sequence[bool | None]) -> tuple[bool, ...]:
        """Whether each column is read as numbers, from its declared type: True for numbers, False for others, None for no type.

        The rows never decide it. Where a statistic takes either, its arguments say which, or else the declared type.
        """
        reads = self.statistic.reads_of(len(declared))
        if self.statistic.reads_codes:
            labelled = self.statistic.labelled(self.arguments)
            told = zip(self.columns, declared, reads, strict=True)
            return tuple(kind is Reads.EITHER and name not in labelled and bool(each) for name, each, kind in told)
        return tuple(self._is_numeric(kind, each) for kind, each in zip(reads, declared, strict=True))

    def _is_numeric(self, reads: Reads, declared: bool | None) -> bool:
        if reads is not Reads.EITHER:
            return reads is Reads.NUMBERS
        told = self.statistic.told(self.arguments, declared)
        if told is None:
            raise DataTypeError(
                f"{self.statistic.name} takes numbers or labels, and this column declares no type: say kind='numbers' or "
                "kind='labels', or declare the column's type."
            )
        return told

    def settled(self, numeric: bool, *, boolean: bool = False) -> Question:
        """The question as it stands when it is known whether its first column is read as numbers, and whether it is declared
        boolean; it costs no more."""
        if boolean and self.by_auto and self.statistic.boolean_method:
            return replace(self, method=self.statistic.methods[self.statistic.boolean_method], why=BOOLEAN_COLUMN)
        if self.statistic.reads != (Reads.EITHER,):
            return self
        settled = self.statistic.settle(self, numeric)
        if not settled.cost <= self.cost:
            raise DpstatsError(f"{self.statistic.name} cannot cost more than it was priced at.")
        return settled

    def __str__(self) -> str:
        first = int(self.statistic.parameter_first)
        shown = [self.column] if self.column else []
        for place, parameter in enumerate(self.statistic.parameters):
            value = self.arguments[parameter.name]
            if place < first:
                shown.insert(place, _argument_text(value))
            elif parameter.default is REQUIRED or value != parameter.check(parameter.default):
                by_name = self.statistic.takes_only_columns or parameter.by_name
                shown.append(f"{f'{parameter.name}=' if by_name else ''}{_argument_text(value)}")
        if self.interval != _USUAL_LEVEL:
            shown.append(f"interval={'None' if self.interval is None else _argument_text(self.interval)}")
        if self.rough:
            shown.append("rough=True")
        by_type = self.by_auto and self.method.name == self.statistic.boolean_method
        if self.method is not next(iter(self.statistic.methods.values())) and not by_type:
            shown.append(f"method={self.method.name}")
        return f"{self.statistic.name}({', '.join(shown)})" if shown else self.statistic.name

    def run(self, opened: Column | Table | CodedTable, source: RandomSource) -> Outcome:
        """What the method makes of the columns that it reads."""
        return self.method.run(opened, self, source)

    def answer(self, opened: Column | Table | CodedTable, rng: RandomSource | None = None) -> Release | NoReply:
        """The reply by itself, without a ledger: whatever goes wrong because of the data is one `NoReply`."""
        source = source_or_system(rng)
        return self.reply(outcome_of(lambda: self.run(opened, source), source), private=source.private)

    def reply(
        self,
        outcome: Outcome,
        *,
        private: bool,
        text: str | None = None,
        cost: PrivacyCost | None = None,
        notes: tuple[tuple[str, str], ...] = (),
    ) -> Release | NoReply:
        """An outcome as what is handed out; `text` and `cost` where it was asked otherwise than the method got it."""
        why = (("chosen because", self.why),) if self.why else ()
        if isinstance(outcome, Answer) and self.interval is None:
            outcome = replace(outcome, unknown="")
        elif isinstance(outcome, Answer) and not outcome.unknown and _lacks_interval(outcome):
            outcome = replace(outcome, unknown=f"the method {self.method.name} gives none")
        return reply_to(
            text or str(self),
            outcome,
            cost=cost or self.cost,
            method=self.method.name,
            claim=self.method.claim,
            private=private,
            first=why,
            last=notes,
        )


T = TypeVar("T")


def outcome_of(compute: Callable[[], T], source: RandomSource) -> T | Refusal:
    """The one boundary between data and whoever asks: whatever they cause while an answer is computed is one refusal.

    All of it sees one state of the rows, and is computed in our own numeric state, whatever the caller has set. Interrupts pass.
    With a seeded source, which is never private, errors pass too, so that tests see them.
    """
    try:
        with own_state(source.private), one_question():
            return compute()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # not only Exception: a panic of a library in Rust is none
        if not source.private:
            raise
        return COULD_NOT


def reply_to(
    question: str,
    outcome: Outcome,
    *,
    cost: PrivacyCost,
    method: str,
    claim: str,
    private: bool,
    first: tuple[tuple[str, str], ...] = (),
    last: tuple[tuple[str, str], ...] = (),
) -> Release | NoReply:
    """An outcome as a `Release` or a `NoReply`; `first` and `last` are notes before and after its own."""
    if isinstance(outcome, Refusal):
        return NoReply(question, cost, method, outcome.reason, advice_of(outcome, cost), private)
    return Release(
        question=question,
        value=outcome.value,
        cost=cost,
        method=method,
        claim=outcome.claim or claim,
        private=private,
        interval=outcome.interval,
        intervals=outcome.intervals,
        notes=(*((("rough", outcome.rough),) if outcome.rough else ()), *first, *outcome.notes, *last),
        rough=bool(outcome.rough),
        unknown=outcome.unknown if outcome.interval is None and not outcome.intervals else "",
    )


def advice_of(refusal: Refusal, cost: PrivacyCost) -> str:
    """What a refusal advises, with the epsilon that an answer takes where that is known."""
    if refusal.times is None:
        return refusal.advice.replace(NEEDED_EPSILON, "")
    needed = round_up(float(cost.epsilon) * refusal.times)
    words = f", or epsilon {needed:g} with these"
    if needed > MOST_ADVISED_EPSILON:
        words = f"; with these, no epsilon up to {MOST_ADVISED_EPSILON} is enough"
    return refusal.advice.replace(NEEDED_EPSILON, words)


def _lacks_interval(outcome: Answer) -> bool:
    """Whether an answer is a number that might have an interval, and has none."""
    is_number = isinstance(outcome.value, (int, float)) and not isinstance(outcome.value, bool)
    return is_number and outcome.interval is None and not outcome.intervals


_STATISTICS: dict[str, Statistic] = {}
_HOMES: dict[str, Home] = {}
"""Statistics that may not have been loaded yet."""
_LOADING = threading.RLock()

OTHER_NAMES = {
    "average": "mean",
    **dict.fromkeys(("share", "prop", "proportion_confint", "prop_test", "percentage"), "proportion"),
    "var": "variance",
    "stdev": "std",
    "cov": "covariance",
    **dict.fromkeys(("corr", "corrcoef", "pearsonr", "spearmanr", "kendalltau"), "correlation"),
    **dict.fromkeys(("percentile", "quantiles", "percentiles"), "quantile"),
    "trim_mean": "trimmed_mean",
    "winsorize": "winsorized_mean",
    **dict.fromkeys(("ttest_1samp", "ttest_rel", "ttest"), "t_test"),
    "ttest_ind": "two_sample_t_test",
    **dict.fromkeys(("f_oneway", "anova_oneway"), "anova"),
    **dict.fromkeys(("mannwhitneyu", "ranksums", "wilcoxon", "wilcox_test"), "mann_whitney"),
    **dict.fromkeys(("kaplan_meier", "KaplanMeierFitter", "survfit", "ecdf_censored"), "survival_curve"),
    "binomtest": "sign_test",
    "chi2_contingency": "chi_square_test",
    "chisquare": "goodness_of_fit_test",
    **dict.fromkeys(("kstest", "ks_1samp"), "ks_test"),
    "ks_2samp": "two_sample_ks_test",
    "hist": "histogram",
    "ecdf": "cdf",
    **dict.fromkeys(("k_means", "cluster", "clusters"), "kmeans"),
    **dict.fromkeys(("mixture", "gmm"), "gaussian_mixture"),
    **dict.fromkeys(("apriori", "fpgrowth", "itemsets"), "frequent_itemsets"),
}
"""What other libraries call a statistic, for hints."""


def register(statistic: Statistic) -> Statistic:
    """Put a statistic on the list; a name can be taken once."""
    if statistic.name in _STATISTICS:
        raise DpstatsError(f"a statistic named {statistic.name!r} is registered already.")
    _STATISTICS[statistic.name] = statistic
    return statistic


def method(
    statistic: Statistic,
    name: str,
    *,
    claim: str,
    needs_delta: bool = False,
    loss: Fraction = PURE_LOSS,
    version: int = 1,
    check: Callable[[Question], None] | None = None,
    by_unit: Callable[[Question], int] | None = None,
    tells_truths: bool = False,
) -> Callable[[Callable[..., Answer | Refusal]], Callable[..., Answer | Refusal]]:
    """Decorator: the function below computes `statistic` by the method `name`."""

    def attach(run: Callable[..., Answer | Refusal]) -> Callable[..., Answer | Refusal]:
        if name in statistic.methods:
            raise DpstatsError(f"{statistic.name} has a method named {name!r} already.")
        statistic.methods[name] = Method(name, claim, run, needs_delta, version, loss, check, by_unit, tells_truths)
        return run

    return attach


class Home(NamedTuple):
    """Where a statistic is registered, and its methods in the order in which they are listed."""

    modules: tuple[str, ...]
    methods: tuple[str, ...]


def announce(homes: Mapping[str, Home]) -> None:
    """Put statistics on the list whose modules are loaded when they are first looked for."""
    _HOMES.update(homes)


def statistic_names() -> list[str]:
    """The names of all statistics, sorted."""
    return sorted({*_STATISTICS, *_HOMES})


def find_statistic(name: str) -> Statistic:
    """The statistic of that name."""
    if name in _HOMES:
        _load(name)
    if name not in _STATISTICS:
        near = likely_name(name, statistic_names(), OTHER_NAMES)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(statistic_names())}."
        raise UnknownNameError(f"there is no statistic {name!r}; {hint}")
    return _STATISTICS[name]


def _load(name: str) -> None:
    with _LOADING:
        if home := _HOMES.get(name):
            for module in home.modules:
                import_module(module)
            methods = _STATISTICS[name].methods
            for each in home.methods:  # in whatever order the modules were loaded
                methods[each] = methods.pop(each)
            del _HOMES[name]


def ask(
    name: str,
    *positional: object,
    epsilon: object = None,
    delta: object = 0,
    neighbors: object = Neighbors.ADD_REMOVE,
    method: object = AUTO,
    interval: object = INTERVAL,
    rough: object = False,
    unit: str = "row",
    column: str | Sequence[str] = "",
    **keywords: object,
) -> Question:
    """Check and price a question. Reads no data; raises only about public things.

    Where the method is left to us, delta is what may be spent, and a method that needs none spends none.
    """
    statistic = find_statistic(name)
    given = _named_arguments(statistic, positional, keywords)
    if epsilon is None:
        raise MissingParameterError(f"{name} needs epsilon, the privacy that it may spend: for example epsilon=0.5.")
    arguments, allowed = _checked_arguments(statistic, given), spendable_delta(delta)
    chosen = statistic.method_for(method, arguments, allowed)
    if chosen.needs_delta and not allowed:
        raise MissingParameterError(f"{name} by method {chosen.name!r} needs delta: for example delta=1e-6.")
    if allowed and not chosen.needs_delta and method != AUTO:
        raise InvalidParameterError(f"{name} by method {chosen.name!r} is pure epsilon-DP and spends no delta: leave delta out.")
    cost = PrivacyCost(spendable_epsilon(epsilon), allowed if chosen.needs_delta else 0, Neighbors.named(neighbors), unit)
    why = statistic.why_preferred if method == AUTO else ""
    columns = (column,) if isinstance(column, str) else tuple(column)
    level, is_rough = checked_level(interval), checked_rough(rough)
    return Question(statistic, chosen, arguments, cost, (), why, level, is_rough, method == AUTO).on(columns)


def may_spend_delta(
    name: str, positional: Sequence[object], keywords: Mapping[str, Any], delta: Fraction = Fraction(1, 10**9)
) -> bool:
    """Whether a question needs delta by the method that is taken where `delta` may be spent, as far as its parameters tell."""
    statistic = find_statistic(name)
    own = {word: value for word, value in keywords.items() if word not in ("epsilon", "delta", "method", "interval", "rough")}
    method = keywords.get("method", AUTO)
    if statistic.prefer is None or method != AUTO:
        return statistic.method_for(method).needs_delta
    arguments = _checked_arguments(statistic, _named_arguments(statistic, tuple(positional), own))
    return statistic.method_for(method, arguments, delta).needs_delta


must_spend_delta = partial(may_spend_delta, delta=Fraction(0))
"""Whether a question cannot be asked without delta."""


def checked_level(value: object) -> Fraction | None:
    """The confidence level of an interval, or None for no interval."""
    if value is None:
        return None
    return _usual_level(value) if type(value) in (float, str, Fraction) else _level(value)


def _level(value: object) -> Fraction:
    level = exact_rational(value, "interval")
    if not Fraction(1, 2) <= level <= Fraction(999, 1000):
        raise InvalidParameterError(f"interval must be a level from 0.5 to 0.999, such as 0.95, or None for none; got {value}.")
    return level


_usual_level = lru_cache(maxsize=64, typed=True)(_level)
"""The same level is checked several times on a question's way."""


def checked_rough(value: object) -> bool:
    """Whether a rough answer is wanted in place of a refusal."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(f"rough must be True or False, got {value!r}.")
    return bool(value)


def refuse_surplus(statistic: Statistic, positional: Sequence[object], after: str) -> None:
    """Raise when more is given by position than the statistic takes `after` the data; the last of it is likely epsilon."""
    names = [parameter.name for parameter in statistic.parameters]
    if len(positional) <= len(names):
        return
    takes = f"only {', '.join(names)}" if names else "nothing"
    epsilon = positional[-1] if type(positional[-1]) in (int, float) else 0.5
    several = list(positional[len(names) - 1 :])
    hint = f"; for several {names[-1]} write {several}" if names and _is_allowed(several, statistic.parameters[-1]) else ""
    raise InvalidParameterError(f"{statistic.name} takes {takes} after {after}; give epsilon by name: epsilon={epsilon}{hint}.")


def _named_arguments(statistic: Statistic, positional: tuple[object, ...], keywords: dict[str, object]) -> dict[str, object]:
    """The parameters that were given, by name."""
    names = [parameter.name for parameter in statistic.parameters]
    common = ["epsilon", "delta", "neighbors", "method", "interval", "rough", "unit", "rng"]
    for name in [name for name in keywords if name not in names]:
        raise unknown_word(statistic.name, name, [*names, *common])
    refuse_surplus(statistic, positional, "the data")
    given = dict(zip(names, positional, strict=False))
    for name in given.keys() & keywords.keys():
        raise InvalidParameterError(f"{statistic.name} got {name} twice.")
    return given | keywords


def _checked_arguments(statistic: Statistic, given: dict[str, object]) -> dict[str, Any]:
    arguments = {}
    for parameter in statistic.parameters:
        if parameter.name in given:
            arguments[parameter.name] = parameter.check(given[parameter.name])
        elif parameter.default is REQUIRED:
            raise MissingParameterError(f"{statistic.name} needs {parameter.name}: {parameter.help}.")
        else:
            arguments[parameter.name] = parameter.check(parameter.default)
    return arguments


def _is_allowed(several: Sequence[object], parameter: Parameter) -> bool:
    if not all(type(item) in (int, float) for item in several):
        return False
    try:
        parameter.check(several)
    except (DpstatsError, TypeError, ValueError):
        return False
    return True


def argument_name(value: object) -> str | None:
    """What an argument that is neither a text nor a number is called: the name of a law, or of a function; None without one."""
    if isinstance(value, (str, enum.Enum, type(None))):
        return None
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    return name if isinstance(name, str) and name.isprintable() else None


def _is_named(item: object) -> bool:
    """Whether it is an item of a dict that a check has frozen."""
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)


def _argument_text(value: object) -> str:
    if isinstance(value, tuple) and value and all(map(_is_named, value)):
        value = dict(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_argument_text(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_argument_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, (Fraction, float)):
        return value_text(float(value))
    return argument_name(value) or str(value)
