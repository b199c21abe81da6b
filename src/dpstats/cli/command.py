"""One command of the command line: its name, its help, its arguments, and what runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A row of the table in `main`."""

    name: str
    summary: str
    description: Callable[[], str]
    """The text above the arguments in `--help`; made when asked for, because it may list the statistics."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    """Does it and returns the exit code."""
