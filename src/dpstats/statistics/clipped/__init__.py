"""Sums of rows that are cut off at privately found limits: the clip, the noisy cells, and what they say."""
