"""A reservoir: a fixed random recurrent network that turns a sequence into a sequence of states.

:class:`Reservoir` is a transformer of time-ordered rows. :mod:`gramian.reservoir.network` reads its states out, and
takes any other transformer with the methods of :class:`StateTransformer` in its place.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, real, remember_columns, whole
from gramian.configuration import require_memory
from gramian.diagram import Estimator
from gramian.grams.tiles import slices
from gramian.randomness import spawn
from gramian.reservoir._update import Recurrence
from gramian.reservoir._weights import check_connectivity, recurrent_weights, uniform_weights
from gramian.reservoir.sequences import Sequences, check_sequences, check_series, first_rows, refuse_frames_of
from gramian.typing import Array, RandomState

STRIP = 512  # steps whose states are held together
_USUAL_WASHOUT = 100


class Course(Protocol):
    """One run through a sequence, in blocks of any length.

    Attributes
    ----------
    state : ndarray
        After the steps so far; pass it to :meth:`StateTransformer.start` to go on from there.
    """

    state: Array

    def advance(self, U: Array, feedback: Array | None = None) -> Array:
        """The states (T, N) of the next T steps, with inputs U (T, d) and what is fed back into each step (T, q)."""


class StateTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base of the transformers that give every step of a sequence a state, which depends on the steps up to it.

    A subclass checks its parameters and draws what it needs in :meth:`_prepare`, and runs in :meth:`start`.
    """

    washout: int | None
    feedback_scaling: float = 0.0

    def fit(self, U: Any, y: Any = None, groups: Any = None) -> Any:
        """Draw the weights for the columns of U; its values are not used.

        Parameters
        ----------
        U : array-like (T, d) or list of them
            Time-ordered rows.
        y : array-like (T,) or (T, q), or list of them, optional
            What is fed back; its columns are counted where ``feedback_scaling`` is not zero.
        groups : array-like (T,), optional
            Label of the sequence that each row belongs to.

        Returns
        -------
        self
        """
        sequences = check_sequences(self, U, groups, reset=True)
        feeds_back = real(self.feedback_scaling, "feedback_scaling", least=0) > 0
        n_outputs = check_series(y, sequences)[0].shape[1] if feeds_back else 0
        for name, value in self._prepare(sequences.parts[0].shape[1], n_outputs).items():
            setattr(self, name, value)
        remember_columns(self, first_rows(U))
        return self

    def transform(self, U: Any, feedback: Any = None, groups: Any = None) -> Any:
        """States of every step; each sequence starts from the state of rest.

        Parameters
        ----------
        U : array-like (T, d) or list of them
        feedback : array-like (T,) or (T, q), or list of them, optional
            The outputs; that of a step enters the next one. Needed where ``feedback_scaling`` is not zero.
        groups : array-like (T,), optional
            Label of the sequence that each row belongs to; rows of one sequence stand together.

        Returns
        -------
        states : ndarray (T, N), or a list of them if U is a list
        """
        check_is_fitted(self)
        refuse_frames_of(self, U)
        sequences = check_sequences(self, U, groups, reset=False)
        outputs = [None] * len(sequences.parts) if feedback is None else check_series(feedback, sequences)
        return sequences.answer(self._states(sequences, outputs))

    def _states(self, sequences: Sequences, outputs: list[Any], state: Array | None = None) -> list[Array]:
        n_bytes = 8.0 * sequences.n_rows * self.n_states_
        require_memory(
            n_bytes, f"the states of {sequences.n_rows} steps", "run start(...).advance(block) on blocks of rows"
        )
        found, rng = [], self.noise_source()
        for part, fed in zip(sequences.parts, outputs, strict=True):
            course = self.start(state, n_steps=sequences.n_rows, rng=rng)
            delayed = None if fed is None else np.vstack([np.zeros_like(fed[:1]), fed[:-1]])
            states = np.empty((len(part), self.n_states_))
            for rows in slices(len(part), STRIP):
                states[rows] = course.advance(part[rows], None if delayed is None else delayed[rows])
            found.append(states)
        return found

    def washout_of(self, length: int) -> int:
        """Steps at the start of a sequence of this length whose states still depend on the state of rest."""
        if self.washout is None:
            return min(_USUAL_WASHOUT, length // 10)
        return whole(self.washout, "washout", least=0, instead="None")

    def noise_source(self, use: int = 0) -> np.random.Generator | None:
        """The generator of state noise, the same at every call; None without noise."""
        return None

    @abstractmethod
    def start(self, state: Array | None = None, *, n_steps: int = 1, rng: np.random.Generator | None = None) -> Course:
        """Begin a run.

        Parameters
        ----------
        state : ndarray, optional
            The ``state`` at the end of another run; the state of rest by default.
        n_steps : int
            How many steps are expected; long runs are worth compiling for.
        rng : Generator, optional
            Of the state noise; without it there is none.
        """

    @abstractmethod
    def _prepare(self, n_inputs: int, n_outputs: int) -> dict[str, Any]:
        """Check the parameters; what ``fit`` learns, with ``n_states_`` among it."""

    @property
    def _n_features_out(self) -> int:
        return int(self.n_states_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Reservoir(StateTransformer):
    """Turn sequences into the states of a large random recurrent network, which remember recent inputs.

    Step t of a sequence with inputs u and fed-back outputs y gives the state

        h[t] = (1 − a) h[t−1] + a tanh( W h[t−1] + W_in (ω_i u[t]) + b + W_fb (ω_f ω_o y[t−1]) + ξ[t] ),  h[−1] = 0.

    Any function of the recent inputs that a task needs is close to a linear function of a large enough state, so that
    only that linear function is learned: see :class:`gramian.EchoStateNetwork`.

    Parameters
    ----------
    n_units : int, default 500
        Length of the state.
    spectral_radius : float, default 0.9
        Size of the largest eigenvalue of W; larger ones remember longer. Values above 1 are allowed: whether old
        inputs fade depends on the inputs too, see :meth:`echo_state_index`.
    connectivity : int or float, default 10
        Connections into each unit (a whole number; all units, if there are fewer), or the share of all pairs of units
        that are connected (a float; 0.25 in the published tables).
    leak_rate : float, default 1.0
        a in (0, 1]: how fast the state moves.
    input_scaling : float, default 0.5
        ω_i; small values keep tanh nearly linear. W_in is uniform on [−1, 1).
    bias_scaling : float, default 0.0
        b is uniform on [−1, 1) times this.
    teacher_scaling : float, default 1.0
        ω_o.
    feedback_scaling : float, default 0.0
        ω_f; W_fb is uniform on [−1, 1). 0 for no feedback.
    noise : float, default 0.0
        Size of ξ, which is drawn for every unit and step anew; the same numbers at every call.
    noise_distribution : {"uniform_positive", "uniform", "normal"}, default "uniform_positive"
        On [0, noise) as in the authors' code, on [−noise, noise), or with the standard deviation ``noise``.
    washout : int, optional
        Steps at the start of a sequence whose states still depend on h[−1], at most 100 and a tenth of the sequence by
        default. :meth:`transform` returns them all the same; networks do not learn from them.
    random_state : int, Generator, RandomState or None, default None
        Draws the weights and, apart from them, the noise.

    Attributes
    ----------
    recurrent_weights_ : CSR array or ndarray (N, N)
        W.
    input_weights_ : ndarray (N, d)
        W_in.
    bias_ : ndarray (N,)
        b.
    feedback_weights_ : ndarray (N, q)
        W_fb; q is 0 without feedback.
    n_states_ : int
        N.

    Notes
    -----
    Inputs are taken as they are: bring columns to mean 0 and deviation 1 first, as :class:`gramian.EchoStateNetwork`
    does. States are computed in float64, whatever the inputs are, and returned in the type of the inputs.

    References
    ----------
    H. Jaeger, "The echo state approach to analysing and training recurrent neural networks", GMD Report 148, 2001.

    S. Løkse, F. M. Bianchi, R. Jenssen, "Training echo state networks with regularization through dimensionality
    reduction", Cognitive Computation 9, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.reservoir import Reservoir
    >>> U = np.sin(0.3 * np.arange(200))[:, None]
    >>> reservoir = Reservoir(50, washout=150, random_state=0).fit(U)
    >>> reservoir.transform(U).shape
    (200, 50)
    >>> bool(reservoir.echo_state_index(U) < 1e-3)
    True

    Sequences of different length, each from the state of rest; their last states serve a classifier:

    >>> last = [states[-1] for states in reservoir.transform([U[:30], U[50:70]])]
    >>> np.stack(last).shape
    (2, 50)
    """

    def __init__(
        self,
        n_units: int = 500,
        *,
        spectral_radius: float = 0.9,
        connectivity: int | float = 10,
        leak_rate: float = 1.0,
        input_scaling: float = 0.5,
        bias_scaling: float = 0.0,
        teacher_scaling: float = 1.0,
        feedback_scaling: float = 0.0,
        noise: float = 0.0,
        noise_distribution: str = "uniform_positive",
        washout: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_units = n_units
        self.spectral_radius = spectral_radius
        self.connectivity = connectivity
        self.leak_rate = leak_rate
        self.input_scaling = input_scaling
        self.bias_scaling = bias_scaling
        self.teacher_scaling = teacher_scaling
        self.feedback_scaling = feedback_scaling
        self.noise = noise
        self.noise_distribution = noise_distribution
        self.washout = washout
        self.random_state = random_state

    def start(self, state: Array | None = None, *, n_steps: int = 1, rng: np.random.Generator | None = None) -> Course:
        """Begin a run; see :meth:`Course.advance` for its steps.

        Parameters
        ----------
        state : ndarray (N,), optional
            The state to start from; zero by default.
        n_steps : int
            How many steps are expected; long runs are worth compiling for.
        rng : Generator, optional
            Of the state noise; without it there is none.

        Examples
        --------
        Block by block, a series of any length needs the memory of one block:

        >>> import numpy as np
        >>> from gramian.reservoir import Reservoir
        >>> U = np.sin(0.3 * np.arange(200))[:, None]
        >>> reservoir = Reservoir(50, random_state=0).fit(U)
        >>> course = reservoir.start(n_steps=200)
        >>> blocks = [course.advance(U[:120]), course.advance(U[120:])]
        >>> np.allclose(np.vstack(blocks), reservoir.transform(U), atol=1e-12)
        True
        """
        check_is_fitted(self)
        return _ReservoirCourse(self, state, n_steps, rng)

    def noise_source(self, use: int = 0) -> np.random.Generator | None:
        """The generator of state noise, the same at every call; None without noise.

        Parameters
        ----------
        use : int
            0 for answers, 1 for learning, which sees other noise.
        """
        return np.random.default_rng([self._seeds[4], use]) if self.noise else None

    def echo_state_index(self, U: Any) -> float:
        """How much of the initial state is left after the washout: the distance of two runs that began elsewhere.

        Parameters
        ----------
        U : array-like (T, d)
            Inputs of both runs, at least one more than the washout; nothing is fed back.

        Returns
        -------
        distance : float
            Below 1e-3 the states are those of the inputs alone.
        """
        check_is_fitted(self)
        rows = check_sequences(self, U, reset=False).parts[0]
        washout = self.washout_of(len(rows))
        if washout >= len(rows):
            raise ValueError(f"washout={washout} leaves none of the {len(rows)} rows of X; pass more rows")
        return self._echo(rows[: washout + 1])

    def _echo(self, rows: Array) -> float:
        states = uniform_weights((2, self.n_units), self._seeds[5])
        fed = np.zeros((len(rows), self.feedback_weights_.shape[1]))  # the same in both runs
        ends = [self.start(state, n_steps=2 * len(rows)).advance(rows, fed)[-1] for state in states]
        return float(np.linalg.norm(ends[0] - ends[1]))

    def _prepare(self, n_inputs: int, n_outputs: int) -> dict[str, Any]:
        n = whole(self.n_units, "n_units")
        connectivity = check_connectivity(self.connectivity)
        radius = real(self.spectral_radius, "spectral_radius", least=0)
        real(self.leak_rate, "leak_rate", above=0, most=1)
        for name in ("bias_scaling", "noise"):
            real(getattr(self, name), name, least=0)
        for name in ("input_scaling", "teacher_scaling"):
            real(getattr(self, name), name, above=0)
        check_choice(self, "noise_distribution", ("uniform_positive", "uniform", "normal"))
        self.washout_of(0)
        dense = n**2 * (connectivity if isinstance(connectivity, float) else min(connectivity, n) / n)
        require_memory(16.0 * dense, f"a reservoir of {n} units", "pass a smaller n_units or connectivity")
        try:
            seeds = [int(child.integers(2**62)) for child in spawn(self.random_state, 6)]
        except (TypeError, ValueError) as error:
            raise ValueError(f"random_state={self.random_state!r} must be an int, a generator or None") from error
        return {
            "recurrent_weights_": recurrent_weights(n, connectivity, radius, seeds[0]),
            "input_weights_": uniform_weights((n, n_inputs), seeds[1]),
            "feedback_weights_": uniform_weights((n, n_outputs), seeds[2]),
            "bias_": float(self.bias_scaling) * uniform_weights((n,), seeds[3]),
            "n_states_": n,
            "_seeds": seeds,
        }


class _ReservoirCourse:
    """A run of a reservoir; see :class:`Course`."""

    def __init__(
        self, reservoir: Reservoir, state: Array | None, n_steps: int, rng: np.random.Generator | None
    ) -> None:
        self.state = np.zeros(reservoir.n_units) if state is None else np.array(state, np.float64)
        if self.state.shape != (reservoir.n_units,):
            raise ValueError(
                f"state has shape {self.state.shape}; pass ({reservoir.n_units},), one number for each unit"
            )
        self._rng, self._noise = rng, float(reservoir.noise)
        self._distribution = reservoir.noise_distribution
        self._bias = reservoir.bias_
        self._inwards = reservoir.input_scaling * reservoir.input_weights_.T
        self._back = reservoir.feedback_scaling * reservoir.teacher_scaling * reservoir.feedback_weights_.T
        self._recurrence = Recurrence(reservoir.recurrent_weights_, float(reservoir.leak_rate), n_steps)

    def advance(self, U: Array, feedback: Array | None = None) -> Array:
        states = U @ self._inwards
        states += self._bias
        if len(self._back):
            if feedback is None:
                raise ValueError("feedback must be given where feedback_scaling is not zero; pass the outputs")
            states += feedback @ self._back
        if self._rng is not None:
            states += self._noise * _noise(self._distribution, self._rng, states.shape)
        if len(states):
            self._recurrence.advance(states, self.state)
            self.state = states[-1].copy()
        return states


def _noise(distribution: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Noise of size one."""
    if distribution == "normal":
        return rng.standard_normal(shape)
    return rng.uniform(0.0 if distribution == "uniform_positive" else -1.0, 1.0, shape)
