"""Frequent itemsets: combinations of values that many rows share, and rules made of them."""
