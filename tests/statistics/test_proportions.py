"""Proportions: exact laws on hard neighbours, intervals that hold near 0 and 1, and the same answer wherever they are asked."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.cli.main import main
from dpstats.curator.session import Session
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms import discrete_laplace
from dpstats.statistics import proportions
from dpstats.statistics.proportions import OTHERS_SHARE, raw_counts_of, release_counts_of
from dpstats.statistics.score_intervals import CountNoise, score_interval, share_of_counts
from dpstats.testing import seeded
from tests.laws.hypotheses import counts_law, joint_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.proportions import cells_law, lead_and_base_law, noiseless_interval, public_base_law

EPSILON = Fraction(7, 10)
WINDOW = (-4, 8)
SLACK = 1e-9
CELLS = (1.0, 0.0, 2.0, None)
TABLES = [list(table) for size in range(3) for table in itertools.combinations_with_replacement(CELLS, size)]
Table = list[float | None]
Counts = tuple[int, int, int]
Pairs = set[tuple[Counts, Counts]]


def counted(table: Table) -> Counts:
    return raw_counts_of(as_column(np.array([np.nan if each is None else each for each in table], dtype=np.float64)))


ONE_MORE: Pairs = {(counted(table), counted([*table, added])) for table in TABLES for added in CELLS}
ONE_CHANGED: Pairs = {
    (counted([*table, one]), counted([*table, other])) for table in TABLES for one, other in itertools.combinations(CELLS, 2)
}


def released(reply: Any) -> Any:
    assert isinstance(reply, dp.Release), reply
    return reply


def largest_loss(law: Callable[..., Any], pairs: Pairs) -> float:
    """Of the law of three counts, on pairs of tables that are neighbours."""
    return max(largest_log_ratio(*(law(*counts, EPSILON, *WINDOW) for counts in pair)) for pair in pairs)


def cell_law(yes: int, no: int, others: int, epsilon: Fraction, low: int, high: int) -> Any:
    return counts_law([yes, no, others], 1 / epsilon, low, high)


def turned_law(yes: int, no: int, others: int, epsilon: Fraction, low: int, high: int) -> Any:
    counts = counts_law([yes - no, yes + no], 2 / (epsilon * (1 - OTHERS_SHARE)), low, high)
    return joint_law(counts, counts_law([others], 1 / (epsilon * OTHERS_SHARE), low, high))


@pytest.mark.parametrize(("law", "pairs"), [(cell_law, ONE_MORE), (turned_law, ONE_CHANGED)], ids=["one more", "one changed"])
def test_the_law_keeps_to_epsilon_on_every_small_pair_and_is_sharp(law: Callable[..., Any], pairs: Pairs) -> None:
    assert largest_loss(law, pairs) == pytest.approx(float(EPSILON), abs=SLACK)


@pytest.mark.parametrize(
    ("twin", "pairs"), [(public_base_law, ONE_MORE), (cells_law, ONE_CHANGED), (lead_and_base_law, ONE_CHANGED)]
)
def test_a_twin_that_spares_noise_is_refuted(twin: Callable[..., Any], pairs: Pairs) -> None:
    assert largest_loss(twin, pairs) > 1.9 * EPSILON


@pytest.mark.parametrize(
    ("neighbors", "scales", "expected"),
    [
        (Neighbors.ADD_REMOVE, [(1 / EPSILON, 3)], (35, 58, 14)),
        (Neighbors.CHANGE_ONE, [(2 / (EPSILON * (1 - OTHERS_SHARE)), 2), (1 / (EPSILON * OTHERS_SHARE), 1)], (31.5, 56.5, 15)),
    ],
)
def test_noise_is_drawn_as_the_laws_say(
    neighbors: Neighbors, scales: list[Any], expected: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def drawn(given: Fraction, count: int, rng: RandomSource) -> Any:
        asked.append((given, count))
        return np.array([5, -2, 4])[:count]

    for module in (proportions, discrete_laplace):
        monkeypatch.setattr(module, "sample_discrete_laplace", drawn)
    counts = release_counts_of(30, 60, 10, EPSILON, neighbors, seeded(1))
    assert asked == scales
    assert (counts.yes, counts.no, counts.others) == expected


@pytest.mark.parametrize("turned", [False, True])
def test_the_noise_in_the_difference_has_the_variance_that_the_interval_takes(turned: bool) -> None:
    noise, share = CountNoise.laplace(0.5, turned=turned), 0.2
    places = np.arange(-200, 201)
    law = np.exp(-0.5 * np.abs(places))
    variance = float((law * places**2).sum() / law.sum())
    weights = ((1 - 2 * share) / 2, 0.5) if turned else (1 - share, share)
    assert noise.moments(share)[0] == pytest.approx(variance * sum(weight**2 for weight in weights))


def held(share: float, rows: int, epsilon: float, neighbors: Neighbors, repeats: int, twin: bool = False) -> float:
    """How often an interval holds the share of the population, over samples of it."""
    chance, rng, hits = np.random.default_rng(round(1000 * share) + rows), seeded(rows), 0
    for yes in chance.binomial(rows, share, repeats).tolist():
        counts = release_counts_of(yes, rows - yes, 0, Fraction(epsilon), neighbors, rng)
        low, high = (
            noiseless_interval(counts.yes, counts.no, 0.95) if twin else score_interval(counts.yes, counts.no, counts.noise, 0.95)
        )
        hits += low - 1e-9 <= share <= high + 1e-9
    return hits / repeats


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize(("rows", "epsilon"), [(50, 1.0), (200, 0.25), (3_000, 0.5)])
def test_intervals_hold_near_0_and_1_and_for_few_rows(rows: int, epsilon: float, neighbors: Neighbors) -> None:
    for share in (0.0, 0.005, 0.05, 0.5, 0.985, 1.0):  # 0.918 is five standard errors of 600 repeats below 0.95, less a point
        assert held(share, rows, epsilon, neighbors, 300) > 0.9, share


def test_an_interval_without_the_noise_is_refuted() -> None:
    assert held(0.005, 1_000, 0.5, Neighbors.ADD_REMOVE, 300, twin=True) < 0.8


@pytest.mark.parametrize("turned", [False, True])
def test_intervals_hold_the_share_lie_within_0_and_1_and_treat_both_sides_alike(turned: bool) -> None:
    noise = CountNoise.laplace(0.7, turned=turned)
    for yes, no in itertools.product((-40.0, -3.0, 0.0, 1.0, 7.5, 60.0, 4_000.0), repeat=2):
        for level in (0.5, 0.95, 0.999):
            low, high = score_interval(yes, no, noise, level)
            assert 0 <= low <= share_of_counts(yes, no) <= high <= 1
            mirrored = score_interval(no, yes, noise, level)
            assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)
            assert high > low
        narrow, wide = (score_interval(yes, no, noise, level) for level in (0.8, 0.99))
        assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def test_with_next_to_no_noise_the_interval_is_wilsons_but_for_the_longer_side() -> None:
    low, high = score_interval(
        30, 70, CountNoise.laplace(60.0), 0.95
    )  # 0.2189 to 0.3958: statsmodels, proportion_confint, wilson
    assert high == pytest.approx(0.3958, abs=1e-4)
    assert 0.21 < low <= 0.2190


CONTAINERS: dict[str, Callable[[list[bool | None]], Any]] = {
    "a list": list,
    "numpy floats": lambda rows: np.array([np.nan if each is None else float(each) for each in rows]),
    "small floats": lambda rows: np.array([np.nan if each is None else each for each in rows], dtype=np.float32),
    "pandas booleans": lambda rows: pd.Series(rows, dtype="boolean"),
    "pandas objects": lambda rows: pd.Series(rows, dtype=object),
    "polars": lambda rows: pl.Series(rows),
    "arrow": lambda rows: pa.array(rows),
    "arrow whole numbers": lambda rows: pa.array([None if each is None else int(each) for each in rows]),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_counts_and_missing_rows_are_in_neither(container: str) -> None:
    rows = [True] * 40 + [False] * 60 + [None] * 7
    reply = released(dp.proportion(CONTAINERS[container](rows), epsilon=50, rng=seeded(3)))
    assert reply.value == pytest.approx(0.4)
    assert dict(reply.notes)["counted"] == "about 40 of 100 rows, both with noise"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint64])
def test_numbers_beside_0_and_1_are_missing(dtype: Any) -> None:
    kind = np.dtype(dtype)
    others = (
        [2, 3, 100]
        if kind.kind in "iu"
        else [0.5, 2, np.inf, -np.inf, np.nan, *np.nextafter(kind.type([0, 1, 1]), kind.type([1, 2, 0]))]
    )
    rows = np.array([*([1] * 30), *([0] * 50), *others], dtype=kind)
    beside = len(others) - (kind.kind == "f")  # one of them is missing
    assert raw_counts_of(as_column(rows)) == (30, 50, beside)
    if kind.kind == "f":
        assert raw_counts_of(as_column(-rows)) == (0, 50, 30 + beside)


@pytest.mark.floors
def test_few_rows_are_refused_with_what_does_not_count_and_answered_roughly_on_request() -> None:
    refusal = dp.proportion([True] * 4 + [None] * 500, epsilon=1, rng=seeded(1))
    assert isinstance(refusal, dp.NoReply)
    assert "neither true nor false do not count" in refusal.reason
    rough = released(dp.proportion([True] * 4, epsilon=1, rough=True, rng=seeded(1)))
    assert rough.rough
    assert rough.interval.high == 1


@pytest.mark.floors
@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_codes_that_are_not_0_and_1_are_refused_and_rare_ones_are_named_on_the_card(neighbors: Neighbors) -> None:
    """Of codes 1 and 2 the share of ones among zeros and ones is 1, which nobody wants to know."""
    refusal = dp.proportion([1] * 470 + [2] * 530, epsilon=1, neighbors=neighbors, rng=seeded(1))
    assert isinstance(refusal, dp.NoReply)
    assert "with values other than 0 and 1" in refusal.reason
    assert "x == 1" in refusal.advice
    with_unknown = [1] * 4_000 + [0] * 5_000 + [9] * 1_000
    assert (
        "about 1,0"
        in dict(released(dp.proportion(with_unknown, epsilon=2, neighbors=neighbors, rng=seeded(1))).notes)["other values"]
    )
    for seed in range(20):
        none = released(dp.proportion([0] * 300, epsilon=1, neighbors=neighbors, rng=seeded(seed)))
        assert "other values" not in dict(none.notes)


def test_the_mean_of_declared_booleans_is_the_proportion_and_that_of_other_rows_is_not() -> None:
    rows = np.random.default_rng(2).random(2_000) < 0.02
    for booleans in (rows, pd.Series(rows), pl.Series(rows)):
        mean, share = (released(ask(booleans, epsilon=1, rng=seeded(5))) for ask in (dp.mean, dp.proportion))
        assert (mean.value, mean.interval, mean.method, mean.cost) == (share.value, share.interval, "counts", share.cost)
        assert str(mean).startswith("mean = ")
        assert dict(mean.notes)["chosen because"] == "the column holds true and false"
    for others in (rows.tolist(), rows.astype(float)):
        assert dp.mean(others, epsilon=1, rng=seeded(5)).method == "clipped"
    assert dp.mean(rows, epsilon=1, method="clipped", rng=seeded(5)).method == "clipped"
    assert dp.mean(rows.astype(float), epsilon=1, method="counts", rng=seeded(5)).method == "counts"


def protected(table: Any, **words: Any) -> Session:
    settings: dict[str, Any] = {"unit": "row", "budget": dp.Budget(epsilon=500), "ledger": ":memory:", "allow_seeded": True}
    return dp.protect(table, **{**settings, **words})


def people(**words: Any) -> Session:
    chance = np.random.default_rng(4)
    hours = pd.array(chance.integers(0, 5, 4_000) * 10, dtype="Int64")
    hours[:1_000] = pd.NA
    table = pd.DataFrame({"hours": hours, "works": chance.random(4_000) < 0.3, "region": chance.choice(["n", "s"], 4_000)})
    return protected(table, **words)


def test_a_condition_stands_for_a_column_and_rows_where_it_is_unknown_are_in_neither() -> None:
    reply = released(people().proportion("hours>0", epsilon=20, rng=seeded(1)))
    assert str(reply).startswith("proportion(hours > 0) = 0.8")
    assert "of 3,000 rows" in dict(reply.notes)["counted"]
    inside = released(people().where("works").proportion("hours > 0 and works", epsilon=20, rng=seeded(1)))
    assert inside.interval.low < 0.8 < inside.interval.high
    by = people().group_by("region", keys=["n", "s"]).proportion("hours >= 20", epsilon=20, rng=seeded(1))
    assert all(abs(each.value - 0.6) < 0.05 for each in by.values())
    assert by.cost.epsilon == 20
    assert released(people().with_columns(idle="hours == 0").mean("idle", epsilon=20, rng=seeded(1))).method == "counts"


def test_conditions_that_are_spelled_differently_and_means_of_booleans_are_asked_once() -> None:
    session = people()
    session.proportion("hours>0", epsilon=1)
    assert "from the archive" in str(session.proportion("(hours > 0)", epsilon=1))
    assert "from the archive" in str(session.ask(session.document("proportion", " hours >0", epsilon=1)))
    session.mean("works", epsilon=1)
    assert "from the archive" in str(session.proportion("works", epsilon=1))
    assert session.remaining.epsilon == 498


def test_a_column_that_is_called_like_a_condition_is_the_column() -> None:
    table = pd.DataFrame({"hours > 0": [True] * 300, "hours": [0] * 300})
    session = protected(table)
    assert released(session.proportion("hours > 0", epsilon=20, rng=seeded(1))).value == 1
    with pytest.raises(dp.InvalidParameterError, match="there is a column hours > 0 already"):
        session.proportion("hours>0", epsilon=20)


def test_what_is_no_condition_is_an_error_before_anything_is_spent() -> None:
    session = people()
    for given, words in (
        ("wrks", "Did you mean works"),
        ("hours + 1", "compare it with something"),
        ("region", "Write a condition, such as region == 'yes'"),
        ("hours >", "not clear"),
    ):
        with pytest.raises(dp.DpstatsError, match=words):
            session.proportion(given, epsilon=1)
    with pytest.raises(dp.UnknownNameError):
        session.median("hours > 0", epsilon=1)
    assert session.remaining.epsilon == 500


def test_a_column_of_truths_in_a_csv_file_is_read_as_such(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.csv").write_text("works,hours\n" + "TRUE,3\n" * 60 + "false,0\n" * 40 + "perhaps,\n" * 9)
    declared = {"works": "boolean", "hours": "number"}
    session = protected(tmp_path / "rows.csv", types=declared)
    for given in ("works", "hours > 0"):
        assert released(session.proportion(given, epsilon=40, rng=seeded(1))).value == pytest.approx(0.6)
        assert main(["ask", str(tmp_path / "rows.csv"), f"proportion({given})", "--epsilon", "40", "--seed", "1"]) == 0
        assert f"proportion({given}) = 0.6\n" in capsys.readouterr().out


def test_a_changed_row_of_a_whole_table_is_paid_for_once_and_of_a_selection_twice() -> None:
    session = people(neighbors="change_one")
    whole = released(session.proportion("hours > 0", epsilon=2, rng=seeded(1)))
    part = released(session.where("works").proportion("hours > 0", epsilon=2, rng=seeded(1)))
    assert "price of a row" not in dict(whole.notes)
    assert dict(part.notes)["price of a row"].startswith("epsilon = 1 for one row")


def test_a_column_without_a_type_that_begins_with_a_date_is_an_error_before_anything_is_spent() -> None:
    with pytest.raises(dp.DataTypeError, match="begins with dates or times"):
        protected({"born": [datetime.date(2001, 2, 3)] * 50}).proportion("born", epsilon=1)
    assert released(protected({"works": [True, None, 1, 0] * 50}).proportion("works", epsilon=40, rng=seeded(1))).value > 0.6


def test_plans_try_shares_that_there_are() -> None:
    plan = dp.plan("proportion", epsilon=1, n=500, repeats=8, rng=seeded(1))
    assert [row.shape for row in plan.rows] == ["share_1", "share_10", "share_50"]
    assert [row.shape_value for row in plan.rows] == pytest.approx([0.01, 0.1, 0.5], abs=1e-4)
    assert all(row.reply_probability == 1 for row in plan.rows)
    assert people().plan("mean", "works", epsilon=1, n=500, repeats=4, rng=seeded(1)).rows[0].shape == "share_1"
    wished = dp.plan("proportion", half_width="5%", n=1_000, shape="share_50", repeats=8, rng=seeded(1)).rows[0]
    assert wished.half_width <= 0.05
