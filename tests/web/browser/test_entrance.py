"""The entrance in a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


def test_a_form_of_another_port_changes_nothing_although_the_cookie_comes_along(service: Service, browser: Browser) -> None:
    """To a browser another port of the same machine is the same site: it sends the cookie, and the origin alone tells."""
    with watched_page(browser, service) as page, another_port(_EVIL.format(origin=service.origin)) as address:
        sign_in(page, service, "aron")
        elsewhere = page.context.new_page()
        sent: list[dict[str, str]] = []
        elsewhere.on("request", lambda request: sent.append(request.all_headers()) if request.method == "POST" else None)
        elsewhere.goto(address)
        elsewhere.wait_for_url(f"{service.origin}/logout")
        assert "This came from another site" in elsewhere.content()
        page.goto("/login")
        assert page.get_by_role("button", name="Sign out aron").count() == 1
        [headers] = sent
        assert (headers["sec-fetch-site"], headers["origin"]) == ("same-site", address)
        assert "dpstats=" in headers["cookie"]


@contextmanager
def another_port(content: str) -> Iterator[str]:
    """The address of somebody else's page on this machine."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


_EVIL = '<form method="post" action="{origin}/logout"><button>x</button></form><script>document.forms[0].submit()</script>'
