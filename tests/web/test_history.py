"""Answers on pages of their own, the history, comparison, and what can be taken home."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx
import polars
import pytest

from dpstats.accounting.budgets import Budget
from tests.web.conftest import Service

COUNT: dict[str, Any] = {"version": 1, "statistic": "count", "epsilon": "0.05"}
GROUPS = {**COUNT, "group_by": {"columns": ["region"]}}
NASTY = "<img src=x onerror=alert(1)>"
FORMULA = "=cmd()"


class Attributes(HTMLParser):
    """Reads a page as a browser does: no element has a style, or something to run."""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attributes if name == "style" or name.startswith("on")]
        assert tag != "script" or attributes[0] == ("src", "/static/live.js")


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    with service.visit("ana") as signed_in:
        yield signed_in


@pytest.fixture(scope="module")
def asked(client: httpx.Client) -> dict[str, int]:
    """The debits of a count, of counts by groups, and of a basket."""
    found = {
        name: client.post("/d/survey/questions", json={"document": each}).json()["sequence"]
        for name, each in {"count": COUNT, "groups": GROUPS}.items()
    }
    documents = [{**COUNT, "where": [f"age > {age}"]} for age in (30, 50)]
    return {**found, "basket": client.post("/d/survey/basket", json={"documents": documents}).json()["sequence"]}


def test_an_answer_has_a_page_with_its_interval_receipt_and_code(client: httpx.Client, asked: dict[str, int]) -> None:
    said = client.get(f"/d/survey/answers/{asked['count']}.json").json()
    assert said["answers"][0]["headline"]["level"] == "95%"
    assert "answer = people.count(epsilon='0.05')" in said["python"]
    assert said["receipt"] == client.get(f"/d/survey/answers/{asked['count']}/receipt.json").json()
    page = client.get(f"/d/survey/answers/{asked['count']}").text
    assert said["answers"][0]["headline"]["low"] in page
    assert "A repeat" in page
    groups = client.get(f"/d/survey/answers/{asked['groups']}").text
    assert groups.count("Arnmouth") > 1
    basket = client.get(f"/d/survey/answers/{asked['basket']}.json").json()
    rows = "at most 1 row of each person"
    assert [each["question"] for each in basket["answers"]] == [f"count where age > {age} ({rows})" for age in (30, 50)]
    assert client.get(basket["again"] or said["again"]).status_code == 200


def test_a_reply_that_is_none_says_so(service: Service, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.curator.catalog.conftest import PoolHere

    monkeypatch.setattr(PoolHere, "run", lambda *_: (_ for _ in ()).throw(RuntimeError))
    reply = client.post("/d/survey/questions", json={"document": {**COUNT, "epsilon": "0.01"}})
    assert reply.status_code == 200
    assert "reason" in reply.json()["answer"]
    page = client.get(f"/d/survey/answers/{reply.json()['sequence']}").text
    assert "No reply" in page
    assert "/proposals" not in page


def test_what_another_paid_for_is_free_and_has_a_page_too(service: Service, asked: dict[str, int]) -> None:
    service.office.people.add("bea", "a long password", service.office.people.find("ana").roles)
    service.demo.passwords["bea"] = "a long password"
    service.office.catalog.grant("survey", analyst="bea", budget=Budget(1), actor="olga", why="a test")
    basket = [json.dumps({**COUNT, "where": [f"age > {age}"]}) for age in (30, 50)]
    with service.visit("bea") as client:
        assert client.get(f"/d/survey/answers/{asked['count']}").status_code == 404  # before she has asked
        assert "free, it was answered before" in client.get("/d/survey/ask?statistic=count&epsilon=0.05").text
        posts = {"count": ("questions", {"document": json.dumps(COUNT)}), "basket": ("basket", {"documents": basket})}
        for name, (page, body) in posts.items():
            location = client.post(f"/d/survey/{page}", data=body).headers["location"]
            assert location == f"/d/survey/answers/{asked[name]}"
            shown = client.get(f"{location}.json").json()
            assert (shown["is_own"], shown["can_propose"], shown["remaining"]) == (False, False, "epsilon = 1")
            assert "free" in client.get(location).text
        listed = client.get("/d/survey/history.json?newest=true").json()
        assert (listed["lines"], len(listed["archived"])) == ([], 2)
        service.office.catalog.amend("survey", archive="own", actor="olga", why="a test")
        assert client.get(location).status_code == 404  # it is not hers to see any more
        service.office.catalog.amend("survey", archive="shared", actor="olga", why="a test")


@pytest.mark.parametrize("number", ["1", "0", "99999999999999999999999"])
def test_nobody_sees_what_they_have_not_asked(client: httpx.Client, number: str) -> None:
    for path in (f"answers/{number}.json", f"answers/{number}/receipt.json", f"compare.json?lines={number}"):
        assert client.get(f"/d/survey/{path}").status_code == 404
    assert client.get(f"/d/survey/answers/{number}").status_code == 404


def test_the_history_comes_in_pages_and_the_newest_first_on_demand(client: httpx.Client, asked: dict[str, int]) -> None:
    first = client.get("/d/survey/history.json?limit=2").json()
    assert [each["sequence"] for each in first["lines"]] == [asked["count"], asked["groups"]]
    assert (first["lines"][0]["document"], first["lines"][0]["statistic"]) == (COUNT, "count")
    rest = client.get(f"/d/survey/history.json?limit=100&after={first['next']}").json()
    assert rest["lines"][0]["sequence"] == asked["basket"]
    assert (rest["lines"][0]["statistic"], rest["next"]) == (None, None)
    newest = client.get("/d/survey/history.json?newest=true&limit=1").json()
    assert newest["lines"] == rest["lines"][-1:]
    for wrong in ("after=-1", "limit=0", "limit=many", "after=99999999999999999999"):
        assert client.get(f"/d/survey/history.json?{wrong}").status_code == 422


def test_answers_are_compared_in_one_picture(client: httpx.Client, asked: dict[str, int]) -> None:
    said = client.get("/d/survey/compare.json", params={"lines": list(asked.values())}).json()
    assert len(said["numbers"]) == 1 + 6 + 2
    picture = ET.fromstring(said["figure"])
    assert len(picture.findall(".//{*}circle")) == len(said["numbers"])
    page = client.get("/d/survey/compare", params={"lines": list(asked.values())}).text
    assert all(each["value"] in page for each in said["numbers"])


def test_a_notebook_asks_the_same_questions(client: httpx.Client, asked: dict[str, int]) -> None:
    reply = client.get("/d/survey/history.ipynb")
    assert reply.headers["content-disposition"] == 'attachment; filename="questions.ipynb"'
    book = json.loads(reply.content)
    assert (book["nbformat"], len({each["id"] for each in book["cells"]})) == (4, len(book["cells"]))
    code = ["".join(each["source"]) for each in book["cells"] if each["cell_type"] == "code"]
    for text in code:
        compile(text, "a cell", "exec")
    assert f"answer_{asked['count']} = people.count(epsilon='0.05')" in code[1]
    assert len(code) == 1 + len(asked)  # what got no reply would have to be paid for again


def test_a_spreadsheet_gets_texts_that_it_does_not_compute(service: Service, client: httpx.Client, asked: dict[str, int]) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get("/d/survey/history.csv").text)))
    assert [each["part"] for each in rows if each["number"] == str(asked["count"])] == ["count (at most 1 row of each person)"]
    assert all(each["low"] for each in rows if each["value"])


def test_names_from_outside_are_text_on_every_page(service: Service, client: httpx.Client) -> None:
    folder = service.demo.settings.parent / "tables"
    rows = {"person": list(range(400)), NASTY: [1.5] * 400, "kind": [FORMULA, NASTY] * 200}
    polars.DataFrame(rows).write_parquet(folder / "nasty.parquet")
    catalog, said = service.office.catalog, {"actor": "olga", "why": "a test"}
    keys = {"kind": [FORMULA, NASTY]}
    catalog.register(NASTY, "nasty.parquet", owner="olga", unit="person", max_rows_per_unit=1, budget=Budget(9), keys=keys)
    catalog.confirm(NASTY, **said)
    catalog.grant(NASTY, analyst="ana", budget=Budget(9), **said)
    base = f"/d/{httpx.URL('http://x/').copy_with(path=f'/{NASTY}').raw_path.decode()[1:]}"
    document = {"version": 1, "statistic": "count", "columns": [NASTY], "epsilon": 1, "group_by": {"columns": ["kind"]}}
    posted = client.post(f"{base}/questions", data={"document": json.dumps(document)})
    assert posted.status_code == 303
    number = posted.headers["location"].rpartition("/")[2]
    client.post(f"{base}/proposals", json={"sequence": number, "title": NASTY, "words": NASTY})
    wrong = {"statistic": NASTY, "columns": NASTY, "where": NASTY, "by": NASTY, "epsilon": NASTY, "width": NASTY, "basket": NASTY}
    pages = ["/me", "/me/tokens", posted.headers["location"], f"{base}/history", f"{base}/compare?lines={number}", f"{base}/ask"]
    texts = [client.get(each).text for each in pages]
    texts.append(client.get(f"{base}/ask", params=wrong).text)
    texts.append(client.get(f"{base}/ask", params={"statistic": "count", "columns": NASTY, "by": "kind", "epsilon": "1"}).text)
    texts.append(client.get(f"{base}/basket", params={"documents": [json.dumps(document), NASTY]}).text)
    texts.append(client.post(f"{base}/questions", data={"statistic": NASTY, "epsilon": NASTY}).text)
    for text in texts:
        assert "&lt;img src=x onerror=alert(1)&gt;" in text or "/me/tokens" in text
        assert "<img src=x" not in text
        Attributes().feed(text)
    sheet = client.get(f"{base}/history.csv").text
    assert not any(cell.startswith("=") for line in csv.reader(io.StringIO(sheet)) for cell in line)


def test_looking_changes_nothing(service: Service, client: httpx.Client, asked: dict[str, int]) -> None:
    before = service.office.ledger.head
    for page in ("ask", "ask?statistic=count&epsilon=0.5", "basket", "history", f"answers/{asked['count']}", "compare?lines=1"):
        client.get(f"/d/survey/{page}")
    for page in ("questions", "price", "plan", "basket/price", "proposals", "requests"):
        assert client.get(f"/d/survey/{page}").status_code in (404, 405)
    assert service.office.ledger.head == before
