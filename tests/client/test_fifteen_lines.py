"""A notebook of fifteen lines: all that an analyst does, from the token to the letter to the owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import dpstats as dp
from tests.client.conftest import NAME
from tests.web.conftest import Service


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Closes what a test has opened."""
    with ExitStack() as opened:
        yield opened


def test_fifteen_lines_are_a_notebook(service: Service, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
    monkeypatch.setenv("DPSTATS_TOKEN", service.token("ana"))

    curator = stack.enter_context(dp.connect(service.origin))
    assert NAME in str(curator.datasets)
    people = curator[NAME]
    assert ("income" in people.columns, str(people.remaining)[:10]) == (True, "epsilon = ")
    picture = people.plan("median", "income", epsilon=0.2, n=5_000).plot()
    epsilon = people.plan("median", "income", half_width="20%").epsilon
    release = people.where("age >= 30").median("income", epsilon=2 + epsilon)
    card, receipt = release.card(), release.receipt
    medians = people.group_by("region").median("income", epsilon=5, delta=1e-7)
    basket = people.basket()
    basket.mean("income", epsilon=2)
    basket.histogram("region", epsilon=1, delta=1e-7)
    cost, answers = basket.cost, basket.ask()
    frame = people.history().to_frame()
    check = curator.verify(NAME, receipts=[release.receipt])
    letter = release.propose("Median income of adults, 2026")

    assert "<svg" in picture.svg
    assert receipt is not None
    assert {"sequence", "hash", "key", "signature"} <= {*receipt}
    assert "median" in str(card)
    assert {*medians} <= {"north", "south"}
    assert cost.epsilon == 3
    assert len(answers) == 2
    assert len(frame) == 3
    assert check
    assert service.office.papers.letter(letter).content["title"] == "Median income of adults, 2026"
