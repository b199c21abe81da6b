"""For tests that protect one table in several ways: a process remembers the accounts of tables that it protected in memory."""

from __future__ import annotations

from dpstats.curator import memory_ledgers


def forget_ledgers_in_memory() -> None:
    """Let every table have a fresh account, as in a new process."""
    memory_ledgers._LEDGERS.clear()
