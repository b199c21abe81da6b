"""Graphs as somebody hands them over, read into arrays."""
