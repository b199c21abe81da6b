"""The registry: a question is checked and priced before data is opened, and data can only lead to one kind of failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import pytest

from dpstats.foundations import registry
from dpstats.foundations.errors import (
    DpstatsError,
    InvalidParameterError,
    MissingParameterError,
    UnknownNameError,
)
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from dpstats.foundations.randomness import seeded
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Refusal, Statistic, ask
from dpstats.foundations.results import Interval, NoReply, Release
from dpstats.foundations.rounding import exact_rational

SECRET = "98765.4321 of Xanthippe"


class Untouchable:
    """A column that must not be looked at."""

    def __getattribute__(self, name: str) -> object:
        raise AssertionError("the data was read")

    def __len__(self) -> int:
        raise AssertionError("the data was read")

    def __bool__(self) -> bool:
        raise AssertionError("the data was read")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the data was read")

    __hash__ = None  # type: ignore[assignment]


untouchable: Any = Untouchable()


def positive(value: object) -> Fraction:
    number = exact_rational(value, "width")
    if number <= 0:
        raise InvalidParameterError(f"width must be positive, got {value}.")
    return number


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Statistic:
    """The registry with one statistic only: it is answered purely, with delta, by a refusal, or by a crash."""
    statistic = Statistic(
        "toy",
        "Only for tests.",
        (
            Parameter("width", "how wide, for example 0.5", positive),
            Parameter("mode", "in which mode", str, "plain"),
            Parameter("marks", "some places", lambda places: tuple(cast(Any, places)), ()),
        ),
    )

    @registry.method(statistic, "pure", claim="pure epsilon-DP")
    def pure(column: object, question: Question, rng: Any) -> Answer:
        return Answer(42.0, Interval(41.0, 43.0, 0.9, "the noise"), (("public", "the width"),))

    @registry.method(statistic, "approximate", claim="(epsilon, delta)-DP", needs_delta=True)
    def approximate(column: object, question: Question, rng: Any) -> Refusal:
        return Refusal("The test failed.", "Ask with more epsilon.")

    @registry.method(statistic, "crashing", claim="none")
    def crashing(column: object, question: Question, rng: Any) -> Answer:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(registry, "_STATISTICS", {statistic.name: statistic})
    monkeypatch.setattr(registry, "_HOMES", {})
    return statistic


# Asking


@pytest.mark.usefixtures("toys")
def test_a_delta_that_the_automatic_method_does_not_need_is_not_spent() -> None:
    assert ask("toy", 1, epsilon=1, delta=1e-6).cost == PrivacyCost(1)


def test_the_card_says_why_the_automatic_method_was_chosen(toys: Statistic, monkeypatch: pytest.MonkeyPatch) -> None:
    reasoned = replace(toys, why_preferred="it erred least")
    monkeypatch.setattr(registry, "_STATISTICS", {"toy": reasoned})
    automatic = ask("toy", 1, epsilon=1).answer(untouchable, seeded(1))
    named = ask("toy", 1, epsilon=1, method="pure").answer(untouchable, seeded(1))
    assert isinstance(automatic, Release)
    assert isinstance(named, Release)
    assert ("chosen because", "it erred least") in automatic.card().lines
    assert "chosen because" not in dict(named.card().lines)


@pytest.mark.usefixtures("toys")
def test_a_question_is_priced_from_its_parameters_alone() -> None:
    question = ask("toy", 0.1, epsilon=0.3, neighbors="change_one", unit="person", column="age", marks=[1, 2])
    assert question.cost == PrivacyCost("0.3", 0, Neighbors.CHANGE_ONE, "person")
    assert question.epsilon == Fraction(3, 10)
    assert question.neighbors is Neighbors.CHANGE_ONE
    assert question.arguments == {"width": Fraction(1, 10), "mode": "plain", "marks": (1, 2)}
    assert question.method.name == "pure"


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ask("tow", epsilon=1), UnknownNameError, "there is no statistic 'tow'; did you mean toy"),
        (lambda: ask("toy", 1), MissingParameterError, r"needs epsilon, .* for example epsilon=0\.5"),
        (lambda: ask("toy", 1, epsilon=0), InvalidParameterError, "epsilon must be a positive number such as 0.5"),
        (lambda: ask("toy", 1, epsilon="lots"), InvalidParameterError, "number such as 0.5 or '1/3', got 'lots'"),
        (lambda: ask("toy", 1, epsilon=float("nan")), InvalidParameterError, "epsilon must be a finite number"),
        (lambda: ask("toy", 1, epsilon=1, delta=0.7), InvalidParameterError, r"below 0\.5, such as 1e-6, got 0\.7"),
        (lambda: ask("toy", 1, epsilon=1, delta=None), InvalidParameterError, "delta must be a number, got NoneType"),
        (lambda: ask("toy", 1, epsilon=1, delta=1e-6, method="pure"), InvalidParameterError, "no delta: leave delta out"),
        (lambda: ask("toy", 1, epsilon=1, method="approximate"), MissingParameterError, "needs delta: for example delta=1e-6"),
        (lambda: ask("toy", 1, epsilon=1, method="magic"), UnknownNameError, "it has 'auto', 'pure', 'approximate', 'crashing'"),
        (lambda: ask("toy", 1, epsilon=1, method=["pure"]), UnknownNameError, r"no method \['pure'\]; it has 'auto'"),
        (lambda: ask("toy", 1, epsilon=1, method=None), UnknownNameError, "no method None"),
        (lambda: ask("toy", 1, epsilon=1, neighbors="friends"), InvalidParameterError, "'add_remove' or 'change_one'"),
        (lambda: ask("toy", epsilon=1), MissingParameterError, "toy needs width: how wide, for example 0.5"),
        (lambda: ask("toy", -1, epsilon=1), InvalidParameterError, "width must be positive, got -1"),
        (
            lambda: ask("toy", 1, epsilon=1, colour="red"),
            UnknownNameError,
            "no parameter 'colour'; it has width, mode, marks, epsi",
        ),
        (lambda: ask("toy", 1, width=1, epsilon=1), InvalidParameterError, "toy got width twice"),
        (lambda: ask("toy", 1, "a", (), 1), InvalidParameterError, r"only width, mode, marks .* by name: epsilon=1\.$"),
        (lambda: ask("toy", 1, "a", 2, 3), InvalidParameterError, r"epsilon=3; for several marks write \[2, 3\]\.$"),
        (lambda: ask("toy", 1, eps=1), UnknownNameError, r"toy has no parameter 'eps'; did you mean epsilon\?$"),
        (lambda: ask("toy", 1, Epsilon=1), UnknownNameError, r"toy has no parameter 'Epsilon'; did you mean epsilon\?$"),
        (lambda: ask("toy", 1, epsilon=1, unit=""), InvalidParameterError, "unit must be"),
        (
            lambda: ask("toy", 1, "a", (), "b", epsilon=1),
            InvalidParameterError,
            r"only width, mode, marks .* by name: epsilon=0\.5",
        ),
    ],
)
def test_a_wrong_question_is_refused_with_what_to_do_before_any_data(
    call: Callable[[], Question], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        call().answer(untouchable)
    assert isinstance(caught.value, DpstatsError)


def test_a_statistic_without_parameters_says_that_it_takes_nothing(toys: Statistic) -> None:
    bare = registry.register(Statistic("bare", "Only for tests."))
    registry.method(bare, "plain", claim="none")(lambda *_: Answer(1))
    with pytest.raises(InvalidParameterError, match=r"bare takes nothing after the data; give epsilon by name: epsilon=1\.$"):
        ask("bare", 1)
    with pytest.raises(UnknownNameError, match="there are bare, toy"):
        ask("none", epsilon=1)


def test_parameters_and_defaults_are_checked_once(toys: Statistic) -> None:
    seen = []

    def check(value: object) -> object:
        seen.append(value)
        return value

    watched = registry.register(
        Statistic("watched", "Only for tests.", (Parameter("a", "", check), Parameter("b", "", check, 7)))
    )
    registry.method(watched, "plain", claim="none")(lambda *_: Answer(1))
    assert ask("watched", a=3, epsilon=1).arguments == {"a": 3, "b": 7}
    assert seen == [3, 7]


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        (lambda: ask("toy", 0.5, epsilon=1), "toy(0.5)"),
        (lambda: ask("toy", "1/3", epsilon=1, column="age"), "toy(age, 0.333333333333333)"),
        (
            lambda: ask("toy", 1, "loud", [1, Fraction(1, 4)], epsilon=1, column="net income"),
            "toy(net income, 1, loud, [1, 0.25])",
        ),
        (lambda: ask("toy", 1, mode="plain", epsilon=1), "toy(1)"),
    ],
)
def test_a_question_prints_its_column_and_what_differs_from_the_defaults(question: Callable[[], Question], text: str) -> None:
    assert str(question()) == text


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (["age", "schooling", "income"], "sloped([age, schooling], income)"),
        (["age", "income"], "sloped(age, income)"),
        (["", "age", ""], "sloped([x1, age], y)"),
        (["", ""], "sloped"),
        (["income ~ age"], "sloped(income ~ age)"),
        ([], "sloped"),
    ],
)
def test_features_print_in_a_list_before_the_outcome(toys: Statistic, columns: list[str], text: str) -> None:
    sloped = registry.register(Statistic("sloped", "Only for tests.", reads=(Reads.FEATURES, Reads.NUMBERS)))
    registry.method(sloped, "plain", claim="none")(lambda *_: Answer(1))
    assert str(ask("sloped", epsilon=1, column=columns)) == text


def test_a_method_may_refuse_a_question_when_it_is_asked_or_put_to_other_columns(toys: Statistic) -> None:
    def few(question: Question) -> None:
        if len(question.columns) > 2 or question.arguments["width"] > 9:
            raise InvalidParameterError("this is too much.")

    registry.method(toys, "narrow", claim="none", check=few)(lambda *_: Answer(1))
    question = ask("toy", 1, method="narrow", epsilon=1, column=["a", "b"])
    assert question.on(["c"]).columns == ("c",)
    with pytest.raises(InvalidParameterError, match="too much"):
        ask("toy", 1, method="narrow", epsilon=1, column=["a", "b", "c"])
    with pytest.raises(InvalidParameterError, match="too much"):
        ask("toy", 10, method="narrow", epsilon=1)
    with pytest.raises(InvalidParameterError, match="too much"):
        question.on(["a", "b", "c"])
    assert ask("toy", 10, method="pure", epsilon=1, column=["a", "b", "c"]).method.check is None


# Answering


@pytest.mark.usefixtures("toys")
def test_an_answer_becomes_a_release_with_everything_on_it() -> None:
    question = ask("toy", 1, epsilon=0.5, column="age")
    assert question.answer(untouchable) == Release(
        question="toy(age, 1)",
        value=42.0,
        cost=question.cost,
        method="pure",
        claim="pure epsilon-DP",
        private=True,
        interval=Interval(41.0, 43.0, 0.9, "the noise"),
        notes=(("public", "the width"),),
    )


@pytest.mark.usefixtures("toys")
def test_the_source_decides_whether_a_reply_is_private() -> None:
    pure = ask("toy", 1, epsilon=1)
    approximate = ask("toy", 1, epsilon=1, delta=1e-6, method="approximate")
    for question in (pure, approximate):
        assert question.answer(untouchable).private
        assert not question.answer(untouchable, seeded(7)).private


@pytest.mark.usefixtures("toys")
def test_a_refusal_is_a_reply_at_full_cost() -> None:
    question = ask("toy", 1, epsilon=1, delta="1e-6", method="approximate")
    assert question.answer(untouchable) == NoReply(
        "toy(1, method=approximate)", PrivacyCost(1, 1e-6), "approximate", "The test failed.", "Ask with more epsilon.", True
    )


@pytest.mark.usefixtures("toys")
def test_a_crash_is_a_refusal_at_full_cost_in_words_that_carry_nothing_of_it() -> None:
    question = ask("toy", 1, epsilon=1, method="crashing")
    reply = question.answer(untouchable)
    assert isinstance(reply, NoReply)
    assert reply.cost == question.cost
    assert reply.reason == "The answer could not be computed."
    assert reply.advice == "The cost is spent; ask again or ask the data holder."
    shown = [str(reply), repr(reply), str(reply.card()), reply.to_json(), reply._repr_html_()]
    assert not any(word in text for text in shown for word in ("RuntimeError", "Xanthippe", "98765"))


class Panic(BaseException):
    """What a library written in Rust raises when it panics: no Exception."""


FAILURES = [
    ValueError(SECRET),
    ZeroDivisionError(SECRET),
    MemoryError(),
    RecursionError(),
    StopIteration(),
    AssertionError(SECRET),
    InvalidParameterError(SECRET),
    Panic(SECRET),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_all_failures_look_alike_wherever_they_happen(failure: BaseException, toys: Statistic) -> None:
    def fail(*_: object) -> Any:
        raise failure

    crash = ask("toy", 1, epsilon=1, method="crashing").answer(untouchable)
    registry.method(toys, "failing", claim="none")(fail)
    inside = ask("toy", 1, epsilon=1, method="failing").answer(untouchable)
    assert isinstance(inside, NoReply)
    assert str(inside).partition(":")[2] == str(crash).partition(":")[2]  # all but the question, which names its method


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_with_a_seeded_source_a_failure_passes_so_that_tests_see_it(failure: BaseException, toys: Statistic) -> None:
    def fail(*_: object) -> Any:
        raise failure

    registry.method(toys, "failing", claim="none")(fail)
    with pytest.raises(type(failure)) as caught:
        ask("toy", 1, epsilon=1, method="failing").answer(untouchable, seeded(7))
    assert caught.value is failure


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit()], ids=repr)
def test_the_users_own_stop_is_no_refusal(stop: BaseException, toys: Statistic) -> None:
    def fail(*_: object) -> Any:
        raise stop

    registry.method(toys, "failing", claim="none")(fail)
    with pytest.raises(type(stop)):
        ask("toy", 1, epsilon=1, method="failing").answer(untouchable)


# Columns that are read as numbers or labels


@pytest.fixture
def either(toys: Statistic, monkeypatch: pytest.MonkeyPatch) -> Statistic:
    """The toy as a statistic that takes delta only for labels, and only if there is some to take."""

    def settle(question: Question, numeric: bool) -> Question:
        if question.arguments["width"] == 13:
            return replace(question, cost=PrivacyCost(question.epsilon * 2))
        return replace(question, method=toys.methods["pure"], cost=PrivacyCost(question.epsilon)) if numeric else question

    def prefer(arguments: Any, delta: Fraction) -> str:
        return "approximate" if delta and arguments["mode"] == "plain" else "pure"

    statistic = replace(toys, reads=(Reads.EITHER,), prefer=prefer, settle=settle)
    monkeypatch.setattr(registry, "_STATISTICS", {"toy": statistic})
    return statistic


@pytest.mark.usefixtures("either")
def test_the_automatic_method_may_depend_on_arguments_and_delta() -> None:
    assert ask("toy", 1, epsilon=1).method.name == "pure"
    assert ask("toy", 1, epsilon=1, delta=1e-6).method.name == "approximate"
    assert ask("toy", 1, epsilon=1, delta=1e-6, mode="listed").cost == PrivacyCost(1)
    assert registry.may_spend_delta("toy", [1], {"epsilon": 1})
    assert not registry.may_spend_delta("toy", [1], {"mode": "listed"})
    assert not registry.may_spend_delta("toy", [1], {"method": "pure"})
    assert not registry.must_spend_delta("toy", [1], {"epsilon": 1})
    assert registry.must_spend_delta("toy", [1], {"method": "approximate"})


@pytest.mark.usefixtures("either")
def test_a_question_is_settled_by_the_public_type_and_never_costs_more() -> None:
    question = ask("toy", 1, epsilon=1, delta=1e-6)
    assert question.settled(True).cost == PrivacyCost(1)
    assert question.settled(False).cost == PrivacyCost(1, 1e-6)
    with pytest.raises(DpstatsError, match="cannot cost more"):
        ask("toy", 13, epsilon=1).settled(True)


# Registering


def test_a_name_can_be_taken_once(toys: Statistic) -> None:
    with pytest.raises(DpstatsError, match="a statistic named 'toy' is registered already"):
        registry.register(Statistic("toy", "Another one."))
    assert registry.find_statistic("toy") is toys


def test_a_method_can_be_taken_once(toys: Statistic) -> None:
    before = toys.methods["pure"]
    with pytest.raises(DpstatsError, match="toy has a method named 'pure' already"):
        registry.method(toys, "pure", claim="another")(lambda *_: Answer(1))
    assert toys.methods["pure"] is before


def test_automatic_takes_the_first_method_and_names_are_sorted(toys: Statistic) -> None:
    assert toys.method_for("auto").name == "pure"
    assert toys.method_for("crashing").name == "crashing"
    registry.register(Statistic("abacus", "Only for tests."))
    assert registry.statistic_names() == ["abacus", "toy"]


def test_the_decorator_hands_the_function_back(toys: Statistic) -> None:
    def run(*_: object) -> Answer:
        return Answer(1)

    assert registry.method(toys, "bare", claim="none")(run) is run
