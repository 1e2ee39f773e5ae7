#!/usr/bin/env python3
"""./dev bench elsewhere: benchmarks on a machine that only has Python with numpy, onnx and onnxruntime, in calls of
limited length. Nothing is built or installed there.

    ./dev bench elsewhere pack --out build/pack                           here: the programs, their libraries, the models
    python3 bench/elsewhere.py unpack --into /opt/pack build/pack/1 ...   there: once per machine
    python3 bench/elsewhere.py run --pack /opt/pack --state /opt/state --minutes 9 models suite odd
    python3 bench/elsewhere.py run --pack /opt/pack --state /opt/state --minutes 9 --threads 16 models
    python3 bench/elsewhere.py run --pack /opt/pack --state /opt/state --minutes 9 --full models

A run continues the earlier ones of its state. Each of its arms is one model, one workload of the suite with its
batch of 16, or one draw of odd sizes; models:resnet50,unet_128, suite:C2D2 and odd:0,7 select some, and --full
selects all models of the pack. With 2 threads, arms run at the same time on disjoint processors, two cores
each (--slots N: at most N arms). With another number of threads, one arm runs at a time. At the end, the tables
of all stored results are printed and their rows are in STATE/tables. The exit status is 3 if arms remain:
repeat the command. --archive FILE stores the state in a small file, and --restore FILE begins with it on
another machine of the same kind.

Peers that the machine lacks are named, and the best of the others counts.
"""

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib import metadata

from harness import arms, machine, odd, report, search_suite
from harness.arms import Arm
from harness.cases import load_workloads
from harness.model_files import THREADS, default_models, model_names
from harness.pack import PackError, collect, unpack, write_parts
from harness.tuned import build_key

BENCH = os.path.dirname(os.path.abspath(__file__))
PYTHON_PEERS = ("onnxruntime", "openvino")
TABLES_S = 20.0  # reserved for tables and archive at the end of a run
NOT_DONE = 3


def environment_of(options):
    """Programs, libraries, models and peers are those of the pack; results are stored in the state."""
    fields = {
        "TILEWRIGHT_BENCH_FOLDER": options.state,
        "TILEWRIGHT_BENCH_LIBRARIES": os.path.join(options.pack, "libraries"),
        "TILEWRIGHT_BENCH_MACHINE": "elsewhere",
        "TILEWRIGHT_MODELS": os.path.join(options.pack, "models"),
        "TILEWRIGHT_ONEDNN_WORKER": os.path.join(options.pack, "programs", "onednn_worker"),
    }
    return os.environ | fields


def peers_here(pack):
    """Name -> version; None for an absent peer."""
    found = {"onednn": "of the pack" if os.path.exists(os.path.join(pack, "programs", "onednn_worker")) else None}
    for name in PYTHON_PEERS:
        found[name] = metadata.version(name) if importlib.util.find_spec(name) else None
    return found


def command_of(options, script, *words):
    programs = os.path.join(options.pack, "programs")
    return (sys.executable, os.path.join(BENCH, script), *words, "--build", programs)


class What:
    """One word of the command line: `models`, or `models:resnet50,unet_128`."""

    def __init__(self, word, options):
        self.kind, colon, names = word.partition(":")
        self.names, self.options = [name for name in names.split(",") if name], options
        self.all = not colon
        if self.kind not in KINDS:
            raise ValueError(f"{word}: say {', '.join(KINDS)}")
        if self.kind != "models" and options.threads != THREADS:
            raise ValueError(f"{self.kind} has figures of {THREADS} threads only")

    def arms(self):
        return [self._arm(name) for name in self.names or KINDS[self.kind](self.options)]

    def table(self):
        """The command that prints the table of the stored results."""
        words = [*self._words(self.names), *self._everything(), "--stored"]
        path = os.path.join(self.options.state, "tables", f"{self.kind}.{self.options.threads}t.json")
        return command_of(self.options, *words, "--json", path)

    def _everything(self):
        """The flag of tables that are more than the default ones."""
        full = self.kind == "suite" or (self.kind == "models" and self.options.full)
        return ["--full"] if full and self.all else []

    def _words(self, names):
        only = ["--only", ",".join(names)] if names else []
        if self.kind == "models":
            o = self.options
            return ["models.py", *only, "--threads", str(o.threads), "--seconds", f"{o.seconds:g}"]
        if self.kind == "suite":
            return ["search.py", *only, "--part", "2", "--no-metaschedule", *(["--batch"] if only else [])]
        return ["odd.py", *only]

    def _arm(self, name):
        full = f"{self.kind}/{name}" + (f".{self.options.threads}t" if self.kind == "models" else "")
        rows = os.path.join(self.options.state, "rows", full.replace("/", "_") + ".json")
        return Arm(full, command_of(self.options, *self._words([name]), "--json", rows), rows)


def models_of(options):
    if not options.full:
        return default_models(options.threads)
    return model_names(os.path.join(options.pack, "models"))


# Kind -> the names of its arms.
KINDS = {
    "models": models_of,
    "suite": lambda options: [w.name for w in search_suite.choose(True, (), load_workloads())],
    "odd": lambda options: [str(number) for number in range(odd.COUNT)],
}


def slots_for(options):
    limit = options.slots or (None if options.threads == THREADS else 1)
    return arms.slots_of(machine.cores(), options.threads, limit)


def print_tables(whats, options, slot, ledger):
    """On the processors of an arm, because stored results are those of a number of processors. The rows state how
    many arms ran at the same time: these share caches and memory with the figures of a table."""
    everything = os.sched_getaffinity(0)
    os.makedirs(os.path.join(options.state, "tables"), exist_ok=True)
    os.sched_setaffinity(0, slot)
    try:
        for what in whats:
            neighbors = ledger.neighbors(what.arms())
            print(f"\n{what.kind}: with up to {neighbors} arms on other processors", flush=True)
            environment = environment_of(options) | {"TILEWRIGHT_BENCH_NEIGHBORS": str(neighbors)}
            subprocess.run(what.table(), env=environment, stdin=subprocess.DEVNULL)
    finally:
        os.sched_setaffinity(0, everything)


def run(options):
    begin = time.monotonic()
    options.pack, options.state = os.path.abspath(options.pack), os.path.abspath(options.state)
    if options.restore and not os.path.exists(options.state):
        arms.restore(options.restore, options.state)
    slots = slots_for(options)
    if not slots:
        print(f"{options.threads} threads need that number of processors", file=sys.stderr)
        return 2
    whats = [What(word, options) for word in options.what]
    print(report.machine_line(), flush=True)
    print(f"slots: {'; '.join(','.join(map(str, slot)) for slot in slots)}", flush=True)
    for name, version in peers_here(options.pack).items():
        print(f"peer {name}: {version or 'ABSENT'}", flush=True)
    for folder in ("rows", "logs"):
        os.makedirs(os.path.join(options.state, folder), exist_ok=True)
    build = build_key(os.path.join(options.pack, "programs"))
    ledger = arms.Ledger(os.path.join(options.state, "arms.json"), build)
    todo = [arm for what in whats for arm in what.arms()]
    runner = arms.Runner(
        ledger=ledger,
        slots=slots,
        deadline=begin + 60 * options.minutes - TABLES_S,
        logs=os.path.join(options.state, "logs"),
        environment=environment_of(options),
        say=lambda text: print(f"{time.monotonic() - begin:4.0f} s  {text}", flush=True),
    )
    runner.run(todo)
    print_tables(whats, options, slots[0], ledger)
    if options.archive:
        arms.archive(options.state, options.archive)
        print(f"{options.archive}: {os.path.getsize(options.archive) / 2**20:.1f} MiB")
    for arm in todo:
        if ledger.given_up(arm):
            print(f"! {arm.name}: no stored result after {arms.MAX_RUNS} runs")
    left = len(ledger.waiting(todo))
    print(f"{sum(map(ledger.done, todo))} of {len(todo)} arms are complete, {left} remain", flush=True)
    return NOT_DONE if left else 0


def pack(options):
    with tempfile.TemporaryDirectory(prefix="tilewright-pack-") as folder:
        collect(options.build, folder)
        for path in write_parts(folder, options.out, int(options.part_mib * 2**20)):
            print(f"{path}: {os.path.getsize(path) / 2**20:.1f} MiB")
    return 0


def run_unpack(options):
    missing = unpack(options.folders, options.into)
    if missing:
        print(f"{options.into}: waits for part {', '.join(map(str, missing))}")
    else:
        print(f"{options.into}: complete")
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev bench elsewhere",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    add = verbs.add_parser("pack", help="write the programs, libraries and models, compressed, in parts").add_argument
    add("--out", required=True, metavar="FOLDER", help="folder of the parts: FOLDER/1/part.1of2.DIGEST, ...")
    add("--build", default=os.path.join(os.path.dirname(BENCH), "build", "release"), help="build folder")
    add("--part-mib", type=float, default=48.0, help="largest size of a part (default: 48)")
    add = verbs.add_parser("unpack", help="extract the parts; more of them may follow later").add_argument
    add("folders", nargs="*", metavar="FOLDER", help="folder with a part")
    add("--into", required=True, metavar="FOLDER")
    add = verbs.add_parser("run", help="run arms until they are complete or the time is up").add_argument
    add("what", nargs="+", metavar="WHAT", help="models, suite, odd; models:resnet50,unet_128")
    add("--pack", required=True, metavar="FOLDER", help="the folder of unpack")
    add("--state", required=True, metavar="FOLDER", help="folder for results")
    add("--minutes", type=float, default=9.0, help="length of this call (default: 9)")
    add("--threads", type=int, default=THREADS, help="threads of the models (default: 2)")
    add("--full", action="store_true", help="all models of the pack")
    add("--seconds", type=float, default=60.0, help="tuning time per model (default: 60)")
    add("--slots", type=int, help="at most N arms at once")
    add("--restore", metavar="FILE", help="begin with this archive if there is no state")
    add("--archive", metavar="FILE", help="store the state there at the end")
    options = parser.parse_args(arguments)
    if options.verb == "run" and (options.threads < 1 or (options.slots is not None and options.slots < 1)):
        parser.error("--threads and --slots must be at least 1")
    return options


def main(arguments=None):
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return {"pack": pack, "unpack": run_unpack, "run": run}[options.verb](options)
    except (PackError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; repeat the command to continue", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
