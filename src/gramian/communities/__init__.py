"""Communities of a network, from an edge list to a model for new nodes, with what holds them together and bridges them.

An application of the tasks, which it uses by their public names; :mod:`gramian.report` shows what it finds.
"""

from gramian.communities.analyse import divide
from gramian.communities.edges import Edges, UnreadableEdges
from gramian.communities.layout import Layout, lay_out
from gramian.communities.model import CommunityModel, Placed, load_community_model
from gramian.communities.reading import read_edges
from gramian.communities.result import Bridge, Community, Division, Level, Partition

__all__ = [
    "Bridge",
    "Community",
    "CommunityModel",
    "Division",
    "Edges",
    "Layout",
    "Level",
    "Partition",
    "Placed",
    "UnreadableEdges",
    "divide",
    "lay_out",
    "load_community_model",
    "read_edges",
]
