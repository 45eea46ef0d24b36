"""Embeddings: kernel PCA, its robust and entropy-based variants, and directions shared by two views."""

from typing import TYPE_CHECKING

from gramian.deferred import deferred

if TYPE_CHECKING:
    from gramian.embedding.kernel_cca import KernelCCA
    from gramian.embedding.kernel_component_analysis import KernelComponentAnalysis
    from gramian.embedding.kernel_eca import KernelECA
    from gramian.embedding.kernel_pca import KernelPCA
    from gramian.embedding.kernel_pls import KernelPLS

__all__ = ["KernelCCA", "KernelComponentAnalysis", "KernelECA", "KernelPCA", "KernelPLS"]

_HOMES = {
    ".kernel_cca": ("KernelCCA",),
    ".kernel_component_analysis": ("KernelComponentAnalysis",),
    ".kernel_eca": ("KernelECA",),
    ".kernel_pca": ("KernelPCA",),
    ".kernel_pls": ("KernelPLS",),
}

__getattr__, __dir__ = deferred(__name__, _HOMES)
