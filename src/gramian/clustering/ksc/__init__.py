"""Kernel spectral clustering: the model, its decoding and selection, on which the estimators of the family stand."""

from gramian.clustering.ksc.decoding import Decoder, Directions, SignWords, decoder_of
from gramian.clustering.ksc.degrees import Degrees
from gramian.clustering.ksc.estimator import KernelSpectralClustering
from gramian.clustering.ksc.model import Eigenproblem, ScoreModel

__all__ = [
    "Decoder",
    "Degrees",
    "Directions",
    "Eigenproblem",
    "KernelSpectralClustering",
    "ScoreModel",
    "SignWords",
    "decoder_of",
]
