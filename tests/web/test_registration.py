"""Registration: from a file to a draft that nobody sees, and from there to a data set that is confirmed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpstats.accounting.budgets import Budget
from dpstats.web.people.roles import Role
from tests.web.conftest import Service, served

BARE = "Erika Mustermann,1964-08-12,sick\nMax Mustermann,1970-01-01,well\n"
VISITS = "person,region,income\n" + "".join(f"{each},{'north' if each % 2 else 'south'},{each}\n" for each in range(300))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with more tables, one more owner, and links that lead out of its root."""
    folder = tmp_path_factory.mktemp("registration")
    with served(folder) as running:
        tables = folder / "tables"
        (folder / "secret.csv").write_text("name\nx\n")
        (tables / "bare.csv").write_text(BARE)
        (tables / "visits.csv").write_text(VISITS)
        (tables / "odd.csv").write_text("<script>alert(1)</script>,b\n1,2\n")
        (tables / "link.csv").symlink_to(folder / "secret.csv")
        running.office.people.add("oskar", "a long password", [Role.OWNER])
        running.demo.passwords["oskar"] = "a long password"
        yield running


def said(reply: httpx.Response) -> str:
    return str(reply.json()["error"]["message"])


def test_only_files_that_may_be_registered_are_listed(office: Service) -> None:
    with office.visit("olga") as client:
        files = client.get("/own/new.json").json()["files"]
        assert [each["table"] for each in files] == ["bare.csv", "odd.csv", "survey.parquet", "visits.csv"]
        assert [each["registered_as"] for each in files] == [None, None, "survey", None]


@pytest.mark.parametrize(
    "table",
    [
        "../secret.csv",
        "link.csv",
        "/etc/passwd",
        "file:///etc/passwd",
        "postgresql://elsewhere.example/people#survey",
        "http://169.254.169.254/table.csv",
        "none.csv",
    ],
)
def test_no_other_place_can_be_registered(office: Service, table: str) -> None:
    with office.visit("olga") as client:
        for field in ("table", "address"):
            reply = client.post("/own/new", json={"name": "elsewhere", field: table})
            assert reply.status_code == 422
            assert "takes no tables from there" in said(reply)
            assert str(Path(office.demo.settings).parent) not in reply.text
        assert "elsewhere" not in client.get("/own").text


@pytest.mark.parametrize("name", ["new", "a b", "a/b", "x.json", "survey, analyst ana", "<b>", "", "survey"])
def test_a_name_can_stand_in_an_address_and_is_new(office: Service, name: str) -> None:
    with office.visit("olga") as client:
        assert client.post("/own/new", json={"name": name, "table": "visits.csv"}).status_code == 422


def test_a_file_without_a_header_stays_a_draft_that_nobody_sees(office: Service) -> None:
    with office.visit("olga") as olga, office.visit("oskar") as oskar, office.visit("ana") as ana, office.client() as reader:
        assert olga.post("/own/new", json={"name": "bare", "table": "bare.csv"}).status_code == 200
        page = olga.get("/own/bare/draft?step=2").text
        assert "Does this file have a header?" in page
        assert 'name="columns" value="Erika Mustermann"' in page
        assert "checked" not in page
        assert "Does the file have a header?" in olga.get("/own/bare/confirm").text
        for below in ("", "/draft", "/confirm", "/people", "/release", "/answers/1"):
            theirs, none = (oskar.get(f"/own/{name}{below}.json") for name in ("bare", "none"))
            assert theirs.status_code == none.status_code == 404
            assert said(theirs) == said(none).replace("'none'", "'bare'")
        refused = oskar.post("/own/bare/confirm", json={"seen": "x", "why": "mine"})
        assert said(refused) == said(oskar.post("/own/none/confirm", json={"seen": "x", "why": "mine"})).replace("none", "bare")
        for client, path in ((ana, "/me"), (oskar, "/own"), (reader, "/"), (reader, "/d/bare")):
            assert "Erika" not in client.get(path).text
            assert "bare" not in client.get(path).text.replace("/d/bare", "")
        seen = olga.get("/own/bare/confirm.json").json()["seen"]
        reply = olga.post("/own/bare/confirm", json={"seen": seen, "why": "in a hurry"})
        assert "these are not decided: columns, unit, budget, who may ask." in said(reply)
        assert olga.post("/own/bare/withdraw", json={}).status_code == 200
        assert olga.get("/own/bare").status_code == 404
    assert not any("Erika" in entry.body for entry in office.office.ledger.entries())


def test_five_steps_by_forms_lead_to_an_open_data_set_which_is_confirmed_once(office: Service) -> None:
    def sent(path: str, **fields: Any) -> str:
        reply = client.post(path, data=fields)
        assert reply.status_code == 303, reply.text
        return str(reply.headers["location"])

    with office.visit("olga") as client:
        at = sent("/own/new", name="visits", table="visits.csv")
        assert at == "/own/visits/draft?step=2"
        at = sent(
            "/own/visits/draft/columns",
            columns=["region", "income"],
            kinds=["person:integer", "region:text", "income:number"],
            keys="region: north, south",
        )
        assert "person (integer), region (text), income (number)" in client.get("/own/visits/confirm").text
        stays = sent("/own/visits/draft/unit", unit="person", max_rows_per_unit="2", rows="3000", stay="true")
        assert stays == at == "/own/visits/draft?step=3"
        assert "With 2 rows per unit" in client.get(stays).text
        sent("/own/visits/draft/unit", unit="person", max_rows_per_unit="1", rows="3000")
        at = sent("/own/visits/draft/budget", epsilon="1.5", accountant="basic", whole="true", every_statistic="true", pace="1")
        assert at == "/own/visits/draft?step=5"
        sent("/own/visits/draft/grants", group="course", epsilon="1.5")
        sent("/own/visits/draft/grants", analyst="ana", group="course")
        sent("/own/visits/draft/grants", analyst="olga", epsilon="1.5")
        assert "Oversubscribed 2x" in client.get(at).text
        assert sent("/own/visits/draft/who", second="") == "/own/visits/confirm"
        shown = client.get("/own/visits/confirm.json").json()
        assert not shown["undecided"]
        before = office.office.ledger.head
        client.get("/own/visits/draft?step=4")
        assert office.office.ledger.head == before
        stale = client.post("/own/visits/confirm", json={"seen": "0" * 64, "why": "agreed"})
        assert "has changed since you looked at it" in said(stale)
        assert sent("/own/visits/confirm", seen=shown["seen"], why="agreed") == "/own/visits"
        again = client.post("/own/visits/confirm", json={"seen": shown["seen"], "why": "agreed"})
        assert (again.status_code, said(again)) == (422, "visits is open already.")
    reader = office.office.ledger.reader("visits")
    assert (reader.budget, reader.policy["columns"], reader.policy["rows"]) == (Budget("1.5"), ["region", "income"], 3_000)
    assert [(each.kind, each.key, each.actor) for each in reader.entries() if each.actor] == [
        ("open", "", "olga"),
        ("edition", "", "olga"),
        ("amend", "policy", "olga"),
        ("grant", "group course", "olga"),
        ("grant", "analyst ana", "olga"),
        ("grant", "analyst olga", "olga"),
    ]


def test_the_number_of_rows_can_be_found_when_a_draft_is_confirmed(office: Service) -> None:
    def sent(path: str, **fields: Any) -> None:
        reply = client.post(path, data=fields)
        assert reply.status_code == 303, reply.text

    rows = "person,income\n" + "".join(f"{each // 3},{each}\n" for each in range(3_000))
    (Path(office.demo.settings).parent / "tables" / "panel.csv").write_text(rows)
    with office.visit("olga") as client, office.visit("ana") as ana:
        sent("/own/new", name="panel", table="panel.csv")
        sent("/own/panel/draft/columns", columns=["income"], kinds=["person:integer", "income:number"])
        page = client.get("/own/panel/draft?step=3").text
        assert 'name="max_rows_per_unit" value="auto"' in page
        assert "checked" not in page
        sent(
            "/own/panel/draft/unit",
            unit="person",
            max_rows_per_unit=["", "auto"],
            rows_per_unit_epsilon="0.5",
            most_rows_per_unit="32",
            rows="3000",
            stay="true",
        )
        page = client.get("/own/panel/draft?step=3").text
        assert 'value="auto" checked' in page
        assert "The number of rows is still to be found. With 1 row per unit" in page
        budget = client.get("/own/panel/draft?step=4").text
        assert "Finding how many rows of each person are used costs epsilon = 0.5 of it, once." in budget
        shown = client.get("/own/panel/draft.json?step=3").json()["rows_per_unit"]
        assert shown == {"number": None, "epsilon": "0.5", "most": 32, "usual_epsilon": "0.05", "usual_most": 64}
        sent("/own/panel/draft/budget", epsilon="3", accountant="basic", whole="true", every_statistic="true", pace="1")
        sent("/own/panel/draft/grants", analyst="ana", epsilon="2")
        sent("/own/panel/draft/who", second="")
        words = client.get("/own/panel/confirm.json").json()
        promised = "at most 32 rows of each person, to be found privately for epsilon = 0.5 when it is opened"
        assert any(promised in each["words"] for each in words["words"])
        sent("/own/panel/confirm", seen=words["seen"], why="agreed")
        assert "with at most 4 rows of each (about" in client.get("/own/panel").text
        assert office.office.ledger.reader("panel").spent.epsilon == Fraction(1, 2)
        assert "at most 4 rows of each person are used, about" in ana.get("/d/panel/ask").text
        assert ana.get("/d/panel/ask.json").json()["protection"]["rows_per_unit"]["question"] == "rows of each person"


def test_a_number_that_is_found_is_decided_by_a_program_too_and_what_is_wrong_is_said_in_words(office: Service) -> None:
    with office.visit("olga") as client:
        client.post("/own/new", json={"name": "panel2", "table": "visits.csv"})

        def reply(**unit: Any) -> httpx.Response:
            return client.post("/own/panel2/draft/unit", json={"unit": "person", **unit})

        auto = {"max_rows_per_unit": "auto"}
        for wrong, words in (
            (auto, "say what finding the number of rows may cost (rows_per_unit_epsilon), such as 0.05"),
            ({**auto, "rows_per_unit_epsilon": "much"}, "rows_per_unit_epsilon must be a number, such as 0.5"),
            ({**auto, "rows_per_unit_epsilon": 0}, "epsilon must be a positive number"),
            ({**auto, "rows_per_unit_epsilon": 0.1, "most_rows_per_unit": 0}, "most_rows_per_unit must be a whole number"),
            ({**auto, "rows_per_unit_epsilon": 0.1, "most_rows_per_unit": "x"}, "most_rows_per_unit must be a whole number"),
            ({**auto, "rows_per_unit_epsilon": 0.1, "unit": "row"}, "where each row is a unit of its own"),
            ({"max_rows_per_unit": 2, "rows_per_unit_epsilon": 0.1}, "for a number of rows that is found"),
            ({"max_rows_per_unit": 2, "most_rows_per_unit": 4}, "for a number of rows that is found"),
            ({"max_rows_per_unit": "many"}, "max_rows_per_unit must be a whole number from 1 to 1,000,000, such as 3, or 'auto'"),
            ({"max_rows_per_unit": 2.5}, "max_rows_per_unit must be a whole number"),
            ({"max_rows_per_unit": 0}, "max_rows_per_unit must be a whole number"),
            ({}, "Or have the number found privately (max_rows_per_unit is auto)"),
        ):
            refused = reply(**wrong)
            assert refused.status_code == 422, wrong
            assert words in said(refused), wrong
        assert "unit" in client.get("/own/panel2/draft.json").json()["undecided"]
        assert reply(**auto, rows_per_unit_epsilon=2).status_code == 200  # the budget is not decided yet
        assert "Nothing is left for questions" in client.get("/own/panel2/draft?step=4").text
        too_small = client.post("/own/panel2/draft/budget", json={"epsilon": 1})
        assert "rows_per_unit_epsilon=2 is more than the whole budget" in said(too_small)
        assert reply(**auto, rows_per_unit_epsilon="1/20").status_code == 200
        assert client.get("/own/panel2/draft.json").json()["rows_per_unit"]["most"] == 64
        assert reply(max_rows_per_unit="3").status_code == 200
        assert client.get("/own/panel2/draft.json").json()["rows_per_unit"]["number"] == 3
        schema = client.get("/openapi.json").json()["components"]["schemas"]["DraftUnit"]["properties"]
        assert {"const": "auto"} in schema["max_rows_per_unit"]["anyOf"]
        assert "rows_per_unit_epsilon" in schema
        client.post("/own/panel2/withdraw", json={})


def test_names_of_columns_are_escaped_and_never_in_an_address(office: Service) -> None:
    with office.visit("olga") as client:
        client.post("/own/new", json={"name": "odd", "table": "odd.csv"})
        for step in range(1, 6):
            page = client.get(f"/own/odd/draft?step={step}").text
            assert "<script>alert" not in page
            assert 'method="get"' not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in client.get("/own/odd/confirm").text
        client.post("/own/odd/withdraw", json={})


def test_somebody_else_confirms_what_they_have_seen(tmp_path: Path) -> None:
    with served(tmp_path) as running:
        running.office.catalog._settings = replace(running.office.catalog._settings, second_person=True)
        (tmp_path / "tables" / "visits.csv").write_text(VISITS)
        running.office.people.add("oskar", "a long password", [Role.OWNER])
        running.demo.passwords["oskar"] = "a long password"
        with running.visit("olga") as olga, running.visit("oskar") as oskar:
            olga.post("/own/new", json={"name": "visits", "table": "visits.csv"})
            olga.post("/own/visits/draft/columns", json={"columns": ["income"], "kinds": ["income:number"]})
            olga.post("/own/visits/draft/unit", json={"unit": "person", "max_rows_per_unit": 1})
            olga.post("/own/visits/draft/budget", json={"epsilon": 1})
            assert olga.post("/own/visits/draft/who", json={"second": "olga"}).status_code == 422
            assert oskar.get("/own/visits/confirm").status_code == 404
            olga.post("/own/visits/draft/who", json={"second": "oskar"})
            assert "asks you to confirm" in oskar.get("/own").text
            seen = oskar.get("/own/visits/confirm.json").json()["seen"]
            assert "somebody else" in said(olga.post("/own/visits/confirm", json={"seen": seen, "why": "mine"}))
            olga.post("/own/visits/draft/budget", json={"epsilon": 10})
            assert "has changed" in said(oskar.post("/own/visits/confirm", json={"seen": seen, "why": "as discussed"}))
            seen = oskar.get("/own/visits/confirm.json").json()["seen"]
            assert oskar.post("/own/visits/confirm", json={"seen": seen, "why": "as discussed"}).status_code == 200
            assert oskar.get("/own/visits").status_code == 404
            assert olga.get("/own/visits").status_code == 200
