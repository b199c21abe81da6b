"""Synthetic rows: a model of all columns is fitted to released tables, and rows are drawn from it. It never sees private data."""
