"""What all estimators with a network share, on the smallest of them."""

import copy
import json
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file
from sklearn.base import clone

from deep.tiny import Tiny
from gramian.deep import base
from gramian.persistence import model_bytes


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(30, 4))


@pytest.fixture(scope="module")
def fitted(X):
    return Tiny(random_state=0).fit(X)


def test_the_state_is_arrays_and_plain_values(fitted):
    """No torch object is in a fitted estimator, also after it has answered."""
    fitted.transform(np.zeros((2, 4)))
    assert {type(value) for value in fitted.weights_.values()} == {np.ndarray}
    json.dumps(fitted.architecture_)
    assert not any(type(value).__module__.startswith("torch") for value in vars(fitted).values())


def test_answers_do_not_depend_on_the_rows_asked_with(fitted, X):
    """One row alone has the answer it has among others, to double precision."""
    whole = fitted.transform(X)
    np.testing.assert_allclose(np.vstack([fitted.transform(row[None]) for row in X]), whole, rtol=1e-13)


def test_answers_have_the_dtype_of_the_rows(fitted, X):
    single = fitted.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, fitted.transform(X), atol=1e-6)


def test_no_answer_of_a_chunk_outlives_the_next(fitted, X, monkeypatch):
    """Small arrays kept between the large ones of a convolution would hold the memory of all chunks."""
    monkeypatch.setattr(base, "CHUNK", 5)
    made, alive = [], []

    class Answer:
        def __init__(self, values):
            self.values = values

        def cpu(self):
            return self

        def numpy(self):
            made.append(weakref.ref(self.values))
            return self.values

    def answer(module, chunk):
        alive.append(sum(found() is not None for found in made))
        return Answer(2 * chunk.numpy()[:, :1])

    np.testing.assert_array_equal(fitted._answer(answer, X), 2 * X[:, :1])
    assert len(alive) == 6
    assert max(alive) <= 1


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_answer_the_same(fitted, X, again):
    np.testing.assert_array_equal(again(fitted).transform(X), fitted.transform(X))


def test_a_second_fit_forgets_the_first(X):
    """The module kept for answers follows the weights."""
    model = Tiny(random_state=0).fit(X)
    first = model.transform(X)
    model.set_params(random_state=1).fit(X)
    np.testing.assert_array_equal(model.transform(X), Tiny(random_state=1).fit(X).transform(X))
    assert not np.allclose(model.transform(X), first)


def test_the_module_is_built_once_and_goes_with_its_estimator(X):
    model = Tiny(random_state=0).fit(X)
    assert model._module() is model._module()
    before = len(base._modules)
    del model
    assert len(base._modules) == before - 1


def test_exported_weights_are_those_of_the_model(fitted, tmp_path):
    """The file is read by safetensors alone and describes its network."""
    fitted.export_weights(tmp_path / "net.safetensors")
    found = load_file(tmp_path / "net.safetensors")
    assert found.keys() == fitted.weights_.keys()
    for name, value in fitted.weights_.items():
        np.testing.assert_array_equal(found[name], value)
    with safe_open(tmp_path / "net.safetensors", "np") as file:
        assert json.loads(file.metadata()["architecture"]) == fitted.architecture_


def test_callbacks_see_a_fitted_estimator(X):
    """A callback gets the step, the terms and a fitted copy; the last has the final state."""
    seen = []

    def watch(step, terms, estimator):
        seen.append((step, terms["loss"], estimator.transform(X)))

    model = Tiny(5, callbacks=watch, random_state=0).fit(X)
    assert [step for step, _, _ in seen] == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal([loss for _, loss, _ in seen], model.history_)
    np.testing.assert_array_equal(seen[-1][2], model.transform(X))
    np.testing.assert_array_equal(model.transform(X), Tiny(5, random_state=0).fit(X).transform(X))


def test_a_callback_that_says_true_ends_the_training(X):
    model = Tiny(50, callbacks=[lambda step, terms, estimator: step == 3], random_state=0).fit(X)
    assert len(model.history_) == 3
    assert model.stopped_ == "callback"


def test_an_interrupt_leaves_nothing_half_learned(X):
    def stop(step, terms, estimator):
        if step == 15:
            raise KeyboardInterrupt

    model = Tiny(50, callbacks=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert vars(model).keys() == vars(clone(model)).keys()
    kept = Tiny(50, callbacks=stop, early_stopping="interruptible", random_state=0).fit(X)
    assert kept.stopped_ == "interrupt"
    assert np.isfinite(kept.transform(X)).all()


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("device", "cuda:99", "device='cuda:99' is not available"),
        ("device", "gpu", "device='gpu' is not known"),
        ("device", 3, "device=3 is not known"),
        ("callbacks", 3, "callbacks=3 must be"),
        ("callbacks", [print, 3], "callbacks="),
        ("early_stopping", "yes", "early_stopping='yes'"),
        ("batch_size", 1, "batch_size=1"),
        ("max_iter", -1, "max_iter=-1"),
        ("learning_rate", 0, "learning_rate=0"),
    ],
)
def test_bad_parameters_are_refused_by_name(X, parameter, value, message):
    with pytest.raises(ValueError, match=message):
        Tiny(**{parameter: value}).fit(X)


def test_fewer_rows_than_the_batch_are_one_batch(X):
    assert np.isfinite(Tiny(5, batch_size=1000, random_state=0).fit(X[:3]).transform(X)).all()


def test_values_beyond_single_precision_are_refused():
    with pytest.raises(ValueError, match="X overflows single precision"):
        Tiny()._tensor(np.array([[1e200]]))


def test_torch_objects_are_refused_by_save(fitted):
    """What a file cannot carry is named, with the way out; also where it is nested."""
    model = copy.copy(fitted)
    model.extra_ = {"layers": [torch.nn.Linear(2, 1)]}
    with pytest.raises(TypeError, match=r"cannot save Tiny: its extra_ is a torch Linear.*state_dict"):
        model_bytes(model)


def test_without_torch_the_extra_is_named():
    """The subpackage says what to install, and the rest of the library saves models without asking for torch."""
    code = (
        "import sys\n"
        "asked = []\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': asked.append(name); raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import gramian, sklearn.cluster\n"
        "from gramian.persistence import model_bytes, prepare_saving\n"
        "prepare_saving(); model_bytes(gramian.KernelPCA()); print(asked)\n"
        "try:\n    import gramian.deep\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split("\n")[:2] == ["[]", 'gramian.deep needs torch; pip install "gramian[deep]"']


def test_all_callbacks_are_called_though_the_first_ends_the_training():
    seen = []
    ends, counts = (lambda *told: True), (lambda step, *told: seen.append(step))
    Tiny(callbacks=[ends, counts], random_state=0).fit(np.random.default_rng(0).normal(size=(20, 3)))
    assert seen == [1]
