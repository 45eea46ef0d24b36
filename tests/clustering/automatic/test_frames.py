"""Data frames with columns of all kinds: AutoClustering takes them, and answers for new frames."""

import datetime

import numpy as np
import pytest

from gramian import AutoClustering, load, save
from gramian.clustering.automatic.frames import PreparedFrame, has_other_kinds
from gramian.metrics import adjusted_rand

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def table():
    """Two groups in numbers, text, a categorical column and truth values, beside dates; holes in most."""
    rng = np.random.default_rng(3)
    n = 150
    groups = rng.integers(2, size=n)
    mixed = np.where(rng.random((n, 3)) < 0.92, groups[:, None], 1 - groups[:, None])
    start = datetime.datetime(2023, 1, 1)
    frame = pd.DataFrame(
        {
            "weight": rng.normal(size=n) + 5 * groups,
            "coat": pd.Series(np.array(["long", "short"])[mixed[:, 0]], dtype=object),
            "food": pd.Categorical(np.array(["fish", "seeds"])[mixed[:, 1]]),
            "tame": mixed[:, 2].astype(bool),
            "born": [start + datetime.timedelta(days=int(day)) for day in rng.integers(0, 900, n)],
        }
    )
    frame.loc[rng.random(n) < 0.05, "weight"] = np.nan
    frame.loc[rng.random(n) < 0.05, "coat"] = None
    frame.loc[rng.random(n) < 0.05, "food"] = np.nan
    return frame, groups


@pytest.fixture(scope="module")
def model(table):
    return AutoClustering(random_state=0).fit(table[0])


def test_a_frame_with_categories_is_grouped(table, model):
    frame, groups = table
    assert model.n_clusters_ == 2
    assert model.verdict_ != "none"
    assert adjusted_rand(model.labels_, groups) > 0.9
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_an_unseen_level_is_a_hole(table, model):
    frame = table[0].head(10).copy()
    frame["coat"] = "none at all"
    unknown = model.predict_proba(frame)
    frame["coat"] = None
    np.testing.assert_allclose(unknown, model.predict_proba(frame))
    np.testing.assert_allclose(unknown.sum(axis=1), 1)


def test_other_levels_answer_for_frames(table):
    frame, _ = table
    model = AutoClustering(2, random_state=0).fit(frame)
    model.row_levels_ = {2: model.row_labels_}
    np.testing.assert_array_equal(model.labels_at(2, frame), model.predict(frame))


def test_a_cell_that_cannot_be_read_is_missing_with_a_warning(table, model):
    frame = table[0].head(4).copy()
    name = next(name for name in frame if pd.api.types.is_float_dtype(frame[name]))
    frame[name] = frame[name].astype(object)
    frame.loc[frame.index[0], name] = "abc"
    with pytest.warns(UserWarning, match=f"column '{name}': 1 value such as 'abc' as missing"):
        labels = model.predict(frame)
    frame.loc[frame.index[0], name] = None
    np.testing.assert_array_equal(labels, model.predict(frame))


def test_polars_frames_give_the_same(table, model):
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(table[0])
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    again = AutoClustering(random_state=0).fit(frame)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_a_model_of_a_frame_can_be_saved(table, model, tmp_path):
    save(model, tmp_path / "model.gramian")
    np.testing.assert_array_equal(load(tmp_path / "model.gramian").predict(table[0]), model.labels_)


def test_an_array_for_a_model_of_a_frame_is_refused(model):
    with pytest.raises(TypeError, match="pass a data frame with the columns 'weight', 'coat'"):
        model.predict(np.zeros((3, 5)))


def test_a_frame_of_numbers_is_the_array_it_holds():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2)) + 6 * rng.integers(2, size=60)[:, None]
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert not has_other_kinds(frame)
    ours, theirs = (AutoClustering(random_state=0).fit(part) for part in (frame, X))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.preparation_ is None


def test_features_are_those_of_the_preparation(table):
    prepared = PreparedFrame.of(table[0])
    assert prepared.categories == ["coat", "food", "tame"]
    assert set(prepared.columns) == set(table[0].columns)
    np.testing.assert_array_equal(prepared.features, prepared.preparation.transform(table[0]))
