"""Tests of workers, rounds and reports with a fake worker. Needs only Python. From bench/:

python3 -m unittest harness.harness_test
"""

import argparse
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

from harness import machine, peers, report
from harness.bars import Report
from harness.compare import Contestant, compare
from harness.rounds import alternate, quantile
from harness.worker import Worker, WorkerError, wait_for_rest

FAKE = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_worker.py")]


def fake(**spec):
    return Contestant(lambda: (FAKE, {}), {"name": "fake", "ns": 1000, **spec})


class WorkerTest(unittest.TestCase):
    def test_answers(self):
        with Worker("fake", FAKE) as worker:
            self.assertEqual(worker.prepare({"ns": 7, "ready": {"flop": 3}}), {"flop": 3})
            times = worker.slice(0.0)
            self.assertEqual((times.count, times.min_ns, times.p50_ns), (1, 7, 7))

    def test_failures_have_a_reason(self):
        for fail, slices, words in (
            ("slice", 2, "died with status 1: fake worker dies as told"),
            ("hang", 1, "no answer in 0.2 s"),
            ("babble", 1, "answered 'hello' where 'times' was due|not JSON"),
        ):
            with self.subTest(fail), Worker("fake", FAKE) as worker:
                worker.prepare({"ns": 1, "fail": fail})
                with self.assertRaisesRegex(WorkerError, words):
                    for _ in range(slices):
                        worker.slice(0.0, timeout_s=0.2 if fail == "hang" else 10)

    def test_refusal_and_missing_program(self):
        with Worker("fake", FAKE) as worker:
            with self.assertRaisesRegex(WorkerError, "told to refuse"):
                worker.prepare({"fail": "prepare"})
        with self.assertRaisesRegex(WorkerError, "cannot start"):
            Worker("none", ["/nonexistent/worker"])

    def test_spinning_is_detected(self):
        with Worker("fake", FAKE) as worker:
            worker.prepare({"ns": 1, "fail": "spin"})
            wait_for_rest([worker])
            worker.slice(0.0)
            with self.assertRaisesRegex(WorkerError, "still runs"):
                wait_for_rest([worker], timeout_s=0.05)

    def test_affinity(self):
        cpus = machine.choose_cpus(1)
        with Worker("fake", FAKE, cpus) as worker:
            worker.prepare({"ns": 1})
            self.assertEqual(os.sched_getaffinity(worker.pid), cpus)


class MachineTest(unittest.TestCase):
    STAT = "cpu  100 0 50 900 10 0 0 0 0 0\ncpu0 90 0 40 100 5 0 0 0 0 0\ncpu1 10 0 10 800 5 0 0 0 0 0\nintr 7\n"

    def test_only_processors_that_may_be_used_count(self):
        self.assertEqual(machine.busy_ticks(self.STAT, {1}), 20)
        self.assertEqual(machine.busy_ticks(self.STAT, {0, 1}), 150)
        self.assertEqual(machine.busy_ticks(self.STAT, {0, 7}), 150)  # not listed: all

    def test_cores_have_all_processors(self):
        self.assertEqual(sorted(cpu for core in machine.cores() for cpu in core), sorted(os.sched_getaffinity(0)))

    def test_named_machines_are_one(self):
        plain = machine.identity()
        with mock.patch("platform.node", lambda: "another"):
            self.assertNotEqual(machine.identity(), plain)
            with mock.patch.dict(os.environ, {"TILEWRIGHT_BENCH_MACHINE": "rented"}):
                named = machine.identity()
        with mock.patch.dict(os.environ, {"TILEWRIGHT_BENCH_MACHINE": "rented"}):
            self.assertEqual(machine.identity(), named)
            with mock.patch("harness.machine.describe", lambda: {"cpu": "another"}):
                self.assertNotEqual(machine.identity(), named)


class LaunchersTest(unittest.TestCase):
    def test_libraries_are_for_our_programs_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "bench"))
            built = os.path.join(folder, "onednn_worker")
            for path in (built, os.path.join(folder, "bench", "bench_worker")):
                with open(path, "w"):
                    pass
            settings = {"TILEWRIGHT_BENCH_LIBRARIES": "/libraries", "TILEWRIGHT_ONEDNN_WORKER": built}
            with mock.patch.dict(os.environ, settings):
                self.assertEqual(peers.ours(folder)[1], {"LD_LIBRARY_PATH": "/libraries"})
                command, environment = peers.onednn()
                self.assertEqual((command, environment["LD_LIBRARY_PATH"]), ([built], "/libraries"))
                self.assertEqual(environment["OMP_PROC_BIND"], "close")
                self.assertEqual(peers.environment()["LD_LIBRARY_PATH"], "/libraries")
                os.remove(built)
                with self.assertRaisesRegex(WorkerError, "oneDNN: no "):
                    peers.onednn()


class RoundsTest(unittest.TestCase):
    def test_quantile(self):
        for values, q, wanted in (
            ([1, 2, 3, 4, 5], 0.1, 1.4),
            ([5, 1, 3], 0.5, 3),
            ([4], 0.1, 4),
            ([1, 2], 1.0, 2),
        ):
            self.assertAlmostEqual(quantile(values, q), wanted)

    def test_slices_never_overlap_and_order_varies(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            names = ("a", "b", "c")
            entrants = {name: fake(name=name, log=log) for name in names}
            outcome = compare(entrants, 1, rounds=6, slice_s=0.001)
            with open(log) as file:
                events = [line.split() for line in file]
        self.assertEqual([len(outcome.series[name].slices_ns) for name in names], [6, 6, 6])
        for begin, end in zip(events[::2], events[1::2]):
            self.assertEqual((begin[0], begin[1], end[1]), (end[0], "begin", "end"))
        orders = {tuple(e[0] for e in events[i : i + 6 : 2]) for i in range(0, len(events), 6)}
        self.assertTrue(all(sorted(order) == list(names) for order in orders))
        self.assertGreater(len(orders), 1)

    def test_a_failure_is_reported_and_others_continue(self):
        def missing():
            raise WorkerError("not here")

        entrants = {
            "good": fake(ns=5, ready={"flop": 10}),
            "dies": fake(fail="slice"),
            "refuses": fake(fail="prepare"),
            "missing": Contestant(missing, {}),
        }
        series = compare(entrants, 1, rounds=4, slice_s=0.0).series
        self.assertEqual(list(series), list(entrants))
        self.assertEqual((series["good"].time_ns(), series["good"].ready), (5, {"flop": 10}))
        self.assertEqual(len(series["good"].slices_ns), 4)
        for name, words in (("dies", "died"), ("refuses", "refuse"), ("missing", "not here")):
            self.assertIn(words, series[name].failure)
            self.assertIsNone(series[name].time_ns())

    def test_too_many_threads(self):
        series = compare({"good": fake()}, 1 << 20, rounds=1, slice_s=0.0).series
        self.assertIn("processors", series["good"].failure)

    def test_no_worker(self):
        self.assertEqual(alternate({}, 3, 0.0), {})


class ReportTest(unittest.TestCase):
    def test_numbers(self):
        for value, text in ((1234.5, "1234"), (12.345, "12.3"), (1.2345, "1.23"), (None, "–")):
            self.assertEqual(report.number(value), text)

    def test_durations(self):
        for value, text in ((85, "85 ns"), (412_300, "412.3 us"), (1_234_000, "1.234 ms"), (2.5e9, "2.5 s"), (None, "–")):
            self.assertEqual(report.duration(value), text)

    def test_table(self):
        text = report.table(["a", "bb"], [["xyz", "1"]])
        self.assertEqual(text, "a    bb\n---  --\nxyz   1")

    def test_rows_without_a_value_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            row = {"name": "GMM3/2t", "metric": "peak_share", "value": 0.9}
            report.write_rows(path, [row, {**row, "value": None}])
            with open(path) as file:
                self.assertEqual(json.load(file), [row])

    def test_rows_state_processor_and_threads(self):
        cpu = machine.describe()["cpu"]
        rows = [{"name": "a", "metric": "b", "value": 1}, {"name": "a", "metric": "c", "value": 1, "threads": 1}]
        self.assertEqual([(row["cpu"], row["threads"]) for row in report.stated(rows, 16)], [(cpu, 16), (cpu, 1)])
        with tempfile.TemporaryDirectory() as folder:
            out, options = Report(threads=16), argparse.Namespace(check=False)
            options.json = os.path.join(folder, "rows.json")
            out.row("resnet50.16t", "ms", 3.0)
            self.assertEqual(out.finish(options), 0)
            row = report.read_rows(options.json)[-1]
            self.assertEqual((row["name"], row["cpu"], row["threads"]), ("resnet50.16t", cpu, 16))

    def test_processes_store_results_in_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = (report.Kept(folder, "models") for _ in range(2))
            first.put("a", "key", 1)
            second.put("b", "key", 2)
            self.assertEqual([report.Kept(folder, "models").get(name, "key") for name in "ab"], [1, 2])
            self.assertEqual(second.get("a", "key"), 1)

    def test_kept_results_need_the_same_key(self):
        with tempfile.TemporaryDirectory() as folder:
            report.Kept(folder, "kernels").put("GMM3/2t", "key", {"x": 1})
            kept = report.Kept(folder, "kernels")
            self.assertEqual(kept.get("GMM3/2t", "key"), {"x": 1})
            self.assertIsNone(kept.get("GMM3/2t", "other"))
            self.assertIsNone(kept.get("GMM2/2t", "key"))
            self.assertEqual(os.listdir(folder), [f"kernels.{machine.identity()}.json"])


if __name__ == "__main__":
    unittest.main()
