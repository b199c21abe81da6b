"""`dp.sample_and_aggregate` as somebody uses it: any function of blocks, in processes of their own, and one private answer."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.statistics.aggregation import row_blocks
from dpstats.statistics.aggregation.plans import BlockPlan

SEED = np.random.default_rng(3)
X = SEED.normal(size=(2000, 2))
Y = 3 + X @ [1.0, -2.0] + SEED.normal(size=2000)
INCOME = SEED.lognormal(3, 0.3, 2000)
SECRET = 812_377.5
"""A number that no message may show."""


def ask(f: Any, data: Any = INCOME, **changes: Any) -> Any:
    """A question that runs here, on few blocks, with so much epsilon that noise hardly shows."""
    return dp.sample_and_aggregate(
        f, data, **{"blocks": 20, "epsilon": 200, "workers": 0, "rng": dp.testing.seeded(1), **changes}
    )


def in_workers(f: Any, data: Any = INCOME, **changes: Any) -> Any:
    return ask(f, data, workers=1, **changes)


def slopes(raw_features: Any, raw_outcome: Any) -> Any:
    design = np.column_stack([np.ones(len(raw_features)), raw_features])
    return np.linalg.lstsq(design, raw_outcome, rcond=None)[0]


# In worker processes


def test_lambdas_and_closures_run_on_every_block() -> None:
    factor = 2.0
    release = in_workers(lambda raw_block: factor * raw_block.mean())
    assert release.value == pytest.approx(2 * INCOME.mean(), rel=0.05)
    assert dict(release.notes)["function"] == "runs once for each block, in a process of its own"
    assert release.question == "sample_and_aggregate(<lambda>, blocks=20, aggregate=universal)"


def test_several_containers_are_several_arguments_and_several_numbers_one_answer() -> None:
    release = in_workers(slopes, (X, Y), outputs=3, aggregate="mean", range=(-10, 10))
    assert release.value == pytest.approx((3, 1, -2), abs=0.3)
    assert len(release.intervals) == 3


def test_a_function_that_fails_on_some_blocks_says_nothing_and_leaves_the_others(capfd: pytest.CaptureFixture[str]) -> None:
    def moody(raw_block: Any) -> Any:
        sys.stdout.write(f"printed {raw_block}")
        fate = len(raw_block) % 10
        if fate == 0:
            raise ValueError(raw_block)
        if fate == 1:
            time.sleep(60)
        if fate == 2:
            return [1.0, 2.0]
        return "text" if fate == 3 else raw_block.mean()

    release = in_workers(moody, seconds=5)
    assert release.value == pytest.approx(INCOME.mean(), rel=0.2)
    assert capfd.readouterr() == ("", "")


def test_where_most_blocks_fail_there_is_no_reply_at_the_full_cost() -> None:
    def hopeless(raw_block: Any) -> float:
        raise ValueError(f"{raw_block} {SECRET}")

    reply = in_workers(hopeless)
    assert isinstance(reply, dp.NoReply)
    assert reply.reason.startswith("Fewer than half of the blocks gave an answer")
    assert reply.cost.epsilon == 200
    assert str(SECRET) not in f"{reply} {reply.card()} {reply.advice}"


def test_a_function_that_cannot_travel_is_refused_before_anything_is_spent() -> None:
    lock = threading.Lock()

    def locked(raw_block: Any) -> float:
        with lock:
            return 1.0

    with pytest.raises(dp.InvalidParameterError, match="Make such things inside the function, or pass workers=0"):
        in_workers(locked)
    assert ask(locked, epsilon=200).value == pytest.approx(1)


def test_workers_reply_as_this_process_does() -> None:
    assert in_workers(np.median).value == ask(np.median).value


# Containers, functions and aggregates


@pytest.mark.parametrize(
    ("data", "f"),
    [
        (INCOME.tolist(), lambda raw_block: sum(raw_block) / len(raw_block)),
        (pd.Series(INCOME), lambda raw_block: raw_block.mean()),
        (pd.DataFrame({"income": INCOME}), lambda raw_block: raw_block["income"].mean()),
        (pl.DataFrame({"income": INCOME}), lambda raw_block: raw_block["income"].mean()),
        (pl.DataFrame({"income": INCOME}).to_arrow(), lambda raw_block: np.mean(raw_block["income"].to_pylist())),
        ({"income": INCOME, "age": X[:, 0]}, lambda raw_block: raw_block["income"].mean()),
        ((pd.DataFrame(X), INCOME), lambda raw_features, raw_outcome: raw_outcome.mean()),
    ],
)
def test_a_block_is_a_container_like_the_data(data: Any, f: Callable[..., Any]) -> None:
    assert ask(f, data, aggregate="mean", range=(0, 100)).value == pytest.approx(INCOME.mean(), rel=0.05)


@pytest.mark.parametrize(
    ("aggregate", "changes"),
    [
        ("universal", {}),
        ("clipped", {}),
        ("centred", {}),
        ("mean", {"range": (0, 100)}),
        ("trimmed", {"range": (0, 100), "trim": 0.2}),
        ("trimmed", {}),
        ("winsorized", {"range": (0, 100)}),
        ("winsorized", {}),
        ("median", {"delta": 0.01}),
        (dp.winsorized_mean, {}),
        (functools.partial(dp.quantile, q=0.5), {}),
        (dp.mean, {}),
        (lambda votes, epsilon: float(np.median(votes)), {}),
    ],
)
def test_every_aggregate_finds_what_blocks_agree_on(aggregate: Any, changes: dict[str, Any]) -> None:
    release = ask(np.mean, blocks=100, aggregate=aggregate, **changes)
    assert release.value == pytest.approx(INCOME.mean(), rel=0.05)
    assert float(release.cost.delta) == changes.get("delta", 0)


def test_a_given_aggregate_stands_for_itself_on_the_card() -> None:
    claim = ask(np.mean, aggregate=dp.winsorized_mean).claim
    assert claim == "as private as the given aggregate is for one changed vote, by the word of whoever gave it"


def test_what_a_given_aggregate_raises_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def fails_later(votes: Any, *, epsilon: float) -> float:
        calls.append(len(votes))
        if len(calls) > 1:
            raise dp.DataTypeError(f"{SECRET}")
        return 0.0

    reply = ask(np.mean, aggregate=fails_later, rng=None)
    assert isinstance(reply, dp.NoReply)
    assert str(SECRET) not in str(reply.card())
    assert calls == [201, 20]


def test_analysts_take_turns_and_one_of_them_cannot_sway_a_median() -> None:
    release = ask([np.mean, np.mean, lambda raw_block: 1e12], blocks=60)
    assert release.value == pytest.approx(INCOME.mean(), rel=0.1)
    assert release.question.startswith("sample_and_aggregate(3 functions")


def test_labels_are_chosen_from_options_or_found() -> None:
    def larger(raw_block: Any) -> str:
        return "above" if raw_block.mean() > 15 else "below"

    chosen = ask(larger, aggregate="argmax", options=["below", "above"], popularity=True)
    assert chosen.value == "above"
    assert dict(chosen.notes)["popularity"].startswith("100% of the blocks chose it")
    found = ask(larger, aggregate="stable", delta=1e-6, overlap=2)
    assert (found.value, found.cost.delta) == ("above", dp.PrivacyCost(1, 1e-6).delta)
    features = ask(lambda raw_block: {1, "age"}, aggregate="stable", delta=1e-6)
    assert features.value == (1, "age")
    divided = ask(lambda raw_block: int(raw_block.sum()), aggregate="stable", delta=1e-6, epsilon=1)
    assert isinstance(divided, dp.NoReply)
    assert "public list of options" in divided.advice


# Functions by name


def test_functions_by_name_run_here_and_know_their_outputs() -> None:
    frame = pd.DataFrame({"first": X[:, 0], "second": X[:, 1], "outcome": Y})
    mean = {"aggregate": "mean", "range": (-10, 10)}
    assert ask("least_squares", (X, Y), workers=None, **mean).value == pytest.approx((3, 1, -2), abs=0.3)
    assert ask("least_squares", frame, **mean).value == pytest.approx((3, 1, -2), abs=0.3)
    assert ask("median", pl.DataFrame({"a": X[:, 0], "b": Y}), **mean).value == pytest.approx((0, 3), abs=0.3)
    assert ask("correlation", {"a": Y, "b": -Y}, **mean).value == pytest.approx(-1, abs=0.1)
    release = ask("median", [*INCOME.tolist(), None, None])
    assert release.value == pytest.approx(np.median(INCOME), rel=0.05)
    assert dict(release.notes)["function"] == "one of dpstats, asked for by name; it looks at its block alone"


@pytest.mark.parametrize(
    ("f", "data", "error", "words"),
    [
        ("medain", INCOME, dp.UnknownNameError, "did you mean 'median'"),
        ("correlation", INCOME, dp.InvalidParameterError, "correlation takes 2 columns"),
        ("median", np.zeros((9, 2, 2)), dp.DataTypeError, "takes columns of numbers: pass one column"),
        (
            None,
            INCOME,
            dp.InvalidParameterError,
            "function must be a function of a block of rows, a list of such functions, or one of mean",
        ),
        ([], INCOME, dp.InvalidParameterError, "function must be a function"),
        ([np.mean, 3], INCOME, dp.InvalidParameterError, "function must be a function"),
        (np.mean, None, dp.DataTypeError, "data must be rows, got NoneType: pass a list"),
        (np.mean, "people.csv", dp.DataTypeError, "data must be rows, got str: pass a list"),
        (np.mean, (INCOME, INCOME[:5]), dp.DataTypeError, "pass columns of the same rows"),
    ],
)
def test_functions_and_data_that_do_not_fit_are_errors(f: Any, data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(f, data)


TEXTS = ["north", "south"] * 20


@pytest.mark.parametrize(
    "data",
    [
        np.array(TEXTS),
        pd.Series(TEXTS, dtype="string"),
        pd.Series(TEXTS).astype("category"),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pd.DataFrame({"age": range(40), "region": TEXTS}),
        pl.DataFrame({"age": range(40), "region": TEXTS}),
        pa.table({"age": range(40), "region": TEXTS}),
        {"age": list(range(40)), "region": np.array(TEXTS)},
        (np.arange(40.0), np.array(TEXTS)),
    ],
)
@pytest.mark.parametrize("f", ["mean", ["mean", "median"]])
def test_functions_by_name_refuse_columns_whose_public_type_is_no_number(data: Any, f: Any) -> None:
    with pytest.raises(dp.DataTypeError, match=r"this needs a column of numbers and got one of (text|categories)"):
        ask(f, data)


def test_single_texts_among_numbers_are_no_error() -> None:
    assert isinstance(ask("mean", [*INCOME.tolist(), "unknown"]), dp.Release)
    assert isinstance(ask("mean", np.array([*INCOME.tolist(), "unknown"], dtype=object)), dp.Release)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("block", "did you mean blocks?"),
        ("Blocks", "did you mean blocks?"),
        ("bounds", "did you mean range?"),
        ("eps", "did you mean epsilon?"),
        ("xyz", "it has function, data, blocks, "),
    ],
)
def test_an_unknown_parameter_is_an_error_with_the_nearest_one(word: str, hint: str) -> None:
    with pytest.raises(dp.UnknownNameError) as caught:
        ask(np.mean, **{word: 3})
    assert str(caught.value).startswith(f"sample_and_aggregate has no parameter {word!r}; {hint}")


def test_a_median_that_has_no_interval_says_why_on_its_card() -> None:
    line = ("interval", "none: too few blocks at this epsilon to bound it")
    few, enough = ask("median", blocks=6), ask("median", blocks=400, epsilon=3)
    assert (few.interval, line in few.notes) == (None, True)
    assert "  interval    none: too few blocks" in str(few.card())
    assert enough.interval is not None
    pair = ask("median", X, blocks=6)
    assert (pair.intervals, line in pair.notes) == ((), True)
    for other in (enough, ask("median", blocks=6, interval=None), ask("median", blocks=6, aggregate=dp.median)):
        assert "interval" not in dict(other.notes)


def test_where_a_shape_was_not_declared_the_advice_names_what_declares_it() -> None:
    for f in (lambda raw_block: (1.0, 2.0), lambda raw_block: "label"):
        reply = ask(f)
        assert isinstance(reply, dp.NoReply)
        assert "outputs=" in reply.advice
        assert "aggregate='stable' or 'argmax'" in reply.advice


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"epsilon": None}, dp.MissingParameterError, "needs epsilon"),
        ({"epsilon": 0}, dp.InvalidParameterError, "epsilon must be a positive number such as 0.5"),
        ({"delta": 1}, dp.InvalidParameterError, "delta must be at least 0 and below 0.5"),
        ({"seconds": 0}, dp.InvalidParameterError, "seconds must be a number above 0"),
        ({"seconds": None}, dp.InvalidParameterError, "seconds must be a number above 0"),
        ({"workers": -1}, dp.InvalidParameterError, "workers must be a whole number from 0"),
        ({"workers": "all"}, dp.InvalidParameterError, "or None for one on each core"),
        ({"neighbors": "x"}, dp.InvalidParameterError, "'add_remove' or 'change_one'"),
        ({"interval": 2}, dp.InvalidParameterError, "interval must be a level"),
        ({"unit": ""}, dp.InvalidParameterError, "unit must be one line"),
        ({"rng": 3}, dp.InvalidParameterError, "rng must come from dpstats.testing.seeded"),
    ],
)
def test_parameters_that_do_not_fit_are_errors(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(np.mean, **changes)


def test_a_protected_table_says_how_to_ask_it() -> None:
    survey = dp.protect({"income": INCOME}, unit="row", budget=dp.Budget(epsilon=1), ledger=":memory:")
    with pytest.raises(dp.DataTypeError, match=r"by name only: table.sample_and_aggregate\('median', 'income', ...\)"):
        ask(np.mean, survey)
    assert survey.ledger.spent.epsilon == 0


def test_the_old_word_for_the_function_still_works_and_says_so() -> None:
    with pytest.warns(DeprecationWarning, match="f= is now function="):
        release = dp.sample_and_aggregate(f="median", data=INCOME, epsilon=1, rng=dp.testing.seeded(1))
    assert release == dp.sample_and_aggregate(function="median", data=INCOME, epsilon=1, rng=dp.testing.seeded(1))
    with pytest.warns(DeprecationWarning, match="f= is now function="), pytest.raises(dp.MissingParameterError, match="delta"):
        dp.a_samp(f=str, data=INCOME, epsilon=1)


def test_every_parameter_is_documented() -> None:
    documented = inspect.getdoc(dp.sample_and_aggregate) or ""
    names = list(inspect.signature(dp.sample_and_aggregate).parameters)
    assert [name for name in names if f"  {name} " not in documented and f"{name}, " not in documented and name != "rng"] == []


def test_a_seeded_release_repeats_itself_and_says_that_it_is_not_private() -> None:
    one, other = ask(np.mean), ask(np.mean)
    assert one.value == other.value
    assert not one.private
    assert dict(one.notes)["function"].startswith("runs in this process: NOT ISOLATED")


# One row changes one reply, through the whole


@pytest.fixture
def replies_by_coins(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """What all blocks reply, where each row has the coin that was recorded for it."""
    seen: list[Any] = []

    def keep(plan: BlockPlan, raw_replies: Any, rng: Any) -> Any:
        seen[:] = raw_replies
        return answer(plan, raw_replies, rng)

    answer = BlockPlan.answer
    monkeypatch.setattr(BlockPlan, "answer", keep)

    def replies(f: Any, data: Any, coins: Any, **changes: Any) -> list[Any]:
        monkeypatch.setattr(row_blocks, "uniform_indices", lambda share, count, rng: coins % share)
        ask(f, data, **changes)
        return list(seen)

    return replies


FRAME = pd.DataFrame({"income": INCOME[:60], "age": X[:60, 0]})


@pytest.mark.parametrize(("workers", "of_frame"), [(0, lambda frame: frame), (2, lambda frame: frame.to_dict("list"))])
def test_neighbouring_tables_differ_in_one_reply(
    replies_by_coins: Callable[..., list[Any]], workers: int, of_frame: Callable[[Any], Any]
) -> None:
    def everything(raw_block: Any) -> str:
        return str(raw_block)

    coins = np.random.default_rng(8).integers(0, 1 << 30, len(FRAME))
    how: dict[str, Any] = {"aggregate": "stable", "delta": 0.01, "blocks": 8, "workers": workers}
    raw_replies = replies_by_coins(everything, of_frame(FRAME), coins, **how)
    without = FRAME.drop(index=0).reset_index(drop=True)
    changed = FRAME.assign(income=[SECRET, *FRAME["income"][1:]])
    for neighbour, thrown in ((without, coins[1:]), (changed, coins)):
        raw_others = replies_by_coins(everything, of_frame(neighbour), thrown, **how)
        assert [one == other for one, other in zip(raw_replies, raw_others, strict=True)].count(False) == 1


def test_rough_is_taken_as_everywhere_and_changes_nothing() -> None:
    def asked(rough: Any) -> Any:
        return dp.sample_and_aggregate(
            np.median, np.arange(3000.0), blocks=300, workers=0, epsilon=1, rough=rough, rng=dp.testing.seeded(1)
        )

    assert isinstance(asked(True), dp.Release)
    assert asked(True).value == asked(False).value
    assert not asked(True).rough
    with pytest.raises(dp.InvalidParameterError, match="rough"):
        asked("yes")
