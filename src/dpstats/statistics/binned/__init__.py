"""Rows counted in bins: where the bins of a column of numbers begin and end, and what is released of them."""
