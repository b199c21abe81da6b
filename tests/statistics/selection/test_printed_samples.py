"""Algorithm 14 as printed, at a scale at which it can be run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.audit.subsampling import subsampling_stability
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.results import NoReply
from dpstats.statistics.selection.printed_samples import PrintedDesign, leading_reply, printed_samples, runs_of
from dpstats.testing import seeded
from tests.laws.selections import printed_law
from tests.privacy_loss.exact import hockey_stick
from tests.twins.selections import broken_printed_law

EPSILON, DELTA = 8, 0.3
SMALL = PrintedDesign(20, Fraction(EPSILON), Fraction(3, 10))


def majority(values: Sequence[int]) -> str:
    return "many" if 2 * sum(values) > len(values) else "few"


def run(values: NDArray[np.int64], function: Any = majority, *, seed: int = 1, delta: float = DELTA, **options: Any) -> Any:
    given: dict[str, Any] = {"epsilon": EPSILON, "delta": delta, "runs": runs_of(len(values), EPSILON, delta), "workers": 0}
    return printed_samples(function, lambda places: (values[places],), len(values), rng=seeded(seed), **(given | options))


def test_the_printed_numbers_are_those_of_the_paper() -> None:
    design = PrintedDesign(10_000, Fraction(1), Fraction(1, 10**6))
    q = 1 / (64 * math.log(1e6))
    assert float(design.chance) == pytest.approx(q)
    assert design.runs == pytest.approx(math.log(1e10) / q**2, rel=1e-6)
    assert design.runs == runs_of(10_000, 1, 1e-6) > 17_000_000
    assert design.most_samples == pytest.approx(2 * design.runs * q, abs=1)
    assert float(design.scale) == pytest.approx(4 * design.runs * q)
    lead = float(design.threshold)
    assert lead / (4 * design.runs * q) - 1 == pytest.approx(math.log(1e6))


def test_what_nearly_all_samples_say_is_released() -> None:
    released = run(np.ones(20, dtype=np.int64))
    assert released.value == "many"
    assert released.cost.neighbors.value == "change_one"
    assert dict(released.notes)["runs"].startswith(f"{SMALL.runs:,}")


def test_samples_that_disagree_get_no_reply() -> None:
    reply = run(np.arange(20) % 2, lambda values: int(values.sum()))
    assert isinstance(reply, NoReply)
    assert isinstance(run(np.ones(20, dtype=np.int64), lambda values: 1 / 0), NoReply)


def test_nothing_starts_before_the_runs_are_confirmed() -> None:
    def never(values: object) -> int:
        raise AssertionError

    for runs in (None, SMALL.runs + 1, float(SMALL.runs)):
        with pytest.raises(InvalidParameterError, match=f"{SMALL.runs:,} times, each on about 2 of the 20 rows"):
            run(np.ones(20, dtype=np.int64), never, runs=runs)


def test_the_number_of_rows_must_be_public() -> None:
    with pytest.raises(InvalidParameterError, match="change_one"):
        run(np.ones(20, dtype=np.int64), neighbors="add_remove")


def test_delta_is_needed_and_q_must_be_a_chance() -> None:
    with pytest.raises(MissingParameterError, match="delta"):
        runs_of(20, 1, 0)
    with pytest.raises(InvalidParameterError, match="smaller epsilon"):
        runs_of(20, 100, 0.3)


def test_samples_have_each_row_with_its_chance() -> None:
    counts = sum(np.bincount(places, minlength=20) for places in SMALL.draw(3000, seeded(4)))
    assert np.asarray(counts) == pytest.approx(3000 * float(SMALL.chance), abs=5 * math.sqrt(3000 * float(SMALL.chance)))


def test_a_row_in_too_many_samples_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    full = [np.arange(20)] * SMALL.runs
    monkeypatch.setattr(PrintedDesign, "draw", lambda self, count, rng: full[:count])
    assert isinstance(run(np.ones(20, dtype=np.int64)), NoReply)


def hard_pairs() -> list[tuple[dict[str, int], dict[str, int]]]:
    """Replies that differ in as many places as one row may reach: ties, leads at the edge, another mode."""
    runs, moved = SMALL.runs, SMALL.most_samples
    pairs = []
    for first in (runs // 2, runs // 2 + moved // 2, runs // 2 + moved, runs // 2 + 2 * moved, runs):
        pairs.append(({"a": first, "b": runs - first}, {"a": first - moved, "b": runs - first + moved}))
        pairs.append(({"a": first, "b": runs - first}, {"a": first - moved, "b": runs - first, "c": moved}))
    return pairs


def test_the_test_of_the_lead_is_private_for_replies_that_one_row_reaches() -> None:
    worst = [hockey_stick(printed_law(here, SMALL), printed_law(there, SMALL), EPSILON) for here, there in hard_pairs()]
    assert max(worst) <= DELTA / 2 + 1e-9


def test_the_twin_with_a_quarter_of_the_noise_is_refuted_at_a_small_delta() -> None:
    design = PrintedDesign(20, Fraction(1), Fraction(1, 10**6))
    runs, moved = design.runs, design.most_samples
    first = (runs + math.floor(design.threshold)) // 2
    here, there = {"a": first, "b": runs - first}, {"a": first - moved, "b": runs - first + moved}
    assert hockey_stick(printed_law(here, design), printed_law(there, design), 1) <= 1e-6
    assert hockey_stick(broken_printed_law(here, design), broken_printed_law(there, design), 1) > 0.01


def test_the_mode_is_released_as_often_as_its_law_says() -> None:
    lead = math.floor(SMALL.threshold) + 4
    replies = ["a"] * lead + [f"other {place}" for place in range(3)]
    expected = printed_law(Counter(replies), SMALL)["a"]
    rng = seeded(3)
    passed = sum(leading_reply(replies, SMALL, rng) == "a" for _ in range(2000))
    assert passed / 2000 == pytest.approx(expected, abs=0.03)
    assert 0.2 < expected < 0.8


def test_ties_go_to_the_smaller_label_and_no_answer_is_never_released() -> None:
    design = PrintedDesign(20, Fraction(EPSILON), Fraction(3, 10))
    assert leading_reply([None] * design.runs, design, seeded(1)) is None
    assert {leading_reply([0] * design.runs, design, seeded(seed)) for seed in range(5)} == {0}


def test_a_function_that_is_stable_under_subsampling_is_released_as_the_theorem_says() -> None:
    values = np.repeat([1, 0], [36, 4])
    design = PrintedDesign(40, Fraction(EPSILON), Fraction(1, 5))
    stability = subsampling_stability(majority, values, design.chance, runs=400, workers=0, rng=seeded(1))
    assert stability.stable
    replies = [run(values, seed=seed, delta=0.2) for seed in range(8)]
    right = sum(not isinstance(reply, NoReply) and reply.value == stability.whole for reply in replies)
    assert right / 8 >= 1 - 3 * 0.2


def test_subsampling_stability_says_that_it_is_not_private() -> None:
    stability = subsampling_stability(majority, [1, 0] * 10, Fraction(1, 4), runs=100, workers=0, rng=seeded(2))
    assert "NOT PRIVATE" in str(stability)
    assert (stability.whole, stability.runs) == ("few", 100)
    assert 0.3 < stability.share < 0.95
    failing = subsampling_stability(lambda values: 1 / 0, [1, 2, 3], 0.5, runs=5, workers=0)
    assert (failing.whole, failing.agreed) == (None, 0)
    for fraction in (0, 1.5):
        with pytest.raises(InvalidParameterError, match="fraction"):
            subsampling_stability(majority, [1, 2], fraction)
