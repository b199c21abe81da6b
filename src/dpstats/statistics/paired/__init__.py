"""Two columns of the same rows: products of clipped rows, orders of pairs and triples of rows, and what they say together."""
