"""Kernels of rows and of labels by full matrices."""

import numpy as np
from scipy.spatial.distance import cdist


def gaussian(Z, width):
    return np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * width**2))


def label_kernel(codes):
    """Γ by full matrices."""
    Y = np.eye(codes.max() + 1)[codes]
    centred = Y - Y.mean(axis=0)
    return centred @ centred.T
