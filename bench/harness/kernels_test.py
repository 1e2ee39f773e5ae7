"""Tests of `bench kernels`: cases, bars, verdicts, stored results. Needs only Python. Run from bench/:

python3 -m unittest harness.kernels_test
"""

import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

import kernels
from harness import report, suite
from harness.cases import CASES, PRIME, Bar, Case, choose_cases, load_workloads, trace_path
from harness.compare import Outcome
from harness.kernel_result import notes, result_of, rows_of, table_row, verdict
from harness.limits import probes_of
from harness.rounds import Series

READY = {
    "peak": {"flop": 1000},
    "memcpy": {"bytes": 2},
    "vector": {"bytes": 2},
    "sum": {"bytes": 2},
}


def outcome_of(**times):
    return Outcome({n: Series([t] * 3, READY.get(n, {})) for n, t in times.items()})


class CasesTest(unittest.TestCase):
    def setUp(self):
        self.workloads = load_workloads()

    def choose(self, *names, full=False):
        return [case.name for case in choose_cases(names, full, self.workloads)]

    def test_choice(self):
        self.assertEqual(self.choose(), [case.name for case in CASES])
        self.assertEqual(self.choose("GMM3"), ["GMM3/1t", "GMM3/2t"])
        self.assertEqual(self.choose("GMM2/1t", "GMM0"), ["GMM2/1t", "GMM0/2t"])
        self.assertEqual(self.choose("CAP0", "CAP0"), ["CAP0/2t"])

    def test_the_whole_suite(self):
        everything = self.choose(full=True)
        self.assertEqual(len(everything), len(set(everything)))
        operators = {self.workloads[name.partition("/")[0]].op for name in everything}
        self.assertEqual(operators, set(suite.OPERANDS) - {suite.FLOOR.op})
        self.assertNotIn("MM.8192x8192x8192/2t", everything)

    def test_references_of_a_bar_are_selected_too(self):
        self.assertEqual(self.choose(PRIME.name), ["GMM2/2t", f"{PRIME.name}/2t"])
        self.assertEqual(self.choose("GMM2", PRIME.name), ["GMM2/2t", f"{PRIME.name}/2t"])
        names = [case.name for case in CASES]
        self.assertTrue(all(case.bar.of in names for case in CASES if case.bar.of))

    def test_unknown_names(self):
        for name in ("NONE9", "GMM3/two", "GMM3/", "GMM3/0t"):
            with self.assertRaisesRegex(suite.Unsupported, f"no case {name}"):
                self.choose(name)

    def test_bars_as_text(self):
        for bar, text in (
            (Bar(0.85), "85 %"),
            (Bar(1.0, "vs_onednn"), "1 x oneDNN"),
            (Bar(2.0, "vs_onnxruntime"), "2 x ORT"),
            (Bar(0.8, of="GMM2/2t"), "80 % of GMM2"),
        ):
            self.assertEqual(str(bar), text)

    def test_trace_by_thread_count(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("X.trace", "X.1t.trace"):
                open(os.path.join(folder, name), "w").close()
            found = [trace_path(Case("X", threads), folder) for threads in (1, 2)]
            self.assertEqual([os.path.basename(p) for p in found], ["X.1t.trace", "X.trace"])
            self.assertIsNone(trace_path(Case("Y"), folder))


class ResultTest(unittest.TestCase):
    def setUp(self):
        self.workloads = load_workloads()

    def result(self, name, bar, errors, **times):
        return result_of(Case(name, 2, bar), self.workloads[name], outcome_of(**times), errors)

    def test_share_of_peak(self):
        flop = self.workloads["GMM2"].flop
        times = {"ours": flop / 9, "peak": 100, "onednn": flop / 6, "onnxruntime": flop / 3}
        result = self.result("GMM2", Bar(0.85), {"ours": 1e-7}, **times)
        self.assertAlmostEqual(result.metrics["peak_share"], 0.9)
        self.assertAlmostEqual(result.metrics["gflops"], 9)
        self.assertAlmostEqual(result.metrics["vs_onednn"], 1.5)
        self.assertAlmostEqual(result.metrics["vs_onnxruntime"], 3)
        self.assertAlmostEqual(result.metrics["vs_best_peer"], 1.5)
        self.assertEqual(verdict(result), "reached")
        self.assertEqual(
            verdict(self.result("GMM2", Bar(0.85), {"ours": 1e-3}, **times)), "WRONG"
        )

    def test_share_of_the_faster_copy(self):
        moved = self.workloads["SFM2"].bytes_moved()
        times = {"ours": moved / 5, "memcpy": 0.2, "vector": 0.25}
        result = self.result("SFM2", Bar(0.7), {"ours": 0.0}, **times)
        self.assertAlmostEqual(result.metrics["bandwidth_share"], 0.5)
        self.assertEqual((result.unit, verdict(result)), ("GB/s", "short"))

    def test_share_of_the_sum_counts_bytes_read(self):
        read = self.workloads["NRM3"].input_bytes()
        result = self.result("NRM3", Bar(0.7), {"ours": 0.0}, ours=read / 8, sum=0.2)
        self.assertAlmostEqual(result.metrics["bandwidth_share"], 0.8)
        self.assertEqual(verdict(result), "reached")

    def test_probes(self):
        kinds = {
            name: sorted(probes_of(self.workloads[name], 2))
            for name in ("GMM2", "SFM2", "LN.4096x4096", "NRM3", "DEP0")
        }
        copies = ["memcpy", "vector"]
        self.assertEqual(
            kinds,
            {
                "GMM2": ["peak"],
                "SFM2": copies,
                "LN.4096x4096": copies,
                "NRM3": ["sum"],
                "DEP0": ["peak"],
            },
        )
        norm = probes_of(self.workloads["NRM3"], 2)["sum"]
        self.assertEqual(norm, {"kind": "sum", "bytes": 4096 * 1024 * 4, "threads": 2})

    def test_ratio_to_a_peer(self):
        for ours, wanted in ((1, "reached"), (2, "reached"), (2.1, "short")):
            result = self.result(
                "TBS0", Bar(2.0, "vs_onnxruntime"), {"ours": 0.0}, ours=ours, peak=1, onnxruntime=4
            )
            self.assertEqual(verdict(result), wanted)
        alone = self.result("DEP0", Bar(1.0, "vs_onednn"), {"ours": 0.0}, ours=1, peak=1)
        self.assertEqual(verdict(alone), report.ABSENT)

    def test_share_relative_to_another_case(self):
        right = {"ours": 0.0}
        flop = self.workloads["GMM2"].flop
        other = self.result("GMM2", Bar(0.85), right, ours=flop / 9, peak=100)
        bar = Bar(0.8, of="GMM2/2t")
        for rate, wanted in ((7.3, "reached"), (7.1, "short")):
            prime = self.result(PRIME.name, bar, right, ours=PRIME.flop / rate, peak=100)
            self.assertEqual(verdict(prime, [other, prime]), wanted)
            self.assertEqual(verdict(prime, [prime]), report.ABSENT)
            rows = {(r["name"], r["metric"]): r["value"] for r in rows_of([other, prime])}
            self.assertEqual({r["threads"] for r in rows_of([other, prime])}, {2})
            self.assertAlmostEqual(rows[(f"{PRIME.name}/2t", "share_vs_GMM2")], rate / 9)

    def test_without_a_reference_no_bar_is_reached(self):
        flop = self.workloads["GMM2"].flop
        result = self.result("GMM2", Bar(0.85), {}, ours=flop / 9, peak=100)
        self.assertFalse(result.wrong)
        self.assertEqual(verdict(result), "unchecked")
        self.assertEqual(table_row(result, [result])[-1], "sampled")

    def test_a_wrong_sample_is_wrong(self):
        outcome = outcome_of(ours=1, peak=1)
        outcome.series["ours"].ready["wrong"] = "C[0, 1] is 2 where the definition gives 3"
        result = result_of(Case("GMM2"), self.workloads["GMM2"], outcome, {})
        self.assertEqual(verdict(result), "WRONG")
        self.assertIn(
            "! wrong: C[0, 1] is 2 where the definition gives 3: GMM2/2t", notes([result])
        )

    def test_absent_peers_are_listed(self):
        outcome = outcome_of(ours=1, peak=1)
        for reason in ("not in .venv", "oneDNN: not in .venv", "onednn: not in .venv"):
            outcome.series["onednn"] = Series(failure=reason)
            result = result_of(Case("GMM2"), self.workloads["GMM2"], outcome, {})
            self.assertIsNone(result.metrics["vs_onednn"])
            self.assertIn("– oneDNN: not in .venv: GMM2/2t", notes([result]))


class RunTest(unittest.TestCase):
    def setUp(self):
        self.workloads = load_workloads()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = os.path.join(self.folder, "a.trace")
        with open(self.trace, "w") as file:
            file.write("split C i [8]\n")

    def test_good_results_are_kept_and_others_measured_again(self):
        whole = outcome_of(ours=1, peak=1, onednn=1, onnxruntime=1)
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
            ("a trace by hand", whole, right, ["GMM2", "--trace", self.trace], False),
            ("no peers", whole, right, ["--no-peers"], False),
        ):
            with self.subTest(label), tempfile.TemporaryDirectory() as folder:
                answer = (outcome, errors)
                options = kernels.parse(["--build", folder, *arguments])
                with mock.patch.object(kernels, "measure", return_value=answer) as measure:
                    for expected in (False, kept_next):
                        kept = report.Kept(folder, "kernels")
                        case = Case("GMM2")
                        result = kernels.run_case(case, self.workloads["GMM2"], options, kept)
                        self.assertEqual(result.kept, expected)
                    self.assertEqual(measure.call_count, 1 if kept_next else 2)
                    self.assertEqual(result.metrics["vs_onnxruntime"], 1.0)

    def test_participants(self):
        def participants(name, *arguments):
            options = kernels.parse([name, *arguments])
            entrants = kernels.contestants_of(
                Case(name), self.workloads[name], options, self.folder
            )
            return entrants

        by_hand = participants("GMM2", "--trace", self.trace, "--no-peers")
        self.assertEqual(list(by_hand), ["ours", "peak"])
        self.assertEqual(by_hand["ours"].spec["trace"], "split C i [8]\n")
        whole = participants("GMM2")
        self.assertEqual(list(whole), ["ours", "peak", "onednn", "onnxruntime"])
        self.assertNotEqual(whole["ours"].spec["trace"], "split C i [8]\n")
        with mock.patch.object(kernels, "trace_path", return_value=None):
            self.assertNotIn("ours", participants("GMM2"))

    def test_usage_errors_are_one_line(self):
        for arguments, words in (
            (["--trace", self.trace], "--trace needs exactly one NAME"),
            (["GMM2", "GMM3", "--trace", self.trace], "--trace needs exactly one NAME"),
            (["GMM2", "--trace", "/nonexistent"], "there is no file /nonexistent"),
            (["GMM2", "--full"], "--full and NAME exclude each other"),
            (["--rounds", "0"], "--rounds must be at least 1"),
        ):
            with self.subTest(arguments), contextlib.redirect_stderr(io.StringIO()) as text:
                with self.assertRaises(SystemExit) as left:
                    kernels.parse(arguments)
                self.assertEqual(left.exception.code, 2)
                self.assertIn(words, text.getvalue())


if __name__ == "__main__":
    unittest.main()
