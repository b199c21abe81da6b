"""What only a service has: its data sets, baskets, history, prices and letters to owners."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import httpx
import polars as pl
import pytest

import dpstats as dp
from dpstats.client.connection import Connection
from dpstats.client.curators import RemoteCurator
from dpstats.client.remote_tables import RemoteTable
from dpstats.client.sessions import RemoteSession
from dpstats.curator.jobs.pool import JobFailedError
from dpstats.curator.rows_per_unit import recalled
from dpstats.web.demo import ANALYST, OWNER, TABLE
from dpstats.web.people.roles import Role
from tests.client.conftest import NAME, SAID
from tests.client.fake_service import FakeService
from tests.curator.catalog.conftest import PoolHere
from tests.web.conftest import Service


@pytest.fixture(scope="module")
def people(curator: RemoteCurator) -> RemoteSession:
    return curator[NAME]


def test_the_data_sets_are_a_table(curator: RemoteCurator) -> None:
    assert [*curator] == [*curator.datasets] == curator._ipython_key_completions_() == [NAME, TABLE]
    head, *rows = str(curator.datasets).splitlines()[1:]
    assert head.split() == ["name", "protects", "yours", "spent", "left", "enough", "for"]
    assert "epsilon = 2" in rows[1]
    assert [*curator.datasets.to_frame()["left"]][1] == "epsilon = 2"
    assert curator._repr_html_().count("<tr>") == 3
    assert repr(curator) == f"RemoteCurator({curator.url}, as {ANALYST})"


def test_a_data_set_that_is_not_granted_is_not_there(curator: RemoteCurator) -> None:
    with pytest.raises(dp.AccessError, match="there is no data set 'nobody' that you may ask about"):
        curator["nobody"]
    with pytest.raises(dp.InvalidParameterError, match="named by its text"):
        curator[7]


def test_a_token_is_good_for_what_it_says(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dp.AccessError, match="sign in first"):
        dp.connect(service.origin, token="dpst_no_such")
    monkeypatch.setenv("DPSTATS_TOKEN", service.token(ANALYST, actions=["read"]))
    with dp.connect(f"{service.origin}/") as reader, pytest.raises(dp.AccessError, match="another scope"):
        reader[NAME].count(epsilon=1)


def test_the_ledger_stays_there(people: RemoteSession) -> None:
    with pytest.raises(dp.AccessError, match=r"history\(\) has your own questions"):
        _ = people.ledger


def test_the_number_of_rows_that_was_found_is_told_as_in_a_session(service: Service, people: RemoteSession) -> None:
    path = service.demo.settings.parent / "tables" / "panel.parquet"
    pl.DataFrame({"person": [each // 3 for each in range(9_000)]}).write_parquet(path)
    catalog = service.office.catalog
    found = {"max_rows_per_unit": "auto", "rows_per_unit_epsilon": 0.5}
    catalog.register("panel", path.name, owner=OWNER, unit="person", budget=dp.Budget(9), **found)
    catalog.confirm("panel", **SAID)
    service.office.people.add("paula", "a long password", [Role.ANALYST])
    catalog.grant("panel", analyst="paula", budget=dp.Budget(8), **SAID)
    with dp.connect(service.origin, token=service.token("paula")) as curator:
        panel = curator["panel"]
        release = panel.rows_per_unit
        assert release == recalled(service.office.ledger.reader("panel"))
        assert str(release).startswith("rows of each person = at most 4 rows (")
        assert panel.where("person > 5").rows_per_unit == release
        assert "at most 4 rows of each person, about" in str(panel.count(epsilon=1))
        assert "%" not in panel.where("person > 5").count(epsilon=1).question
        answers = panel.basket().count(epsilon=1).where("person > 7").count(epsilon=1).ask()
        assert ["%" in each.question for each in answers] == [True, False]
    assert people.rows_per_unit is None


def test_a_service_that_does_not_tell_the_release_is_told_apart(service: Service) -> None:
    words = {"max_rows_per_unit": "auto", "rows_per_unit_epsilon": 0.5}
    table = {"person": [each // 3 for each in range(9_000)]}
    session = dp.protect(table, name="panel", unit="person", budget=dp.Budget(9), ledger=":memory:", **words)
    former = FakeService(session).remote()
    assert former.rows_per_unit is None  # it said nothing of how the number was found
    there = former._there
    there.desk = replace(there.desk, protection=session._table.protection)
    with pytest.raises(
        dp.ServiceError, match=r"says only this of the rows of panel: at most 4 rows of each person; about .*privately"
    ):
        _ = former.rows_per_unit
    there._rows_found = {"question": "rows"}
    with pytest.raises(dp.ServiceError, match="in a form that this version of dpstats does not know"):
        _ = former.rows_per_unit


def test_a_price_is_named_and_not_paid(people: RemoteSession) -> None:
    left = people.remaining.epsilon
    price = people.price(people.document("median", "income", epsilon=0.25))
    assert price.cost == dp.PrivacyCost(Fraction(1, 4), Fraction(0), unit="person")
    assert (price.fits, price.more) == (True, int(left / price.cost.epsilon) - 1)
    assert str(price).startswith("spends epsilon = 0.25, leaves ")
    assert people.remaining.epsilon == left


def test_a_basket_is_paid_for_by_one_debit(people: RemoteSession) -> None:
    left, past = people.remaining.epsilon, len(people.history())
    basket = people.basket()
    with pytest.raises(dp.InvalidParameterError, match="the basket is empty"):
        _ = basket.cost
    basket.mean("income", epsilon=2).where("age > 30").group_by("region").count(epsilon=1)
    basket.regression("income ~ age", epsilon=4, method="huber").add(people.document("count", epsilon=1))
    with pytest.raises(dp.UnknownNameError):
        basket.mean("incom", epsilon=1)
    assert len(basket) == 4
    assert basket.cost.epsilon == 8
    assert basket.price().cost == basket.cost
    assert people.remaining.epsilon == left
    mean, groups, fit, count = basket.ask()
    assert people.remaining.epsilon == left - 8
    assert {each.receipt["sequence"] for each in (mean, groups, fit, count)} == {mean.receipt["sequence"]}
    assert mean.question == "mean(income) (at most 1 row of each person)"
    assert [*groups] == ["north", "south"]
    assert len(fit.value.predict({"age": [30]})) == 1
    assert [each.value for each in basket.ask()[::3]] == [mean.value, count.value]
    assert people.remaining.epsilon == left - 8
    assert "nothing is spent before ask()" in str(basket)
    assert repr(basket) == "Basket(people, 4 questions, epsilon = 8 in all)"
    assert {"median", "where", "ask"} <= {*dir(basket)}
    with pytest.raises(AttributeError, match="a Basket has no 'history'"):
        _ = basket.history
    [line] = list(people.history())[past:]
    assert [each.question for each in line.results] == [each.question for each in (mean, groups, fit, count)]


class LosesReplies(httpx.HTTPTransport):
    """Lets every first question through, and loses its reply."""

    lost = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        reply = super().handle_request(request)
        if request.url.path.endswith("/questions") and not self.lost:
            self.lost += 1
            reply.read()
            raise httpx.ReadError("lost")
        return reply


@pytest.mark.parametrize("fails", [False, True])
def test_a_question_whose_reply_is_lost_is_paid_for_once(
    fails: bool, people: RemoteSession, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fails:  # what could not be computed is not kept in the archive: only the key tells that it was asked
        monkeypatch.setattr(PoolHere, "run", _fail)
    transport = LosesReplies()
    connection = Connection(service.origin, service.token(ANALYST), transport)
    past = len(people.history())
    answer = RemoteSession(RemoteTable(connection, NAME)).count(epsilon=5 + fails)
    connection.close()
    assert isinstance(answer, dp.NoReply) == fails
    assert transport.lost == 1
    assert len(people.history()) == past + 1


def _fail(*_: object) -> None:
    raise JobFailedError


def test_the_history_has_what_was_paid_for(people: RemoteSession, monkeypatch: pytest.MonkeyPatch) -> None:
    median = people.where("age >= 40").median("income", epsilon=2)
    groups = people.group_by("employed").count(epsilon=1)
    nothing = people.where("age > 200").median("income", epsilon=1)
    monkeypatch.setattr("dpstats.client.history.PAGE", 2)
    history = people.history()
    *_, first, second, third = history
    assert (first.result, second.result, third.result) == (median, groups, nothing)
    assert first.document == people.where("age >= 40").document("median", "income", epsilon=2)
    assert first.sequence == median.receipt["sequence"]
    frame = history.to_frame()
    assert [*frame["sequence"]] == sorted(frame["sequence"])
    assert [*frame["value"]][-3:-1] == [median.value, "2 groups"]
    assert [*frame["low"]][-3] == median.interval.low
    assert "median(income) where age >= 40" in str(history)
    assert repr(history) == f"History(your questions about people, {len(history)} rows: print it)"
    assert people.ask(history[-3].document).value == median.value


def test_letters_go_to_the_owner(people: RemoteSession, service: Service) -> None:
    release = people.mean("income", epsilon=2)
    proposal = service.office.papers.letter(people.propose(release, "Mean income", "for the yearbook"))
    assert proposal.content["sequence"] == release.receipt["sequence"]
    assert (proposal.content["title"], proposal.person) == ("Mean income", ANALYST)
    request = service.office.papers.letter(people.request_budget(0.5, "one more table"))
    assert Fraction(request.content["epsilon"]) == Fraction(1, 2)
    groups = people.group_by("region").count(epsilon=1)
    for answer in (release, groups, people.where("age > 20").median("income", epsilon=2)):
        letter = service.office.papers.letter(answer.propose("A title of its own", "for the yearbook"))
        assert letter.content["sequence"] == answer.receipt["sequence"]
    with pytest.raises(dp.InvalidParameterError, match="only an answer of a service can be proposed"):
        dp.mean([1.0, 2.0] * 100, epsilon=1).propose("no")
    kept = pickle.loads(pickle.dumps(groups))
    assert (kept, kept.receipt) == (groups, groups.receipt)
    with pytest.raises(dp.InvalidParameterError, match="only an answer of a service can be proposed"):
        kept.propose("no")
    with pytest.raises(dp.InvalidParameterError, match="propose takes an answer about people that this service has given"):
        people.propose(dp.mean([1.0, 2.0] * 100, epsilon=1), "no")
