"""Contingency tables: all tables of some columns at once, which agree with each other."""
