"""The ONNX Runtime peer for whole models: all optimizations, inputs and outputs bound to fixed buffers, the
default memory arena of the session."""

import os
import sys
import time

import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "graphs"))

from serving import serve  # noqa: E402
from whole_model import memory_kib, read_inputs, write_outputs  # noqa: E402


def prepare(spec):
    inputs = read_inputs(spec)
    before_kib = memory_kib("VmRSS")
    begin = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = spec["threads"]
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(
        spec["model"], options, providers=["CPUExecutionProvider"]
    )
    open_ms = 1e3 * (time.perf_counter() - begin)
    names = [output.name for output in session.get_outputs()]
    results = [onnxruntime.OrtValue.ortvalue_from_numpy(a) for a in session.run(names, inputs)]
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    for name, value in zip(names, results):
        binding.bind_ortvalue_output(name, value)
    session.run_with_iobinding(binding)
    write_outputs(spec, [value.numpy() for value in results])
    fields = {"version": onnxruntime.__version__, "open_ms": open_ms, "before_kib": before_kib}
    fields["peak_kib"] = memory_kib("VmHWM")
    return fields, lambda: session.run_with_iobinding(binding)


if __name__ == "__main__":
    serve(prepare)
