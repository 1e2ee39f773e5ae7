"""The options of benchmarks that tune, and then compare with peers in alternation."""

import os

from harness import peers
from harness.rounds import MIN_ROUNDS


def add_match_options(parser, slice_s):
    """`slice_s` is the default length of a slice."""
    add = parser.add_argument
    add("--json", metavar="FILE", help="also write rows {name, metric, value}")
    add("--rounds", type=int, default=MIN_ROUNDS, help="alternating rounds of a match")
    add("--slice", type=float, default=slice_s, metavar="SECONDS", help="length of a slice")
    add("--fresh", action="store_true", help="ignore stored results and tune again")
    add("--stored", action="store_true", help="measure nothing: the tables of the stored results")
    add("--any-build", action="store_true", help="also use results of other builds")
    add("--check", action="store_true", help="exit with 1 unless every bar is reached")
    add("--build", default=os.path.join(peers.BUILD, "release"), help="build folder")


def parse_match_options(parser, arguments):
    options = parser.parse_args(arguments)
    if options.stored and options.fresh:
        parser.error("--stored and --fresh exclude each other")
    return options
