#!/usr/bin/env python3
"""./dev bench kernels: hand-written schedules against the machine's limit, oneDNN and ONNX Runtime.

Each trace is a text file in bench/traces, NAME.trace or, for one thread count, NAME.2t.trace. All
participants of a case run in the same alternating rounds, each in its own process
(bench/harness/rounds.py). A case counts against the FMA peak at the same thread count, with the
suite's flop; a memory-bound one against copying or summing the same number of bytes
(bench/harness/limits.py). Cases and bars are in bench/harness/cases.py.

To examine a schedule while writing it: `kernels NAME --trace FILE --no-peers --rounds 5`.
"""

import argparse
import hashlib
import os
import sys
import tempfile
from dataclasses import asdict, replace
from importlib import metadata

from harness import data, peers, report, suite
from harness.cases import choose_cases, load_workloads, trace_path
from harness.compare import BUSY_CPUS, Contestant, compare, outcome_from_json
from harness.kernel_result import MAX_RELATIVE_ERROR, print_results, result_of, rows_of, verdict
from harness.limits import probes_of
from harness.rounds import MIN_ROUNDS, Series

PEER_LAUNCHERS = {"onednn": peers.onednn, "onnxruntime": peers.onnxruntime}
METHOD_FILES = ("suite.json", "protocol.h", "harness/rounds.py", "harness/data.py")


def trace_text(case, options):
    """The text of --trace, else of the case's file in bench/traces, else None."""
    path = options.trace or trace_path(case)
    if path is None:
        return None
    with open(path) as file:
        return file.read()


def contestants_of(case, workload, options, folder):
    """Our worker, the limit and the peers, by name; outputs are written to FOLDER/NAME.out."""

    def fields(name):
        return workload.prepare_fields(case.threads, folder, os.path.join(folder, name + ".out"))

    def launch_ours():
        return peers.ours(options.build)

    result = {}
    trace = trace_text(case, options)
    if trace is not None:
        result["ours"] = Contestant(launch_ours, fields("ours") | {"trace": trace})
    for name, spec in probes_of(workload, case.threads).items():
        result[name] = Contestant(launch_ours, spec)
    if not options.no_peers:
        for name, launch in PEER_LAUNCHERS.items():
            result[name] = Contestant(launch, fields(name))
    return result


def errors_of(outcome, folder):
    """Relative errors of our output and of the peers', relative to ONNX Runtime, or to oneDNN without it. If
    the peers disagree, our output is compared with the nearer one; the elements that our worker compares with
    the definition then decide."""
    outputs = {}
    for name in ("ours", *PEER_LAUNCHERS):
        path = os.path.join(folder, name + ".out")
        if name in outcome.series and not outcome.series[name].failure and os.path.exists(path):
            outputs[name] = path
    reference = next((name for name in ("onnxruntime", "onednn") if name in outputs), None)
    if reference is None:
        return {}
    errors = {
        name: data.relative_error(path, outputs[reference])
        for name, path in outputs.items()
        if name != reference
    }
    if "ours" in errors and errors.get("onednn", 0.0) > MAX_RELATIVE_ERROR:
        errors["ours"] = min(
            errors["ours"], data.relative_error(outputs["ours"], outputs["onednn"])
        )
    return errors


def measure(case, workload, options, on_round=None):
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        data.write_inputs(workload, folder)
        entrants = contestants_of(case, workload, options, folder)
        outcome = compare(entrants, case.threads, options.rounds, options.slice, on_round)
        if "ours" not in entrants:
            outcome.series["ours"] = Series(failure="no trace in bench/traces")
        return outcome, errors_of(outcome, folder)


def key_of(case, options):
    """A hash of all that a result depends on: our worker, the trace, the peers and the method."""
    digest = hashlib.sha256()
    files = [os.path.join(options.build, "bench", "bench_worker"), trace_path(case)]
    files += [os.path.join(suite.BENCH, name) for name in METHOD_FILES]
    files += [path for name in PEER_LAUNCHERS for path in peers.source_files(name)]
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


def look_reasons(options):
    """Why the output is a preview and not a result; such runs neither use nor store results."""
    reasons = []
    if options.trace:
        reasons.append("--trace")
    if options.no_peers:
        reasons.append("--no-peers")
    if options.rounds < MIN_ROUNDS:
        reasons.append(f"fewer than {MIN_ROUNDS} rounds")
    return reasons


def run_case(case, workload, options, kept):
    key = key_of(case, options)
    look = bool(look_reasons(options))
    stored = None if options.fresh or look else kept.get(case.name, key)
    if stored:
        result = result_of(case, workload, outcome_from_json(stored), stored["errors"])
        return replace(result, kept=True)

    def on_round(count):
        if sys.stderr.isatty():
            print(f"\r{case.name}: round {count}/{options.rounds} ", end="", file=sys.stderr)

    outcome, errors = measure(case, workload, options, on_round)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    result = result_of(case, workload, outcome, errors)
    trustworthy = outcome.other_cpus <= BUSY_CPUS and not look
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
    parser.add_argument("--full", action="store_true", help="every workload of the suite")
    parser.add_argument("--json", metavar="FILE", help="also write rows {name, metric, value}")
    parser.add_argument(
        "--trace", metavar="FILE", help="the schedule of the one NAME, in place of bench/traces"
    )
    parser.add_argument(
        "--no-peers", action="store_true", help="only our kernel and the limit; for a preview"
    )
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
    if options.full and options.names:
        parser.error("--full and NAME exclude each other")
    if options.trace and len(options.names) != 1:
        parser.error("--trace needs exactly one NAME")
    if options.trace and not os.path.isfile(options.trace):
        parser.error(f"--trace: there is no file {options.trace}")
    return options


def main(arguments=None):
    options = parse(arguments)
    workloads = load_workloads()
    kept = report.Kept(os.path.join(peers.BUILD, "bench"), "kernels")
    try:
        cases = choose_cases(options.names, options.full, workloads)
    except suite.Unsupported as error:
        print(f"kernels: {error}", file=sys.stderr)
        return 2
    if options.trace:  # a trace fits one workload: leave out the case that a bar refers to
        base = options.names[0].partition("/")[0]
        cases = [case for case in cases if case.workload == base]
    results = [run_case(case, workloads[case.workload], options, kept) for case in cases]
    print_results(results, options.rounds, options.slice)
    if look_reasons(options):
        print(f"! a look, not a result: {', '.join(look_reasons(options))}")
    if options.traces:
        for case in cases:
            print(f"\n{case.name}:\n{trace_text(case, options) or report.ABSENT}")
    if options.json:
        report.write_rows(options.json, report.machine_rows() + report.stated(rows_of(results)))
    short = any(r.case.bar is not None and verdict(r, results) != "reached" for r in results)
    return 1 if any(r.wrong for r in results) or (options.check and short) else 0


if __name__ == "__main__":
    sys.exit(main())
