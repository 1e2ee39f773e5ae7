"""The orchestrator's handle of one worker process. The package's docstring defines the protocol."""

import glob
import json
import os
import select
import subprocess
import tempfile
import time
from dataclasses import dataclass

PREPARE_TIMEOUT_S = 300.0
SLICE_TIMEOUT_S = 60.0
REST_TIMEOUT_S = 5.0


class WorkerError(Exception):
    """A worker is missing, died, hangs, reported an error or keeps spinning; the message is one line."""


@dataclass(frozen=True)
class Times:
    """Durations of the calls of one slice."""

    count: int
    min_ns: int
    p10_ns: int
    p50_ns: int


class Worker:
    """Starts the process at once; use as a context manager, or call close()."""

    def __init__(self, name, command, cpus=None, environment=None):
        self.name = name
        self._received = b""
        self._stderr = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**os.environ, **(environment or {})},
                preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
            )
        except OSError as error:
            self._stderr.close()
            raise WorkerError(f"{name}: cannot start {command[0]}: {error.strerror}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def pid(self):
        return self._process.pid

    def prepare(self, spec, timeout_s=PREPARE_TIMEOUT_S):
        """Sends the request. Returns the fields of `ready`."""
        return self._ask("prepare " + json.dumps(spec), "ready", timeout_s)

    def slice(self, seconds, timeout_s=SLICE_TIMEOUT_S):
        fields = self._ask(f"slice {seconds}", "times", seconds + timeout_s)
        try:
            return Times(**{name: int(fields[name]) for name in Times.__dataclass_fields__})
        except KeyError as missing:
            raise WorkerError(f"{self.name}: times without {missing}") from None

    def at_rest(self):
        """True if every thread sleeps. A spinning thread is runnable."""
        for path in glob.glob(f"/proc/{self.pid}/task/*/stat"):
            try:
                with open(path) as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "R":
                        return False
            except OSError:  # the thread ended meanwhile
                pass
        return True

    def close(self):
        """Asks the worker to quit, and kills it if it does not. A second call has no effect."""
        if self._stderr.closed:
            return
        try:
            self._process.stdin.write(b"quit\n")
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()

    def _ask(self, line, expected, timeout_s):
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise WorkerError(self._died()) from None
        word, _, rest = self._read_line(timeout_s).partition(" ")
        try:
            fields = json.loads(rest or "{}")
        except ValueError:
            raise WorkerError(f"{self.name}: not JSON after {word!r}: {rest[:80]}") from None
        if word == "error":
            raise WorkerError(f"{self.name}: {fields.get('message', 'failed')}")
        if word != expected:
            raise WorkerError(f"{self.name}: answered {word!r} where {expected!r} was due")
        return fields

    def _read_line(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                self._process.kill()
                raise WorkerError(f"{self.name}: no answer in {timeout_s:g} s")
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                raise WorkerError(self._died())
            self._received += chunk
        line, self._received = self._received.split(b"\n", 1)
        return line.decode(errors="replace")

    def _died(self):
        status = self._process.wait()
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace").strip().splitlines()
        return f"{self.name}: died with status {status}" + (f": {words[-1]}" if words else "")


def wait_for_rest(workers, timeout_s=REST_TIMEOUT_S):
    """Returns when two checks in a row, 1 ms apart, find no running thread of these workers."""
    deadline = time.monotonic() + timeout_s
    quiet = 0
    while quiet < 2:
        busy = [worker for worker in workers if not worker.at_rest()]
        quiet = 0 if busy else quiet + 1
        if busy and time.monotonic() > deadline:
            raise WorkerError(f"{busy[0].name}: still runs {timeout_s:g} s after its slice")
        time.sleep(0.001)
