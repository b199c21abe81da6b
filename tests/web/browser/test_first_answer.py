"""Somebody new: in how many steps they have a first answer, how heavy pages are, and whether the keyboard is enough."""

from __future__ import annotations

import gzip
import time
from typing import TYPE_CHECKING

from tests.web.browser.conftest import check_looks, sign_in, watched_page
from tests.web.browser.story import press
from tests.web.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

STEPS = 5
"""Clicks and fields from the page that says "Sign in" to an answer that is paid for; docs/service.md says so."""
HEAVIEST = 320_000
"""Bytes of a page with all that it loads, compressed."""
PASSWORD = "an invented password"


class Counted:
    """Steps of somebody, counted as they are done."""

    def __init__(self) -> None:
        self.done = 0

    def click(self, place: Locator) -> None:
        """Click on something."""
        place.click()
        self.done += 1

    def fill(self, place: Locator, text: str) -> None:
        """Fill in a field."""
        place.fill(text)
        self.done += 1


def test_somebody_new_has_a_first_answer_after_few_steps(service: Service, browser: Browser) -> None:
    with watched_page(browser, service) as olga:
        sign_in(olga, service, "olga")
        let_in(olga, "nils")
    with watched_page(browser, service) as page:
        page.goto("/login")
        begun, steps = time.monotonic(), Counted()
        steps.fill(page.get_by_label("Name"), "nils")
        steps.fill(page.get_by_label("Password"), PASSWORD)
        steps.click(page.get_by_role("button", name="Sign in"))
        steps.click(page.get_by_role("link", name="Ask", exact=True).last)
        steps.click(page.get_by_role("button", name="Ask: spends"))
        page.locator(".between").filter(has_text="95% interval").wait_for()
        print(f"{steps.done} steps, {time.monotonic() - begun:.1f} s by a script")
        assert steps.done == STEPS
    assert [each.actor for each in service.office.ledger.reader("survey").entries() if each.kind == "answer"] == ["nils"]


def let_in(page: Page, name: str) -> None:
    """Add an analyst, and let them ask: an administrator's page, and an owner's."""
    page.get_by_role("link", name="People").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("First password").fill(PASSWORD)
    page.get_by_label("analyst:").check()
    check_looks(page)
    press(page, "Add")
    page.get_by_role("link", name="Own").click()
    page.get_by_role("link", name="survey").click()
    page.get_by_role("link", name="Who may ask").click()
    page.get_by_label("Analyst").select_option(name)
    page.get_by_label("Their own cap").fill("1")
    page.get_by_label("Why, for the ledger").last.fill("a new colleague")
    check_looks(page)
    press(page, "Let them ask")


def test_pages_are_light(service: Service, browser: Browser) -> None:
    sizes: dict[str, int] = {}
    for name, path in (("ana", "/d/survey/ask"), ("olga", "/own/survey/policy"), ("aron", "/audit/survey"), ("", "/")):
        with watched_page(browser, service) as page:
            if name:
                page.context.add_cookies(
                    [{"name": key, "value": value, "url": service.origin} for key, value in cookies(service, name)]
                )
            loaded: list[bytes] = []
            page.on("response", lambda response, into=loaded: into.append(response.body()))
            page.goto(path, wait_until="networkidle")
            assert len(loaded) >= 3
            sizes[path] = sum(len(gzip.compress(each, 6)) for each in loaded)
    print(", ".join(f"{path}: {size / 1000:.1f} KB" for path, size in sizes.items()))
    assert max(sizes.values()) <= HEAVIEST


def cookies(service: Service, name: str) -> list[tuple[str, str]]:
    """Cookies of somebody who is signed in."""
    with service.visit(name) as client:
        return list(client.cookies.items())


def test_the_keyboard_is_enough_to_ask(service: Service, browser: Browser) -> None:
    with watched_page(browser, service) as page:
        sign_in(page, service, "ana")
        page.goto("/d/survey/ask")
        tab_to(page, "#statistic")
        page.keyboard.type("mean")
        tab_to(page, "#column")
        page.keyboard.type("income")
        tab_to(page, "#where")
        page.keyboard.type("age >= 30")
        page.locator(".asked").filter(has_text="mean(income) where age >= 30").wait_for()
        tab_to(page, "#slide-epsilon")
        page.keyboard.press("ArrowRight")
        page.locator("[data-words]").filter(has_text="leaves").wait_for()
        tab_to(page, "[data-price]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/answers/*")
        page.locator(".between").filter(has_text="95% interval").wait_for()


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something has the focus; where it is, it can be seen."""
    for _ in range(40):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab")
