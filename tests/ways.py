"""How many files of the package a question passes: `python -m tests.ways`.

Each question is asked once before, so that nothing counts that is done once, and then three times: files count whose functions
are called each time, in whichever thread of this process. What a worker of the service does in its own process does not count.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np

import dpstats as dp

TIMES = 3
HOUSE = str(Path(dp.__file__).parent)


class Watch:
    """The files whose functions are called while it is on."""

    def __init__(self) -> None:
        self.seen: set[str] | None = None
        threading.setprofile(self)  # threads that are yet to start
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        seen = self.seen  # another thread may switch the watch off meanwhile
        if seen is not None and event == "call" and frame.f_code.co_filename.startswith(HOUSE):
            seen.add(frame.f_code.co_filename)

    def files_of(self, ask: Callable[[], object]) -> set[str]:
        """The files that a question passes each time, but for the first."""
        ask()
        return set.intersection(*(self._seen_by(ask) for _ in range(TIMES)))

    def _seen_by(self, ask: Callable[[], object]) -> set[str]:
        seen = self.seen = set()
        try:
            ask()
        finally:
            self.seen = None
        return seen


def ways(watch: Watch) -> dict[str, set[str]]:
    """The files that each kind of question passes, by what it is called."""
    rows = np.arange(3000.0)  # enough that an interval always has both ends
    table = {"x": rows, "g": np.tile(["a", "b", "c"], 1000)}
    survey = dp.protect(table, unit="row", budget=dp.Budget(epsilon=9), ledger=":memory:")
    groups = survey.group_by("g", keys=["a", "b", "c"])
    epsilons = (number / 10 for number in itertools.count(1))
    with _post() as post:
        return {
            "function": watch.files_of(lambda: dp.median(rows, epsilon=1)),
            "session": watch.files_of(lambda: survey.median("x", epsilon=next(epsilons))),
            "grouped mean": watch.files_of(lambda: groups.mean("x", epsilon=next(epsilons))),
            "web POST": watch.files_of(post),
        }


@contextmanager
def _post() -> Iterator[Callable[[], None]]:
    """Asks the demo's service for a median, by a program's POST."""
    from tests.web.conftest import served

    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as service:
        epsilons = (f"0.1{number}" for number in itertools.count(1))
        client = service.with_token("ana")

        def post() -> None:
            document = {"version": 1, "statistic": "median", "columns": ["income"], "epsilon": next(epsilons)}
            assert client.post("/d/survey/questions", json={"document": document}).is_success

        yield post


if __name__ == "__main__":
    for name, files in ways(Watch()).items():
        print(f"{name}: {len(files)}")  # noqa: T201
