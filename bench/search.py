#!/usr/bin/env python3
"""./dev bench search: the results of the search, its speed, and the contribution of its parts.

  1  scored candidates per second by stage, and the overhead of a round over building and measuring
  2  the operator suite against the best of oneDNN, ONNX Runtime and OpenVINO, and MetaSchedule; with --full
     all workloads, also with batch 16 where a call takes less than 0.3 s
  3  the search against the schedules written by hand
  4  search against random candidates, and ablations
  5  operators outside the suite           \\
  6  killed runs that resume                }  tests, started from here
  7  explorers on synthetic landscapes     /

Without --full part 2 takes one workload of each class. Tuning, matches and MetaSchedule's runs are stored per
machine and build (build/bench), so an interrupted run resumes. Results that were measured while other
processes were running are shown but not stored.
"""

import argparse
import os
import subprocess
import sys
import tempfile

from harness import peers, report, search_random, search_suite, suite, versus
from harness.bars import Report
from harness.compare import BUSY_CPUS
from harness.match_options import add_match_options, parse_match_options
from harness.tuned import OtherWork, Tuner, TuneError

ROUND_TRIALS = 24 + 32 + 48 + 48 + 48 + 64 + 64  # two rounds of 64 at the end
MIN_SCORED, MIN_SCORED_OWN, MAX_ROUND_S = 30_000, 100_000, 0.3
TESTS = {
    5: (("bench/bench_unseen",), {}),
    6: (("ctest", "-R", "^tune_test$", "--output-on-failure"), {"TILEWRIGHT_CRASH_RUNS": "10"}),
    7: (("src/search/tilewright_search_test", "--gtest_filter=*andscape*"), {}),
}
TEST_TITLES = {
    5: "operators outside the suite",
    6: "killed 10 times and started again",
    7: "explorers on synthetic landscapes, 100 seeds",
}


def run_rates(options, tuner, out):
    """Runs the C++ benchmark, with the model of a tuned run."""
    out.title("1. scored candidates per second: C2D2, unique, legal, uncached, model of trial 200")
    program = os.path.join(options.build, "bench", "bench_search_rates")
    workload = suite.load()["C2D2"]
    tuned = tuner.run(search_suite.request_of(workload, name="C2D2/rates", seconds=None))
    longer = tuner.run(
        search_suite.request_of(
            workload, name="C2D2/rounds", seconds=None, trials=ROUND_TRIALS
        )
    )
    if not os.path.exists(program):
        raise TuneError("no bench_search_rates: build the target bench_search_rates")
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        rows = os.path.join(folder, "rows.json")
        command = [program, "--records", tuned.store, "--json", rows]
        work = OtherWork()
        done = subprocess.run(command, capture_output=True, text=True, env=peers.environment())
        other_cpus = work.cpus()
        out.say(done.stdout.rstrip())
        if done.returncode != 0:
            raise TuneError((done.stderr.strip().splitlines() or ["rates failed"])[-1])
        found = {(r["name"], r["metric"]): r["value"] for r in report.read_rows(rows)}
    for name, least in (("xgboost", MIN_SCORED), ("own forest", MIN_SCORED_OWN)):
        value = found.get((name, "scored_per_s"))
        out.bar(f"scored per second, {name}", value, least, trusted=other_cpus <= BUSY_CPUS)
    out.rows += [{"name": n, "metric": m, "value": v} for (n, m), v in found.items()]
    rounds = [r for r in longer.rounds if r["tried"] == 64]
    costs = [r["propose_s"] + r["learn_s"] for r in rounds]
    out.bar_max(
        f"overhead of a round of 64 over building and measuring, worst of {len(costs)}",
        max(costs, default=None),
        MAX_ROUND_S,
        "s",
        trusted=longer.trustworthy,
    )
    out.row("round of 64", "overhead_s", max(costs, default=None))


def run_test(number, options, out):
    out.title(f"{number}. {TEST_TITLES[number]} (a test)")
    words, extra = TESTS[number]
    program = words[0] if words[0] == "ctest" else os.path.join(options.build, words[0])
    if program != "ctest" and not os.path.exists(program):
        out.bar(f"{words[0]}: not built", None, 1)
        return
    done = subprocess.run(
        [program, *words[1:]],
        cwd=options.build,
        env=os.environ | extra,
        capture_output=True,
        text=True,
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    ran = not any("No tests were found" in line or "Running 0 tests" in line for line in lines)
    passed = done.returncode == 0 and ran
    for line in lines if not passed else lines[-1:]:
        out.say(f"   {line}")
    out.bar("passed" if ran else "no such test", 1 if passed else 0 if ran else None, 1)
    out.row(TEST_TITLES[number], "passed", int(passed) if ran else None)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev bench search",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--full", action="store_true", help="all 56 workloads, and most with batch 16")
    add("--batch", action="store_true", help="part 2 also with batch 16, where a call takes less than 0.3 s")
    add("--only", metavar="NAME,...", default="", help="these workloads only")
    add("--part", type=int, action="append", choices=range(1, 8), help="may be repeated")
    add("--no-metaschedule", action="store_true", help="part 2 without TVM")
    add("--no-ablations", action="store_true", help="part 4 without ablations")
    add("--write-docs", metavar="FILE", help="write the table of ablations there")
    add_match_options(parser, slice_s=0.06)
    options = parse_match_options(parser, arguments)
    options.only = [name for name in options.only.split(",") if name]
    options.part = sorted(set(options.part or range(1, 8)))
    return options


def run_part(number, options, tuner, matches, out):
    if number == 1:
        run_rates(options, tuner, out)
    elif number == 2:
        search_suite.run_suite(options, tuner, matches, out)
    elif number == 3:
        search_suite.run_hand(options, tuner, matches, out)
    elif number == 4:
        search_random.run_random(options, tuner, matches, out)
        if not options.no_ablations:
            search_random.run_ablations(options, tuner, matches, out)
    else:
        run_test(number, options, out)


def main(arguments=None):
    options = parse(arguments)
    kept = report.Kept(os.path.join(peers.BUILD, "bench"), "search")
    stores = os.path.join(peers.BUILD, "bench", "search")
    tuner = Tuner(stores, options.build, kept, options.fresh, options.any_build, options.stored)
    matches = search_suite.Matches(options, kept)
    out = Report(versus.THREADS)
    print(report.machine_line())
    for number in options.part:
        try:
            run_part(number, options, tuner, matches, out)
        except (TuneError, suite.Unsupported) as error:
            out.say(f"! part {number}: {error}")
            out.missed.append(f"part {number}")
    return out.finish(options)


if __name__ == "__main__":
    sys.exit(main())
