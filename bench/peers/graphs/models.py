"""The operators of the suite as ONNX graphs.

A model takes its activations in ONNX's layouts (NCHW). Operands and outputs are converted outside the timed
call. An operator that can be written in several ways has several models, of which the worker selects the
fastest.
"""

import math
from dataclasses import dataclass, field
from typing import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OUTPUT = "result"


def same(x):
    return x


@dataclass(frozen=True)
class Model:
    """Nodes over named values; `constants` are initializers, all other operands are inputs."""

    name: str
    nodes: list
    inputs: dict
    constants: dict = field(default_factory=dict)
    back: Callable = same  # output of the graph -> our layout

    @property
    def has_channels(self):
        """True if its only input is [n, c, spatial...]."""
        return any("Conv" in n.op_type for n in self.nodes)

    def serialized(self):
        graph = helper.make_graph(
            self.nodes,
            "bench",
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
                for name, value in self.inputs.items()
            ],
            [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def node(kind, inputs, output=OUTPUT, **attributes):
    return helper.make_node(kind, inputs, [output], **attributes)


# --- layouts ---


def channels_first(x):
    """[n, spatial..., c] -> [n, c, spatial...]."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def channels_last(y):
    return np.ascontiguousarray(np.moveaxis(y, 1, -1))


def output_major(w):
    """[kernel..., ci/g, co] -> [co, ci/g, kernel...]."""
    return np.ascontiguousarray(np.moveaxis(w, (-1, -2), (0, 1)))


def input_major(w):
    """[kernel..., ci, co] -> [ci, co, kernel...]."""
    return np.ascontiguousarray(np.moveaxis(w, (-2, -1), (0, 1)))


# --- convolutions ---


def window(params, spatial):
    return {
        "strides": [params["stride"]] * spatial,
        "pads": [params["pad"]] * (2 * spatial),
        "dilations": [params.get("dilation", 1)] * spatial,
    }


def convolution(params, values, _):
    x = channels_first(values["X"])
    attributes = window(params, x.ndim - 2) | {"group": params["groups"]}
    nodes = [node("Conv", ["X", "W"], **attributes)]
    constants = {"W": output_major(values["W"])}
    return [Model("Conv", nodes, {"X": x}, constants, channels_last)]


def depthwise(params, values, fixed):
    """[kh, kw, c] -> [kh, kw, 1, c]."""
    return convolution(params, values | {"W": values["W"][:, :, None, :]}, fixed)


def convolution_bias_bn_relu(params, values, _):
    """The batch norm is folded into weights and bias, which are constants."""
    x = channels_first(values["X"])
    attributes = window(params, x.ndim - 2) | {"group": params["groups"]}
    nodes = [node("Conv", ["X", "W", "B"], "sums", **attributes), node("Relu", ["sums"])]
    constants = {
        "W": output_major(values["W"] * values["scale"]),
        "B": values["bias"] * values["scale"] + values["shift"],
    }
    return [Model("Conv + Relu", nodes, {"X": x}, constants, channels_last)]


def transposed_convolution(params, values, _):
    x = channels_first(values["X"])
    nodes = [node("ConvTranspose", ["X", "W"], **window(params, x.ndim - 2))]
    constants = {"W": input_major(values["W"])}
    return [Model("ConvTranspose", nodes, {"X": x}, constants, channels_last)]


def capsule_convolution(params, values, _):
    """A capsule's rows i are images of a batch, its columns are channels:
    X[n, h, w, i, k, c] -> [n i, k c, h, w], W[kh, kw, k, j, c, co] -> [j co, k c, kh, kw]."""
    n, h, w, size, _, ci = values["X"].shape
    x = values["X"].transpose(0, 3, 4, 5, 1, 2).reshape(n * size, size * ci, h, w)
    kernel = values["W"]
    co = kernel.shape[-1]
    weights = kernel.transpose(3, 5, 2, 4, 0, 1).reshape(size * co, size * ci, *kernel.shape[:2])

    def back(y):
        rows = y.reshape(n, size, size, co, *y.shape[2:])
        return np.ascontiguousarray(rows.transpose(0, 4, 5, 1, 2, 3))

    nodes = [node("Conv", ["X", "W"], **window(params, 2))]
    inputs = {"X": np.ascontiguousarray(x)}
    return [Model("Conv", nodes, inputs, {"W": np.ascontiguousarray(weights)}, back)]


# --- products ---


def matmul(_, values, fixed):
    inputs = {name: value for name, value in values.items() if name not in fixed}
    constants = {name: value for name, value in values.items() if name in fixed}
    return [Model("MatMul", [node("MatMul", ["A", "B"])], inputs, constants)]


def score_nodes(output):
    return [
        node("Transpose", ["Q"], "rows", perm=[0, 2, 1, 3]),
        node("Transpose", ["K"], "columns", perm=[0, 2, 3, 1]),
        node("MatMul", ["rows", "columns"], output),
    ]


def scores(_, values, __):
    return [Model("Transpose + MatMul", score_nodes(OUTPUT), values)]


def softmax_of_scores(_, values, __):
    nodes = [*score_nodes("scores"), node("Softmax", ["scores"], axis=-1)]
    return [Model("Transpose + MatMul + Softmax", nodes, values)]


def attention(params, values, _):
    scale = np.array(1 / math.sqrt(params["dim"]), dtype=np.float32)
    nodes = [
        node("MatMul", ["Q", "K"], "products"),
        node("Mul", ["products", "scale"], "scaled"),
        node("Softmax", ["scaled"], "weights", axis=-1),
        node("MatMul", ["weights", "V"]),
    ]
    columns = np.ascontiguousarray(values["K"].swapaxes(-1, -2))
    chain = Model("MatMul + Softmax + MatMul", nodes, values | {"K": columns}, {"scale": scale})
    return [chain, fused_attention(params, values)]


def fused_attention(params, values):
    """Rows of all heads side by side: [b, heads, seq, dim] -> [b, seq, heads dim]."""
    b, heads, seq, dim = values["Q"].shape

    def side_by_side(x):
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(b, seq, heads * dim))

    def back(y):
        return np.ascontiguousarray(y.reshape(b, seq, heads, dim).transpose(0, 2, 1, 3))

    kind = "MultiHeadAttention"
    nodes = [node(kind, ["Q", "K", "V"], num_heads=params["heads"], domain="com.microsoft")]
    inputs = {name: side_by_side(value) for name, value in values.items()}
    return Model(kind, nodes, inputs, {}, back)


# --- rows ---


def softmax(_, values, __):
    return [Model("Softmax", [node("Softmax", ["X"], axis=-1)], values)]


def layer_norm(_, values, __):
    nodes = [node("LayerNormalization", ["X", "scale", "shift"], axis=-1, epsilon=1e-5)]
    constants = {name: values[name] for name in ("scale", "shift")}
    return [Model("LayerNormalization", nodes, {"X": values["X"]}, constants)]


def norm(_, values, __):
    at_once = [node("ReduceL2", ["X"], axes=[1, 2], keepdims=0)]
    by_rows = [
        node("ReduceL2", ["X"], "rows", axes=[2], keepdims=0),
        node("ReduceL2", ["rows"], axes=[1], keepdims=0),
    ]
    return [Model("ReduceL2", at_once, values), Model("ReduceL2 of rows", by_rows, values)]


def identity(_, values, __):
    """Measures the overhead of a call."""
    return [Model("Relu", [node("Relu", ["X"])], values)]


# (parameters, operand -> array, names of the constant operands) -> models.
OPERATORS = {
    "matmul": matmul,
    "batch_matmul": matmul,
    "conv1d": convolution,
    "conv2d": convolution,
    "conv3d": convolution,
    "depthwise_conv2d": depthwise,
    "conv2d_transpose": transposed_convolution,
    "conv2d_capsule": capsule_convolution,
    "conv2d_bias_bn_relu": convolution_bias_bn_relu,
    "norm": norm,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "transpose_batch_matmul": scores,
    "transpose_batch_matmul_softmax": softmax_of_scores,
    "attention": attention,
    "relu": identity,
}


def models_of(op, params, values, constants):
    if op not in OPERATORS:
        raise ValueError(f"no graph of {op}")
    return OPERATORS[op](params, values, constants)
