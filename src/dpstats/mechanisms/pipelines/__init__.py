"""Propose-test-release functions that can be put together: they run, and they know what they cost."""
