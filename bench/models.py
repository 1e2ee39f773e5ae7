#!/usr/bin/env python3
"""./dev bench models: whole models, tuned and compiled, in alternating rounds with ONNX Runtime and
OpenVINO: 2 threads, f32.

Each model is tuned for 60 s and compiled, then tuned to 15 minutes in all and compiled again; both
libraries and the one without any tuning run in turns with the peers, and outputs are compared with ONNX
Runtime's. By default four models, with --full nine. What was tuned and measured is kept a machine and a
build (build/bench): a run that was cut off goes on. What ran beside other work is shown but not kept.

    ./dev bench models --match model.onnx --library model.so --peers onnxruntime,openvino

only compares a library that is there; `tilewright bench --peers` calls that.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys

from harness import peers, report
from harness.bars import Report
from harness.model_match import PEERS, match_from_json, parse_shapes, play
from harness.model_tuning import (
    ModelTuning,
    bench_library,
    compile_library,
    passed_after,
    program,
    run_tune,
)
from harness.rounds import MIN_ROUNDS, QUANTILE
from harness.tuned import TuneError, build_key

THREADS = 2
SHORT_S, LONG_S = 60.0, 900.0
DEFAULT = ("resnet18", "mobilenet_v2", "dcgan", "bert_tiny_128")
FULL = (*DEFAULT, "resnet50", "squeezenet1_1", "densenet121", "r3d_18", "bert_base_128")
LEAST, LEAST_MEAN, LEAST_SHARE = 1.0, 1.15, 0.9
MOST_MEMORY, MEMORY_MODELS = 1.3, ("resnet50", "bert_base_128")
MOST_AGAIN_S, MOST_OPEN_MS = 10.0, 100.0
NOTE_EVERY_S = 5.0
UNTUNED, SHORT, LONG = "untuned", "60 s", "15 min"


class ModelError(Exception):
    """A model that cannot be had; says why in a line."""


def models_folder():
    beside = os.path.join(peers.ROOT, "..", "shared", "models")
    return os.environ.get("TILEWRIGHT_MODELS") or os.path.normpath(beside)


def materialized(name):
    """The path of the runnable model, made from its stripped form where it is not there."""
    path = os.path.join(peers.BUILD, "models", name + ".onnx")
    if os.path.exists(path):
        return path
    folder = models_folder()
    stripped = os.path.join(folder, name + ".stripped.onnx")
    if not os.path.exists(stripped):
        raise ModelError(f"no {name}.stripped.onnx in {folder}: set TILEWRIGHT_MODELS")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    command = [sys.executable, os.path.join(folder, "materialize.py"), stripped, unfinished]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ModelError((done.stderr.strip().splitlines() or ["materialize.py failed"])[-1])
    os.replace(unfinished, path)
    return path


class Bench:
    """One run of this bench: what it keeps, and where."""

    def __init__(self, options):
        self.options = options
        self.kept = report.Kept(os.path.join(peers.BUILD, "bench"), "models")
        self.folder = os.path.join(peers.BUILD, "bench", "models")
        os.makedirs(self.folder, exist_ok=True)
        digest = hashlib.sha256(build_key(options.build).encode())
        digest.update(f"{options.rounds} {options.slice} {options.seconds}".encode())
        self.key = "any" if options.any_build else digest.hexdigest()

    def path(self, name, ending):
        return os.path.join(self.folder, name.replace(" ", "") + ending)

    def get(self, name):
        if self.options.fresh:
            return None
        return self.kept.get_any(name) if self.options.any_build else self.kept.get(name, self.key)

    def put(self, name, value):
        self.kept.put(name, self.key, value)

    def tuned(self, name, model, seconds, before=None):
        """Tunes up to that many seconds in all."""
        kept = self.get(f"tune/{name}/{seconds:g}")
        if kept:
            return ModelTuning(**kept)
        store, build = self.path(name, ".db"), self.options.build
        before = before or ModelTuning()
        spent_name = f"spent/{name}/{seconds:g}"
        earlier = self.get(spent_name) or 0.0  # of a sitting that was cut off

        def note(spent):
            if spent + earlier - (self.get(spent_name) or 0.0) > NOTE_EVERY_S:
                self.put(spent_name, spent + earlier)

        before.seconds += earlier
        left = max(seconds - before.seconds, 1.0)
        tuning = run_tune(model, store, left, build, before, THREADS, note)
        self.put(f"tune/{name}/{seconds:g}", vars(tuning))
        return tuning

    def again(self, name, model, tuning):
        """Seconds and trials measured of the same command once more."""
        kept = self.get(f"again/{name}")
        if kept is None:
            store, build = self.path(name, ".db"), self.options.build
            once_more = run_tune(model, store, tuning.asked_s, build, None, THREADS)
            kept = [once_more.seconds, once_more.result["measured"]]
            self.put(f"again/{name}", kept)
        return kept

    def compiled(self, name, model, which, store=None):
        library = self.path(f"{name}.{which}", ".so")
        kept = self.get(f"compile/{name}/{which}")
        if not kept or not os.path.exists(library):
            store = store or self.path("nothing", ".db")
            kept = compile_library(model, store, library, self.options.build, THREADS)
            self.put(f"compile/{name}/{which}", kept)
        return library

    def match(self, name, model, libraries):
        kept = self.get(f"match/{name}")
        if kept:
            return match_from_json(kept)
        o = self.options
        match = play(model, libraries, THREADS, o.rounds, o.slice, o.build, tuple(PEERS))
        if match.trustworthy:
            self.put(f"match/{name}", match.to_json())
        return match

    def one(self, name, out):
        """Everything of one model; gives its Line."""
        model, store = materialized(name), self.path(name, ".db")
        if self.options.fresh:
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(store + suffix):
                    os.remove(store + suffix)
        short_s, long_s = min(SHORT_S, self.options.seconds), self.options.seconds
        libraries = {UNTUNED: self.compiled(name, model, UNTUNED)}
        out.progress(name, None)
        tuning = self.tuned(name, model, short_s)
        libraries[SHORT] = self.compiled(name, model, SHORT, store)
        tuning = self.tuned(name, model, long_s, tuning)
        libraries[LONG] = self.compiled(name, model, LONG, store)
        match = self.match(name, model, libraries)
        parts = self.get(f"parts/{name}")
        if not parts:
            parts = bench_library(libraries[LONG], 3, self.options.build)
            self.put(f"parts/{name}", parts)
        return Line(name, tuning, match, parts, self.again(name, model, tuning))


class Line:
    """A model with its figures."""

    def __init__(self, name, tuning, match, parts, again):
        self.name, self.tuning, self.match, self.parts = name, tuning, match, parts
        self.again_s, self.again_measured = again
        self.best = match.best_peer()

    def ratio(self, which=LONG):
        return self.match.ratio(which, self.best)

    @property
    def share(self):
        """Of a run that is in its tasks."""
        return self.parts["tasks_share"]

    @property
    def passed_s(self):
        final = self.tuning.curve[-1][1] if self.tuning.curve else None
        ours, peer = self.match.time_ns(LONG), self.match.time_ns(self.best) if self.best else None
        return passed_after(self.tuning.curve, final, ours, peer)

    def memory(self, name):
        """MiB that the model took: the peak less what the process had before."""
        peak, before = self.match.ready(name, "peak_kib"), self.match.ready(name, "before_kib")
        return (peak - before) / 1024 if peak and before else None

    @property
    def memory_ratio(self):
        ours, theirs = self.memory(LONG), self.memory("onnxruntime")
        return ours / theirs if ours and theirs else None

    def cells(self):
        def ms(name):
            time_ns = self.match.time_ns(name)
            return report.number(time_ns / 1e6 if time_ns else None)

        passed = report.ABSENT if self.passed_s is None else f"{self.passed_s:.0f} s"
        error = self.match.errors.get(LONG)
        row = [self.name, ms(UNTUNED), ms(SHORT), ms(LONG), *(ms(peer) for peer in PEERS)]
        row += [report.number(self.ratio(SHORT)), report.number(self.ratio()), passed]
        row += [report.percent(self.share), report.number(self.memory(LONG))]
        row += [report.number(self.memory("onnxruntime"))]
        row += [report.number(self.match.ready(LONG, "open_ms"))]
        return [*row, report.ABSENT if error is None else f"{error:.0e}"]


HEADER = ["model", UNTUNED, SHORT, LONG, *(label for label, _ in PEERS.values())]
HEADER += [f"x at {SHORT}", "x best", "passed", "in tasks", "MiB", "ORT MiB", "open ms", "error"]


def judge(line, out):
    name, match = line.name, line.match
    quiet = match.trustworthy and line.tuning.other_cpus <= 0.25
    for who, reason in match.failures().items():
        out.say(f"– {name}: {who}: {reason}")
    for who in match.errors:
        if match.is_wrong(who):
            out.say(f"! {name}: the output of {who} is WRONG ({match.errors[who]:.0e})")
    if not quiet:
        cpus = max(match.outcome.other_cpus, line.tuning.other_cpus)
        out.say(f"! {name}: beside other work ({cpus:.1f} cpus)")
    out.bar(f"{name}: times the better peer, {LONG}", line.ratio(), LEAST, trusted=quiet)
    out.bar(f"{name}: share of a run that is in its tasks", line.share, LEAST_SHARE)
    out.bar_most(f"{name}: the same tune again", line.again_s, MOST_AGAIN_S, "s")
    out.bar_most(f"{name}: trials that one measures", line.again_measured, 0)
    out.bar_most(f"{name}: opening the library", match.ready(LONG, "open_ms"), MOST_OPEN_MS, "ms")
    if name in MEMORY_MODELS:
        out.bar_most(f"{name}: memory over ONNX Runtime's", line.memory_ratio, MOST_MEMORY)
    for metric, value in {
        "vs_best_peer": line.ratio(),
        "vs_best_peer_60s": line.ratio(SHORT),
        "vs_untuned": match.ratio(LONG, UNTUNED),
        "passed_s": line.passed_s,
        "share_in_tasks": line.share,
        "memory_vs_onnxruntime": line.memory_ratio,
        "open_ms": match.ready(LONG, "open_ms"),
        "again_s": line.again_s,
        "max_relative_error": match.errors.get(LONG),
        "ms": (match.time_ns(LONG) or 0) / 1e6 or None,
    }.items():
        out.row(name, metric, value)
    for peer in PEERS:
        time_ns = match.time_ns(peer)
        out.row(name, f"{peer}_ms", time_ns / 1e6 if time_ns else None)


def run_all(options, out):
    bench = Bench(options)
    names = options.only or (FULL if options.full else DEFAULT)
    out.say(
        f"{THREADS} threads, f32; {options.rounds} alternating rounds of {options.slice:g} s slices; "
        f"ms are the {100 * QUANTILE:g}th percentile over slices of the slice's median run"
    )
    lines = []
    for name in names:
        try:
            lines.append(bench.one(name, out))
        except (ModelError, TuneError, ValueError) as error:
            out.say(f"! {name}: {error}")
            out.missed.append(name)
    out.table(HEADER, [line.cells() for line in lines])
    for line in lines:
        judge(line, out)
    quiet = all(line.match.trustworthy for line in lines)
    for which, metric in ((SHORT, "vs_best_60s"), (LONG, "vs_best")):
        mean = report.geometric_mean([line.ratio(which) for line in lines])
        out.row("models", metric, mean)
        if which == LONG and lines:
            what = f"geometric mean of {len(lines)} models, {which}"
            out.bar(what, mean, LEAST_MEAN, trusted=quiet)
        elif lines:
            out.say(f"geometric mean after {which}: {report.number(mean)}")


def run_match(options):
    """One library against the peers that were asked for."""
    wanted = [name for name in options.peers.split(",") if name]
    unknown = [name for name in wanted if name not in PEERS]
    if unknown:
        print(f"there is no peer {unknown[0]}: {', '.join(PEERS)}", file=sys.stderr)
        return 2
    shapes = parse_shapes(options.input_shapes)
    o = options
    try:
        libraries = {"tilewright": os.path.abspath(o.library)}
        match = play(o.match, libraries, THREADS, o.rounds, o.slice, o.build, wanted, shapes)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    rows = []
    for name in ("tilewright", *wanted):
        time_ns, middle_ns = match.time_ns(name), match.time_ns(name, 0.5)
        error = match.errors.get(name)
        fields = {"who": name, "p10_ns": time_ns, "p50_ns": middle_ns, "error": error}
        fields["times_as_fast"] = match.ratio("tilewright", name)
        fields["failure"] = match.failures().get(name)
        if options.json_lines:
            print(json.dumps({"peer": {k: v for k, v in fields.items() if v is not None}}))
        cells = [PEERS[name][0] if name in PEERS else name]
        cells += [report.number(t / 1e6 if t else None) for t in (time_ns, middle_ns)]
        cells += [report.number(match.ratio("tilewright", name))]
        rows.append([*cells, report.ABSENT if error is None else f"{error:.0e}"])
    if not options.json_lines:
        header = ["", "ms at 10 %", "at 50 %", "ours is x", "error"]
        print(report.table(header, rows))
        for name, reason in match.failures().items():
            print(f"– {name}: {reason}")
        if not match.trustworthy:
            print(f"! beside other work ({match.outcome.other_cpus:.1f} cpus)")
    return 1 if "tilewright" in match.failures() else 0


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev bench models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--full", action="store_true", help="all nine models")
    add("--only", metavar="NAME,...", default="", help="these models only")
    add("--json", metavar="FILE", help="also write rows {name, metric, value}")
    add("--seconds", type=float, default=LONG_S, help="of tuning a model in all (default: 900)")
    add("--rounds", type=int, default=MIN_ROUNDS, help="alternating rounds of a match")
    add("--slice", type=float, default=0.3, metavar="SECONDS", help="length of a slice")
    add("--fresh", action="store_true", help="ignore what was kept, tune anew")
    add("--any-build", action="store_true", help="also what another build has found and measured")
    add("--check", action="store_true", help="exit with 1 unless every bar is reached")
    add("--build", default=os.path.join(peers.BUILD, "release"), help="build folder")
    add("--match", metavar="MODEL.onnx", help="only compare --library with --peers")
    add("--library", metavar="MODEL.so")
    add("--peers", default=",".join(PEERS))
    add("--input-shapes", default="", help="x:[1,3,224,224] where the model leaves them open")
    add("--json-lines", action="store_true", help="with --match: one object a line")
    options = parser.parse_args(arguments)
    options.only = [name for name in options.only.split(",") if name]
    if options.match and not options.library:
        parser.error("--match needs --library")
    return options


def main(arguments=None):
    options = parse(arguments)
    if options.match:
        return run_match(options)
    if not os.path.exists(program(options.build)):
        print(f"no {program(options.build)}: build it first", file=sys.stderr)
        return 2
    out = Report()
    print(report.machine_line())
    run_all(options, out)
    return out.finish(options)


if __name__ == "__main__":
    sys.exit(main())
