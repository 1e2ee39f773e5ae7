"""TVM's MetaSchedule as a peer: a separate environment, tuning once per machine, and a launcher."""

import json
import os
import subprocess
import sys

from harness import machine, peers
from harness.compare import BUSY_CPUS
from harness.tuned import OtherWork
from harness.worker import WorkerError

WORKLOADS = ("GMM2", "C2D2", "DEP0")
TRIALS = 200
MIN_SPEED, MIN_RATE = 2.0, 20.0  # our speed over its: kernels, trials per second
# Without dependencies: the newest ffi crashes.
PINNED = ("apache-tvm==0.27.0.post1", "apache-tvm-ffi==0.1.14.post1")
NEEDED = ("numpy", "psutil", "ml_dtypes", "cloudpickle", "xgboost", "typing_extensions", "scipy")
NEEDED += ("tornado", "attrs", "decorator")
FOLDER = os.path.join(peers.BUILD, "peers", "tvm")
STAMP = os.path.join(FOLDER, "installed.txt")
WORKER = os.path.join(peers.BENCH, "peers", "metaschedule", "worker.py")


def python():
    return os.path.join(FOLDER, "bin", "python")


def set_up():
    """Creates the environment if it is missing; raises WorkerError if that fails."""
    wanted = "\n".join((*PINNED, *NEEDED)) + "\n"
    if os.path.exists(STAMP) and os.path.exists(python()):
        with open(STAMP) as file:
            if file.read() == wanted:
                return
    print("search: installing MetaSchedule into build/peers/tvm", file=sys.stderr)
    pip = [python(), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", FOLDER],
        [*pip, "--no-deps", *PINNED, *NEEDED],
        [python(), "-c", "import tvm.s_tir.meta_schedule"],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise WorkerError(f"MetaSchedule: cannot run {command[0]}: {error}") from error
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["?"])[-1]
            raise WorkerError(f"MetaSchedule: {' '.join(command[1:4])}: {said}")
    with open(STAMP, "w") as file:
        file.write(wanted)


def store_of(workload, trials):
    folder = os.path.join(peers.BUILD, "bench", f"metaschedule.{machine.identity()}")
    return os.path.join(folder, f"{workload.name}.{trials}")


def environment(threads):
    return {"TVM_NUM_THREADS": str(threads)}


def spec_of(workload, threads, trials, input_dir, output_file=None):
    fields = workload.prepare_fields(threads, input_dir, output_file)
    return fields | {"store": store_of(workload, trials), "trials": trials}


def tune(workload, threads, trials=TRIALS):
    """Tunes, for minutes, unless this machine has a result. Returns the fields that the worker wrote: trials,
    seconds, trials_per_second, best_us. An interrupted run begins again."""
    set_up()
    folder = store_of(workload, trials)
    result = os.path.join(folder, "result.json")
    if not os.path.exists(result):
        for root, _, files in os.walk(folder, topdown=False):
            for name in files:
                os.remove(os.path.join(root, name))
        os.makedirs(folder, exist_ok=True)
        spec = json.dumps(spec_of(workload, threads, trials, folder))
        print(f"search: MetaSchedule tunes {workload.name}, minutes", file=sys.stderr)
        work = OtherWork()
        done = subprocess.run(
            [python(), WORKER, "tune", spec],
            capture_output=True,
            text=True,
            env=os.environ | environment(threads),
        )
        if done.returncode != 0 or not os.path.exists(result):
            said = (done.stderr.strip().splitlines() or ["?"])[-1]
            raise WorkerError(f"MetaSchedule: {workload.name}: {said}")
        with open(result) as file:
            fields = json.load(file) | {"other_cpus": work.cpus()}
        if fields["other_cpus"] > BUSY_CPUS:  # to be tuned again without load by other processes
            os.rename(result, result + ".disturbed")
            return fields
        with open(result, "w") as file:
            json.dump(fields, file)
    with open(result) as file:
        return json.load(file)


def launcher(threads):
    return lambda: ([python(), WORKER], environment(threads))
