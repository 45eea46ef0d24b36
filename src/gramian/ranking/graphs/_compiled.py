"""Loops over the edges of a graph, compiled by numba when they are first used.

Indices of 32 bits come in as unsigned numbers, because for signed ones the compiler must provide for negative indices
in the innermost loop. Every function here has a counterpart in SciPy or NumPy where it is called, for machines
without numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gramian.typing import Array


@njit(nogil=True, cache=True)
def gather(indptr: Array, indices: Array, x: Array, out: Array, start: int, stop: int) -> None:
    """out[i] = Σ over the entries k of row i of x[k], for rows start to stop; all weights are one."""
    for i in range(start, stop):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += x[indices[k]]
        out[i - start] = total


@njit(nogil=True, cache=True)
def gather_block(indptr: Array, indices: Array, X: Array, out: Array, start: int, stop: int) -> None:
    """The same for the rows of a block X."""
    for i in range(start, stop):
        total = out[i - start]
        total[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            row = X[indices[k]]
            for c in range(X.shape[1]):
                total[c] += row[c]


@njit(nogil=True, cache=True)
def sweep(
    indptr: Array,
    indices: Array,
    weights: Array,
    scale: float,
    degrees: Array,
    sink: Array,
    names: Array,
    seeds: Array,
    seeded: Array,
    x: Array,
    stuck: Array,
    factor: Array,
    restart: float,
    relaxation: float,
    dangling: int,
    moved: Array,
    mass: Array,
) -> None:
    """One Gauss–Seidel sweep over all nodes, for the w columns of a panel together.

    Row i of the matrix holds the edges into node i, with ``weights`` times ``scale``, or one if ``weights`` is empty.
    x (n, w), in float32 or float64, are the scores over the degrees (over one, for sinks), and ``stuck`` (w,) the sums
    of the scores of the sinks. Node i restarts with ``factor`` times row ``names[i]`` of ``seeds``, read only where
    ``seeded``. ``dangling`` is 0, 1, 2 or 3 for mass that goes everywhere, to the seeds, nowhere, or is no concern.
    Writes x, ``stuck``, and for each column the L1 length of the step, ``moved``, and the sum of the scores, ``mass``.
    """
    n, width = x.shape
    number = x.dtype.type
    onward = 1.0 - restart
    total = np.empty(width, x.dtype)
    moved[:] = 0.0
    mass[:] = 0.0
    for i in range(n):
        begin, end = indptr[i], indptr[i + 1]
        if width == 1:
            flow = 0.0
            if len(weights):
                for k in range(begin, end):
                    flow += weights[k] * scale * x[indices[k], 0]
            else:
                for k in range(begin, end):
                    flow += x[indices[k], 0]
            total[0] = flow
        else:
            total[:] = 0.0
            for k in range(begin, end):
                row = x[indices[k]]
                if len(weights):
                    weight = number(weights[k] * scale)
                    for c in range(width):
                        total[c] += weight * row[c]
                else:
                    for c in range(width):
                        total[c] += row[c]
        if dangling == 0:
            for c in range(width):
                total[c] += stuck[c] / n
        if seeded[i]:
            for c in range(width):
                again = restart * factor[c] / onward + (stuck[c] if dangling == 1 else 0.0)
                total[c] += again * seeds[names[i], c]
        own, degree, relaxed = x[i], number(degrees[i]), number(relaxation)
        share = number(onward / degrees[i])
        if dangling == 2 and sink[i]:
            share /= number(restart)
        for c in range(width):
            change = relaxed * (share * total[c] - own[c])
            own[c] += change
            moved[c] += abs(change) * degree
            mass[c] += own[c] * degree
            if sink[i]:
                stuck[c] += change


@njit(nogil=True, cache=True)
def join_neighbours(indptr: Array, indices: Array, labels: Array, counts: Array) -> None:
    """Every node in turn takes the label most frequent among its neighbours; ``counts`` are n zeros, and stay so."""
    for i in range(len(labels)):
        most = 0
        best = labels[i]
        for k in range(indptr[i], indptr[i + 1]):
            label = labels[indices[k]]
            counts[label] += 1
            if counts[label] > most:
                most = counts[label]
                best = label
        for k in range(indptr[i], indptr[i + 1]):
            counts[labels[indices[k]]] = 0
        labels[i] = best


@njit(nogil=True, cache=True)
def transpose_pattern(indptr: Array, indices: Array, pointers: Array, columns: Array) -> None:
    """The CSR pattern of the transpose into ``pointers`` (n + 1 zeros) and ``columns``; its rows come out sorted."""
    n = len(indptr) - 1
    for k in range(len(indices)):
        pointers[indices[k] + np.uint32(1)] += 1
    for j in range(n):
        pointers[j + 1] += pointers[j]
    place = pointers[:-1].copy()
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            columns[place[j]] = i
            place[j] += 1


@njit(nogil=True, cache=True)
def is_symmetric(
    indptr: Array, indices: Array, weights: Array, place: Array, start: int, stop: int, relative: float
) -> bool:
    """Whether every entry (i, j) of rows start to stop has a mirror image; ``weights`` may be empty, for all ones.

    Rows are sorted, so as i grows the mirror images are met in each row j from left to right: one cursor per row,
    ``place``, says which entry of row j is next. It must point behind the entries left of column ``start``.
    """
    for i in range(start, stop):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            mirror = place[j]
            if mirror >= indptr[j + np.uint32(1)] or indices[mirror] != i:
                return False
            if len(weights) and abs(weights[k] - weights[mirror]) > relative * weights[k]:
                return False
            place[j] = mirror + 1
    return True


@njit(nogil=True, cache=True)
def first_from(indptr: Array, indices: Array, column: int, place: Array) -> None:
    """The position in each sorted row of the first entry at or right of ``column``, by bisection."""
    for i in range(len(indptr) - 1):
        low, high = np.int64(indptr[i]), np.int64(indptr[i + 1])
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < column:
                low = middle + 1
            else:
                high = middle
        place[i] = low


@njit(nogil=True, cache=True)
def push(
    indptr: Array,
    indices: Array,
    weights: Array,
    scores: Array,
    residual: Array,
    back: Array,
    shares: Array,
    touched: Array,
    n_touched: int,
    queued: Array,
    queue: Array,
    threshold: float,
    restart: float,
    dangling: int,
    budget: int,
) -> tuple[int, float, int]:
    """Push every node whose residual per edge exceeds ``threshold``, first come first served.

    ``back`` and ``shares`` are the seeds and their weights; ``dangling`` is 0 for mass that waits to be spread
    uniformly, 1 for mass that returns to the seeds, 2 for mass that stays. Stops after ``budget`` edges. Returns
    the number of touched nodes, the mass that waits and the number of edges; a negative number of edges means that
    node ``-1 - edges`` has weights that are negative or, one or together, not finite.
    """
    n = len(scores)
    head = 0
    length = 0
    for t in range(n_touched):
        i = touched[t]
        if residual[i] > threshold * max(1, indptr[i + 1] - indptr[i]):
            queue[length] = i
            queued[i] = 2
            length += 1
    waiting = 0.0
    edges = 0
    while length > 0 and edges <= budget:
        i = queue[head]
        head = head + 1 if head + 1 < n else 0
        length -= 1
        queued[i] = 1
        mass = residual[i]
        residual[i] = 0.0
        begin, end = indptr[i], indptr[i + 1]
        total = float(end - begin)
        if len(weights):
            total = 0.0
            for k in range(begin, end):
                total += weights[k]
                if not weights[k] >= 0.0:
                    return n_touched, waiting, -1 - i
            if total == np.inf:
                return n_touched, waiting, -1 - i
        edges += end - begin
        if total == 0.0 and dangling == 2:
            scores[i] += mass
            continue
        scores[i] += restart * mass
        mass *= 1.0 - restart
        if total == 0.0 and dangling == 0:
            waiting += mass
            continue
        count = len(back) if total == 0.0 else end - begin
        for k in range(count):
            if total == 0.0:
                j = back[k]
                residual[j] += mass * shares[k]
            else:
                j = np.int64(indices[begin + k])
                residual[j] += mass * weights[begin + k] / total if len(weights) else mass / total
            if queued[j] == 0:
                queued[j] = 1
                touched[n_touched] = j
                n_touched += 1
            if queued[j] == 1 and residual[j] > threshold * max(1, indptr[j + 1] - indptr[j]):
                tail = head + length
                queue[tail if tail < n else tail - n] = j
                queued[j] = 2
                length += 1
    while length > 0:
        queued[queue[head]] = 1
        head = head + 1 if head + 1 < n else 0
        length -= 1
    return n_touched, waiting, edges
