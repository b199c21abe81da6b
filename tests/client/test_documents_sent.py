"""A call of a remote session sends the document of that very call, and complains in the same words before it sends anything."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import dpstats as dp
from dpstats.foundations.registry import find_statistic, statistic_names
from tests.client.fake_service import FakeService
from tests.curator.documents.test_asking import QUESTIONS
from tests.questions import UnreadableStore, columns_for, outcome_of, required_of, session

SERVICE = FakeService(session(UnreadableStore()))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_call_asks_there_what_it_asks_here(name: str) -> None:
    call, _ = QUESTIONS[name]
    survey = SERVICE.session
    assert outcome_of(survey, lambda: call(SERVICE.remote())) == outcome_of(survey, lambda: call(survey))


def test_every_statistic_is_asked_there_as_here() -> None:
    survey, remote = SERVICE.session, SERVICE.remote()
    for name in statistic_names():
        statistic = find_statistic(name)
        words: dict[str, Any] = {**required_of(statistic), "epsilon": 1, "delta": 1e-7}
        there, here = (partial(getattr(each, name), *columns_for(statistic), **words) for each in (remote, survey))
        assert outcome_of(survey, there) == outcome_of(survey, here)
    remote.ask(SERVICE.sent[0])
    assert SERVICE.sent[-1] == SERVICE.sent[0]
    assert len(set(SERVICE.keys)) == len(SERVICE.keys)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.median("incom", epsilon=1),
        lambda s: s.median("region", epsilon=1),
        lambda s: s.median("income"),
        lambda s: s.quantile("income", 2, epsilon=1),
        lambda s: s.median("income", epsilon=1, method="magic"),
        lambda s: s.median("income", epsilon=1, unit="row"),
        lambda s: s.median("income", epsilon=1, rng=dp.testing.seeded(1)),
        lambda s: s.where("age >="),
        lambda s: s.group_by("region").median("income", epsilon=1),
        lambda s: s.regression("income ~ agee", epsilon=1),
        lambda s: s.mean(lambda: 1, epsilon=1),
    ],
)
def test_what_is_wrong_is_said_in_the_same_words_and_not_sent(ask: Any) -> None:
    with pytest.raises(dp.DpstatsError) as here:
        ask(SERVICE.session)
    sent = len(SERVICE.sent)
    with pytest.raises(dp.DpstatsError) as there:
        ask(SERVICE.remote())
    assert (type(there.value), str(there.value)) == (type(here.value), str(here.value))
    assert len(SERVICE.sent) == sent
