"""How each kind of worker is started; the oneDNN worker is also built here when it is stale.

A launcher is a function without arguments that gives (command, environment), or raises WorkerError
with the reason why there is no such worker on this machine and what would get it.
"""

import importlib.util
import os
import subprocess
import sys

from harness.suite import BENCH
from harness.worker import WorkerError

ROOT = os.path.dirname(BENCH)
BUILD = os.path.join(ROOT, "build")


def ours(build_dir):
    """Our worker, which also serves the FMA peak, the copies and the sum."""
    path = os.path.join(build_dir, "bench", "bench_worker")
    if not os.path.exists(path):
        raise WorkerError(f"no {os.path.relpath(path, ROOT)}: build the target bench_worker")
    return [path], {}


def onnxruntime(worker="worker.py"):
    return _in_python("onnxruntime", "ONNX Runtime", ("numpy", "onnx", "onnxruntime"), worker)


def openvino(worker="worker.py"):
    return _in_python("openvino", "OpenVINO", ("numpy", "onnx", "openvino"), worker)


def _in_python(folder, label, packages, worker):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise WorkerError(f"{label}: no {package}: pip install {package} into .venv")
    return [sys.executable, os.path.join(BENCH, "peers", folder, worker)], {}


def onednn():
    prefix = sys.prefix  # the wheel puts headers and library under the prefix of the environment
    header = os.path.join(prefix, "include", "oneapi", "dnnl", "dnnl.hpp")
    library = os.path.join(prefix, "lib", "libdnnl.so.3")
    if not (os.path.exists(header) and os.path.exists(library)):
        raise WorkerError("oneDNN: not in .venv: pip install onednn-devel-cpu-gomp")
    program = os.path.join(BUILD, "peers", "onednn_worker")
    needs = [*source_files("onednn"), os.path.join(BENCH, "protocol.h"), library]
    if _stale(program, needs):
        _compile_onednn([path for path in needs if path.endswith(".cc")], program, prefix, library)
    # The wheel's library wants the GNU OpenMP runtime: one thread a processor, bound.
    return [program], {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads"}


def source_files(peer):
    """What a peer's worker is made of, in the order of their names."""
    folders = [peer] if peer == "onednn" else [peer, "graphs"]
    found = []
    for folder in (os.path.join(BENCH, "peers", name) for name in folders):
        found += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return [path for path in found if path.endswith((".cc", ".h", ".py"))]


def _stale(output, inputs):
    if not os.path.exists(output):
        return True
    return any(os.path.getmtime(path) > os.path.getmtime(output) for path in inputs)


def _compile_onednn(sources, program, prefix, library):
    os.makedirs(os.path.dirname(program), exist_ok=True)
    unfinished = f"{program}.{os.getpid()}"
    command = ["g++", "-std=c++20", "-O2", "-fopenmp", "-I", ROOT, "-isystem"]
    command += [os.path.join(prefix, "include"), *sources, "-o", unfinished, library]
    command += [f"-Wl,-rpath,{os.path.dirname(library)}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise WorkerError(f"oneDNN: cannot run g++: {error.strerror}") from error
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise WorkerError("oneDNN: worker does not build: " + (errors or ["?"])[0])
    os.replace(unfinished, program)
