"""The TVM MetaSchedule peer, in a separate environment (made by bench/harness/metaschedule.py).

    worker.py tune {json}    tunes a workload into the folder `store`, once; prints one line of JSON
    worker.py                serves the protocol of the benchmarks with the best program of that folder

`store` and `trials` are fields of the request in addition to those of every worker. Operands have our layouts
(channels last). MetaSchedule has its default configuration: its space for CPUs, its evolution with XGBoost,
its local builder and runner. One change is in its favor: by default, its builder processes first import
descriptions of GPU instructions, which takes longer than a round of builds, and on a loaded machine longer
than the builder's time limit. Here they skip that.
"""

import importlib
import json
import math
import os
import sys
import time

import numpy as np
import tvm
from tvm import te
from tvm.s_tir import meta_schedule as ms

RESULT = "result.json"
MATMULS = ("matmul", "batch_matmul")


def target_of(threads):
    cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
    return tvm.target.Target({"kind": "llvm", "mcpu": str(cpu), "num-cores": threads})


# --- the operators, written in TVM's tensor expressions ---


def matmul(params, shapes):
    a, b = (te.placeholder(shapes[name], name=name) for name in "AB")
    k = te.reduce_axis((0, params["k"]), name="k")
    c = te.compute(shapes["C"], lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return [a, b, c]


def padded(x, pad):
    n, h, w, c = x.shape

    def element(i, y, z, d):
        inside = tvm.tirx.all(y >= pad, y < h + pad, z >= pad, z < w + pad)
        value = x[i, y - pad, z - pad, d]
        return tvm.tirx.if_then_else(inside, value, tvm.tirx.const(0.0, "float32"))

    return te.compute((n, h + 2 * pad, w + 2 * pad, c), element, name="P")


def convolution(params, shapes):
    x, w = (te.placeholder(shapes[name], name=name) for name in "XW")
    p, stride, kernel = padded(x, params["pad"]), params["stride"], params["kernel"]
    ry, rx = (te.reduce_axis((0, kernel), name=name) for name in ("ry", "rx"))
    rc = te.reduce_axis((0, params["ci"]), name="rc")

    def element(n, y, z, c):
        window = p[n, y * stride + ry, z * stride + rx, rc]
        return te.sum(window * w[ry, rx, rc, c], axis=[ry, rx, rc])

    return [x, w, te.compute(shapes["Y"], element, name="Y")]


def depthwise(params, shapes):
    x, w = (te.placeholder(shapes[name], name=name) for name in "XW")
    p, stride, kernel = padded(x, params["pad"]), params["stride"], params["kernel"]
    ry, rx = (te.reduce_axis((0, kernel), name=name) for name in ("ry", "rx"))

    def element(n, y, z, c):
        return te.sum(p[n, y * stride + ry, z * stride + rx, c] * w[ry, rx, c], axis=[ry, rx])

    return [x, w, te.compute(shapes["Y"], element, name="Y")]


OPERATORS = {
    "matmul": matmul,
    "batch_matmul": matmul,
    "conv2d": convolution,
    "depthwise_conv2d": depthwise,
}


def module_of(spec):
    workload, shapes = spec["workload"], spec["shapes"]
    op, params = workload["op"], workload["params"]
    plain = params.get("dilation", 1) == 1 and params.get("groups", 1) in (1, params.get("ci"))
    ranked = all(len(shape) in (2, 3, 4) for shape in shapes.values())
    if op not in OPERATORS or not plain or not ranked or (op in MATMULS and len(shapes["A"]) != 2):
        raise ValueError(f"MetaSchedule: this worker has no {op} of this kind")
    function = te.create_prim_func(OPERATORS[op](params, shapes))
    return tvm.IRModule({"main": function.with_attr("global_symbol", "main")})


# --- tuning ---


def database_of(store, module_name="tuning"):
    folder = os.path.join(store, module_name)
    os.makedirs(folder, exist_ok=True)
    return ms.database.JSONDatabase(work_dir=folder)


def build(module, target, _):
    return tvm.driver.build(module, target=target)


def tune(spec):
    """Seconds are those of tuning alone, without importing and defining the operator."""
    store, trials = spec["store"], spec["trials"]
    module, target = module_of(spec), target_of(spec["threads"])
    importlib.import_module("tvm.s_tir.tensor_intrin")
    begin = time.monotonic()
    database = ms.tune_tir(
        mod=module,
        target=target,
        work_dir=os.path.join(store, "tuning"),
        max_trials_global=trials,
        num_trials_per_iter=min(64, trials),
        builder=ms.builder.LocalBuilder(max_workers=spec["threads"], timeout_sec=60, f_build=build),
        num_tuning_cores=spec["threads"],
        seed=spec.get("seed", 1),
    )
    seconds = time.monotonic() - begin
    records = database.get_all_tuning_records()
    times = [float(t) for r in records if r.run_secs for t in [min(map(float, r.run_secs))]]
    best_s = min((t for t in times if 0 < t < 1e9), default=math.nan)
    return {
        "trials": len(records),
        "seconds": seconds,
        "trials_per_second": len(records) / seconds,
        "best_us": 1e6 * best_s,
        "version": tvm.__version__,
    }


# --- serving ---


def prepare(spec):
    module, target = module_of(spec), target_of(spec["threads"])
    database = database_of(spec["store"])
    schedule = ms.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise RuntimeError("MetaSchedule: nothing valid in " + spec["store"])
    built = tvm.compile(schedule.mod, target=target)
    device = tvm.cpu(0)
    tensors = []
    for name in spec["inputs"]:
        path = os.path.join(spec["input_dir"], name + ".bin")
        values = np.fromfile(path, dtype="<f4").reshape(spec["shapes"][name])
        tensors.append(tvm.runtime.tensor(values, device))
    output = list(spec["shapes"])[-1]
    result = tvm.runtime.tensor(np.zeros(spec["shapes"][output], np.float32), device)
    function = built["main"]

    def call():
        function(*tensors, result)

    call()
    if spec.get("output_file"):
        result.numpy().astype("<f4").tofile(spec["output_file"])
    return {"version": tvm.__version__, "detail": f"best of {spec['trials']} trials"}, call


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "tune":
        spec = json.loads(sys.argv[2])
        os.makedirs(spec["store"], exist_ok=True)
        line = json.dumps(tune(spec))
        with open(os.path.join(spec["store"], RESULT), "w") as file:
            file.write(line + "\n")
        print(line, flush=True)
        return
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.join(here, "..", "graphs"))
    from serving import serve

    serve(prepare)


if __name__ == "__main__":
    main()
