"""Every page of the service, as wide as a telephone and as a desk: fields have room, and nothing sticks out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.entries import DEBIT
from dpstats.web.people.roles import Who
from dpstats.web.routes import Route
from dpstats.web.views import tables
from tests.web.browser.conftest import sign_in, watched_page
from tests.web.browser.story import FILE, TABLE, write_table
from tests.web.conftest import Service, served
from tests.web.publishing import ask, publish

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (390, 768, 1280)
LEAST = 120
"""Pixels that a field has at least, so that a name or a password can be read in it."""
PEOPLE = {
    Who.PUBLIC: "",
    Who.SIGNED_IN: "ana",
    Who.ANALYST: "ana",
    Who.OWNER: "olga",
    Who.AUDITOR: "aron",
    Who.ADMIN: "olga",
}
VARIANTS: dict[str, list[str]] = {
    "/d/{name}/ask": ["", "?statistic=quantile&columns=income", "?statistic=linear_regression"],
    "/d/{name}/basket": ["", "?documents={document}"],
    "/d/{name}/compare": ["?lines={debit}&lines={other}"],
    "/own/{name}/draft": ["?step=1", "?step=2", "?step=3", "?step=4", "?step=5"],
    "/own/{name}/release": ["", "?question={document}"],
    "/receipts": ["", "?receipt=%7B%7D"],
}
"""What stands behind the addresses of pages that look different with it."""
OF_DRAFTS = ("/own/{name}/draft", "/own/{name}/confirm")
DRAFT: dict[str, dict[str, Any]] = {
    "new": {"name": TABLE, "table": FILE},
    f"{TABLE}/draft/columns": {"columns": ["region", "cost"], "keys": "region: east, north, south"},
    f"{TABLE}/draft/unit": {"unit": "person", "max_rows_per_unit": "2", "rows": "12000"},
    f"{TABLE}/draft/budget": {"epsilon": "3", "accountant": "basic", "whole": "true", "every_statistic": "true", "pace": "1"},
    f"{TABLE}/draft/grants": {"analyst": "ana", "epsilon": "1.5"},
}
"""What is decided about a table that waits to be confirmed."""
_FIELDS = """\
() => [...document.querySelectorAll("input, textarea")].filter(each =>
    !["hidden", "checkbox", "radio", "submit", "button", "image"].includes(each.type) && each.checkVisibility()
).map(each => [each.id || each.name, Math.round(each.getBoundingClientRect().width)])"""
_CUT = """\
() => [...document.querySelectorAll("select:not([multiple])")].filter(each => {
    const style = getComputedStyle(each), pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const text = pen.measureText(each.selectedOptions[0]?.text ?? "").width;
    const room = each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 14;  // the arrow
    return each.checkVisibility() && text > room;
}).map(each => each.id || each.name)"""
_COVERED = """\
() => [...document.querySelectorAll(".copied")].filter(each => {
    const text = each.querySelector("pre").getBoundingClientRect(), button = each.querySelector("button").getBoundingClientRect();
    return button.left < text.right && button.top < text.bottom && text.top < button.bottom;
}).map(each => each.innerText)"""
_OPEN = "() => document.querySelectorAll('details').forEach(each => each.open = true)"
_STICKS_OUT = """\
() => [...document.querySelectorAll("body *")].filter(each =>
    each.checkVisibility() && !each.closest("svg, .wide, pre, .hear, .hidden, .skip")
    && each.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map(each => each.outerHTML.slice(0, 120))"""


def pages() -> Iterator[Route]:
    """Every page that there is."""
    for table in tables():
        yield from (route for route in table.routes if route.is_page)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, Any]]]:
    """A service with something on every page, and what addresses are made of."""
    with served(tmp_path_factory.mktemp("asked")) as service:
        document = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": "0.05"}
        answer = ask(service, **document)
        ask(service, statistic="count")
        release = publish(service, answer, "What a person earns")
        other, debit = (each.sequence for each in service.office.ledger.reader("survey").entries(kinds=[DEBIT])[-2:])
        write_table(Path(service.demo.settings).parent / "tables")
        with service.visit("olga") as olga:
            for step, decided in DRAFT.items():
                assert olga.post(f"/own/{step}", data=decided).status_code == 303
        service.office.catalog.grant("survey", analyst="olga", budget=Budget(1), actor="olga", why="her own questions")
        yield (
            service,
            {
                "name": "survey",
                "sequence": debit,
                "number": release,
                "debit": debit,
                "other": other,
                "document": quote(json.dumps(document)),
            },
        )


def addresses(route: Route, said: dict[str, Any]) -> list[str]:
    own = {**said, "name": TABLE} if route.path in OF_DRAFTS else said
    path = route.path.replace(":int", "")
    return [f"{path}{more}".format(**own) for more in VARIANTS.get(route.path, [""])]


def look(page: Page) -> None:
    """Raise where a field is too narrow, a choice is cut off, or something sticks out of the page or covers a text."""
    page.evaluate(_OPEN)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        narrow = [(name, wide) for name, wide in page.evaluate(_FIELDS) if wide < LEAST]
        assert narrow == [], f"{page.url} at {width}"
        for wrong in (_STICKS_OUT, _CUT, _COVERED):
            assert page.evaluate(wrong) == [], f"{page.url} at {width}"


@pytest.mark.parametrize("who", Who, ids=lambda each: each.name.lower())
def test_fields_have_room_and_nothing_sticks_out_of_any_page(
    asked: tuple[Service, dict[str, Any]], browser: Browser, who: Who
) -> None:
    service, said = asked
    with watched_page(browser, service) as page:
        if PEOPLE[who]:
            sign_in(page, service, PEOPLE[who])
        for route in pages():
            if route.who is who:
                for address in addresses(route, said):
                    reply = page.goto(address)
                    assert reply is not None
                    assert reply.status == 200, f"{address}: {page.inner_text('main')}"
                    look(page)


def test_the_page_that_shows_a_new_token_has_room_too(asked: tuple[Service, dict[str, Any]], browser: Browser) -> None:
    service, _ = asked
    with watched_page(browser, service) as page:
        sign_in(page, service, "ana")
        page.goto("/me/tokens")
        page.get_by_label("What it is for").fill("a test")
        page.get_by_role("button", name="Make a token").click()
        page.get_by_role("link", name="I have copied it").wait_for()
        look(page)


def test_a_style_that_squeezes_fields_is_noticed(asked: tuple[Service, dict[str, Any]], browser: Browser) -> None:
    service, _ = asked
    with watched_page(browser, service, bypass_csp=True) as page:
        page.goto("/login")
        page.add_style_tag(content="form.narrow { width: 1%; }")
        with pytest.raises(AssertionError, match="'name', "):
            look(page)
