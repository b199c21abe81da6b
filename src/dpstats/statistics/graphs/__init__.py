"""Statistics of graphs: of edges, degrees, triangles and stars, for the privacy of an edge or of a node."""
