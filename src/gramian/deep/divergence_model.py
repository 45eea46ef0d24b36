"""A fitted model of divergence-based clustering: how runs are joined to one, and what it answers.

:class:`gramian.deep.divergence.DivergenceClustering` adds the parameters and the training.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import numpy as np
import torch
from sklearn.base import ClusterMixin
from sklearn.metrics.pairwise import cosine_similarity
from torch import nn

from gramian.checks import whole
from gramian.clustering.ensemble.evidence import cut
from gramian.deep.architecture import Description, build
from gramian.deep.base import CodeTransformer, NetworkEstimator, load_weights
from gramian.deep.cluster_losses import (
    TERMS,
    divergence_terms,
    hidden_kernel,
    overlaps,
    squared_distances,
    width_square,
)
from gramian.deep.divergence_run import GIVEN, Run, check_term_weights, hidden_and_scores, width_at
from gramian.deep.saliency import guided_gradient
from gramian.deep.training import warn_if_unsettled
from gramian.deep.votes import align_labels, consensus_tables, majority
from gramian.grams.tiles import slices
from gramian.kernels import RBF
from gramian.typing import Array

_MERGED_TOGETHER = 1000  # rows whose kernel is looked at together when parts are merged
_WIDTH_ROWS = 2000
_SALIENCY_ROWS = 64


class DivergenceModel(CodeTransformer, ClusterMixin, NetworkEstimator):
    """What a fitted :class:`~gramian.deep.DivergenceClustering` does; the parameters are told there."""

    network: Any
    width: str | float | Callable[[int], Any]
    term_weights: Any
    divergence: str
    combine: str

    labels_: Array
    tables_: Array
    width_: float
    n_units_: int

    # Joining runs ------------------------------------------------------------------------------------------

    def _finish(
        self,
        runs: list[Run],
        X: Any,
        rows: Array,
        described: Description,
        k: int,
        learned: dict[str, Any],
        rng: np.random.Generator,
    ) -> None:
        """Join the runs to one model."""
        losses = np.array([found.loss for found in runs])
        good = np.array([place for place, found in enumerate(runs) if not found.failure])
        order = good[np.argsort(losses[good], kind="stable")]
        n_outputs = learned["tables_"].shape[1]
        outputs, tables = np.zeros((len(runs), len(rows)), np.intp), np.zeros((len(runs), n_outputs, k))
        run_labels, soft = np.full(outputs.shape, -1), {}
        for place in good:
            view = self._view(runs[place].weights, X, described, learned)
            soft[int(place)], tables[place] = view._outputs(rows), view._merged(rows, k)
            outputs[place] = np.argmax(soft[int(place)], axis=1)
            run_labels[place] = np.argmax(tables[place], axis=1)[outputs[place]]
        kept, tables = self._joined(order, outputs, run_labels, tables, k, rng)
        weights, best = runs[kept[0]].weights, runs[kept[0]]
        if len(kept) > 1:
            weights = {f"run{i}.{name}": array for i in kept for name, array in runs[i].weights.items()}
            described = {"kind": "parts", "modules": {f"run{i}": described for i in kept}}
        learned |= {"tables_": tables}
        view = self._view(weights, X, described, learned)
        learned["width_"] = view._kernel_width(rows, best.n_iter, rng)
        learned["n_units_"] = view._hidden(rows[:1]).shape[1]
        labels = view._chosen(np.stack([soft[place] for place in kept], axis=1))  # as predict(X), asked once
        self._keep(
            view._module().float(),
            X,
            described,
            **learned,
            labels_=labels,
            n_clusters_=k,
            loss_=best.loss,
            run_losses_=losses,
            run_labels_=run_labels,
            term_curves_=best.curves,
            n_iter_=best.n_iter,
        )
        if (used := len(np.unique(labels))) < k:
            warn_if_unsettled(
                f"DivergenceClustering put all rows into {used} of {k} clusters; pass n_init=5, a larger max_iter or a "
                "smaller n_clusters"
            )

    def _view(self, weights: dict[str, Array], X: Any, described: Description, learned: dict[str, Any]) -> Any:
        """A fitted copy with other weights."""
        module = self._build(described)
        load_weights(module, weights)
        view = copy(self)
        view._keep(module, X, described, **learned)
        return view

    def _joined(
        self, order: Array, outputs: Array, run_labels: Array, tables: Array, k: int, rng: np.random.Generator
    ) -> tuple[list[int], Array]:
        """The runs that are kept, best first, and how their outputs make up the clusters."""
        best = int(order[0])
        if self.combine == "best" or len(order) == 1:
            return [best], tables[[best]]
        if self.combine == "consensus":
            kept = order.tolist()
            return kept, consensus_tables(outputs[kept], tables.shape[1], k, rng)
        kept = order[:3].tolist()
        for place in kept[1:]:
            mapping = align_labels(run_labels[best], run_labels[place], n_clusters=k, return_mapping=True)[1]
            tables[place] = tables[place][:, np.argsort(mapping)]
        return kept, tables[kept]

    def _merged(self, rows: Array, k: int) -> Array:
        """Which cluster each output of a single network belongs to, (n_outputs, k): more outputs are merged to k."""
        n_outputs = self.tables_.shape[1]
        if n_outputs == k:
            return np.eye(k)
        scaled, module, total = self._scaled(rows), self._module(), torch.zeros(())
        cosine = self.divergence == "kl-cosine"
        parts = list(slices(len(rows), _MERGED_TOGETHER))
        for part in parts:
            with torch.inference_mode():
                hidden, scores = hidden_and_scores(module, self._on_device(scaled[part]))
                K = hidden_kernel(hidden, width_at(self.width, int(self.max_iter)), cosine=cosine)
                total = total + overlaps(K, torch.softmax(scores, dim=1)) / len(parts)
        distances = np.clip(1 - total.cpu().numpy(), 0, 1)
        from scipy.cluster.hierarchy import linkage  # slow to import

        tree = linkage(distances[np.triu_indices(n_outputs, 1)], "average")
        return np.eye(k)[cut(tree, k)]

    def _build(self, description: Description) -> nn.Module:
        if description["kind"] == "parts":
            return nn.ModuleDict({name: self._build(part) for name, part in description["modules"].items()})
        return deepcopy(self.network) if description["kind"] == GIVEN else build(description)

    # Answers -----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Cluster of each row.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        labels : ndarray (n,)
            Of the largest probability; with ``combine="vote"`` that of most networks.
        """
        rows = self._check_new(X)
        return self._chosen(self._outputs(rows).reshape(len(rows), len(self.tables_), -1))

    def _chosen(self, outputs: Array) -> Array:
        """Cluster of each row, from the outputs (n, n_kept, n_outputs) of the kept networks."""
        if self.combine == "vote":
            votes = [np.argmax(outputs[:, r] @ table, axis=1) for r, table in enumerate(self.tables_)]
            return majority(np.array(votes))
        return np.argmax(self._shares(outputs, self.tables_.shape[2]), axis=1)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each cluster, the mean over the kept networks.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        probabilities : ndarray (n, n_clusters)
        """
        rows = self._check_new(X)
        outputs = self._outputs(rows).reshape(len(rows), len(self.tables_), -1)
        return self._shares(outputs, self.tables_.shape[2]).astype(rows.dtype, copy=False)

    def _shares(self, outputs: Array, k: int) -> Array:
        shares = (
            np.einsum("nro,rok->nk", outputs, self.tables_)
            if len(self.tables_) > 1
            else outputs[:, 0] @ self.tables_[0]
        )
        return shares / shares.sum(axis=1, keepdims=True)

    def transform(self, X: Any) -> Array:
        """Last hidden layer of the best network.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        Z : ndarray (n, units)
        """
        rows = self._check_new(X)
        return self._hidden(rows).astype(rows.dtype, copy=False)

    def kernel(self, X: Any, Y: Any = None) -> Array:
        """Kernel of the last hidden layer between rows, with the width of the fitted rows.

        Parameters
        ----------
        X : array-like (n, d)
        Y : array-like (m, d), optional
            X by default.

        Returns
        -------
        K : ndarray (n, m)
        """
        rows = self._check_new(X)
        Z = self._hidden(rows)
        other = Z if Y is None else self._hidden(self._check_new(Y))
        if self.divergence == "kl-cosine":
            return cosine_similarity(Z, other).astype(rows.dtype) / 2 + rows.dtype.type(0.5)
        if np.isnan(self.width_):
            raise ValueError("kernel has no width while the network is trained; ask for it after fit")
        found: Array = RBF(self.width_).fit(Z)(Z, other)
        return found.astype(rows.dtype, copy=False)

    def top_ranked(self, X: Any, n: int = 10) -> Array:
        """The rows that belong to each cluster most clearly.

        Parameters
        ----------
        X : array-like (n_samples, d)
        n : int, default 10
            Rows per cluster; all of them where there are fewer.

        Returns
        -------
        rows : ndarray of int (n_clusters, n)
            Numbers of the rows of the highest probability for the cluster, highest first.
        """
        whole(n, "n")
        shares = self.predict_proba(X)
        order = np.argsort(-shares, axis=0, kind="stable")[:n]
        return order.T

    def saliency(self, X: Any, target: Any = None) -> Array:
        """Which columns, or pixels, speak for the cluster of each row, by guided back-propagation in the best network.

        Parameters
        ----------
        X : array-like (n, d)
        target : int or array-like of int (n,), optional
            The cluster to speak for; by default that of each row.

        Returns
        -------
        S : ndarray (n, d)
            Positive where a larger value raises the cluster's score before the softmax.
        """
        rows = self._check_new(X)
        k = self.tables_.shape[2]
        targets = self.predict(X) if target is None else np.asarray(target)
        if (
            targets.dtype.kind not in "iu"
            or targets.shape not in ((), (len(rows),))
            or not np.all((targets >= 0) & (targets < k))
        ):
            raise ValueError(
                f"target={target!r} must be one cluster from 0 to {k - 1}, or one for each of {len(rows)} rows"
            )
        targets = np.broadcast_to(targets, len(rows))
        logs = torch.log(torch.tensor(self.tables_[0]))
        scaled, network = self._scaled(rows), self._networks(self._module())[0]
        found = np.empty(scaled.shape)
        for part in slices(len(rows), _SALIENCY_ROWS):
            chosen = torch.tensor(targets[part].astype(np.int64))

            def score(values: Any, chosen: Any = chosen) -> Any:
                scores = hidden_and_scores(network, values)[1]
                # Outputs that make up the cluster together speak together.
                return torch.logsumexp(scores + logs[:, chosen].T.to(scores), dim=1)

            found[part] = guided_gradient(network, score, self._on_device(scaled[part])).cpu().numpy()
        return (found / self.scaling_["scale"]).astype(rows.dtype, copy=False)

    def term_values(self, X: Any) -> dict[str, float]:
        """The loss and its three terms for some rows, as training sees them.

        Parameters
        ----------
        X : array-like (n, d)
            Cut into batches of ``batch_size``, an incomplete last one left out; normalised over the batch.

        Returns
        -------
        values : dict
            Means of ``"separation"``, ``"orthogonality"`` and ``"corners"``, and of ``"loss"``, their weighted sum.
        """
        rows = self._check_new(X)
        if len(rows) < 2:
            raise ValueError("X has one row, but the terms compare pairs of rows; pass at least two rows")
        scaled, network = self._scaled(rows), deepcopy(self._networks(self._module())[0]).train()
        size = min(self.batch_size, len(rows))
        options = {name: getattr(self, name) for name in ("orthogonality", "pair_normalization", "divergence")}
        sums = np.zeros(3)
        starts = range(0, len(rows) - size + 1, size)
        for start in starts:
            with torch.inference_mode():
                hidden, scores = hidden_and_scores(network, self._on_device(scaled[start : start + size]))
                width = width_at(self.width, self._last_step())
                terms = divergence_terms(hidden, torch.softmax(scores, dim=1), width=width, **options)
            sums += [term.item() for term in terms]
        means = sums / len(starts)
        total = float(np.dot(means, check_term_weights(self.term_weights)))
        return {"loss": total} | dict(zip(TERMS, means.tolist(), strict=True))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the loss of some rows, see :meth:`term_values`; larger is better.

        Parameters
        ----------
        X : array-like (n, d)
        y : ignored
        """
        return -self.term_values(X)["loss"]

    def _outputs(self, rows: Array) -> Array:
        """Softmax outputs of all kept networks side by side, in double precision."""

        def outputs(module: nn.Module, chunk: Any) -> Any:
            parts = [torch.softmax(hidden_and_scores(part, chunk)[1], dim=1) for part in self._networks(module)]
            return torch.cat(parts, dim=1)

        return self._answer(outputs, self._scaled(rows))

    def _hidden(self, rows: Array) -> Array:
        return self._answer(
            lambda module, chunk: hidden_and_scores(self._networks(module)[0], chunk)[0], self._scaled(rows)
        )

    def _networks(self, module: nn.Module) -> list[nn.Module]:
        return list(module.values()) if self.architecture_["kind"] == "parts" else [module]

    def _kernel_width(self, rows: Array, step: int, rng: np.random.Generator) -> float:
        """σ by the width rule over the fitted rows, or 2,000 of them."""
        part = rows if len(rows) <= _WIDTH_ROWS else rows[rng.choice(len(rows), _WIDTH_ROWS, replace=False)]
        square = width_square(squared_distances(torch.tensor(self._hidden(part))), width_at(self.width, step))
        return float(np.sqrt(float(square)))

    @property
    def _n_features_out(self) -> int:
        if hasattr(self, "n_units_"):
            return self.n_units_
        return int(self._hidden(np.zeros((1, self.n_features_in_))).shape[1])  # of the copy that a callback gets

    def _last_step(self) -> int:
        return getattr(self, "n_iter_", int(self.max_iter))

    def _on_device(self, values: Array) -> Any:
        device = next((p.device for p in self._module().parameters()), torch.device("cpu"))
        return torch.tensor(values, dtype=torch.float64).to(device)
