"""Vectors from similarities: kernel PCA and kernel entropy component analysis."""

from gramian.embedding.kernel_eca import KernelECA
from gramian.embedding.kernel_pca import KernelPCA

__all__ = ["KernelECA", "KernelPCA"]
