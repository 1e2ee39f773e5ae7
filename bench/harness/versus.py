"""One workload: our kernels, each with a different schedule, against every peer and the limit, all in the
same alternating rounds, with the outputs compared. `bench search` consists of such matches."""

import os
import tempfile
from dataclasses import dataclass, field

from harness import data, peers
from harness.compare import Contestant, Outcome, Played, compare, outcome_from_json
from harness.limits import PROBES, limit_of, probes_of

PEERS = {
    "onednn": ("oneDNN", peers.onednn),
    "onnxruntime": ("ONNX Runtime", peers.onnxruntime),
    "openvino": ("OpenVINO", peers.openvino),
}
THREADS = 2
MAX_RELATIVE_ERROR = 1e-4


@dataclass
class Match(Played):
    """A measured workload. `ours` names the schedules that took part."""

    workload: object
    ours: tuple
    outcome: Outcome
    errors: dict = field(default_factory=dict)  # participant -> error relative to the reference

    def gflops(self, name):
        time_ns = self.time_ns(name)
        return self.workload.flop / time_ns if time_ns else None

    def best_peer(self):
        """The name of the fastest peer whose output is right, or None."""
        fit = [name for name in PEERS if self.time_ns(name) and not self.is_wrong(name)]
        return min(fit, key=self.time_ns, default=None)

    def ratio(self, name, other):
        """The speed relative to the other participant; None if a time is missing."""
        mine, others = self.time_ns(name), self.time_ns(other) if other else None
        return others / mine if mine and others else None

    def share(self, name):
        """The share of the FMA peak or of the bandwidth, whichever bounds the workload."""
        limit, time_ns = limit_of(self.workload), self.time_ns(name)
        rates = []
        for probe in PROBES:
            done = self.outcome.series[probe].ready.get(limit.done) if self.time_ns(probe) else None
            if done:
                rates.append(done / self.time_ns(probe))
        return limit.work(self.workload) / time_ns / max(rates) if rates and time_ns else None

    def is_wrong(self, name):
        series = self.outcome.series[name]
        return bool(series.ready.get("wrong")) or self.errors.get(name, 0.0) > MAX_RELATIVE_ERROR


def match_from_json(workload, fields):
    return Match(workload, tuple(fields["ours"]), outcome_from_json(fields), fields["errors"])


def contestants_of(workload, traces, folder, build_dir, with_peers=True):
    """`traces`: name -> text of a schedule, None for the default one."""

    def fields(name):
        return workload.prepare_fields(THREADS, folder, os.path.join(folder, name + ".out"))

    def launch_ours():
        return peers.ours(build_dir)

    result = {}
    for name, trace in traces.items():
        extra = {} if trace is None else {"trace": trace}
        result[name] = Contestant(launch_ours, fields(name) | extra)
    for name, spec in probes_of(workload, THREADS).items():
        result[name] = Contestant(launch_ours, spec)
    for name, (_, launch) in PEERS.items() if with_peers else ():
        result[name] = Contestant(launch, fields(name))
    return result


def errors_of(names, outcome, folder):
    """Participant -> its largest error relative to the output that most others agree with."""
    outputs = {}
    for name in names:
        path = os.path.join(folder, name + ".out")
        series = outcome.series.get(name)
        if series and not series.failure and os.path.exists(path):
            outputs[name] = path
    if len(outputs) < 2:
        return {}
    reference = min(outputs, key=lambda name: _distance(outputs, name))
    return {name: data.relative_error(path, outputs[reference]) for name, path in outputs.items()}


def _distance(outputs, name):
    """The median error of the others relative to this one, so that one outlier does not count."""
    errors = sorted(
        data.relative_error(path, outputs[name]) for key, path in outputs.items() if key != name
    )
    return errors[(len(errors) - 1) // 2]


def play(workload, traces, rounds, slice_s, build_dir, with_peers=True, on_round=None):
    """Measures a match. `traces` as for contestants_of."""
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        data.write_inputs(workload, folder)
        entrants = contestants_of(workload, traces, folder, build_dir, with_peers)
        outcome = compare(entrants, THREADS, rounds, slice_s, on_round)
        errors = errors_of([*traces, *PEERS], outcome, folder)
        return Match(workload, tuple(traces), outcome, errors)
