"""Generates the small convolutional network of ./dev demo, with weights from a seed: residual blocks, one of
them depthwise. A run takes about a millisecond."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 3, 64, 64)
CLASSES = 10


class Writer:
    """Appends nodes and weights; values have the names n0, n1, ..."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else shape[0]
        values = self._rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def conv(self, x, ci, co, size=3, stride=1, groups=1, relu=True):
        pad = size // 2
        w, b = self.weight(co, ci // groups, size, size), self.weight(co)
        y = self.node(
            "Conv", x, w, b, strides=[stride] * 2, pads=[pad] * 4, group=groups, kernel_shape=[size] * 2
        )
        return self.node("Relu", y) if relu else y

    def block(self, x, ci, co, stride):
        """Two convolutions and a skip connection."""
        y = self.conv(self.conv(x, ci, co, stride=stride), co, co, relu=False)
        around = x if ci == co and stride == 1 else self.conv(x, ci, co, 1, stride, relu=False)
        return self.node("Relu", self.node("Add", y, around))


def write(path, seed=1):
    w = Writer(seed)
    x = w.conv("image", 3, 32, stride=2)
    x = w.block(x, 32, 32, 1)
    x = w.block(x, 32, 64, 2)
    x = w.conv(w.conv(x, 64, 64, groups=64), 64, 128, 1)  # depthwise, then pointwise
    x = w.block(x, 128, 128, 2)
    x = w.node("Flatten", w.node("GlobalAveragePool", x))
    x = w.node("Gemm", x, w.weight(CLASSES, 128), w.weight(CLASSES), transB=1)
    w.nodes.append(helper.make_node("Softmax", [x], ["classes"], name="classes", axis=1))
    graph = helper.make_graph(
        w.nodes,
        "demo",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("classes", TensorProto.FLOAT, (1, CLASSES))],
        w.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
