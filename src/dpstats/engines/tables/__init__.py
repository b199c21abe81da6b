"""Several columns of the same rows, wherever they lie: a table, one in every group, and one of arrays."""
