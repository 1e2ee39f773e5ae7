"""Tests of `bench search`: selection, stored results, comparisons, verdicts. Needs only Python. Run from
bench/:

python3 -m unittest harness.search_test
"""

import contextlib
import io
import json
import os
import shutil
import tempfile
import unittest
from unittest import mock

import search
from harness import report, search_random, search_suite, suite, versus
from harness.cases import load_workloads
from harness.compare import Outcome
from harness.rounds import Series
from harness.search_suite import Line, Matches, choose, request_of
from harness.tuned import Request, Tuner, TuneError, best_so_far, parse_output, trials_to_reach
from harness.versus import Match, match_from_json

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = load_workloads()


def match_of(workload=WORKLOADS["C2D2"], wrong=(), **times):
    ready = {"peak": {"flop": 2 * workload.flop}}
    series = {name: Series([t] * 3, ready.get(name, {})) for name, t in times.items()}
    errors = {name: 1.0 if name in wrong else 0.0 for name in times}
    return Match(workload, ("tuned",), Outcome(series), errors)


class ChoiceTest(unittest.TestCase):
    def names(self, full=False, only=()):
        return [w.name for w in choose(full, only, WORKLOADS)]

    def test_one_of_each_class(self):
        names = self.names()
        self.assertEqual(len(names), 14)
        self.assertEqual({name[:3] for name in names}, set(search_suite.classes()))
        for name in ("C2D2", "DEP0", "TBG0", "TBS0", "NRM2"):
            self.assertIn(name, names)

    def test_all(self):
        names = self.names(full=True)
        self.assertEqual((len(names), len(set(names))), (56, 56))
        self.assertFalse(any(name.startswith("MM.") for name in names))

    def test_short_calls_are_batched(self):
        lines = [
            Line(WORKLOADS["C2D2"], None, match_of(tuned=18.7e6)),
            Line(WORKLOADS["GMM2"], None, match_of(tuned=18.8e6)),
            Line(WORKLOADS["SFM2"], problem="no time"),
            Line(WORKLOADS["DEP0"].batched(16), None, match_of(tuned=1.0)),
        ]
        self.assertEqual([w.name for w in search_suite.batches_of(lines)], ["C2D2.b16"])

    def test_by_name(self):
        self.assertEqual(self.names(only=["GMM3", "C2D2.b4"]), ["GMM3", "C2D2.b4"])
        for name in ("NONE", "C2D2.bx", "NONE.b2"):
            with self.assertRaises(suite.Unsupported):
                self.names(only=[name])

    def test_batches(self):
        for name, key in (("C2D2", "n"), ("GMM2", "b"), ("SFM2", "m"), ("NRM2", "b"), ("TBG0", "b")):
            one, many = WORKLOADS[name], WORKLOADS[name].batched(16)
            self.assertEqual(many.params[key], 16 * one.params[key], name)
            self.assertEqual(many.flop, 16 * one.flop)
            self.assertEqual(many.name, f"{name}.b16")
        self.assertEqual(
            WORKLOADS["GMM2"].batched(16).spec(),
            "batch_matmul:b=16,m=512,n=512,k=512,constant=none",
        )
        self.assertEqual(len(WORKLOADS["GMM2"].batched(16).shapes()["A"]), 3)


class SequenceTest(unittest.TestCase):
    def test_best_so_far(self):
        self.assertEqual(best_so_far([None, 3, 5, 2, None]), [None, 3, 3, 2, 2])
        self.assertEqual(best_so_far([]), [])

    def test_trials_to_reach(self):
        self.assertEqual(trials_to_reach([9, None, 4, 3], 4), 3)
        self.assertEqual(trials_to_reach([9], 9), 1)
        self.assertIsNone(trials_to_reach([9, None], 8))

    def test_medians_with_missing_values(self):
        inf = float("inf")
        self.assertEqual(search_random.middle([10, None, 20], inf), 20)
        self.assertIsNone(search_random.middle([10, None, None], inf))

    def test_geometric_mean(self):
        self.assertAlmostEqual(report.geometric_mean([1, 4]), 2)
        for bad in ([], [1, None], [0, 1]):
            self.assertIsNone(report.geometric_mean(bad))


class MatchTest(unittest.TestCase):
    def test_ratios(self):
        match = match_of(tuned=100, onednn=150, onnxruntime=120, peak=100)
        self.assertEqual(match.best_peer(), "onnxruntime")
        self.assertAlmostEqual(Line(match.workload, None, match).ratio, 1.2)
        self.assertAlmostEqual(match.share("tuned"), 0.5)
        self.assertIsNone(match.ratio("tuned", None))

    def test_a_wrong_peer_does_not_count_and_a_wrong_kernel_has_no_ratio(self):
        match = match_of(tuned=100, onednn=150, onnxruntime=120, wrong=("onnxruntime",))
        self.assertEqual(match.best_peer(), "onednn")
        match = match_of(tuned=100, onednn=150, wrong=("tuned",))
        self.assertIsNone(Line(match.workload, None, match).ratio)

    def test_kept_form(self):
        match = match_of(tuned=100, onednn=150)
        again = match_from_json(match.workload, json.loads(json.dumps(match.to_json())))
        self.assertEqual(again, match)

    def test_the_minority_result_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, value in (("tuned", 2), ("onednn", 1), ("openvino", 1), ("onnxruntime", 1)):
                versus.data.write_floats(os.path.join(folder, name + ".out"), [value, 4])
            outcome = match_of(tuned=1, onednn=1, openvino=1, onnxruntime=1).outcome
            errors = versus.errors_of(("tuned", *versus.PEERS), outcome, folder)
        self.assertGreater(errors["tuned"], versus.MAX_RELATIVE_ERROR)
        self.assertEqual({errors[peer] for peer in versus.PEERS}, {0.0})


class Fixture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        shutil.copy(os.path.join(HERE, "fake_tune.py"), os.path.join(self.folder, "tilewright"))
        self.tell({"latencies": [9.0, None, 4.0, 5.0], "trace": "split"})
        # Results are stored only if the machine is idle otherwise; here it always is.
        quiet = mock.patch("harness.tuned.OtherWork.cpus", lambda _: 0.0)
        quiet.start()
        self.addCleanup(quiet.stop)
        self.kept = report.Kept(self.folder, "search")

    def tell(self, answer):
        patch = mock.patch.dict(os.environ, {"FAKE_TUNE": json.dumps(answer)})
        patch.start()
        self.addCleanup(patch.stop)

    def tuner(self, **options):
        return Tuner(os.path.join(self.folder, "stores"), self.folder, self.kept, **options)


class TunerTest(Fixture):
    def test_a_run(self):
        tuned = self.tuner().run(Request("a", ("X", "Y"), 4, seconds=3, flags=("--cost", "none")))
        self.assertEqual(tuned.winner(1), "split")
        self.assertEqual(tuned.latencies_ns(), [None, 4.0, 5.0])
        self.assertEqual(tuned.found(1), "split")
        self.assertEqual(tuned.last_quality(), {"top5": 0.9})
        self.assertFalse(tuned.kept)
        with open(tuned.store) as file:
            words = file.read()
        self.assertIn("X Y --json", words)
        self.assertIn("--trials 4 --threads 2 --cost none --seconds 3", words)

    def test_results_are_kept_per_build(self):
        request = Request("a", ("X",), 4)
        self.tuner().run(request)
        self.tell({"latencies": [1.0, 1.0], "trace": "other"})
        self.assertEqual(self.tuner().run(request).winner(), "split")
        self.assertTrue(self.tuner().run(request).kept)
        self.assertEqual(self.tuner().run(Request("a", ("X",), 5)).winner(), "other")
        with open(os.path.join(self.folder, "tilewright"), "a") as file:
            file.write("# another build\n")
        self.assertTrue(self.tuner(any_build=True).run(request).kept)
        self.assertFalse(self.tuner().run(request).kept)
        self.assertFalse(self.tuner(fresh=True).run(request).kept)

    def test_disturbed_results_are_not_kept(self):
        with mock.patch("harness.tuned.OtherWork.cpus", lambda _: 1.0):
            self.assertFalse(self.tuner().run(Request("a", ("X",), 4)).trustworthy)
        self.assertFalse(self.tuner().run(Request("a", ("X",), 4)).kept)

    def test_the_default_schedule_is_not_what_a_search_found(self):
        self.tell({"latencies": [2.0, 7.0, None, 4.0], "trace": "proposed"})
        tuned = self.tuner().run(Request("a", ("X",), 4))
        self.assertEqual(tuned.found(), "proposed")
        self.assertEqual(best_so_far(tuned.latencies_ns())[-1], 4.0)
        self.tell({"latencies": [2.0, None], "trace": "none"})
        self.assertIsNone(self.tuner().run(Request("b", ("X",), 2)).found())

    def test_failures_have_a_reason(self):
        self.tell({"exit": 1})
        with self.assertRaisesRegex(TuneError, "fake tune fails as told"):
            self.tuner().run(Request("a", ("X",), 4))
        for lines, words in ((["no"], "not JSON"), ([], "without a result")):
            with self.assertRaisesRegex(TuneError, words):
                parse_output(lines)


class PartsTest(Fixture):
    """Whole parts with a fake tuner and made-up matches."""

    def run_main(self, *arguments, times):
        def play(workload, traces, *_):
            names = [*traces, "peak", *versus.PEERS]
            chosen = {name: times.get(name, 100) for name in names}
            return match_of(workload, **chosen)

        text = io.StringIO()
        with (
            mock.patch("harness.versus.play", play),
            mock.patch("search.peers.BUILD", self.folder),
            contextlib.redirect_stdout(text),
        ):
            path = os.path.join(self.folder, "rows.json")
            code = search.main([*arguments, "--build", self.folder, "--json", path, "--check"])
        found = {(r["name"], r["metric"]): r["value"] for r in report.read_rows(path)}
        return code, text.getvalue(), found

    def test_suite(self):
        arguments = ("--part", "2", "--no-metaschedule")
        code, text, rows = self.run_main(*arguments, times={"tuned": 50, "onednn": 75})
        self.assertEqual(code, 0, text)
        self.assertAlmostEqual(rows["C2D2", "vs_best_peer"], 1.5)
        self.assertAlmostEqual(rows["compute.b1", "vs_best"], 1.5)
        self.assertIn("floor", {name for name, _ in rows})
        self.kept = report.Kept(self.folder, "search")
        code, text, _ = self.run_main(*arguments, "--fresh", times={"tuned": 90, "onednn": 75})
        self.assertEqual(code, 1)
        self.assertEqual(text.count("NOT REACHED"), 4)

    def test_all_of_the_suite_with_batches(self):
        arguments = ("--part", "2", "--no-metaschedule", "--full")
        code, text, rows = self.run_main(*arguments, times={"tuned": 50, "onednn": 75})
        self.assertEqual(code, 0, text)
        self.assertEqual(sum(name.endswith(".b16") for name, metric in rows if metric == "gflops"), 56)
        self.assertAlmostEqual(rows["compute.b16", "vs_onednn"], 1.5)
        _, _, rows = self.run_main(*arguments, "--fresh", times={"tuned": 2e7, "onednn": 2e7})
        self.assertEqual(sum(name.endswith(".b16") for name, _ in rows), 0)

    def test_stored_results_are_shown_without_measuring(self):
        arguments = ("--part", "2", "--no-metaschedule", "--only", "C2D2", "--batch")
        code, text, rows = self.run_main(*arguments, "--stored", times={})
        self.assertEqual(code, 1)
        self.assertIn("C2D2: no stored result", text)
        self.assertEqual(rows["C2D2", "quiet"], 0)
        self.run_main(*arguments, times={"tuned": 50})
        with mock.patch("harness.tuned.Tuner._tune") as tune:
            _, text, rows = self.run_main(*arguments, "--stored", times={"tuned": 70})
            tune.assert_not_called()
        self.assertEqual((rows["C2D2", "quiet"], rows["C2D2.b16", "quiet"]), (1, 1))
        self.assertAlmostEqual(rows["C2D2", "vs_best_peer"], 2.0)

    def test_disturbed_results_reach_no_bar(self):
        with mock.patch("harness.tuned.OtherWork.cpus", lambda _: 1.0):
            code, text, _ = self.run_main(
                "--part", "2", "--no-metaschedule", "--only", "C2D2", times={"tuned": 50}
            )
        self.assertEqual(code, 1)
        self.assertIn("no result: other processes were running", text)
        self.assertNotIn("  reached", text)

    def test_by_hand(self):
        code, text, rows = self.run_main("--part", "3", times={"tuned": 100, "hand": 98, "peak": 180})
        self.assertEqual(code, 0, text)
        self.assertAlmostEqual(rows["GMM2", "vs_hand"], 0.98)
        code, text, _ = self.run_main("--part", "3", "--fresh", times={"tuned": 100, "hand": 90})
        self.assertEqual(code, 1)

    def test_random_and_ablations(self):
        docs = os.path.join(self.folder, "ablation.md")
        times = {"search": 50, "random": 60, "whole": 50, "turns": 100, "scheduler": 80}
        code, text, rows = self.run_main(
            "--part", "4", "--only", "C2D2,GMM2", "--write-docs", docs, times=times
        )
        self.assertEqual(code, 0, text)
        self.assertEqual(rows["C2D2", "trials_to_random_best"], 2)
        self.assertAlmostEqual(rows["C2D2", "gain_over_random"], 1.2)
        self.assertAlmostEqual(rows["without: no packing", "speed_vs_whole"], 0.5)
        self.assertAlmostEqual(rows["without: no scheduler", "speed_vs_whole"], 0.8)
        with open(docs) as file:
            self.assertIn("| no packing | 0.50 |", file.read())

    def test_absent_tests_are_not_passed(self):
        code, text, _ = self.run_main("--part", "5", times={})
        self.assertEqual(code, 1)
        self.assertIn("not built", text)

    def test_matches_are_kept_by_their_schedules(self):
        options = search.parse(["--build", self.folder])
        matches, played = Matches(options, self.kept), []

        def play(workload, traces, *_):
            played.append(traces)
            return match_of(workload, tuned=1)

        with mock.patch("harness.versus.play", play):
            for trace in ("a", "a", "b"):
                matches.play("x", WORKLOADS["C2D2"], {"tuned": trace}, False)
        self.assertEqual([p["tuned"] for p in played], ["a", "b"])

    def test_requests(self):
        request = request_of(WORKLOADS["GMM2"], 2)
        self.assertEqual((request.trials, request.seconds, request.seed), (200, 60.0, 2))
        self.assertEqual(request.what, ("matmul:m=512,n=512,k=512,constant=none",))


if __name__ == "__main__":
    unittest.main()
