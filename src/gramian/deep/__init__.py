"""Networks that learn a kernel, an embedding or clusters: torch inside, NumPy outside.

Needs the extra ``gramian[deep]``.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":  # torch is there and lacks a library of its own
        raise
    raise ModuleNotFoundError('gramian.deep needs torch; pip install "gramian[deep]"', name="torch") from error

from gramian.deep.losses import alignment_distance, ideal_kernel, kernel_alignment

__all__ = [
    "alignment_distance",
    "ideal_kernel",
    "kernel_alignment",
]
