#!/usr/bin/env python3
"""./dev bench versions --old BUILD: compares two builds of Tilewright in one run.

BUILD is the build folder of the older version (programs and benchmarks). Both versions alternate for --rounds
rounds, at least 10. Each figure is the median over the rounds of new relative to old; above 1 is better:

  apply     trace to LoopTree, and retile (bench_apply)
  compile   LoopTree to kernel (bench_compile)
  score     candidates per second with XGBoost and with our forest (bench_search_rates). Each version searches its
            own space: where the two spaces differ, the rates are of different candidates.
  trials    measured candidates per second (bench_measure)
  models    each model of --models is tuned once by the old version; both compile it from that store.
            The libraries must have the same bytes; where they differ, each round times both in one process of
            the newer version, which runs them in alternation.

The exit status is 1 if a bar is missed, or if a figure of the old version has no counterpart. --only selects
parts. The default models are made from TILEWRIGHT_MODELS, as by ./dev bench models.
"""

import argparse
import filecmp
import json
import os
import statistics
import subprocess
import sys
import tempfile

from harness import report
from harness.bars import Report
from harness.model_files import ModelError, materialized

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIN_ROUNDS = 10
MODEL_SECONDS = "3"  # of a round
RATE_BAR, TRIALS_BAR, MODEL_BAR = 0.97, 0.95, 0.98
DEFAULT_MODELS = ("resnet18", "mobilenet_v2", "dcgan", "bert_tiny_128")
PARTS = ("apply", "compile", "score", "trials", "models")

# part: program of the bench, the rows (name, metric) that count, bar
BENCHES = {
    "apply": ("bench_apply", lambda name, metric: metric == "median_us", RATE_BAR),
    "compile": (
        "bench_compile",
        lambda name, metric: name == "compile" and metric in ("median_ms", "p95_ms"),
        RATE_BAR,
    ),
    "score": ("bench_search_rates", lambda name, metric: metric == "scored_per_s", RATE_BAR),
    "trials": (
        "bench_measure",
        lambda name, metric: name == "measure" and metric == "trials_per_s",
        TRIALS_BAR,
    ),
}


class VersionError(Exception):
    """An error message of one line."""


def better(metric, old, new):
    """The ratio by which the new version is better: shorter times and higher rates are better."""
    if old <= 0 or new <= 0:
        raise VersionError(f"{metric} is not positive: {old}, {new}")
    return new / old if metric.endswith("_per_s") else old / new


def medians(rounds):
    """[{key: (old, new)}] -> {key: (median old, median new, median ratio)}; keys have metrics."""
    found = {}
    for key in rounds[0]:
        pairs = [one[key] for one in rounds if key in one]
        ratios = [better(key[1], old, new) for old, new in pairs]
        found[key] = (
            statistics.median(old for old, _ in pairs),
            statistics.median(new for _, new in pairs),
            statistics.median(ratios),
        )
    return found


def run(command, accepted=(0,)):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in accepted:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise VersionError(f"{' '.join(command)} ended with status {done.returncode}: {last}")
    return done


def rows_of(build, program, counts, extra):
    path = os.path.join(build, "bench", program)
    if not os.path.exists(path):
        raise VersionError(f"no {path}: build the target {program}")
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        rows = os.path.join(folder, "rows.json")
        done = run([path, *extra, "--json", rows], accepted=(0, 1))  # 1: it missed one of its bars
        if not os.path.exists(rows):
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise VersionError(f"{path} wrote no rows: {last}")
        return {
            (row["name"], row["metric"]): row["value"]
            for row in report.read_rows(rows)
            if counts(row["name"], row["metric"])
        }


def alternate(options, part, out, extra=()):
    program, counts, bar = BENCHES[part]
    out.title(f"{part}: {program}, {options.rounds} rounds")
    rounds = []
    for turn in range(options.rounds):
        order = (options.old, options.build) if turn % 2 == 0 else (options.build, options.old)
        found = {build: rows_of(build, program, counts, extra) for build in order}
        old, new = found[options.old], found[options.build]
        if not old:
            raise VersionError(f"{part}: no row of {program} counts")
        for name, metric in old:
            if (name, metric) not in new:
                raise VersionError(f"{part}: the new {program} has no {metric} of {name}")
        rounds.append({key: (old[key], new[key]) for key in old})
    for (name, metric), (old, new, ratio) in medians(rounds).items():
        out.say(f"  {name:<28}{metric:<14}old {old:>11.2f}  new {new:>11.2f}")
        out.bar(f"{part}: {name}, {metric}, new against old", ratio, bar)
        out.row(f"{part}/{name}", f"{metric}_new_vs_old", ratio)


def program_of(build):
    return os.path.join(build, "tilewright")


def tune_once(options, what, store, limits):
    run([program_of(options.old), "tune", what, "--records", store, *limits])


def model_times(options, libraries):
    """The median times of the libraries in one process, in the order given."""
    timed = run([program_of(options.build), "bench", *libraries, "--seconds", MODEL_SECONDS, "--json"])
    return [json.loads(line)["p50_ns"] for line in timed.stdout.splitlines()]


def compare_model(options, model, folder, out):
    name = os.path.basename(model).removesuffix(".onnx")
    store = os.path.join(folder, f"{name}.db")
    tune_once(options, model, store, ("--seconds", str(options.seconds)))
    libraries = []
    for version, build in (("old", options.old), ("new", options.build)):
        library = os.path.join(folder, f"{name}.{version}", "model.so")
        os.makedirs(os.path.dirname(library))
        run([program_of(build), "compile", model, "--records", store, "-o", library])
        libraries.append(library)
    same = filecmp.cmp(*libraries, shallow=False)
    out.say(f"  {name:<28}{'the same bytes' if same else 'other bytes'}")
    out.row(f"models/{name}", "same_bytes", int(same))
    if same:
        return
    rounds = []
    for turn in range(options.rounds):
        if turn % 2 == 0:
            old, new = model_times(options, libraries)
        else:
            new, old = model_times(options, libraries[::-1])
        rounds.append({(name, "p50_ns"): (old, new)})
    ((old, new, ratio),) = medians(rounds).values()
    out.say(f"  {name:<28}{'p50_ns':<14}old {old:>11.0f}  new {new:>11.0f}")
    out.bar(f"models: {name}, new against old", ratio, MODEL_BAR)
    out.row(f"models/{name}", "new_vs_old", ratio)


def parse(words):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--old", required=True, metavar="BUILD", help="build folder of the older version")
    add("--build", default=os.path.join(ROOT, "build", "release"), help="build folder of the newer version")
    add("--rounds", type=int, default=MIN_ROUNDS, help=f"rounds (default and minimum: {MIN_ROUNDS})")
    add("--only", default=",".join(PARTS), metavar="PART,...", help="of " + ", ".join(PARTS))
    add(
        "--models",
        nargs="+",
        metavar="FILE.onnx",
        help=f"for the part `models` (default: {', '.join(DEFAULT_MODELS)})",
    )
    add("--seconds", type=float, default=60, help="tuning time per model (default: 60)")
    add("--full", action="store_true", help="no effect; every part is run by default")
    add("--json", metavar="FILE", help="write rows of results")
    options = parser.parse_args(words)
    options.check = True
    options.only = options.only.split(",")
    if options.rounds < MIN_ROUNDS:
        parser.error(f"--rounds {options.rounds}: the bars are medians of at least {MIN_ROUNDS} rounds")
    unknown = [part for part in options.only if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: the parts are {', '.join(PARTS)}")
    for build in (options.old, options.build):
        if not os.path.exists(program_of(build)):
            parser.error(f"no {program_of(build)}: build that version first")
    return options


def main(words=None):
    options = parse(words)
    out = Report()
    try:
        models = options.models or []
        if "models" in options.only and not models:
            models = [materialized(name) for name in DEFAULT_MODELS]  # first, because it may fail
        with tempfile.TemporaryDirectory(prefix="tilewright-versions-") as folder:
            for part in ("apply", "compile", "trials"):
                if part in options.only:
                    alternate(options, part, out)
            if "score" in options.only:
                store = os.path.join(folder, "rates.db")
                tune_once(options, "C2D2", store, ("--trials", "200"))
                alternate(options, "score", out, ("--records", store))
            if "models" in options.only:
                out.title("models: compiled from the same stores")
                for model in models:
                    compare_model(options, model, folder, out)
    except (ModelError, VersionError) as error:
        print(f"bench versions: {error}", file=sys.stderr)
        return 1
    return out.finish(options)


if __name__ == "__main__":
    sys.exit(main())
