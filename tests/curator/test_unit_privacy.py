"""One unit more or less moves what a session reads by at most the rows that the unit pays for, in all groups together."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.accounting.groups import unit_cost
from dpstats.curator.protection import Protection
from dpstats.engines.units.contributions import BoundedStore
from dpstats.foundations.registry import Question

GROUPS = ["a", "b", "c"]
NO_NOISE = 10**6

Row = tuple[int | None, str, int]
rows = st.lists(st.tuples(st.sampled_from([0, 1, 2, 3, None]), st.sampled_from(GROUPS), st.integers(0, 5)), max_size=14)


def raw_counts(table: list[Row], k: int, policy: str) -> list[int]:
    """What a grouped and filtered count reads, from releases whose noise has vanished."""
    columns = {"person": [row[0] for row in table], "group": [row[1] for row in table], "x": [row[2] for row in table]}
    survey = dp.protect(
        columns,
        unit="person",
        max_rows_per_unit=k,
        missing_unit=policy,
        types={"person": "integer", "group": "text", "x": "integer"},
        keys={"group": GROUPS},
        budget=dp.Budget(epsilon=10**9),
        ledger=":memory:",
        allow_seeded=True,  # the same rows of a unit are used in every session
    )
    whole = survey.group_by("group").count(epsilon=NO_NOISE)
    some = survey.where("x > 2").group_by("group").count(epsilon=NO_NOISE)
    return [reply.value for result in (whole, some) for reply in result.values()]


def moved(table: list[Row], k: int, policy: str, person: int) -> int:
    """By how many rows the counts of all groups together move when a person leaves; the filtered ones are some of those."""
    with_person = raw_counts(table, k, policy)
    without = raw_counts([row for row in table if row[0] != person], k, policy)
    differences = [abs(one - other) for one, other in zip(with_person, without, strict=True)]
    return max(sum(differences[:3]), sum(differences[3:]))


@given(rows, st.integers(1, 3), st.sampled_from(["drop", "each", "together"]), st.integers(0, 3))
@settings(max_examples=60)
def test_one_person_moves_at_most_k_rows(table: list[Row], k: int, policy: str, person: int) -> None:
    assert moved(table, k, policy, person) <= k


def _unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Protection, "bound", lambda *_: None)


def _one_row_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = BoundedStore.__init__

    def generous(self: Any, store: Any, bound: Any) -> None:
        object.__setattr__(bound, "rows", bound.rows + 1)
        inner(self, store, bound)

    monkeypatch.setattr(BoundedStore, "__init__", generous)


@pytest.mark.parametrize("twin", [_unbounded, _one_row_too_many])
def test_a_broken_bound_is_noticed(twin: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    twin(monkeypatch)
    searched = settings(max_examples=2000, phases=[Phase.generate])  # the first table that shows it will do
    worst = find(rows, lambda table: moved(table, 1, "drop", 0) > 1, settings=searched)
    assert moved(worst, 1, "drop", 0) > 1


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_what_all_steps_cost_together_is_what_was_debited(k: int, neighbors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Question] = []
    answer = Question.run

    def watched(self: Question, *arguments: Any) -> Any:
        seen.append(self)
        return answer(self, *arguments)

    monkeypatch.setattr(Question, "run", watched)
    survey = dp.protect(
        {"person": list(range(50)), "x": list(range(50))},
        unit="person",
        max_rows_per_unit=k,
        neighbors=neighbors,
        types={"person": "integer", "x": "integer"},
        budget=dp.Budget(epsilon=9, delta=1e-3),
        ledger=":memory:",
    )
    survey.iqr("x", epsilon=2, delta=1e-6, method="ptr")
    steps = k if neighbors == "add_remove" else 2 * k
    [question] = seen
    cost = unit_cost(question.epsilon, question.delta, steps)
    assert question.neighbors is dp.Neighbors.ADD_REMOVE
    assert cost.epsilon == 2
    assert Fraction("0.999999e-6") < cost.delta <= Fraction(1, 10**6)
    assert survey.ledger.spent == dp.PrivacyCost(2, Fraction(1, 10**6), neighbors, "person")
