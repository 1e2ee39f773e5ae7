"""The OpenVINO peer: a model of one operator, timed by the protocol of the benchmarks.

The models are those of ONNX Runtime (graphs/models.py). Activations may also be channels last, as ours are;
OpenVINO then chooses inner layouts itself. The fastest variant is used. Inputs and output are fixed buffers
that are not copied.
"""

import os
import sys

import numpy as np
import openvino as ov

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "graphs"))

from choice import prepare  # noqa: E402
from serving import serve  # noqa: E402

LAYOUTS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def options_of(threads):
    return {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "EXECUTION_MODE_HINT": "ACCURACY",
    }


def with_channels_last(graph):
    """The same graph with another memory layout of its only input and output."""
    rank = len(graph.input(0).get_partial_shape())
    first, last = LAYOUTS[rank]
    steps = ov.preprocess.PrePostProcessor(graph)
    for port in (steps.input(0), steps.output(0)):
        port.model().set_layout(ov.Layout(first))
        port.tensor().set_layout(ov.Layout(last))
    return steps.build()


def start(graph, inputs, threads):
    """Returns the output as an array, and a function that makes one call."""
    request = ov.Core().compile_model(graph, "CPU", options_of(threads)).create_infer_request()
    for name, value in inputs.items():
        request.set_tensor(name, ov.Tensor(value, shared_memory=True))
    request.infer()
    output = np.empty(list(request.get_output_tensor(0).shape), np.float32)
    request.set_output_tensor(0, ov.Tensor(output, shared_memory=True))

    def call(_kept_alive=(inputs, output)):
        request.infer(share_outputs=True)

    return output, call


def offers(model, threads):
    def as_it_is():
        output, call = start(ov.Core().read_model(model.serialized()), model.inputs, threads)
        return lambda: output, call

    def channels_last():
        graph = with_channels_last(ov.Core().read_model(model.serialized()))
        inputs = {
            name: np.ascontiguousarray(np.moveaxis(value, 1, -1))
            for name, value in model.inputs.items()
        }
        output, call = start(graph, inputs, threads)
        return lambda: np.moveaxis(output, -1, 1), call

    result = [(model.name, as_it_is)]
    if model.has_channels:
        result.append((f"{model.name}, channels last", channels_last))
    return result


if __name__ == "__main__":
    serve(lambda spec: prepare(spec, offers, ov.__version__.partition("-")[0]))
