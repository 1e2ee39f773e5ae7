"""Runs of `tilewright tune` for the benchmarks: one store per run; results are stored per machine and
build."""

import hashlib
import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass, field

from harness import machine, peers
from harness.compare import BUSY_CPUS

PROGRAMS = ("tilewright", "tilewright-build-worker", "tilewright-run-worker")
STORE_SUFFIXES = ("", "-wal", "-shm")


class TuneError(Exception):
    """`tilewright tune` is missing, failed or found nothing; the message is one line."""


class NotStored(TuneError):
    """A run that may only use stored results has none."""

    def __init__(self):
        super().__init__("no stored result: not measured yet, or measured while other processes were running")


@dataclass(frozen=True)
class Request:
    """One run: `what` is a list of words for the command line; `name` is unique among all runs."""

    name: str
    what: tuple
    trials: int
    seconds: float | None = None
    seed: int = 1
    flags: tuple = ()
    threads: int = 2
    shared: str = ""  # runs of that name share a store, so later ones begin with its records

    def arguments(self, store):
        result = ["tune", *self.what, "--json", "--records", store, "--seed", str(self.seed)]
        result += ["--trials", str(self.trials), "--threads", str(self.threads), *self.flags]
        return result + ([] if self.seconds is None else ["--seconds", f"{self.seconds:g}"])


@dataclass
class Tuned:
    """The output of a run: the object `result`, its rounds, and the load by other processes."""

    result: dict
    rounds: list = field(default_factory=list)
    other_cpus: float = 0.0
    store: str = ""
    kept: bool = False

    def winner(self, index=0):
        """The fastest schedule as text; None if nothing was valid."""
        return self.result["tasks"][index].get("winner", {}).get("trace")

    def found(self, index=0):
        """The fastest schedule that the search proposed, as text. The winner may be the default schedule,
        which every run tries first and which must not count when searches are compared."""
        return self.result["tasks"][index].get("found")

    def latencies_ns(self):
        """One per candidate in the order of proposal, without the default schedule; None for a failed or
        censored candidate. For runs of one task."""
        trials = [trial for one in self.rounds for trial in one["trials"]]
        default_ns = self.result["tasks"][0].get("default_trial_ns")
        if trials and default_ns is not None and trials[0].get("latency_ns") == default_ns:
            trials = trials[1:]
        return [t.get("latency_ns") if t["verdict"] == "timed" else None for t in trials]

    def last_quality(self):
        """The quality of the model's scores in the last round that has one."""
        found = [one["quality"] for one in self.rounds if one.get("quality")]
        return found[-1] if found else None

    @property
    def trials_per_s(self):
        return self.result.get("trials_per_s")

    @property
    def trustworthy(self):
        return self.other_cpus <= BUSY_CPUS


def best_so_far(latencies_ns):
    """[3, None, 2] -> [3, 3, 2]; None before anything was timed."""
    result, best = [], None
    for latency in latencies_ns:
        if latency is not None and (best is None or latency < best):
            best = latency
        result.append(best)
    return result


def trials_to_reach(latencies_ns, target_ns):
    """The number of trials until one is at least as fast; None if none is."""
    for count, best in enumerate(best_so_far(latencies_ns), 1):
        if best is not None and best <= target_ns:
            return count
    return None


def parse_output(lines):
    """The lines of `tune --json` -> Tuned."""
    rounds, result = [], None
    for line in lines:
        try:
            fields = json.loads(line)
        except ValueError:
            raise TuneError(f"tune printed a line that is not JSON: {line[:80]}") from None
        if "round" in fields:
            rounds.append(fields["round"])
        elif "result" in fields:
            result = fields["result"]
    if result is None:
        raise TuneError("tune ended without a result")
    return Tuned(result, rounds)


def fastest_proposed(records, task):
    """The trace of the fastest attempt of a task that is not the default schedule, or None.
    `records` are the lines of `tilewright records export`, `task` is one of the run's result."""
    attempts = [
        r
        for r in map(json.loads, records)
        if r["type"] == "attempt"
        and r["task"] == task["task"]
        and r["verdict"] == "timed"
        and not r["protocol"].endswith("interleaved")
    ]
    default_ns = task.get("default_trial_ns")
    defaults = {r["program"] for r in attempts if r["latency_ns"] == default_ns}
    proposed = [r for r in attempts if r["program"] not in defaults]
    return min(proposed, key=lambda r: r["latency_ns"])["trace"] if proposed else None


class OtherWork:
    """The number of processors that were busy with processes other than this one and those that it has waited
    for."""

    def __init__(self):
        self._load = machine.OtherLoad([])
        self._begin = self._children_s()
        self._wall = os.times().elapsed

    def cpus(self):
        wall = os.times().elapsed - self._wall
        children = self._children_s() - self._begin
        return max(0.0, self._load.cpus() - children / wall) if wall > 0 else 0.0

    @staticmethod
    def _children_s():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


def build_key(build_dir, names=PROGRAMS):
    digest = hashlib.sha256()
    for name in names:
        path = os.path.join(build_dir, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()


class Tuner:
    """Runs requests, or returns their stored results.

    `any_build`: also results of other builds of the programs. `stored`: without a stored result, run raises
    NotStored.
    """

    def __init__(self, folder, build_dir, kept, fresh=False, any_build=False, stored=False):
        self._folder, self._build, self._kept, self._stored = folder, build_dir, kept, stored
        self._fresh, self._any_build = fresh, any_build
        self._build_key = "any" if any_build else build_key(build_dir)

    def run(self, request):
        key = f"{request} {self._build_key}"
        name = f"tune/{request.name}"
        stored = None
        if not self._fresh:
            stored = self._kept.get_any(name) if self._any_build else self._kept.get(name, key)
        if stored:
            return Tuned(**stored, kept=True)
        if self._stored:
            raise NotStored()
        tuned = self._tune(request)
        if tuned.trustworthy:
            fields = {"result": tuned.result, "rounds": tuned.rounds, "store": tuned.store}
            self._kept.put(name, key, fields | {"other_cpus": tuned.other_cpus})
        return tuned

    def _tune(self, request):
        os.makedirs(self._folder, exist_ok=True)
        name = request.shared or request.name.replace("/", "_")
        store = os.path.join(self._folder, name + ".db")
        for suffix in STORE_SUFFIXES:  # otherwise the run begins with an empty store
            if not request.shared and os.path.exists(store + suffix):
                os.remove(store + suffix)
        command = [os.path.join(self._build, PROGRAMS[0]), *request.arguments(store)]
        if sys.stderr.isatty():
            print(f"\r\033[Ktune {request.name}", end="", file=sys.stderr, flush=True)
        work = OtherWork()
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=peers.environment())
        except OSError as error:
            raise TuneError(f"cannot start {command[0]}: {error.strerror}") from error
        finally:
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr)
        other_cpus = work.cpus()
        if done.returncode not in (0, 3):
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise TuneError(f"{request.name}: tune ended with {done.returncode}: {said}")
        tuned = parse_output(done.stdout.splitlines())
        tuned.other_cpus, tuned.store = other_cpus, store
        records = self._records(store)
        for task in tuned.result["tasks"]:
            task["found"] = fastest_proposed(records, task)
        return tuned

    def _records(self, store):
        command = [os.path.join(self._build, PROGRAMS[0]), "records", "export", "--records", store]
        done = subprocess.run(command, capture_output=True, text=True, env=peers.environment())
        if done.returncode != 0:
            raise TuneError(f"{os.path.basename(store)} cannot be exported: {done.stderr.strip()}")
        return done.stdout.splitlines()
