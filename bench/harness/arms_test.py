"""Tests of `bench elsewhere`: arms, their ledger and the pack. Needs only Python. Run from bench/:

python3 -m unittest harness.arms_test
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import elsewhere
from harness import arms, pack, report
from harness.arms import Arm

HERE = os.path.dirname(os.path.abspath(__file__))
# Writes its processors and a row `quiet`.
ARM = """
import json, os, sys
with open(sys.argv[1], "w") as file:
    json.dump([{"name": "x", "metric": "quiet", "value": int(sys.argv[2])}], file)
print(sorted(os.sched_getaffinity(0)))
"""
# Runs one arm that starts a process; prints the process ids of both.
ENDLESS = """
import sys, time
sys.path.insert(0, sys.argv[1])
import signal
from harness import arms
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
ledger = arms.Ledger(sys.argv[2] + "/arms.json", "build")
command = ("bash", "-c", "sleep 1000 & echo $$ $! > " + sys.argv[2] + "/started; wait")
runner = arms.Runner(ledger, [sorted(__import__("os").sched_getaffinity(0))[:1]], time.monotonic() + 1000, sys.argv[2])
runner.run([arms.Arm("endless", command)])
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)


class ArmsTest(Folder):
    def arm(self, name, quiet=1):
        rows = self.path(name + ".json")
        return Arm(name, (sys.executable, "-c", ARM, rows, str(quiet)), rows)

    def runner(self, ledger, seconds=1000.0, slots=None):
        self.said = []
        slots = slots or [sorted(os.sched_getaffinity(0))[:1]]
        return arms.Runner(ledger, slots, time.monotonic() + seconds, self.path("logs"), say=self.said.append)

    def ledger(self, build="build"):
        return arms.Ledger(self.path("arms.json"), build)

    def test_slots_have_a_processor_of_each_core(self):
        cores = [[0, 8], [1, 9], [2, 10], [3, 11], [4, 12]]
        self.assertEqual(arms.slots_of(cores, 2), [[0, 8, 1, 9], [2, 10, 3, 11]])
        self.assertEqual(arms.slots_of(cores, 2, 1), [[0, 8, 1, 9]])
        self.assertEqual(arms.slots_of([[0, 1]], 2), [[0, 1]])
        self.assertEqual(arms.slots_of([[0]], 2), [])
        # Results are those of a number of processors.
        self.assertEqual(arms.slots_of([[0, 4], [1, 5], [2], [3]], 2), [[0, 4, 1, 5]])

    def test_a_later_call_continues(self):
        first, second = self.arm("first"), self.arm("second")
        self.runner(self.ledger()).run([first])
        ledger = self.ledger()
        self.assertTrue(ledger.done(first))
        self.assertEqual(ledger.waiting([first, second]), [second])
        cpu = sorted(os.sched_getaffinity(0))[0]
        with open(self.path("logs", "first.log")) as log:
            self.assertEqual(log.read(), f"[{cpu}]\n")
        # Not of another build, and not of another command.
        self.assertFalse(self.ledger("other").done(first))
        self.assertFalse(ledger.done(Arm("first", ("true",), first.rows)))

    def test_an_arm_without_results_is_retried_then_dropped(self):
        busy, failing = self.arm("busy", quiet=0), Arm("failing", ("false",), self.path("none.json"))
        for number in range(arms.MAX_RUNS):
            self.assertEqual(self.ledger().waiting([busy, failing]), [busy, failing], number)
            self.runner(self.ledger()).run([busy, failing])
        ledger = self.ledger()
        self.assertEqual(ledger.waiting([busy, failing]), [])
        self.assertTrue(ledger.given_up(busy) and ledger.given_up(failing))
        self.assertIn("exit status 1", self.said[-1])

    def test_every_figure_must_be_stored(self):
        arm = self.arm("x")
        for values, complete in (((1, 1), True), ((1, 0), False), ((), False)):
            rows = [{"name": f"x{k}", "metric": "quiet", "value": value} for k, value in enumerate(values)]
            report.write_rows(arm.rows, rows)
            self.assertEqual(arms.is_complete(arm), complete, values)

    def test_the_time_limit_interrupts(self):
        least, arms.MIN_LEFT_S = arms.MIN_LEFT_S, 0.0
        self.addCleanup(setattr, arms, "MIN_LEFT_S", least)
        slow = Arm("slow", ("sleep", "1000"), self.path("slow.json"))
        ledger = self.ledger()
        self.runner(ledger, seconds=0.3).run([slow])
        self.assertEqual(self.said, ["slow: interrupted by the time limit"])
        self.assertEqual(ledger.waiting([slow]), [slow])
        self.assertEqual(ledger.entry(slow)["runs"], 1)
        for _ in range(1, arms.MAX_RUNS):
            self.runner(ledger, seconds=0.3).run([slow])
        self.assertTrue(ledger.given_up(slow))

    def test_an_arm_that_began_late_counts_no_run(self):
        least, arms.MIN_LEFT_S = arms.MIN_LEFT_S, 0.0
        self.addCleanup(setattr, arms, "MIN_LEFT_S", least)
        first, late = (Arm(name, ("sleep", s), self.path(name)) for name, s in (("first", "2"), ("late", "1000")))
        ledger = self.ledger()
        self.runner(ledger, seconds=3.0).run([first, late])
        self.assertEqual((ledger.entry(first)["runs"], ledger.entry(late)["runs"]), (1, 0))

    def test_rows_state_the_arms_on_other_processors(self):
        arm, ledger = self.arm("x"), self.ledger()
        cpu = sorted(os.sched_getaffinity(0))[:1]
        self.runner(ledger, slots=[cpu, cpu, cpu]).run([arm])
        self.assertEqual((ledger.neighbors([arm]), ledger.neighbors([self.arm("y")])), (2, 0))
        with mock.patch.dict(os.environ, {"TILEWRIGHT_BENCH_NEIGHBORS": "2"}):
            self.assertEqual(report.stated([{"name": "x"}])[0]["neighbors"], 2)
        self.assertNotIn("neighbors", report.stated([{"name": "x"}])[0])

    def test_a_signal_ends_the_arms(self):
        for number, status in ((signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)):
            started = self.path("started")
            command = [sys.executable, "-c", ENDLESS, os.path.dirname(HERE), self.folder]
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            text = ""
            while not text.endswith("\n"):
                time.sleep(0.02)
                if os.path.exists(started):
                    with open(started) as file:
                        text = file.read()
            os.remove(started)
            process.send_signal(number)
            self.assertEqual(process.wait(60), status)
            for pid in map(int, text.split()):
                self.assertFalse(is_running(pid), pid)
        self.assertEqual(self.ledger().entry(Arm("endless", ()))["runs"], 0)

    def test_an_archive_has_everything_but_libraries(self):
        for name in ("rows/a.json", "models/a.so", "models/a.onnx", "models/a.db"):
            os.makedirs(os.path.dirname(self.path("state", name)), exist_ok=True)
            with open(self.path("state", name), "w") as file:
                file.write(name)
        arms.archive(self.path("state"), self.path("state.tar.gz"))
        arms.restore(self.path("state.tar.gz"), self.path("again"))
        found = [file for _, _, files in os.walk(self.path("again")) for file in files]
        self.assertEqual(sorted(found), ["a.db", "a.json"])


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class SelectionTest(Folder):
    def chosen(self, *words):
        fixed = ["--pack", self.folder, "--state", self.path("state")]
        options = elsewhere.parse(["run", *fixed, *words])
        return [elsewhere.What(word, options) for word in options.what]

    def test_full_selects_all_models_of_the_pack(self):
        os.makedirs(self.path("models"))
        for name in ("b", "a", "resnet50"):
            open(self.path("models", name + ".stripped.onnx"), "w").close()
        (some,) = self.chosen("models")
        self.assertEqual(len(some.arms()), 10)
        self.assertNotIn("--full", some.table())
        (everything,) = self.chosen("models", "--full")
        self.assertEqual([arm.name for arm in everything.arms()], ["models/a.2t", "models/b.2t", "models/resnet50.2t"])
        self.assertIn("--full", everything.table())
        (one,) = self.chosen("models:b", "--full")
        self.assertEqual([arm.name for arm in one.arms()], ["models/b.2t"])
        self.assertNotIn("--full", one.table())
        for arm in everything.arms():
            self.assertNotIn("--full", arm.command)


class PackTest(Folder):
    def parts(self, name, content, part_bytes=64):
        os.makedirs(self.path(name))
        with open(self.path(name, "file"), "wb") as file:
            file.write(content)
        return [os.path.dirname(p) for p in pack.write_parts(self.path(name), self.path(name + ".out"), part_bytes)]

    def test_parts_may_come_in_any_order(self):
        content = os.urandom(300)
        folders = self.parts("a", content)
        self.assertGreater(len(folders), 4)
        self.assertEqual(pack.unpack(folders[2:], self.path("into")), [1, 2])
        self.assertFalse(os.path.exists(self.path("into", "file")))
        self.assertEqual(pack.unpack(folders[:2], self.path("into")), [])
        with open(self.path("into", "file"), "rb") as file:
            self.assertEqual(file.read(), content)

    def test_parts_of_two_packs_are_not_mixed(self):
        first, second = (self.parts(name, os.urandom(300), part_bytes=400) for name in "ab")
        self.assertEqual(len(first), len(second))
        pack.unpack(first, self.path("into"))
        with self.assertRaisesRegex(pack.PackError, "parts of 2 packs: delete "):
            pack.unpack(second[:1], self.path("into"))

    def test_invalid_packs_are_named(self):
        with self.assertRaisesRegex(pack.PackError, "no parts of a pack"):
            pack.unpack([], self.path("into"))
        folders = self.parts("a", os.urandom(300))
        (part,) = os.listdir(folders[1])
        with open(os.path.join(folders[1], part), "wb") as file:
            file.write(bytes(64))
        with self.assertRaisesRegex(pack.PackError, "a part is damaged"):
            pack.unpack(folders, self.path("into"))


if __name__ == "__main__":
    unittest.main()
