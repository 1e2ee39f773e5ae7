"""One comparison: starts each contestant in its own process, prepares it, runs the rounds."""

import contextlib
from dataclasses import asdict, dataclass, field
from typing import Callable

from harness import machine
from harness.rounds import QUANTILE, Series, alternate
from harness.worker import Worker, WorkerError, wait_for_rest

BUSY_CPUS = 0.25  # above this load by other processes, the result is not reliable


@dataclass(frozen=True)
class Contestant:
    """`launch` returns (command, environment) or raises WorkerError; `spec` is the request to prepare."""

    launch: Callable
    spec: dict


@dataclass
class Outcome:
    """Series by name, and the number of processors that other processes kept busy meanwhile."""

    series: dict = field(default_factory=dict)
    other_cpus: float = 0.0


def compare(contestants, threads, rounds, slice_s, on_round=None):
    """Contestants by name -> Outcome. A contestant that failed has a series with the reason."""
    cpus = machine.choose_cpus(threads)
    if cpus is None:
        reason = f"needs {threads} processors"
        return Outcome({name: Series(failure=reason) for name in contestants})
    failed, ready, workers = {}, {}, {}
    with contextlib.ExitStack() as stack:
        for name, contestant in contestants.items():
            try:
                command, environment = contestant.launch()
                environment = {"OMP_NUM_THREADS": str(threads), **environment}
                worker = stack.enter_context(Worker(name, command, cpus, environment))
                wait_for_rest(workers.values())
                ready[name] = worker.prepare(contestant.spec)
                workers[name] = worker
            except WorkerError as error:
                failed[name] = str(error)
        load = machine.OtherLoad([worker.pid for worker in workers.values()])
        series = alternate(workers, rounds, slice_s, on_round=on_round)
        other_cpus = load.cpus()
    for name, fields in ready.items():
        series[name].ready = fields
    for name, reason in failed.items():
        series[name] = Series(failure=reason)
    return Outcome({name: series[name] for name in contestants}, other_cpus)


class Played:
    """The base of matches, which have the fields `ours`, `outcome` and `errors`."""

    def time_ns(self, name, q=QUANTILE):
        series = self.outcome.series.get(name)
        return series.time_ns(q) if series else None

    @property
    def trustworthy(self):
        return self.outcome.other_cpus <= BUSY_CPUS

    def failures(self):
        return {name: s.failure for name, s in self.outcome.series.items() if s.failure}

    def to_json(self):
        return {
            "ours": list(self.ours),
            "series": {name: asdict(series) for name, series in self.outcome.series.items()},
            "other_cpus": self.outcome.other_cpus,
            "errors": self.errors,
        }


def outcome_from_json(fields):
    series = {name: Series(**values) for name, values in fields["series"].items()}
    return Outcome(series, fields["other_cpus"])
