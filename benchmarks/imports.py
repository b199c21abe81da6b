"""How long `import dpstats` takes, against numpy alone: it should stay under twice numpy's own."""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 15
PEERS = ("numpy", "dpstats", "diffprivlib.tools", "pydp", "opendp.prelude")


def seconds_to_import(module: str) -> float | None:
    """The best of some fresh interpreters, less the time that an empty one takes; None where it is not installed."""
    best = {"": float("inf"), module: float("inf")}
    for _ in range(REPEATS):
        for name in best:
            start = time.perf_counter()
            code = f"import {name}" if name else "pass"
            if subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, check=False).returncode:
                return None
            best[name] = min(best[name], time.perf_counter() - start)
    return best[module] - best[""]


def main() -> None:
    print(f"{'module':<20} {'ms':>8}   {'of numpy':>8}")
    numpy_seconds = seconds_to_import("numpy") or float("nan")
    for module in PEERS:
        seconds = seconds_to_import(module)
        if seconds is None:
            print(f"{module:<20} {'-':>8}   not installed")
        else:
            print(f"{module:<20} {1000 * seconds:>8.0f}   {seconds / numpy_seconds:>7.2f}x")


if __name__ == "__main__":
    main()
