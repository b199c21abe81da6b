"""The container file, as far as it can be checked without an engine: what it copies is there, what it installs is locked."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = re.sub(r"\\\n\s*", "", (ROOT / "Containerfile").read_text()).splitlines()


def steps(word: str) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in LINES if line.startswith(f"{word} ")]


def test_what_is_copied_is_there_and_let_in() -> None:
    let_in = {line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    copied = [name for step in steps("COPY") if not step.startswith("--from") for name in step.split()[:-1]]
    assert copied
    assert set(copied) == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_packages_are_those_of_the_lock_and_nothing_else_is_fetched() -> None:
    installs = [step for step in steps("RUN") if "pip install" in step]
    assert len(installs) == 2
    assert "--require-hashes -r requirements-web.lock" in installs[0]
    assert "--no-deps --no-build-isolation ." in installs[1]
    assert not re.search(r"https?://(?!127\.0\.0\.1)", "\n".join(LINES))


def test_the_service_does_not_run_as_root_and_serves_its_folder() -> None:
    assert steps("USER") == ["curator"]
    assert LINES.index("USER curator") < next(place for place, line in enumerate(LINES) if line.startswith("ENTRYPOINT"))
    assert steps("CMD") == ['["serve", "catalog.toml", "--host", "0.0.0.0", "--no-browser"]']
