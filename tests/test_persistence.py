"""Model files: what is saved comes back, and what is not ours never runs."""

import io
import json
import os
import pickle
import re
import sys
import tracemalloc
import zipfile
from datetime import UTC, datetime, timedelta
from itertools import count

import numpy as np
import pytest
import sklearn
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gramian
from gramian import discovery, persistence
from gramian.kernels import RBF, Linear
from gramian.persistence import ModelFileError, info, load, save


@pytest.fixture
def X():
    """Forty rows of three columns."""
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def path(tmp_path):
    """Where a test writes its model."""
    return tmp_path / "model.gramian"


def holding(value):
    """An estimator that holds ``value``, as a fitted model would."""
    model = KMeans()
    model.extra_ = value
    return model


def forged(path, schema, *, label=None, members=(), packing=zipfile.ZIP_STORED):
    """Write an archive with a valid label around any ``schema``; fields of the label may be others."""
    described = json.dumps({"protocol": 2, "_skops_version": "0.13", **schema}).encode()
    fields = {
        "model": f"{schema['__module__']}.{schema['__class__']}",
        "gramian": gramian.__version__,
        "sklearn": sklearn.__version__,
        "saved": "2026-01-01T00:00:00+00:00",
    }
    if isinstance(label, list):
        sealed = label
    else:
        fields |= label or {}
        sealed = fields | {"seal": persistence._seal(fields, described)}
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("gramian.json", json.dumps(sealed), zipfile.ZIP_STORED)
        archive.writestr("schema.json", described, zipfile.ZIP_STORED)
        for name, content in members:
            archive.writestr(name, content)


_ids = count(1)


def node(module, name, loader, **fields):
    """One object of a skops schema."""
    return {"__module__": module, "__class__": name, "__loader__": loader, "__id__": next(_ids), **fields}


def text(value):
    """A JSON value of a skops schema."""
    return node("builtins", "str", "JsonNode", content=json.dumps(value), is_json=True)


def sequence(kind, *items):
    """A list or tuple of a skops schema."""
    return node("builtins", kind, f"{kind.title()}Node", content=list(items))


class Marker:
    """Pickles to an instruction that creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


class Stranger(BaseEstimator):
    """An estimator that is not gramian's."""


def test_fitted_model_answers_the_same(X, path):
    """A fitted pipeline gives identical answers after the round trip."""
    model = make_pipeline(StandardScaler(), KMeans(3, n_init=2, random_state=0)).fit(X)
    save(model, path)
    np.testing.assert_array_equal(load(path).predict(X), model.predict(X))


def test_unfitted_model_keeps_its_parameters(path):
    """Parameters survive without a fit."""
    save(KMeans(n_clusters=5, tol=0.5), path)
    assert load(path).get_params() == KMeans(n_clusters=5, tol=0.5).get_params()


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([np.nan, np.inf]),
        np.array(["a", "b"]),
        np.array(["a", None], dtype=object),
        np.float32(1.5),
        np.dtype(np.float32),
        sparse.csr_array(np.eye(3)),
        sparse.csr_matrix(np.eye(3)),
        sparse.csc_array(np.eye(3)),
        {"width": 1.0, 3: [1, (2, None)]},
        float("inf"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_data_comes_back_with_type_and_value(value, path):
    """Arrays, sparse arrays, dtypes and plain containers keep their type, dtype and content."""
    save(holding(value), path)
    back = load(path).extra_
    assert type(back) is type(value)
    assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
    if sparse.issparse(value):
        back, value = back.toarray(), value.toarray()
    np.testing.assert_equal(back, value)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_random_generators_continue_where_they_were(make, path):
    """A stored generator draws the same numbers after the round trip."""
    generator = make(7)
    save(holding(generator), path)
    np.testing.assert_array_equal(load(path).extra_.uniform(size=5), generator.uniform(size=5))


def test_info_reads_the_label_only(path, monkeypatch):
    """``info`` tells class, versions and date without building the model."""
    save(KMeans(), path)
    monkeypatch.setattr(skops.io, "load", None)
    label = info(path)
    assert label.model == "sklearn.cluster._kmeans.KMeans"
    assert label.gramian == gramian.__version__
    assert abs(label.saved - datetime.now(UTC)) < timedelta(minutes=5)


def test_paths_may_be_strings_and_files_are_replaced(path):
    """Saving again replaces the file, and a string names it as well as a path."""
    save(KMeans(n_clusters=2), str(path))
    save(KMeans(n_clusters=3), str(path))
    assert load(str(path)).n_clusters == 3


def test_a_link_keeps_pointing_at_its_file(path, tmp_path):
    """Saving through a symbolic link writes the file it points to."""
    link = tmp_path / "latest.gramian"
    link.symlink_to(path)
    save(KMeans(n_clusters=4), link)
    assert link.is_symlink()
    assert load(path).n_clusters == 4


def test_a_failed_save_leaves_the_older_file(path, monkeypatch):
    """If writing breaks off, the file of before is intact and no draft remains."""
    save(KMeans(n_clusters=2), path)

    def full_disk(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(persistence.zipfile.ZipFile, "writestr", full_disk)
    with pytest.raises(OSError, match="no space"):
        save(KMeans(n_clusters=3), path)
    assert load(path).n_clusters == 2
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "function", [np.linalg.norm, lambda x, y: 1.0, json.dumps, len], ids=["array", "lambda", "library", "builtin"]
)
def test_functions_cannot_be_saved(function, path):
    """A user's function is code; the message names it and says what to use instead."""
    with pytest.raises(TypeError, match=r"cannot save KernelPCA: it holds the code of .*; use a kernel object"):
        save(KernelPCA(kernel=function), path)
    assert not path.exists()


def test_foreign_types_cannot_be_saved(path):
    """What ``load`` would refuse is refused at save time already, by name."""
    with pytest.raises(TypeError, match=r"cannot save KMeans: it holds an object of type .*Stranger"):
        save(holding(Stranger()), path)


def test_trees_are_refused_because_their_content_is_unchecked(X, path):
    """A crafted tree can crash the process on use, so forests are not for model files."""
    forest = RandomForestClassifier(n_estimators=2).fit(X, X[:, 0] > 0)
    with pytest.raises(TypeError, match=r"sklearn\.tree\._tree\.Tree"):
        save(forest, path)


def test_unsupported_objects_say_what_may_be_held(path):
    """A complex number has no saved form in skops; the message says what a model may hold."""
    with pytest.raises(TypeError, match=r"cannot save KMeans: .*it may hold only data, estimators and kernels"):
        save(holding(1 + 2j), path)


@pytest.mark.parametrize("value", [3, "model", {"a": 1}, KMeans], ids=["int", "str", "dict", "class"])
def test_only_estimators_are_saved(value, path):
    """Something that is no estimator is refused with its type."""
    with pytest.raises(TypeError, match=r"model must be an estimator or a kernel, got builtins|got abc"):
        save(value, path)


def test_a_pickle_is_refused_unread(tmp_path, path):
    """A pickle that would run a command is no model file, and the command does not run."""
    marker = tmp_path / "ran"
    path.write_bytes(pickle.dumps(Marker(marker)))
    with pytest.raises(ModelFileError, match=r"is not a gramian model; pass a file written by gramian\.save"):
        load(path)
    assert not marker.exists()


def test_a_pickle_inside_an_archive_is_refused_unread(tmp_path, path):
    """An array file that hides a pickle is not unpickled."""
    marker = tmp_path / "ran"
    hidden = io.BytesIO()
    np.save(hidden, np.array([Marker(marker)], dtype=object), allow_pickle=True)
    array = node("numpy", "ndarray", "NdArrayNode", type="numpy", file="1.npy")
    forged(path, array, members=[("1.npy", hidden.getvalue())])
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)
    assert not marker.exists()


def dangerous(marker):
    """Schemas that would run ``touch marker`` or touch os, if they were built."""
    command = sequence("tuple", text(f"touch {marker}"))
    keys = sequence("list", node("builtins", "str", "TypeNode"))
    state = node("builtins", "dict", "DictNode", content={"x": text(1)}, key_types=keys)
    partial = {
        "func": node("os", "system", "FunctionNode"),
        "args": command,
        "kwds": node("builtins", "dict", "DictNode", content={}, key_types=sequence("list")),
        "namespace": text(None),
    }
    system_keys = node(
        "builtins",
        "dict",
        "DictNode",
        content={f"touch {marker}": text(1)},
        key_types=sequence("list", node("posix", "system", "TypeNode")),
    )
    return {
        "function": node("os", "system", "FunctionNode"),
        "type": node("posix", "system", "TypeNode"),
        "call": node("os", "system", "ConstructorFromReduceNode", content=command),
        "popen": node("subprocess", "Popen", "ConstructorFromReduceNode", content=command),
        "object": node("subprocess", "Popen", "ObjectNode", content=state),
        "partial": node("functools", "partial", "PartialNode", content=partial),
        "dict keys": system_keys,
        "list subclass": node("os", "system", "ListNode", content=[text(f"touch {marker}")]),
        "array subclass": node("os", "system", "NdArrayNode", type="json", content=[], shape=command),
        "own function": node("gramian.persistence", "save", "FunctionNode"),
        "own private module": node("gramian.__main__", "Main", "ObjectNode", content=state),
        "borrowed name": node("gramian.persistence", "Path", "ConstructorFromReduceNode", content=command),
        "unknown module of gramian": node("gramian.nowhere", "Thing", "ObjectNode", content=state),
    }


@pytest.mark.parametrize("name", sorted(dangerous("")))
def test_dangerous_archives_are_refused_and_run_nothing(name, tmp_path, path):
    """Whatever loader a forged archive abuses, the type is refused by name and nothing runs."""
    marker = tmp_path / "ran"
    schema = dangerous(marker)[name]
    # Alone, and hidden in the parameter of an innocent estimator.
    keys = sequence("list", node("builtins", "str", "TypeNode"))
    state = node("builtins", "dict", "DictNode", content={"n_clusters": schema}, key_types=keys)
    wrapped = node("sklearn.cluster._kmeans", "KMeans", "ObjectNode", content=state)
    for archive in (schema, wrapped):
        forged(path, archive)
        with pytest.raises(ModelFileError, match=r"which gramian does not trust; do not use"):
            load(path)
    assert not marker.exists()


def test_a_refused_type_is_not_even_imported(tmp_path, path, monkeypatch):
    """Importing a module runs its code, so the module of a refused type stays unimported."""
    (tmp_path / "module_of_a_stranger.py").write_text("class Model: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    forged(path, node("module_of_a_stranger", "Model", "ObjectNode", content=text(None)))
    with pytest.raises(ModelFileError, match=r"model.gramian holds module_of_a_stranger\.Model, which"):
        load(path)
    assert "module_of_a_stranger" not in sys.modules


def test_newer_major_version_asks_for_an_upgrade(path):
    """A file of a future major version is refused with the command that helps."""
    forged(path, text(1), label={"gramian": "99.1.0"})
    with pytest.raises(ModelFileError, match=r"saved by gramian 99\.1\.0.*pip install --upgrade gramian"):
        load(path)


def test_other_archives_are_not_models(path):
    """A plain skops file, or any other archive, is told apart from a model file."""
    skops.io.dump(KMeans(), path)
    with pytest.raises(ModelFileError, match=r"model\.gramian is not a gramian model"):
        load(path)


@pytest.mark.parametrize(
    "label",
    [
        [],
        {},
        {"model": "x", "gramian": "soon", "sklearn": "1", "saved": "2026-01-01"},
        {"model": "x", "gramian": "1.0", "sklearn": "1", "saved": "yesterday"},
        {"model": "x", "gramian": "1.0", "sklearn": "1", "saved": "2026-01-01", "more": 1},
    ],
)
def test_nonsense_labels_are_refused(label, path):
    """A label that is not ours in form makes the file no model file."""
    forged(path, text(1), label=label or [1])
    with pytest.raises(ModelFileError, match="is not a gramian model"):
        info(path)


@pytest.mark.parametrize("keep", [0, 10, 200, -200, -30])
def test_truncated_files_are_refused(keep, X, path):
    """A file cut anywhere gives the clear error, never a half-built model."""
    save(KMeans(2, n_init=1).fit(X), path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelFileError):
        load(path)


def test_missing_file_is_the_systems_error(path):
    """A path without a file raises FileNotFoundError that names it."""
    with pytest.raises(FileNotFoundError, match=r"model\.gramian"):
        load(path)


def test_ufuncs_are_data_to_skops(path):
    """NumPy's own element-wise functions are trusted by skops and survive."""
    save(FunctionTransformer(np.log1p), path)
    assert load(path).func is np.log1p


def test_a_model_of_a_missing_extra_names_the_library(path, monkeypatch):
    """A class of an optional subpackage whose library is not installed names the library."""
    monkeypatch.setitem(discovery._OPTIONAL, "gramian.deep", "a_library_nobody_has")
    forged(path, node("gramian.deep.autoencoder", "Autoencoder", "ObjectNode", content=text(None)))
    with pytest.raises(ModelFileError, match=r'needs a_library_nobody_has; pip install "a_library_nobody_has"$'):
        load(path)


# Sizes ---------------------------------------------------------------------------------------------------------------


def estimator(cls=Linear, **attributes):
    """An estimator of a skops schema with these attributes."""
    keys = sequence("list", *(node("builtins", "str", "TypeNode") for _ in attributes))
    state = node("builtins", "dict", "DictNode", content=attributes, key_types=keys)
    return node(cls.__module__, cls.__name__, "ObjectNode", content=state)


def array_node(file="1.npy"):
    return node("numpy", "ndarray", "NdArrayNode", type="numpy", file=file)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def header_of(shape, descr="<f8"):
    """The bytes of an array file without the array."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": descr})
    return file.getvalue()


def refusal(path, match):
    """Load a file that is refused in one line, and without taking much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=match) as caught:
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)


def test_a_packed_part_is_refused_unpacked(path):
    """A part of a few kilobytes that unpacks to 32 MB is refused by the table of contents."""
    forged(path, estimator(x=array_node()), members=[("1.npy", npy(np.zeros(4_000_000)))], packing=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    refusal(
        path, r"^model\.gramian holds a compressed part, '1\.npy', which gramian\.save does not write; save the model"
    )


def test_a_packed_sparse_matrix_is_refused_unpacked(path):
    """SciPy packs sparse matrices; what they unpack to counts."""
    inner = io.BytesIO()
    sparse.save_npz(
        inner, sparse.csr_array((np.zeros(2_000_000), np.zeros(2_000_000, np.int32), [0, 2_000_000]), (1, 9))
    )
    matrix = node("scipy.sparse._csr", "csr_array", "SparseMatrixNode", type="scipy", file="1.npz")
    forged(path, estimator(x=matrix), members=[("1.npz", inner.getvalue())])
    with gramian.config(memory_budget="20MB"):
        refusal(path, r"needs 0\.032 GB of memory, above the memory budget of 0\.02 GB; raise the budget")
    assert load(path).x.nnz == 2_000_000


def test_an_array_that_is_named_a_thousand_times_counts_a_thousand_times(path):
    """Each name makes a copy; nodes of one number are one object and count once."""
    content = [("1.npy", npy(np.zeros(1000)))]
    same = array_node()
    with gramian.config(memory_budget="4MB"):
        forged(path, estimator(x=sequence("list", *(array_node() for _ in range(1000)))), members=content)
        refusal(path, "above the memory budget")
        forged(path, estimator(x=sequence("list", *(same for _ in range(300)))), members=content)
        assert len(load(path).x) == 300


@pytest.mark.parametrize("shape", [(10**11,), (10**6, 10**6), (3,), (0,)])
def test_an_array_header_must_fit_its_bytes(path, shape):
    """A header that promises 1e11 entries is damage, not a MemoryError."""
    forged(path, estimator(x=array_node()), members=[("1.npy", header_of(shape) + bytes(16))])
    refusal(
        path, r"is damaged or was not written by gramian\.save \(an array of shape .* has 16 bytes\); save the model"
    )


def test_entries_without_size_are_refused(path):
    forged(path, estimator(x=array_node()), members=[("1.npy", header_of((10**11,), "|V0"))])
    refusal(path, "is damaged")


def test_memory_that_a_constructor_asks_for_is_one_line(path):
    """A seed sequence with a pool of 1e11 numbers is refused when the machine refuses it."""
    save(holding(np.random.default_rng(7)), path)
    with zipfile.ZipFile(path) as parts:
        schema = json.loads(parts.read("schema.json"))
    seed = schema["content"]["content"]["extra_"]["content"]["seed_seq"]["content"]
    seed["pool_size"]["content"] = str(10**14)
    forged(path, schema)
    with pytest.raises(ModelFileError, match=r"^model\.gramian needs more memory than there is; save the model again$"):
        load(path)


# Damage --------------------------------------------------------------------------------------------------------------


def test_a_flipped_byte_anywhere_gives_one_line_or_the_same_model(path):
    """Every byte of a small file, changed one at a time: a clear error, or a change that means nothing."""
    save(RBF(width=1.5), path)
    data = path.read_bytes()
    broken = path.with_name("broken.gramian")
    rng = np.random.default_rng(0)
    messages = []
    for place, change in enumerate(rng.integers(1, 256, len(data)).tolist()):
        broken.write_bytes(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
        try:
            model = load(broken)
        except ModelFileError as error:
            messages.append(str(error))
        else:
            assert repr(model) == repr(RBF(width=1.5))
    assert len(messages) > 0.8 * len(data)
    assert all(re.fullmatch(r"broken\.gramian .*; .*", message) for message in messages)


# What may be in a file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "gramian.configuration.config",
        "gramian.persistence.ModelInfo",
        "gramian.grams.dense.DenseGram",
        "gramian.kernels.base.Kernel",
        "gramian.ranking.kernel_walk.low_rank.LowRank",
        "gramian.web.jobs.Jobs",
        "gramian.web.jobs.Job",
        "gramian.tables.table.Table",
        "gramian.exploration.result.Exploration",
        "builtins.dict",
        "numpy.ndarray",
    ],
)
def test_only_estimators_and_kernels_are_loaded(path, name):
    """Any other class of a public module is refused as the model of a file."""
    module, _, cls = name.rpartition(".")
    keys = sequence("list", node("builtins", "str", "TypeNode"))
    state = node("builtins", "dict", "DictNode", content={"x": text(1)}, key_types=keys)
    forged(path, state if name == "builtins.dict" else node(module, cls, "ObjectNode", content=state))
    with pytest.raises(ModelFileError, match=re.escape(name) + ".*which gramian does not trust"):
        load(path)


@pytest.mark.parametrize("name", ["gramian.configuration.config", "gramian.web.jobs.Jobs"])
def test_other_classes_are_no_parts_either(path, name):
    module, _, cls = name.rpartition(".")
    forged(path, estimator(x=node(module, cls, "ObjectNode", content=text(None))))
    with pytest.raises(ModelFileError, match=re.escape(name) + ", which gramian does not trust"):
        load(path)


@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode", "ConstructorFromReduceNode", "ListNode", "DictNode"])
def test_own_classes_are_objects_only(path, loader):
    """A class of gramian is neither called nor handed out by a file."""
    fields = {"content": sequence("tuple"), "key_types": sequence("list")}
    if loader in ("ListNode", "DictNode"):
        fields["content"] = [] if loader == "ListNode" else {}
    forged(path, estimator(x=node(RBF.__module__, "RBF", loader, **fields)))
    with pytest.raises(ModelFileError, match="which gramian does not trust"):
        load(path)


def test_a_model_without_a_parameter_is_damaged(path):
    forged(path, estimator(gramian.KernelPCA, n_components=text(2)))
    with pytest.raises(ModelFileError, match=r"is damaged .*no attribute 'center'.*; save the model again"):
        load(path)


@pytest.mark.parametrize(
    "label", [{"model": "sklearn.cluster._kmeans.KMeans"}, {"gramian": "0.0.7"}, {"sklearn": "1.6"}]
)
def test_a_label_of_another_model_is_not_believed(path, label):
    """Class and versions that were changed in the label are noticed, by ``info`` and by ``load``."""
    save(RBF(), path)
    with zipfile.ZipFile(path) as parts:
        found = {name: parts.read(name) for name in parts.namelist()}
    found["gramian.json"] = json.dumps(json.loads(found["gramian.json"]) | label).encode()
    with zipfile.ZipFile(path, "w") as parts:
        for name, content in found.items():
            parts.writestr(name, content)
    for read in (info, load):
        with pytest.raises(ModelFileError, match=r"has the label of a .*, but another content \(.*RBF\)"):
            read(path)


def test_a_sealed_label_is_compared_with_the_content(path):
    """Whoever forges the seal too is still held to the class and to the versions that the content names."""
    forged(path, estimator(), label={"model": "gramian.kernels.distance.RBF"})
    with pytest.raises(ModelFileError, match="but another content"):
        info(path)
    forged(path, estimator(KMeans, _sklearn_version=text("1.4")))
    with pytest.raises(ModelFileError, match="but another content"):
        info(path)


def test_answers_on_workers_are_refused_with_both_ways_out(tmp_path):
    array = pytest.importorskip("dask.array")
    rows = array.from_array(np.random.default_rng(0).normal(size=(60, 2)), chunks=(20, 2))
    model = gramian.KernelKMeans(2, random_state=0).fit(rows)
    with pytest.raises(TypeError, match=r"labels_ is a Dask array .*model\.labels_\.compute\(\).*del model\.labels_"):
        save(model, tmp_path / "model.gramian")
    model.labels_ = model.labels_.compute()
    save(model, tmp_path / "model.gramian")
    again = load(tmp_path / "model.gramian")
    assert np.array_equal(again.predict(rows.compute()), again.labels_)
