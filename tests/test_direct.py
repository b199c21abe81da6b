"""`dp.median(x)` and friends: checks first, data second, one answer."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.foundations import registry
from dpstats.foundations.calls import Caller, documentation
from dpstats.foundations.registry import Answer, Reads, Statistic

NUMBERS = [float(value % 40) for value in range(400)]


class Untouchable:
    """Data that must not be looked at."""

    def __getattribute__(self, name: str) -> object:
        if name in ("__class__", "name"):
            return object.__getattribute__(self, name)
        raise AssertionError("the data was read")

    name = ""


def test_an_answer_has_a_value_a_cost_and_a_card() -> None:
    release = dp.median(NUMBERS, epsilon=1)
    assert isinstance(release, dp.Release)
    assert release.cost == dp.PrivacyCost(1)
    assert release.private
    assert "epsilon = 1" in str(release.card())


def test_epsilon_may_be_an_int_a_float_or_text() -> None:
    costs = {dp.median(NUMBERS, epsilon=epsilon).cost for epsilon in (1, 1.0, "1", np.int64(1))}
    assert costs == {dp.PrivacyCost(1)}


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda data: dp.median(data), dp.MissingParameterError),
        (lambda data: dp.median(data, 1), dp.InvalidParameterError),
        (lambda data: dp.median(data, eps=1), dp.UnknownNameError),
        (lambda data: dp.median(data, epsilon=0), dp.InvalidParameterError),
        (lambda data: dp.median(data, epsilon=float("nan")), dp.InvalidParameterError),
        (lambda data: dp.median(data, epsilon=-1), dp.InvalidParameterError),
        (lambda data: dp.median(data, epsilon=1, delta=0.7), dp.InvalidParameterError),
        (lambda data: dp.median(data, epsilon=1, method="magic"), dp.UnknownNameError),
        (lambda data: dp.median(data, epsilon=1, neighbors="friends"), dp.InvalidParameterError),
        (lambda data: dp.median(data, epsilon=1, colour="red"), dp.UnknownNameError),
        (lambda data: dp.median(data, epsilon=1, column="a"), dp.UnknownNameError),
        (lambda data: dp.median(data, epsilon=1, name="a"), dp.UnknownNameError),
        (lambda data: dp.median(data, epsilon=1, rng=7), dp.InvalidParameterError),
        (lambda data: dp.median(data, epsilon=1, rng=np.random.default_rng(7)), dp.InvalidParameterError),
        (lambda data: dp.quantile(data, epsilon=1), dp.MissingParameterError),
        (lambda data: dp.quantile(data, 1.5, epsilon=1), dp.InvalidParameterError),
        (lambda data: dp.quantile(data, 0.5, q=0.5, epsilon=1), dp.InvalidParameterError),
    ],
)
def test_a_wrong_question_is_refused_before_the_data_is_looked_at(call: object, error: type[Exception]) -> None:
    assert callable(call)
    with pytest.raises(error):
        call(Untouchable())


def test_several_quantiles_without_brackets_are_pointed_to_them() -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"takes only q after the data; .* write \[0\.5, 0\.6\]\.$"):
        dp.quantile(NUMBERS, 0.5, 0.6)


def test_the_help_says_what_comes_back() -> None:
    statistic = Statistic("toy", "Only for tests.", returns="a pair of numbers")
    assert "Returns a pair of numbers, in a Release, or a NoReply" in documentation(statistic, Caller.FUNCTION)
    assert "Returns a Release, or a NoReply" in documentation(Statistic("toy", "Only for tests."), Caller.FUNCTION)


def test_text_where_numbers_belong_is_a_type_error() -> None:
    with pytest.raises(dp.DataTypeError, match=r"\[float\(v\) for v in x\]"):
        dp.median(np.array(["a", "b", "c"]), epsilon=1)


def test_a_list_declares_no_type_so_that_what_is_no_number_in_it_is_missing() -> None:
    numbers, others = [1.5, "2.5", 3] * 50, ["a", None, [4], 5j]
    answers = [dp.count(rows, epsilon=1, rng=dp.testing.seeded(7)).value for rows in (numbers, [*numbers, *others])]
    assert answers[1] - answers[0] == 3  # all that is something counts
    means = [dp.mean(rows, epsilon=1, rng=dp.testing.seeded(7)).value for rows in (numbers, [*numbers, *others])]
    assert means[0] == means[1]


def test_the_same_seed_gives_the_same_answer_and_says_so() -> None:
    first, again = (dp.median(NUMBERS, epsilon=0.1, rng=dp.testing.seeded(7)) for _ in range(2))
    assert first == again
    assert not first.private
    assert "NOT PRIVATE" in str(first.card())


def test_a_series_lends_its_name_to_the_question() -> None:
    for series in (pd.Series(NUMBERS, name="income"), pl.Series("income", NUMBERS)):
        assert dp.median(series, epsilon=1).question == "median(income)"
    assert dp.median(pd.Series(NUMBERS), epsilon=1).question == dp.median(NUMBERS, epsilon=1).question


@pytest.mark.parametrize("name", ["a\n  claim  none", "a\x1b[31m", "a\u2028b"])
def test_a_name_that_could_forge_a_card_is_left_out(name: str) -> None:
    assert dp.median(pd.Series(NUMBERS, name=name), epsilon=1).question == "median"


def test_a_long_name_is_shortened() -> None:
    assert dp.median(pd.Series(NUMBERS, name="x" * 61), epsilon=1).question == f"median({'x' * 57}...)"


def test_several_quantiles_can_be_taken_apart() -> None:
    low, high = dp.quantile(NUMBERS, [0.1, 0.9], epsilon=10)
    assert low <= high


def test_unit_and_neighbours_reach_the_card() -> None:
    card = str(dp.median(NUMBERS, epsilon=1, unit="person", neighbors="change_one").card())
    assert "one person changed; the number of rows is public" in card


def test_functions_survive_pickling() -> None:
    assert pickle.loads(pickle.dumps(dp.median)) is dp.median


def test_a_new_statistic_needs_its_registration_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    statistic = Statistic("twice_the_rows", "Only for tests.", reads=(Reads.LABELS,))
    registry.method(statistic, "plain", claim="none")(lambda column, question, rng: Answer(2 * column.count()))
    monkeypatch.setitem(registry._STATISTICS, statistic.name, statistic)
    try:
        assert "twice_the_rows" in dir(dp)
        assert float(dp.twice_the_rows([1, 2, None], epsilon=1)) == 4
    finally:
        vars(dp).pop("twice_the_rows", None)


class Secretive(list[float]):
    """A list whose name raises with what it knows."""

    @property
    def name(self) -> str:
        raise RuntimeError("secret 812")


def test_a_container_whose_name_raises_is_answered_like_any_other() -> None:
    assert isinstance(dp.median(Secretive([1.0] * 50), epsilon=1), dp.Release)


def test_an_index_of_several_levels_is_refused_by_its_type() -> None:
    with pytest.raises(dp.DataTypeError, match="get_level_values"):
        dp.median(pd.MultiIndex.from_tuples([(1, 2)]), epsilon=1)
