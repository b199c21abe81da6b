"""Pictures of the pages for the documentation, of invented data: `python -m tests.web.browser.screenshots docs/pictures`."""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dpstats.accounting.budgets import Budget
from dpstats.web.people.roles import Role
from tests.web.browser.conftest import launched, program
from tests.web.browser.story import TABLE, play
from tests.web.conftest import Service, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTH, COLOURS = 1200, 96
PICTURES = {"ask": 1460, "answer": 980, "letters": 1500, "budget": 1200, "release": 1100, "audit": 1000}
"""Moments of the story, and how much of the page is shown: pixels from its top."""
QUESTIONS = (("nils", "mean", "0.4"), ("ana", "quantile", "0.3"), ("nils", "median", "0.2"), ("ana", "mean", "0.25"))


def main(given: list[str]) -> int:
    """Draw all pictures into a folder."""
    parser = argparse.ArgumentParser(prog="python -m tests.web.browser.screenshots", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(given).folder
    found = program()
    if found is None:
        print("there is no Chromium on this machine")
        return 1
    with tempfile.TemporaryDirectory() as place, launched(found) as browser:
        demo, kept = Path(place) / "demo", Path(place) / "kept"
        demo.mkdir()
        kept.mkdir()
        with served(demo, at_once=False) as service:

            def look(page: Page, moment: str) -> None:
                if moment == "letters":
                    ask_more(service)
                    page.reload()
                if moment in PICTURES:
                    draw(page, folder / f"service-{moment}.png", PICTURES[moment])

            play(browser, service, kept, look, viewport={"width": WIDTH, "height": 900})
    return 0


def ask_more(service: Service) -> None:
    """Let a second analyst in, and have both ask, so that there is something to see."""
    catalog, said = service.office.catalog, {"actor": "olga", "why": "a second opinion"}
    service.office.people.add("nils", "an invented password", [Role.ANALYST])
    catalog.grant(TABLE, analyst="nils", budget=Budget(1), **said)
    for actor, statistic, epsilon in QUESTIONS:
        time.sleep(1)
        more = {"parameters": {"q": 0.9}} if statistic == "quantile" else {}
        question = {"version": 1, "statistic": statistic, "columns": ["cost"], "epsilon": epsilon, **more}
        catalog.desk(TABLE).ask(question, actor=actor)


def draw(page: Page, path: Path, height: int) -> None:
    """The upper part of a page, in few colours."""
    from PIL import Image

    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    whole = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    shown = whole.crop((0, 0, WIDTH, min(height, whole.height)))
    shown.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
