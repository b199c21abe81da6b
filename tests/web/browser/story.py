"""A story of four people: a table is registered, asked about, published, and the record of it is verified.

Tests play it and look at every page on the way; `tests.web.browser.screenshots` plays it and draws them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.web.browser.conftest import sign_in, watched_page
from tests.web.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TABLE, FILE = "visits", "visits.parquet"
TITLE = "What a visit cost in the north"
Look = Callable[["Page", str], None]
"""What is done with a page that somebody has come to, and the name of that moment."""


@dataclass(frozen=True)
class Story:
    """What the four were left with."""

    release: str
    """The address of the release."""
    receipt: Path
    chain: Path


def write_table(folder: Path) -> None:
    """A table that can be registered: invented visits, one or two of each person."""
    import polars

    draw = random.Random(20)
    people = [each // 3 * 2 + min(each % 3, 1) for each in range(12_000)]
    columns: dict[str, list[Any]] = {
        "person": people,
        "region": [draw.choice(("north", "south", "east")) for _ in people],
        "cost": [round(draw.lognormvariate(4, 0.6), 2) for _ in people],
    }
    polars.DataFrame(columns).write_parquet(folder / FILE)


def play(browser: Browser, service: Service, folder: Path, look: Look, **settings: Any) -> Story:
    """All of it, in the pages of a browser; files that people keep are put into a folder."""
    write_table(Path(service.demo.settings).parent / "tables")
    with ExitStack() as stack:
        olga, ana, aron, reader = (stack.enter_context(watched_page(browser, service, **settings)) for _ in range(4))
        sign_in(olga, service, "olga")
        register(olga, look)
        sign_in(ana, service, "ana")
        receipt = ask(ana, folder, look)
        propose(ana, look)
        agree(olga, look)
        release = read(reader, look)
        sign_in(aron, service, "aron")
        chain = verify(aron, receipt, folder, look)
        return Story(release, receipt, chain)


def register(page: Page, look: Look) -> None:
    """The owner registers the table by five steps, lets ana in, and confirms it."""
    look(page, "own")
    page.get_by_role("link", name="Register a table").click()
    page.get_by_label("Name of the data set").fill(TABLE)
    page.get_by_label(FILE).check()
    look(page, "source")
    press(page, "Go on to the columns")
    page.get_by_label("person may be used").uncheck()
    page.get_by_label("Values that everybody knows").fill("region: east, north, south")
    look(page, "columns")
    press(page, "Go on to whom it protects")
    page.get_by_label("Unit", exact=True).select_option("person")
    page.get_by_label("Rows of each unit that are used").fill("2")
    page.get_by_label("Rows of the table").fill("12000")
    press(page, "Show what these numbers do")
    page.locator("figcaption").filter(has_text="With 2 rows per unit").wait_for()
    look(page, "unit")
    press(page, "Go on to the budget")
    page.get_by_label("Epsilon for all questions together", exact=True).fill("3")
    page.get_by_label("Largest epsilon of one question").fill("1")
    press(page, "Show what these numbers buy")
    page.get_by_role("heading", name="What 3 buys").wait_for()
    look(page, "budget")
    press(page, "Go on to who may ask")
    page.get_by_label("Analyst").select_option("ana")
    page.get_by_label("Their own cap").fill("1.5")
    press(page, "Put on the list")
    look(page, "who")
    press(page, "Go on to confirm")
    page.get_by_label("Why it is opened").fill("agreed with the data protection officer")
    look(page, "confirm")
    press(page, "Confirm: makes all of this public")
    page.wait_for_url(f"**/own/{TABLE}")


def ask(page: Page, folder: Path, look: Look) -> Path:
    """The analyst fills in the sentence, tries what it would cost, asks, and keeps the receipt."""
    page.wait_for_url("**/me")
    look(page, "me")
    page.get_by_role("listitem").filter(has_text=TABLE).get_by_role("link", name="Ask", exact=True).click()
    say(page, "median", "cost", where="region == 'north'", rows="4000")
    look(page, "ask")
    page.get_by_role("button", name="Ask: spends").click()
    page.wait_for_url("**/answers/*")
    page.locator(".between").filter(has_text="95% interval").wait_for()
    look(page, "answer")
    page.get_by_text("The receipt", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the receipt").click()
    kept = folder / "receipt.json"
    download.value.save_as(kept)
    return kept


def say(page: Page, statistic: str, column: str, *, where: str = "", rows: str = "") -> None:
    """Fill in the sentence, and wait until its price is shown."""
    page.get_by_label("What", exact=True).select_option(statistic)
    page.get_by_label("of", exact=True).select_option(column)
    page.get_by_label("where", exact=True).fill(where)
    page.get_by_label("Rows that count").fill(rows)
    shown = page.locator(".asked").filter(has_text=f"{statistic}({column}").filter(has_text=where.partition(" ")[0])
    show = page.get_by_role("button", name="Show what to expect")
    if show.is_visible():
        show.click()
    shown.wait_for()
    if rows:
        page.locator("figcaption").filter(has_text=f"{int(rows):,} rows").wait_for()


def propose(page: Page, look: Look) -> None:
    """The analyst proposes the answer to the owner."""
    page.get_by_label("Title of the release").fill(TITLE)
    page.get_by_label("What readers should know").fill("Half of all visits cost less. Two visits of each person count.")
    press(page, "Propose it to the owner")
    page.get_by_text("waits for the owner").or_(page.get_by_text("waits for an answer")).first.wait_for()
    look(page, "proposed")
    page.goto(f"/d/{TABLE}/history?newest=true")
    look(page, "history")


def agree(page: Page, look: Look) -> None:
    """The owner finds the letter, and publishes the answer."""
    page.goto("/own")
    page.get_by_role("link", name="1 letter waiting").click()
    look(page, "letters")
    press(page, "Publish: everybody will see it")
    page.goto(f"/own/{TABLE}")
    page.get_by_role("link", name=TITLE).wait_for()
    look(page, "dataset")


def read(page: Page, look: Look) -> str:
    """Somebody who is not signed in finds the release, with its figure and its card, and takes its files."""
    page.goto("/")
    look(page, "published")
    page.get_by_role("link", name=TITLE).click()
    page.get_by_role("heading", name="The card").wait_for()
    look(page, "release")
    assert page.locator("figure svg").count() == 1
    assert page.locator("dl.card dt").count() >= 10
    for name, kind in (("CSV", "text/csv"), ("JSON", "application/json"), ("SVG", "image/svg+xml")):
        reply = page.request.get(str(page.get_by_role("link", name=name, exact=True).get_attribute("href")))
        assert reply.ok
        assert reply.headers["content-type"].startswith(kind)
    release = page.url
    page.get_by_label("Breadcrumb").or_(page.locator(".crumbs")).get_by_role("link", name=TABLE).click()
    page.get_by_role("heading", name="What was spent").wait_for()
    look(page, "public-dataset")
    return release


def verify(page: Page, receipt: Path, folder: Path, look: Look) -> Path:
    """The auditor verifies the chain, finds the analyst's receipt in it, and takes the chain home."""
    page.wait_for_url("**/audit")
    press(page, "Verify what is new")
    page.get_by_text("Sound", exact=True).wait_for()
    look(page, "audit")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the chain").click()
    kept = folder / "chain.jsonl"
    download.value.save_as(kept)
    page.get_by_role("link", name=TABLE, exact=True).click()
    page.get_by_text("agrees").first.wait_for()
    look(page, "account")
    page.goto("/receipts")
    page.get_by_label("The receipt, as JSON").fill(json.dumps(json.loads(receipt.read_text())))
    press(page, "Look it up")
    page.get_by_text("Found.").wait_for()
    look(page, "found")
    return kept


def press(page: Page, button: str) -> None:
    """Press a button, and wait for the page that it leads to."""
    with page.expect_navigation():
        page.get_by_role("button", name=button).click()
