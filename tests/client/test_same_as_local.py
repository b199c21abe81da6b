"""A remote session is a session: the same answers to the same draws, cards, archive, complaints, plans and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import dpstats as dp
from dpstats.curator.archive import document_of
from dpstats.curator.session import Session
from dpstats.foundations.randomness import SeededSource, SystemSource

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "a number": lambda s: s.where("age >= 30").median("income", epsilon=2),
    "a derived column": lambda s: s.with_columns(rate="income / hours").select("rate").mean("rate", epsilon=3),
    "several numbers": lambda s: s.quantile("income", [0.25, 0.75], epsilon=3, interval=0.9),
    "public groups": lambda s: s.group_by("region").count(epsilon=1),
    "groups found privately": lambda s: s.group_by("born").median("income", epsilon=5, delta=1e-6),
    "a histogram": lambda s: s.histogram("region", bins=["north", "south"], epsilon=1),
    "a table of counts": lambda s: s.contingency_table(["region", "employed"], epsilon=1),
    "a formula": lambda s: s.regression("income ~ age + C(region)", epsilon=20),
    "a classifier by a formula": lambda s: s.classification("employed ~ age + log(income)", epsilon=20),
    "synthetic rows": lambda s: s.select("age", "region").sketch(epsilon=1),
    "a document": lambda s: s.ask(s.document("mode", "region", epsilon=1, delta=1e-6)),
    "no reply": lambda s: s.where("age > 200").mean("income", epsilon=0.5),
}
WRONG: dict[str, Callable[[Any], Any]] = {
    "an unknown column": lambda s: s.median("incom", epsilon=1),
    "a bad parameter": lambda s: s.quantile("income", 2, epsilon=1),
    "no epsilon": lambda s: s.median("income"),
    "a seed": lambda s: s.median("income", epsilon=1, rng=dp.testing.seeded(1)),
    "a mistyped statistic": lambda s: s.medain("income", epsilon=1),
}


@contextmanager
def same_draws() -> Iterator[None]:
    """Noise from the beginning of one stream."""
    stream = SeededSource(20)
    with patch.object(SystemSource, "octets", lambda _, count: stream.octets(count)):
        yield


@pytest.mark.floors
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_answer_is_the_same_and_the_second_time_from_the_archive(name: str, sessions: dict[str, Session]) -> None:
    answers: list[list[Any]] = []
    for session in sessions.values():
        with same_draws():
            answers.append([QUESTIONS[name](session), QUESTIONS[name](session)])
    (here, here_again), (there, there_again) = answers
    assert isinstance(here, dp.NoReply) == (name == "no reply")
    for local, remote in ((here, there), (here_again, there_again)):
        assert type(remote) is type(local)
        assert document_of(remote) == document_of(local)
        assert str(remote.card()) == str(local.card())
        assert remote._repr_html_() == local._repr_html_()
    assert "answered before" in str(there_again.card())
    assert there.receipt is not None
    assert there.receipt.keys() == here.receipt.keys()
    assert there.receipt == there_again.receipt


def test_a_formula_predicts_as_it_does_here(sessions: dict[str, Session]) -> None:
    rows = {"age": [30, 40], "region": ["north", "south"]}
    for session in sessions.values():
        fit = QUESTIONS["a formula"](session).value
        assert fit.predict(rows)[0] == pytest.approx(fit.intercept + 30 * fit.coefficients[0])


def test_synthetic_rows_are_rows(people: Session) -> None:
    release = QUESTIONS["synthetic rows"](people)
    assert set(release.value.values) == {"age", "region"}


@pytest.mark.parametrize("name", WRONG)
def test_complaints_come_before_the_debit_in_the_same_words(name: str, sessions: dict[str, Session]) -> None:
    said = []
    for session in sessions.values():
        left = session.remaining.epsilon
        with pytest.raises((dp.DpstatsError, AttributeError)) as raised:
            WRONG[name](session)
        assert session.remaining.epsilon == left
        said.append((type(raised.value), str(raised.value).replace("RemoteSession", "Session")))
    assert said[0] == said[1]


def test_more_than_is_left_is_refused_and_costs_nothing(people: Session) -> None:
    left = people.remaining.epsilon
    with pytest.raises(dp.BudgetError, match="Nothing was spent"):
        people.median("income", epsilon=1001)
    assert people.remaining.epsilon == left


def test_what_is_left_is_counted(people: Session) -> None:
    left = people.remaining
    before, many = left.epsilon, left.more("median", epsilon=1)
    assert many == int(before)
    assert left.more("quantile", 0.9, epsilon=1) == left.more("linear_regression", epsilon=1) == many
    assert left.more("mean", epsilon=2000) == 0
    people.count(epsilon="1/3", interval=None)
    assert (left.epsilon, left.delta > 0) == (before - left.epsilon.__class__(1, 3), True)
    assert str(left).startswith("epsilon = ")


def test_what_is_public_is_shown(sessions: dict[str, Session]) -> None:
    local, remote = sessions["local"], sessions["remote"]
    assert remote.columns == local.columns
    assert remote.name == local.name
    for headings in ("protects", "budget", "income", "region", "born"):
        assert remote.describe().to_dict()[headings] == local.describe().to_dict()[headings]
    assert repr(remote.where("age>=30")).startswith("RemoteSession(people where age >= 30: 7 columns, left epsilon = ")
    assert repr(remote.group_by("region")) == repr(local.group_by("region"))
    assert {*dir(local)} <= {*dir(remote)}


def test_a_plan_is_the_same(sessions: dict[str, Session]) -> None:
    plans = [session.where("age > 30").plan("median", "income", epsilon=0.5, n=3_000) for session in sessions.values()]
    assert str(plans[0]) == str(plans[1])
    assert sessions["remote"].plan("median", "income", half_width="20%", n=10_000).epsilon is not None


def test_an_answer_is_drawn(people: Session, tmp_path: Path) -> None:
    QUESTIONS["public groups"](people).plot(tmp_path / "count.svg")
    assert (tmp_path / "count.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_a_plan_and_an_answer_are_pictures_without_a_file(people: Session) -> None:
    for picture in (
        people.plan("median", "income", epsilon=0.5, n=3_000).plot(),
        QUESTIONS["public groups"](people).plot(),
        QUESTIONS["a number"](people).plot(),
    ):
        assert "<svg" in picture._repr_svg_()
        assert repr(picture).startswith("Picture(")


def test_an_answer_is_plain_json(people: Session) -> None:
    assert json.loads(QUESTIONS["a number"](people).to_json())["reply"] is True
