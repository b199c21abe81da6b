"""Releases: their pages, figures and files say what the ledger has, and nothing in them can be mistaken for markup."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from dpstats.curator.archive import document_of
from dpstats.curator.ledger.receipts import KeptReceipt
from dpstats.curator.ledger.signed_heads import check_heads
from tests.web.conftest import Service
from tests.web.publishing import ask, publish, released_value

REGIONS = ["Arnmouth", "Belhollow", '<script>"x"</script>']
QUESTIONS: dict[str, dict[str, Any]] = {
    "number": {"statistic": "median", "columns": ["income"], "epsilon": "0.2"},
    "groups": {
        "statistic": "count",
        "group_by": {"columns": ["region"], "keys": REGIONS},
    },
    "named bars": {"statistic": "histogram", "columns": ["region"], "parameters": {"bins": REGIONS}},
    "even bars": {"statistic": "histogram", "columns": ["age"], "parameters": {"bins": [20, 40, 60]}},
    "several": {"statistic": "quantile", "columns": ["age"], "parameters": {"q": [0.25, 0.75]}, "epsilon": "0.3"},
    "counts": {"statistic": "contingency_table", "columns": ["region", "age"], "parameters": {"bins": {"age": [30, 50]}}},
    "coefficients": {"statistic": "regression", "formula": "income ~ age + schooling", "epsilon": "1"},
}


@pytest.fixture(scope="module")
def releases(service: Service) -> dict[str, tuple[int, int]]:
    """Each question with the number of its answer and of its release."""
    made = {}
    for name, question in QUESTIONS.items():
        answer = ask(service, **question)
        made[name] = answer, publish(service, answer, f"{name} & <b>more</b>", words="In a sentence.")
    return made


def page_of(service: Service, releases: dict[str, tuple[int, int]], name: str) -> tuple[dict[str, Any], str]:
    with service.client() as client:
        number = releases[name][1]
        return client.get(f"/r/{number}.json").json(), client.get(f"/r/{number}").text


def test_the_number_on_the_page_is_the_one_in_the_ledger(service: Service, releases: dict[str, tuple[int, int]]) -> None:
    values, page = page_of(service, releases, "number")
    answer, number = releases["number"]
    [shown] = values["answers"]
    assert shown["reply"]["value"] == float(released_value(service, answer)["float"])
    assert shown["headline"]["value"] in page
    assert f"{shown['headline']['low']} to {shown['headline']['high']}" in page
    assert values["cost"]["epsilon"] == 0.2
    assert values["ledger"]["answer"] == {
        "sequence": answer,
        "time": values["ledger"]["answer"]["time"],
        "hash": service.office.ledger.hash_at(answer),
    }
    assert values["ledger"]["publication"]["sequence"] == number
    headings = [heading for heading, _ in shown["card"]]
    assert headings[:4] == ["How large is epsilon?", "How large is delta?", "What is the unit of privacy?", "What is protected?"]
    assert all(heading in page for heading in headings)
    assert "In a sentence." in page


@pytest.mark.parametrize("name", QUESTIONS)
def test_figures_are_well_formed_escaped_and_without_styles(
    service: Service, releases: dict[str, tuple[int, int]], name: str
) -> None:
    values, page = page_of(service, releases, name)
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script>", page)
    [shown] = values["answers"]
    if name == "counts":
        assert shown["figure"] is None
        assert [len(line["cells"]) for line in shown["counts"][0]["lines"]] == [3] * 6
        return
    drawn = ElementTree.fromstring(shown["figure"]["svg"])
    assert shown["figure"]["svg"] in page
    with service.client() as client:
        reply = client.get(shown["svg"])
    assert reply.headers["content-type"] == "image/svg+xml"
    texts = {each.text for each in ElementTree.fromstring(reply.content).iter() if each.text}
    assert texts == {each.text for each in drawn.iter() if each.text}
    if name in ("groups", "named bars"):
        assert REGIONS[2] in texts


def test_every_release_in_a_list_has_a_small_picture(service: Service, releases: dict[str, tuple[int, int]]) -> None:
    with service.client() as client:
        listed, page = client.get("/d/survey.json").json()["releases"], client.get("/d/survey").text
    assert len(listed) == len(QUESTIONS)
    for each in listed:
        assert ElementTree.fromstring(each["picture"]).tag.endswith("svg")
        assert each["picture"] in page
    assert "<script>" not in page


def test_files_hold_the_numbers(service: Service, releases: dict[str, tuple[int, int]]) -> None:
    with service.client() as client:
        bars = client.get(f"/r/{releases['even bars'][1]}.csv").text.splitlines()
        number = client.get(f"/r/{releases['number'][1]}.csv")
        listed = client.get(f"/r/{releases['counts'][1]}.json").json()["files"]
        tables = [client.get(each) for each in listed]
        assert client.get(f"/r/{releases['counts'][1]}/files/another.csv").status_code == 404
    assert bars[0] == "bin,rows,low,high"
    assert len(bars) == 5
    assert number.text.splitlines()[0].startswith("number,title,question,reply,value,low,high,level")
    assert number.headers["content-disposition"] == f'attachment; filename="release-{releases["number"][1]}.csv"'
    assert {each.status_code for each in tables} == {200}


def test_a_release_can_be_cited_and_registered(service: Service, releases: dict[str, tuple[int, int]]) -> None:
    number = releases["number"][1]
    with service.client() as client:
        cited, registered = client.get(f"/r/{number}.bib").text, client.get(f"/r/{number}/registry.json").json()
    assert cited.startswith(f"@misc{{survey-{number},\n")
    assert r"number \& <b>more</b>" in cited
    assert f"\\url{{{service.origin}/r/{number}}}" in cited
    assert service.office.ledger.hash_at(number) in cited
    assert registered["flavour"] == "pure differential privacy"
    assert (registered["unit"], registered["epsilon"]) == ("person", "0.2")
    assert {"model", "accounting", "implementation"} <= set(registered)


def test_readers_keep_a_receipt_that_the_ledger_knows(service: Service, releases: dict[str, tuple[int, int]]) -> None:
    number = releases["number"][1]
    with service.client() as client:
        receipt = client.get(f"/r/{number}/receipt.json").json()
        found = client.post("/receipts", json={"receipt": receipt}).json()
        page = client.get("/receipts", params={"receipt": json.dumps(receipt)}).text
        forged = client.post("/receipts", json={"receipt": {**receipt, "hash": "0" * 64}}).json()
        beyond = client.post("/receipts", json={"receipt": {**receipt, "sequence": 10**40}}).json()
        nonsense = client.post("/receipts", data={"receipt": "[" * 5_000})
        shown = client.get("/receipts", params={"receipt": "<b>"})
    assert (found["found"], found["complaint"]) == (True, None)
    assert set(found) == {"found", "complaint", "sequence", "head"}
    assert "Found." in page
    assert not forged["found"]
    assert forged["complaint"].startswith("not found: another entry is in its place")
    assert beyond["complaint"] == "not found: the entry was removed"
    assert nonsense.status_code == 422
    assert "This is no receipt of a ledger" in shown.text


def test_signed_heads_are_public_and_a_release_names_the_one_that_signs_it(
    service: Service, releases: dict[str, tuple[int, int]]
) -> None:
    number = releases["number"][1]
    with service.client() as client:
        assert "Nothing is signed" in client.get("/heads.txt").text
        key, _ = service.office.ledger.make_key()
        head = service.office.ledger.last_signed
        assert head is not None
        lines = [each for each in client.get("/heads.txt").text.splitlines() if not each.startswith("#")]
        assert [each.split()[:4] for each in lines] == [
            [str(head.content()["sequence"]), head.content()["hash"], head.content()["signature"], key]
        ]
        assert client.get(f"/r/{number}.json").json()["ledger"]["head"]["key"] == key
        receipt = KeptReceipt.from_dict(client.get(f"/r/{number}/receipt.json").json())
    assert receipt.signed_by == key
    assert receipt.complaint(service.office.ledger.entry(number), check_heads(service.office.ledger.signed_heads())) is None


def test_a_batch_is_one_release_of_several_answers(service: Service) -> None:
    questions = [{"version": 1, "statistic": "count", "epsilon": "0.02", "where": [f"age < {age}"]} for age in (30, 60)]
    answers = service.office.catalog.desk("survey").ask_together(questions, actor="ana").answers
    last = service.office.ledger.reader("survey").entries(kinds=["answer"])[-1].sequence
    number, part = publish(service, last, "Two counts"), publish(service, last, "One count", parts=[1])
    with service.client() as client:
        values, one = client.get(f"/r/{number}.json").json(), client.get(f"/r/{part}").text
    assert [each["reply"]["value"] for each in values["answers"]] == [document_of(each)["value"] for each in answers]
    assert values["cost"]["epsilon"] == 0.04
    assert "age &lt; 60" in one
    assert "age &lt; 30" not in one
