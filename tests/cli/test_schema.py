"""`dpstats schema` prints the schema of questions as documents."""

from __future__ import annotations

import json

import dpstats as dp
from dpstats.cli import exits
from tests.cli.conftest import Run


def test_the_schema_is_printed_as_json(run: Run) -> None:
    outcome = run("schema")
    assert outcome.code == exits.ANSWERED
    assert json.loads(outcome.out) == dp.question_schema()
