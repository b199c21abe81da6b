"""Frequent itemsets and rules as they are asked for: functions, sessions, documents, baskets, floors."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.data import survey
from dpstats.statistics.itemsets.found_sets import Itemsets
from dpstats.statistics.itemsets.rules import AssociationRules, confidence_ends, fieller, lift_ends
from dpstats.testing import seeded

REGIONS = ["Arnmouth", "Belhollow", "Corrigate", "Dunsholt", "Estrava", "Fennick"]
KNOWN: dict[str, Any] = {"levels": {"region": REGIONS}, "bins": {"hours": [20, 35], "schooling": [10, 13]}}
COLUMNS = ["region", "schooling", "hours"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(survey())


def ask(name: str, table: Any, **words: Any) -> Any:
    reply = getattr(dp, name)(table, **{"columns": COLUMNS, "epsilon": 1, "rng": seeded(1), **KNOWN, **words})
    assert isinstance(reply, dp.Release), reply
    return reply


def true_sets(size: int) -> dict[str, int]:
    """All sets of up to `size` items as pandas counts them."""
    table = frame()
    coded = pd.DataFrame(
        {
            "region": "region=" + table["region"].astype(str),
            "schooling": np.array(["schooling=below 10", "schooling=10 to 12", "schooling=13 and more"])[
                np.searchsorted([10, 13], table["schooling"], side="right")
            ],
            "hours": np.array(["hours=below 20", "hours=20 to 34", "hours=35 and more"])[
                np.searchsorted([20, 35], table["hours"], side="right")
            ],
        }
    )
    sets = [names for many in range(1, size + 1) for names in combinations(COLUMNS, many)]
    return {
        ", ".join(np.atleast_1d(key)): int(count) for names in sets for key, count in coded.groupby(list(names)).size().items()
    }


def test_with_much_epsilon_the_sets_are_those_of_pandas() -> None:
    truth = true_sets(3)
    value = ask("frequent_itemsets", frame(), epsilon=10_000, k=30).value
    assert value.counts == pytest.approx(sorted(truth.values(), reverse=True)[:30], abs=1)
    assert all(count == pytest.approx(truth[name], abs=1) for name, count in value.named_values())
    assert value.counts == tuple(sorted(value.counts, reverse=True))
    assert value.rows == pytest.approx(5000, abs=1)


def test_intervals_of_counts_hold_as_often_as_they_say() -> None:
    truth, held = true_sets(1), []
    for seed in range(60):
        release = ask(
            "frequent_itemsets",
            frame(),
            size=1,
            k=8,
            interval=0.9,
            rng=seeded(seed),
            columns=["region", "hours"],
            bins={"hours": [20, 35]},
        )
        held += [
            interval.low <= truth[name] <= interval.high
            for name, interval in zip(release.value.names, release.intervals, strict=True)
        ]
    assert 0.86 <= np.mean(held) <= 0.95


def test_intervals_of_confidence_and_lift_hold_for_new_samples() -> None:
    chance, shares = np.random.default_rng(3), (0.4, 0.5, 0.2)  # of x, of y where x, of y elsewhere
    lift = shares[1] / (shares[0] * shares[1] + (1 - shares[0]) * shares[2])
    held = []
    for seed in range(150):
        x = chance.random(2_000) < shares[0]
        y = chance.random(2_000) < np.where(x, shares[1], shares[2])
        words = {"columns": None, "levels": None, "bins": 8, "baskets": True, "confidence": 0.0, "epsilon": 0.2}
        rules = ask("association_rules", {"x": x, "y": y}, **words, rough=True, rng=seeded(seed)).value
        rule = next(rule for rule in rules if rule.name == "x => y")
        held.append((rule.confidence.low <= shares[1] <= rule.confidence.high, rule.lift.low <= lift <= rule.lift.high))
    assert np.all(np.mean(held, axis=0) >= 0.91)
    assert np.all(np.mean(held, axis=0) <= 0.995)


def test_ratios_that_may_have_nothing_below_them_have_no_ends() -> None:
    assert fieller(10.0, 1.0, 4.0, 4.0, 0.0) is None
    assert confidence_ends(2.0, 1.0, 100.0, 0.0, 0.95) == (0.0, 1.0)
    assert lift_ends((3.0, 2.0, 2.0, 50.0), 100.0, 3.0, 0.95) == (None, None)
    low, high = confidence_ends(400.0, 500.0, 0.0, 0.0, 0.95)  # without noise: Wilson's interval
    assert (low, high) == pytest.approx((0.7627, 0.8326), abs=1e-3)


def test_rules_of_found_sets_cost_nothing_more() -> None:
    value = ask("frequent_itemsets", frame(), k=40).value
    rules = value.rules(confidence=0.3)
    assert len(rules)
    assert all(rule.confidence.value >= 0.3 for rule in rules)
    assert [rule.lift.value for rule in rules] == sorted((rule.lift.value for rule in rules), reverse=True)


@pytest.mark.parametrize("name", ["frequent_itemsets", "association_rules"])
def test_values_come_back_from_their_plain_form(name: str) -> None:
    value = ask(name, frame()).value
    again = type(value).from_dict(value.to_dict())
    assert again.to_dict() == value.to_dict()
    assert again.summary() == value.summary()
    assert len(value.to_pandas()) == len(value)
    assert isinstance(value, (Itemsets, AssociationRules))


@pytest.mark.parametrize("of", [pl.DataFrame, lambda table: {name: table[name].to_numpy() for name in table}])
def test_every_container_gives_the_same_sets(of: Any) -> None:
    assert ask("frequent_itemsets", of(frame())).value.to_dict() == ask("frequent_itemsets", frame()).value.to_dict()


def test_baskets_have_columns_as_items() -> None:
    chance = np.random.default_rng(1)
    milk, bread = chance.integers(0, 2, 4_000), chance.random(4_000) < 0.6
    both = {"milk": milk, "bread": bread}
    value = ask("frequent_itemsets", both, columns=None, levels=None, bins=8, baskets=True, epsilon=100).value
    assert set(value.names) == {"milk", "bread", "milk, bread"}
    assert dict(value.named_values())["milk"] == pytest.approx(milk.sum(), abs=2)
    with pytest.raises(dp.DpstatsError, match="0 and 1"):
        ask("frequent_itemsets", frame(), baskets=True, levels=None, bins=8)


def test_bins_and_labels_are_found() -> None:
    value = ask("frequent_itemsets", frame(), columns=["region", "age"], levels=None, bins=4, delta=1e-6).value
    assert {column.name: column.size for column in value.columns}["region"] == 6


@pytest.mark.floors
def test_too_few_rows_get_no_reply_or_a_rough_one() -> None:
    words = {"columns": COLUMNS, **KNOWN, "epsilon": 0.2, "rng": seeded(1)}
    refused = dp.frequent_itemsets(frame().iloc[:60], **words)
    assert isinstance(refused, dp.NoReply)
    assert "told from chance" in refused.reason
    rough = dp.frequent_itemsets(frame().iloc[:60], **words, rough=True)
    assert rough.rough
    assert len(rough.value) == 50
    some = dp.frequent_itemsets(frame(), **words)
    assert isinstance(some, dp.Release)
    assert len(some.value) < 50
    assert "left out" in dict(some.notes)["sets"]


def test_a_session_debits_once_and_answers_again_from_the_archive(tmp_path: Path) -> None:
    session = dp.protect(
        frame(), unit="row", budget=dp.Budget(epsilon=2), ledger=tmp_path / "l.ledger", name="people", keys={"region": REGIONS}
    )
    asked = {"bins": {"hours": [20, 35]}, "epsilon": 1, "k": 10}
    first = session.frequent_itemsets("region", "hours", **asked).value.to_dict()
    assert session.frequent_itemsets(["region", "hours"], **asked).value.to_dict() == first
    assert session.ask(session.document("frequent_itemsets", "region", "hours", **asked)).value.to_dict() == first
    assert session.remaining.epsilon == 1
    rules = session.association_rules("region", "hours", bins={"hours": [20, 35]}, epsilon="0.5", k=5, confidence=0.1)
    assert rules.value.level == 0.95
    rules.plot(tmp_path / "rules.svg")
    assert "=>" in (tmp_path / "rules.svg").read_text() or (tmp_path / "rules.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"k": 0}, "from 1 to 1,000"),
        ({"size": 5}, "from 1 to 4"),
        ({"k": True}, "whole number"),
        ({"baskets": 1}, "True or False"),
        ({"levels": None}, "needs delta"),
        ({"columns": None, "levels": {"region": list(range(9_000))}, "bins": 100}, "are the most"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(words: dict[str, Any], says: str) -> None:
    with pytest.raises(dp.DpstatsError, match=says):
        dp.frequent_itemsets(frame(), **{"columns": COLUMNS, "epsilon": 1, **KNOWN, **words})


def test_rules_need_two_columns_and_a_share() -> None:
    with pytest.raises(dp.DpstatsError, match="two columns"):
        dp.association_rules(frame(), columns=["hours"], epsilon=1)
    with pytest.raises(dp.DpstatsError, match="from 0 to 1"):
        dp.association_rules(frame(), columns=COLUMNS, confidence=2, epsilon=1, **KNOWN)
    with pytest.raises(AttributeError, match="did you mean frequent_itemsets"):
        dp.protect(frame(), unit="row", budget=dp.Budget(epsilon=2), ledger=":memory:").apriori("hours", epsilon=1)
