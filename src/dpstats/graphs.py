"""Private statistics of graphs: `dp.graphs.triangles(graph, nodes=4039, protect="edge", epsilon=1)`."""
from __future__ import annotations
