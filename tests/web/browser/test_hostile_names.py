"""Names that are markup: of columns, of public values, of a title and of reasons, on every page that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpstats.accounting.budgets import Budget
from tests.web.browser.conftest import sign_in, watched_page
from tests.web.browser.story import press
from tests.web.conftest import Service

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVIL = "<img src=x onerror=alert(1)>"
BREAKING = "\"'></title></textarea></script><svg onload=alert(2)>"


def test_names_that_are_markup_stay_words(service: Service, browser: Browser) -> None:
    open_table(service)
    with watched_page(browser, service) as ana, watched_page(browser, service) as olga, watched_page(browser, service) as reader:
        sign_in(ana, service, "ana")
        ana.goto("/d/odd/ask")
        ana.get_by_label("What", exact=True).select_option("median")
        ana.get_by_label("of", exact=True).select_option("value")
        ana.get_by_label("by", exact=True).select_option(EVIL)
        ana.locator(".asked").filter(has_text=EVIL).wait_for()
        ana.locator("#epsilon").fill("0.5")
        ana.locator("[data-price]").filter(has_text="0.5").click()
        ana.wait_for_url("**/answers/*")
        assert ana.get_by_text(EVIL).count() >= 1
        ana.get_by_label("Title of the release").fill(f"{EVIL}{BREAKING}")
        ana.get_by_label("What readers should know").fill(BREAKING)
        press(ana, "Propose it to the owner")
        for path in ("/me", "/d/odd/history?newest=true"):
            ana.goto(path)
        sign_in(olga, service, "olga")
        for path in ("/own", "/own/odd/people", "/own/odd/policy", "/own/odd/questions", "/own/odd/release", "/own/odd"):
            olga.goto(path)
        press(olga, "Publish: everybody will see it")
        for path in ("/", "/d/odd"):
            reader.goto(path)
        reader.get_by_role("link", name=EVIL).click()
        reader.get_by_role("heading", name="The card").wait_for()
        assert reader.locator("img[src=x], svg[onload]").count() == 0


def open_table(service: Service) -> None:
    """A table whose names are markup, opened by its owner."""
    import polars

    columns: dict[str, list[Any]] = {EVIL: [BREAKING, "plain"] * 500, "value": list(range(1_000))}
    polars.DataFrame(columns).write_parquet(Path(service.demo.settings).parent / "tables" / "odd.parquet")
    catalog, said = service.office.catalog, {"actor": "olga", "why": f"{EVIL}{BREAKING}"}
    catalog.register(
        "odd", "odd.parquet", owner="olga", unit="row", budget=Budget(2), keys={EVIL: (BREAKING, "plain")}, policy={"rows": 1_000}
    )
    catalog.confirm("odd", **said)
    catalog.grant("odd", analyst="ana", budget=Budget(1), **said)
