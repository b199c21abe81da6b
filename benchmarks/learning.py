"""How good what is learned from private tables is: runs the programs in benchmarks/learning, one after another.

python benchmarks/learning.py [--only itemsets] [what these programs take, such as --adult adult.csv]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Run all programs, or the one that is named after --only; the largest exit code counts."""
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    given = [word for word in arguments if word not in ("--only", only)]
    programs = [path for path in sorted(Path(__file__).with_suffix("").glob("*.py")) if only in ("", path.stem)]
    return max(subprocess.run([sys.executable, str(path), *given], check=False).returncode for path in programs)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
