"""Vectors from similarities: kernel PCA, its robust and entropic relatives, and directions shared by two views."""

from gramian.embedding.kernel_cca import KernelCCA
from gramian.embedding.kernel_component_analysis import KernelComponentAnalysis
from gramian.embedding.kernel_eca import KernelECA
from gramian.embedding.kernel_pca import KernelPCA
from gramian.embedding.kernel_pls import KernelPLS

__all__ = ["KernelCCA", "KernelComponentAnalysis", "KernelECA", "KernelPCA", "KernelPLS"]
