"""`tilewright tune MODEL` for the benchmarks, with the time at which each round ended, which shows when a
model became faster than a peer."""

import json
import os
import subprocess
import time
from dataclasses import dataclass, field

from harness import peers
from harness.tuned import OtherWork, TuneError


@dataclass
class ModelTuning:
    """The tuning of a model, in one or several tuning runs."""

    result: dict = field(default_factory=dict)  # of the last tuning run
    rounds: list = field(default_factory=list)  # [seconds of tuning, task, its best time in ns so far]
    seconds: float = 0.0
    requested_s: float = 0.0  # of the last tuning run
    other_cpus: float = 0.0

    @property
    def curve(self):
        """(seconds of tuning, sum of the best task times in ns). The default times known to the last tuning
        run apply to all runs, so a task that an early run did not reach counts there too."""
        tasks = {task["task"]: task for task in self.result.get("tasks", ())}
        best, points = {}, []
        for at, task, ns in self.rounds:
            best[task] = min(ns, best.get(task, ns))
            points.append((at, model_ns(best, tasks)))
        return [(at, ns) for at, ns in points if ns]


SHORT_S = 60.0  # the first tuning run


def tuning_runs(seconds):
    """Name -> total seconds of tuning, ascending: `60 s` and the requested time, or the latter alone."""
    all_seconds = [s for s in (SHORT_S,) if s < seconds] + [seconds]
    return {_duration(s): s for s in all_seconds}


def _duration(seconds):
    whole = seconds > SHORT_S and seconds % 60 == 0
    return f"{seconds / 60:g} min" if whole else f"{seconds:g} s"


def program(build_dir, name="tilewright"):
    return os.path.join(build_dir, name)


def _flags(store, threads, allow, shapes):
    """The flags of all verbs. `allow`: permissions that are off by default; `shapes`: shapes of inputs with
    symbolic dimensions."""
    words = ["--records", store, "--threads", str(threads)]
    words += ["--input-shapes", shapes] if shapes else []
    return [*words, "--allow", ",".join(allow)] if allow else words


def run_tune(model, store, seconds, build_dir, before=None, threads=2, on_round=None, allow=(), shapes=""):
    """Tunes for `seconds` more after `before`. Returns both as one tuning. `on_round` receives the seconds so
    far."""
    before = before or ModelTuning()
    command = [program(build_dir), "tune", model, "--json", "--seconds", f"{seconds:g}"]
    command += _flags(store, threads, allow, shapes)
    work, begin = OtherWork(), time.monotonic()
    result, rounds = None, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=peers.environment()) as process:
        for line in process.stdout:
            fields = json.loads(line)
            if "round" in fields:
                one, at = fields["round"], time.monotonic() - begin
                if one.get("best_ns"):
                    rounds.append([before.seconds + at, one["task"], one["best_ns"]])
                if on_round:
                    on_round(at)
            elif "result" in fields:
                result = fields["result"]
    took = time.monotonic() - begin
    if process.returncode not in (0, 3) or result is None:
        raise TuneError(f"tune {os.path.basename(model)} ended with {process.returncode}")
    other_cpus = max(before.other_cpus, work.cpus())
    return ModelTuning(result, before.rounds + rounds, before.seconds + took, seconds, other_cpus)


def model_ns(best, tasks):
    """Weighted sum of the times known at a moment. A task without a round counts with the later time of its
    default schedule, or not at all if that was never measured."""
    total = 0.0
    for key, task in tasks.items():
        ns = best.get(key) or task.get("default_ns") or task.get("default_trial_ns") or 0.0
        total += task["weight"] * ns
    return total


def passed_after(curve, measured_ns, peer_ns, not_before=0.0):
    """Seconds of tuning after which the model was at least as fast as a peer, by the sum of its task times,
    scaled so that the last sum is the measured time; None: never. Never before the time at which a library
    was measured to be slower."""
    if not (curve and measured_ns and peer_ns and measured_ns <= peer_ns):
        return None
    scale = measured_ns / curve[-1][1]
    return next((at for at, ns in curve if at >= not_before and ns * scale <= peer_ns), None)


def _said(build_dir, verb, *words):
    """The output of the program under --json; the last line of stderr is the error."""
    command = [program(build_dir), verb, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=peers.environment())
    if done.returncode != 0:
        raise TuneError((done.stderr.strip().splitlines() or [f"{verb} failed"])[-1])
    return done.stdout


def compile_library(model, store, library, build_dir, threads=2, allow=(), shapes=""):
    """The fields of `compile --json`."""
    words = ("compile", model, "-o", library, *_flags(store, threads, allow, shapes))
    return json.loads(_said(build_dir, *words))


def tasks_of(model, store, build_dir, threads=2, allow=(), shapes=""):
    """The rows of `tasks --json`."""
    said = _said(build_dir, "tasks", model, *_flags(store, threads, allow, shapes))
    return [json.loads(line) for line in said.splitlines()]


def recorded_ns(tasks):
    """Weighted sum of the task times that tuning measured, as used by `compile`; None if a task has none."""
    if not tasks or any("best_ns" not in task for task in tasks):
        return None
    return sum(task["weight"] * task["best_ns"] for task in tasks)


def explain_library(library, store, seconds, build_dir, threads=2):
    """The fields of `explain MODEL.so --json` that are about the whole model, such as `limit_ns`: the time of a
    run whose kernels are at their limits; and `other_cpus`, which other processes used meanwhile."""
    words = (library, "--records", store, "--threads", str(threads), "--seconds", f"{seconds:g}")
    work = OtherWork()
    explained = json.loads(_said(build_dir, "explain", *words).splitlines()[0])
    return explained | {"other_cpus": work.cpus()}


def bench_libraries(libraries, seconds, build_dir):
    """The fields of `bench --json` of each library, in alternation: quantiles, tasks and their sum."""
    said = _said(build_dir, "bench", *libraries, "--seconds", f"{seconds:g}")
    return [json.loads(line) for line in said.splitlines()]
