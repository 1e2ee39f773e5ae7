"""The inputs for comparing a model with ONNX Runtime: ordinary ones, sequences of half length, and denormals.
Needs the Python packages onnx and numpy."""

import numpy as np
import onnx
from onnx import numpy_helper

from harness.model_match import inputs_of

DENORMAL = 1e-40  # f32 is denormal below 1.2e-38


def input_sets(model_path, shapes=None):
    """Name -> inputs as returned by inputs_of. `half`, for a model that reads tokens: the second half of each
    sequence is padding, masked if the model has a mask. `denormals`, for a model that reads floats: every
    second number is a denormal."""
    plain = inputs_of(model_path, shapes)
    sets = {"plain": plain}
    half = {name: _half(array) for name, array in plain.items()}
    if any(half[name] is not plain[name] for name in half):
        sets["half"] = half
    if any(is_float(array) for array in plain.values()):
        sets["denormals"] = {name: _denormal(array) for name, array in plain.items()}
    return sets


def is_float(array):
    return np.issubdtype(array.dtype, np.floating)


def _half(array):
    if is_float(array) or array.ndim != 2:
        return array
    array = array.copy()
    array[:, array.shape[1] // 2 :] = 0
    return array


def _denormal(array):
    if not is_float(array):
        return array
    array = array.copy()
    array.reshape(-1)[::2] *= DENORMAL
    return array


def with_denormal_embeddings(model_path, path):
    """Writes the model with denormals in every second element of its largest embedding table, for models that
    read no floats. False if it has no such table."""
    model = onnx.load(model_path)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    named = [node.input[0] for node in model.graph.node if node.op_type == "Gather"]
    tables = [constants[name] for name in _through_identities(model, named) if name in constants]
    tables = [table for table in tables if table.data_type == onnx.TensorProto.FLOAT]
    if not tables:
        return False
    table = max(tables, key=lambda one: np.prod(one.dims))
    table.CopyFrom(numpy_helper.from_array(_denormal(numpy_helper.to_array(table)), table.name))
    onnx.save(model, path)
    return True


def _through_identities(model, names):
    """Follows Identity nodes, by which exporters name a shared constant."""
    of = {node.output[0]: node.input[0] for node in model.graph.node if node.op_type == "Identity"}
    for name in names:
        while name in of:
            name = of[name]
        yield name
