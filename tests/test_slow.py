"""The quick tests are a part of all tests that enters every room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slow import SLOW_FILES, starts_spark

TESTS = Path(__file__).parent
NAMES = {path: path.stem.removeprefix("test_") for path in TESTS.rglob("test_*.py")}


def test_every_slow_file_exists() -> None:
    assert SLOW_FILES - set(NAMES.values()) == set()


def test_every_folder_of_tests_has_quick_ones() -> None:
    folders = {path.parent for path in NAMES}
    assert folders - {path.parent for path, name in NAMES.items() if name not in SLOW_FILES} == set()


def test_a_folder_of_slow_files_alone_would_be_noticed() -> None:
    ledger = {name for path, name in NAMES.items() if path.parent.name == "ledger"}
    quick = {path.parent for path, name in NAMES.items() if name not in SLOW_FILES | ledger}
    assert TESTS / "curator" / "ledger" not in quick


def test_what_starts_spark_says_so_in_its_name(request: pytest.FixtureRequest) -> None:
    starting = [item.nodeid for item in request.session.items if "spark" in getattr(item, "fixturenames", ())]
    assert [nodeid for nodeid in starting if not starts_spark(nodeid)] == []
