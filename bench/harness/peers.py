"""Launchers for each kind of worker. The oneDNN worker is also built here if it is out of date.

A launcher is a function without arguments that returns (command, environment), or raises WorkerError with the
reason why this machine has no such worker and how to install it.
"""

import importlib.util
import os
import subprocess
import sys

from harness.suite import BENCH
from harness.worker import WorkerError

ROOT = os.path.dirname(BENCH)
BUILD = os.environ.get("TILEWRIGHT_BENCH_FOLDER") or os.path.join(ROOT, "build")  # results and built peers


def libraries():
    """The variables that our programs need besides those of this process. TILEWRIGHT_BENCH_LIBRARIES names a
    folder of shared libraries, for programs that were built elsewhere; peers in Python do not use it."""
    folder = os.environ.get("TILEWRIGHT_BENCH_LIBRARIES")
    return {"LD_LIBRARY_PATH": folder} if folder else {}


def environment():
    """The environment of our programs."""
    return os.environ | libraries()


def ours(build_dir):
    """Our worker, which also serves the FMA peak, the copies and the sum."""
    path = os.path.join(build_dir, "bench", "bench_worker")
    if not os.path.exists(path):
        raise WorkerError(f"no {os.path.relpath(path, ROOT)}: build the target bench_worker")
    return [path], libraries()


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
    settings = {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads"}  # one pinned thread per processor
    built = os.environ.get("TILEWRIGHT_ONEDNN_WORKER")
    if built:
        if not os.path.exists(built):
            raise WorkerError(f"oneDNN: no {built}")
        return [built], libraries() | settings
    prefix = sys.prefix  # the wheel puts headers and library under the prefix of the environment
    header = os.path.join(prefix, "include", "oneapi", "dnnl", "dnnl.hpp")
    library = os.path.join(prefix, "lib", "libdnnl.so.3")
    if not (os.path.exists(header) and os.path.exists(library)):
        raise WorkerError("oneDNN: not in .venv: pip install onednn-devel-cpu-gomp")
    program = os.path.join(BUILD, "peers", "onednn_worker")
    needs = [*source_files("onednn"), os.path.join(BENCH, "protocol.h"), library]
    if _stale(program, needs):
        _compile_onednn([path for path in needs if path.endswith(".cc")], program, prefix, library)
    return [program], settings  # the wheel's library needs the GNU OpenMP runtime


def source_files(peer):
    """The source files of a peer's worker, sorted by name."""
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
