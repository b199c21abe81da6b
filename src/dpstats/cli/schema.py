"""`dpstats schema`: prints the JSON Schema of questions as documents."""

from __future__ import annotations

import argparse
import json

from dpstats.cli import exits
from dpstats.cli.command import Command
from dpstats.curator.documents.schema import question_schema

_DESCRIPTION = """\
A question can be written as a document in JSON, which a protected table answers: session.ask(document). This prints what such a
document may hold, as JSON Schema (draft 2020-12), with all statistics, their parameters and their methods.

  dpstats schema > question.schema.json
"""


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(question_schema(), indent=2, ensure_ascii=False, allow_nan=False))
    return exits.ANSWERED


COMMAND = Command(
    "schema", "print what a question may hold as a document, as JSON Schema", lambda: _DESCRIPTION, lambda parser: None, run
)
