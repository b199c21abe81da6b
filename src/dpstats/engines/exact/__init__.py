"""Exact summaries of rows in memory: windows of order statistics, ranks, sums, tallies."""
