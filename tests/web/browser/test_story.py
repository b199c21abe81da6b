"""Four people, from the door to a public release that is verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from dpstats.cli.main import main
from dpstats.curator.ledger.entries import DEBIT
from tests.web.browser.conftest import check_looks, sign_in, watched_page
from tests.web.browser.story import TABLE, play
from tests.web.conftest import Service
from tests.web.publishing import ask

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_from_a_file_to_a_release_that_everybody_can_verify(
    service: Service, browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def look(page: Page, moment: str) -> None:
        check_looks(page)
        if moment == "ask":
            slide_both_ways(page, service)

    story = play(browser, service, tmp_path, look)
    release = story.release.rpartition("/")[2]
    published = tmp_path / "release.json"
    with service.client() as anyone:
        published.write_text(anyone.get(f"/r/{release}/receipt.json").text)
    for receipt in (story.receipt, published):
        assert main(["ledger", "verify", str(story.chain), "--receipt", str(receipt)]) == 0
        assert "sound" in capsys.readouterr().out
    broken = tmp_path / "broken.jsonl"
    broken.write_text(story.chain.read_text().replace(TABLE, "voyage"))
    assert main(["ledger", "verify", str(broken)]) != 0


PAGES = {
    "ana": (
        "/me/tokens",
        "/d/survey/basket",
        "/d/survey/basket?documents={document}",
        "/d/survey/compare?lines={debit}",
    ),
    "olga": (
        "/own/survey/questions",
        "/own/survey/policy",
        "/own/survey/release?question={document}",
        "/own/survey/answers/{debit}",
        "/own/survey/people",
    ),
    "aron": ("/receipts?receipt=%7B%7D",),
}
"""Pages that the story does not come to, by who sees them."""


@pytest.mark.parametrize("name", PAGES)
def test_other_pages_can_be_read_by_everybody(service: Service, browser: Browser, name: str) -> None:
    document = {"version": 1, "statistic": "count", "epsilon": "0.05"}
    ask(service, **document)
    debit = service.office.ledger.reader("survey").entries(kinds=[DEBIT])[-1]
    said = {"document": quote(json.dumps(document)), "debit": debit.sequence}
    with watched_page(browser, service) as page:
        sign_in(page, service, name)
        for path in PAGES[name]:
            page.goto(path.format(**said))
            check_looks(page)


def slide_both_ways(page: Page, service: Service) -> None:
    """Both handles say what the other one costs, and nothing is paid for by moving them."""
    from playwright.sync_api import expect

    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url.rpartition("/")[2]) if request.method != "GET" else None)
    head = service.office.ledger.head
    epsilon, error, words = page.locator("#epsilon"), page.locator("[data-width]"), page.locator("[data-words]")
    seen = []
    for handle in ("Epsilon", "Error"):
        before = (epsilon.input_value(), error.inner_text())
        for place in ("250", "700"):
            page.get_by_label(handle, exact=True).fill(place)
            expect(words).to_contain_text("leaves")
            after = (epsilon.input_value(), error.inner_text())
            assert before[0] != after[0]
            assert before[1] != after[1]
            assert f"Spends epsilon = {after[0]}, leaves" in words.inner_text()
            assert f"Ask: spends epsilon = {after[0]}" in page.locator("[data-price]").inner_text()
            seen.append((float(after[0]), float(after[1].partition("%")[0])))
            before = after
    assert sorted(seen) == sorted(seen, key=lambda each: -each[1])
    assert set(sent) == {"price"}
    assert service.office.ledger.head == head
