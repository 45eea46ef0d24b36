"""Search for hyper-parameters by a genetic algorithm, with random search at the same budget beside it.

Any estimator can be searched; :func:`search_space` is the published box for echo state networks. The search itself is
:mod:`gramian.reservoir._population`; the estimator evaluates, counts and keeps.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, _num_samples, check_is_fitted, column_or_1d, indexable

from gramian.checks import check_choice, is_real, is_whole, real, whole
from gramian.diagram import Estimator
from gramian.metrics import nrmse
from gramian.partitions import DistributedAnswers, in_one_place, in_parts, refuse_partitions
from gramian.randomness import generator
from gramian.reservoir._population import FAILED, Judge, Population, offspring
from gramian.typing import RandomState


@dataclass(frozen=True)
class Box:
    """The range of one hyper-parameter.

    Attributes
    ----------
    low, high : float
    step : float, optional
        Standard deviation of a mutation; by default a tenth of the range.
    whole : bool
        Whether values are rounded to whole numbers.
    log : bool
        Whether values are drawn and mutated by their logarithms, so that 0.001 to 0.01 is as likely as 0.1 to 1. The
        step is then one of the natural logarithm, and low must be positive.
    """

    low: float
    high: float
    step: float | None = None
    whole: bool = False
    log: bool = False

    def __post_init__(self) -> None:
        if self.log and not (self.low > 0 and self.high > 0):
            raise ValueError(
                f"low={self.low!r} and high={self.high!r} of a box with log=True must be positive, since 0 has no "
                "logarithm; pass a small low such as 1e-6, or log=False"
            )

    @property
    def ends(self) -> tuple[float, float]:
        """The range of the gene: the values themselves, or their logarithms."""
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    @property
    def sigma(self) -> float:
        low, high = self.ends
        return (high - low) / 10 if self.step is None else self.step

    def value(self, gene: float) -> float | int:
        """The hyper-parameter as the estimator gets it."""
        value = min(max(math.exp(gene), self.low), self.high) if self.log else float(gene)  # exp(log(x)) may miss x
        return round(value) if self.whole else value


def search_space(*, reduction: str | None = None, readout: str = "ridge") -> dict[str, Box]:
    """The published ranges of hyper-parameters of echo state networks.

    Parameters
    ----------
    reduction : {None, "pca", "kpca"}
        "kpca" is for a network with ``reduction=KernelPCA(kernel=RBF(1.0))``: its width is searched.
    readout : {"ridge", "nu_svr"}
        "nu_svr" is for a network with ``readout=NuSVR()`` of scikit-learn: its C, ν and γ are searched.

    Returns
    -------
    boxes : dict of str to Box
        For ``GeneticSearch(EchoStateNetwork(...), param_space=boxes)``.

    References
    ----------
    Løkse, Bianchi, Jenssen (2017). Training echo state networks with regularization through dimensionality reduction.
    Cognitive Computation 9. Table 2.

    Examples
    --------
    >>> sorted(search_space(reduction="pca"))[:3]
    ['feedback_scaling', 'input_scaling', 'n_components']
    """
    boxes = {
        "n_units": Box(100, 500, 5, whole=True),
        "noise": Box(0.0, 0.1, 0.01),
        "input_scaling": Box(0.1, 0.9, 0.08),
        "teacher_scaling": Box(0.1, 0.9, 0.08),
        "feedback_scaling": Box(0.0, 0.6, 0.06),
        "spectral_radius": Box(0.5, 1.4, 0.09),
    }
    if reduction not in (None, "pca", "kpca"):
        raise ValueError(f"reduction={reduction!r} has no published box; pass None, 'pca' or 'kpca'")
    if reduction == "pca":
        boxes["n_components"] = Box(0.001, 1.0, 0.1)
    if reduction == "kpca":  # γ from 0.001 to 0.1, as widths 1 / √(2γ)
        boxes["reduction__n_components"] = Box(1, 500, 50, whole=True)
        boxes["reduction__kernel__width"] = Box(2.24, 22.4, 2.0)
    if readout == "ridge":
        return boxes | {"regularization": Box(0.001, 1.0, 0.1)}
    if readout == "nu_svr":
        return boxes | {
            "readout__C": Box(0.001, 10.0, 1.0),
            "readout__nu": Box(0.001, 1.0, 0.1),
            "readout__gamma": Box(0.001, 1.0, 0.1),
        }
    raise ValueError(f"readout={readout!r} has no published box; pass 'ridge' or 'nu_svr'")


def _delegated(name: str) -> Callable[[Any], bool]:
    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class GeneticSearch(MetaEstimatorMixin, DistributedAnswers, Estimator):
    """Choose hyper-parameters by a genetic algorithm: mutate, cross and keep the best.

    The objective of a candidate is (1 − a) · error + a · d / N, where the error is that on the last rows, which are not
    fitted, averaged over ``n_evaluations`` fits that differ in their ``random_state`` only. All candidates are judged
    with the same random states, so that luck does not decide. d / N is the share of components that a reduction keeps
    (``n_components_ / n_units`` where the estimator has them), a is ``dimension_weight``.

    In every generation ``n_offspring`` candidates come from crossing two random parents (each gene is taken from either
    with probability ½), from mutating one (each gene is moved by a normal step with probability
    ``gene_mutation_prob``), or as copies. Those met before are not fitted again; they stay, and more are drawn until
    ``n_offspring`` new ones are judged. The best candidate and winners of tournaments survive.

    Parameters
    ----------
    estimator : estimator
    param_space : dict of str to Box, or to (low, high)
        A pair of whole numbers is a range of whole numbers. :func:`search_space` has the box for echo state networks.
    population_size : int, default 50
    n_generations : int, default 20
    n_offspring : int, default 35
        New candidates of every generation; fewer where a small box has no more.
    crossover_prob, mutation_prob, gene_mutation_prob : float, default 0.5, 0.2, 0.2
    tournament_size : int, default 4
    n_evaluations : int, default 5
        Fits of every candidate; 1 is enough for estimators that draw no random numbers.
    dimension_weight : float, default 0.0
        a, from 0 to 1; the paper has 0.1.
    objective : {"weighted", "lexicographic"}, default "weighted"
        "lexicographic" compares the error first and d / N among equal ones, as the published code does.
    method : {"genetic", "random"}, default "genetic"
        "random" draws as many candidates at random, with the same history: what the genetic search must beat. With a
        ν-SVR on 2,500 steps of NARMA and 300 candidates in the published box (50, then 25 generations of 10) the
        validation error was .061, and .199 at random.
    error : callable, optional
        ``error(estimator, X, y)``, smaller is better; by default the normalised root mean square error of regressors,
        and 1 − score of others.
    validation : float, default 0.2
        Share of the rows, the last ones, that candidates are judged on.
    refit : bool, default True
        Whether the best candidate is fitted to all rows, for ``predict``.
    time_budget : float, optional
        Seconds after which no further generation is begun.
    n_jobs : int, optional
        Candidates evaluated at the same time; results do not depend on it.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    best_params_ : dict
    best_score_ : float
        The smallest objective.
    best_error_ : float
        Its error.
    best_estimator_ : estimator
        With ``refit=True``.
    history_ : dict of ndarray
        "generation", "evaluations" (candidates so far), and the "best", "mean" and "std" of the errors that survive.
    results_ : dict of list
        All candidates in the order of their evaluation: "params", "error", "dimension", "objective".

    References
    ----------
    Løkse, Bianchi, Jenssen (2017). Training echo state networks with regularization through dimensionality reduction.
    Cognitive Computation 9.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from gramian.reservoir import GeneticSearch
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 30))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> search = GeneticSearch(
    ...     Ridge(), param_space={"alpha": (0.01, 300.0)}, population_size=8, n_evaluations=1, random_state=0
    ... ).fit(X, y)
    >>> search.best_params_["alpha"] > 10
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        param_space: Mapping[str, Box | tuple[float, float]],
        population_size: int = 50,
        n_generations: int = 20,
        n_offspring: int = 35,
        crossover_prob: float = 0.5,
        mutation_prob: float = 0.2,
        gene_mutation_prob: float = 0.2,
        tournament_size: int = 4,
        n_evaluations: int = 5,
        dimension_weight: float = 0.0,
        objective: str = "weighted",
        method: str = "genetic",
        error: Callable[[Any, Any, Any], float] | None = None,
        validation: float = 0.2,
        refit: bool = True,
        time_budget: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.param_space = param_space
        self.population_size = population_size
        self.n_generations = n_generations
        self.n_offspring = n_offspring
        self.crossover_prob = crossover_prob
        self.mutation_prob = mutation_prob
        self.gene_mutation_prob = gene_mutation_prob
        self.tournament_size = tournament_size
        self.n_evaluations = n_evaluations
        self.dimension_weight = dimension_weight
        self.objective = objective
        self.method = method
        self.error = error
        self.validation = validation
        self.refit = refit
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GeneticSearch:
        """Search, and fit the best candidate to all rows.

        Parameters
        ----------
        X : array-like (n, d)
            In the order of time, if they have one.
        y : array-like (n,) or (n, q)

        Returns
        -------
        self : GeneticSearch
        """
        refuse_partitions(self, X)
        boxes = self._check()
        if y is None:
            raise ValueError("GeneticSearch requires y to be passed, but the target y is None")
        X, y = indexable(X, y)
        if np.ndim(y) == 2 and np.shape(y)[1] == 1:
            y = column_or_1d(y, warn=True)
        rng = generator(self.random_state)
        seeds = [int(seed) for seed in rng.integers(2**31 - 1, size=int(self.n_evaluations))]
        population = Population(self, boxes, _judge(self, X, y, seeds))
        started = time.monotonic()
        lows, highs = np.array([box.ends for box in boxes.values()]).T
        population.add(rng.uniform(lows, highs, size=(int(self.population_size), len(boxes))))
        if population.best[1] >= FAILED:
            raise ValueError(f"no candidate could be fitted; the last error was: {population.trouble}")
        for _ in range(int(self.n_generations)):
            if self.time_budget is not None and time.monotonic() - started >= self.time_budget:
                break
            if self.method == "random":
                population.add(rng.uniform(lows, highs, size=(int(self.n_offspring), len(boxes))))
            else:
                population.add(offspring(population, self, boxes, rng))
            population.survive(rng)
        best = population.params_of(population.best_genes)
        fitted = clone(self.estimator).set_params(**best).fit(X, y) if self.refit else None
        self.best_params_ = best
        self.best_error_, self.best_score_ = population.best
        self.history_ = {name: np.array(values) for name, values in population.history.items()}
        self.results_ = population.results
        if fitted is not None:
            self.best_estimator_ = fitted
            if hasattr(fitted, "n_features_in_"):
                self.n_features_in_ = fitted.n_features_in_
            _check_feature_names(self, X, reset=True)
        return self

    def _check(self) -> dict[str, Box]:
        for name in ("population_size", "tournament_size", "n_evaluations"):
            whole(getattr(self, name), name)
        for name in ("n_generations", "n_offspring"):
            whole(getattr(self, name), name, least=0)
        for name in ("crossover_prob", "mutation_prob", "gene_mutation_prob", "dimension_weight"):
            real(getattr(self, name), name, least=0, most=1)
        real(self.validation, "validation", above=0, below=1)
        if self.time_budget is not None:
            real(self.time_budget, "time_budget", least=0, instead="None")
        check_choice(self, "objective", ("weighted", "lexicographic"))
        check_choice(self, "method", ("genetic", "random"))
        check_choice(self, "refit", (True, False))
        if self.error is not None and not callable(self.error):
            raise TypeError(f"error={self.error!r} must be callable as error(estimator, X, y), or None")
        if self.n_jobs is not None and (not is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs={self.n_jobs!r} must be a whole number other than 0, or None")
        if not (hasattr(self.estimator, "fit") and hasattr(self.estimator, "get_params")):
            raise TypeError(f"estimator={self.estimator!r} must be an estimator with fit and get_params")
        if self.crossover_prob + self.mutation_prob > 1:
            raise ValueError(
                f"crossover_prob={self.crossover_prob} and mutation_prob={self.mutation_prob} sum to more than 1; an "
                "offspring comes from one of them, or is a copy"
            )
        return _boxes(self.param_space, self.estimator)

    # Answers of the best candidate -------------------------------------------------------------------------

    @available_if(_delegated("predict"))
    @in_parts
    def predict(self, X: Any) -> Any:
        """Predictions of the best candidate."""
        return self._best().predict(X)

    @available_if(_delegated("predict_proba"))
    @in_parts
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the best candidate."""
        return self._best().predict_proba(X)

    @available_if(_delegated("decision_function"))
    @in_parts
    def decision_function(self, X: Any) -> Any:
        """Decision values of the best candidate."""
        return self._best().decision_function(X)

    @available_if(_delegated("transform"))
    @in_parts
    def transform(self, X: Any) -> Any:
        """X transformed by the best candidate."""
        return self._best().transform(X)

    @available_if(_delegated("score"))
    @in_one_place
    def score(self, X: Any, y: Any = None) -> float:
        """The best candidate's own score, larger is better."""
        return float(self._best().score(X, y))

    @property
    def classes_(self) -> Any:
        """Classes of the best candidate, if it is a classifier."""
        return self._best().classes_

    def _best(self) -> Any:
        check_is_fitted(self, "best_params_")
        if not self.refit:
            raise AttributeError("the best candidate was not fitted; pass refit=True")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.input_tags = own.estimator_type, own.input_tags
        tags.classifier_tags, tags.regressor_tags, tags.target_tags = (
            own.classifier_tags,
            own.regressor_tags,
            own.target_tags,
        )
        return tags


# Judging ---------------------------------------------------------------------------------------------------


def _judge(search: GeneticSearch, X: Any, y: Any, seeds: list[int]) -> Judge:
    """The error and d / N of candidates: mean over the random states."""
    n = _num_samples(X)
    held_back = int(np.ceil(search.validation * n))
    if not 0 < held_back < n:
        raise ValueError(
            f"validation={search.validation} of n_samples={n} leaves no rows to fit or to judge by; pass more samples"
        )
    before, after = slice(0, n - held_back), slice(n - held_back, n)
    rows, targets = (_rows(X, before), _rows(X, after)), (_rows(y, before), _rows(y, after))
    has_seed = "random_state" in search.estimator.get_params()
    error = search.error or (_nrmse if is_regressor(search.estimator) else _loss)

    def judge(params: dict[str, Any]) -> tuple[float, float, str]:
        found, share = [], []
        for seed in seeds:
            model = clone(search.estimator).set_params(**params, **({"random_state": seed} if has_seed else {}))
            try:
                with warnings.catch_warnings():  # thousands of candidates would each say that they are odd
                    warnings.simplefilter("ignore")
                    model.fit(rows[0], targets[0])
                    value = float(error(model, rows[1], targets[1]))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as trouble:
                return FAILED, 1.0, str(trouble)
            if not np.isfinite(value):
                return FAILED, 1.0, f"the error is {value}"
            found.append(value)
            share.append(_kept_share(model))
        return float(np.mean(found)), float(np.mean(share)), ""

    return judge


def _rows(data: Any, part: slice) -> Any:
    return data.iloc[part] if hasattr(data, "iloc") else data[part]


def _nrmse(model: Any, X: Any, y: Any) -> float:
    """The normalised error; of rows whose targets are all alike, the root mean square error itself."""
    found = np.asarray(model.predict(X))
    true = np.asarray(y)
    return nrmse(true, found) if np.ptp(true, axis=0).any() else float(np.sqrt(np.mean((found - true) ** 2)))


def _loss(model: Any, X: Any, y: Any) -> float:
    return 1 - float(model.score(X, y))


def _kept_share(model: Any) -> float:
    kept, units = getattr(model, "n_components_", None), getattr(model, "n_units", None)
    return 1.0 if kept is None or units is None else kept / units


# Boxes -----------------------------------------------------------------------------------------------------


def _boxes(space: Any, estimator: Any) -> dict[str, Box]:
    if not isinstance(space, Mapping) or not space:
        raise ValueError(f"param_space={space!r} must be a dict of at least one hyper-parameter to (low, high) or Box")
    known = estimator.get_params()
    boxes = {}
    for name, value in space.items():
        if name not in known:
            raise ValueError(f"param_space has {name!r}, which is not a parameter of {type(estimator).__name__}")
        if not isinstance(value, Box):
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
                raise ValueError(f"param_space[{name!r}]={value!r} must be (low, high) or a Box")
            low, high = value
            _check_ends(name, low, high)
            value = Box(low, high, whole=all(isinstance(end, int | np.integer) for end in (low, high)))
        _check_ends(name, value.low, value.high)
        if value.step is not None and not is_real(value.step):
            raise ValueError(f"param_space[{name!r}] has step={value.step!r}, which must be a number >= 0 or None")
        if not (np.isfinite(value.low) and np.isfinite(value.high) and value.low <= value.high and value.sigma >= 0):
            raise ValueError(f"param_space[{name!r}]={value!r} must have finite ends with low <= high, and step >= 0")
        boxes[name] = value
    return boxes


def _check_ends(name: str, low: Any, high: Any) -> None:
    if not (is_real(low) and is_real(high)):
        raise ValueError(
            f"param_space[{name!r}] goes from {low!r} to {high!r}, which are not numbers; the search is for ranges of "
            "numbers only: search once for each word or switch"
        )
