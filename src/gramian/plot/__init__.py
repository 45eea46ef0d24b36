"""Pictures of fitted models, one function for each question, drawn with matplotlib (extra ``app``).

An application of the tasks: functions ask a model for its fitted attributes, never for its class, draw on the given or
new Axes, and return them. Colours are those of the report; ``with plot.style("dark")`` draws on dark paper.
"""

from gramian.plot.columns import components
from gramian.plot.matrices import consensus, gram
from gramian.plot.networks import network
from gramian.plot.points import clusters, embedding
from gramian.plot.rankings import ranking
from gramian.plot.regions import decision
from gramian.plot.series import forecast
from gramian.plot.spectrum import eigenvalues
from gramian.plot.style import style
from gramian.plot.training import curve
from gramian.plot.trials import selection

__all__ = [
    "clusters",
    "components",
    "consensus",
    "curve",
    "decision",
    "eigenvalues",
    "embedding",
    "forecast",
    "gram",
    "network",
    "ranking",
    "selection",
    "style",
]
