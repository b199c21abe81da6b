"""Whether results hang on the processor: the float-sensitive tests under processor features turned down, and few or many threads.

    python -m tests.anywhere            the golden releases and the float-sensitive tests, under every setting
    python -m tests.anywhere tests/cli  these tests instead

A setting takes away what newer processors add: numpy's vector loops, OpenBLAS's kernels, and the fused operations in exponentials
and logarithms of the C library. What a processor lacks cannot be switched on, so run it on the newest one at hand. It runs before
each release; `make test` has the documents and the seeded releases under the oldest setting alone (tests/test_anywhere.py).
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.files import RELEASES, kept_lines

ROOT = Path(__file__).parents[1]
FLOAT_SENSITIVE = [
    "tests/test_readme.py",
    "tests/test_errata.py",
    "tests/test_examples.py",
    "tests/test_selecting.py",
    "tests/test_formula_regression.py",
    "tests/models",
    "tests/pictures",
    "tests/foundations",
    "tests/statistics",
]
KNOWN_TO_DIFFER = ("groups/logistic_regression",)
"""Golden releases that go by the kernels of linear algebra: where a direction is weak, the steps of a regression enlarge the last
digit of an inverse (5e-6 of the intercept here). Regressions in whole numbers would end that."""
_NO_FUSED = "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL"
_KERNELS = {"Nehalem": "SSE42", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512F"}
"""Kernels of OpenBLAS with what a processor must have to run them."""


def settings() -> dict[str, dict[str, str]]:
    """Environments by name: as it is, and older processors as far as this one can stand in for them."""
    umath: Any = getattr(np, "_core" if hasattr(np, "_core") else "core")._multiarray_umath  # the second for numpy 1
    found = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    widest = [name for name in found if name.startswith(("X86_V4", "AVX512"))]
    known = {
        "as it is": {},
        "oldest, 1 thread": _environment(found, "Nehalem", 1) | {"GLIBC_TUNABLES": _NO_FUSED},
        "Haswell, 1 thread": _environment(widest, "Haswell", 1),
        "Zen, 4 threads": _environment(widest, "Zen", 4),
        "SkylakeX, 4 threads": _environment([], "SkylakeX", 4),
    }
    runs = platform.machine() in ("x86_64", "AMD64")
    able = {name for name, needed in _KERNELS.items() if runs and umath.__cpu_features__.get(needed)}
    return {name: each for name, each in known.items() if each.get("OPENBLAS_CORETYPE") in (*able, None)}


def _environment(disabled: list[str], kernels: str, threads: int) -> dict[str, str]:
    limits = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(disabled), "OPENBLAS_CORETYPE": kernels, **limits}


def releases(setting: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of golden releases by name, made in a process of its own under a setting."""
    return numbers_of(_said_under(setting, "tests.golden.releases"))


def numbers_of(lines: Iterable[str]) -> dict[str, Any]:
    """The numbers in lines of golden releases, by name."""
    read = map(json.loads, lines)
    return {line["name"]: line["numbers"] for line in read if line["name"] not in KNOWN_TO_DIFFER}


def changed_lines(setting: Mapping[str, str], documents: Sequence[Path]) -> list[str]:
    """The lines of documents that come out otherwise in a process of its own under a setting."""
    return _said_under(setting, "tests.documents", "--compare", *map(str, documents))


def _said_under(setting: Mapping[str, str], module: str, *arguments: str) -> list[str]:
    """The lines that a module prints in a process of its own under a setting."""
    command = [sys.executable, "-m", module, *arguments]
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": path, **setting}
    )
    return run.stdout.splitlines()


def differences(one: Any, other: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two plain values differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differences(one[name], other[name], f"{place}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for each, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from differences(first, second, f"{place}[{each}]")
    elif one != other:
        yield place, one, other


def main(tests: list[str]) -> int:
    """Run everything under every setting; the number of settings with a complaint."""
    complaints, golden = 0, numbers_of(kept_lines(RELEASES).values())
    for name, setting in settings().items():
        found = list(differences(golden, releases(setting)))
        print(f"{name}: {len(golden)} seeded releases, {len(found)} numbers differ")  # noqa: T201
        for place, one, other in found:
            print(f"  {place}: {one} {other}")  # noqa: T201
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *(tests or FLOAT_SENSITIVE)]
        code = subprocess.run(command, check=False, cwd=ROOT, env={**os.environ, **setting}).returncode
        print(f"{name}: the tests {'pass' if not code else 'FAIL'}", flush=True)  # noqa: T201
        complaints += bool(found) or bool(code)
    return complaints


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
