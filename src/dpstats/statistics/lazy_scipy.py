"""Modules of scipy, each loaded when a name in it is first used: importing dpstats loads none of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _LazyModule:
    """Stands for a module by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


csgraph, optimize, sparse, special, stats = (
    _LazyModule(f"scipy.{name}") for name in ("sparse.csgraph", "optimize", "sparse", "special", "stats")
)
