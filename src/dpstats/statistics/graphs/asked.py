"""All statistics of graphs, by name."""

from __future__ import annotations

from dpstats.statistics.graphs.clustering import CLUSTERING
from dpstats.statistics.graphs.edge_counts import EDGE_COUNT
from dpstats.statistics.graphs.edge_degrees import DEGREE_DISTRIBUTION, DEGREE_SEQUENCE
from dpstats.statistics.graphs.questions import GraphStatistic
from dpstats.statistics.graphs.stars import K_STARS
from dpstats.statistics.graphs.triangles import TRIANGLES

GRAPH_STATISTICS: dict[str, GraphStatistic] = {
    each.name: each for each in (CLUSTERING, DEGREE_DISTRIBUTION, DEGREE_SEQUENCE, EDGE_COUNT, K_STARS, TRIANGLES)
}
