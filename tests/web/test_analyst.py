"""An analyst's own page, letters and tokens."""

from __future__ import annotations

import pytest

from tests.web.conftest import Service


def test_the_own_page_says_what_is_mine_and_nothing_of_others(service: Service) -> None:
    with service.visit("ana") as client:
        said = client.get("/me.json").json()
        assert (said["name"], said["roles"]) == ("ana", ["analyst"])
        [survey] = said["datasets"]
        assert (survey["name"], survey["unit"], survey["cap"]) == ("survey", "person", "epsilon = 2")
        assert survey["more"] == "about 10 more medians at 0.2"
        assert "epsilon = 5" not in client.get("/me").text  # the data set's own budget
    with service.with_token("ana", datasets=["other"]) as client:
        assert client.get("/me.json").json()["datasets"] == []


def test_letters_go_to_the_owner_and_come_back_answered(service: Service) -> None:
    with service.visit("ana") as client:
        document = {"version": 1, "statistic": "count", "epsilon": "0.01"}
        sequence = client.post("/d/survey/questions", json={"document": document}).json()["sequence"]
        proposal = {"sequence": sequence, "title": "How many <b>persons</b>", "words": "for the report"}
        first = client.post("/d/survey/proposals", json=proposal).json()["letter"]
        second = client.post("/d/survey/requests", json={"epsilon": "0.5", "why": "the second wave"}).json()["letter"]
        letters = {each.id: each for each in service.office.papers.letters(dataset="survey")}
        assert letters[first].content["sequence"] == sequence
        assert letters[second].content["epsilon"] == "1/2"
        page = client.get("/me").text
        assert "How many &lt;b&gt;persons&lt;/b&gt;" in page
        for wrong in ({**proposal, "sequence": 1}, {**proposal, "sequence": 2**80}):
            assert client.post("/d/survey/proposals", json=wrong).status_code == 404
        for epsilon in ("much", "-1", "1e400"):
            assert client.post("/d/survey/requests", json={"epsilon": epsilon, "why": "x"}).status_code == 422


def test_a_token_is_shown_once_and_no_token_makes_tokens(service: Service) -> None:
    wanted = {"label": "notebook", "actions": ["read", "ask"], "datasets": ["survey"], "largest_epsilon": "0.1"}
    with service.visit("ana") as client:
        token = client.post("/me/tokens", json=wanted).json()["token"]
        page = client.post("/me/tokens", data=wanted)
        assert (page.status_code, "dpst_" in page.text) == (200, True)
        listed = client.get("/me/tokens.json").json()["tokens"]
        assert [each["label"] for each in listed][:2] == ["notebook"] * 2
        assert "dpst_" not in client.get("/me/tokens").text
        with service.client(authorization=f"Bearer {token}") as program:
            assert program.post("/me/tokens", json=wanted).status_code == 403
            assert program.post(f"/me/tokens/{listed[0]['id']}/revoke", json={}).status_code == 403
            assert program.get("/me.json").status_code == 200
            for each in listed:
                assert client.post(f"/me/tokens/{each['id']}/revoke", json={}).status_code == 200
            assert program.get("/me.json").status_code == 401


@pytest.mark.parametrize(
    "changes",
    [{"label": ""}, {"actions": []}, {"actions": ["mint"]}, {"datasets": ["other"]}, {"largest_epsilon": "1/0"}, {"days": 0}],
)
def test_a_token_that_makes_no_sense_is_refused(service: Service, changes: dict[str, object]) -> None:
    with service.visit("ana") as client:
        reply = client.post("/me/tokens", json={"label": "x", "actions": ["read"], **changes})
        assert reply.status_code == 422
