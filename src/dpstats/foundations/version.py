"""The version of this release of dpstats."""

from __future__ import annotations

VERSION = "0.1.0"
