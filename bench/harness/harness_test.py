"""Tests of the benches' harness with a fake worker; needs nothing but Python. Run from bench/:

python3 -m unittest harness.harness_test
"""

import array
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

import kernels
from harness import machine, report, suite
from harness.compare import Contestant, Outcome, compare
from harness.kernel_result import Case, notes, result_of, verdict
from harness.rounds import Series, alternate, quantile
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

    def test_failures_say_why(self):
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

    def test_spinning_is_seen(self):
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

    def test_one_that_fails_is_reported_and_the_others_go_on(self):
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


class SuiteTest(unittest.TestCase):
    def setUp(self):
        self.suite = suite.load()

    def test_specs(self):
        for name, spec in (
            ("GMM3", "matmul:m=1024,n=1024,k=1024"),
            ("SFM2", "softmax:m=1024,n=1024"),
            (
                "C2D2",
                "conv2d:n=1,h=14,w=14,ci=256,co=256,kernel=3,stride=1,pad=1,dilation=1,groups=1",
            ),
        ):
            self.assertEqual(self.suite[name].spec(), spec)

    def test_shapes_agree_with_the_flop_of_the_suite(self):
        for workload in self.suite.values():
            try:
                shapes = workload.shapes()
            except suite.Unsupported:
                continue
            elements = {name: 1 for name in shapes}
            for name, shape in shapes.items():
                for extent in shape:
                    elements[name] *= extent
            if "C" in shapes:
                wanted = 2 * elements["C"] * workload.params["k"]
            elif "W" in shapes:
                wanted = 2 * elements["Y"] * elements["W"] // workload.params["co"]
            else:
                continue
            self.assertEqual(workload.flop, wanted, workload.name)

    def test_constants(self):
        self.assertEqual(self.suite["GMM3"].constants(), [])
        self.assertEqual(self.suite["C2D2"].constants(), ["W"])
        self.assertEqual(self.suite["MM.16x4096x4096"].constants(), ["B"])

    def test_inputs_are_reproducible_and_errors_are_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            suite.write_inputs(self.suite["GMM0"], folder)
            first = suite.read_floats(os.path.join(folder, "A.bin"))
            suite.write_inputs(self.suite["GMM0"], folder)
            self.assertEqual(first, suite.read_floats(os.path.join(folder, "A.bin")))
            self.assertEqual(len(first), 128 * 128)

            def error(got, wanted):
                paths = [os.path.join(folder, name) for name in ("got", "wanted")]
                for path, values in zip(paths, (got, wanted)):
                    with open(path, "wb") as file:
                        array.array("f", values).tofile(file)
                return suite.relative_error(*paths)

            self.assertEqual(error([1, 2], [1, 2]), 0)
            self.assertEqual(error([1, 3], [1, 4]), 0.25)
            for bad in ([1], [1, float("nan")], []):
                self.assertEqual(error(bad, [1, 2]), float("inf"))


class KernelsTest(unittest.TestCase):
    def setUp(self):
        self.suite = suite.load()

    def outcome(self, **times):
        ready = {"peak": {"flop": 1000}, "memcpy": {"bytes": 2}, "vector": {"bytes": 2}}
        return Outcome({n: Series([t] * 3, ready.get(n, {})) for n, t in times.items()})

    def test_share_of_peak(self):
        gmm = self.suite["GMM2"]
        outcome = self.outcome(
            ours=gmm.flop / 9, peak=100, onednn=gmm.flop / 6, onnxruntime=gmm.flop / 3
        )
        result = result_of(Case("GMM2", 2, 0.85), gmm, outcome, {"ours": 1e-7})
        self.assertAlmostEqual(result.metrics["peak_share"], 0.9)
        self.assertAlmostEqual(result.metrics["gflops"], 9)
        self.assertAlmostEqual(result.metrics["vs_onednn"], 1.5)
        self.assertAlmostEqual(result.metrics["vs_onnxruntime"], 3)
        self.assertAlmostEqual(result.metrics["vs_best_peer"], 1.5)
        self.assertEqual(verdict(result), "reached")
        wrong = result_of(Case("GMM2", 2, 0.85), gmm, outcome, {"ours": 1e-3})
        self.assertEqual(verdict(wrong), "WRONG")

    def test_share_of_the_faster_copy(self):
        sfm = self.suite["SFM2"]
        outcome = self.outcome(ours=sfm.bytes_moved() / 5, memcpy=0.2, vector=0.25)
        result = result_of(Case("SFM2", 2, 0.7), sfm, outcome, {"ours": 0.0})
        self.assertAlmostEqual(result.metrics["bandwidth_share"], 0.5)
        self.assertEqual(verdict(result), "short")

    def test_without_a_reference_nothing_is_reached(self):
        gmm = self.suite["GMM2"]
        outcome = self.outcome(ours=gmm.flop / 9, peak=100)
        result = result_of(Case("GMM2", 2, 0.85), gmm, outcome, {})
        self.assertFalse(result.wrong)
        self.assertEqual(verdict(result), "unchecked")

    def test_absent_peers_stay_in_sight(self):
        outcome = self.outcome(ours=1, peak=1)
        outcome.series["onednn"] = Series(failure="not in .venv")
        result = result_of(Case("GMM2"), self.suite["GMM2"], outcome, {})
        self.assertIsNone(result.metrics["vs_onednn"])
        self.assertIn("– oneDNN: not in .venv: GMM2/2t", notes([result]))

    def test_choice_of_cases(self):
        def choose(*names, full=False):
            return [case.name for case in kernels.choose_cases(names, full, self.suite)]

        self.assertEqual(choose(), [case.name for case in kernels.CASES])
        self.assertEqual(choose("GMM3"), ["GMM3/1t", "GMM3/2t"])
        self.assertEqual(choose("GMM2/1t", "GMM0"), ["GMM2/1t", "GMM0/2t"])
        everything = choose(full=True)
        self.assertEqual(len(everything), len(set(everything)))
        self.assertIn("C2D0/2t", everything)
        for name in ("NONE9", "GMM3/two", "CAP0"):
            with self.assertRaises(suite.Unsupported):
                choose(name)

    def test_good_results_are_kept_and_others_measured_again(self):
        whole = self.outcome(ours=1, peak=1, onednn=1, onnxruntime=1)
        busy = Outcome(whole.series, other_cpus=1.0)
        failed = Outcome({**whole.series, "onednn": Series(failure="gone")})
        right = {"ours": 0.0}
        for label, outcome, errors, arguments, kept_next in (
            ("good", whole, right, [], True),
            ("asked for anew", whole, right, ["--fresh"], False),
            ("busy machine", busy, right, [], False),
            ("peer failed", failed, right, [], False),
            ("wrong", whole, {"ours": 1.0}, [], False),
            ("unchecked", whole, {}, [], False),
            ("few rounds", whole, right, ["--rounds", "3"], False),
        ):
            with self.subTest(label), tempfile.TemporaryDirectory() as folder:
                answer = (outcome, errors)
                options = kernels.parse(["--build", folder, *arguments])
                with mock.patch.object(kernels, "measure", return_value=answer) as measure:
                    for expected in (False, kept_next):
                        kept = report.Kept(folder, "kernels")
                        case = Case("GMM2")
                        result = kernels.run_case(case, self.suite["GMM2"], options, kept)
                        self.assertEqual(result.kept, expected)
                    self.assertEqual(measure.call_count, 1 if kept_next else 2)
                    self.assertEqual(result.metrics["vs_onnxruntime"], 1.0)

    def test_trace_by_thread_count(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("X.trace", "X.1t.trace"):
                open(os.path.join(folder, name), "w").close()
            found = [kernels.trace_path(Case("X", threads), folder) for threads in (1, 2)]
            self.assertEqual([os.path.basename(p) for p in found], ["X.1t.trace", "X.trace"])
            self.assertIsNone(kernels.trace_path(Case("Y"), folder))


class ReportTest(unittest.TestCase):
    def test_numbers(self):
        for value, text in ((1234.5, "1234"), (12.345, "12.3"), (1.2345, "1.23"), (None, "–")):
            self.assertEqual(report.number(value), text)

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
