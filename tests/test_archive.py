"""What a model file may hold is read off its table of contents, headers and description."""

import io
import json
import zipfile

import numpy as np
import pytest

import gramian
from gramian import archive
from gramian.archive import Refused, check_memory, check_parts, check_types, holds_code, refused_types, sklearn_versions


def node(name, loader="ObjectNode", **fields):
    module, _, cls = name.rpartition(".")
    return {"__module__": module, "__class__": cls, "__loader__": loader, **fields}


def opened(schema, packing=zipfile.ZIP_STORED, **parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as made:
        made.writestr("schema.json", json.dumps(schema))
        for name, array in parts.items():
            content = io.BytesIO()
            np.save(content, array)
            made.writestr(name, content.getvalue())
    return zipfile.ZipFile(file)


RBF = "gramian.kernels.distance.RBF"


def test_stored_parts_pass_and_packed_ones_do_not():
    check_parts(opened({}, x=np.zeros(9)))
    with pytest.raises(Refused, match=r"holds a compressed part, 'schema\.json'"):
        check_parts(opened({}, zipfile.ZIP_DEFLATED))


def test_a_part_that_claims_another_size_than_it_has_is_refused():
    parts = opened({})
    parts.infolist()[0].file_size += 10**9
    with pytest.raises(Refused, match="holds a compressed part"):
        check_parts(parts)


def test_a_part_is_named_once():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("a", "2")
    with pytest.raises(ValueError, match="same name"):
        check_parts(zipfile.ZipFile(file))


def test_memory_is_that_of_the_arrays_and_twenty_times_the_description():
    """To the byte: headers of 128 bytes, 800 bytes of numbers."""
    schema = node(RBF, content=[node("numpy.ndarray", "NdArrayNode", file="x", __id__=i) for i in (1, 2, 2)])
    parts = opened(schema, x=np.zeros(100))
    exact = 2 * 928 + 20 * len(json.dumps(schema))
    needs = f"needs {exact / 1e9:.3g} GB of memory, above the memory budget of {(exact - 1) / 1e9:.3g} GB"
    with gramian.config(memory_budget=exact):
        check_memory(parts, schema)
    with gramian.config(memory_budget=exact - 1), pytest.raises(Refused, match=needs):
        check_memory(parts, schema)


@pytest.mark.parametrize("name", [RBF, "sklearn.cluster._kmeans.KMeans", "gramian.exploration.model.TableModel"])
def test_estimators_kernels_and_table_models_pass(name):
    check_types([name] if name.startswith("gramian") else [], node(name))


@pytest.mark.parametrize("name", ["gramian.grams.dense.DenseGram", "numpy.ndarray", "builtins.dict", "os.system"])
def test_other_models_do_not(name):
    with pytest.raises(Refused, match=f"holds {name}, which gramian does not trust"):
        check_types([], node(name))


def test_parts_are_objects_of_our_own_classes():
    whole = node(RBF, content=[node("gramian.kernels.expansion.Expansion")])
    assert refused_types([RBF, "gramian.kernels.expansion.Expansion"], whole) == []
    assert refused_types(["os.system", "scipy.sparse._csr.csr_array"], whole) == ["os.system"]
    called = node(RBF, content=[node("gramian.kernels.expansion.Expansion", "ConstructorFromReduceNode")])
    assert refused_types([RBF], called) == ["gramian.kernels.expansion.Expansion"]


def test_versions_that_the_content_names():
    version = {"content": {"_sklearn_version": {"content": '"1.6"'}}}
    schema = node("sklearn.pipeline.Pipeline", content=version | {"steps": node("sklearn.cluster._kmeans.KMeans")})
    assert sklearn_versions(schema) == {"1.6"}
    assert sklearn_versions(node(RBF)) == set()


def test_code_and_objects_are_told_apart():
    schema = node(RBF, content=[node("numpy.log", "FunctionNode")])
    assert holds_code(schema, "numpy.log")
    assert not holds_code(schema, RBF)
    assert [archive.name_of(found) for found in archive.nodes(schema)] == [RBF, "numpy.log"]
