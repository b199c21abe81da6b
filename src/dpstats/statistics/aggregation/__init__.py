"""Sample and aggregate: rows in random blocks, one answer of each block, and private ways to make one answer of them."""
