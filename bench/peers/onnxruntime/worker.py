"""The ONNX Runtime peer: a model of one operator, timed by the protocol of the benchmarks.

Layouts are those of ONNX (graphs/models.py), constants are initializers so that the session packs them,
inputs and output are bound to fixed buffers, and the session has all optimizations. Of several models, the
fastest is used.
"""

import os
import sys

import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "graphs"))

from choice import prepare  # noqa: E402
from models import OUTPUT  # noqa: E402
from serving import serve  # noqa: E402


def open_session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(
        model.serialized(), options, providers=["CPUExecutionProvider"]
    )


def offers(model, threads):
    def bind():
        session = open_session(model, threads)
        result = onnxruntime.OrtValue.ortvalue_from_numpy(session.run([OUTPUT], model.inputs)[0])
        binding = session.io_binding()
        for name, value in model.inputs.items():
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
        binding.bind_ortvalue_output(OUTPUT, result)
        return result.numpy, lambda: session.run_with_iobinding(binding)

    return [(model.name, bind)]


if __name__ == "__main__":
    serve(lambda spec: prepare(spec, offers, onnxruntime.__version__))
