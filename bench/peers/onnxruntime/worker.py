"""The ONNX Runtime peer: a model of one operator, timed by the benches' protocol.

Layouts are ONNX's own (models.py), constants are initializers so that the session packs them,
inputs and output are bound to fixed buffers, and the session has every optimization. Where there
are several models the fastest stays. The protocol is described in bench/harness/__init__.py.
"""

import json
import math
import os
import sys
import time

import numpy as np
import onnxruntime
from models import OUTPUT, models_of

TRIAL_S = 0.1


def read_inputs(spec):
    values = {}
    for name in spec["inputs"]:
        path = os.path.join(spec["input_dir"], name + ".bin")
        plain = np.fromfile(path, dtype="<f4").reshape(spec["shapes"][name])
        values[name] = plain.astype(np.float32, copy=False)
    return values


def open_session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(
        model.serialized(), options, providers=["CPUExecutionProvider"]
    )


def bind(session, model):
    """Gives the output of one run and a call over fixed buffers."""
    result = session.run([OUTPUT], model.inputs)[0]
    binding = session.io_binding()
    for name, value in model.inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    binding.bind_ortvalue_output(OUTPUT, onnxruntime.OrtValue.ortvalue_from_numpy(result))
    return result, lambda: session.run_with_iobinding(binding)


def prepare(spec):
    """Gives the fields of `ready` and one call: that of the fastest model."""
    workload = spec["workload"]
    best_ns, best, why_not = math.inf, None, "no model"
    for model in models_of(
        workload["op"], workload["params"], read_inputs(spec), spec["constants"]
    ):
        try:
            result, call = bind(open_session(model, spec["threads"]), model)
        except Exception as error:  # this model is not offered; another may be
            why_not = f"{model.name}: {error}"
            continue
        p50_ns = run_slice(call, TRIAL_S)["p50_ns"]
        if p50_ns < best_ns:
            best_ns, best = p50_ns, (model, result, call)
    if best is None:
        raise RuntimeError(why_not)
    model, result, call = best
    if spec.get("output_file"):
        model.back(result).astype("<f4").tofile(spec["output_file"])
    return {"version": onnxruntime.__version__, "detail": model.name}, call


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
