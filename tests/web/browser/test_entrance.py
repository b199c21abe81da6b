"""The entrance in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web.browser.conftest import check_accessible, sign_in, watched_page
from tests.web.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_somebody_signs_in_and_out(service: Service, browser: Browser) -> None:
    with watched_page(browser, service) as page:
        sign_in(page, service, "aron")
        page.get_by_role("button", name="Sign out aron").click()
        page.get_by_role("link", name="Sign in").click()
        check_accessible(page)


def test_a_form_of_another_site_changes_nothing(service: Service, browser: Browser) -> None:
    with watched_page(browser, service) as page:
        sign_in(page, service, "aron")
        elsewhere = page.context.new_page()
        evil = _EVIL.format(origin=service.origin)
        elsewhere.route("https://evil.example/", lambda route: route.fulfill(body=evil, content_type="text/html"))
        elsewhere.goto("https://evil.example/")
        elsewhere.wait_for_url(f"{service.origin}/logout")
        assert "This came from another site" in elsewhere.content()
        check_accessible(elsewhere)
        page.goto("/login")
        assert page.get_by_role("button", name="Sign out aron").count() == 1


_EVIL = '<form method="post" action="{origin}/logout"><button>x</button></form><script>document.forms[0].submit()</script>'
