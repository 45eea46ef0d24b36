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
from gramian.deep.generative_rkm import GenerativeRKM
from gramian.deep.kernel_autoencoder import KernelAutoencoder
from gramian.deep.kernel_net import KernelNetClustering
from gramian.deep.kernel_net_objective import select_subset_size
from gramian.deep.losses import alignment_distance, ideal_kernel, kernel_alignment
from gramian.deep.multiview_divergence import MultiViewDivergenceClustering
from gramian.deep.multiview_network import MultiViewNetworkRegressor
from gramian.deep.neural_kernel import NeuralKernelClassifier, NeuralKernelRegressor
from gramian.deep.stiefel_rkm import StiefelRKM
from gramian.deep.votes import align_labels, vote_labels

__all__ = [
    "DEC",
    "IDEC",
    "DivergenceClustering",
    "GenerativeRKM",
    "KernelAutoencoder",
    "KernelNetClustering",
    "MultiViewDivergenceClustering",
    "MultiViewNetworkRegressor",
    "NeuralKernelClassifier",
    "NeuralKernelRegressor",
    "StackedAutoencoder",
    "StiefelRKM",
    "align_labels",
    "alignment_distance",
    "cauchy_schwarz_divergence",
    "ideal_kernel",
    "kernel_alignment",
    "select_subset_size",
    "simplex_corner_similarity",
    "simplex_orthogonality",
    "vote_labels",
]
