"""Runs a compiled model on several sets of inputs in alternating rounds, and compares its outputs with those
of ONNX Runtime on the same inputs. Needs the Python packages onnx and numpy."""

import os
import tempfile
from dataclasses import dataclass, field

from harness import peers
from harness.compare import Contestant, Outcome, Played, compare, outcome_from_json
from harness.model_match import (
    MAX_RELATIVE_ERROR,
    PEERS,
    REFERENCE,
    output_types,
    relative_error,
    write_inputs,
)

PLAIN = "plain"


@dataclass
class InputSet:
    """What one set runs: a model, its library, and inputs as returned by inputs_of."""

    model: str
    library: str
    arrays: dict


@dataclass
class SetMatch(Played):
    """`ours` names the sets; the series of each is that of our library. The reference has the series
    `onnxruntime SET`."""

    ours: tuple
    outcome: Outcome
    errors: dict = field(default_factory=dict)  # set -> error relative to the reference; absent: not compared

    def is_wrong(self, name):
        """Also where the outputs were not compared."""
        return not self.errors.get(name, float("inf")) <= MAX_RELATIVE_ERROR

    def over_plain(self, name):
        """The time with these inputs over that with plain ones; None if one is missing."""
        mine, plain = self.time_ns(name), self.time_ns(PLAIN)
        return mine / plain if mine and plain else None

    def others(self):
        """The names of the other sets."""
        return [name for name in self.ours if name != PLAIN]


def set_match_from_json(fields):
    return SetMatch(tuple(fields["ours"]), outcome_from_json(fields), fields["errors"])


def reference_of(name):
    return f"{REFERENCE} {name}"


def errors_of_sets(names, outcome, types, folder):
    """Set -> error, for those that both ran."""

    def ran(name):
        return name in outcome.series and not outcome.series[name].failure

    def outputs(name):
        return os.path.join(folder, name, "outputs")

    fit = [name for name in names if ran(name) and ran(reference_of(name))]
    return {name: relative_error(types, outputs(name), outputs(reference_of(name))) for name in fit}


def play_sets(sets, threads, rounds, slice_s, build_dir):
    """`sets`: name -> InputSet; one of them is `plain`."""
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:

        def spec(name, one, **more):
            output = os.path.join(folder, name, "outputs")
            os.makedirs(output)
            fields = {"kind": "model", "model": os.path.abspath(one.model), "threads": threads}
            inputs = write_inputs(one.arrays, os.path.join(folder, name))
            return fields | {"inputs": inputs, "output_dir": output} | more

        entrants = {}
        for name, one in sets.items():
            ours = spec(name, one, library=one.library)
            entrants[name] = Contestant(lambda: peers.ours(build_dir), ours)
            reference = reference_of(name)
            entrants[reference] = Contestant(PEERS[REFERENCE][1], spec(reference, one))
        outcome = compare(entrants, threads, rounds, slice_s)
        errors = errors_of_sets(sets, outcome, output_types(sets[PLAIN].model), folder)
        return SetMatch(tuple(sets), outcome, errors)
