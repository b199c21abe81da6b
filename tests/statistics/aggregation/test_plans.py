"""Plans of sample and aggregate: blocks by coins, what one row can change, how many blocks there are, and what is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import dpstats as dp
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.registry import Answer, Refusal
from dpstats.mechanisms.coins import uniform_indices
from dpstats.statistics.aggregation import plans, row_blocks
from dpstats.statistics.aggregation.choices import Popularity, popularity, stability_test, steps_of_lead
from dpstats.statistics.aggregation.evaluation import evaluate
from dpstats.statistics.aggregation.plans import POPULARITY_SHARE, BlockPlan, plan_for
from dpstats.testing import seeded

Places = NDArray[np.int64]
Put = Callable[[int, Places], list[Places]]
"""Rows by number, from 0, into so many blocks, with the coins of these rows."""
EPSILON, DELTA, LEVEL = Fraction(1), Fraction(1, 10**6), Fraction(95, 100)


def planned(aggregate: Any = "universal", **changes: Any) -> BlockPlan:
    return plan_for(aggregate, **{"epsilon": EPSILON, "delta": Fraction(0), "level": LEVEL, **changes})


# Blocks


@pytest.mark.parametrize(("blocks", "overlap"), [(7, 1), (12, 3), (7, 2)])
def test_every_row_is_in_one_block_of_each_set(blocks: int, overlap: int) -> None:
    plan = planned("stable", delta=DELTA, blocks=blocks, overlap=overlap)
    raw_pieces = plan.pieces(500, seeded(1))
    assert len(raw_pieces) == blocks
    assert np.bincount(np.concatenate(raw_pieces)).tolist() == [overlap] * 500
    assert all((np.diff(raw_piece) > 0).all() for raw_piece in raw_pieces)  # in their order, no row twice in a block


def test_blocks_are_of_about_one_size_and_the_same_for_no_two_sources() -> None:
    plan = planned(blocks=10)
    raw_pieces, raw_others = plan.pieces(10_000, seeded(1)), plan.pieces(10_000, seeded(2))
    assert all(850 < len(raw_piece) < 1150 for raw_piece in raw_pieces)
    assert any(raw_piece.tolist() != raw_other.tolist() for raw_piece, raw_other in zip(raw_pieces, raw_others, strict=True))


def test_no_rows_make_empty_blocks() -> None:
    assert [len(raw_piece) for raw_piece in planned(blocks=5).pieces(0, seeded(1))] == [0] * 5


# One row changes one reply


def by_coins(plan: BlockPlan, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Blocks as the plan makes them, with recorded coins: a column of them for each set of blocks."""

    def put(rows: int, coins: Places) -> list[Places]:
        recorded = iter(coins.T)
        monkeypatch.setattr(row_blocks, "uniform_indices", lambda share, count, rng: next(recorded) % share)
        return plan.pieces(rows, seeded(1))

    return put


def by_position(blocks: int) -> Put:
    """The broken twin: the first rows are the first block, and so on."""
    return lambda rows, coins: np.array_split(np.arange(rows), blocks)


def changed_replies(put: Put, raw_rows: Sequence[float], raw_others: Sequence[float], coins: Places, other_coins: Places) -> int:
    """How many replies differ between two tables whose rows have these coins; a reply tells all rows of its block."""
    raw_replies = []
    for raw_table, thrown in ((raw_rows, coins), (raw_others, other_coins)):
        array = np.array(raw_table)
        raw_pieces = [(array[raw_piece],) for raw_piece in put(len(array), thrown)]
        raw_replies.append(
            evaluate([lambda raw_block: tuple(raw_block)], raw_pieces, planned("stable", delta=DELTA).form, workers=0)
        )
    return sum(one != other for one, other in zip(*raw_replies, strict=True))


@pytest.mark.parametrize("overlap", [1, 3])
@settings(max_examples=30)
@given(data=st.data())
def test_one_row_changes_as_many_replies_as_it_has_blocks(overlap: int, data: st.DataObject) -> None:
    raw_rows = data.draw(st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=40))
    place = data.draw(st.integers(0, len(raw_rows) - 1))
    coins = np.column_stack(
        [uniform_indices(1 << 20, len(raw_rows), seeded(data.draw(st.integers(0, 99)))) for _ in range(overlap)]
    )
    plan = planned("stable", delta=DELTA, blocks=12, overlap=overlap)
    with pytest.MonkeyPatch.context() as monkeypatch:
        put = by_coins(plan, monkeypatch)
        raw_without = raw_rows[:place] + raw_rows[place + 1 :]
        assert changed_replies(put, raw_rows, raw_without, coins, np.delete(coins, place, axis=0)) <= overlap
        raw_changed = [*raw_rows[:place], 77.0, *raw_rows[place + 1 :]]
        assert changed_replies(put, raw_rows, raw_changed, coins, coins) == overlap


def test_in_blocks_by_position_one_row_less_changes_many_replies() -> None:
    raw_rows = np.arange(40.0)
    coins = np.zeros((40, 1), dtype=np.int64)
    assert changed_replies(by_position(10), raw_rows.tolist(), raw_rows[1:].tolist(), coins, coins[1:]) > 5
    assert changed_replies(by_position(10), raw_rows.tolist(), [77.0, *raw_rows[1:]], coins, coins) == 1


# How many blocks


def test_numbers_get_blocks_by_their_number_over_epsilon() -> None:
    assert planned().blocks == 360
    assert planned(epsilon=Fraction(1, 2)).blocks == 720
    assert planned(outputs=3).blocks == 1080
    assert planned(epsilon=Fraction(100)).blocks == 20
    assert planned(epsilon=Fraction(1, 10**6)).blocks == 1_000_000


@pytest.mark.parametrize("popularity", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_a_clear_option_comes_out_of_the_automatic_number_of_blocks(epsilon: Fraction, popularity: bool) -> None:
    plan = planned("argmax", options=["a", "b", "c"], epsilon=epsilon, popularity=popularity)
    for_b = math.ceil(0.8 * plan.blocks)
    raw_replies = ["b"] * for_b + ["a"] * (plan.blocks - for_b)
    right = sum(_value(plan.answer(raw_replies, seeded(seed))) == "b" for seed in range(200))
    assert right > 180  # 95% of 200, less three standard deviations


@pytest.mark.parametrize("overlap", [1, 2])
def test_a_clear_label_passes_the_test_with_the_automatic_number_of_blocks(overlap: int) -> None:
    plan = planned("stable", delta=DELTA, overlap=overlap)
    test = stability_test(EPSILON, DELTA)
    assert test.pass_probability(steps_of_lead(math.ceil(0.6 * plan.blocks), overlap)) >= 0.95
    assert test.pass_probability(steps_of_lead(math.ceil(0.4 * plan.blocks), overlap)) < 0.95
    assert planned("stable", delta=DELTA, overlap=overlap, popularity=True).blocks > plan.blocks


def _value(outcome: Answer | Refusal) -> Any:
    return None if isinstance(outcome, Refusal) else outcome.value


# What is spent, and what comes out


def test_delta_is_spent_only_where_it_is_needed() -> None:
    assert planned("universal", delta=DELTA).delta == 0
    assert planned("argmax", delta=DELTA, options=["a"]).delta == 0
    for aggregate in ("median", "stable", dp.winsorized_mean):
        assert planned(aggregate, delta=DELTA).delta == DELTA


@pytest.mark.parametrize("aggregate", ["argmax", "stable"])
def test_choice_and_popularity_spend_epsilon_together(aggregate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []

    def chosen(*_: Any, epsilon: Fraction) -> str:
        spent.append(epsilon)
        return "b"

    def bought(raw_labels: Any, label: Any, overlap: int, epsilon: Fraction, *rest: Any) -> Popularity:
        spent.append(epsilon)
        return popularity(raw_labels, label, overlap, epsilon, *rest)

    monkeypatch.setattr(plans, "choose_option", lambda raw, options, epsilon, rng, overlap: chosen(epsilon=epsilon))
    monkeypatch.setattr(plans, "choose_stable", lambda raw, overlap, epsilon, delta, rng: chosen(epsilon=epsilon))
    monkeypatch.setattr(plans, "popularity", bought)
    how = {"options": ["a", "b"]} if aggregate == "argmax" else {"delta": DELTA}
    plan = planned(aggregate, blocks=100, popularity=True, **how)
    outcome = plan.answer(["b"] * 100, seeded(1))
    assert isinstance(outcome, Answer)
    assert spent == [1 - POPULARITY_SHARE, POPULARITY_SHARE]
    assert dict(outcome.notes)["popularity"] == "100% of the blocks chose it, or 90% to 100% (at 95%)"
    spent.clear()
    planned(aggregate, blocks=100, **how).answer(["b"] * 100, seeded(1))
    assert spent == [1]


def test_a_block_without_an_answer_keeps_its_place() -> None:
    seen: list[list[float]] = []

    def keep(votes: Any, *, epsilon: float) -> float:
        seen.append(votes.tolist())
        return 0.0

    planned(keep, blocks=6).answer([(1.0,), None, (2.0,), (3.0,), None, (4.0,)], seeded(1))
    assert seen[1:] in ([[1.0, math.inf, 2.0, 3.0, -math.inf, 4.0]], [])  # a noisy count may refuse before it is called
    assert len(seen[0]) == 201  # made-up votes, before anything is spent


def test_one_number_is_released_as_such_and_declared_ones_as_a_tuple() -> None:
    raw_replies = [(5.0,)] * 200
    assert isinstance(_value(planned("mean", range=(0, 10), blocks=200).answer(raw_replies, seeded(1))), float)
    alone = planned("mean", range=(0, 10), blocks=200, outputs=1).answer(raw_replies, seeded(1))
    assert isinstance(alone, Answer)
    assert isinstance(alone.value, tuple)
    assert len(alone.intervals) == 1


def test_a_given_aggregate_may_make_several_numbers_of_one() -> None:
    plan = planned(lambda votes, epsilon: [1.0, 2.0], blocks=200)
    assert _value(plan.answer([(5.0,)] * 200, seeded(1))) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("aggregate", "changes", "error", "words"),
    [
        ("avg", {}, UnknownNameError, "one of 'mean', .*'stable', or a function of votes"),
        (None, {}, UnknownNameError, "or a function of votes; got None"),
        (np.arange(2), {}, UnknownNameError, "or a function of votes"),
        (np.mean, {}, InvalidParameterError, r"failed on made-up votes \(TypeError\): it must take votes, epsilon="),
        (lambda votes, epsilon: "x", {}, InvalidParameterError, "return a Release or numbers"),
        ("mean", {}, MissingParameterError, r"needs range, public ends of the answer such as \(0, 10\); or take"),
        ("mean", {"range": [(0, 1)] * 2}, InvalidParameterError, "for 2 numbers, but the answer has 1"),
        ("mean", {"range": (1, 0)}, InvalidParameterError, "must begin below its end"),
        ("universal", {"range": (0, 1)}, InvalidParameterError, "takes no range: leave it out, or take 'mean'"),
        ("universal", {"trim": 0.1}, InvalidParameterError, "takes no trim: leave it out"),
        ("median", {}, MissingParameterError, "needs delta, for example 1e-6; or take 'universal'"),
        ("universal", {"blocks": 1}, InvalidParameterError, "blocks must be a whole number from 2 to 1,000,000, or 'auto'"),
        ("universal", {"blocks": 2.0}, InvalidParameterError, "blocks must be a whole number"),
        ("universal", {"blocks": True}, InvalidParameterError, "blocks must be a whole number"),
        ("universal", {"blocks": np.arange(2)}, InvalidParameterError, "blocks must be a whole number"),
        ("universal", {"blocks": "many"}, InvalidParameterError, "blocks must be a whole number"),
        ("universal", {"outputs": 0}, InvalidParameterError, "outputs must be a whole number from 1 to 1,000"),
        ("universal", {"default": "a"}, InvalidParameterError, "default must be a number"),
        ("universal", {"options": ["a"]}, InvalidParameterError, "for aggregate='argmax' and 'stable'"),
        ("universal", {"popularity": True}, InvalidParameterError, "for aggregate='argmax' and 'stable'"),
        ("universal", {"overlap": 2}, InvalidParameterError, "overlap is for aggregate='argmax' and 'stable'"),
        ("argmax", {}, MissingParameterError, "needs options, the public list of labels; or take 'stable'"),
        ("argmax", {"options": "abc"}, InvalidParameterError, "options must be a list of labels such as"),
        ("argmax", {"options": 3}, InvalidParameterError, "options must be a list of labels such as"),
        ("argmax", {"options": ["a", "a"]}, InvalidParameterError, "different ones"),
        ("argmax", {"options": ["a"], "outputs": 2}, InvalidParameterError, "chooses a label: leave outputs out"),
        ("stable", {}, MissingParameterError, "needs delta: for example delta=1e-6"),
        ("stable", {"delta": DELTA, "options": ["a"]}, InvalidParameterError, "needs no options: leave them out"),
        ("stable", {"delta": DELTA, "overlap": 101}, InvalidParameterError, "overlap must be a whole number from 1 to 100"),
        ("stable", {"delta": DELTA, "overlap": 5, "blocks": 4}, InvalidParameterError, "blocks must be a whole number from 5"),
        ("stable", {"delta": DELTA, "popularity": "yes"}, InvalidParameterError, "popularity must be True or False"),
    ],
)
def test_complaints_say_what_to_do(aggregate: Any, changes: dict[str, Any], error: type[DpstatsError], words: str) -> None:
    with pytest.raises(error, match=words):
        planned(aggregate, **changes)


def test_numbers_of_numpy_are_whole_numbers_too() -> None:
    plan = planned("argmax", options=np.array(["a", "b"]), blocks=np.int64(7))
    assert (plan.blocks, plan.options) == (7, ("a", "b"))
    assert all(type(option) is str for option in plan.options or ())
