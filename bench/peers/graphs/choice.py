"""For peers that run graphs: reads the inputs of a request, and selects the fastest variant."""

import math
import os

import numpy as np
from models import models_of
from serving import run_slice

TRIAL_S = 0.1


def read_inputs(spec):
    values = {}
    for name in spec["inputs"]:
        path = os.path.join(spec["input_dir"], name + ".bin")
        plain = np.fromfile(path, dtype="<f4").reshape(spec["shapes"][name])
        values[name] = plain.astype(np.float32, copy=False)
    return values


def prepare(spec, offers, version):
    """Returns the fields of `ready` and a function that makes one call of the fastest variant of any model.

    offers(model, threads) returns (name, bind) pairs; bind() returns two functions: one reads the output of
    the last call, the other makes one call over fixed buffers.
    """
    workload = spec["workload"]
    models = models_of(workload["op"], workload["params"], read_inputs(spec), spec["constants"])
    best_ns, best, why_not = math.inf, None, "no model"
    for model in models:
        for name, bind in offers(model, spec["threads"]):
            try:
                read, call = bind()
                call()
            except Exception as error:  # this variant is not supported; another may be
                why_not = f"{name}: {error}"
                continue
            p50_ns = run_slice(call, TRIAL_S)["p50_ns"]
            if p50_ns < best_ns:
                best_ns, best = p50_ns, (model, name, read, call)
    if best is None:
        raise RuntimeError(why_not)
    model, name, read, call = best
    if spec.get("output_file"):
        model.back(read()).astype("<f4").tofile(spec["output_file"])
    return {"version": version, "detail": name}, call
