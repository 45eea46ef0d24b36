"""Semi-supervised kernel spectral clustering as an estimator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from scipy.sparse import csr_array
from sklearn.datasets import make_moons

import gramian
from clustering.semi_supervised.textbook import clouds, few_labels
from gramian import LSSVMClassifier, Nystroem, SemiSupervisedKSC
from gramian.grams import DenseGram
from gramian.kernels import RBF, TL1


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X, y = clouds(rng, distance=3.5)
    return X, y, few_labels(rng, y)


def quick(**changes):
    """A model that chooses nothing."""
    return SemiSupervisedKSC(**({"kernel": RBF(width=1.5), "smoothness": 0.9, "label_weight": 10.0} | changes))


def test_nothing_set_it_classifies_and_chooses(table):
    X, y, few = table
    model = SemiSupervisedKSC(random_state=0).fit(X, few)
    unlabelled = few < 0
    assert (model.transduction_[unlabelled] == y[unlabelled]).mean() > 0.9
    assert set(model.tuning_) == {"scale", "smoothness", "label_weight", "error", "safe"}
    assert {0.0, 0.9} == set(model.tuning_["smoothness"])
    assert model.is_convex_
    assert 0 < model.reciprocal_condition_ < 1
    assert np.array_equal(model.predict(X)[unlabelled], model.transduction_[unlabelled])


def test_unlabelled_rows_help_where_groups_bend():
    """Two moons with two labels each: better than the machine of the labelled rows alone."""
    X, y = make_moons(300, noise=0.06, random_state=0)
    rng = np.random.default_rng(1)
    few = few_labels(rng, y, 2)
    model = quick(kernel=RBF(width=0.15), smoothness=0.99).fit(X, few)
    alone = LSSVMClassifier().fit(X[few >= 0], few[few >= 0])
    assert (model.transduction_ == y).mean() > 0.97 > alone.score(X, y)


def test_without_smoothness_it_is_the_classifier_of_the_labelled_rows(table):
    X, _, few = table
    labelled = few >= 0
    model = quick(smoothness=0).fit(X, few)
    machine = LSSVMClassifier(RBF(width=1.5), regularization=10.0).fit(X[labelled], few[labelled])
    assert np.allclose(model.decision_function(X), machine.decision_function(X), atol=1e-9)
    assert np.allclose(model.loo_decision_, machine.loo_decision_, atol=1e-8)
    assert not model.dual_coef_[~labelled].any()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31))
def test_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = clouds(rng, n=40)
    few = few_labels(rng, y, 3)
    order = rng.permutation(len(X))
    one, other = quick().fit(X, few), quick().fit(X[order], few[order])
    assert np.allclose(one.decision_function(X), other.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("n_prototypes", [None, 30])
def test_names_of_classes_and_marks_of_unlabelled_rows(table, n_prototypes):
    """Texts with None, NaN, −1 or "-1"; whole numbers with −1; floats with NaN: all the same model."""
    X, _, few = table
    names = np.array(["ant", "bee", "cat", "-1"])[few]
    base = quick(n_prototypes=n_prototypes, random_state=0).fit(X, few)
    for mark in (None, np.nan, -1, "-1"):
        y = names.astype(object)
        y[few < 0] = mark
        model = quick(n_prototypes=n_prototypes, random_state=0).fit(X, y)
        assert model.classes_.tolist() == ["ant", "bee", "cat"]
        assert np.array_equal(model.decision_function(X), base.decision_function(X))
    assert np.array_equal(quick(random_state=0).fit(X, names).classes_, ["ant", "bee", "cat"])
    holes = quick(n_prototypes=n_prototypes, random_state=0).fit(X, np.where(few < 0, np.nan, few))
    assert np.array_equal(holes.predict(X), base.predict(X))


def test_hidden_clusters_are_found_and_named():
    """Four clouds of which three have labels: the fourth has signs that no class has."""
    rng = np.random.default_rng(0)
    y = np.arange(160) % 4
    X = rng.normal(size=(160, 2)) * 0.5 + np.array([[0, 0], [6, 0], [0, 6], [6, 6]])[y]
    few = few_labels(rng, np.where(y == 3, 2, y))
    few[y == 3] = -1
    few[np.flatnonzero(y == 2)[:3]] = 2
    model = quick(n_clusters=4, kernel=RBF(width=1.0)).fit(X, few)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert not (model.code_book_[3] == model.code_book_[:3]).all(axis=1).any()
    assert (model.transduction_ == y).mean() > 0.97
    assert np.array_equal(model.predict(X)[few < 0], model.transduction_[few < 0])
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    named = quick(n_clusters=4, kernel=RBF(width=1.0)).fit(X, np.array(["a", "b", "c", "-1"])[few])
    assert named.classes_.tolist() == ["a", "b", "c", "hidden 1"]


def test_several_columns_of_labels(table):
    """Each column is a model of two classes; rows of −1 are unlabelled."""
    X, y, few = table
    both = np.column_stack([y == 0, y < 2]).astype(int)
    labels = np.where(few[:, None] < 0, -1, both)
    model = quick().fit(X, labels)
    assert model.predict(X).shape == both.shape
    assert (model.predict(X) == both).mean() > 0.9
    for j in range(2):
        single = quick().fit(X, labels[:, j])
        assert np.allclose(model.decision_function(X)[:, j], single.decision_function(X), atol=1e-10)
        assert ((model.predict_proba(X)[:, j] > 0.5) == (single.decision_function(X) > 0)).all()
    assert SemiSupervisedKSC().fit(X, labels).transduction_.shape == both.shape


def test_probabilities_agree_with_the_prediction(table):
    X, _, few = table
    for y in (few, np.where(few == 2, -1, few)):
        model = quick().fit(X, y)
        shares = model.predict_proba(X)
        assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize(
    "kernel", [RBF(width=1.5), TL1(radius=6.0), Nystroem(25, kernel=RBF(width=1.5), random_state=0)]
)
def test_float32_stays_and_is_near(table, kernel):
    X, _, few = table
    single = quick(kernel=kernel).fit(X.astype(np.float32), few)
    double = quick(kernel=kernel).fit(X, few)
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert np.allclose(single.decision_function(X.astype(np.float32)), double.decision_function(X), atol=0.02)


def test_rows_with_holes_need_a_kernel_that_takes_them(table):
    X, y, few = table
    holes = X.copy()
    holes[np.random.default_rng(2).random(X.shape) < 0.15] = np.nan
    model = SemiSupervisedKSC(kernel="cluster", random_state=0).fit(holes, few)
    assert (model.transduction_ == y).mean() > 0.8
    assert model.predict(holes[:5]).shape == (5,)
    completed = SemiSupervisedKSC(kernel=gramian.clustering.CompletedGraph("auto")).fit(holes, few)
    assert (completed.transduction_ == y).mean() > 0.8
    with pytest.raises(ValueError, match="NaN"):
        SemiSupervisedKSC().fit(holes, few)


@pytest.mark.parametrize("changes", [{}, {"n_prototypes": 20, "random_state": 0}])
def test_sparse_rows_are_dense_rows(table, changes):
    X, _, few = table
    model, sparse = quick(**changes).fit(X, few), quick(**changes).fit(csr_array(X), few)
    assert np.allclose(sparse.decision_function(csr_array(X)), model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(width=1.5), TL1(radius=6.0)])
def test_landmarks_at_all_rows_are_exact(table, kernel):
    """Also for rows that were not fitted."""
    X, _, few = table
    landmarks = quick(kernel=kernel, n_prototypes=len(X), random_state=0).fit(X, few)
    exact = quick(kernel=kernel).fit(X, few)
    assert landmarks.coef_ is not None
    assert np.allclose(landmarks.decision_function(X + 0.1), exact.decision_function(X + 0.1), atol=1e-9)


def test_a_resonance_is_named_where_it_costs_digits(table):
    """1 over an eigenvalue of the clustering operator; by landmarks the same system is solved without a loss."""
    X, _, few = table
    gram = DenseGram(RBF(width=1.5).fit(X)(X))
    value = float(gram.weighted_centered(1 / gram.degrees()).eigenpairs(1)[0][0])
    with pytest.warns(LinAlgWarning, match=f"the eigenvalue {value:.6f}"):
        quick(smoothness=1 / value).fit(X, few)
    near = quick(smoothness=1 / value + 1e-6).fit(X, few)
    landmarks = quick(smoothness=1 / value, n_prototypes=len(X), random_state=0).fit(X, few)
    assert np.allclose(landmarks.decision_function(X), near.decision_function(X), atol=1e-3)


# Landmarks and streams ---------------------------------------------------------------------------------------


def test_landmarks_alone_answer_for_new_rows(table):
    """No training row is kept but the landmarks."""
    X, y, few = table
    model = quick(n_prototypes=40, random_state=0).fit(X, few)
    assert model.dual_coef_ is None
    assert model._model.expansion.points.shape[0] <= 40
    assert (model.transduction_ == y).mean() > 0.9
    exact = quick().fit(X, few)
    assert np.abs(model.decision_function(X) - exact.decision_function(X)).mean() < 0.1


def test_a_stream_in_one_piece_is_a_fit_and_goes_on(table):
    X, _, few = table
    fitted = quick(n_prototypes=20, random_state=0).fit(X, few)
    stream = quick(n_prototypes=20, random_state=0).partial_fit(X, few)
    assert np.allclose(stream.decision_function(X), fitted.decision_function(X))
    before = stream.decision_function(X)
    fitted.partial_fit(X, np.full(len(X), -1))
    assert np.allclose(fitted.decision_function(X), before)  # unlabelled rows given twice change no share of the walk
    fitted.partial_fit(X[few < 0] + 1, np.full((few < 0).sum(), -1))
    assert not np.allclose(fitted.decision_function(X), before)


def test_a_stream_comes_near_the_fit_of_all_rows():
    """Degrees are those of the rows so far, and hardly change any more."""
    rng = np.random.default_rng(3)
    X, y = clouds(rng, n=1200, distance=3.5)
    few = np.where(rng.random(1200) < 0.05, y, -1)
    kernel = Nystroem(30, kernel=RBF(width=1.5), random_state=0)
    whole = quick(kernel=kernel).fit(X, few)
    stream = quick(kernel=kernel)
    stream.partial_fit(X[:600], few[:600], classes=[0, 1, 2])
    for rows in (slice(600, 900), slice(900, 1200)):
        stream.partial_fit(X[rows], few[rows])
    assert (stream.predict(X) == y).mean() > 0.95
    assert (stream.predict(X) == whole.predict(X)).mean() > 0.97


def test_a_stream_of_several_columns_goes_on_without_labels(table):
    """Unlabelled rows given twice change nothing; what was learned does not change when a part is refused."""
    X, y, few = table
    labels = np.where(few[:, None] < 0, -1, np.column_stack([y == 0, y < 2]))
    stream = quick(n_prototypes=20, random_state=0).partial_fit(X, labels)
    before = stream.decision_function(X)
    assert np.allclose(stream.partial_fit(X, np.full(labels.shape, -1)).decision_function(X), before)
    with pytest.raises(ValueError, match="1 columns, but 2 on the first call"):
        stream.partial_fit(X, few)
    assert np.allclose(stream.decision_function(X), before)
    with pytest.raises(ValueError, match="for one column of classes"):
        quick(n_prototypes=20).partial_fit(X, labels, classes=[0, 1])


def test_parts_of_a_stream_may_come_in_another_order(table):
    """Only the degrees of the rows of a part depend on the rows before them."""
    X, _, few = table
    streams = [quick(n_prototypes=20, random_state=0).partial_fit(X, few) for _ in range(2)]
    parts = [slice(0, 45), slice(45, 90)]
    for stream, order in zip(streams, (parts, parts[::-1]), strict=True):
        for part in order:
            stream.partial_fit(X[part] + 0.1, few[part])
    one, other = (stream.decision_function(X) for stream in streams)
    assert np.abs(one - other).max() < 0.05 * np.abs(one).max()


def test_what_a_stream_refuses(table):
    X, _, few = table
    with pytest.raises(ValueError, match="fewer than two classes"):
        quick(n_prototypes=10).partial_fit(X, np.where(few == 0, 0, -1), classes=[0, 1, 2])
    stream = quick(n_prototypes=10, random_state=0).partial_fit(X, few)
    with pytest.raises(ValueError, match="not the same as on the first call"):
        stream.partial_fit(X, few, classes=[0, 1])
    with pytest.raises(ValueError, match="class 9"):
        stream.partial_fit(X, np.where(few == 0, 9, few))


def test_a_stream_after_an_exact_fit_begins_anew(table):
    X, _, few = table
    model = quick(random_state=0).fit(X[::2], few[::2])
    anew = quick(random_state=0).partial_fit(X, few)
    assert np.array_equal(model.partial_fit(X, few).decision_function(X), anew.decision_function(X))


# Bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"smoothness": -1}, "smoothness=-1"),
        ({"smoothness": "much"}, "smoothness='much'"),
        ({"label_weight": 0}, "label_weight=0"),
        ({"n_prototypes": 0}, "n_prototypes=0"),
        ({"selection": "best"}, "selection='best'"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 9}, "more than the 8 signs"),
        ({"kernel": "linear"}, "negative sum of similarities"),
    ],
)
def test_a_bad_parameter_is_named(table, changes, message):
    X, _, few = table
    with pytest.raises(ValueError, match=message):
        quick(**changes).fit(X - X.mean(axis=0), few)


def test_fewer_clusters_than_classes_are_warned_of(table):
    X, _, few = table
    with pytest.warns(UserWarning, match="fewer than the 3 labelled classes"):
        model = quick(n_clusters=2).fit(X, few)
    assert len(model.classes_) == 3


def test_two_classes_have_no_hidden_cluster(table):
    """Their scores are each other's negatives, so there are two signs only."""
    X, _, few = table
    with pytest.raises(ValueError, match="label rows of a further class"):
        quick(n_clusters=3).fit(X, np.where(few == 2, -1, few))


def test_labels_that_are_no_labels_are_refused(table):
    X, _, few = table
    with pytest.raises(ValueError, match="y has no label"):
        quick().fit(X, np.full(len(X), -1))
    with pytest.raises(ValueError, match="one labelled class only"):
        quick().fit(X, np.where(few == 1, 1, -1))
    with pytest.raises(ValueError, match="n_clusters=3 is for one column"):
        quick(n_clusters=3).fit(X, np.column_stack([few, few]).clip(-1, 1))


@pytest.mark.parametrize("changes", [{}, {"n_prototypes": 20}, {"smoothness": None, "label_weight": None}])
def test_a_class_with_one_label_works(table, changes):
    X, y, few = table
    few = few.copy()
    few[np.flatnonzero(few == 2)[1:]] = -1
    model = quick(random_state=0, **changes).fit(X, few)
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.transduction_ == y).mean() > 0.6


def test_equal_rows_work_or_say_so():
    """A width cannot be found on equal rows; a given one knows nothing, and says the larger class."""
    X, few = np.ones((12, 2)), np.array([0, 1, 1] + [-1] * 9)
    with pytest.raises(ValueError, match="all rows are equal"):
        SemiSupervisedKSC().fit(X, few)
    assert (quick().fit(X, few).transduction_[3:] == 1).all()


def test_similarities_can_be_passed(table):
    X, _, few = table
    K = RBF(width=1.5).fit(X)(X)
    model = quick(kernel="precomputed").fit(K, few)
    assert np.allclose(model.decision_function(K), quick().fit(X, few).decision_function(X), atol=1e-8)
    assert SemiSupervisedKSC(kernel="precomputed").fit(K, few).tuning_ is not None
    nothing = quick(kernel="precomputed", smoothness=0).fit(K, few)
    assert np.allclose(nothing.decision_function(K[:4]), quick(smoothness=0).fit(X, few).decision_function(X[:4]))


def test_a_saved_stream_goes_on(table, tmp_path):
    X, _, few = table
    model = quick(n_prototypes=15, random_state=0).partial_fit(X, few)
    gramian.save(model, tmp_path / "stream.gramian")
    loaded = gramian.load(tmp_path / "stream.gramian")
    for one in (model, loaded):
        one.partial_fit(X[:40] + 0.1, few[:40])
    assert np.allclose(model.decision_function(X), loaded.decision_function(X))
