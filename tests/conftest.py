"""Fixtures that more than one room's tests use, and how every hypothesis test runs."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.postgres", "tests.spark"]

# No verdict depends on how fast or how busy the machine is, and none on luck. `--hypothesis-profile=search` draws new examples.
settings.register_profile("anywhere", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", settings.get_profile("anywhere"), derandomize=False)
settings.load_profile("anywhere")
