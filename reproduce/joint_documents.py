"""NIPS papers of 1987 to 1999 in the thesis on joint ranking and clustering: four themes and their best-ranked titles.

The thesis has the words of whole papers: 1,740 papers, 13,649 words, reduced to 20 dimensions by an SVD of the counts.
That table is not available. ``text/nips12_abstracts.npz`` has the same 1,740 papers by the words of title and abstract,
with titles; ``text/nips_uci_1500.npz`` has the words of whole papers, 1,500 of them, without titles, so that only
sizes and the words of the best-ranked papers can be told. Each is run by mixtures of diagonal and of full covariances,
in the thesis' embedding and its normalised variant, and by counts scaled to rows of length one.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import load_npz
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from reproduce.baselines import Ensemble
from reproduce.joint import (
    data_file,
    figure,
    full_covariances,
    joint,
    matched,
    overlap,
    participation,
    plain,
    quietly,
    side_by_side,
)
from reproduce.table import Experiment, Options, Record, Task, markdown, select

ABSTRACTS, PAPERS = "title and abstract", "whole papers (1,500)"
FILES = {ABSTRACTS: "text/nips12_abstracts.npz", PAPERS: "text/nips_uci_1500.npz"}
METHODS = {
    "diagonal": ("counts", "counts, normalised"),
    "full": ("full covariances", "full covariances, normalised"),
    "unit": ("rows of length one",),
}
"""Kind of kernel → embeddings of it; "normalised" are the normalised ones."""

SHOWN = "counts, normalised"
"""Whose titles are listed: under the thesis' own embedding some lists are of a single paper."""

DIMENSIONS = 20
TOP = 20
WORDS = 12

SIZES = {"red": 621, "blue": 522, "green": 413, "black": 184}
THEMES = {
    "red": "statistics and theory",
    "blue": "architectures and applications",
    "green": "biology",
    "black": "reinforcement learning",
}
"""As the thesis reads the lists."""

PUBLISHED = {
    "red": (
        "Monotonicity Limits",
        "The Error Coding and Substitution PaCTs",
        "Probabilistic Methods for Support Vector Machines",
        "Discovering Hidden Features with Gaussian Processes Regression",
        "General Bounds on Bayes Errors for Regression with Gaussian Processes",
        "Learning Curves for Gaussian Processes",
        "Extensions of a Theory of Networks for Approximation and Learning",
        "From Data Distributions to Regularization in Invariant Learning",
        "Geometry of Early Stopping in Linear Networks",
        "Practical Confidence and Prediction Intervals",
        "NeuroScale: Novel Topographic Feature Extraction using RBF Networks",
        "Asymptotics of Gradient-based Neural Network Training Algorithms",
        "Bayesian Query Construction for Neural Network Models",
        "Generalization Properties of Radial Basis Functions",
        "Predictive Approaches for Choosing Hyperparameters in Gaussian Processes",
        "The Generalisation Cost of RAMnets",
        "Bayesian Transduction",
        "An Information-theoretic Learning Algorithm for Neural Network Classification",
        "Radial Basis Functions: A Bayesian Treatment",
        "Ordered Classes and Incomplete Examples in Classification",
    ),
    "blue": (
        "Integrated Segmentation and Recognition of Hand-Printed Numerals",
        "Applications of Error Back-Propagation to Phonetic Classification",
        "A Short-Term Memory Architecture for the Learning of Morphophonemic Rules",
        'Signature Verification Using a "Siamese" Time Delay Neural Network',
        "A Connectionist Technique for Accelerated Textual Input",
        "A Self-Organizing Integrated Segmentation and Recognition Neural Net",
        "Generalization Performance in PARSEC",
        "Multi-Digit Recognition Using a Space Displacement Neural Network",
        "Dimensionality Reduction and Prior Knowledge in E-Set Recognition",
        "Tonal Music as a Componential Code",
        "A Constructive RBF Network for Writer Adaptation",
        "A Large-Scale Neural Network Which Recognizes Handwritten Kanji Characters",
        "Incremental Parsing by Modular Recurrent Connectionist Networks",
        "Connectionist Music Composition Based on Melodic and Stylistic Constraints",
        "A Convolutional Neural Network Hand Tracker",
        "Recognizing Overlapping Hand-Printed Characters",
        "Learning to See Where and What",
        "Handwritten Digit Recognition with a Back-Propagation Network",
        "Natural Dolphin Echo Recognition Using an Integrator Gateway Network",
        "SEXNET: A Neural Network Identifies Sex From Human Faces",
    ),
    "green": (
        "A Computer Modeling Approach to Understanding the Inferior Olive",
        "The Computation of Sound Source Elevation in the Barn Owl",
        "Computer Simulation of Oscillatory Behavior in Cerebral Cortical Networks",
        "Interaction Among Ocularity, Retinotopy and On-center/Off-center Pathways",
        "A Computationally Robust Anatomical Model for Retinal Directional Selectivity",
        "Retinocollicular Development: The Role of Competition and Correlated Retinal Activity",
        "Visual Cortex Circuitry and Orientation Tuning",
        "Orientation Contrast Sensitivity from Long-range Interactions in Visual Cortex",
        "Neural Network Simulation of Somatosensory Representational Plasticity",
        "Analog Computation at a Critical Point",
        "An Architectural Mechanism for Direction-tuned Cortical Simple Cells",
        "Feedback Synapse to Cone and Light Adaptation",
        "Instabilities in Eye Movement Control",
        "Mapping Between Neural and Physical Activities of the Lobster Gastric Mill",
        "Lower Boundaries of Motoneuron Desynchronization via Renshaw Interneurons",
        "Development and Regeneration of Eye-Brain Maps",
        "Effects of Spike Timing Underlying Binocular Integration and Rivalry",
        "The Electrotonic Transformation",
        "The Role of Activity in Synaptic Competition at the Neuromuscular Junction",
        "An Analog VLSI Model of Central Pattern Generation in the Leech",
    ),
    "black": (
        "Convergence of Indirect Adaptive Asynchronous Value Iteration Algorithms",
        "Reinforcement Learning Methods for Continuous-Time Markov Decision Problems",
        "Risk Sensitive Reinforcement Learning",
        "Memory-based Reinforcement Learning: Efficient Computation with Prioritized Sweeping",
        "Scheduling Straight-Line Code Using Reinforcement Learning and Rollouts",
        "Finite-Sample Convergence Rates for Q-Learning and Indirect Algorithms",
        "Reinforcement Learning for Continuous Stochastic Control Problems",
        "Low Power Wireless Communication via Reinforcement Learning",
        "Adaptive Choice of Grid and Time in Reinforcement Learning",
        "The Asymptotic Convergence-Rate of Q-learning",
        "Automated Aircraft Recovery via Reinforcement Learning",
        "Enhancing Q-Learning for Optimal Asset Allocation",
        "Learning Macro-Actions in Reinforcement Learning",
        "Optimal Asset Allocation Using Adaptive Dynamic Programming",
        "Stable Fitted Reinforcement Learning",
        "Exploring Unknown Environments with Real-Time Search or Reinforcement Learning",
        "Generalization in Reinforcement Learning: Successful Examples Using Sparse Coarse Coding",
        "Convergence of Stochastic Iterative Dynamic Programming Algorithms",
        "Robust Reinforcement Learning in Motion Planning",
        "Integrated Modeling and Control Based on Reinforcement Learning",
    ),
}
"""Best-ranked titles of each cluster; some long ones are shortened."""


def collected(names: tuple[str, ...], titles: np.ndarray) -> dict[str, str]:
    """How the collection spells each title, as far as it can be found: ends may be cut off, letters misread."""
    found = {}
    letters = [plain(title) for title in titles]
    for name in names:
        cut = {text[: len(plain(name))]: title for text, title in zip(letters, titles, strict=True)}
        if near := get_close_matches(plain(name), list(cut), 1, 0.8):
            found[str(cut[near[0]])] = name
    return found


def one_fit(name: str, path: Path, kind: str, run: int, ensemble: Ensemble) -> list[Record]:
    """Clusters and lists of one cluster kernel, in one embedding or two."""
    counts = load_npz(path).astype(np.float64)
    with np.load(path) as archive:
        words = archive["vocab"]
        titles = archive["title"] if "title" in archive.files else None
    rows = normalize(counts) if kind == "unit" else counts
    X = TruncatedSVD(min(DIMENSIONS, *(size - 1 for size in rows.shape)), random_state=0).fit_transform(rows)
    kernel = full_covariances(ensemble, run) if kind == "full" else ensemble.kernel(run)
    K = kernel.fit(X)(X)
    records: list[Record] = []
    for method in METHODS[kind]:
        model = quietly(joint(4, run, normalized=method.endswith("normalised")), K)
        setting = partial(figure, name, method, run)
        spread = participation(model.embedding_)
        records.append(setting("low degree", int(model.low_degree_mask_.sum())))
        records += [setting(f"participation {j + 1}", float(value)) for j, value in enumerate(spread)]
        members = [np.flatnonzero(model.labels_ == c) for c in range(model.n_clusters_)]
        tops = model.top_per_cluster(TOP)
        if titles is None:
            by_size = np.argsort([-len(index) for index in members], kind="stable").tolist()
            answers = dict(zip(PUBLISHED, by_size, strict=False))
        else:
            spelt = collected(tuple(title for names in PUBLISHED.values() for title in names), titles)
            shown = np.array([spelt.get(str(title), str(title)) for title in titles], dtype=object)
            answers = matched([shown[index].tolist() for index in members], PUBLISHED)
            for theme, c in answers.items():
                inside = shown[members[c]].tolist()
                records += [setting(f"{theme}: {place}", shown[row]) for place, row in enumerate(tops[c], 1)]
                for other, names in PUBLISHED.items():
                    records.append(setting(f"{theme} holds of {other}", len(overlap(names, inside))))
        for theme, c in answers.items():
            records.append(setting(f"{theme} size", len(members[c])))
            records.append(setting(f"{theme} words", telling(counts, words, tops[c])))
    return records


def telling(counts: Any, words: np.ndarray, chosen: np.ndarray) -> str:
    """Words that most of the chosen papers have and most others do not."""
    present = counts > 0
    share = np.asarray(present[chosen].mean(axis=0)).ravel() - np.asarray(present.mean(axis=0)).ravel()
    return " ".join(words[np.argsort(-share, kind="stable")[:WORDS]])


def tasks(options: Options, runs: int) -> Iterator[Task]:
    ensemble = Ensemble(options.restarts, options.components)
    found = {name: path for name, file in FILES.items() if (path := data_file(options.data, file)) is not None}
    for name, path in found.items():
        for run in range(runs):
            for kind in METHODS:
                yield partial(one_fit, name, path, kind, run, ensemble)
    if not found:
        yield list  # nothing to do, and the report says why


def report(records: list[Record]) -> str:
    missing = [file for name, file in FILES.items() if not select(records, dataset=name)]
    parts = [f"{' and '.join(missing)} not in the data folder (--data or GRAMIAN_DATA): left out."] if missing else []
    for name in FILES:
        if here := select(records, dataset=name):
            parts += [f"### {name[0].upper()}{name[1:]}", *_one_table(here, titled=name == ABSTRACTS)]
    return "\n\n".join(parts)


def _one_table(records: list[Record], *, titled: bool) -> Iterator[str]:
    methods = [method for group in METHODS.values() for method in group]
    rows: list[tuple[object, ...]] = [("published", *SIZES.values(), None, None)]
    for method in methods:
        for run in sorted({record["run"] for record in records}):
            here = _values(records, method, run)
            sizes = [here.get(f"{theme} size", "none") for theme in PUBLISHED]
            spread = ", ".join(f"{value:.0f}" for key, value in here.items() if key.startswith("participation"))
            rows.append((f"{method}, run {run}", *sizes, here["low degree"], spread))
    yield "Cluster sizes" + ("." if titled else ", in falling order; the published ones are of 1,740 papers.")
    yield markdown(("embedding", *PUBLISHED, "low degree", "papers over which each axis spreads"), rows)
    for method in methods:
        here = _values(records, method, 0)
        found = [theme for theme in PUBLISHED if f"{theme} words" in here]
        if titled:
            yield (
                f"{method[0].upper()}{method[1:]}, run 0: of the {TOP} best-ranked titles of each published cluster, "
                "how many are among our best-ranked, and how many fall into which cluster."
            )
            yield markdown(
                ("cluster", "shared", *(f"of published {theme}" for theme in PUBLISHED), "words of the best-ranked"),
                [
                    (
                        theme,
                        len(overlap(PUBLISHED[theme], _titles(here, theme))),
                        *(here[f"{theme} holds of {other}"] for other in PUBLISHED),
                        here[f"{theme} words"],
                    )
                    for theme in found
                ],
            )
        else:
            lines = [(here[f"{theme} size"], here[f"{theme} words"]) for theme in found]
            yield f"{method[0].upper()}{method[1:]}, run 0:"
            yield markdown(("papers", "words of the best-ranked"), lines)
    if titled:
        last = _values(records, SHOWN, 0)
        yield (
            f"Best-ranked titles, {SHOWN}, run 0; bold where the published list has the title, too. Themes as "
            "the thesis reads them: " + ", ".join(f"{theme} {what}" for theme, what in THEMES.items()) + "."
        )
        yield side_by_side({theme: _titles(last, theme) for theme in PUBLISHED}, PUBLISHED)


def _values(records: list[Record], method: str, run: int) -> dict[str, Any]:
    return {record["measure"]: record["value"] for record in select(records, method=method, run=run)}


def _titles(values: dict[str, Any], theme: str) -> list[str]:
    return [values[f"{theme}: {place}"] for place in range(1, TOP + 1) if f"{theme}: {place}" in values]


EXPERIMENT = Experiment(
    name="joint_documents",
    title="NIPS papers of 1987 to 1999 (joint ranking and clustering)",
    runs=1,
    tasks=tasks,
    report=report,
)
