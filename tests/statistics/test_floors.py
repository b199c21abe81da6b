"""Too few rows get a refusal that says what it takes, or a rough answer where that is asked for; never nonsense."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Answer, Question, Refusal, ask
from dpstats.statistics.floors import Floor
from dpstats.statistics.means import ALIKE_FLOOR, MEAN_FLOOR
from dpstats.testing import seeded

pytestmark = pytest.mark.floors

STATISTICS: dict[str, Any] = {
    "mean": dp.mean,
    "sum": dp.sum,
    "median": dp.median,
    "quantile": lambda data, **named: dp.quantile(data, 0.9, **named),
    "quantiles": lambda data, **named: dp.quantile(data, [0.1, 0.5, 0.9], **named),
    "iqr": dp.iqr,
    "cdf": dp.cdf,
    "std": dp.std,
    "variance": dp.variance,
    "trimmed_mean": dp.trimmed_mean,
    "winsorized_mean": dp.winsorized_mean,
}


def asked(**words: Any) -> Question:
    return ask("mean", **{"epsilon": 1, **words})


# The mechanism


def test_rows_that_an_answer_takes_come_from_parameters_alone() -> None:
    assert Floor(300).rows_at(asked()) == 300
    assert Floor(300).rows_at(asked(epsilon=0.1)) == pytest.approx(3000)
    assert Floor(300, 50).rows_at(asked(epsilon=100)) == 50
    assert Floor(300).rows_at(asked(neighbors=Neighbors.CHANGE_ONE)) == 600  # a change is one row removed and one added


def test_below_the_floor_there_is_a_refusal_and_a_rough_answer_only_on_request() -> None:
    answer = Answer(1.0)
    assert Floor(300).judge(asked(), 300, answer) is answer
    assert isinstance(Floor(300).judge(asked(), 299, answer), Refusal)
    rough = Floor(300).judge(asked(rough=True), 50, answer)
    assert isinstance(rough, Answer)
    assert "About 50 rows are too few" in rough.rough
    assert Floor(300).judge(asked(rough=True), 300, answer) is answer


@pytest.mark.parametrize(
    ("noisy_rows", "reason", "advice"),
    [
        (50, "About 50 rows are too few at this epsilon.", "It takes about 300 rows, or epsilon 3 with these;"),
        (15, "About 15 rows are too few at this epsilon.", "It takes about 300 rows, or epsilon 10 with these;"),
        (14, "About 14 rows are too few at this epsilon.", "It takes about 300 rows; with these, no epsilon up to 10 is enough;"),
        (1, "About 1 row is too few at this epsilon.", "It takes about 300 rows; with these, no epsilon up to 10 is enough;"),
        (-70, "About 0 rows are too few at this epsilon.", "It takes about 300 rows;"),
    ],
)
def test_a_refusal_says_how_many_rows_or_how_much_epsilon_it_takes(noisy_rows: int, reason: str, advice: str) -> None:
    question = asked(epsilon="0.5")
    reply = question.reply(Floor(150).judge(question, noisy_rows, Answer(1.0)), private=True)
    assert isinstance(reply, dp.NoReply)
    assert reply.reason == reason
    assert reply.advice == f"{advice} rough=True takes a rough answer."
    assert reply.cost == question.cost


def test_below_the_floor_of_rough_answers_there_is_none_and_none_is_offered() -> None:
    floor, question = Floor(300, rough_nats=150), asked(rough=True)
    assert isinstance(floor.judge(question, 150, Answer(1.0)), Answer)
    refusal = floor.judge(question, 149, Answer(1.0))
    assert isinstance(refusal, Refusal)
    assert "rough" not in refusal.advice


@pytest.mark.parametrize("rough", [1, "yes", None])
def test_rough_is_true_or_false(rough: object) -> None:
    with pytest.raises(dp.InvalidParameterError, match="rough must be True or False"):
        dp.mean([1.0], epsilon=1, rough=rough)


# Every statistic


@pytest.mark.parametrize("name", STATISTICS)
def test_a_few_rows_get_no_reply_or_a_rough_answer(name: str) -> None:
    data = np.random.default_rng(1).lognormal(8, 1, 30)
    replies = [STATISTICS[name](data, epsilon=0.3, rng=seeded(seed)) for seed in range(10)]
    assert sum(isinstance(reply, dp.NoReply) for reply in replies) >= 9
    refused = next(reply for reply in replies if isinstance(reply, dp.NoReply))
    assert "too few" in refused.reason or "far from the limits" in refused.reason
    rough = [STATISTICS[name](data, epsilon=0.3, rough=True, rng=seeded(seed)) for seed in range(10)]
    assert sum(release.rough for release in rough) >= 9
    marked = next(release for release in rough if release.rough)
    assert " (rough)" in str(marked)
    assert "rough=True" in marked.question
    assert marked.to_dict()["rough"] is True
    assert "too few" in marked.card().to_dict()["rough"] or "far" in marked.card().to_dict()["rough"]


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("interval", [0.95, None])
def test_enough_rows_are_answered(name: str, interval: float | None) -> None:
    data = np.random.default_rng(1).lognormal(8, 1, 3000)
    for seed in range(3):
        release = STATISTICS[name](data, epsilon=1, interval=interval, rng=seeded(seed))
        assert isinstance(release, dp.Release)
        assert not release.rough


def test_a_mean_of_fifty_rows_is_refused_where_it_was_nonsense() -> None:
    chance = np.random.default_rng(50)
    for seed in range(40):
        reply = dp.mean(chance.lognormal(8, 1, 50), epsilon=1, rng=seeded(seed))
        assert isinstance(reply, dp.NoReply) or reply.interval.low < math.exp(8.5) < reply.interval.high


def test_a_middle_that_lies_beside_all_rows_is_no_answer() -> None:
    """With hardly a row to either side, by noisy numbers, the middle counted as the value of all rows, whatever it was."""
    data = np.random.default_rng(3).lognormal(8, 0.5, 720)
    for seed in range(40):
        assert isinstance(dp.mean(data, epsilon=0.03, rng=seeded(seed)), dp.NoReply)


def test_all_rows_alike_take_more_rows() -> None:
    assert ALIKE_FLOOR.nats > MEAN_FLOOR.nats
    release: Any = dp.mean(np.full(2000, 7.0), epsilon=1, rng=seeded(1))
    assert float(release) == 7.0
    low, high = release.interval
    assert 6 < low < 7 < high < 8


def test_a_second_population_beyond_the_cut_is_seen() -> None:
    """One row in twenty is ten times as wide: its variance was cut off, and the interval did not say so."""
    chance = np.random.default_rng(5)
    truth, held = math.sqrt(0.95 + 5.0), 0
    for seed in range(20):
        data = np.where(chance.random(10_000) < 0.05, 10.0, 1.0) * chance.normal(0, 1, 10_000)
        release: Any = dp.std(data, epsilon=1, rng=seeded(seed))
        low, high = release.interval
        held += low <= truth <= high
    assert held >= 18


def test_the_ends_of_a_far_quantile_are_known() -> None:
    chance = np.random.default_rng(6)
    ends = [dp.quantile(chance.lognormal(8, 1, 1495), 0.95, epsilon=1.5, rng=seeded(seed)) for seed in range(20)]
    replies = [release for release in ends if isinstance(release, dp.Release)]
    assert len(replies) >= 15
    assert sum(release.interval.has_both_ends for release in replies) >= len(replies) - 1


def test_an_end_between_whole_numbers_goes_on_to_the_next_one() -> None:
    data = np.random.default_rng(7).poisson(3, 2000)
    release = dp.median(data, epsilon=1, rng=seeded(2))
    assert release.value == 3
    assert all(float(end).is_integer() for end in release.interval)


# Groups


def grouped(rough: bool = False, seed: int = 1) -> Any:
    chance = np.random.default_rng(8)
    frame = {
        "region": ["north"] * 4000 + ["south"] * 20,
        "income": np.r_[chance.lognormal(8, 1, 4000), chance.lognormal(8, 1, 20)].tolist(),
    }
    session = dp.protect(frame, unit="row", budget=dp.Budget(epsilon=10), ledger=":memory:", allow_seeded=True)
    return session.group_by("region", keys=["north", "south"]).mean("income", epsilon=1, rough=rough, rng=seeded(seed))


def test_each_group_has_its_own_refusal() -> None:
    found = grouped()
    assert isinstance(found["north"], dp.Release)
    assert isinstance(found["south"], dp.NoReply)
    assert "south: About" in str(found)
    assert "It takes about 250 rows" in str(found)
    rough = grouped(rough=True)
    assert rough["south"].rough
    assert not rough["north"].rough
    assert "(rough)" in str(rough)
    assert [row["rough"] for row in rough.rows()] == [False, True]


# Where it can be asked


def test_rough_is_part_of_the_question_its_document_and_its_archive() -> None:
    frame = {"income": np.random.default_rng(9).lognormal(8, 1, 20).tolist()}
    session = dp.protect(frame, unit="row", budget=dp.Budget(epsilon=10), ledger=":memory:")
    document = session.document("mean", "income", epsilon=1, rough=True)
    assert document["rough"] is True
    first, second = session.ask(document), session.mean("income", epsilon=1, rough=True)
    assert first.value == second.value
    assert second.rough
    assert first.to_dict()["rough"]
    assert isinstance(session.mean("income", epsilon=1), dp.NoReply)
    assert session.ledger.spent.epsilon == 2
    with pytest.raises(dp.InvalidParameterError, match="rough"):
        session.ask({**document, "rough": "yes"})


def test_the_command_line_takes_rough_answers(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from dpstats.cli.main import main

    file = tmp_path / "few.csv"
    file.write_text("income\n" + "\n".join(str(100 + place) for place in range(20)))
    told = ["ask", str(file), "mean(income)", "--epsilon", "1", "--types", "income=number", "--json"]
    assert main(told) == 3 or json.loads(capsys.readouterr().out)["answers"][0]["reply"] is False
    capsys.readouterr()
    main([*told, "--rough"])
    assert json.loads(capsys.readouterr().out)["answers"][0]["rough"] is True


# Intervals


def test_an_interval_unpacks() -> None:
    release: Any = dp.mean(np.arange(3000.0), epsilon=1, rng=seeded(1))
    low, high = release.interval
    assert (low, high) == (release.interval.low, release.interval.high)


def test_an_interval_that_is_not_known_is_said_to_be() -> None:
    data = np.arange(3000.0)
    tested = dp.median(data, epsilon=1, delta=1e-6, method="ptr", rng=seeded(1))
    assert "interval unknown: the method ptr gives none" in str(tested)
    assert tested.card().to_dict()["interval"].startswith("unknown: ")
    assert "unknown" not in str(dp.median(data, epsilon=1, interval=None, rng=seeded(1)))
    far = dp.quantile(data, 0.999, epsilon=1, rng=seeded(1))
    assert "to unknown (95%)" in str(far)


def test_values_print_with_the_digits_that_their_interval_makes_meaningful() -> None:
    release = dp.mean(np.random.default_rng(2).lognormal(8, 1, 3000), epsilon=1, rng=seeded(1))
    shown = str(release).partition(" = ")[2].partition(",")[0]
    assert float(shown) == pytest.approx(release.value, abs=0.001 * (release.interval.high - release.interval.low))
    assert len(shown) <= 6
    assert release.value != float(shown)


def test_floors_are_exact_in_what_they_compare() -> None:
    assert Floor(Fraction(1, 3)).rows_at(asked(epsilon=Fraction(1, 3))) == pytest.approx(1)


def test_a_refusal_of_a_survival_curve_speaks_of_events_and_of_durations_that_are_alike() -> None:
    few = dp.survival_curve([1.0, 2.0] * 5, [1] * 10, epsilon=1, rng=dp.testing.seeded(1))
    alike = dp.survival_curve([1] * 2_000, [1] * 2_000, epsilon=1, rng=dp.testing.seeded(1))
    assert isinstance(few, dp.NoReply)
    assert "events are too few" in str(few)
    assert isinstance(alike, dp.NoReply)
    assert "Are all durations alike?" in str(alike)
