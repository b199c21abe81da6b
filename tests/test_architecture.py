"""Imports point down the house, rooms on one floor do not import each other, and no module imports itself by a detour."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dpstats"
MAP = Path(__file__).parents[1] / "ARCHITECTURE.md"
FACE = "face"  # the package's own names: what `import dpstats` shows
FLOORS = (
    {"foundations"},
    {"accounting", "pictures"},
    {"mechanisms"},
    {"statistics", "engines"},
    {"curator"},
    {"audit", "client"},
    {FACE},
    {"web"},
    {"cli"},
    {"__main__"},
)
IN_FACE = {
    "",
    "__init__",
    "block_functions",
    "data",
    "direct",
    "formula_classification",
    "formula_regression",
    "functions",
    "graphs",
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


@cache
def parsed(text: str) -> ast.Module:
    """A module's syntax, which several tests look at."""
    return ast.parse(text)


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
        for imported in imported_modules(parsed(text), module):
            if imported.split(".")[0] != "dpstats":
                continue
            there = room(imported)
            if there != here and floor(there) >= floor(here):
                wrong.append(f"{module} imports {imported}")
    return wrong


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Which of the modules each imports, wherever in it the import stands.

    `from package import module` is an import of that module alone, and `from package import name` one of the package's own
    `__init__`; that importing a module runs the packages above it is left out, because they never need what is inside it.
    """
    graph = {}
    for module, text in sources.items():
        imported = set()
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= {name if name in sources else str(node.module) for name in names}
        graph[module] = imported & sources.keys() - {module}
    return graph


def modules_in_cycles(sources: Mapping[str, str]) -> set[str]:
    """The modules that are left when those that import no other are taken away, again and again, and those nobody imports."""
    graph = import_graph(sources)
    while True:
        used = set().union(*graph.values())
        left = {module: imports & graph.keys() for module, imports in graph.items() if module in used and imports & graph.keys()}
        if left == graph:
            return set(graph)
        graph = left


def all_sources() -> dict[str, str]:
    modules = {path: ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in SOURCE.rglob("*.py")}
    return {module.removesuffix(".__init__"): path.read_text(encoding="utf-8") for path, module in modules.items()}


def test_every_import_points_down() -> None:
    assert wrong_imports(all_sources()) == []


def test_no_module_imports_itself_by_a_detour() -> None:
    assert modules_in_cycles(all_sources()) == set()


def test_a_planted_cycle_is_caught() -> None:
    planted = {
        "dpstats.engines.a": "from dpstats.engines.b import name",
        "dpstats.engines.b": "def late():\n    from dpstats.engines import c",
        "dpstats.engines.c": "if TYPE_CHECKING:\n    import dpstats.engines.a",
        "dpstats.engines.apart": "import dpstats.engines.a",
        "dpstats.engines.below": "import numpy",
    }
    assert modules_in_cycles(planted) == {"dpstats.engines.a", "dpstats.engines.b", "dpstats.engines.c"}
    assert modules_in_cycles(all_sources() | {"dpstats.foundations.errors": "from dpstats.foundations import results"})


def test_a_module_that_takes_a_name_from_its_own_package_makes_a_cycle() -> None:
    inside, other = "dpstats.models.inside", "dpstats.models.other"
    package = {"dpstats.models": f"from {inside} import A", other: ""}
    assert modules_in_cycles(package | {inside: "from dpstats.models import A"}) == {"dpstats.models", inside}
    assert not modules_in_cycles(package | {inside: "from dpstats.models import other"})


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
        ("dpstats.engines.files", "from dpstats.engines.tables.given import as_column"),
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


def standard_streams(text: str) -> set[str]:
    """The standard streams that a module names, and the functions that read or write them."""
    named = set()
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            named |= {node.attr} & {"stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"}
        elif isinstance(node, ast.ImportFrom) and node.module in ("sys", "fileinput", "getpass"):
            named |= {alias.name for alias in node.names} & {"stdin", "stdout", "stderr", "input", "getpass"}
        elif isinstance(node, ast.Name):
            named |= {node.id} & {"input", "print", "breakpoint"}
    return named


def test_only_the_command_line_prints_and_nothing_reads_standard_input() -> None:
    at_the_surface = {module: text for module, text in all_sources().items() if room(module) == "cli"}
    inside = {module: text for module, text in all_sources().items() if module not in at_the_surface}
    assert {module: named for module, text in inside.items() if (named := standard_streams(text))} == {
        "dpstats.audit.proofs": {"stdout"},  # a program of its own: python -m dpstats.audit.proofs
        "dpstats.foundations.progress": {"stderr"},  # wipes its line again, and only on a terminal
    }
    assert not any({"stdin", "input"} & standard_streams(text) for text in at_the_surface.values())


@pytest.mark.parametrize(
    "text",
    ["import sys\nsys.stdin.readline()", "answer = input()", "print(1)", "from sys import stderr", "ask = input"],
)
def test_a_planted_use_of_a_standard_stream_is_caught(text: str) -> None:
    assert standard_streams(text)


CEILINGS = {"function": 55, "session": 76, "grouped mean": 90, "web POST": 118}
"""How many files a question may pass (tests/ways.py). They go down with the redesign: 32, 42, 60 and 65 are wanted, and a POST
passed 119 when it began."""


def test_questions_pass_no_more_files_than_before() -> None:
    run = [sys.executable, "-W", "ignore", "-m", "tests.ways"]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    ways = {name: int(files) for name, files in (line.split(": ") for line in printed.splitlines())}
    assert ways.keys() == CEILINGS.keys()
    assert {name: files for name, files in ways.items() if files > CEILINGS[name]} == {}
