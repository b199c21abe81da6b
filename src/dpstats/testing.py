"""Randomness that repeats itself, for tests and examples; whatever it touches is marked NOT PRIVATE."""

from dpstats.foundations.randomness import SeededSource, seeded

__all__ = ["SeededSource", "seeded"]
