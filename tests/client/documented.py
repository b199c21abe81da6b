"""The service that docs/client.md talks to: the demo, in this process, with noise that the document fixes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from dpstats.web.demo import ANALYST
from tests.web.conftest import served


def start_demo() -> tuple[str, str, Callable[[], None]]:
    """The address of a demo in the current folder, a token of its analyst, and what stops it."""
    folder = Path("demo").absolute()
    folder.mkdir()
    stack = ExitStack()
    service = stack.enter_context(served(folder))
    service.office.ledger.make_key()
    return service.origin, service.token(ANALYST, actions=["read", "ask"]), stack.close
