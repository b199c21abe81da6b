"""Questions over HTTP: prices, plans, answers and baskets; who pays, how often, and who is told what."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from dpstats.curator.archive import result_of
from dpstats.curator.catalog.service_desk import ServiceDesk
from dpstats.foundations.registry import find_statistic
from tests.web.conftest import Service

COUNT: dict[str, Any] = {"version": 1, "statistic": "count", "epsilon": "0.01"}


def spent(service: Service) -> Any:
    return service.office.ledger.reader("survey").spent.epsilon


def ask(client: httpx.Client, document: object, **headers: str) -> dict[str, Any]:
    reply = client.post("/d/survey/questions", json={"document": document}, headers=headers)
    assert reply.status_code == 200, reply.text
    said: dict[str, Any] = reply.json()
    return said


def test_an_answer_has_all_that_a_client_needs_and_a_repeated_one_is_free(service: Service) -> None:
    with service.visit("ana") as client:
        first = ask(client, COUNT)
        before = spent(service)
        again = ask(client, {**COUNT, "epsilon": 0.01})
    result = result_of(first["answer"], find_statistic(first["statistic"]))
    assert abs(result.value - 5_000) < 3_000
    assert first["question"] == COUNT
    assert first["receipt"]["sequence"] == first["sequence"]
    assert (first["archived"], again["archived"]) == (False, True)
    assert again["answer"]["value"] == first["answer"]["value"]
    assert spent(service) == before
    assert service.office.papers.asked("survey", "ana")[first["sequence"]] == COUNT


def test_a_condition_is_typed_in_place_of_a_column_and_asked_under_its_plain_name(service: Service) -> None:
    with service.visit("ana") as client:
        words = {"statistic": "proportion", "condition": "hours>0", "epsilon": "0.01"}
        page = client.get("/d/survey/ask", params=words).text
        said = ask(client, {"version": 1, "statistic": "proportion", "columns": ["hours>0"], "epsilon": "0.01"})
    assert "proportion(hours &gt; 0)" in page
    assert said["answer"]["question"] == "proportion(hours > 0) (at most 1 row of each person)"


def test_a_form_that_is_sent_twice_pays_once_and_leads_to_its_answer(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.curator.catalog.conftest import PoolHere

    monkeypatch.setattr(PoolHere, "run", lambda *_: (_ for _ in ()).throw(RuntimeError))  # what fails is not archived
    sentence = {"statistic": "count", "where": "age >= 31", "epsilon": "0.01", "request": "abc123"}
    with service.visit("ana") as client:
        before = spent(service)
        places = [client.post("/d/survey/questions", data=sentence) for _ in range(2)]
        assert {each.status_code for each in places} == {303}
        assert len({each.headers["location"] for each in places}) == 1
        assert spent(service) - before == pytest.approx(0.01)
        changed = client.post("/d/survey/questions", data={**sentence, "epsilon": "0.02"})
        assert changed.headers["location"] != places[0].headers["location"]


def test_a_price_says_what_is_left_and_spends_nothing(service: Service) -> None:
    with service.visit("ana") as client:
        before = spent(service)
        said = client.post("/d/survey/price", json={"document": {**COUNT, "epsilon": "0.25"}}).json()
        assert said["cost"] == {"epsilon": "1/4", "delta": "0", "words": "epsilon = 0.25"}
        assert said["words"].startswith("spends epsilon = 0.25, leaves epsilon = 1.")
        too_much = client.post("/d/survey/price", json={"document": {**COUNT, "epsilon": 3}}).json()
        assert (too_much["fits"], too_much["more"]) == (False, 0)
        together = client.post("/d/survey/basket/price", json={"documents": [COUNT, {**COUNT, "epsilon": "0.3"}]}).json()
        assert together["cost"]["words"] == "epsilon = 0.31"
        plan = client.post(
            "/d/survey/plan", json={"document": {**COUNT, "statistic": "median", "columns": ["income"]}, "n": 10**5}
        )
        assert plan.json()["plan"]["rows"][0]["n"] == 10**5
        assert spent(service) == before


def test_a_basket_is_one_debit_and_its_answers_name_it(service: Service) -> None:
    documents = [{**COUNT, "where": ["age < 40"]}, {**COUNT, "columns": ["income"]}]
    with service.visit("ana") as client:
        before = spent(service)
        said = client.post("/d/survey/basket", json={"documents": documents}).json()
        assert spent(service) - before == pytest.approx(0.02)
        assert [each["sequence"] for each in said["answers"]] == [said["sequence"]] * 2
        assert [each["question"] for each in said["answers"]] == documents
        assert client.post("/d/survey/basket", json={"documents": documents}).json()["archived"] is True
        posted = client.post("/d/survey/basket", data={"documents": [str(each).replace("'", '"') for each in documents]})
        assert posted.headers["location"] == f"/d/survey/answers/{said['sequence']}"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 404),
        ({"document": {}}, 422),
        ({"document": "no JSON"}, 422),
        ({"document": {**COUNT, "epsilon": "1e999"}}, 422),
        ({"document": {**COUNT, "epsilon": 9}}, 409),
        ({"document": {**COUNT, "where": ["__import__('os')"]}}, 404),
        ({"document": {**COUNT, "columns": ["nothing"]}}, 404),
        ({"statistic": "count", "parameters": "q"}, 422),
        ({"document": COUNT, "actor": "olga"}, 422),
        ({"document": {**COUNT, "epsilon": "0.0101"}, "request": "not\u00e4\u00f6"}, 422),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_spent(service: Service, body: Any, status: int) -> None:
    with service.visit("ana") as client:
        before = spent(service)
        reply = client.post("/d/survey/questions", json=body)
        assert (reply.status_code, set(reply.json()["error"])) == (status, {"kind", "message"})
        assert spent(service) == before


@pytest.mark.parametrize("page", ["ask.json", "history.json", "compare.json?lines=1", "basket.json", "answers/6.json"])
def test_other_peoples_data_sets_are_as_if_there_were_none(service: Service, page: str) -> None:
    service.office.people.add("eve", "a long password", service.office.people.find("ana").roles)
    service.demo.passwords["eve"] = "a long password"
    try:
        with service.visit("eve") as client:
            replies = [client.get(f"/d/{name}/{page}") for name in ("survey", "nothing")]
            replies += [client.post(f"/d/{name}/questions", json={"document": 3}) for name in ("survey", "nothing")]
            replies += [client.post(f"/d/{name}/price", json={"document": {}}) for name in ("survey", "nothing")]
    finally:
        with service.office.people._store.writing() as file:
            file.execute("DELETE FROM sign_ins WHERE person = 'eve'")
            file.execute("DELETE FROM people WHERE name = 'eve'")
    for ours, nobodys in zip(replies[::2], replies[1::2], strict=True):
        assert ours.status_code == nobodys.status_code
        assert ours.text.replace("survey", "nothing") == nobodys.text


def test_a_token_asks_within_its_scope_only(service: Service) -> None:
    with service.with_token("ana", actions=["read", "ask"], largest_epsilon="0.01", datasets=["survey"]) as client:
        assert ask(client, COUNT)["dataset"] == "survey"
        for body in ({"document": {**COUNT, "epsilon": "0.011"}}, {"statistic": "count", "epsilon": "0.011"}):
            assert client.post("/d/survey/questions", json=body).status_code == 403
        assert client.post("/d/survey/basket", json={"documents": [COUNT, {**COUNT, "epsilon": 1}]}).status_code == 403
        assert client.post("/d/other/questions", json={"document": COUNT}).status_code == 403
    with service.with_token("ana", actions=["read"]) as client:
        assert client.post("/d/survey/questions", json={"document": COUNT}).status_code == 403
        assert client.post("/d/survey/price", json={"document": COUNT}).status_code == 200


def test_whoever_has_filled_in_a_form_finds_it_again(service: Service) -> None:
    page = "/d/survey/ask?statistic=count&epsilon=9"
    with service.client() as client:
        assert client.get(page).headers["location"] == "/login?next=/d/survey/ask%3Fstatistic%3Dcount%26epsilon%3D9"
    with service.visit("ana") as client:
        for referer, back in ((f"{service.origin}{page}", page), ("https://evil.example/d/survey/ask?x", "/d/survey/ask")):
            reply = client.post("/d/survey/questions", data={"statistic": "count", "epsilon": "9"}, headers={"referer": referer})
            assert reply.status_code == 409
            assert f'href="{back.replace("&", "&amp;")}"' in reply.text


def test_a_program_that_repeats_a_request_by_its_name_gets_the_same_reply(service: Service) -> None:
    document = {**COUNT, "where": ["age >= 50"]}
    with service.with_token("ana") as client:
        said = [ask(client, document, **{"idempotency-key": "r-17"})["sequence"] for _ in range(2)]
        assert said[0] == said[1]
        reply = client.post("/d/survey/questions", json={"document": COUNT}, headers={"idempotency-key": "r-17"})
        assert reply.status_code in (200, 422)  # another question by that name is refused, unless the archive has it


def test_a_stored_plan_is_not_simulated_and_needs_no_paid_work(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServiceDesk, "plan", lambda *_: pytest.fail("this is in the stored tables"))
    median = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.5"}
    with service.with_token("ana") as client:
        reply = client.post("/d/survey/plan", json={"document": median, "n": 5_000})
    assert (reply.status_code, list(reply.json())) == (200, ["plan"])
