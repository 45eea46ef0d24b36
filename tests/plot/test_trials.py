"""What was tried is drawn as the model kept it, and its choice is marked."""

import numpy as np
import pytest

import gramian
from gramian import plot
from gramian.colours import GROUPS
from gramian.datasets import make_planted_graph


@pytest.fixture(scope="module")
def chosen(blobs):
    return gramian.AutoClustering(random_state=0).fit(blobs[0])


def test_ways_to_cluster_and_the_chosen_one(chosen):
    ax = plot.selection(chosen)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [way["score"] for way in chosen.candidates_])
    from matplotlib.colors import to_hex

    coloured = [to_hex(bar.get_facecolor()) == GROUPS["light"][0] for bar in ax.patches]
    assert coloured == [way["chosen"] for way in chosen.candidates_]
    cuts = plot.selection(chosen, "cut")
    np.testing.assert_allclose([bar.get_width() for bar in cuts.patches], [way["cut"] for way in chosen.candidates_])


def test_evidence_marks_the_number_of_clusters(chosen):
    ax = plot.selection(chosen, "evidence")
    pairs = sorted(chosen.evidence_)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), pairs)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [(3, dict(pairs)[3])])


def test_widths_and_numbers_are_a_map_with_the_choice_framed(blobs):
    model = gramian.KernelSpectralClustering(max_clusters=5, random_state=0).fit(blobs[0])
    ax = plot.selection(model, "ams")
    table = model.selection_
    widths, numbers = np.unique(table["width"]), np.unique(table["n_clusters"])
    found = np.asarray(ax.images[0].get_array())
    for width, number, value in zip(table["width"], table["n_clusters"], table["ams"], strict=True):
        assert found[widths == width, numbers == number] == pytest.approx(value, nan_ok=True)
    frame = ax.patches[-1]
    assert numbers[int(frame.get_x() + 0.5)] == model.n_clusters_
    nearest = np.argmin(np.abs(np.log(widths / model.kernel_.width)))
    assert int(frame.get_y() + 0.5) == nearest


def test_widths_for_a_given_number_are_coloured_by_what_chose_among_them(blobs):
    model = gramian.KernelSpectralClustering(3, random_state=0).fit(blobs[0])
    ax = plot.selection(model)
    assert ax.figure.axes[1].get_ylabel() == "separation"


def test_a_criterion_where_there_is_none_to_choose_is_refused(blobs):
    model = gramian.LSSVMRegressor().fit(blobs[0], blobs[0][:, 0])
    with pytest.raises(ValueError, match="criterion='gap' is for candidates_ and selection_"):
        plot.selection(model, "gap")


def test_criterion_of_a_network_against_the_number():
    graph, _ = make_planted_graph(200, 3, degree=12, inside=0.9, random_state=0)
    model = gramian.NetworkKSC().fit(graph)
    ax = plot.selection(model)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.selection_["modularity"])
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], [model.n_clusters_])
    assert plot.selection(model, "gap").get_ylabel() == "gap"


def test_paths_of_the_penalty_one_for_each_width(blobs):
    X, _ = blobs
    model = gramian.LSSVMRegressor().fit(X, np.sin(X[:, 0]))
    ax = plot.selection(model)
    table = model.tuning_
    for line in ax.lines:
        own = np.isclose(table["width"], float(line.get_label()), rtol=1e-2)
        assert set(line.get_ydata()) <= set(table["score"][own])
    star = ax.collections[0].get_offsets()[0]
    assert star[1] == table["score"].min()
    assert star[0] == table["regularization"][np.argmin(table["score"])]


def test_a_single_path_is_the_mean_over_outputs():
    u = np.random.default_rng(0).normal(size=(200, 1))
    model = gramian.EchoStateNetwork(20, random_state=0).fit(u, np.roll(u, 1, axis=0))
    ax = plot.selection(model)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), np.sort(model.tuning_["regularization"]))
    assert ax.lines[0].get_ydata().min() == model.tuning_["error"].min()


def test_correlations_are_better_the_larger(blobs):
    model = gramian.KernelCCA().fit(blobs[0], blobs[0] ** 2)
    ax = plot.selection(model)
    assert ax.collections[0].get_offsets()[0, 1] == model.tuning_["correlation"].max()


def test_rules_of_a_forecaster():
    y = np.sin(np.arange(240) / 3) + 0.1 * np.random.default_rng(0).normal(size=240)
    model = gramian.EchoStateForecaster(3, random_state=0).fit(y)
    ax = plot.selection(model)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], sorted(model.errors_.values()))


def test_history_of_a_search():
    kept = {"evaluations": [5, 9], "best": [1.0, 0.5], "mean": [2.0, 1.0], "std": [0.5, 0.25]}
    ax = plot.selection(type("Search", (), {"history_": kept}))
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), [[5, 1.0], [9, 0.5]])


def test_unknown_criteria_are_refused_with_those_there_are(chosen):
    with pytest.raises(ValueError, match="criterion='gap' is unknown; pass 'evidence' or one of agreement, cut, score"):
        plot.selection(chosen, "gap")


def test_a_model_for_which_nothing_was_chosen_says_so(blobs):
    with pytest.raises(TypeError, match="where all is given, nothing is tried"):
        plot.selection(gramian.KernelPCA(2).fit(blobs[0]))
