"""Every example in README and docs runs, and prints what the document says."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import dpstats
from tests.documents import DOCUMENTS, ROOT, fixed_noise, run_document

SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "dpstats").rglob("*.py"))
    if path.name != "__main__.py"
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_outputs_in_a_document_are_real(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert run_document(text) == text, "run `make docs` and read what changed"


@pytest.mark.parametrize("name", [name for name, path in MODULES.items() if ">>> " in path.read_text(encoding="utf-8")])
def test_the_examples_in_a_docstring_are_real(name: str) -> None:
    with fixed_noise():
        found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_every_module_can_be_imported() -> None:
    assert [importlib.import_module(name).__name__ for name in MODULES] == list(MODULES)


@pytest.mark.parametrize("document", sorted(ROOT.glob("*.md")), ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_a_wrong_output_is_noticed() -> None:
    document = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert run_document(document) == document.replace("3", "2")


def test_a_console_line_is_run() -> None:
    document = "```console\n$ make demo\n$ dpstats --version\nold\n```\nand on\n"
    assert f"$ make demo\n$ dpstats --version\ndpstats {dpstats.__version__}\n```\nand on\n" in run_document(document)


def test_a_block_that_says_so_is_left_alone() -> None:
    document = "```console not-run\n$ dpstats --version\nold\n```\n```python not-run\nprint(1/0)\n```\n"
    assert run_document(document) == document


def test_an_example_that_fails_is_noticed() -> None:
    with pytest.raises(ZeroDivisionError):
        run_document("```python\n1 / 0\n```\n")
