"""Formulas of regressions: from a text to the columns of a design, each a function of one row."""
