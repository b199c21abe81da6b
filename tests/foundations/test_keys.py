"""Keys: one order for all of them, whichever way it is found, and plain labels."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.keys import are_plain, in_key_order, key_order, labels_of, plain_key

LABELS = st.one_of(st.text(max_size=2), st.integers(-3, 3), st.floats(-3, 3), st.booleans(), st.just(math.inf))
KEYS = st.one_of(LABELS, st.tuples(LABELS), st.tuples(LABELS, LABELS), st.lists(LABELS, max_size=3).map(tuple))


@given(st.lists(KEYS, max_size=12))
@settings(max_examples=200)
def test_both_ways_to_sort_give_one_order(keys: list[Any]) -> None:
    assert in_key_order(set(keys)) == sorted(set(keys), key=key_order)


@given(st.lists(KEYS, max_size=12, unique=True), st.randoms())
@settings(max_examples=200)
def test_the_order_does_not_depend_on_what_came_first(keys: list[Any], shuffled: Any) -> None:
    first = in_key_order(keys)
    shuffled.shuffle(keys)
    assert list(map(repr, in_key_order(keys))) == list(map(repr, first))


@given(KEYS, KEYS)
def test_no_two_keys_share_a_place(one: Any, other: Any) -> None:
    assert (key_order(one) == key_order(other)) == (one == other)


def test_numbers_come_before_texts_and_labels_before_tuples() -> None:
    assert in_key_order(["b", 10, ("a",), "B", 2.5, (3, "x"), (3, 1)]) == [2.5, 10, "B", "b", (3, 1), (3, "x"), ("a",)]
    assert in_key_order([("b",), ("a",), ("c",)]) == [("a",), ("b",), ("c",)]
    assert in_key_order([(10,), ("a",), (9.5,)]) == [(9.5,), (10,), ("a",)]
    assert in_key_order([]) == []


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        ("north", "north"),
        (("north", 3, True), ("north", 3, True)),
        (np.int64(3), 3),
        ((np.float64(0.5), np.str_("x"), np.bool_(False)), (0.5, "x", False)),
        (-0.0, 0.0),
        (math.inf, math.inf),
        (10**30, 10**30),
        ((), ()),
    ],
)
def test_plain_keys_are_of_pythons_own_types(key: Any, plain: Any) -> None:
    found = plain_key(key)
    assert repr(found) == repr(plain)
    assert list(map(type, labels_of(found))) == list(map(type, labels_of(plain)))


@pytest.mark.parametrize(
    "label", [math.nan, None, b"x", datetime.date(2020, 1, 2), np.datetime64("2020-01-02"), 1j, ["a"]], ids=repr
)
def test_what_is_no_label_is_no_key(label: Any) -> None:
    assert plain_key(label) is None
    assert plain_key(("a", label)) is None


@given(st.lists(KEYS, max_size=6))
def test_keys_that_are_called_plain_are_left_as_they_are(keys: list[Any]) -> None:
    if are_plain(keys):
        assert [repr(plain_key(key)) for key in keys] == list(map(repr, keys))


def test_texts_whole_numbers_and_bools_are_plain_and_floats_need_a_look() -> None:
    assert are_plain(["a", 1, True, ("b", 2)])
    assert are_plain([("a", 1)])
    assert not are_plain([0.5])
    assert not are_plain([("a", np.int64(1))])
    assert not are_plain([("a", None)])
