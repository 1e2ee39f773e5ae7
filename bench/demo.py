#!/usr/bin/env python3
"""./dev demo: one matmul and one convolution, tuned for this machine with a few dozen trials each, and
shown untuned, tuned and beside ONNX Runtime in the same run. Takes about a minute; what was measured
is kept, so a second demo tunes nothing."""

import os
import subprocess
import sys
import tempfile

from harness import data, peers, report, suite
from harness.compare import BUSY_CPUS, Contestant, compare
from harness.tuned import TuneError, parse_output

THREADS = 2
TRIALS = 104  # three rounds
ROUNDS = 8
SLICE_S = 0.05
MAX_RELATIVE_ERROR = 1e-4
EXAMPLES = (("GMM2", "matmul 512 x 512 x 512"), ("C2D2", "conv2d 14 x 14, 256 -> 256, 3 x 3"))
SCHEDULES = ("untuned", "tuned")
RUNTIME = "ONNX Runtime"


def tune(workload, build_dir):
    """The fastest schedule that a short search finds, as text."""
    store = os.path.join(peers.BUILD, "demo.db")
    command = [os.path.join(build_dir, "tilewright"), "tune", workload.spec(), "--json"]
    command += ["--trials", str(TRIALS), "--threads", str(THREADS), "--records", store]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)  # progress is on stderr
    if done.returncode != 0:
        raise TuneError(f"tune {workload.name} ended with {done.returncode}")
    return parse_output(done.stdout.splitlines()).winner()


def contestants_of(workload, trace, folder, build_dir):
    def fields(name):
        return workload.prepare_fields(THREADS, folder, os.path.join(folder, name))

    def launch_ours():
        return peers.ours(build_dir)

    return {
        "untuned": Contestant(launch_ours, fields("untuned")),
        "tuned": Contestant(launch_ours, fields("tuned") | {"trace": trace}),
        RUNTIME: Contestant(peers.onnxruntime, fields(RUNTIME)),
        "peak": Contestant(launch_ours, {"kind": "peak", "threads": THREADS}),
    }


def rows_of(workload, label, outcome, folder):
    """One row a participant: label, who, compile ms, run ms, GFLOP/s, share of peak, agreement."""
    peak = outcome.series["peak"]
    peak_rate = peak.ready.get("flop", 0) / peak.time_ns() if peak.time_ns() else None
    rows = []
    for name in (*SCHEDULES, RUNTIME):
        series = outcome.series[name]
        time_ns = series.time_ns()
        rate = workload.flop / time_ns if time_ns else None
        compile_ms = series.ready.get("compile_ms")
        row = [label if not rows else "", name, report.number(compile_ms)]
        row += [report.number(time_ns / 1e6 if time_ns else None), report.number(rate)]
        row += [report.percent(rate / peak_rate if rate and peak_rate else None)]
        rows.append([*row, agreement(name, outcome, folder)])
    return rows


def agreement(name, outcome, folder):
    if name == RUNTIME or outcome.series[name].failure or outcome.series[RUNTIME].failure:
        return report.ABSENT
    error = data.relative_error(os.path.join(folder, name), os.path.join(folder, RUNTIME))
    return "same" if error <= MAX_RELATIVE_ERROR else f"WRONG {error:.0e}"


def main(build_dir=os.path.join(peers.BUILD, "release")):
    workloads = suite.load()
    rows, failures, busy = [], [], False
    for name, label in EXAMPLES:
        workload = workloads[name]
        print(f"tuning {label}", file=sys.stderr)
        try:
            trace = tune(workload, build_dir)
        except (TuneError, OSError) as error:
            failures.append(f"– {label}: {error}")
            continue
        with tempfile.TemporaryDirectory(prefix="tilewright-demo-") as folder:
            data.write_inputs(workload, folder)
            contestants = contestants_of(workload, trace, folder, build_dir)
            outcome = compare(contestants, THREADS, ROUNDS, SLICE_S)
            busy |= outcome.other_cpus > BUSY_CPUS
            rows += rows_of(workload, label, outcome, folder)
        for who, series in outcome.series.items():
            if series.failure:
                failures.append(f"– {label}, {who}: {series.failure}")
    print(report.machine_line())
    print(
        f"f32, {THREADS} threads, {ROUNDS} alternating rounds, each participant its own process\n"
    )
    header = ["operator", "", "compile ms", "run ms", "GFLOP/s", "of FMA peak", "result"]
    print(report.table(header, rows, left=2))
    if busy:
        print("! the machine did other work meanwhile: the numbers are unreliable")
    print("\n".join([*failures, ""]))
    print("Next:")
    print("  build/release/tilewright tune C2D2     longer, into a store of your own")
    print("  build/release/tilewright explain C2D2  why a schedule is fast or slow")
    print("  ./dev bench search                     the operator suite against the vendors' libraries")
    print("  ./dev test                             the whole test suite")
    wrong = any(row[-1].startswith("WRONG") for row in rows)
    return 1 if failures or wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
