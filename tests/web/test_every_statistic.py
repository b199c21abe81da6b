"""Every statistic of the registry has its places in the service, without being named there: also one that is added tomorrow."""

from __future__ import annotations

import json
from contextlib import suppress
from html import unescape
from typing import Any

import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.foundations.registry import find_statistic, statistic_names
from dpstats.web.figures.filters import FIGURES
from dpstats.web.published.answers import answer_values, in_short
from dpstats.web.words import FILTERS
from tests.questions import columns_for, required_of, session
from tests.web.conftest import Service

SHOWN = '{% from "answer_parts.html" import answer_parts %}{{ answer_parts(answer, "elsewhere") }}'


def test_programs_and_pages_know_every_statistic(service: Service) -> None:
    with service.visit("ana") as ana, service.visit("olga") as olga:
        schemas = ana.get("/openapi.json").json()["components"]["schemas"]
        policy = olga.get("/own/survey/policy").text
        for name in statistic_names():
            assert name in schemas["Question"]["properties"]["statistic"]["enum"]
            assert f"Question_{name}" in schemas
            assert f'value="{name}"' in policy
            page = ana.get("/d/survey/ask", params={"statistic": name, "epsilon": "0.1"})
            assert page.status_code == 200
            assert f'<option value="{name}" selected>' in page.text
            assert all(f"<code>{each.name}</code>" in page.text for each in find_statistic(name).parameters)


def release_of(survey: Session, name: str) -> Any:
    """An answer of a statistic about the first columns that it takes."""
    statistic = find_statistic(name)
    words: dict[str, Any] = {**required_of(statistic), "epsilon": 20, "delta": 1e-7}
    listed: dict[str, Any] = {"levels": {"region": ["north", "south"]}}
    tried: list[tuple[list[Any], dict[str, Any]]] = [
        (columns_for(statistic), {}),
        (["income"], {}),
        (["region", "employed"], listed),
        (["region", "employed"], {**listed, "size": 4}),
    ]
    for columns, more in tried:
        with suppress(dp.InvalidParameterError, dp.MissingParameterError, dp.DataTypeError):
            return getattr(survey, name)(*columns, **words, **more)
    raise AssertionError(name)


@pytest.mark.floors
def test_every_answer_is_shown_in_words_and_numbers() -> None:
    templates = Environment(loader=PackageLoader("dpstats.web"), autoescape=True, undefined=StrictUndefined)
    templates.filters.update({**FILTERS, **FIGURES})
    survey, shown, owned = session(), templates.from_string(SHOWN), templates.get_template("own_part.html")
    for name in statistic_names():
        release = release_of(survey, name)
        values = answer_values(release)
        json.dumps(values, allow_nan=False)
        assert values["sentence"].endswith("."), name
        if values["has_reply"]:
            assert any(values[each] for each in ("headline", "words", "tables", "counts", "figure")), name
            text = shown.render(answer=values)
            assert values["sentence"][:20] in unescape(text), name
            if hasattr(release.value, "p_value"):  # the number in large is the estimate: both pages name it, and say p
                for page in (text, owned.render(part=values)):
                    assert f'<p class="between">{release.value.estimates}</p>' in unescape(page), name
                    assert f"The test gives {release.value}" in unescape(page), name
                assert release.value.estimates in in_short(release), name
