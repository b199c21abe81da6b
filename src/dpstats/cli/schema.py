"""`dpstats schema`: prints the JSON Schema of questions as documents."""

from __future__ import annotations

import argparse
import json

from dpstats.cli import exits
from dpstats.curator.documents.schema import question_schema

_DESCRIPTION = """\
A question can be written as a document in JSON, which a protected table answers: session.ask(document). This prints what such a
document may hold, as JSON Schema (draft 2020-12), with all statistics, their parameters and their methods.

  dpstats schema > question.schema.json
"""


def describe() -> str:
    """The text above the arguments in the help."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(question_schema(), indent=2, ensure_ascii=False, allow_nan=False))
    return exits.ANSWERED
