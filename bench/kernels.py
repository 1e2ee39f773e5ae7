#!/usr/bin/env python3
"""./dev bench kernels: hand-written schedules against the machine's limit, oneDNN and ONNX Runtime.

Each trace is a text file in bench/traces, NAME.trace or, for one thread count, NAME.2t.trace. All
participants of a case run in the same alternating rounds, each in its own process
(bench/harness/rounds.py). A case counts against the FMA peak at the same thread count, with the
suite's flop; a memory-bound one against the faster of two copies of the same number of bytes.
"""

import argparse
import hashlib
import os
import sys
import tempfile
from dataclasses import asdict, replace
from importlib import metadata

from harness import peers, report, suite
from harness.compare import BUSY_CPUS, Contestant, Outcome, compare
from harness.kernel_result import COPIES, Case, memory_bound, print_results, result_of, verdict
from harness.rounds import MIN_ROUNDS, Series

TRACES = os.path.join(suite.BENCH, "traces")
PEER_LAUNCHERS = {"onednn": peers.onednn, "onnxruntime": peers.onnxruntime}
METHOD_FILES = (
    "suite.json",
    "protocol.h",
    "harness/rounds.py",
    "peers/onednn_worker.cc",
    "peers/onnxruntime_worker.py",
)
LONG_FLOP = 2e10  # --full leaves out what takes seconds a call; name it to run it


CASES = (
    Case("GMM3", 1, 0.90),
    Case("GMM3", 2, 0.85),
    Case("C2D2", 1, 0.90),
    Case("C2D2", 2, 0.85),
    Case("GMM2", 2, 0.85),
    Case("SFM2", 2, 0.70),
)


def choose_cases(names, full, workloads):
    """Names are GMM3 or GMM3/1t; without any, the cases with a bar; --full adds the whole suite as
    far as this bench knows its operators. An unknown one raises Unsupported."""
    known = {case.name: case for case in CASES}
    if not names and not full:
        return list(CASES)
    if not names:
        for workload in workloads.values():
            try:
                workload.shapes()
            except suite.Unsupported:
                continue
            if workload.flop <= LONG_FLOP:
                known.setdefault(f"{workload.name}/2t", Case(workload.name))
        return list(known.values())
    chosen = []
    for name in names:
        base, _, threads = name.partition("/")
        if base not in workloads or (threads and not threads.rstrip("t").isdigit()):
            raise suite.Unsupported(f"no case {name}: say GMM3 or GMM3/1t, as in bench/suite.json")
        workloads[base].shapes()
        if threads:
            count = int(threads.rstrip("t"))
            chosen.append(known.get(f"{base}/{count}t", Case(base, count)))
        else:
            chosen += [case for case in CASES if case.workload == base] or [Case(base)]
    return chosen


def trace_path(case, folder=TRACES):
    """The trace for this thread count, else the one for all, else None."""
    for name in (f"{case.workload}.{case.threads}t.trace", f"{case.workload}.trace"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def trace_text(case):
    path = trace_path(case)
    if path is None:
        return None
    with open(path) as file:
        return file.read()


def contestants_of(case, workload, build_dir, folder):
    """Ours, its limit and the peers, by name; outputs go to FOLDER/NAME.out."""

    def fields(name):
        return workload.prepare_fields(case.threads, folder, os.path.join(folder, name + ".out"))

    def launch_ours():
        return peers.ours(build_dir)

    result = {}
    trace = trace_text(case)
    if trace is not None:
        result["ours"] = Contestant(launch_ours, fields("ours") | {"trace": trace})
    if memory_bound(workload):
        for method in COPIES:
            spec = {"kind": "copy", "method": method, "threads": case.threads}
            spec["bytes"] = workload.bytes_moved() // 2
            result[method] = Contestant(launch_ours, spec)
    else:
        result["peak"] = Contestant(launch_ours, {"kind": "peak", "threads": case.threads})
    for name, launch in PEER_LAUNCHERS.items():
        result[name] = Contestant(launch, fields(name))
    return result


def errors_of(outcome, folder):
    """Relative errors of ours and of the peers against ONNX Runtime, or oneDNN without it."""
    outputs = {}
    for name in ("ours", *PEER_LAUNCHERS):
        path = os.path.join(folder, name + ".out")
        if name in outcome.series and not outcome.series[name].failure and os.path.exists(path):
            outputs[name] = path
    reference = next((name for name in ("onnxruntime", "onednn") if name in outputs), None)
    if reference is None:
        return {}
    return {
        name: suite.relative_error(path, outputs[reference])
        for name, path in outputs.items()
        if name != reference
    }


def measure(case, workload, options, on_round=None):
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        suite.write_inputs(workload, folder)
        entrants = contestants_of(case, workload, options.build, folder)
        outcome = compare(entrants, case.threads, options.rounds, options.slice, on_round)
        if "ours" not in entrants:
            outcome.series["ours"] = Series(failure="no trace in bench/traces")
        return outcome, errors_of(outcome, folder)


def key_of(case, options):
    """A hash of all that a result depends on: our worker, the trace, the peers and the method."""
    digest = hashlib.sha256()
    files = [os.path.join(options.build, "bench", "bench_worker"), trace_path(case)]
    files += [os.path.join(suite.BENCH, name) for name in METHOD_FILES]
    for path in files:
        if path and os.path.exists(path):
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    digest.update(f"{case} {options.rounds} {options.slice} {peer_versions()}".encode())
    return digest.hexdigest()


def peer_versions():
    found = {}
    for package in ("onnxruntime", "onednn-devel-cpu-gomp"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def run_case(case, workload, options, kept):
    key = key_of(case, options)
    stored = None if options.fresh else kept.get(case.name, key)
    if stored:
        series = {name: Series(**fields) for name, fields in stored["series"].items()}
        outcome = Outcome(series, stored["other_cpus"])
        return replace(result_of(case, workload, outcome, stored["errors"]), kept=True)

    def on_round(count):
        if sys.stderr.isatty():
            print(f"\r{case.name}: round {count}/{options.rounds} ", end="", file=sys.stderr)

    outcome, errors = measure(case, workload, options, on_round)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    result = result_of(case, workload, outcome, errors)
    trustworthy = outcome.other_cpus <= BUSY_CPUS and options.rounds >= MIN_ROUNDS
    if trustworthy and not result.failures and result.checked and not result.wrong:
        series = {name: asdict(s) for name, s in outcome.series.items()}
        kept.put(
            case.name, key, {"series": series, "errors": errors, "other_cpus": outcome.other_cpus}
        )
    return result


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev bench kernels", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="workload or case, GMM3 or GMM3/1t"
    )
    parser.add_argument(
        "--full", action="store_true", help="every workload of the suite's operators known here"
    )
    parser.add_argument("--json", metavar="FILE", help="also write rows {name, metric, value}")
    parser.add_argument(
        "--rounds",
        type=int,
        default=24,
        help=f"alternating rounds, at least {MIN_ROUNDS} for a result",
    )
    parser.add_argument(
        "--slice", type=float, default=0.1, metavar="SECONDS", help="length of a slice"
    )
    parser.add_argument("--traces", action="store_true", help="also print each trace")
    parser.add_argument(
        "--fresh", action="store_true", help="ignore results kept from earlier runs"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 unless every bar is reached"
    )
    parser.add_argument(
        "--build", default=os.path.join(peers.BUILD, "release"), help="build folder"
    )
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def main(arguments=None):
    options = parse(arguments)
    workloads = suite.load()
    kept = report.Kept(os.path.join(peers.BUILD, "bench"), "kernels")
    try:
        cases = choose_cases(options.names, options.full, workloads)
    except suite.Unsupported as error:
        print(f"kernels: {error}", file=sys.stderr)
        return 2
    results = [run_case(case, workloads[case.workload], options, kept) for case in cases]
    print_results(results, options.rounds, options.slice)
    if options.rounds < MIN_ROUNDS:
        print(f"! fewer than {MIN_ROUNDS} rounds: a look, not a result")
    if options.traces:
        for case in cases:
            print(f"\n{case.name}:\n{trace_text(case) or report.ABSENT}")
    if options.json:
        rows = [
            {"name": result.case.name, "metric": metric, "value": value}
            for result in results
            for metric, value in result.metrics.items()
        ]
        report.write_rows(options.json, report.machine_rows() + rows)
    short = any(r.case.bar is not None and verdict(r) != "reached" for r in results)
    return 1 if any(r.wrong for r in results) or (options.check and short) else 0


if __name__ == "__main__":
    sys.exit(main())
