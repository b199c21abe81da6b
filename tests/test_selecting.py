"""Choices by code of analysts, as somebody uses them: own models, several analysts, and A_samp as printed."""

from __future__ import annotations

import inspect
import io
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

import dpstats as dp
from dpstats import selecting
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.results import NoReply
from dpstats.statistics.aggregation import row_blocks
from dpstats.statistics.selection.printed_samples import runs_of
from dpstats.statistics.selection.values import PopularOption
from dpstats.testing import seeded

CHANCE = np.random.default_rng(5)
X = CHANCE.normal(size=(600, 2))
Y = X @ [1.0, -2.0] + 0.5 * CHANCE.normal(size=600)
OWN = {"line": LinearRegression(), "level": DummyRegressor()}
SECRET = 812_377.5
"""A number that no message may show."""


class Loud(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A model that fails on all rows and tells them."""

    def fit(self, raw_features: Any, raw_outcome: Any) -> Loud:
        sys.stdout.write(f"{raw_features}")
        raise ValueError(f"{raw_outcome} {SECRET}")


def select(models: Any = OWN, **changes: Any) -> Any:
    return dp.select_model(X, Y, models=models, **{"epsilon": 2, "workers": 0, "rng": seeded(1), **changes})


# Models


def test_own_models_are_tried_on_every_block_in_processes_of_their_own() -> None:
    release = select(workers=1, blocks=12)
    assert release.value == "line"
    notes = dict(release.notes)
    assert notes["models"] == "the analyst's own: line (LinearRegression), level (DummyRegressor)"
    assert notes["function"] == "runs once for each block, in a process of its own"
    assert notes["blocks"].startswith("12; every row is in one of them")
    assert (release.question, release.method, release.cost.delta) == ("select_model([line, level], 12)", "noisy_max", 0)


def test_own_models_are_chosen_like_those_of_the_list() -> None:
    by_name = select(["linear", "constant"])
    own = select({"linear": LinearRegression(), "constant": DummyRegressor()})
    assert (own.value, own.claim, own.cost) == (by_name.value, by_name.claim, by_name.cost)
    assert dict(own.notes)["blocks"] == dict(by_name.notes)["blocks"]
    assert dict(own.notes)["function"].startswith("runs in this process: NOT ISOLATED")
    assert "models" not in dict(by_name.notes)


def test_popularity_costs_a_quarter_of_epsilon_and_a_test_needs_delta() -> None:
    popular = select(popularity=True, epsilon=4)
    assert isinstance(popular.value, PopularOption)
    assert popular.interval is not None
    tested = select(method="stable", delta=1e-6, blocks=40)
    assert (tested.value, tested.method) == ("line", "stable")
    with pytest.raises(dp.MissingParameterError, match="'stable' needs delta"):
        select(method="stable")


def test_own_models_may_stand_in_third_place_and_features_in_a_frame() -> None:
    frame = pd.DataFrame(X, columns=["age", "height"])
    release = dp.select_model(frame, pd.Series(Y, name="wage"), OWN, epsilon=2, workers=0, rng=seeded(1))
    assert isinstance(release, dp.Release)
    assert release.question == "select_model([age, height], wage, [line, level])"


def test_models_that_fail_everywhere_get_no_reply_and_show_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    reply = select({"loud": Loud(), "louder": Loud()}, workers=1, blocks=10)
    assert isinstance(reply, NoReply)
    assert str(SECRET) not in f"{reply} {reply.card()} {reply.advice}"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("models", "changes", "words"),
    [
        ({"line": LinearRegression()}, {}, "a dict of two or more scikit-learn estimators"),
        ({"line": LinearRegression(), "a\nb": LinearRegression()}, {}, "a dict of two or more scikit-learn estimators"),
        ({"line": LinearRegression(), "three": 3}, {}, "'three' is no scikit-learn estimator"),
        (OWN, {"blocks": 3}, "blocks must be 'auto'"),
        (OWN, {"workers": -1}, "workers must be a whole number"),
        (OWN, {"seconds": 0}, "seconds must be a number above 0"),
        (["linear", "constant"], {"seconds": 0}, "seconds must be a number above 0"),
        ({"line": LinearRegression(), "locked": DummyRegressor(constant=threading.Lock())}, {}, "no scikit-learn estimator"),
    ],
)
def test_models_and_limits_that_do_not_fit_are_errors(models: Any, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=words):
        select(models, **changes)


def test_what_the_list_complains_about_is_complained_about_as_before() -> None:
    with pytest.raises(dp.UnknownNameError, match="models has no 'lineal'"):
        select(["linear", "lineal"])
    for models in (OWN, ["linear", "constant"]):
        with pytest.raises(dp.MissingParameterError, match="select_model needs y"):
            dp.select_model(X, models=models, epsilon=1)
        with pytest.raises(dp.MissingParameterError, match="needs epsilon"):
            select(models, epsilon=None)
        with pytest.raises(dp.UnknownNameError, match="did you mean popularity"):
            select(models, popularty=True)
        with pytest.raises(dp.InvalidParameterError, match="got models twice"):
            dp.select_model(X, Y, models, models=models, epsilon=1)


@pytest.mark.parametrize(
    ("word", "hint"), [("eps", "did you mean epsilon"), ("second", "did you mean seconds"), ("bounds", "it has ")]
)
def test_an_unknown_parameter_is_an_error_with_the_nearest_one(word: str, hint: str) -> None:
    words: dict[str, Any] = {word: 3}
    calls: dict[str, Callable[[], Any]] = {
        "select_model": lambda: select(**words),
        "aggregate_choices": lambda: dp.aggregate_choices([np.mean], Y, **words),
        "a_samp": lambda: dp.a_samp(np.mean, Y, **words),
    }
    for name, call in calls.items():
        with pytest.raises(dp.UnknownNameError, match=f"{name} has no parameter {word!r}; {hint}"):
            call()


def test_a_session_runs_no_models_of_those_who_ask() -> None:
    table = dp.protect({"a": X[:, 0], "b": Y}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:")
    with pytest.raises(dp.InvalidParameterError, match="runs no code of its own askers: give models by name"):
        table.select_model(["a"], "b", models=OWN, epsilon=1)
    assert table.ledger.spent.epsilon == 0


def test_help_is_that_of_the_statistic_and_says_what_own_models_add() -> None:
    statistic, documented = find_statistic("select_model"), inspect.getdoc(dp.select_model) or ""
    assert documented.startswith(statistic.summary)
    assert "or a dict of scikit-learn estimators by name" in documented
    assert all(method.claim in documented for method in statistic.methods.values())
    names = inspect.signature(dp.select_model).parameters
    assert all(f"  {name} " in documented for name in names)
    assert names["epsilon"].default is inspect.Parameter.empty
    assert dp.select_model.__module__ == "dpstats"


@pytest.fixture
def names_by_coins(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """What all blocks choose, where each row has the coin that was recorded for it."""
    seen: list[Any] = []
    choose = selecting.choices_of

    def keep(*given: Any, **options: Any) -> Any:
        seen[:] = choose(*given, **options)
        return list(seen)

    monkeypatch.setattr(selecting, "choices_of", keep)

    def names(raw_features: Any, raw_outcome: Any, coins: Any) -> list[Any]:
        monkeypatch.setattr(row_blocks, "uniform_indices", lambda share, count, rng: coins % share)
        dp.select_model(raw_features, raw_outcome, OWN, blocks=10, epsilon=1, workers=0, rng=seeded(1))
        return list(seen)

    return names


def test_neighbouring_tables_differ_in_the_choice_of_one_block(names_by_coins: Callable[..., list[Any]]) -> None:
    coins = np.arange(200) % 10
    weak = 0.1 * X[:200, 0] + Y[200:400]
    before = names_by_coins(X[:200], weak, coins)
    assert set(before) == {"line", "level"}  # or nothing could change
    changed = []
    for outlier in (SECRET, -SECRET, None):
        keep = slice(1, None) if outlier is None else slice(None)
        raw_outcome = weak.copy()
        raw_outcome[0] = weak[0] if outlier is None else outlier
        after = names_by_coins(X[:200][keep], raw_outcome[keep], coins[keep])
        changed.append([place for place in range(10) if before[place] != after[place]])
    assert all(places in ([], [0]) for places in changed)


# Several analysts


def above(limit: float) -> Callable[[NDArray[np.float64]], str]:
    return lambda raw_block: "above" if raw_block.mean() > limit else "below"


def choose(functions: Any, **changes: Any) -> Any:
    return dp.aggregate_choices(functions, Y + 20, **{"epsilon": 20, "workers": 0, "rng": seeded(1), **changes})


def test_what_most_analysts_choose_is_released_in_processes_of_their_own() -> None:
    release = choose([above(0), above(10), above(30)], options=["below", "above"], blocks=12, workers=1)
    assert release.value == "above"
    assert release.question == "aggregate_choices(3 analysts, blocks=12, aggregate=argmax)"
    assert dict(release.notes)["function"] == "runs once for each block, in a process of its own"


def test_without_options_the_most_frequent_label_is_tested() -> None:
    release = choose([above(0), above(10)], delta=1e-6, popularity=True)
    assert (release.value, release.method, release.cost.delta) == ("above", "stable", dp.PrivacyCost(1, 1e-6).delta)
    assert dict(release.notes)["popularity"].startswith("100% of the blocks chose it")
    divided = choose([above(0), above(30)], delta=1e-6)
    assert isinstance(divided, NoReply)
    assert divided.question.startswith("aggregate_choices(2 analysts")


@pytest.mark.parametrize(("analysts", "blocks"), [(1, 10), (4, 12), (40, 40)])
def test_blocks_left_out_are_the_least_that_every_analyst_gets_as_many_of(analysts: int, blocks: int) -> None:
    release = choose([above(0)] * analysts, options=["below", "above"], epsilon=1)
    assert f"blocks={blocks}," in release.question


def test_the_analyst_whose_turn_it_is_sees_his_blocks_alone() -> None:
    seen: list[set[float]] = [set(), set()]

    def look(place: int) -> Callable[[NDArray[np.float64]], int]:
        def f(raw_block: NDArray[np.float64]) -> int:
            seen[place] |= set(raw_block.tolist())
            return 1

        return f

    choose([look(0), look(1)], options=[0, 1], blocks=10)
    assert not seen[0] & seen[1]
    assert len(seen[0] | seen[1]) == len(Y)


@pytest.mark.parametrize(
    ("functions", "changes", "error", "words"),
    [
        ([], {}, dp.InvalidParameterError, "one of each analyst"),
        (above(0), {}, dp.InvalidParameterError, "one of each analyst"),
        ([above(0), "mean"], {}, dp.InvalidParameterError, "one of each analyst"),
        ([above(0)], {"epsilon": None}, dp.MissingParameterError, "needs epsilon"),
        ([above(0)], {"options": None}, dp.MissingParameterError, "needs options, the public list of labels; or delta"),
        ([above(0)] * 3, {"blocks": 10}, dp.InvalidParameterError, "blocks must be a multiple of 3"),
        ([above(0)] * 3, {"blocks": 9.0}, dp.InvalidParameterError, "blocks must be a multiple of 3"),
        ([above(0)], {"options": []}, dp.InvalidParameterError, "at least one label"),
    ],
)
def test_choices_that_cannot_be_asked_for_are_errors(
    functions: Any, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        choose(functions, **{"options": ["below", "above"], **changes})


# A_samp as printed

MANY = np.ones(20)
RUNS = 390


def majority(raw_sample: Any) -> str:
    return "many" if 2 * sum(raw_sample) > len(raw_sample) else "few"


def sample(f: Any = majority, data: Any = MANY, **changes: Any) -> Any:
    return dp.a_samp(f, data, **{"epsilon": 8, "delta": 0.3, "workers": 0, "rng": seeded(1), **changes})


def never(raw_sample: object) -> str:
    raise AssertionError


class Terminal(io.StringIO):
    """Somebody types into it, or reads it."""

    def isatty(self) -> bool:
        return True


def test_a_confirmed_number_of_runs_is_run() -> None:
    release = sample(runs=RUNS, unit="person")
    assert release.value == "many"
    assert (release.question, release.method) == ("a_samp(majority)", "A_samp, as printed")
    assert (release.cost.neighbors, release.cost.unit) == (dp.Neighbors.CHANGE_ONE, "person")
    assert dict(release.notes)["runs"].startswith(f"{RUNS}, each on a sample")
    assert dict(release.notes)["function"].startswith("runs in this process: NOT ISOLATED")


def test_samples_are_looked_at_in_processes_of_their_own(capfd: pytest.CaptureFixture[str]) -> None:
    def loud(raw_sample: Any) -> str:
        sys.stdout.write(f"{raw_sample}")
        return "any"

    few = np.ones(4)
    release = sample(loud, few, epsilon=12, delta=0.4, runs=runs_of(4, 12, 0.4), workers=1)
    assert release.value == "any"
    assert dict(release.notes)["function"] == "runs once for each sample, in a process of its own"
    assert capfd.readouterr() == ("", "")


def test_samples_without_an_answer_get_no_reply() -> None:
    reply = sample(never, runs=RUNS, unit="person")
    assert isinstance(reply, NoReply)
    assert (reply.question, reply.cost.unit) == ("a_samp(never)", "person")


@pytest.mark.parametrize("runs", [None, RUNS + 1, float(RUNS), "yes"])
def test_nothing_starts_before_the_number_of_runs_is_confirmed(runs: Any) -> None:
    with pytest.raises(
        dp.InvalidParameterError, match=f"{RUNS} times, each on about 2.08 of the 20 rows. .* runs={RUNS}"
    ) as error:
        sample(never, runs=runs)
    assert "dp.sample_and_aggregate(f, data, aggregate='stable', epsilon=8, delta=0.3)" in str(error.value)


def test_the_alternative_that_errors_name_can_be_run() -> None:
    release = dp.sample_and_aggregate(majority, [1] * 400, aggregate="stable", epsilon=8, delta=0.3, workers=0, rng=seeded(1))
    assert isinstance(release, dp.Release)
    assert release.value == "many"


@pytest.mark.parametrize("runs", [None, 1])
def test_a_terminal_is_neither_read_nor_written_to(runs: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    typed, shown = Terminal("y\n"), Terminal()
    for name, stream in (("stdin", typed), ("stdout", shown), ("stderr", shown)):
        monkeypatch.setattr(sys, name, stream)  # here and not in a fixture: pytest sets its own streams after those
    with pytest.raises(dp.InvalidParameterError, match=f"{RUNS} times.*runs={RUNS}"):
        sample(never, runs=runs)
    assert (typed.tell(), shown.getvalue()) == (0, "")


@pytest.mark.parametrize(
    ("f", "changes", "error", "words"),
    [
        (3, {}, dp.InvalidParameterError, "function must be a function of a sample"),
        (majority, {"epsilon": None}, dp.MissingParameterError, "needs epsilon"),
        (majority, {"delta": 0}, dp.MissingParameterError, "needs delta"),
        (majority, {"neighbors": "add_remove"}, dp.InvalidParameterError, "tells the number of rows"),
        (majority, {"epsilon": 100}, dp.InvalidParameterError, "choose a smaller epsilon"),
        (majority, {"seconds": -1}, dp.InvalidParameterError, "seconds must be"),
        (majority, {"data": "people.csv"}, dp.DataTypeError, "data must be rows"),
    ],
)
def test_what_a_samp_cannot_do_is_an_error(f: Any, changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        sample(f, **changes)


def test_the_number_of_rows_is_not_told_where_it_is_private() -> None:
    with pytest.raises(dp.InvalidParameterError) as error:
        sample(data=np.ones(812), neighbors="add_remove")
    assert "812" not in str(error.value)


def test_a_protected_table_is_not_sampled() -> None:
    table = dp.protect({"a": Y}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:")
    with pytest.raises(dp.DataTypeError, match="runs no functions"):
        sample(data=table, runs=RUNS)


@pytest.mark.parametrize("name", ["aggregate_choices", "a_samp"])
def test_every_parameter_is_documented(name: str) -> None:
    function = getattr(dp, name)
    documented = inspect.getdoc(function) or ""
    assert [
        word for word in inspect.signature(function).parameters if f"{word} " not in documented and f"{word}," not in documented
    ] == []
