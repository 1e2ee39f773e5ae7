"""The OpenVINO peer for whole models: optimized for latency, in f32, with inputs and outputs in fixed buffers
that are not copied."""

import os
import sys
import time

import numpy as np
import openvino as ov

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "graphs"))

from serving import serve  # noqa: E402
from whole_model import memory_kib, read_inputs, write_outputs  # noqa: E402
from worker import options_of  # noqa: E402


def prepare(spec):
    inputs = read_inputs(spec)
    before_kib = memory_kib("VmRSS")
    begin = time.perf_counter()
    graph = ov.Core().read_model(spec["model"])
    graph.reshape({name: list(value.shape) for name, value in inputs.items()})
    compiled = ov.Core().compile_model(graph, "CPU", options_of(spec["threads"]))
    request = compiled.create_infer_request()
    open_ms = 1e3 * (time.perf_counter() - begin)
    for name, value in inputs.items():
        request.set_tensor(name, ov.Tensor(value, shared_memory=True))
    request.infer()
    results = []
    for index in range(len(compiled.outputs)):
        tensor = request.get_output_tensor(index)
        results.append(np.empty(list(tensor.shape), tensor.data.dtype))
        request.set_output_tensor(index, ov.Tensor(results[-1], shared_memory=True))

    def call(_kept_alive=(inputs, results)):
        request.infer(share_outputs=True)

    call()
    write_outputs(spec, results)
    version = ov.__version__.partition("-")[0]
    fields = {"version": version, "open_ms": open_ms, "before_kib": before_kib}
    return fields | {"peak_kib": memory_kib("VmHWM")}, call


if __name__ == "__main__":
    serve(prepare)
