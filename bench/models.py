#!/usr/bin/env python3
"""./dev bench models: whole models, tuned and compiled, in alternating rounds with ONNX Runtime and
OpenVINO, in f32 with 2 threads or --threads N.

Each model is tuned for 60 s and compiled; with --seconds 900 it is then tuned up to a total of 15 minutes and
compiled again. These libraries and the untuned one alternate with the peers, and outputs are compared with
those of ONNX Runtime. The limit of a model is that of `tilewright explain MODEL.so`: the sum over its kernels
of the larger of FLOP over the peak and bytes over the bandwidth of the memory level that holds them. The rates
of this machine are measured just before the rounds.

The tuned library also runs on sequences of half length, on denormals, and with a mask that makes denormals
inside the model (harness/input_sets.py). Its outputs are compared there too, and its times with that of
plain inputs.

The default is ten models, less than an hour; --full runs all models of the folder. Results are stored per
machine and build (build/bench), so an interrupted run resumes. Results that were measured while other
processes were running are shown but not stored. With --allow winograd, models are tuned and compiled with
that permission; stores, libraries and figures are separate and have its name. So are those of other numbers
of threads than 2: the figures of --threads 16 are those of resnet50.16t, and the default there is eight
models.

    ./dev bench models --match model.onnx --library model.so --peers onnxruntime,openvino

only compares an existing library; `tilewright bench --peers` runs this command.
"""

import argparse
import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time

from harness import machine, peers, report
from harness.bars import Report
from harness.compare import BUSY_CPUS
from harness.input_sets import input_sets, with_denormal_embeddings, with_weak_mask
from harness.match_options import add_match_options, parse_match_options
from harness.model_files import (
    DEFAULT,
    INPUT_SHAPES,
    THREADS,
    ModelError,
    default_models,
    materialized,
    model_names,
    models_folder,
)
from harness.model_match import MAX_RELATIVE_ERROR, PEERS, inputs_of, match_from_json, parse_shapes, play
from harness.model_tuning import (
    ModelTuning,
    bench_libraries,
    compile_library,
    explain_library,
    passed_after,
    program,
    recorded_ns,
    run_tune,
    tasks_of,
    tuning_runs,
)
from harness.operator_class import class_shares
from harness.rounds import QUANTILE
from harness.set_match import PLAIN, InputSet, play_sets, set_match_from_json
from harness.tuned import STORE_SUFFIXES, NotStored, TuneError, build_key

TUNE_S = 60.0
FROM_STORE = ("again", "explained", "match", "sets", "tasks", "both_parts", "minutes")  # figures of a model that follow from its records
LEAST, MIN_MEAN, MIN_SHARE, MIN_SUM = 1.0, 1.15, 0.9, 0.9
AHEAD, OF_LIMIT = 1.2, 0.92  # each model must reach one of them
MIN_UNTUNED, MIN_OF_CLASS = 1.0, 0.87  # mean over the better peer; tuned over untuned time of a class
MIN_CLASS = 0.01  # share of a class in the untuned time of all models, for which its bar counts
MAX_MEMORY, MEMORY_MODELS = 1.3, ("resnet50", "bert_base_128")
MAX_AGAIN_S, MAX_OPEN_MS = 10.0, 100.0
MAX_OVER_PLAIN = 1.1  # the time with other inputs
SET_ROUNDS, SET_SLICE_S = 10, 0.15
EXPLAIN_S = 3.0
HALF, DENORMALS, WEAK_MASK = "half", "denormals", "weak_mask"
MAX_MINUTES = 60.0  # of the default models
NOTE_EVERY_S = 5.0
UNTUNED = "untuned"


def suffix_of(options):
    """The suffix of the names of a run with permissions, or with another number of threads."""
    threads = f".{options.threads}t" if options.threads != THREADS else ""
    return threads + "".join(f".{name}" for name in options.allow)


def names_of(options):
    """The models of a run."""
    if options.only:
        return options.only
    if options.full:
        return model_names(models_folder())
    return default_models(options.threads)


class Bench:
    """One run of this benchmark, with its stored results and their location."""

    def __init__(self, options):
        self.options = options
        self.kept = report.Kept(os.path.join(peers.BUILD, "bench"), "models")
        self.folder = os.path.join(peers.BUILD, "bench", "models")
        os.makedirs(self.folder, exist_ok=True)
        digest = hashlib.sha256(build_key(options.build).encode())
        digest.update(f"{options.rounds} {options.slice} {options.seconds}".encode())
        self.key = "any" if options.any_build else digest.hexdigest()
        self.suffix, self.threads = suffix_of(options), options.threads
        self.minutes = {}  # model -> time of all its measurements

    def path(self, name, ending):
        return os.path.join(self.folder, name.replace(" ", "") + self.suffix + ending)

    def get(self, name):
        if self.options.fresh:
            return None
        name += self.suffix
        return self.kept.get_any(name) if self.options.any_build else self.kept.get(name, self.key)

    def was_disturbed(self, name):
        """True if other processes were running during the stored tuning."""
        tunings = [self.get(f"tune/{name}/{s:g}") for s in tuning_runs(self.options.seconds).values()]
        return any(tuning and tuning["other_cpus"] > BUSY_CPUS for tuning in tunings)

    def discard(self, name):
        """Deletes the store of the model and forgets what follows from it."""
        for suffix in STORE_SUFFIXES:
            if os.path.exists(self.path(name, ".db") + suffix):
                os.remove(self.path(name, ".db") + suffix)
        runs = tuning_runs(self.options.seconds)
        of_run = [f"{what}/{name}/{s:g}" for s in runs.values() for what in ("tune", "spent")]
        of_library = [f"compile/{name}/{which}" for which in runs]
        for entry in (*of_run, *of_library, *(f"{what}/{name}" for what in FROM_STORE)):
            self.put(entry, None)

    def needs_measuring(self):
        """Called before anything is measured. Raises NotStored if only stored results are wanted."""
        if self.options.stored:
            raise NotStored()

    def put(self, name, value):
        self.kept.put(name + self.suffix, self.key, value)

    def tuned(self, name, model, seconds, before=None):
        """Tunes up to that total number of seconds."""
        kept = self.get(f"tune/{name}/{seconds:g}")
        if kept:
            return ModelTuning(**kept)
        self.needs_measuring()
        store, build = self.path(name, ".db"), self.options.build
        before = before or ModelTuning()
        spent_name = f"spent/{name}/{seconds:g}"
        earlier = self.get(spent_name) or 0.0  # of an interrupted tuning run

        def note(spent):
            if spent + earlier - (self.get(spent_name) or 0.0) > NOTE_EVERY_S:
                self.put(spent_name, spent + earlier)

        before.seconds += earlier
        left = max(seconds - before.seconds, 1.0)
        allow, shapes = self.options.allow, INPUT_SHAPES.get(name, "")
        tuning = run_tune(model, store, left, build, before, self.threads, note, allow, shapes)
        self.put(f"tune/{name}/{seconds:g}", vars(tuning))
        return tuning

    def again(self, name, model, tuning):
        """Seconds and measured trials of the same command, repeated."""
        kept = self.get(f"again/{name}")
        if kept is None:
            self.needs_measuring()
            store, build = self.path(name, ".db"), self.options.build
            allow, shapes = self.options.allow, INPUT_SHAPES.get(name, "")
            requested_s = tuning.requested_s
            repeated = run_tune(model, store, requested_s, build, None, self.threads, None, allow, shapes)
            kept = [repeated.seconds, repeated.result["measured"]]
            self.put(f"again/{name}", kept)
        return kept

    def compiled(self, name, model, which, store=None):
        """The library."""
        library = self.path(f"{name}.{which}", ".so")
        kept = self.get(f"compile/{name}/{which}")
        if not kept or not (os.path.exists(library) or self.options.stored):
            self.needs_measuring()
            o, shapes = self.options, INPUT_SHAPES.get(name, "")
            kept = compile_library(model, store or "none", library, o.build, self.threads, o.allow, shapes)
            self.put(f"compile/{name}/{which}", kept)
        return library

    def explained(self, name, library, store):
        """The tuned library against its limit."""
        kept = self.get(f"explained/{name}")
        if not kept:
            self.needs_measuring()
            kept = explain_library(library, store, EXPLAIN_S, self.options.build, self.threads)
            if kept["other_cpus"] <= BUSY_CPUS:
                self.put(f"explained/{name}", kept)
        return kept

    def match(self, name, model, libraries):
        kept = self.get(f"match/{name}")
        if kept:
            return match_from_json(kept)
        self.needs_measuring()
        o = self.options
        arrays = inputs_of(model, parse_shapes(INPUT_SHAPES.get(name, "")))
        match = play(model, libraries, self.threads, o.rounds, o.slice, o.build, tuple(PEERS), arrays)
        if match.trustworthy:
            self.put(f"match/{name}", match.to_json())
        return match

    def sets(self, name, model, library):
        """The tuned library on all sets of inputs."""
        kept = self.get(f"sets/{name}")
        if kept:
            return set_match_from_json(kept)
        self.needs_measuring()
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            sets = self.sets_of(name, model, library, folder)
            match = play_sets(sets, self.threads, SET_ROUNDS, SET_SLICE_S, self.options.build)
        if match.trustworthy:
            self.put(f"sets/{name}", match.to_json())
        return match

    def sets_of(self, name, model, library, folder):
        """Name -> InputSet. A model that reads no floats has denormals in its embeddings instead, and a model
        with a mask also has one that leaves denormals; both have libraries with the same kernels."""
        shapes = INPUT_SHAPES.get(name, "")
        inputs = input_sets(model, parse_shapes(shapes))
        sets = {which: InputSet(model, library, arrays) for which, arrays in inputs.items()}
        masked = inputs.get(HALF, inputs[PLAIN])
        for which, change, arrays in (
            (DENORMALS, with_denormal_embeddings, inputs[PLAIN]),
            (WEAK_MASK, with_weak_mask, masked),
        ):
            changed = os.path.join(folder, which + ".onnx")
            if which not in sets and change(model, changed):
                o, made = self.options, os.path.join(folder, which + ".so")
                compile_library(changed, self.path(name, ".db"), made, o.build, self.threads, o.allow, shapes)
                sets[which] = InputSet(changed, made, arrays)
        return sets

    @contextlib.contextmanager
    def timed(self, name):
        """Adds the time that measuring a model takes to that of earlier runs."""
        begin = time.monotonic()
        try:
            yield
        finally:
            earlier = self.get(f"minutes/{name}") or 0.0
            self.minutes[name] = earlier + (time.monotonic() - begin) / 60
            if not self.options.stored:
                self.put(f"minutes/{name}", self.minutes[name])

    def one(self, name, out):
        """Runs everything for one model. Returns its Line."""
        model = None if self.options.stored else materialized(name)
        store = self.path(name, ".db")
        if self.options.fresh or (self.was_disturbed(name) and not self.options.stored):
            self.discard(name)
        untuned = self.compiled(name, model, UNTUNED)
        libraries = {UNTUNED: untuned}
        out.progress(name, None)
        tuning = None
        for which, seconds in tuning_runs(self.options.seconds).items():
            tuning = self.tuned(name, model, seconds, tuning)
            libraries[which] = self.compiled(name, model, which, store)
        tasks = self.get(f"tasks/{name}")
        if tasks is None:
            self.needs_measuring()
            o, shapes = self.options, INPUT_SHAPES.get(name, "")
            tasks = tasks_of(model, store, o.build, self.threads, o.allow, shapes)
            self.put(f"tasks/{name}", tasks)
        explained = self.explained(name, libraries[which], store)
        match = self.match(name, model, libraries)
        sets = self.sets(name, model, libraries[which])
        parts = self.get(f"both_parts/{name}")
        if not parts:
            self.needs_measuring()
            parts = bench_libraries([untuned, libraries[which]], 6, self.options.build)
            self.put(f"both_parts/{name}", parts)
        again = self.again(name, model, tuning)
        runs = tuning_runs(self.options.seconds)
        return Line(name + self.suffix, runs, tuning, match, sets, parts, tasks, explained, again)


class Line:
    """A model with its figures. `names` are those of its tuning runs, `long` the last of them; `parts` are its
    kernels untuned and tuned, `explained` is its limit."""

    def __init__(self, name, tuning_runs, tuning, match, sets, parts, tasks, explained, again):
        self.name, self.tuning_runs, self.tuning, self.match, self.parts = name, tuning_runs, tuning, match, parts
        self.sets, self.explained = sets, explained
        self.names, self.tasks, self.recorded_ns = tuple(tuning_runs), tasks, recorded_ns(tasks)
        self.long = self.names[-1]
        self.again_s, self.again_measured = again
        self.best = match.best_peer()

    def ratio(self, which):
        return self.match.ratio(which, self.best)

    @property
    def quiet(self):
        """True if no other processes were running during tuning, the rounds and the measurement of the limit."""
        rounds = self.match.trustworthy and self.sets.trustworthy
        return rounds and self.other_cpus <= BUSY_CPUS

    @property
    def other_cpus(self):
        """CPUs that other processes used outside of the rounds."""
        return max(self.tuning.other_cpus, self.explained["other_cpus"])

    @property
    def share(self):
        """The share of a run that is spent in its tasks."""
        return self.parts[1]["tasks_share"]

    @property
    def of_limit(self):
        """The limit of the model over its time."""
        ours = self.match.time_ns(self.long)
        return self.explained["limit_ns"] / ours if ours else None

    @property
    def near_the_top(self):
        """At least 1 if the model is far ahead of the better peer, or near its limit."""
        return max((self.ratio(self.long) or 0) / AHEAD, (self.of_limit or 0) / OF_LIMIT)

    @property
    def tuned_sum(self):
        """The sum of the task times measured by tuning over the time of the model."""
        ours = self.match.time_ns(self.long)
        return self.recorded_ns / ours if self.recorded_ns and ours else None

    @property
    def passed_s(self):
        ours = self.match.time_ns(self.long)
        peer = self.match.time_ns(self.best) if self.best else None
        slower = [s for which, s in self.tuning_runs.items() if (self.ratio(which) or 0) < LEAST]
        return passed_after(self.tuning.curve, ours, peer, max(slower, default=0.0))

    def memory(self, name):
        """Memory of the model in MiB: the peak minus the memory of the process before."""
        peak, before = self.match.ready(name, "peak_kib"), self.match.ready(name, "before_kib")
        return (peak - before) / 1024 if peak and before else None

    @property
    def memory_ratio(self):
        ours, theirs = self.memory(self.long), self.memory("onnxruntime")
        return ours / theirs if ours and theirs else None

    def cells(self):
        def ms(name):
            time_ns = self.match.time_ns(name)
            return report.number(time_ns / 1e6 if time_ns else None)

        passed = report.ABSENT if self.passed_s is None else f"{self.passed_s:.0f} s"
        error = self.match.errors.get(self.long)
        row = [self.name, *(ms(name) for name in (UNTUNED, *self.names, *PEERS))]
        row += [report.number(self.ratio(which)) for which in (UNTUNED, *self.names)]
        row += [report.percent(self.of_limit), passed, report.percent(self.share), report.percent(self.tuned_sum)]
        row += [report.number(self.memory(self.long)), report.number(self.memory("onnxruntime"))]
        row += [report.number(self.match.ready(self.long, "open_ms"))]
        return [*row, report.ABSENT if error is None else f"{error:.0e}"]


def header(names):
    columns = ["model", UNTUNED, *names, *(label for label, _ in PEERS.values())]
    columns += [f"x at {which}" for which in (UNTUNED, *names)]
    return [*columns, "of limit", "passed", "in tasks", "tuner's sum", "MiB", "ORT MiB", "open ms", "error"]


def judge(line, out):
    name, match, long, quiet = line.name, line.match, line.long, line.quiet
    for who, reason in match.failures().items():
        out.say(f"– {name}: {who}: {reason}")
    if match.unchecked():
        out.say(f"! {name}: outputs were not compared: {match.unchecked()}")
    for who in match.errors:
        if match.is_wrong(who):
            out.say(f"! {name}: the output of {who} is WRONG ({match.errors[who]:.0e})")
    if not quiet:
        cpus = max(match.outcome.other_cpus, line.other_cpus)
        out.say(f"! {name}: other processes were running ({cpus:.1f} CPUs)")
    out.bar(f"{name}: times the better peer, {long}", line.ratio(long), LEAST, trusted=quiet)
    what = f"{name}: over {AHEAD:g} x the peer, or over {OF_LIMIT:.0%} of its limit"
    out.bar(what, line.near_the_top, 1.0, trusted=quiet)
    out.bar(f"{name}: share of a run that is in its tasks", line.share, MIN_SHARE)
    out.bar(f"{name}: tuner's task times over the model's", line.tuned_sum, MIN_SUM, trusted=quiet)
    out.bar_max(f"{name}: the same tune again", line.again_s, MAX_AGAIN_S, "s")
    out.bar_max(f"{name}: trials that one measures", line.again_measured, 0)
    out.bar_max(f"{name}: opening the library", match.ready(long, "open_ms"), MAX_OPEN_MS, "ms")
    if name in MEMORY_MODELS:
        out.bar_max(f"{name}: memory over ONNX Runtime's", line.memory_ratio, MAX_MEMORY)
    for metric, value in {
        "quiet": int(quiet),
        "vs_best_peer": line.ratio(long),
        **{f"vs_best_peer_{which.replace(' ', '')}": line.ratio(which) for which in line.names[:-1]},
        "vs_untuned": match.ratio(long, UNTUNED),
        "untuned_vs_best_peer": line.ratio(UNTUNED),
        "of_limit": line.of_limit,
        "passed_s": line.passed_s,
        "share_in_tasks": line.share,
        "tuned_sum": line.tuned_sum,
        "memory_vs_onnxruntime": line.memory_ratio,
        "open_ms": match.ready(long, "open_ms"),
        "again_s": line.again_s,
        "max_relative_error": match.errors.get(long),
        "ms": (match.time_ns(long) or 0) / 1e6 or None,
    }.items():
        out.row(name, metric, value)
    for peer in PEERS:
        time_ns = match.time_ns(peer)
        out.row(name, f"{peer}_ms", time_ns / 1e6 if time_ns else None)


def judge_sets(line, out):
    """Compares the outputs on all sets of inputs, and the times of those that are not plain, with their limits."""
    sets = line.sets
    for who, reason in sets.failures().items():
        out.say(f"– {line.name}: {who}: {reason}")
    for which in sets.ours:
        error = sets.errors.get(which)
        ppm = None if error is None else 1e6 * error
        out.bar_max(f"{line.name}: error on the set {which}", ppm, 1e6 * MAX_RELATIVE_ERROR, "ppm")
        out.row(line.name, f"max_relative_error_{which}", error)
    for which in sets.others():
        what = f"{line.name}: time on the set {which} over plain"
        out.bar_max(what, sets.over_plain(which), MAX_OVER_PLAIN, trusted=sets.trustworthy)
        out.row(line.name, f"over_plain_{which}", sets.over_plain(which))


def judge_untuned(bench, lines, quiet, out):
    """Judges the untuned code: its speed over the peers, and its time by class of operators."""
    if not lines:
        return
    mean = report.geometric_mean([line.ratio(UNTUNED) for line in lines])
    out.row("models" + bench.suffix, "untuned_vs_best", mean)
    out.bar(f"geometric mean of {len(lines)} models, untuned", mean, MIN_UNTUNED, trusted=quiet)
    shares = class_shares([line.parts for line in lines])
    for name, (ratio, share) in sorted(shares.items(), key=lambda item: -item[1][1]):
        out.row(name + bench.suffix, "tuned_over_untuned", ratio)
        what = f"{name}, {share:.1%} of untuned time: tuned over untuned"
        if share >= MIN_CLASS:
            out.bar(what, ratio, MIN_OF_CLASS, trusted=quiet)
        else:
            out.say(f"{what} {report.number(ratio)}")


def run_all(options, out):
    bench = Bench(options)
    out.say(
        f"{options.threads} threads, f32; {options.rounds} alternating rounds of {options.slice:g} s slices; "
        f"ms are the {100 * QUANTILE:g}th percentile over slices of the slice's median run"
    )
    lines = []
    names = names_of(options)
    for name in names:
        try:
            with bench.timed(name):
                lines.append(bench.one(name, out))
        except (ModelError, TuneError, ValueError) as error:
            out.say(f"! {name}: {error}")
            out.missed.append(name + bench.suffix)
    tuned = tuple(tuning_runs(options.seconds))
    out.table(header(tuned), [line.cells() for line in lines])
    for line in lines:
        judge(line, out)
        judge_sets(line, out)
    quiet = all(line.quiet for line in lines)
    judge_untuned(bench, lines, quiet, out)
    for which in tuned:
        last = which == tuned[-1]
        mean = report.geometric_mean([line.ratio(which) for line in lines])
        out.row("models" + bench.suffix, "vs_best" if last else f"vs_best_{which.replace(' ', '')}", mean)
        if last and lines:
            what = f"geometric mean of {len(lines)} models, {which}"
            out.bar(what, mean, MIN_MEAN, trusted=quiet)
        elif lines:
            out.say(f"geometric mean after {which}: {report.number(mean)}")
    if len(lines) == len(names):
        judge_time(bench, names, out)


def judge_time(bench, names, out):
    """Compares the total time of all measurements with the limit. Earlier, interrupted runs count too."""
    minutes = sum(bench.minutes[name] for name in names)
    out.row("models" + bench.suffix, "minutes", minutes)
    if list(names) == list(DEFAULT) and tuning_runs(bench.options.seconds) == {"60 s": TUNE_S}:
        out.bar_max(f"{len(names)} models: time of all measurements", minutes, MAX_MINUTES, "min")


def run_match(options):
    """Compares one library with the requested peers."""
    wanted = [name for name in options.peers.split(",") if name]
    unknown = [name for name in wanted if name not in PEERS]
    if unknown:
        print(f"there is no peer {unknown[0]}: {', '.join(PEERS)}", file=sys.stderr)
        return 2
    o = options
    try:
        libraries = {"tilewright": os.path.abspath(o.library)}
        arrays = inputs_of(o.match, parse_shapes(o.input_shapes), o.input)
        match = play(o.match, libraries, o.threads, o.rounds, o.slice, o.build, wanted, arrays)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    wrong = [name for name in match.errors if match.is_wrong(name)]
    rows = []
    for name in ("tilewright", *wanted):
        time_ns, middle_ns = match.time_ns(name), match.time_ns(name, 0.5)
        error = match.errors.get(name)
        fields = {"who": name, "p10_ns": time_ns, "p50_ns": middle_ns, "error": error}
        fields["times_as_fast"] = match.ratio("tilewright", name)
        fields["failure"] = match.failures().get(name)
        fields["threads"] = o.threads
        if options.json_lines:
            print(json.dumps({"peer": {k: v for k, v in fields.items() if v is not None}}))
        cells = [PEERS[name][0] if name in PEERS else name]
        cells += [report.duration(t or None) for t in (time_ns, middle_ns)]
        cells += [report.number(match.ratio("tilewright", name))]
        rows.append([*cells, report.ABSENT if error is None else f"{error:.0e}"])
    if not options.json_lines:
        header = ["", "time at 10 %", "at 50 %", "ours is x", "error"]
        print(report.table(header, rows))
        for name, reason in match.failures().items():
            print(f"– {name}: {reason}")
        if not match.trustworthy:
            print(f"! other processes were running ({match.outcome.other_cpus:.1f} CPUs)")
        if match.unchecked():
            print(f"! outputs were not compared: {match.unchecked()}")
        for name in wrong:
            print(f"! the output of {name} is WRONG ({match.errors[name]:.0e})")
    return 1 if "tilewright" in match.failures() or "tilewright" in wrong else 0


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev bench models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--full", action="store_true", help="all models of the folder of models")
    add("--only", metavar="NAME,...", default="", help="these models only")
    add("--seconds", type=float, default=TUNE_S, help="tuning time per model (default: 60)")
    add("--allow", metavar="NAME,...", default="", help="permissions beyond the default ones: winograd, denormals")
    add("--match", metavar="MODEL.onnx", help="only compare --library with --peers")
    add("--library", metavar="MODEL.so")
    add("--peers", default=",".join(PEERS))
    add("--input-shapes", default="", help="shapes of open dimensions: x:[1,3,224,224]")
    add("--threads", type=int, default=THREADS, help="threads of each participant (default: 2)")
    add("--input", action="append", default=[], metavar="NAME=FILE.npy", help="with --match")
    add("--json-lines", action="store_true", help="with --match: one object per line")
    add_match_options(parser, slice_s=0.3)
    options = parse_match_options(parser, arguments)
    options.only = [name for name in options.only.split(",") if name]
    options.allow = sorted({name for name in options.allow.split(",") if name})
    if options.match and not options.library:
        parser.error("--match needs --library")
    if options.threads < 1:
        parser.error("--threads must be at least 1")
    if options.match and options.allow:
        parser.error("--allow is for tuning and compiling: a library of --match is compiled already")
    return options


def main(arguments=None):
    options = parse(arguments)
    if options.match:
        return run_match(options)
    if not os.path.exists(program(options.build)):
        print(f"no {program(options.build)}: build it first", file=sys.stderr)
        return 2
    if machine.choose_cpus(options.threads) is None:
        print(f"--threads {options.threads}: this machine has fewer processors", file=sys.stderr)
        return 2
    out = Report(options.threads)
    print(report.machine_line())
    run_all(options, out)
    return out.finish(options)


if __name__ == "__main__":
    sys.exit(main())
