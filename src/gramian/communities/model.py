"""What is kept of a network to place nodes that come later."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator

from gramian.communities.edges import Edges
from gramian.exploration.wording import count
from gramian.persistence import load_whole
from gramian.typing import Array, Matrix


@dataclass(frozen=True)
class Placed:
    """New nodes and where they belong.

    Attributes
    ----------
    nodes : list of str
    labels : ndarray (n_new,)
        Communities as in the model; 0 for none.
    membership : ndarray (n_new,)
        Share of its weight to nodes of the model that goes to its community.
    degree : ndarray (n_new,)
        Weight of its edges to nodes of the model.
    levels : list of ndarray (n_new,)
    notes : list of str
        One for each node, "" for most.
    remarks : list of str
        What was not used, in plain words.
    """

    nodes: list[str]
    labels: Array
    membership: Array
    degree: Array
    levels: list[Array]
    notes: list[str]
    remarks: list[str]


class CommunityModel(BaseEstimator):
    """Communities of a network whose nodes have names.

    Made by :func:`gramian.communities.divide` and saved as ``model.gramian``. Communities are counted from 1, largest
    first.

    Parameters
    ----------
    clusterer : NetworkKSC
        Fitted on the network.
    levels : MultilevelKSC, optional
        Fitted on the same network.

    Attributes
    ----------
    names_ : ndarray of bytes
        All names of nodes, one after the other, in UTF-8.
    stops_ : ndarray (n,)
        Where each ends.
    numbers_ : ndarray (number of communities,)
        The number of each label of the clusterer.
    level_numbers_ : list of ndarrays
    modularity_ : float
    """

    def __init__(self, clusterer: Any = None, levels: Any = None) -> None:
        self.clusterer = clusterer
        self.levels = levels

    def remember(self, nodes: Sequence[str], numbers: Array, level_numbers: list[Array], modularity: float) -> None:
        """Keep the names of the nodes and the numbers of the communities."""
        encoded = [name.encode("utf-8", "surrogatepass") for name in nodes]
        self.names_ = np.frombuffer(b"".join(encoded), dtype=np.uint8).copy()
        self.stops_ = np.cumsum([len(name) for name in encoded], dtype=np.int64)
        self.numbers_, self.level_numbers_, self.modularity_ = numbers, level_numbers, modularity

    @property
    def nodes(self) -> list[str]:
        """Names of the fitted nodes."""
        text, stops = self.names_.tobytes(), self.stops_.tolist()
        return [
            text[start:stop].decode("utf-8", "surrogatepass")
            for start, stop in zip([0, *stops[:-1]], stops, strict=True)
        ]

    def place(self, edges: Edges) -> Placed:
        """Place the nodes of new edges that the model does not know, by their edges to nodes that it knows."""
        known = {name: place for place, name in enumerate(self.nodes)}
        place = np.array([known.get(name, -1) for name in edges.nodes], dtype=np.int64)
        fresh = np.flatnonzero(place < 0)
        if not len(fresh):
            raise ValueError(
                f"{edges.source}: all {count(len(place), 'node')} are in the model; nodes.csv has their communities"
            )
        row = np.full(len(place), -1)
        row[fresh] = np.arange(len(fresh))
        one, other = edges.ends
        new = (place[one] < 0).astype(int) + (place[other] < 0)
        mixed = new == 1
        turned = place[one] >= 0
        rows, columns = np.where(turned, row[other], row[one])[mixed], np.where(turned, place[one], place[other])[mixed]
        given = csr_array((edges.weights[mixed], (rows, columns)), shape=(len(fresh), len(known)))
        given.eliminate_zeros()
        labels = self._labels(self.clusterer.predict, given)
        degree = np.asarray(given.sum(axis=1)).ravel()
        numbers = numbered(self.numbers_, labels)
        weights = community_weights(given, numbered(self.numbers_, self.clusterer.labels_), len(self.numbers_))
        inside = weight_to(weights, numbers)
        levels = [
            numbered(own, self._labels(lambda X, level=level: self.levels.predict(X, level), given))
            for level, own in enumerate(self.level_numbers_)
        ]
        loops = one == other
        among = int(((new == 2) & ~loops).sum())
        remarks = [
            f"{count(n, f'edge {what} is', f'edges {what} are')} not used"
            for n, what in ((among, "among new nodes"), (int(((new == 0) & ~loops).sum()), "among nodes of the model"))
            if n
        ]
        if lost := int((numbers == 0).sum()):
            remarks.append(f"{count(lost, 'node has', 'nodes have')} no edge to a node of the model and no community")
        return Placed(
            [edges.nodes[i] for i in fresh.tolist()],
            numbers,
            np.divide(inside, degree, out=np.zeros_like(degree), where=degree > 0),
            degree,
            levels,
            _notes(numbers, weights),
            remarks,
        )

    def _labels(self, predict: Any, given: Matrix) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # nodes without a known neighbour are noted
            labels: Array = predict(given)
        return labels

    def facts(self) -> dict[str, Any]:
        """What ``gramian info`` says of it."""
        told: dict[str, Any] = {"communities": len(self.numbers_), "nodes fitted": len(self.stops_)}
        told |= {"modularity": f"{self.modularity_:.4g}"}
        return told | ({"levels": [str(len(own)) for own in self.level_numbers_]} if self.level_numbers_ else {})

    def check(self) -> None:
        """Raise an error if a part is missing or does not fit the others: place a node."""
        n = len(self.stops_)
        if len(self.clusterer.labels_) != n or (n and self.stops_[-1] != len(self.names_)):
            raise ValueError("its parts disagree on the number of nodes")
        if len(self.numbers_) <= self.clusterer.labels_.max():
            raise ValueError("its parts disagree on the number of communities")
        if len(self.level_numbers_) != (len(self.levels.levels_) if self.levels is not None else 0):
            raise ValueError("its parts disagree on the levels")
        self.modularity_ = float(self.modularity_)
        first = csr_array(([1.0], ([0], [0])), shape=(1, n))
        self._labels(self.clusterer.predict, first)
        if self.levels is not None:
            self._labels(self.levels.predict, first)


def numbered(numbers: Array, labels: Array) -> Array:
    """Communities from 1 for labels from 0; 0 for −1."""
    found: Array = np.concatenate([[0], numbers])[labels + 1]
    return found


def weight_to(weights: Matrix, numbers: Array) -> Array:
    """The entry of each row in the column that is named for it."""
    entries = coo_array(weights)
    row, column = entries.coords
    own = column == numbers[row]
    return np.bincount(row[own], entries.data[own], len(numbers))


def community_weights(rows: Matrix, numbers: Array, k: int) -> Matrix:
    """Weight of the edges of each row to each of the communities 1 to k, and to nodes without one; CSR (r, k + 1)."""
    n = len(numbers)
    return csr_array(rows @ csr_array((np.ones(n), (np.arange(n), numbers)), shape=(n, k + 1)))


def _notes(numbers: Array, weights: Matrix) -> list[str]:
    """What is unusual about each new node."""
    most = np.asarray(weights.argmax(axis=1)).ravel()
    own = weight_to(weights, numbers)
    top = weights.max(axis=1).toarray().ravel()
    return [
        "no edge to a node of the model" if not number else f"most of its edges go to community {best}" if less else ""
        for number, best, less in zip(numbers.tolist(), most.tolist(), (own < top).tolist(), strict=True)
    ]


def load_community_model(path: str | os.PathLike[str]) -> CommunityModel:
    """Read the model of a network, and check that it is complete.

    Parameters
    ----------
    path : str or path-like
        A ``model.gramian``.

    Returns
    -------
    model : CommunityModel

    Raises
    ------
    ModelFileError
        If the file is no model file, holds another model, or a model that lacks one of its parts.
    """
    return load_whole(path, CommunityModel, writer="network", again="read the network again")
