#!/usr/bin/env python3
"""./dev bench odd: 20 operators of odd sizes, drawn from a seed, tuned, against the best of oneDNN, ONNX Runtime
and OpenVINO: 2 threads, f32.

The draws are convolutions with 17 to 211 channels, products of primes, convolutions in groups of 4 to 12
channels, and softmax of 7 to 211 columns (harness/odd.py). Each is tuned with 200 trials or for 60 s and must reach 0.95 x the best peer.
--seed N draws other ones. Results are stored per machine and build (build/bench), so an interrupted run
resumes. Results that were measured while other processes were running are shown but not stored.
"""

import argparse
import os
import sys

from harness import odd, peers, report
from harness.bars import Report
from harness.match_options import add_match_options, parse_match_options
from harness.search_suite import Matches, show, tune_and_play
from harness.tuned import Tuner
from harness.versus import THREADS


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="./dev bench odd",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seed", type=int, default=odd.SEED)
    add("--count", type=int, default=odd.COUNT, help=f"number of draws (default: {odd.COUNT})")
    add("--only", metavar="NUMBER,...", default="", help="these draws only: 0,7")
    add("--list", action="store_true", help="print the draws and exit")
    add_match_options(parser, slice_s=0.06)
    options = parse_match_options(parser, arguments)
    words = [word for word in options.only.split(",") if word]
    if not all(word.isdigit() and int(word) < options.count for word in words):
        parser.error(f"--only takes numbers below {options.count}")
    options.only = [int(word) for word in words]
    return options


def run(options, out):
    kept = report.Kept(os.path.join(peers.BUILD, "bench"), "odd")
    stores = os.path.join(peers.BUILD, "bench", "odd")
    tuner = Tuner(stores, options.build, kept, options.fresh, options.any_build, options.stored)
    matches = Matches(options, kept)
    drawn = odd.draws(options.seed, options.count)
    chosen = [drawn[number] for number in options.only] or drawn
    out.title(f"{len(chosen)} draws of seed {options.seed}, {THREADS} threads, GFLOP/s")
    lines = []
    for workload in chosen:
        lines.append(tune_and_play(workload, tuner, matches, shared=f"odd{options.seed}"))
        out.progress(workload.name, lines[-1].ratio)
    show(lines, out)
    for line in lines:
        what = f"{line.workload.name}: times the best peer"
        out.bar(what, line.ratio, odd.MIN_RATIO, trusted=line.trustworthy)
    mean = report.geometric_mean([line.ratio for line in lines])
    out.say(f"geometric mean {report.number(mean)}")
    out.row(f"odd.seed{options.seed}", "vs_best", mean)


def main(arguments=None):
    options = parse(arguments)
    if options.list:
        for workload in odd.draws(options.seed, options.count):
            print(f"{workload.spec()}  {workload.flop / 1e6:.0f} MFLOP")
        return 0
    out = Report(THREADS)
    print(report.machine_line())
    run(options, out)
    return out.finish(options)


if __name__ == "__main__":
    sys.exit(main())
