"""Arms: benchmark commands that run on their own processors within a time limit, several at once. A ledger
stores which are complete, so that a later call continues, also on another machine of the same kind."""

import json
import os
import queue
import signal
import subprocess
import tarfile
import threading
import time
from dataclasses import dataclass, field

from harness import report

MAX_RUNS = 3  # of an arm that fails, takes too long or runs while other processes are running
LONG_SHARE = 0.5  # of the time of a call: an arm that had less counts no run when the time limit ends it
MIN_LEFT_S = 30.0  # an arm is not started with less time left
STOP_S = 5.0  # between SIGTERM and SIGKILL
DATA_ONLY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since Python 3.11.4
NOT_ARCHIVED = (".so", ".onnx")  # made again from the records and the stripped models


@dataclass(frozen=True)
class Arm:
    """`command` writes rows to `rows`; each of its figures has a row `quiet`, which is 1 if the result is
    stored."""

    name: str
    command: tuple
    rows: str = ""


def slots_of(cores, threads, limit=None):
    """Disjoint lists of processors, each with as many cores as threads. `cores`: the processors of each core.
    With fewer cores than threads, all processors are one slot, if they are enough."""
    count = len(cores) // threads
    everything = [cpu for core in cores for cpu in core]
    if count == 0:
        return [everything] if len(everything) >= threads else []
    groups = [cores[i * threads : (i + 1) * threads] for i in range(count)]
    slots = [[cpu for core in group for cpu in core] for group in groups]
    alike = [slot for slot in slots if len(slot) == len(slots[0])]  # stored results are those of a CPU count
    return alike[:limit]


class Ledger:
    """The runs of each arm, in a file. Entries of another build or of another command do not count."""

    def __init__(self, path, build):
        self._path, self._build, self._lock = path, build, threading.Lock()
        try:
            with open(path) as file:
                entries = json.load(file)
        except (OSError, ValueError):
            entries = {}
        self._entries = {name: e for name, e in entries.items() if e["build"] == build}

    def entry(self, arm):
        known = self._entries.get(arm.name)
        return known if known and known["command"] == list(arm.command) else {"runs": 0, "done": False}

    def done(self, arm):
        return self.entry(arm)["done"]

    def given_up(self, arm):
        entry = self.entry(arm)
        return not entry["done"] and entry["runs"] >= MAX_RUNS

    def waiting(self, arms):
        """The arms that remain, those with the fewest runs first."""
        left = [arm for arm in arms if not self.done(arm) and not self.given_up(arm)]
        return sorted(left, key=lambda arm: self.entry(arm)["runs"])

    def neighbors(self, arms):
        """The largest number of arms that ran on other processors during one of these."""
        return max((self.entry(arm).get("neighbors", 0) for arm in arms), default=0)

    def add(self, arm, done, seconds, neighbors=0):
        with self._lock:
            entry = {"build": self._build, "command": list(arm.command), "done": done, "seconds": seconds}
            entry["neighbors"] = neighbors
            self._entries[arm.name] = entry | {"runs": self.entry(arm)["runs"] + 1}
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with open(self._path + ".new", "w") as file:
                json.dump(self._entries, file)
            os.replace(self._path + ".new", self._path)


def is_complete(arm):
    """True if all results of the last run are stored."""
    try:
        quiet = [row["value"] for row in report.read_rows(arm.rows) if row["metric"] == "quiet"]
    except (OSError, ValueError):
        return False
    return bool(quiet) and all(quiet)


def stop(process):
    """Ends a process that start() made, and its children."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            continue


def start(command, environment, log):
    """Starts a process in its own group, on the processors of the calling thread."""
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@dataclass
class Runner:
    """Runs arms, one at a time on each slot, until the deadline (of time.monotonic)."""

    ledger: Ledger
    slots: list
    deadline: float
    logs: str
    environment: dict = field(default_factory=lambda: dict(os.environ))
    say: object = print

    def __post_init__(self):
        self._running, self._lock, self._ends = set(), threading.Lock(), False

    def run(self, arms):
        """An exception in this thread, such as KeyboardInterrupt, ends the arms."""
        self._long_s = LONG_SHARE * (self.deadline - time.monotonic())
        waiting = queue.SimpleQueue()
        for arm in self.ledger.waiting(arms):
            waiting.put(arm)
        os.makedirs(self.logs, exist_ok=True)
        threads = [threading.Thread(target=self._serve, args=(slot, waiting)) for slot in self.slots]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            with self._lock:
                self._ends = True
                running = list(self._running)
            for process in running:
                stop(process)
            for thread in threads:
                thread.join()
            raise

    def _start(self, command, log):
        """None if the run ends."""
        with self._lock:
            if self._ends:
                return None
            process = start(command, self.environment, log)
            self._running.add(process)
            return process

    def _serve(self, slot, waiting):
        os.sched_setaffinity(0, slot)  # of this thread; its processes inherit it
        while not self._ends and self.deadline - time.monotonic() > MIN_LEFT_S:
            try:
                arm = waiting.get_nowait()
            except queue.Empty:
                return
            self._one(arm, slot)

    def _one(self, arm, slot):
        path = os.path.join(self.logs, arm.name.replace("/", "_") + ".log")
        if os.path.exists(arm.rows):
            os.remove(arm.rows)
        begin = time.monotonic()
        with open(path, "w") as log:
            process = self._start(arm.command, log)
            if process is None:
                return
            try:
                process.wait(max(self.deadline - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                stop(process)
                self.say(f"{arm.name}: interrupted by the time limit")
                if time.monotonic() - begin > self._long_s:
                    self._add(arm, False, begin)
                return
            finally:
                with self._lock:
                    self._running.discard(process)
        if self._ends:
            return
        done = is_complete(arm)
        seconds = self._add(arm, done, begin)
        state = "complete" if done else f"not stored, exit status {process.returncode}, see {path}"
        self.say(f"{arm.name}: {seconds:.0f} s on {','.join(map(str, slot))}: {state}")

    def _add(self, arm, done, begin):
        seconds = time.monotonic() - begin
        self.ledger.add(arm, done, seconds, len(self.slots) - 1)
        return seconds


def archive(folder, path):
    """Everything but libraries and complete models, which are made again."""
    with tarfile.open(path, "w:gz") as tar:
        tar.add(folder, ".", filter=lambda info: None if info.name.endswith(NOT_ARCHIVED) else info)


def restore(path, folder):
    os.makedirs(folder, exist_ok=True)
    with tarfile.open(path) as tar:
        tar.extractall(folder, **DATA_ONLY)
