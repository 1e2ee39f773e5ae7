"""Writes small models as exporters write them, with ONNX Runtime's outputs, for onnx_conformance.

    .venv/bin/python tests/onnx/make_model_tests.py OUT

Weights are random and sizes tiny. The tests cover the forms that torch's exporters write: shapes that are
decomposed and reassembled, masks made by Range, Trilu, Expand, Where and ScatterND, rotary embeddings by
Slice, Neg and Concat, decomposed norms and activations, heads repeated by Expand.
"""

import pathlib
import sys
import types

import numpy as np
import onnx
import onnxruntime
from make_node_tests import write_file
from onnx import TensorProto, helper, numpy_helper

MIN = float(np.finfo(np.float32).min)


class Writer:
    """A graph node by node; every call names its result."""

    def __init__(self, name, opset):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(7)
        self.nodes, self.constants, self.inputs, self.feeds = [], [], [], {}

    def input(self, name, value):
        value = np.asarray(value)
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, value.shape))
        self.feeds[name] = value
        return name

    def constant(self, value, dtype=np.int64):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape, scale=0.3):
        return self.constant(self.rng.normal(0, scale, shape), np.float32)

    def op(self, kind, *operands, outputs=1, **attributes):
        names = [f"{kind}_{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(
            helper.make_node(kind, list(operands), names, f"/{kind}_{len(self.nodes)}", **attributes)
        )
        return names[0] if outputs == 1 else names

    def extent(self, x, axis):
        """One extent of a tensor, as tracing writes it."""
        return self.op("Gather", self.op("Shape", x), self.constant(axis), axis=0)

    def shape(self, *extents):
        """A list assembled from extents and numbers."""
        parts = []
        for extent in extents:
            if isinstance(extent, int):
                parts.append(self.constant([extent]))
            else:
                parts.append(self.op("Unsqueeze", extent, self.constant([0])))
        return self.op("Concat", *parts, axis=0)

    def case(self, *outputs):
        values = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
        for value in values:
            value.ClearField("type")
        graph = helper.make_graph(self.nodes, self.name, self.inputs, values, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        inferred = onnx.shape_inference.infer_shapes(model)
        session = onnxruntime.InferenceSession(
            inferred.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        wanted = session.run(None, self.feeds)
        for value, array in zip(model.graph.output, wanted):
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            value.CopyFrom(helper.make_tensor_value_info(value.name, kind, array.shape))
        return types.SimpleNamespace(
            name=self.name, model=model, data_sets=[(list(self.feeds.values()), wanted)], rtol=1e-3, atol=1e-5
        )

    # --- layers ------------------------------------------------------------------------------

    def linear(self, x, inner, outer):
        return self.op("Add", self.weight(outer), self.op("MatMul", x, self.weight(inner, outer)))

    def split_norm(self, x, width):
        """Layer norm, decomposed as before ONNX had the operator."""
        mean = self.op("ReduceMean", x, axes=[-1])
        away = self.op("Sub", x, mean)
        square = self.op("Pow", away, self.constant(2, np.float32))
        variance = self.op("ReduceMean", square, axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.constant(1e-5, np.float32)))
        scaled = self.op("Mul", self.op("Div", away, deviation), self.weight(width))
        return self.op("Add", scaled, self.weight(width))

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1, epsilon=1e-5)

    def rms_norm(self, x, width):
        square = self.op("Pow", x, self.constant(2, np.float32))
        mean = self.op("ReduceMean", square, axes=[-1])
        root = self.op("Sqrt", self.op("Add", mean, self.constant(1e-6, np.float32)))
        scale = self.op("Div", self.constant(1, np.float32), root)
        return self.op("Mul", self.weight(width), self.op("Mul", x, scale))

    def gelu(self, x):
        inner = self.op("Erf", self.op("Div", x, self.constant(np.sqrt(2), np.float32)))
        outer = self.op("Mul", x, self.op("Add", inner, self.constant(1, np.float32)))
        return self.op("Mul", outer, self.constant(0.5, np.float32))

    def tanh_gelu(self, x):
        cube = self.op("Pow", x, self.constant(3, np.float32))
        cube = self.op("Mul", self.constant(0.044715, np.float32), cube)
        inner = self.op("Mul", self.op("Add", x, cube), self.constant(np.sqrt(2 / np.pi), np.float32))
        outer = self.op("Add", self.op("Tanh", inner), self.constant(1, np.float32))
        return self.op("Mul", self.op("Mul", x, self.constant(0.5, np.float32)), outer)

    def heads(self, x, count, width):
        shape = self.shape(self.extent(x, 0), self.extent(x, 1), count, width)
        return self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def joined(self, x, width):
        back = self.op("Transpose", x, perm=[0, 2, 1, 3])
        return self.op("Reshape", back, self.shape(self.extent(back, 0), self.extent(back, 1), width))


def gpt2():
    w = Writer("model_gpt2", 13)
    tokens = w.input("input_ids", np.array([[3, 1, 4, 1, 5, 9]]))
    mask = w.input("attention_mask", np.array([[1, 1, 1, 1, 1, 0]]))
    length = w.extent(tokens, 1)
    flat = w.op("Reshape", tokens, w.shape(-1, length))
    places = w.op("Range", w.constant(0), length, w.constant(1))
    places = w.op("Reshape", w.op("Unsqueeze", places, w.constant([0])), w.shape(-1, length))
    x = w.op("Add", w.op("Gather", w.weight(16, 8), flat), w.op("Gather", w.weight(10, 8), places))
    seen = w.op("Unsqueeze", w.op("Unsqueeze", mask, w.constant([1])), w.constant([2]))
    seen = w.op("Cast", seen, to=TensorProto.FLOAT)
    seen = w.op("Mul", w.op("Sub", w.constant(1, np.float32), seen), w.constant(MIN, np.float32))
    for _ in range(2):
        n = w.split_norm(x, 8)
        size = w.op("Shape", n)
        n = w.op("Gemm", w.op("Reshape", n, w.shape(-1, 8)), w.weight(8, 24), w.weight(24))
        front = w.op("Slice", size, w.constant([0]), w.constant([2]))
        n = w.op("Reshape", n, w.op("Concat", front, w.constant([24]), axis=0))
        q, k, v = w.op("Split", n, w.constant([8, 8, 8]), outputs=3, axis=2)
        q, v = w.heads(q, 2, 4), w.heads(v, 2, 4)
        k = w.op("Reshape", k, w.shape(w.extent(k, 0), w.extent(k, 1), 2, 4))
        k = w.op("Transpose", k, perm=[0, 2, 3, 1])
        scores = w.op("Div", w.op("MatMul", q, k), w.constant(2, np.float32))
        rows, columns = w.extent(scores, 2), w.extent(scores, 3)
        bias = w.constant(np.tril(np.ones((1, 1, 32, 32))), np.bool_)
        first = w.op("Unsqueeze", w.op("Sub", columns, rows), w.constant([0]))
        last = w.op("Unsqueeze", columns, w.constant([0]))
        bias = w.op("Slice", bias, first, last, w.constant([2]), w.constant([1]))
        bias = w.op("Slice", bias, w.constant([0]), last, w.constant([3]), w.constant([1]))
        scores = w.op("Where", bias, scores, w.constant(MIN, np.float32))
        weights = w.op("Softmax", w.op("Add", scores, seen), axis=-1)
        y = w.joined(w.op("MatMul", weights, v), 8)
        x = w.op("Add", x, w.linear(y, 8, 8))
        y = w.tanh_gelu(w.linear(w.split_norm(x, 8), 8, 32))
        x = w.op("Add", x, w.linear(y, 32, 8))
    return w.case(w.op("MatMul", w.split_norm(x, 8), w.weight(8, 16)))


def rotated(w, x, cosines, sines):
    """x * cos + rotate_half(x) * sin"""
    half = w.op("Div", w.extent(x, 3), w.constant(2))
    half = w.op("Unsqueeze", half, w.constant([0]))
    low = w.op("Slice", x, w.constant([0]), half, w.constant([3]), w.constant([1]))
    high = w.op("Slice", x, half, w.constant([np.iinfo(np.int64).max]), w.constant([3]), w.constant([1]))
    turned = w.op("Concat", w.op("Neg", high), low, axis=-1)
    return w.op("Add", w.op("Mul", x, cosines), w.op("Mul", turned, sines))


def causal_mask(w, tokens, mask):
    """As the transformers library makes it: a triangle, of which a slice is overwritten by the padding
    mask."""
    batch, length = w.extent(tokens, 0), w.extent(tokens, 1)
    least = helper.make_tensor("v", TensorProto.FLOAT, [1], [MIN])
    square = w.op("ConstantOfShape", w.shape(length, length), value=least)
    triangle = w.op("Trilu", square, w.constant(1), upper=1)
    steps = w.op("Range", w.constant(0), length, w.constant(1))
    later = w.op("Greater", steps, w.op("Reshape", steps, w.constant([-1, 1])))
    triangle = w.op("Mul", triangle, w.op("Cast", later, to=TensorProto.FLOAT))
    whole = w.op("Unsqueeze", triangle, w.constant([0, 1]))
    whole = w.op("Expand", whole, w.shape(batch, 1, length, length))
    padding = w.op("Unsqueeze", w.op("Unsqueeze", mask, w.constant([1])), w.constant([2]))
    sum_ = w.op("Add", whole, w.op("Cast", padding, to=TensorProto.FLOAT))
    empty = w.op("Equal", sum_, w.constant(0, np.float32))
    filled = w.op("Where", empty, w.constant(MIN, np.float32), whole)
    places = []
    for axis, extent in enumerate((batch, w.constant(1), length, length)):
        column = [1, 1, 1, 1, 1]
        column[axis] = -1
        grid = w.op("Range", w.constant(0), extent, w.constant(1))
        grid = w.op("Reshape", grid, w.constant(column))
        places.append(w.op("Expand", grid, w.shape(batch, 1, length, length, 1)))
    return w.op("ScatterND", whole, w.op("Concat", *places, axis=-1), filled)


def repeated(w, x, times):
    """Heads of keys, each for several heads of queries."""
    batch, heads, length, width = (w.extent(x, k) for k in range(4))
    long = w.op("Unsqueeze", x, w.constant([2]))
    to = w.shape(batch, heads, times, length, width)
    same = w.op("Equal", to, w.constant([-1] * 5))
    one = helper.make_tensor("v", TensorProto.INT64, [1], [1])
    to = w.op("Where", same, w.op("ConstantOfShape", w.constant([5]), value=one), to)
    long = w.op("Expand", long, to)
    return w.op("Reshape", long, w.shape(batch, w.op("Mul", heads, w.constant(times)), length, width))


def llama():
    w = Writer("model_llama", 17)
    tokens = w.input("input_ids", np.array([[3, 1, 4, 1, 5], [2, 7, 1, 8, 2]]))
    mask = w.input("attention_mask", np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]]))
    x = w.op("Gather", w.weight(16, 16), tokens)
    places = w.op("Sub", w.op("CumSum", mask, w.constant(1)), w.constant(1))
    places = w.op("Where", w.op("Equal", mask, w.constant(0)), w.constant(1), places)
    angles = w.op("Cast", w.op("Unsqueeze", places, w.constant([1])), to=TensorProto.FLOAT)
    rates = w.op("Expand", w.constant([[[1.0], [0.1]]], np.float32), w.shape(w.extent(places, 0), 2, 1))
    angles = w.op("Transpose", w.op("MatMul", rates, angles), perm=[0, 2, 1])
    angles = w.op("Concat", angles, angles, axis=-1)
    cosines = w.op("Unsqueeze", w.op("Cos", angles), w.constant([1]))
    sines = w.op("Unsqueeze", w.op("Sin", angles), w.constant([1]))
    causal = causal_mask(w, tokens, mask)
    for _ in range(2):
        n = w.rms_norm(x, 16)
        q = rotated(w, w.heads(w.op("MatMul", n, w.weight(16, 16)), 4, 4), cosines, sines)
        k = rotated(w, w.heads(w.op("MatMul", n, w.weight(16, 8)), 2, 4), cosines, sines)
        v = w.heads(w.op("MatMul", n, w.weight(16, 8)), 2, 4)
        k, v = repeated(w, k, 2), repeated(w, v, 2)
        scores = w.op("MatMul", q, w.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = w.op("Add", w.op("Div", scores, w.constant(2, np.float32)), causal)
        weights = w.op("Softmax", scores, axis=-1)
        weights = w.op("Where", w.op("IsNaN", weights), w.constant(0, np.float32), weights)
        x = w.op("Add", x, w.op("MatMul", w.joined(w.op("MatMul", weights, v), 16), w.weight(16, 16)))
        n = w.rms_norm(x, 16)
        gate = w.op("MatMul", n, w.weight(16, 24))
        gate = w.op("Mul", gate, w.op("Sigmoid", gate))
        y = w.op("Mul", gate, w.op("MatMul", n, w.weight(16, 24)))
        x = w.op("Add", x, w.op("MatMul", y, w.weight(24, 16)))
    return w.case(w.op("MatMul", w.rms_norm(x, 16), w.weight(16, 16)))


def vit():
    w = Writer("model_vit", 17)
    image = w.input("pixel_values", w.rng.normal(0, 1, (2, 3, 16, 16)).astype(np.float32))
    patches = w.op("Conv", image, w.weight(12, 3, 4, 4), w.weight(12), kernel_shape=[4, 4], strides=[4, 4])
    batch, channels = w.extent(patches, 0), w.extent(patches, 1)
    x = w.op("Transpose", w.op("Reshape", patches, w.shape(batch, channels, -1)), perm=[0, 2, 1])
    token = w.op("Expand", w.weight(1, 1, 12), w.shape(batch, 1, 12))
    x = w.op("Add", w.op("Concat", token, x, axis=1), w.weight(1, 17, 12))
    for _ in range(2):
        n = w.norm(x, 12)
        q, k, v = (w.heads(w.linear(n, 12, 12), 3, 4) for _ in range(3))
        scores = w.op("MatMul", q, w.op("Transpose", k, perm=[0, 1, 3, 2]))
        weights = w.op("Softmax", w.op("Mul", scores, w.constant(0.5, np.float32)), axis=-1)
        x = w.op("Add", w.linear(w.joined(w.op("MatMul", weights, v), 12), 12, 12), x)
        x = w.op("Add", w.linear(w.gelu(w.linear(w.norm(x, 12), 12, 24)), 24, 12), x)
    first = w.op("Gather", w.norm(x, 12), w.constant(0), axis=1)
    return w.case(w.op("Gemm", first, w.weight(5, 12), w.weight(5), transB=1))


def swin():
    """Windows of 4 x 4 of an image of 8 x 8, shifted by 2, with a bias by relative position."""
    w = Writer("model_swin", 17)
    x = w.input("x", w.rng.normal(0, 1, (1, 8, 8, 8)).astype(np.float32))
    n = w.norm(x, 8)
    for axis in (1, 2):  # roll by -2
        rest = w.op("Slice", n, w.constant([2]), w.constant([np.iinfo(np.int64).max]), w.constant([axis]))
        begin = w.op("Slice", n, w.constant([0]), w.constant([2]), w.constant([axis]))
        n = w.op("Concat", rest, begin, axis=axis)
    n = w.op("Reshape", n, w.constant([1, 2, 4, 2, 4, 8]))
    n = w.op("Reshape", w.op("Transpose", n, perm=[0, 1, 3, 2, 4, 5]), w.constant([-1, 16, 8]))
    parts = w.op("Reshape", w.linear(n, 8, 24), w.constant([4, 16, 3, 2, 4]))
    parts = w.op("Transpose", parts, perm=[2, 0, 3, 1, 4])
    q, k, v = (w.op("Gather", parts, w.constant(index), axis=0) for index in range(3))
    q = w.op("Mul", q, w.constant(0.5, np.float32))
    scores = w.op("MatMul", q, w.op("Transpose", k, perm=[0, 1, 3, 2]))
    index = w.constant(w.rng.integers(0, 49, 256))
    bias = w.op("Reshape", w.op("Gather", w.weight(49, 2), index, axis=0), w.constant([16, 16, 2]))
    bias = w.op("Unsqueeze", w.op("Transpose", bias, perm=[2, 0, 1]), w.constant([0]))
    scores = w.op("Add", scores, bias)
    hidden = w.constant(np.where(w.rng.random((1, 4, 1, 16, 16)) < 0.3, -100, 0), np.float32)
    scores = w.op("Add", w.op("Reshape", scores, w.constant([1, 4, 2, 16, 16])), hidden)
    weights = w.op("Softmax", w.op("Reshape", scores, w.constant([-1, 2, 16, 16])), axis=-1)
    y = w.op("Transpose", w.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    y = w.linear(w.op("Reshape", y, w.constant([4, 16, 8])), 8, 8)
    y = w.op("Transpose", w.op("Reshape", y, w.constant([1, 2, 2, 4, 4, 8])), perm=[0, 1, 3, 2, 4, 5])
    x = w.op("Add", x, w.op("Reshape", y, w.constant([1, 8, 8, 8])))
    corners = [
        w.op("Slice", x, w.constant([row, column]), w.constant([100, 100]), w.constant([1, 2]), w.constant([2, 2]))
        for column in (0, 1)
        for row in (0, 1)
    ]
    merged = w.norm(w.op("Concat", *corners, axis=-1), 32)
    pooled = w.op("ReduceMean", w.op("MatMul", merged, w.weight(32, 16)), axes=[1, 2], keepdims=0)
    return w.case(pooled)


def convnext():
    w = Writer("model_convnext", 17)
    x = w.input("x", w.rng.normal(0, 1, (1, 3, 16, 16)).astype(np.float32))
    x = w.op("Conv", x, w.weight(8, 3, 4, 4), w.weight(8), strides=[4, 4])
    y = w.op("Conv", x, w.weight(8, 1, 7, 7), w.weight(8), group=8, pads=[3, 3, 3, 3])
    y = w.norm(w.op("Transpose", y, perm=[0, 2, 3, 1]), 8)
    y = w.linear(w.gelu(w.linear(y, 8, 32)), 32, 8)
    y = w.op("Transpose", w.op("Mul", y, w.weight(8)), perm=[0, 3, 1, 2])
    x = w.op("Add", x, y)
    x = w.op("Flatten", w.op("GlobalAveragePool", x), axis=1)
    return w.case(w.op("Gemm", x, w.weight(5, 8), w.weight(5), transB=1))


def mobile_net():
    """Squeeze and excitation, hard activations, and an upsampled branch."""
    w = Writer("model_mobilenet_v3", 13)
    x = w.input("x", w.rng.normal(0, 1, (1, 3, 15, 15)).astype(np.float32))
    x = w.op("Conv", x, w.weight(8, 3, 3, 3), w.weight(8), strides=[2, 2], pads=[1, 1, 1, 1])
    x = w.op("HardSigmoid", x, alpha=1 / 6)
    x = w.op("Conv", x, w.weight(8, 1, 5, 5), w.weight(8), group=8, pads=[2, 2, 2, 2])
    x = w.op("Clip", x, w.constant(0, np.float32), w.constant(6, np.float32))
    gate = w.op("Relu", w.op("Conv", w.op("GlobalAveragePool", x), w.weight(4, 8, 1, 1), w.weight(4)))
    gate = w.op("HardSigmoid", w.op("Conv", gate, w.weight(8, 4, 1, 1), w.weight(8)), alpha=1 / 6)
    x = w.op("Mul", gate, x)
    pooled = w.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    size = w.op("Slice", w.op("Shape", x), w.constant([2]), w.constant([4]), w.constant([0]))
    front = w.op("Slice", w.op("Shape", pooled), w.constant([0]), w.constant([2]), w.constant([0]))
    to = w.op("Concat", front, size, axis=0)
    up = w.op("Resize", pooled, "", "", to, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
    y = w.op("Concat", x, up, axis=1)
    variance = w.constant(w.rng.random(16) + 0.5, np.float32)
    y = w.op("BatchNormalization", y, w.weight(16), w.weight(16), w.weight(16), variance)
    return w.case(w.op("LeakyRelu", y, alpha=0.1))


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(name, kind, directions=1, bias=True, lengths=None, start=True, peepholes=False, **attributes):
    """A recurrent operator on 3 sequences of 5 steps; `lengths` are an input, or constants in a tuple."""
    w = Writer(f"model_{name}", 14)
    gates, hidden = GATES[kind], 6
    operands = [w.input("x", w.rng.normal(0, 1, (5, 3, 4)).astype(np.float32))]
    operands += [w.weight(directions, gates * hidden, inner, scale=0.6) for inner in (4, hidden)]
    operands.append(w.weight(directions, 2 * gates * hidden) if bias else "")
    if isinstance(lengths, tuple):
        operands.append(w.constant(lengths, np.int32))
    else:
        operands.append("" if lengths is None else w.input("lengths", np.array(lengths, np.int32)))
    state = (directions, 3, hidden)
    operands.append(w.input("h", w.rng.normal(0, 1, state).astype(np.float32)) if start else "")
    if kind == "LSTM":
        operands.append(w.weight(*state) if start else "")
        operands.append(w.weight(directions, 3 * hidden) if peepholes else "")
    results = w.op(kind, *operands, outputs=3 if kind == "LSTM" else 2, hidden_size=hidden, **attributes)
    return w.case(*results)


def all_recurrent():
    both = {"directions": 2, "direction": "bidirectional"}
    backwards = {"direction": "reverse"}
    saturating = {"activations": ["HardSigmoid", "Softsign", "Relu"], "clip": 0.4}
    return [
        recurrent("lstm", "LSTM", start=False, bias=False),
        recurrent("lstm_bidirectional", "LSTM", peepholes=True, **both),
        recurrent("lstm_reverse", "LSTM", lengths=[2, 5, 3], **backwards),
        recurrent("lstm_lengths", "LSTM", lengths=(2, 5, 3), start=False, **both),
        recurrent("lstm_clip", "LSTM", **saturating),
        recurrent("lstm_coupled", "LSTM", input_forget=1),
        recurrent("gru", "GRU", start=False, bias=False),
        recurrent("gru_bidirectional", "GRU", lengths=[2, 5, 3], **both),
        recurrent("gru_reset_after", "GRU", linear_before_reset=1, **backwards),
        recurrent("gru_reset_after_zero", "GRU", start=False, linear_before_reset=1, **both),
        recurrent("gru_clip", "GRU", clip=0.3, activations=["Sigmoid", "LeakyRelu"], activation_alpha=[0.2]),
        recurrent("rnn", "RNN", **both),
        recurrent("rnn_affine", "RNN", activations=["Affine"], activation_alpha=[0.5], activation_beta=[0.1]),
    ]


def main():
    makers = (gpt2, llama, vit, swin, convnext, mobile_net)
    write_file(pathlib.Path(sys.argv[1]), [*(maker() for maker in makers), *all_recurrent()])


if __name__ == "__main__":
    main()
