"""Tests that crashes at random moments lose nothing. Each run measures small schedules, and at a random
moment kills the tuner, a build worker or the run worker, or fills the disk. Then:

  - every reported verdict is in the store, under the reported id
  - `records check` finds no problem
  - a second run answers programs with a verdict from the store, and measures the others
  - no worker outlives its tuner

By default there are a few runs. TILEWRIGHT_CRASH_RUNS sets their number, TILEWRIGHT_CRASH_SEED the random
moments.
"""

import contextlib
import os
import pathlib
import random
import resource
import signal
import subprocess
import tempfile
import time
import unittest

import program

RUNS = int(os.environ.get("TILEWRIGHT_CRASH_RUNS", "5"))
SEED = int(os.environ.get("TILEWRIGHT_CRASH_SEED", "1"))
WHAT = "matmul:m=64,n=64,k=64"
CANDIDATES = 24


def is_alive(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] != "Z"


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    """A tmpfs of that size, or None if it cannot be mounted."""
    where = pathlib.Path(folder) / "disk"
    where.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(where)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    try:
        yield where if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", str(where)], check=True)


class CrashSafety(unittest.TestCase):
    def measure_words(self, records):
        return [
            *("measure", WHAT, "--random", CANDIDATES, "--seed", 3, "--finalists", 0),
            *("--threads", 1, "--records", records, "--json"),
        ]

    def read_until(self, process, count):
        """Lines up to `count` reported verdicts, or up to the end."""
        lines = []
        while len(program.verdicts(program.objects("".join(lines)))) < count:
            line = process.stdout.readline()
            if not line:
                break
            lines.append(line)
        return lines

    def killed_run(self, records, who, rng):
        """The lines that were reported by a run in which a process was killed."""
        errors = open(records + ".errors", "w+")
        self.addCleanup(errors.close)
        process = program.start(*self.measure_words(records), stderr=errors)
        lines = self.read_until(process, rng.randrange(0, CANDIDATES - 4))
        time.sleep(rng.uniform(0, 0.05))
        children = program.workers(process.pid, "tilewright-")
        if who == "tuner":
            kill(process.pid)
        else:
            chosen = program.workers(process.pid, who)
            if chosen:
                kill(rng.choice(chosen))
        reported = program.objects("".join(lines) + program.rest(process))
        if who == "tuner":
            deadline = time.monotonic() + 20 * program.SLOWDOWN
            while any(map(is_alive, children)) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual([pid for pid in children if is_alive(pid)], [], "workers live on")
        else:
            errors.seek(0)
            self.assertEqual(process.returncode, 0, errors.read())
            self.assertEqual(len(program.verdicts(reported)), CANDIDATES)
        return reported

    def limited_run(self, records, kilobytes):
        """The same with a limit on the size of files."""
        limit = kilobytes << 10

        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = program.run(*self.measure_words(records), preexec_fn=set_limit)
        self.assert_full(done)
        return program.objects(done.stdout)

    def assert_full(self, done):
        """The run succeeded or failed with an error message; it did not crash."""
        self.assertIn(done.returncode, (0, 2), done.stderr)
        if done.returncode == 2:
            self.assertRegex(done.stderr, r"tilewright: \S+")

    def check_store(self, records, reported):
        """Checks that all reported verdicts are in the store, and that none is measured again."""
        if not os.path.exists(records):
            self.assertEqual(program.verdicts(reported), [])
        again = program.run(*self.measure_words(records))
        self.assertEqual(again.returncode, 0, again.stderr)
        answers = {line["candidate"]: line for line in program.verdicts(program.objects(again.stdout))}
        self.assertEqual(len(answers), CANDIDATES)
        for line in program.verdicts(reported):
            if line["verdict"] == "device":  # not about the candidate, which may be measured again
                shown = program.run("records", "show", line["id"], "--records", records)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                continue
            answer = answers[line["candidate"]]
            self.assertTrue(answer["stored"], f"{line} was measured again")
            self.assertEqual(answer["id"], line["id"])
            self.assertEqual(answer["verdict"], line["verdict"])
        check = program.run("records", "check", "--records", records)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        third = program.objects(program.run(*self.measure_words(records)).stdout)
        self.assertEqual(program.member(third, "summary")["measured"], 0)

    def one_run(self, kind, rng):
        with tempfile.TemporaryDirectory() as folder:
            records = os.path.join(folder, "records.db")
            if kind == "disk":
                kilobytes = rng.randrange(120, 300)
                with small_disk(folder, kilobytes) as disk:
                    if disk is None:
                        reported = self.limited_run(records, kilobytes)
                    else:
                        full = program.run(*self.measure_words(disk / "records.db"))
                        self.assert_full(full)
                        reported = program.objects(full.stdout)
                        for name in os.listdir(disk):  # to a disk with free space
                            (pathlib.Path(folder) / name).write_bytes((disk / name).read_bytes())
            elif kind == "limit":
                reported = self.limited_run(records, rng.randrange(80, 240))
            else:
                reported = self.killed_run(records, kind, rng)
            self.check_store(records, reported)

    def test_deaths_lose_nothing(self):
        kinds = ["tuner", "tilewright-build-worker", "tilewright-run-worker", "disk", "limit"]
        for run in range(RUNS):
            kind = kinds[run % len(kinds)]
            with self.subTest(run=run, kind=kind):
                self.one_run(kind, random.Random(f"{SEED}/{run}"))


if __name__ == "__main__":
    unittest.main()
