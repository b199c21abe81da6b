"""The first step of what learns from rows without bounds: a private frame of their columns."""
