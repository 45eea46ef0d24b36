"""Local moves of modularity, one node after the other.

Plain Python on arrays, which :func:`gramian.clustering.networks.refinement.refined` compiles by numba where that is
installed; without it the same lines give the same answer in more time.
"""

from __future__ import annotations

import numpy as np

from gramian.typing import Array


def move_nodes(
    indptr: Array,
    indices: Array,
    weights: Array,
    degrees: Array,
    labels: Array,
    volumes: Array,
    sizes: Array,
    most: int,
) -> int:
    """Move nodes to the neighbouring community that raises modularity most, until none does; returns the moves.

    Node i in community a gains by going to b, in units of 2 / Σ degrees,

        w_ib − d_i vol_b / Σ_j d_j  −  (w_ia − d_i (vol_a − d_i) / Σ_j d_j),

    where w_ic is the weight of its edges into c. Nodes are looked at in their order, and again after a neighbour has
    left; when nobody waits all are looked at once more, for volumes have changed. A community keeps its last node, so
    that there stay as many as before. ``labels``, ``volumes`` and ``sizes`` of the communities are written; after
    ``most`` moves it stops.
    """
    n = len(labels)
    total = 0.0
    for i in range(n):
        total += degrees[i]
    links = np.zeros(len(volumes))
    touched = np.empty(len(volumes), np.int64)
    queue = np.arange(n)
    waits = np.empty(n, np.bool_)
    moves = 0
    before = -1
    while before < moves < most:
        before = moves
        for i in range(n):
            queue[i] = i
            waits[i] = True
        head = 0
        length = n
        while length > 0 and moves < most:
            i = queue[head]
            head = head + 1 if head + 1 < n else 0
            length -= 1
            waits[i] = False
            own = labels[i]
            if sizes[own] == 1:
                continue
            count = 0
            for entry in range(indptr[i], indptr[i + 1]):
                c = labels[indices[entry]]
                if weights[entry] <= 0.0:
                    continue  # it would be entered again and again, beyond the end of the list
                if links[c] == 0.0:
                    touched[count] = c
                    count += 1
                links[c] += weights[entry]
            share = degrees[i] / total
            best = own
            most_gain = links[own] - share * (volumes[own] - degrees[i]) + 1e-12 * degrees[i]
            for t in range(count):
                c = touched[t]
                if c != own:
                    gain = links[c] - share * volumes[c]
                    if gain > most_gain or (gain == most_gain and best != own and c < best):
                        most_gain = gain
                        best = c
            for t in range(count):
                links[touched[t]] = 0.0
            if best == own:
                continue
            labels[i] = best
            volumes[own] -= degrees[i]
            volumes[best] += degrees[i]
            sizes[own] -= 1
            sizes[best] += 1
            moves += 1
            for entry in range(indptr[i], indptr[i + 1]):
                j = indices[entry]
                if weights[entry] > 0.0 and not waits[j] and labels[j] != best:
                    waits[j] = True
                    place = head + length
                    queue[place if place < n else place - n] = j
                    length += 1
    return moves
