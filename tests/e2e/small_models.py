"""Small ONNX models for the end-to-end tests, with weights from a seed."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def save(path, nodes, inputs, outputs, weights, opset=OPSET):
    """`inputs` and `outputs`: name -> shape; all f32."""

    def infos(values):
        return [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in values.items()
        ]

    tensors = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "small", infos(inputs), infos(outputs), tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


class Weights:
    """Named random arrays."""

    def __init__(self, seed=1):
        self._rng = np.random.default_rng(seed)
        self.arrays = {}

    def draw(self, name, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 4)
        self.arrays[name] = (self._rng.standard_normal(shape) * scale).astype(np.float32)
        return name


def cnn(path, seed=1, channels=16, size=16, images=1):
    """Two convolutions, of which the second is used twice, a residual add, pooling, a matrix product."""
    w, c = Weights(seed), channels
    w.draw("w0", c, 3, 3, 3), w.draw("b0", c), w.draw("w1", c, c, 3, 3), w.draw("b1", c)
    w.draw("w2", c, c, 3, 3), w.draw("b2", c), w.draw("fc", 10, c), w.draw("fb", 10)
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1] * 4, strides=[2, 2]),
        helper.make_node("Relu", ["c0"], ["r0"]),
        helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1] * 4),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("Add", ["r2", "r0"], ["s"]),
        helper.make_node("MaxPool", ["s"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["p"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "fc", "fb"], ["y"], transB=1),
    ]
    return save(path, nodes, {"x": [images, 3, size, size]}, {"y": [images, 10]}, w.arrays)


def attention(path, rows="n"):
    """Layer norm, one head of attention, a residual add and a gelu by erf; the number of rows is symbolic."""
    w, d = Weights(2), 32
    for name in ("wq", "wk", "wv", "wo"):
        w.draw(name, d, d)
    w.draw("scale", d), w.draw("bias", d)
    w.arrays |= {
        "root": np.float32(np.sqrt(d)),
        "half": np.float32(0.5),
        "one": np.float32(1),
        "root2": np.float32(np.sqrt(2)),
    }
    node = helper.make_node
    nodes = [
        node("LayerNormalization", ["x", "scale", "bias"], ["n"], axis=-1, epsilon=1e-5),
        *(node("MatMul", ["n", "w" + letter], [letter]) for letter in "qkv"),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["a"]),
        node("Div", ["a", "root"], ["b"]),
        node("Softmax", ["b"], ["p"], axis=-1),
        node("MatMul", ["p", "v"], ["o"]),
        node("MatMul", ["o", "wo"], ["m"]),
        node("Add", ["m", "x"], ["s"]),
        node("Div", ["s", "root2"], ["e0"]),
        node("Erf", ["e0"], ["e1"]),
        node("Add", ["e1", "one"], ["e2"]),
        node("Mul", ["s", "e2"], ["e3"]),
        node("Mul", ["e3", "half"], ["y"]),
    ]
    return save(path, nodes, {"x": [1, rows, d]}, {"y": [1, rows, d]}, w.arrays)


def masked_attention(path, rows=16, hidden=-100.0, queries=1):
    """One head of attention; `mask` (1: seen, 0: hidden) adds 0 or `hidden` to the scores, of all queries or
    of each of `queries`. At -100 the weights of hidden keys are denormal. Infinity is selected by Where,
    because 0 times infinity is NaN."""
    w, d = Weights(3), 32
    for name in ("wq", "wk", "wv", "wo"):
        w.draw(name, d, d)
    numbers = {"root": np.sqrt(d), "zero": 0, "one": 1, "hidden": hidden}
    w.arrays |= {name: np.float32(number) for name, number in numbers.items()}
    node = helper.make_node
    added = [node("Sub", ["one", "mask"], ["covered"]), node("Mul", ["covered", "hidden"], ["penalty"])]
    selected = [
        node("Greater", ["mask", "zero"], ["seen"]),
        node("Where", ["seen", "zero", "hidden"], ["penalty"]),
    ]
    nodes = [
        *(node("MatMul", ["x", "w" + letter], [letter]) for letter in "qkv"),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["a"]),
        node("Div", ["a", "root"], ["b"]),
        *(selected if np.isinf(hidden) else added),
        node("Add", ["b", "penalty"], ["c"]),
        node("Softmax", ["c"], ["p"], axis=-1),
        node("MatMul", ["p", "v"], ["o"]),
        node("MatMul", ["o", "wo"], ["y"]),
    ]
    inputs = {"x": [1, rows, d], "mask": [1, queries, rows]}
    return save(path, nodes, inputs, {"y": [1, rows, d]}, w.arrays)


def scaled(path, shape, factor):
    """y = x * factor."""
    nodes = [helper.make_node("Mul", ["x", "factor"], ["y"])]
    return save(path, nodes, {"x": shape}, {"y": shape}, {"factor": np.float32(factor)})


def two_outputs(path, first, second):
    """x + 1 and x + 2 with these names."""
    node = helper.make_node
    nodes = [node("Add", ["x", "one"], [first]), node("Add", ["x", "two"], [second])]
    numbers = {"one": np.float32(1), "two": np.float32(2)}
    return save(path, nodes, {"x": [4]}, {first: [4], second: [4]}, numbers)


def unsupported(path):
    """Two nodes with unsupported operators."""
    node = helper.make_node
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("NonZero", ["r"], ["i"], name="find_them"),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Unique", ["f"], ["y"], name="only_once"),
    ]
    return save(path, nodes, {"x": [4, 4]}, {"y": ["n"]}, {})
