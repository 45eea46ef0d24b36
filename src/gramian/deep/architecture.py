"""Networks from a plain description: sizes, activations and, for images, filters.

A description is a dict of texts, numbers, lists and dicts, so that it can be saved and printed. :func:`build` makes the
torch module it describes. A file with a network of its own kind adds it with :func:`architecture`. Initial weights are
drawn with a generator that the caller passes; torch's global generator is never touched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn.utils import skip_init

from gramian.checks import one_of, real, whole

Description = dict[str, Any]

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "identity": nn.Identity,
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "elu": nn.ELU,
    "softplus": nn.Softplus,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "softmax": lambda: nn.Softmax(dim=1),
}
NONNEGATIVE = frozenset({"relu", "softplus", "sigmoid", "softmax"})
_BUILDERS: dict[str, Callable[..., nn.Module]] = {}


def architecture(kind: str) -> Callable[[Callable[..., nn.Module]], Callable[..., nn.Module]]:
    """Register a function that builds the modules of one kind of description.

    Parameters
    ----------
    kind : str
        The description's ``"kind"``. The function gets the other entries as keywords, and ``generator``.
    """

    def register(builder: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
        _BUILDERS[kind] = builder
        return builder

    return register


def build(description: Description, generator: torch.Generator | None = None) -> nn.Module:
    """The module that a description describes, in training mode and single precision.

    Parameters
    ----------
    description : dict
        With ``"kind"``: ``"mlp"``, ``"cnn"``, ``"parts"`` (a dict of descriptions, which makes a ``ModuleDict``), or
        one that :func:`architecture` has registered. The other entries are the arguments of its builder.
    generator : torch.Generator, optional
        Draws the initial weights. Without it they are zero: for weights that are loaded afterwards.

    Examples
    --------
    >>> import torch
    >>> from gramian.deep.architecture import build
    >>> network = build({"kind": "mlp", "sizes": [4, 10, 2]}, torch.Generator().manual_seed(0))
    >>> network(torch.zeros(3, 4)).shape
    torch.Size([3, 2])
    """
    arguments = dict(description)
    kind = arguments.pop("kind")
    if kind not in _BUILDERS:
        raise ValueError(f"kind={kind!r} of a network is not known; pass one of {', '.join(map(repr, _BUILDERS))}")
    return _BUILDERS[kind](generator=generator, **arguments)


def activation(name: str) -> nn.Module:
    """The activation of that name."""
    return ACTIVATIONS[name]()


def check_activation(value: Any, name: str) -> str:
    """``value``, if it is the name of an activation."""
    found: str = one_of(value, name, tuple(ACTIVATIONS))
    return found


def check_sizes(value: Any, name: str = "hidden_layer_sizes", *, least: int = 0) -> list[int]:
    """``value`` as a list of at least ``least`` whole numbers >= 1; a single number is one layer."""
    if (not isinstance(value, str) and isinstance(value, Sequence)) or hasattr(value, "tolist"):
        sizes = list(value.tolist() if hasattr(value, "tolist") else value)
    else:
        sizes = [value]
    if len(sizes) < least:
        raise ValueError(f"{name}={value!r} must have at least {least} sizes")
    return [whole(size, name) for size in sizes]


def check_image_shape(value: Any, n_features: int) -> list[int]:
    """``image_shape`` as [channels, height, width] whose product is the number of columns."""
    value = value.tolist() if hasattr(value, "tolist") else value
    given = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
    if len(given) != 3:
        raise ValueError(f"image_shape={value!r} must be (channels, height, width), such as (1, 28, 28)")
    shape = [whole(side, "image_shape") for side in given]
    if math.prod(shape) != n_features:
        raise ValueError(
            f"image_shape={tuple(shape)} holds {math.prod(shape)} pixels but X has {n_features} columns; pass a shape "
            f"whose product is {n_features}"
        )
    return shape


# Layers ----------------------------------------------------------------------------------------------------


def linear(
    n_inputs: int, n_outputs: int, generator: torch.Generator | None, *, bias: bool = True, init: str = "glorot"
) -> nn.Linear:
    """A linear layer with weights drawn by ``generator`` (``init``: "glorot" or "he") and zero biases."""
    return initialise(skip_init(nn.Linear, n_inputs, n_outputs, bias=bias), generator, init)


def convolution(
    n_inputs: int, n_outputs: int, size: int, generator: torch.Generator | None, *, padding: int = 0, init: str = "he"
) -> nn.Conv2d:
    """A convolution with square filters, initialised as :func:`linear`."""
    return initialise(skip_init(nn.Conv2d, n_inputs, n_outputs, size, padding=padding), generator, init)


def initialise(layer: Any, generator: torch.Generator | None, init: str) -> Any:
    """Draw the weights of a layer in place; its biases become zero."""
    if generator is None:
        nn.init.zeros_(layer.weight)
    elif one_of(init, "init", ("glorot", "he")) == "glorot":
        nn.init.xavier_uniform_(layer.weight, generator=generator)
    else:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class SeededDropout(nn.Module):
    """Dropout whose masks come from ``self.generator``, which the training loop sets: torch's own takes the global one.

    Parameters
    ----------
    rate : float
        Probability that an entry becomes zero while training; the others grow by 1 / (1 − rate).
    """

    generator: torch.Generator | None = None

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Any) -> Any:
        if not self.training or self.rate == 0:
            return x
        kept = torch.empty(x.shape, dtype=x.dtype).bernoulli_(1 - self.rate, generator=self.generator)
        return x * kept.to(x.device) / (1 - self.rate)


def seed_layers(module: nn.Module, generator: torch.Generator) -> None:
    """Let all layers that draw random numbers while training draw them from ``generator`` (of the CPU)."""
    for layer in module.modules():
        if isinstance(layer, SeededDropout):
            layer.generator = generator


# Kinds of networks -----------------------------------------------------------------------------------------


@architecture("mlp")
def mlp(
    sizes: Sequence[int],
    *,
    activation: str = "relu",
    output_activation: str = "identity",
    bias: bool = True,
    batch_norm: Sequence[int] = (),
    dropout: float = 0.0,
    init: str = "glorot",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """A multilayer perceptron.

    Parameters
    ----------
    sizes : list of int
        Columns of the input, units of each hidden layer, outputs.
    activation, output_activation : str
        Of the hidden layers, and of the last one.
    bias : bool
    batch_norm : list of int
        Hidden layers (0 is the first) that normalise their units over the batch before the activation.
    dropout : float
        Probability that a hidden unit is left out of a training step.
    init : str
        ``"glorot"`` or ``"he"``.
    generator : torch.Generator, optional

    Returns
    -------
    network : Sequential of one Sequential per layer
        ``network[:-1]`` gives the last hidden layer.
    """
    rate = real(dropout, "dropout", least=0, below=1)
    layers, last = [], len(sizes) - 2
    for place, (n_inputs, n_outputs) in enumerate(pairwise(sizes)):
        parts: list[nn.Module] = [linear(n_inputs, n_outputs, generator, bias=bias, init=init)]
        if place < last and place in batch_norm:
            parts.append(nn.BatchNorm1d(n_outputs))
        parts.append(ACTIVATIONS[activation if place < last else output_activation]())
        if place < last and rate:
            parts.append(SeededDropout(rate))
        layers.append(nn.Sequential(*parts))
    return nn.Sequential(*layers)


@architecture("cnn")
def cnn(
    image_shape: Sequence[int],
    *,
    filters: Sequence[int] = (32, 64),
    filter_size: int = 5,
    hidden: Sequence[int] = (100,),
    outputs: int,
    padding: str = "auto",
    batch_norm: bool = True,
    output_activation: str = "identity",
    init: str = "he",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """A convolutional network: per layer convolution, 2×2 max-pooling and ReLU; then fully connected layers.

    Parameters
    ----------
    image_shape : (channels, height, width)
        The input is rows of channels·height·width pixels.
    filters : list of int
        Filters of each convolution.
    filter_size : int
        Side of the filters.
    hidden : list of int
        Units of the fully connected hidden layers.
    outputs : int
    padding : str
        ``"valid"`` shrinks the image by ``filter_size − 1``, ``"same"`` keeps its size; ``"auto"`` is valid where every
        layer leaves at least 2×2 pixels (28×28 images), else same.
    batch_norm : bool
        Whether the fully connected hidden layers normalise their units over the batch.
    output_activation, init, generator
        As in :func:`mlp`.

    Returns
    -------
    network : Sequential
        ``network[:-1]`` gives the last hidden layer.
    """
    channels, *sides = image_shape
    padding, sides = _image_sides(sides, len(filters), filter_size, padding)
    layers: list[nn.Module] = [nn.Unflatten(1, tuple(image_shape))]
    margin = filter_size // 2 if padding == "same" else 0
    for n_filters in filters:
        layer = convolution(channels, n_filters, filter_size, generator, padding=margin, init=init)
        layers.append(nn.Sequential(layer, nn.MaxPool2d(2), nn.ReLU()))
        channels = n_filters
    layers.append(nn.Flatten())
    units = channels * sides[0] * sides[1]
    for n_units in hidden:
        parts: list[nn.Module] = [linear(units, n_units, generator, init=init)]
        parts += [nn.BatchNorm1d(n_units)] if batch_norm else []
        layers.append(nn.Sequential(*parts, nn.ReLU()))
        units = n_units
    last = linear(units, outputs, generator, init=init)
    layers.append(nn.Sequential(last, ACTIVATIONS[output_activation]()))
    return nn.Sequential(*layers)


def _image_sides(sides: Sequence[int], n_layers: int, filter_size: int, padding: str) -> tuple[str, list[int]]:
    """How the convolutions pad, and the sides of the image after all of them."""

    def shrunk(lost: int) -> list[int]:
        left = list(sides)
        for _ in range(n_layers):
            left = [(side - lost) // 2 for side in left]
        return left

    if one_of(padding, "padding", ("auto", "valid", "same")) == "auto":
        padding = "valid" if min(shrunk(filter_size - 1)) >= 2 else "same"
    left = shrunk(filter_size - 1 if padding == "valid" else 1 - filter_size % 2)
    if min(left) < 1:
        raise ValueError(
            f"image_shape of {sides[0]}×{sides[1]} pixels is too small for {n_layers} convolutions of {filter_size}×"
            f"{filter_size}; pass fewer filters, or leave image_shape None and use a multilayer perceptron"
        )
    return padding, left


@architecture("parts")
def parts(modules: dict[str, Description], *, generator: torch.Generator | None = None) -> nn.ModuleDict:
    """Several networks side by side, by name."""
    return nn.ModuleDict({name: build(description, generator) for name, description in modules.items()})
