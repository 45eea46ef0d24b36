"""Echo state networks: a reservoir, a reduction of its states, and a readout, as one regressor of time-ordered rows.

A linear readout is learned in one pass over the steps, of which only one block of states is ever in memory. Stands on
the other files of this folder; the forecaster stands on it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, one_of, real, remember_columns, whole
from gramian.diagram import Estimator
from gramian.grams.tiles import slices
from gramian.reservoir._choice import chosen_and_learned, is_auto, open_parameters
from gramian.reservoir._learning import OPTIONAL, Learner
from gramian.reservoir.readouts import LINEAR, check_readout, check_regularization
from gramian.reservoir.reductions import check_reduction
from gramian.reservoir.reservoir import STRIP, Reservoir, StateTransformer
from gramian.reservoir.sequences import Sequences, check_sequences, check_series, first_rows, refuse_frames_of
from gramian.typing import Array, RandomState


def _streams(network: EchoStateNetwork) -> bool:
    """Whether the readout is learned from sums, which later steps can be added to."""
    return isinstance(network.readout, str) and network.readout in LINEAR


class EchoStateNetwork(RegressorMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Regression on time-ordered rows by a readout of a random recurrent network (echo state network).

    With h[t] the state of a :class:`gramian.Reservoir` after the inputs up to u[t], and P the reduction, the readout
    learns

        y[t] ≈ f( P(h[t]), ω_i u[t] ),

    for a linear f by least squares with the penalty λ‖W‖², from sums over the steps: memory does not grow with their
    number. Columns of U and Y are brought to mean 0 and deviation 1 first.

    Parameters
    ----------
    n_units : int, default 500
        Units of the reservoir.
    reduction : {None, "pca", "kpca"} or transformer, default None
        P. "pca" is folded into a linear readout; "kpca" is :class:`gramian.KernelPCA` with an RBF of median width,
        fitted on at most 5,000 states. A transformer, or a ``FeatureUnion`` of several, is fitted on all states. With
        a tuned ridge a reduction seldom lowers the error; it makes the other readouts cheaper.
    n_components : int, float or None, default None
        Components of "pca" and "kpca"; a float is a share of the units, None a quarter of them. Other reductions do
        not use it.
    readout : str or regressor, default "ridge"
        f: "ridge", "ols", "lasso", "elastic_net" (linear, streamed), "nu_svr", "linear_nu_svr", "ls_svm", or any
        regressor, which sees the states of all steps at once.
    regularization : float or "auto", default "auto"
        Larger is smoother. λ, added to SᵀS itself, of a ridge; α of scikit-learn for lasso and elastic net; 1 / C and
        1 / γ of support vector machines. "auto" takes what does best on the last fifth of the steps, learned from
        the others, for each output apart, and then learns from all; for "nu_svr" it is C = 10, for "ls_svm"
        leave-one-out. A regressor has its own.
    spectral_radius, connectivity, leak_rate, input_scaling, bias_scaling, teacher_scaling, feedback_scaling, noise
        See :class:`gramian.Reservoir`. Without a bias states are odd functions of the scaled inputs, which is too
        little for many series: with ``bias_scaling=0.2`` the error of Mackey–Glass ten steps ahead fell from .009 to
        .0005 of a deviation (500 units, 20,000 steps, two seeds). With ``feedback_scaling`` > 0 the targets enter the
        next step while learning, and the predictions afterwards.

        ``leak_rate="auto"`` tries 1, 0.3 and 0.1, ``bias_scaling="auto"`` 0 and 0.5, and takes what forecasts the last
        fifth of the steps best, with a ridge if the readout is none whose penalty is chosen. Each candidate takes as
        long as a fit, six with both. Use both wherever that time does not matter: of twelve errors on four series they
        lowered eleven, most where a series changes slowly beside its steps (see the Notes).
    washout : int, optional
        Steps at the start of each sequence that are not learned from; at most 100 and a tenth of the sequence by
        default.
    standardize : bool, default True
        Whether columns of U and Y are centred and scaled.
    include_input : bool, default True
        Whether the readout sees the input beside the state.
    random_state : int, Generator, RandomState or None, default None
    verbose : int, default 0
        Whether a bar shows progress.
    reservoir : Reservoir or NextGenerationReservoir, optional
        Takes the place of the parameters of the reservoir, n_units to noise.

    Attributes
    ----------
    reservoir_ : Reservoir
    reduction_ : object with ``transform``, or None
    readout_ : StreamedReadout or regressor
    coef_ : ndarray (m, q)
        Of a linear readout: for each unit (component, if a reduction other than PCA was fitted), then for each input.
    intercept_ : ndarray (q,)
    regularization_ : float or ndarray (q,)
        Of a linear readout, as used.
    leak_rate_, bias_scaling_ : float
        As used; not with a ``reservoir``.
    tuning_ : dict or None
        Penalties that were tried, "regularization", and the root mean square "error" of each in units of the targets.
    n_components_ : int
        Length of a reduced state.
    state_ : ndarray (N,)
        At the end of the steps learned from, where ``initial_state="continue"`` goes on.
    washout_ : int
        Of the longest sequence.
    n_outputs_ : int

    Notes
    -----
    Rows are steps in time: do not shuffle them; split them with scikit-learn's ``TimeSeriesSplit``. ``score`` is R²;
    :func:`gramian.metrics.nrmse` is √(1 − R²) for one output.

    Errors of the mean of four networks on the last fifth of a series, in deviations, at three horizons:

    ==========================  ===================  ====================
    series, steps ahead         defaults             leak and bias chosen
    ==========================  ===================  ====================
    laser, 1, 5, 10             .0452, .2465, .3323  .0430, .2443, .3253
    Mackey–Glass, 1, 17, 84     .0002, .0091, .0623  .0004, .0001, .0367
    monthly sunspots, 1, 6, 12  .3246, .4464, .5466  .3171, .4000, .4373
    Melbourne, 1, 3, 7          .5316, .6463, .6642  .5293, .6260, .6321
    ==========================  ===================  ====================

    One fit serves the three horizons of a series. Choosing took five times as long. The defaults stay those of the
    literature, so that published parameters mean what they meant.

    States and sums are computed in float64, because SᵀS is ill-conditioned: with states in float32 the error of a
    Mackey–Glass forecast was twenty times larger. float32 rows give float32 answers.

    References
    ----------
    H. Jaeger, "The echo state approach to analysing and training recurrent neural networks", GMD Report 148, 2001.

    S. Løkse, F. M. Bianchi, R. Jenssen, "Training echo state networks with regularization through dimensionality
    reduction", Cognitive Computation 9, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import EchoStateNetwork
    >>> from gramian.datasets import make_mackey_glass
    >>> x = make_mackey_glass(3000)[:, None]
    >>> network = EchoStateNetwork(200, bias_scaling=0.2, random_state=0).fit(x[:2000], x[10:2010, 0])
    >>> bool(network.score(x[2000:-10], x[2010:, 0]) > 0.9999)
    True

    A network that forecasts one step can go on by itself:

    >>> network = EchoStateNetwork(200, bias_scaling=0.2, random_state=0).fit(x[:1999], x[1:2000])
    >>> bool(np.abs(network.generate(50) - x[2000:2050]).max() < 0.02)
    True
    """

    def __init__(
        self,
        n_units: int = 500,
        *,
        reduction: Any = None,
        n_components: int | float | None = None,
        readout: Any = "ridge",
        regularization: float | str = "auto",
        spectral_radius: float = 0.9,
        connectivity: int | float = 10,
        leak_rate: float | str = 1.0,
        input_scaling: float = 0.5,
        bias_scaling: float | str = 0.0,
        teacher_scaling: float = 1.0,
        feedback_scaling: float = 0.0,
        noise: float = 0.0,
        washout: int | None = None,
        standardize: bool = True,
        include_input: bool = True,
        random_state: RandomState = None,
        verbose: int = 0,
        reservoir: Any = None,
    ) -> None:
        self.n_units = n_units
        self.reduction = reduction
        self.n_components = n_components
        self.readout = readout
        self.regularization = regularization
        self.spectral_radius = spectral_radius
        self.connectivity = connectivity
        self.leak_rate = leak_rate
        self.input_scaling = input_scaling
        self.bias_scaling = bias_scaling
        self.teacher_scaling = teacher_scaling
        self.feedback_scaling = feedback_scaling
        self.noise = noise
        self.washout = washout
        self.standardize = standardize
        self.include_input = include_input
        self.random_state = random_state
        self.verbose = verbose
        self.reservoir = reservoir

    state_: Array
    _last_target: Array

    # Learning ----------------------------------------------------------------------------------------------

    def fit(self, U: Any, Y: Any, groups: Any = None) -> EchoStateNetwork:
        """Learn the readout.

        Parameters
        ----------
        U : array-like (T, d), or list of them
            Inputs, in the order of time.
        Y : array-like (T,) or (T, q), or list of them
            Targets of each step.
        groups : array-like (T,), optional
            Label of the sequence that each row belongs to; the state starts anew with each.

        Returns
        -------
        self : EchoStateNetwork
        """
        return self._learn(U, Y, groups, again=False)

    @available_if(_streams)
    def partial_fit(self, U: Any, Y: Any, groups: Any = None) -> EchoStateNetwork:
        """Learn from the steps that follow, with a linear readout.

        Weights, scales and a reduction other than PCA stay those of the first call. One array goes on from the state
        that the last one ended in; sequences of a list or of groups start anew.

        Parameters
        ----------
        U, Y, groups
            As in :meth:`fit`.

        Returns
        -------
        self : EchoStateNetwork
        """
        return self._learn(U, Y, groups, again=hasattr(self, "readout_"))

    def _learn(self, U: Any, Y: Any, groups: Any, *, again: bool) -> EchoStateNetwork:
        self._check_parameters()
        sequences = check_sequences(self, U, groups, reset=not again, min_rows=1 if again else 2)
        targets = check_series(Y, sequences)
        if again and getattr(self.readout_, "kind", None) != self.readout:
            raise ValueError(
                f"readout={self.readout!r} cannot go on with what another readout has learned; call fit with all rows"
            )
        if again and targets[0].shape[1] != self.n_outputs_:
            raise ValueError(f"y has {targets[0].shape[1]} outputs, but those before had {self.n_outputs_}")
        names = [] if again else open_parameters(self)
        if names:
            chosen, learned = chosen_and_learned(self, sequences, targets, names)
        else:
            chosen, learned = {}, Learner(self, sequences, targets, again=again).learn()
        if not again:
            learned["_one_target"] = np.asarray(Y[0] if sequences.listed else Y).ndim == 1
            for name in ("leak_rate", "bias_scaling") if self.reservoir is None else ():
                learned[f"{name}_"] = float(chosen.get(name, getattr(self, name)))
            for name in OPTIONAL:
                self.__dict__.pop(name, None)
        for name, value in learned.items():
            setattr(self, name, value)
        if not again:
            remember_columns(self, first_rows(U))
        return self

    def _check_parameters(self) -> None:
        check_readout(self.readout)
        check_reduction(self.reduction, self.n_components)
        check_regularization(self.regularization)
        for name in ("standardize", "include_input"):
            check_choice(self, name, (True, False))
        whole(self.verbose, "verbose", least=0)
        if self.washout is not None:
            whole(self.washout, "washout", least=0, instead="None")
        for name, allowed in (("leak_rate", {"above": 0, "most": 1}), ("bias_scaling", {"least": 0})):
            if self.reservoir is None and not is_auto(getattr(self, name)):
                real(getattr(self, name), name, instead="'auto'", **allowed)
        if self.reservoir is not None and not isinstance(self.reservoir, StateTransformer):
            raise ValueError(f"reservoir={self.reservoir!r} must be a Reservoir, a NextGenerationReservoir or None")

    def _new_reservoir(self) -> Any:
        if self.reservoir is not None:
            return clone(self.reservoir)
        leak: Any = self.leak_rate  # numbers, once they are chosen
        bias: Any = self.bias_scaling
        return Reservoir(
            self.n_units,
            spectral_radius=self.spectral_radius,
            connectivity=self.connectivity,
            leak_rate=leak,
            input_scaling=self.input_scaling,
            bias_scaling=bias,
            teacher_scaling=self.teacher_scaling,
            feedback_scaling=self.feedback_scaling,
            noise=self.noise,
            random_state=self.random_state,
        )

    # Answers -----------------------------------------------------------------------------------------------

    def predict(self, U: Any, initial_state: str = "continue", groups: Any = None) -> Any:
        """Outputs of every step.

        Parameters
        ----------
        U : array-like (T, d), or list of them
        initial_state : {"continue", "zeros"}, default "continue"
            Whether the rows follow those of ``fit``, or are a sequence of their own, whose first outputs then suffer
            from a state that knows nothing yet. Several sequences always start from zero.
        groups : array-like (T,), optional

        Returns
        -------
        Y : ndarray (T,) or (T, q), or a list of them
            NaN from where a closed loop has diverged.
        """
        sequences, inputs, state = self._asked(U, initial_state, groups)
        found, rng = [], self.reservoir_.noise_source()
        for rows in inputs:
            course = self.reservoir_.start(state, n_steps=sequences.n_rows, rng=rng)
            if self.reservoir_.feedback_scaling > 0:
                fed = self._last_target if state is not None else np.zeros(self.n_outputs_)
                found.append(self._closed_loop(course, rows, fed))
                continue
            outputs = np.empty((len(rows), self.n_outputs_))
            for block in slices(len(rows), STRIP):
                outputs[block] = self._read(course.advance(rows[block]), rows[block])
            found.append(outputs)
        units = [self._in_units(part) for part in found]
        return sequences.answer([part[:, 0] for part in units] if self._one_target else units)

    def generate(self, n_steps: int, U: Any = None) -> Array:
        """Let a network that forecasts its own next input go on by itself.

        The first step after the rows of ``fit`` has the last target as its input; every later one the output before.
        There is no noise. Sums of sines need a small ``input_scaling`` (0.02), chaotic series a bias.

        Parameters
        ----------
        n_steps : int
        U : array-like (T, d), optional
            A sequence to go on from instead of that of ``fit``.

        Returns
        -------
        Y : ndarray (n_steps,) or (n_steps, d)
            NaN from where the loop has diverged.
        """
        check_is_fitted(self)
        n = whole(n_steps, "n_steps")
        if self.n_outputs_ != self.n_features_in_:
            raise ValueError(
                f"generate feeds outputs back as inputs, but there are {self.n_outputs_} outputs and "
                f"{self.n_features_in_} inputs; fit(U[:-1], U[1:])"
            )
        if U is None:
            course, fed = self.reservoir_.start(self.state_), self._last_target
            return self._answer(self._free_run(course, fed, n))
        rows = self._scaled(check_sequences(self, U, reset=False).parts[0])
        course = self.reservoir_.start()
        if self.reservoir_.feedback_scaling > 0:
            fed = self._closed_loop(course, rows, np.zeros(self.n_outputs_))[-1]
        else:
            fed = self._read(course.advance(rows)[-1:], rows[-1:])[0]
        rest = self._free_run(course, fed, n - 1) if n > 1 else np.empty((0, self.n_outputs_))
        return self._answer(np.vstack([fed[None], rest]))

    def states(self, U: Any, initial_state: str = "continue", groups: Any = None) -> Any:
        """States of the reservoir (T, N), before the reduction; parameters as in :meth:`predict`.

        With feedback, the predictions are fed back.
        """
        sequences, inputs, state = self._asked(U, initial_state, groups)
        if self.reservoir_.feedback_scaling <= 0:
            scaled = Sequences(inputs, sequences.listed, sequences.grouped, sequences.dtype)
            return sequences.answer(self.reservoir_._states(scaled, [None] * len(inputs), state))
        found, rng = [], self.reservoir_.noise_source()
        for rows in inputs:
            course = self.reservoir_.start(state, n_steps=len(rows), rng=rng)
            fed = self._last_target if state is not None else np.zeros(self.n_outputs_)
            held = np.empty((len(rows), self.reservoir_.n_states_))
            self._closed_loop(course, rows, fed, held)
            found.append(held)
        return sequences.answer(found)

    def transform(self, U: Any, initial_state: str = "continue", groups: Any = None) -> Any:
        """Reduced states (T, n_components_), the states where there is no reduction; as in :meth:`predict`."""
        refuse_frames_of(self, U)
        found = self.states(U, initial_state, groups)
        if self.reduction_ is None:
            return found
        listed = isinstance(found, list)
        parts = [np.asarray(self.reduction_.transform(H.astype(np.float64))).astype(H.dtype, copy=False)
                 for H in (found if listed else [found])]  # fmt: skip
        return parts if listed else parts[0]

    def advance(self, U: Any, Y: Any = None) -> EchoStateNetwork:
        """Move the state on through the rows that follow, without learning from them.

        Parameters
        ----------
        U : array-like (T, d)
        Y : array-like (T,) or (T, q), optional
            Targets, for feedback and :meth:`generate`; predictions take their place by default.

        Returns
        -------
        self : EchoStateNetwork
        """
        check_is_fitted(self)
        sequences = check_sequences(self, U, reset=False)
        if not sequences.single:
            raise ValueError("advance goes on with one sequence; pass an array X (T, d), not a list")
        rows = self._scaled(sequences.parts[0])
        course = self.reservoir_.start(self.state_, n_steps=len(rows), rng=self.reservoir_.noise_source())
        if Y is None and self.reservoir_.feedback_scaling > 0:
            last = self._closed_loop(course, rows, self._last_target)[-1]
        elif Y is None:
            for block in slices(len(rows), STRIP):
                H = course.advance(rows[block])
            last = self._read(H[-1:], rows[-1:])[0]
        else:
            fed = self._teacher(check_series(Y, sequences)[0])
            last = fed[-1]
            delayed = np.vstack([self._last_target[None], fed[:-1]])
            for block in slices(len(rows), STRIP):
                course.advance(rows[block], delayed[block])
        self.state_, self._last_target = course.state, last
        return self

    # Inside ------------------------------------------------------------------------------------------------

    def _asked(self, U: Any, initial_state: Any, groups: Any) -> tuple[Sequences, list[Array], Array | None]:
        """The sequences, their scaled rows and the state to start from."""
        check_is_fitted(self)
        one_of(initial_state, "initial_state", ("continue", "zeros"))
        sequences = check_sequences(self, U, groups, reset=False)
        state = self.state_ if sequences.single and initial_state == "continue" else None
        return sequences, [self._scaled(part) for part in sequences.parts], state

    def _scaled(self, U: Array) -> Array:
        return U if self._input_scaling is None else self._input_scaling.rows(U)

    def _teacher(self, Y: Array) -> Array:
        """Targets as the readout learns them, in standard units."""
        return Y if self._target_scaling is None else self._target_scaling.rows(Y)

    def _in_units(self, outputs: Array) -> Array:
        return outputs if self._target_scaling is None else self._target_scaling.original(outputs)

    def _answer(self, outputs: Array) -> Array:
        found = self._in_units(outputs).astype(self._dtype, copy=False)
        return found[:, 0] if self._one_target else found

    def _features(self, H: Array, U: Array) -> Array:
        """What the readout sees of states H and scaled inputs U."""
        parts = [H] if self._folded or self.reduction_ is None else [np.asarray(self.reduction_.transform(H))]
        if self.include_input:
            parts.append(getattr(self.reservoir_, "input_scaling", 1.0) * U)
        return np.hstack(parts)

    def _read(self, H: Array, U: Array) -> Array:
        """Outputs (T, q) in standard units."""
        S = self._features(H, U)
        if hasattr(self, "coef_"):
            return S @ self.coef_ + self.intercept_
        ratio = float(getattr(self.reservoir_, "teacher_scaling", 1.0))
        return np.asarray(self.readout_.predict(S)).reshape(len(S), -1) / ratio

    def _closed_loop(self, course: Any, rows: Array, fed: Array, held: Array | None = None) -> Array:
        """Outputs of each step, fed back into the next one; ``held`` takes the states."""
        outputs = np.full((len(rows), self.n_outputs_), np.nan)
        for t in range(len(rows)):
            H = course.advance(rows[t : t + 1], fed[None])
            fed = self._read(H, rows[t : t + 1])[0]
            if self._diverged(fed, t):
                if held is not None:
                    held[t:] = np.nan
                break
            outputs[t] = fed
            if held is not None:
                held[t] = H[0]
        return outputs

    def _free_run(self, course: Any, fed: Array, n_steps: int) -> Array:
        """Outputs of each step, which become the input of the next one."""
        outputs = np.full((n_steps, self.n_outputs_), np.nan)
        for t in range(n_steps):
            row = self._scaled(self._in_units(fed[None]))
            fed = self._read(course.advance(row, fed[None]), row)[0]
            if self._diverged(fed, t):
                break
            outputs[t] = fed
        return outputs

    def _diverged(self, fed: Array, step: int) -> bool:
        # Not "greater than": NaN has diverged too.
        if np.all(np.abs(fed) <= self._bound):
            return False
        warnings.warn(
            f"the closed loop diverged at step {step}; its outputs are NaN from there on. Another regularization, a "
            "smaller input_scaling or a smaller feedback_scaling may steady it",
            stacklevel=4,
        )
        return True

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
