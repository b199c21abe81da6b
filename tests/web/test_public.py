"""What everybody sees of data sets: those that have releases, and of these nothing that was not published."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpstats.web.complaints import NOT_THERE
from tests.web.conftest import Service, served
from tests.web.publishing import ask, publish

EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def published(service: Service) -> int:
    """A release; two questions more were asked, one of which was not answered to the public, and the budget was amended."""
    catalog = service.office.catalog
    with service.client() as client:  # before anything is published
        assert client.get("/index.json").json() == {"datasets": [], "newest": []}
        assert "Nothing was published yet" in client.get("/").text
        there, nowhere = client.get("/d/survey"), client.get("/d/nowhere")
        assert (there.status_code, there.text) == (404, nowhere.text)
        assert client.get("/d/survey.json").json() == client.get("/d/nowhere.json").json()
    number = publish(service, ask(service, statistic="count"), f"How many people {EVIL}")
    ask(service, statistic="median", columns=["rent"], interval=None)
    catalog.amend("survey", largest_epsilon=1, actor="olga", why=f"nobody takes all of it {EVIL}")
    return number


def test_the_first_page_lists_data_sets_that_have_releases(service: Service, published: int) -> None:
    with service.client() as client:
        values, page = client.get("/index.json").json(), client.get("/").text
    [listed] = values["datasets"]
    assert (listed["name"], listed["owner"], listed["unit"], listed["releases"]) == ("survey", "olga", "person", 1)
    assert listed["guarantee"].startswith(
        "Any one person changes the probability of whatever is published by a factor of at most 1"
    )
    assert values["newest"][0]["number"] == published
    assert listed["guarantee"] in page
    assert f"/r/{published}" in page


def test_a_data_set_shows_what_was_spent_and_every_change_with_who_and_why(service: Service, published: int) -> None:
    with service.client() as client:
        values, page = client.get("/d/survey.json").json(), client.get("/d/survey").text
    spent = service.office.ledger.reader("survey").spent
    assert values["spent"] == {"epsilon": str(spent.epsilon), "delta": "0", "words": str(spent)}
    assert [each["number"] for each in values["releases"]] == [published]
    assert "One question may spend epsilon = 1 at most." in values["policy"]
    newest, *_, first = values["history"]
    assert (newest["who"], newest["why"], newest["changes"]) == (
        "olga",
        f"nobody takes all of it {EVIL}",
        ["One question may spend epsilon = 1 at most."],
    )
    assert first["changes"] == ["The account was opened with a budget of epsilon = 5."]
    assert values["bar"].count("<title>") == 2  # of the bar, and of its one tick
    assert "ana" not in page


def test_what_was_not_published_is_nowhere(service: Service, published: int) -> None:
    with service.client() as client:
        pages = [client.get(path).text for path in ("/", "/index.json", "/d/survey", "/d/survey.json", f"/r/{published}")]
        assert not [page for page in pages if "median" in page or "(rent" in page]
        numbers = [each.sequence for each in service.office.ledger.entries() if each.sequence != published]
        assert {client.get(f"/r/{number}").status_code for number in [*numbers, 0, 10**30]} == {404}
    assert NOT_THERE.__traceback__ is None  # a complaint keeps nothing of the requests that it was raised for


def test_names_and_reasons_are_escaped(service: Service, published: int) -> None:
    with service.client() as client:
        for path in ("/", "/d/survey", f"/r/{published}"):
            page = client.get(path).text
            assert "<img src=x" not in page
            assert "&lt;img src=x" in page


def test_a_service_that_is_not_public_shows_nothing_to_strangers(tmp_path: Path) -> None:
    with served(tmp_path, public=False) as service:
        number = publish(service, ask(service, statistic="count"), "How many people")
        paths = ["/index.json", "/d/survey.json", "/d/nowhere.json", f"/r/{number}.json", f"/r/{number}.csv", f"/r/{number}.bib"]
        with service.client() as client:
            assert {client.get(path).status_code for path in paths} == {401}
            assert client.get("/").headers["location"] == "/login?next=/"
        with service.visit("aron") as client:
            assert [client.get(path).status_code for path in paths] == [200, 200, 404, 200, 200, 200]
