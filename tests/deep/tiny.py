"""The smallest estimator with a network, to test what all of them share, and the smallest module of a user's."""

import torch
from sklearn.base import TransformerMixin
from torch import nn

from gramian.deep.architecture import build
from gramian.deep.base import NetworkEstimator
from gramian.deep.scaling import standard_scaling
from gramian.deep.training import torch_generator, train
from gramian.randomness import generator


class Tiny(TransformerMixin, NetworkEstimator):
    """A perceptron trained to reproduce its rows."""

    def __init__(
        self,
        max_iter=20,
        *,
        batch_size=10,
        learning_rate=0.01,
        early_stopping=False,
        validation_fraction=0.2,
        n_iter_no_change=3,
        callbacks=None,
        device="auto",
        random_state=None,
        verbose=0,
    ):
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None):
        rows, settings = self._check_rows(X), self._settings()
        rng = generator(self.random_state)
        scaling = standard_scaling(rows)
        described = {"kind": "mlp", "sizes": [rows.shape[1], 6, rows.shape[1]], "activation": "tanh"}
        module = build(described, torch_generator(rng))
        values = self._tensor(rows, scaling)

        def loss(batch):
            return {"loss": ((module(values[batch]) - values[batch]) ** 2).mean()}

        learned = {"scaling_": scaling.arrays}
        watch = self._on_step(module, X, described, **learned)
        history = train(module, loss, len(rows), settings, rng, on_step=watch)
        self._keep(module, X, described, **learned, history_=history.curves["loss"], stopped_=history.stopped)
        return self

    def transform(self, X):
        rows = self._check_new(X)
        return self._answer(lambda module, chunk: module(chunk), self._scaled(rows)).astype(rows.dtype)


class Linear(nn.Module):
    """A user's module without hidden units of its own."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.scores = nn.Linear(4, 3)

    def forward(self, rows):
        return rows, self.scores(rows)
