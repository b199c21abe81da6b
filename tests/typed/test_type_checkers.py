"""What mypy and pyright see of the functions, the sessions and the groups: parameters, result types, mistakes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
RIGHT, WRONG = HERE / "asked_rightly.py", HERE / "asked_wrongly.py"
UNTYPED = ("pandas", "pyarrow", "scipy", "sklearn")
Report = dict[Path, dict[int, list[tuple[str, str]]]]
"""By file and line what a type checker says there, each with its kind: error or note."""

needs_pyright = pytest.mark.skipif(
    find_spec("basedpyright") is None and not os.environ.get("DPSTATS_NO_SKIP"), reason="needs basedpyright"
)


def told(found: list[tuple[Path, int, str, str]]) -> Report:
    report: Report = {RIGHT: {}, WRONG: {}}
    for path, line, kind, text in found:
        report[path].setdefault(line, []).append((kind, text))
    return report


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One strict run over both files; the packages that have no types of their own are left to Any, as users do."""
    folder = tmp_path_factory.mktemp("mypy")
    settings = folder / "mypy.ini"
    untyped = "".join(f"[mypy-{name}.*]\nignore_missing_imports = True\nfollow_imports = skip\n" for name in UNTYPED)
    settings.write_text(f"[mypy]\nstrict = True\n{untyped}")
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(folder / "cache")]
    command += ["--follow-imports=silent", "--output=json", str(RIGHT), str(WRONG)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, "MYPYPATH": str(SOURCE)}
    )
    assert result.returncode == 1, result.stdout + result.stderr
    lines = map(json.loads, result.stdout.splitlines())
    return told([((folder / each["file"]).resolve(), each["line"], each["severity"], each["message"]) for each in lines])


@pytest.fixture(scope="module")
def pyright(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One run over both files."""
    folder = tmp_path_factory.mktemp("pyright")
    settings = folder / "pyrightconfig.json"
    settings.write_text(
        json.dumps(
            {
                "include": [str(RIGHT), str(WRONG)],
                "extraPaths": [str(SOURCE)],
                "typeCheckingMode": "standard",
                "reportMissingModuleSource": False,
            }
        )
    )
    command = [sys.executable, "-m", "basedpyright", "--project", str(settings), "--pythonpath", sys.executable, "--outputjson"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    kinds = {"error": "error", "information": "note"}
    return told(
        [
            (Path(each["file"]), each["range"]["start"]["line"] + 1, kinds[each["severity"]], each["message"])
            for each in json.loads(result.stdout)["generalDiagnostics"]
        ]
    )


checkers = pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=needs_pyright)])


@checkers
def test_right_calls_are_fine_and_every_result_has_the_type_that_stands_beside_it(
    checker: str, request: pytest.FixtureRequest
) -> None:
    said = request.getfixturevalue(checker)[RIGHT]
    assert [(line, text) for line, notes in said.items() for kind, text in notes if kind == "error"] == []
    lines = RIGHT.read_text(encoding="utf-8").splitlines()
    stated, revealed = {}, {}
    for number, line in enumerate(lines, 1):
        if "reveal_type(" in line:
            comment = line if "  # " in line else lines[number]
            stated[number] = comment.split("# ", 1)[1]
            ((_, text),) = said[number]
            revealed[number] = re.sub(r"\b[\w.]+\.(?=\w)", "", re.findall(r'is "(.*?)"$', text)[0])
    assert len(stated) > 30
    assert revealed == stated


@checkers
def test_every_mistake_is_found_where_it_is(checker: str, request: pytest.FixtureRequest) -> None:
    said = request.getfixturevalue(checker)[WRONG]
    found = {line for line, notes in said.items() if any(kind == "error" for kind, _ in notes)}
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
