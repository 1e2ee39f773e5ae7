"""The inputs for comparing a model with ONNX Runtime: ordinary ones, sequences of half length, and denormals.
Needs the Python packages onnx and numpy."""

import numpy as np
import onnx
from onnx import numpy_helper

from harness.model_match import inputs_of

DENORMAL = 1e-40  # f32 is denormal below 1.2e-38
HIDING = -1e4  # constants below hide keys: their weights are exactly 0
WEAKLY_HIDING = -92.0  # the weights are denormals: exp(-92) is 1e-40, and 1e-42 among 100 keys


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


def with_weak_mask(model_path, path):
    """Writes the model with a mask that leaves denormals: -92 in place of the constant that hides keys. Then the
    weights of attention are denormals inside the model, whatever its inputs. False if it hides none: it has no
    such constant, or only a number for a mask that is no input."""
    model = onnx.load(model_path)
    stated = [one for node in model.graph.node if node.op_type == "Constant" for one in node.attribute]
    tensors = [*model.graph.initializer, *(one.t for one in stated if one.HasField("t"))]
    has_mask = any("mask" in value.name for value in model.graph.input)
    found = False
    for tensor in tensors:
        if tensor.data_type != onnx.TensorProto.FLOAT or not (tensor.dims or has_mask):
            continue
        array = numpy_helper.to_array(tensor)
        if not (array < HIDING).any():
            continue
        array = np.where(array < HIDING, np.float32(WEAKLY_HIDING), array)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        found = True
    if found:
        onnx.save(model, path)
    return found


def _through_identities(model, names):
    """Follows Identity nodes, by which exporters name a shared constant."""
    of = {node.output[0]: node.input[0] for node in model.graph.node if node.op_type == "Identity"}
    for name in names:
        while name in of:
            name = of[name]
        yield name
