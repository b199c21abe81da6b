"""Secrets: words that are planted in passwords, tokens, rows and addresses, and looked for in all that is written or shown."""

from __future__ import annotations

import logging
from pathlib import Path

import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.catalog import policed_desk
from dpstats.web.logs import LOGGER
from dpstats.web.people.roles import Role
from tests.web.conftest import served
from tests.web.test_attacks import ask

PASSWORD, ROW, HOST = "canary-of-a-password", "canary-of-a-row", "canary-of-an-address"
PAGES = {
    "ana": ("/me", "/me/tokens", "/d/odd/ask", "/d/odd/history", "/d/odd/basket"),
    "olga": ("/own", "/own/odd", "/own/odd/questions", "/own/odd/people", "/own/odd/policy", "/own/new", "/admin", "/metrics"),
    "aron": ("/audit", "/audit/odd", "/audit/chain.jsonl"),
}
OLGA = {"actor": "olga", "why": "a test"}


def test_planted_words_are_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policed_desk, "reply_seconds", lambda *_, **__: 0.0)
    with caplog.at_level(logging.DEBUG), served(tmp_path) as service:
        pl.DataFrame({"income": [1.0] * 500, "diagnosis": [ROW] * 500}).write_parquet(tmp_path / "tables" / "odd.parquet")
        catalog = service.office.catalog
        catalog.register("odd", "odd.parquet", owner="olga", unit="row", budget=dp.Budget(9))
        catalog.confirm("odd", **OLGA)
        catalog.grant("odd", analyst="ana", **OLGA)
        service.office.people.add("nils", PASSWORD, [Role.ANALYST])
        shown: list[str] = []
        with service.client() as nobody:
            for given in (("nils", PASSWORD), ("nils", f"{PASSWORD} wrong"), (PASSWORD, PASSWORD)):
                shown.append(nobody.post("/login", data=dict(zip(("name", "password"), given, strict=True))).text)
        token = service.token("ana")
        secret = token.rpartition("_")[2]
        with service.with_token("ana") as ana, service.with_token("olga") as olga:
            for statistic in ("count", "median"):
                columns = [] if statistic == "count" else ["income"]
                document = {"version": 1, "statistic": statistic, "columns": columns, "epsilon": "1"}
                shown.append(ana.post("/d/odd/questions", json={"document": document}).text)
            ask(ana, {"version": 1, "statistic": "count", "epsilon": "1"})
            address = f"postgresql://me:{HOST}@db.example.org/office#survey"
            shown.append(olga.post("/own/new", json={"name": "there", "address": address}).text)
        for name, pages in PAGES.items():
            with service.visit(name) as client:
                replies = [client.get(page) for page in pages]
                assert {reply.status_code for reply in replies} <= {200, 403}
                shown += [reply.text for reply in replies]
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".parquet")
    everything = "\n".join([*shown, *(record.getMessage() for record in caplog.records if record.name == LOGGER.name)])
    for canary in (PASSWORD, ROW, HOST, secret):
        assert canary.encode() not in written
        assert canary not in everything
    assert b"odd" in written
    assert "median(income)" in everything
