"""Owners: what they see of their data sets, what they change, and what they publish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import PUBLISH
from dpstats.web.figures.burn_down import burn_down_figure
from dpstats.web.figures.rows_per_unit import rows_per_unit_figure
from dpstats.web.owning.grants import oversubscription
from dpstats.web.owning.purchases import error_by_rows, purchases
from dpstats.web.papers import LetterKind
from dpstats.web.people.roles import Role
from tests.web.conftest import Service, served

COUNT = {"version": 1, "statistic": "count", "epsilon": "0.1"}
NASTY = '"><script>alert(1)</script>'


def said(reply: httpx.Response) -> str:
    return str(reply.json()["error"]["message"])


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with another owner, and some questions that ana has asked."""
    with served(tmp_path_factory.mktemp("owner")) as running:
        running.office.people.add("oskar", "a long password", [Role.OWNER])
        running.demo.passwords["oskar"] = "a long password"
        yield running


@pytest.fixture
def olga(office: Service) -> Iterator[httpx.Client]:
    with office.visit("olga") as client:
        yield client


def asked(office: Service, **words: Any) -> int:
    """The number of the debit of a question by ana."""
    office.office.catalog.desk("survey").ask({**COUNT, **words}, "ana")
    return office.office.ledger.questions("survey")[-1].sequence


def test_another_owner_is_told_the_same_as_where_there_is_none(office: Service) -> None:
    why = {"why": "mine now"}
    posts: dict[str, dict[str, Any]] = {
        "freeze": why,
        "thaw": why,
        "policy": {"rows": 1, **why},
        "budget": {"epsilon": 9, **why},
        "grants": {"analyst": "oskar", **why},
        "revoke": {"analyst": "ana", **why},
        "publish": {"sequence": 1, "title": "Mine"},
        "letters/1/agree": {},
        "letters/1/refuse": {"words": "no"},
        "release": {"documents": [COUNT]},
        "withdraw": {},
    }
    head = office.office.ledger.head
    with office.visit("oskar") as client:
        for below in ("", "/questions", "/people", "/policy", "/release", "/answers/9", "/draft"):
            theirs, none = (client.get(f"/own/{name}{below}.json") for name in ("survey", "none"))
            assert (theirs.status_code, said(theirs)) == (404, said(none).replace("'none'", "'survey'"))
        for below, body in posts.items():
            theirs, none = (client.post(f"/own/{name}/{below}", json=body) for name in ("survey", "none"))
            assert (theirs.status_code, said(theirs)) == (404, said(none).replace("'none'", "'survey'"))
        assert client.get("/own.json").json() == {"datasets": [], "to_confirm": []}
    assert office.office.ledger.head == head
    with office.with_token("olga", actions=["read", "ask"]) as client:
        assert client.get("/own/survey.json").status_code == 403
    with office.with_token("olga", datasets=["another"]) as client:
        assert client.get("/own.json").json()["datasets"] == []
        assert client.post("/own/new", json={"name": "third", "table": "survey.parquet"}).status_code == 403


def test_every_change_is_in_the_ledger_with_who_and_why(office: Service, olga: httpx.Client) -> None:
    first = office.office.ledger.last
    assert first is not None
    for path, body in (
        ("policy", {"largest_epsilon": "1/2", "columns": ["income", "age", "region"], "why": "a first policy"}),
        ("policy", {"every_column": True, "why": "all of them again"}),
        ("budget", {"epsilon": 6, "why": "a second wave"}),
        ("grants", {"group": "course", "epsilon": 1, "why": "a course"}),
        ("grants", {"analyst": "ana", "group": "course", "epsilon": "0.5", "why": "hers"}),
        ("revoke", {"analyst": "ana", "why": "it is over"}),
        ("grants", {"analyst": "ana", "epsilon": 2, "why": "and again"}),
        ("freeze", {"why": "a doubt"}),
        ("thaw", {"why": "it was none"}),
    ):
        assert "why" in said(olga.post(f"/own/survey/{path}", json={**body, "why": ""})).lower()
        assert olga.post(f"/own/survey/{path}", json=body).status_code == 200
    written = office.office.ledger.reader("survey").entries(after=first.sequence)
    assert [(each.kind, each.actor, each.content()["why"]) for each in written] == [
        ("amend", "olga", "a first policy"),
        ("amend", "olga", "all of them again"),
        ("amend", "olga", "a second wave"),
        ("grant", "olga", "a course"),
        ("grant", "olga", "hers"),
        ("revoke", "olga", "it is over"),
        ("grant", "olga", "and again"),
        ("amend", "olga", "a doubt"),
        ("amend", "olga", "it was none"),
    ]
    policy = office.office.ledger.reader("survey").policy
    assert (policy["largest_epsilon"], policy["columns"], policy["rows"]) == ("1/2", None, 5_000)
    assert "nobody" in said(olga.post("/own/survey/grants", json={"analyst": "nobody", "why": "a slip of the pen"}))
    olga.post("/own/survey/policy", json={"largest_epsilon": None, "why": "no limit"})


def test_a_proposal_is_published_once_and_a_refusal_has_words(office: Service, olga: httpx.Client) -> None:
    sequence, papers = asked(office, where=["age >= 30"]), office.office.papers
    content = {"sequence": sequence, "title": f"Persons {NASTY}", "words": "Everybody who is not young."}
    letter, other = (papers.send(LetterKind.PROPOSAL, "survey", "ana", content) for _ in range(2))
    page = olga.get("/own/survey").text
    assert NASTY not in page
    assert "&lt;script&gt;" in page
    reply = olga.post(f"/own/survey/letters/{letter}/agree", json={"title": "Persons of 30 and more"})
    number = reply.json()["number"]
    entry = office.office.ledger.entry(number)
    assert entry is not None
    assert (entry.kind, entry.actor, entry.content()["title"]) == (PUBLISH, "olga", "Persons of 30 and more")
    assert entry.content()["words"] == "Everybody who is not young."
    assert said(olga.post(f"/own/survey/letters/{letter}/agree", json={})) == "this letter was answered already."
    assert f"/r/{number}" in said(olga.post(f"/own/survey/letters/{other}/agree", json={}))  # and stays open
    assert olga.post(f"/own/survey/letters/{other}/refuse", json={"words": "it is out already"}).status_code == 200
    answered = papers.letter(other)
    assert answered is not None
    assert (answered.state.value, answered.reply, answered.decided_by) == ("refused", "it is out already", "olga")
    assert olga.post("/own/survey/letters/99999999999999999999/agree", json={}).status_code == 404
    assert len(office.office.ledger.reader("survey").entries(kinds=[PUBLISH])) == 1


def test_a_request_for_budget_raises_the_cap_with_a_reason(office: Service, olga: httpx.Client) -> None:
    letter = office.office.papers.send(LetterKind.REQUEST, "survey", "ana", {"epsilon": "0.5", "why": "a second paper"})
    shown = [each for each in olga.get("/own/survey.json").json()["requests"] if each["id"] == letter]
    assert (shown[0]["cap"]["now"], shown[0]["cap"]["then"]) == ("2", "2.5")
    assert olga.post(f"/own/survey/letters/{letter}/agree", json={}).status_code == 422
    assert olga.post(f"/own/survey/letters/{letter}/agree", json={"why": "it is worth it"}).status_code == 200
    cap = office.office.ledger.cap("survey", analyst="ana")
    assert cap is not None
    assert cap.budget == Budget("2.5")
    olga.post("/own/survey/grants", json={"analyst": "ana", "group": "course", "why": "out of the course's cap"})
    shared = office.office.papers.send(LetterKind.REQUEST, "survey", "ana", {"epsilon": "1/4", "why": "a third"})
    assert olga.post(f"/own/survey/letters/{shared}/agree", json={"why": "the course may"}).json()["budget"]["epsilon"] == "5/4"
    assert office.office.ledger.reader("survey, group course").budget == Budget("5/4")
    olga.post("/own/survey/grants", json={"analyst": "ana", "epsilon": "2.5", "why": "as before"})
    broken = office.office.papers.send(LetterKind.REQUEST, "survey", "ana", {"epsilon": "plenty", "why": NASTY})
    assert olga.get("/own/survey").status_code == 200
    assert olga.post(f"/own/survey/letters/{broken}/agree", json={"why": "x"}).status_code == 422


def test_answers_are_shown_as_far_as_policy_goes(office: Service, olga: httpx.Client) -> None:
    sequence = asked(office, where=["age >= 40"])
    assert olga.get(f"/own/survey/answers/{sequence}").status_code == 200
    olga.post("/own/survey/policy", json={"archive": "own", "why": "a promise to analysts"})
    line = olga.get("/own/survey/questions.json?limit=200").json()["lines"][-1]
    assert line["question"] == "count where age >= 40 (at most 1 row of each person)"
    assert (line["cost"]["epsilon"], line["answer"]) == ("1/10", None)
    hidden, none = (olga.get(f"/own/survey/answers/{each}.json") for each in (sequence, 1))
    assert (hidden.status_code, said(hidden)) == (404, said(none).replace("entry 1.", f"entry {sequence}."))
    assert olga.post("/own/survey/publish", json={"sequence": sequence, "title": "x"}).status_code == 404
    olga.post("/own/survey/policy", json={"archive": "shared", "why": "as before"})


def test_annual_tables_are_planned_then_asked_in_one_debit_and_published(office: Service, olga: httpx.Client) -> None:
    assert not olga.get("/own/survey/release.json").json()["granted_to_me"]
    olga.post("/own/survey/grants", json={"analyst": "olga", "epsilon": 1, "why": "annual tables"})
    head = office.office.ledger.head
    added = {"statistic": "median", "column": "income", "by": "region", "epsilon": "0.5"}
    first = olga.get("/own/survey/release.json", params=added).json()["lines"][0]
    assert first["question"] == "median(income) by region (at most 1 row of each person)"
    assert "in each group" in first["error"]
    listed = {"question": [first["document"]], "statistic": "count", "epsilon": "0.25"}
    shown = olga.get("/own/survey/release.json", params=listed).json()
    assert (shown["cost"], shown["fits"]) == ("epsilon = 0.75", True)
    assert "nobody" in str(olga.get("/own/survey/release.json", params={**added, "column": "nobody"}).json()["lines"])
    assert office.office.ledger.head == head
    documents = [each["document"] for each in shown["lines"]]
    with office.with_token("olga", largest_epsilon="0.1") as program:
        assert program.post("/own/survey/release", json={"question": documents}).status_code == 403
    reply, again = (olga.post("/own/survey/release", data={"question": documents, "request": shown["request"]}) for _ in range(2))
    assert reply.status_code == 303
    assert again.headers["location"] == reply.headers["location"]
    page = reply.headers["location"]
    parts = olga.get(f"{page}.json").json()["answer"]["parts"]
    assert [each["question"] for each in parts] == [
        f"{each} (at most 1 row of each person)" for each in ("median(income) by region", "count")
    ]
    mine = [each for each in office.office.ledger.questions("survey") if each.actor == "olga"]
    assert [str(each.cost.epsilon) for each in mine] == ["3/4"]
    sequence = mine[0].sequence
    one = olga.post("/own/survey/publish", json={"sequence": sequence, "title": "Persons", "parts": [1]}).json()["number"]
    published = office.office.ledger.entry(one)
    assert published is not None
    assert published.content()["parts"] == [1]
    assert "median" not in olga.get(f"/r/{one}").text
    twice = olga.post("/own/survey/publish", json={"sequence": sequence, "title": "Persons", "parts": [1]})
    assert said(twice) == f"this was published already: /r/{one}."
    whole = olga.post("/own/survey/publish", json={"sequence": sequence, "title": "All of it"})
    assert whole.status_code == 200
    assert olga.get("/own/survey.json").json()["publications"][0]["title"] == "All of it"


def test_what_was_spent_is_shown_by_person_and_in_pictures_that_are_xml(office: Service, olga: httpx.Client) -> None:
    values = olga.get("/own/survey.json").json()["burn_down"]
    table = {line["name"]: line for line in values["table"]}
    assert table["olga"]["spent"] == pytest.approx(0.75)
    assert sum(line["spent"] for line in table.values()) == pytest.approx(values["spent"])
    assert values["points"][-1]["spent"] == [table[name]["spent"] for name in values["people"]]
    nasty = {**values, "people": [NASTY, *values["people"][1:]], "budget_words": NASTY}
    picture = error_by_rows(10_000, 2)
    assert picture is not None
    shares = [each["share"] for each in picture["points"]]
    assert shares == sorted(shares)
    for drawn in (burn_down_figure(values), burn_down_figure(nasty), rows_per_unit_figure(picture)):
        root = ElementTree.fromstring(drawn)
        assert root.tag.endswith("svg")
        assert not [each for each in root.iter() if "script" in each.tag or "style" in each.attrib]


def test_a_budget_buys_more_of_what_is_less_exact_or_protects_fewer_rows() -> None:
    counts = [cell["count"] for cell in purchases(Budget(3), 10_000)["lines"][1]["cells"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 10
    by_two = [cell["count"] for cell in purchases(Budget(3), 10_000, steps=2)["lines"][1]["cells"]]
    assert all(more >= fewer for more, fewer in zip(counts, by_two, strict=True))
    assert by_two[0] < counts[0]


@pytest.mark.parametrize(
    ("caps", "times", "says"),
    [
        ([("analyst", "a", None, Budget(1)), ("analyst", "b", None, Budget(1))], 1, "100%"),
        ([("analyst", "a", None, Budget(3)), ("analyst", "b", None, Budget(3))], 3, "Oversubscribed 3x"),
        ([("group", "g", None, Budget(1)), ("analyst", "a", "g", Budget(1)), ("analyst", "b", "g", None)], 0.5, "50%"),
        ([("analyst", "a", None, None)], 0, "no cap"),
    ],
)
def test_caps_are_added_up_against_the_budget(caps: list[Any], times: float, says: str) -> None:
    found = oversubscription(Budget(2), caps)
    assert found["times"] == times
    assert says in found["words"]
