"""How many files of the package a median passes, as a function, in a session, and both: `python -m tests.way_of_a_median`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import dpstats as dp


def files_of(ask: Callable[[], object]) -> set[str]:
    """The files whose functions are called while a question is answered for the second time."""
    ask()
    seen: set[str] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(Path(dp.__file__).parent)):
            seen.add(frame.f_code.co_filename)

    sys.setprofile(watch)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return seen


def main() -> None:
    """Print the three numbers."""
    rows = np.arange(3000.0)  # enough that an interval always has both ends
    session = dp.protect({"x": rows}, unit="row", budget=dp.Budget(epsilon=9), ledger=":memory:")
    epsilons = iter((1, 0.9))
    by_function = files_of(lambda: dp.median(rows, epsilon=1))
    by_session = files_of(lambda: session.median("x", epsilon=next(epsilons)))
    print(len(by_function), len(by_session), len(by_function & by_session))  # noqa: T201


if __name__ == "__main__":
    main()
