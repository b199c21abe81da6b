"""Fixtures that more than one room's tests use."""

from __future__ import annotations

pytest_plugins = ["tests.postgres", "tests.spark"]
