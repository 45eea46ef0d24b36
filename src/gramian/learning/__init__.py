"""Prediction of one column of a table from the others: a tuned model, its error, what matters, and rows that surprise.

An application of the tasks, which it uses by their public names; :mod:`gramian.report` shows what it finds.
"""

from gramian.learning.analyse import learn
from gramian.learning.model import Predicted, TargetModel, load_target_model
from gramian.learning.result import Confidence, Learned, Matter, Skill, Surprise

__all__ = [
    "Confidence",
    "Learned",
    "Matter",
    "Predicted",
    "Skill",
    "Surprise",
    "TargetModel",
    "learn",
    "load_target_model",
]
