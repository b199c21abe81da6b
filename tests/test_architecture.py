"""Imports point down the house, and rooms on one floor do not import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dpstats"
FACE = "face"  # the package's own names: what `import dpstats` shows
FLOORS = (
    {"foundations"},
    {"accounting", "pictures"},
    {"mechanisms"},
    {"statistics", "engines"},
    {"curator"},
    {"audit"},
    {FACE},
    {"cli", "web"},
    {"__main__"},
)
IN_FACE = {
    "",
    "__init__",
    "block_functions",
    "data",
    "direct",
    "formula_regression",
    "functions",
    "models",
    "selecting",
    "testing",
    "typing",
}


def room(module: str) -> str:
    """The room that a dotted module name under `dpstats` lives in."""
    name = module.removeprefix("dpstats").lstrip(".").split(".")[0]
    return FACE if name in IN_FACE else name


def floor(name: str) -> int:
    """How high a room lies."""
    for level, rooms in enumerate(FLOORS):
        if name in rooms:
            return level
    raise AssertionError(f"dpstats.{name} has no floor: give it one in STYLE's house and here")


def imported_modules(tree: ast.AST, module: str) -> Iterator[str]:
    """The dotted names under `dpstats` that a module imports, wherever in it the import stands."""
    known = {name for rooms in FLOORS for name in rooms} | IN_FACE
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise AssertionError(f"{module} imports relatively: write the whole name")
            for alias in node.names:
                is_room = node.module == "dpstats" and alias.name in known
                yield f"dpstats.{alias.name}" if is_room else str(node.module)


def wrong_imports(sources: Mapping[str, str]) -> list[str]:
    """Every import in `sources` (module name -> text) that points up or sideways."""
    wrong = []
    for module, text in sources.items():
        here = room(module)
        for imported in imported_modules(ast.parse(text), module):
            if imported.split(".")[0] != "dpstats":
                continue
            there = room(imported)
            if there != here and floor(there) >= floor(here):
                wrong.append(f"{module} imports {imported}")
    return wrong


def all_sources() -> dict[str, str]:
    modules = {path: ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in SOURCE.rglob("*.py")}
    return {module.removesuffix(".__init__"): path.read_text(encoding="utf-8") for path, module in modules.items()}


def test_every_import_points_down() -> None:
    assert wrong_imports(all_sources()) == []


def test_the_whole_house_is_read() -> None:
    assert {"dpstats", "dpstats.direct", "dpstats.foundations.registry", "dpstats.cli.main"} <= all_sources().keys()


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("dpstats.foundations.results", "from dpstats.mechanisms.coins import flip"),
        ("dpstats.foundations.results", "from dpstats import mechanisms"),
        ("dpstats.foundations.results", "import dpstats"),
        ("dpstats.statistics.counts", "import dpstats.engines.arrays as arrays"),
        ("dpstats.engines.files", "def read():\n    from dpstats.statistics import counts"),
        ("dpstats.accounting.cascades", "from dpstats.mechanisms import gaussian"),
        ("dpstats.audit.pairs", "from dpstats.direct import function_for"),
        ("dpstats.web.app", "if True:\n    from dpstats.cli import main"),
        ("dpstats.direct", "import dpstats.cli.ask"),
    ],
)
def test_a_planted_violation_is_caught(module: str, text: str) -> None:
    assert len(wrong_imports({module: text})) == 1


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("dpstats.statistics.counts", "from dpstats.mechanisms.discrete_laplace import laplace\nimport numpy"),
        ("dpstats.engines.files", "from dpstats.engines.arrays import as_column"),
        ("dpstats", "from dpstats import direct, mechanisms, testing"),
        ("dpstats.cli.main", "from dpstats import __version__\nfrom dpstats.data import survey"),
    ],
)
def test_imports_that_point_down_pass(module: str, text: str) -> None:
    assert wrong_imports({module: text}) == []


def test_a_room_without_a_floor_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no floor"):
        wrong_imports({"dpstats.cli.main": "import dpstats.attic.trunk"})


def test_no_module_is_named_after_nothing() -> None:
    vague = {"utils", "helpers", "common", "base", "misc"}
    assert not {part for module in all_sources() for part in module.split(".")} & vague
