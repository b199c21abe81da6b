"""The version of this release of dpstats."""

from __future__ import annotations

__version__ = "0.1.0"
