"""The ONNX Runtime peer: a model of one operator, timed by the benches' protocol.

Layouts are ONNX's own (NCHW activations; transposed outside the timed call), constants are
initializers so that the session packs them, inputs and output are bound to fixed buffers, and the
session has every optimization. The protocol is described in bench/harness/__init__.py.
"""

import json
import math
import os
import sys
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def to_channels_first(x):
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def to_channels_last(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def weights_to_onnx(w):
    """[kernel..., ci/g, co] -> [co, ci/g, kernel...]."""
    return np.ascontiguousarray(np.moveaxis(w, (-1, -2), (0, 1)))


def same(x):
    return x


def describe(op, params):
    """Inputs, output, node kind, its attributes, how operands become ONNX's, and the way back."""
    if op in ("matmul", "batch_matmul"):
        return ["A", "B"], "C", "MatMul", {}, {}, same
    if op in ("conv1d", "conv2d", "conv3d", "depthwise_conv2d"):
        spatial = len(params["in_spatial"])
        attributes = {
            "strides": [params["stride"]] * spatial,
            "pads": [params["pad"]] * (2 * spatial),
            "dilations": [params["dilation"]] * spatial,
            "group": params["groups"],
        }
        layouts = {"X": to_channels_first, "W": weights_to_onnx}
        return ["X", "W"], "Y", "Conv", attributes, layouts, to_channels_last
    if op == "softmax":
        return ["X"], "Y", "Softmax", {"axis": -1}, {}, same
    raise ValueError(f"this worker has no {op}")


def build_model(node, values, constants, output):
    tensors = {name: values[name] for name in values}
    graph = helper.make_graph(
        [node],
        "bench",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
            for name, value in tensors.items()
            if name not in constants
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(tensors[name], name) for name in constants],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def prepare(spec):
    """Gives the fields of `ready` and one call."""
    workload = spec["workload"]
    names, output, kind, attributes, layouts, back = describe(workload["op"], workload["params"])
    values = {}
    for name in names:
        path = os.path.join(spec["input_dir"], name + ".bin")
        plain = np.fromfile(path, dtype="<f4").reshape(spec["shapes"][name])
        values[name] = layouts.get(name, same)(plain.astype(np.float32, copy=False))
    node = helper.make_node(kind, names, [output], **attributes)
    constants = [name for name in names if name in spec["constants"]]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = spec["threads"]
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(
        build_model(node, values, constants, output), options, providers=["CPUExecutionProvider"]
    )
    feeds = {name: value for name, value in values.items() if name not in constants}
    result = session.run([output], feeds)[0]
    if spec.get("output_file"):
        back(result).astype("<f4").tofile(spec["output_file"])

    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    binding.bind_ortvalue_output(output, onnxruntime.OrtValue.ortvalue_from_numpy(result))
    return {"version": onnxruntime.__version__}, lambda: session.run_with_iobinding(binding)


def run_slice(call, seconds):
    """As bench/protocol.h does: one untimed call, then calls for about that long."""
    call()
    durations = []
    begin = before = time.perf_counter_ns()
    while not durations or before - begin < seconds * 1e9:
        call()
        after = time.perf_counter_ns()
        durations.append(after - before)
        before = after
    durations.sort()
    last = len(durations) - 1
    return {
        "count": len(durations),
        "min_ns": durations[0],
        "p10_ns": durations[math.floor(last / 10)],
        "p50_ns": durations[last // 2],
    }


def serve():
    call = None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        try:
            if word == "quit":
                return
            if word == "prepare":
                fields, call = prepare(json.loads(rest))
                answer = "ready " + json.dumps(fields)
            elif word == "slice" and call:
                answer = "times " + json.dumps(run_slice(call, float(rest)))
            else:
                raise ValueError(f"not understood or not prepared: {word}")
        except Exception as error:  # every failure is an answer; the worker lives
            message = f"{type(error).__name__}: {error}".replace("\n", " ")
            answer = "error " + json.dumps({"message": message})
        print(answer, flush=True)


if __name__ == "__main__":
    serve()
