"""The pages without scripts: what people do works by links and forms alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.web.browser.conftest import TELEPHONE, sign_in, watched_page
from tests.web.browser.story import press, say
from tests.web.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_somebody_asks_and_the_owner_publishes_on_a_telephone_without_scripts(service: Service, browser: Browser) -> None:
    plain = {"java_script_enabled": False, "viewport": TELEPHONE}
    with watched_page(browser, service, **plain) as ana, watched_page(browser, service, **plain) as olga:
        sign_in(ana, service, "ana")
        ana.get_by_role("link", name="Ask", exact=True).last.click()
        say(ana, "mean", "income", where="age >= 30")
        ana.get_by_label("or the error you want").fill("5")
        ana.get_by_role("button", name="Show what to expect").click()
        ana.locator(".expected").filter(has_text=re.compile(r"off by (4\.\d+|5)% of the IQR")).wait_for()
        press(ana, "Ask: spends")
        ana.locator(".between").filter(has_text="95% interval").wait_for()
        ana.get_by_label("Title of the release").fill("The mean income from 30 on")
        press(ana, "Propose it to the owner")
        sign_in(olga, service, "olga")
        olga.get_by_role("link", name="Own").click()
        olga.get_by_role("link", name="1 letter waiting").click()
        press(olga, "Publish: everybody will see it")
        olga.goto("/")
        olga.get_by_role("link", name="The mean income from 30 on").click()
        olga.locator(".between").filter(has_text="95% interval").wait_for()
