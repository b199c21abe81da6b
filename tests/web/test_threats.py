"""The list of threats: it is whole, its tests are there, and the documentation has it."""

from __future__ import annotations

import ast
from functools import cache

from tests.web.threats import PAGE, ROOT, THREATS, threat_table


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of a file's tests, without running it."""
    return frozenset(each.name for each in ast.parse((ROOT / path).read_text()).body if isinstance(each, ast.FunctionDef))


def test_every_threat_has_tests_that_are_there() -> None:
    assert [each.number for each in THREATS] == list(range(1, 28))
    assert all(each.tests for each in THREATS)
    named = [tuple(test.split("::")) for each in THREATS for test in each.tests]
    assert [f"{path}::{name}" for path, name in named if not name.startswith("test_") or name not in names_in(path)] == []


def test_the_documentation_has_the_list() -> None:
    assert threat_table() in PAGE.read_text()
