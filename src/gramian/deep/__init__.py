"""Networks that learn a kernel, an embedding or clusters: torch inside, NumPy outside.

Needs the extra ``gramian[deep]``.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":  # torch is there and lacks a library of its own
        raise
    raise ModuleNotFoundError('gramian.deep needs torch; pip install "gramian[deep]"', name="torch") from error

from gramian.deep.autoencoder import StackedAutoencoder
from gramian.deep.cluster_losses import cauchy_schwarz_divergence, simplex_corner_similarity, simplex_orthogonality
from gramian.deep.divergence import DivergenceClustering
from gramian.deep.embedded import DEC, IDEC
from gramian.deep.kernel_autoencoder import KernelAutoencoder
from gramian.deep.losses import alignment_distance, ideal_kernel, kernel_alignment
from gramian.deep.votes import align_labels, vote_labels

__all__ = [
    "DEC",
    "IDEC",
    "DivergenceClustering",
    "KernelAutoencoder",
    "StackedAutoencoder",
    "align_labels",
    "alignment_distance",
    "cauchy_schwarz_divergence",
    "ideal_kernel",
    "kernel_alignment",
    "simplex_corner_similarity",
    "simplex_orthogonality",
    "vote_labels",
]
