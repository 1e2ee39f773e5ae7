#!/usr/bin/env python3
"""./dev demo: generates a small convolutional network, tunes it for this machine in two minutes, compiles it
to a library, and compares the untuned and the tuned library with ONNX Runtime in one run. Writes the tuning
curve as an SVG. Measurements are stored, so a second demo tunes nothing."""

import json
import os
import sys
import time

from harness import curve, demo_model, peers, report
from harness.model_match import play
from harness.model_tuning import ModelTuning, compile_library, run_tune
from harness.tuned import TuneError

THREADS = 2
SECONDS = 120.0
ROUNDS, SLICE_S = 10, 0.1
FOLDER = os.path.join(peers.BUILD, "demo")
RUNTIME = "onnxruntime"
LABELS = {"untuned": "untuned", "tuned": "tuned", RUNTIME: "ONNX Runtime"}


def path(name):
    return os.path.join(FOLDER, name)


def tuned(model, build_dir):
    """Tunes. If there was nothing to do, the curve is that of the first demo."""
    tuning = run_tune(model, path("demo.db"), SECONDS, build_dir, threads=THREADS)
    try:
        if not tuning.result["measured"]:
            with open(path("tuning.json")) as file:
                return ModelTuning(**json.load(file)), True
    except (OSError, ValueError, TypeError):
        return tuning, True
    with open(path("tuning.json"), "w") as file:
        json.dump(vars(tuning), file)
    return tuning, False


def rows_of(match, made):
    rows = []
    for name, label in LABELS.items():
        time_ns, error = match.time_ns(name), match.errors.get(name)
        ratio = match.ratio(name, RUNTIME)
        result = report.ABSENT
        if name != RUNTIME and error is not None:
            result = f"WRONG {error:.0e}" if match.is_wrong(name) else "same"
        row = [label, report.number(made.get(name)), report.number(time_ns / 1e6 if time_ns else None)]
        rows.append([*row, report.number(ratio), result])
    return rows


def draw(tuning, match):
    """Draws sums of task times, scaled so that the last one is the measured time of the model."""
    final_ns, times = match.time_ns("tuned"), {}
    for name in ("untuned", RUNTIME):
        if match.time_ns(name):
            times[LABELS[name]] = match.time_ns(name) / 1e6
    known = tuning.curve
    if not known or not final_ns:
        return None
    ms_of_ns = final_ns / known[-1][1] / 1e6
    points = [(at, ns * ms_of_ns) for at, ns in known]
    with open(path("curve.svg"), "w") as file:
        file.write(curve.svg(points, times, "a small CNN while it is tuned: time of one run"))
    return path("curve.svg")


def main(build_dir=os.path.join(peers.BUILD, "release")):
    os.makedirs(FOLDER, exist_ok=True)
    model = path("cnn.onnx")
    demo_model.write(model)
    made = {}
    try:
        made["untuned"] = compile_library(model, "none", path("untuned.so"), build_dir)["seconds"]
        print(f"tuning {os.path.relpath(model, peers.ROOT)} for {SECONDS:g} s", file=sys.stderr)
        begin = time.monotonic()
        tuning, known = tuned(model, build_dir)
        tune_s = time.monotonic() - begin
        made["tuned"] = compile_library(model, path("demo.db"), path("tuned.so"), build_dir)["seconds"]
        libraries = {name: path(f"{name}.so") for name in ("untuned", "tuned")}
        match = play(model, libraries, THREADS, ROUNDS, SLICE_S, build_dir, (RUNTIME,))
    except (TuneError, OSError) as error:
        print(f"– {error}")
        return 1
    rows = rows_of(match, made)
    print(report.machine_line())
    print(f"f32, {THREADS} threads, {ROUNDS} alternating rounds, each participant its own process\n")
    header = ["a small CNN", "compile s", "run ms", "x ONNX Runtime", "result"]
    print(report.table(header, rows))
    result = tuning.result
    print(
        f"\n{len(result['tasks'])} tasks, tuned in {tune_s:.0f} s"
        + (" (known from the demo before)" if known else f" with {result['measured']} trials")
    )
    picture = draw(tuning, match)
    if picture:
        print(f"tuning curve: {os.path.relpath(picture, peers.ROOT)}")
    if not match.trustworthy:
        print("! other processes were running: the numbers are unreliable")
    failures = [f"– {LABELS[who]}: {why}" for who, why in match.failures().items()]
    print("\n".join([*failures, ""]))
    print("Next:")
    print("  build/release/tilewright tune YOUR.onnx --seconds 900    your own model")
    print("  build/release/tilewright compile YOUR.onnx -o YOUR.so    a library with a C interface")
    print("  build/release/tilewright bench YOUR.so                   the time of each task")
    print("  build/release/tilewright tune C2D2                       a single operator")
    print("  ./dev bench models                                       whole models against their peers")
    print("  ./dev test                                               the whole test suite")
    wrong = any(row[-1].startswith("WRONG") for row in rows)
    return 1 if failures or wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
