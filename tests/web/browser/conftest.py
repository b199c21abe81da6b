"""A browser: the system's Chromium, found by its name, at a service of its own.

Where there is none, tests are skipped with the reason, or fail if the environment variable DPSTATS_BROWSER is set, as `.ci/run`
does after it has installed one. Every page that a test opens is watched: what the page's policy forbids, what it asks of other
hosts, what its scripts complain of, and a dialog that somebody's text has opened, make the test fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TELEPHONE = {"width": 390, "height": 844}
PATIENCE = 20_000
"""Milliseconds until what a test waits for counts as missing."""
_WATCH = "document.addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective));"
_REACH = "[document.scrollingElement.scrollWidth, window.innerWidth]"


def program() -> str | None:
    """Where the system's browser is."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launched(found: str) -> Iterator[Browser]:
    """A browser without windows."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for all tests of a run."""
    found = program()
    if found is None:
        reason = "there is no Chromium on this machine: install one, such as by apt-get install chromium"
        if os.environ.get("DPSTATS_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with launched(found) as browser:
        yield browser


@contextmanager
def watched_page(browser: Browser, service: Service, **settings: Any) -> Iterator[Page]:
    """A page that must do nothing but what the service allows; other settings are those of playwright's contexts."""
    context = browser.new_context(base_url=service.origin, **settings)
    context.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: _note_request(request.url, service.origin, wrong))
    page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: _note_dialog(dialog, wrong))
    if settings.get("java_script_enabled", True):
        page.add_init_script(_WATCH)
    yield page
    context.close()
    assert wrong == []


def _note_request(address: str, origin: str, wrong: list[str]) -> None:
    if not address.startswith((f"{origin}/", "data:", "blob:")):
        wrong.append(f"asked of another host: {address}")


def _note_dialog(dialog: Dialog, wrong: list[str]) -> None:
    wrong.append(f"dialog: {dialog.message}")
    dialog.dismiss()


def sign_in(page: Page, service: Service, name: str) -> None:
    """Sign somebody in, as a person does."""
    page.goto("/login")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(service.demo.passwords[name])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=f"Sign out {name}").wait_for()


def check_accessible(page: Page) -> None:
    """No rule of axe is broken on the page as it stands."""
    _run_axe(page)


def check_looks(page: Page) -> None:
    """The page can be read by everybody: by day, by night, and on a telephone without moving it sideways."""
    _run_axe(page)
    page.emulate_media(color_scheme="dark")
    _run_axe(page, {"runOnly": ["color-contrast"]})
    page.emulate_media(color_scheme="light")
    usual = page.viewport_size
    page.set_viewport_size(TELEPHONE)
    reaches, width = page.evaluate(_REACH)
    assert reaches <= width, f"{page.url} is {reaches} wide on a telephone of {width}"
    _run_axe(page, {"runOnly": ["scrollable-region-focusable", "target-size"]})
    page.set_viewport_size(usual)


def _run_axe(page: Page, options: dict[str, Any] | None = None) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options=options)
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"
