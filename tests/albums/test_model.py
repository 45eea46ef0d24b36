"""A model of images is saved, read and refused like the models of tables."""

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from albums.digits import digits
from gramian.albums import load_album_model, read_images
from gramian.persistence import ModelFileError


def test_a_saved_model_places_images_the_same(album, tmp_path):
    found, model = album
    gramian.save(model, tmp_path / "model.gramian")
    again = load_album_model(tmp_path / "model.gramian")
    labels, probability = again.place(read_images(digits()[0][:20], shape=again.shape, levels=again.levels))
    np.testing.assert_array_equal(labels, found.labels[:20])
    np.testing.assert_allclose(probability, found.probability[:20], rtol=1e-4)


def test_other_models_and_parts_that_do_not_fit_are_refused(album, tmp_path):
    _, model = album
    gramian.save(gramian.KernelPCA(), tmp_path / "other.gramian")
    with pytest.raises(ModelFileError, match="holds a KernelPCA, not what cluster-images writes"):
        load_album_model(tmp_path / "other.gramian")
    with pytest.raises(TypeError, match="of another kind"):
        clone(model).set_params(clustering=None).check()
    broken = clone(model).set_params(clustering=model.clustering)
    broken.order_ = np.arange(2)
    with pytest.raises(ValueError, match="order of its clusters"):
        broken.check()
    with pytest.raises(TypeError, match="shape or the levels"):
        broken.set_params(levels=None).check()
