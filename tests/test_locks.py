"""The requirement files are pinned, hashed, agree with each other and name no host."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("requirements*.lock"))}


def pins(text: str) -> dict[str, set[str]]:
    """The versions of each package; a package may have one for each range of Pythons."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", text, re.MULTILINE):
        versions.setdefault(name, set()).add(version)
    return versions


def test_there_are_locks_to_check() -> None:
    assert {"requirements.lock", "requirements-dev.lock", "requirements-bench.lock"} <= LOCKS.keys()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host_and_no_path(name: str) -> None:
    assert re.findall(r"://|file:|--\S*index|--find-links|--trusted|^/|\s/", LOCKS[name]) == []


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_has_a_version_and_hashes(name: str) -> None:
    for entry in re.split(r"\n(?=\S)", LOCKS[name].strip()):
        assert re.match(r"[A-Za-z0-9._-]+==\S+( ; [^\\]+)? \\\n    --hash=sha256:[0-9a-f]{64}", entry), entry.splitlines()[0]


@pytest.mark.parametrize("name", LOCKS)
def test_locks_agree_on_every_shared_package(name: str) -> None:
    everything = pins(LOCKS["requirements-dev.lock"])
    assert {
        package: versions for package, versions in pins(LOCKS[name]).items() if everything.get(package, versions) != versions
    } == {}


def test_the_locks_hold_the_build_backend_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (backend,) = project["build-system"]["requires"]
    for name in ("requirements.lock", "requirements-dev.lock"):
        assert f"{backend} " in LOCKS[name]


def test_an_older_python_is_refused_before_packages_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip asks the build about a folder first; only its newer versions then look at requires-python before all dependencies."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    major, minor = map(int, needed.removeprefix(">=").split("."))
    monkeypatch.setattr(sys, "version_info", (major, minor - 1, 0, "final", 0))
    with pytest.raises(SystemExit, match=f"needs Python {major}.{minor} or newer, and this is Python {major}.{minor - 1}."):
        runpy.run_path(str(ROOT / "setup.py"))
    monkeypatch.setattr(sys, "version_info", (major, minor, 0, "final", 0))
    called: list[str] = []
    monkeypatch.setitem(sys.modules, "setuptools", SimpleNamespace(setup=lambda: called.append("setup")))
    runpy.run_path(str(ROOT / "setup.py"))
    assert called == ["setup"]
