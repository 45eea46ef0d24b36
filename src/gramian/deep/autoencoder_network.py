"""The network of an autoencoder, its losses layer by layer and as a whole, and the main directions of its codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from gramian.deep.architecture import ACTIVATIONS, architecture
from gramian.deep.holes import Cells
from gramian.grams.dense import DenseGram
from gramian.grams.tiles import slices
from gramian.typing import Array

MOST_AXES = 256  # principal directions of the codes that are kept for denoising
_CHUNK = 2048

CodeLoss = Callable[[Any, Any], Any]
"""From codes and the numbers of their rows to a term of the loss."""


class Autoencoder(nn.Module):
    """Encoder h_l = γ(W_l h_{l−1} + b_l) and the decoder that runs through the same layers backwards.

    Parameters
    ----------
    sizes : list of int
        Columns of the rows, units of each hidden layer, units of the code.
    activation, code_activation, output_activation : str
        Of hidden layers both ways, of the code, of the reconstruction.
    tied : bool
        Whether the decoder's matrices are the transposes of the encoder's: one parameter, used twice.
    masked : bool
        Whether the encoder takes the mask of observed cells beside the values; the decoder gives values alone.
    generator : torch.Generator, optional
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: str,
        code_activation: str,
        output_activation: str,
        tied: bool,
        masked: bool,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        self.n_layers, self.tied = len(sizes) - 1, tied
        inputs = [sizes[0] * (2 if masked else 1), *sizes[1:-1]]
        self.up = nn.ParameterList([_matrix(n, m, generator) for m, n in zip(inputs, sizes[1:], strict=True)])
        self.up_bias = nn.ParameterList([torch.zeros(n) for n in sizes[1:]])
        self.down_bias = nn.ParameterList([torch.zeros(n) for n in sizes[:-1]])
        untied = [] if tied else [_matrix(m, n, generator) for m, n in pairwise(sizes)]
        self.down = nn.ParameterList(untied)
        last = self.n_layers - 1
        self._up_names = [code_activation if place == last else activation for place in range(self.n_layers)]
        self._down_names = [activation if place else output_activation for place in range(self.n_layers)]
        self._activations = {name: ACTIVATIONS[name]() for name in {*self._up_names, *self._down_names}}

    def step_up(self, place: int, h: Any) -> Any:
        """Layer ``place`` of the encoder; 0 takes the rows."""
        return self._activations[self._up_names[place]](nn.functional.linear(h, self.up[place], self.up_bias[place]))

    def step_down(self, place: int, h: Any) -> Any:
        """The way back through layer ``place``; 0 gives the rows."""
        bias = self.down_bias[place]
        matrix = self.up[place][:, : len(bias)].T if self.tied else self.down[place]
        return self._activations[self._down_names[place]](nn.functional.linear(h, matrix, bias))

    def encode(self, x: Any, n_layers: int | None = None) -> Any:
        """Codes of rows, or the output of the first ``n_layers`` layers."""
        for place in range(self.n_layers if n_layers is None else n_layers):
            x = self.step_up(place, x)
        return x

    def decode(self, z: Any) -> Any:
        """Rows of codes."""
        for place in reversed(range(self.n_layers)):
            z = self.step_down(place, z)
        return z

    def layer(self, place: int) -> list[Any]:
        """The parameters of one layer, both ways."""
        found = [self.up[place], self.up_bias[place], self.down_bias[place]]
        return found if self.tied else [*found, self.down[place]]


def _matrix(n_outputs: int, n_inputs: int, generator: torch.Generator | None) -> Any:
    matrix = torch.zeros(n_outputs, n_inputs)
    return matrix if generator is None else nn.init.xavier_uniform_(matrix, generator=generator)


@architecture("autoencoder")
def autoencoder(
    sizes: Sequence[int],
    *,
    activation: str = "relu",
    code_activation: str = "relu",
    output_activation: str = "sigmoid",
    tied: bool = True,
    masked: bool = False,
    generator: torch.Generator | None = None,
) -> Autoencoder:
    """An :class:`Autoencoder` from its description."""
    return Autoencoder(sizes, activation, code_activation, output_activation, tied, masked, generator)


def layer_loss(
    module: Any,
    place: int,
    cells: Cells,
    rate: float,
    noise: torch.Generator,
    code_loss: CodeLoss | None,
    weight: float,
) -> Callable[[Any], dict[str, Any]]:
    """Loss of one layer on its own: reproduce what comes from the layers below, which stay as they are."""

    def loss(batch: Any) -> dict[str, Any]:
        x = cells.take(batch)
        if place == 0:
            code = module.step_up(0, cells.shown(x, rate, noise))
            error = cells.error(module.step_down(0, code), x)
        else:
            with torch.no_grad():
                below = module.encode(cells.shown(x), place)
            given = below
            if rate and not cells.masked:
                given = below * torch.empty(below.shape).bernoulli_(1 - rate, generator=noise).to(below)
            code = module.step_up(place, given)
            error = ((module.step_down(place, code) - below) ** 2).mean()
        return _terms(error, code, batch, code_loss, weight)

    return loss


def whole_loss(
    module: Any, cells: Cells, rate: float, noise: torch.Generator, code_loss: CodeLoss | None, weight: float
) -> Callable[[Any], dict[str, Any]]:
    """Loss of the whole network."""

    def loss(batch: Any) -> dict[str, Any]:
        x = cells.take(batch)
        code = module.encode(cells.shown(x, rate if module.training else 0.0, noise))
        return _terms(cells.error(module.decode(code), x), code, batch, code_loss, weight)

    return loss


def _terms(error: Any, code: Any, batch: Any, code_loss: CodeLoss | None, weight: float) -> dict[str, Any]:
    if code_loss is None:
        return {"loss": error, "reconstruction": error}
    distance = code_loss(code, batch)
    return {"loss": (1 - weight) * error + weight * distance, "reconstruction": error, "alignment": distance}


def principal_axes(module: Any, cells: Cells) -> tuple[Array, Array, bool]:
    """Mean and principal directions of the codes of all rows, and whether any code is not zero."""
    n = len(cells.values)
    if n <= module.up_bias[-1].numel():  # fewer rows than codes: the codes are less than their scatter
        with torch.inference_mode():
            Z = torch.cat([module.encode(cells.shown(cells.values[rows])).double() for rows in slices(n, _CHUNK)])
            mean = Z.mean(dim=0)
            axes = torch.linalg.svd(Z - mean, full_matrices=False)[2][:MOST_AXES]
        return mean.cpu().numpy(), axes.cpu().numpy().copy(), bool(Z.any())
    total: Any = 0.0
    second: Any = 0.0
    with torch.inference_mode():
        for rows in slices(n, _CHUNK):
            Z = module.encode(cells.shown(cells.values[rows])).double()
            total, second = total + Z.sum(dim=0), second + Z.T @ Z
    mean = total / n
    scatter = (second / n - torch.outer(mean, mean)).cpu().numpy()
    axes = DenseGram(scatter).eigenpairs(min(MOST_AXES, n, len(scatter)))[1].T
    return mean.cpu().numpy(), axes.copy(), bool(second.any())
