"""Tests of the figures that `bench models` and the demo compute from a tuning, and of the curve. Needs only
the standard library: no model is run."""

import json
import os
import stat
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from unittest import mock

from harness import curve, model_files
from harness.model_tuning import (
    ModelTuning,
    compile_library,
    explain_library,
    model_ns,
    passed_after,
    recorded_ns,
    run_tune,
    tasks_of,
    tuning_runs,
)
from harness.operator_class import class_of, class_shares
from harness.tuned import TuneError

TASKS = {
    "a": {"task": "a", "weight": 3, "default_ns": 900.0},
    "b": {"task": "b", "weight": 1, "default_trial_ns": 100.0},
    "c": {"task": "c", "weight": 1},
}


def fake_program(folder, lines, code=0):
    path = os.path.join(folder, "tilewright")
    with open(path, "w") as file:
        file.write(f"#!{sys.executable}\nimport sys\n")
        for line in lines:
            file.write(f"print({json.dumps(line)!r})\n")
        file.write(f"sys.exit({code})\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def round_of(task, best_ns):
    return {"round": {"task": task, "weight": 1, "best_ns": best_ns, "tried": 8, "stored": 0}}


class Tuning(unittest.TestCase):
    def test_the_model_uses_records_or_defaults(self):
        self.assertEqual(model_ns({}, TASKS), 3 * 900 + 100)
        self.assertEqual(model_ns({"a": 300.0}, TASKS), 3 * 300 + 100)

    def test_the_moment_is_by_the_scaled_sum(self):
        points = [(10.0, 4e6), (20.0, 2e6), (30.0, 1e6)]
        # In the end a run takes 1.5 ms and the sum is 1 ms: the peer's 3 ms correspond to a sum of 2.
        self.assertEqual(passed_after(points, 1.5e6, 3e6), 20.0)
        self.assertIsNone(passed_after(points, 1.5e6, 1.4e6))
        self.assertIsNone(passed_after([], 1.5e6, 3e6))
        # A model measured to be slower after 25 s had not passed at 20 s.
        self.assertEqual(passed_after(points, 1.5e6, 3e6, not_before=25.0), 30.0)

    def test_tasks_without_a_round_count(self):
        tasks = [{"task": "a", "weight": 1}, {"task": "b", "weight": 2, "default_ns": 50.0}]
        tuning = ModelTuning({"tasks": tasks}, [[1.0, "a", 30.0], [70.0, "b", 40.0], [71.0, "a", 35.0]])
        self.assertEqual(tuning.curve, [(1.0, 130.0), (70.0, 110.0), (71.0, 110.0)])

    def test_tuning_runs_are_one_curve(self):
        with tempfile.TemporaryDirectory() as folder:
            result = {"tasks": list(TASKS.values()), "measured": 8}
            fake_program(folder, [round_of("a", 500.0), round_of("a", 400.0), {"result": result}])
            first = run_tune("m.onnx", "r.db", 60, folder)
            self.assertEqual([ns for _, ns in first.curve], [1600.0, 1300.0])
            first.seconds = 60.0
            fake_program(folder, [round_of("a", 100.0), {"result": result}])
            both = run_tune("m.onnx", "r.db", 840, folder, first)
            self.assertEqual([ns for _, ns in both.curve], [1600.0, 1300.0, 400.0])
            self.assertGreaterEqual(both.curve[-1][0], 60.0)
            self.assertEqual(both.requested_s, 840)
            self.assertEqual(ModelTuning(**vars(both)), both)
            fake_program(folder, [], code=2)
            with self.assertRaises(TuneError):
                run_tune("m.onnx", "r.db", 60, folder)

    def test_records_are_summed_by_weight(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = [{"task": "a", "weight": 3, "best_ns": 10.0}, {"task": "b", "weight": 1, "best_ns": 5.0}]
            fake_program(folder, lines)
            self.assertEqual(recorded_ns(tasks_of("m.onnx", "r.db", folder)), 35.0)
            fake_program(folder, [*lines, {"task": "c", "weight": 1}])
            self.assertIsNone(recorded_ns(tasks_of("m.onnx", "r.db", folder)))
            fake_program(folder, [], code=2)
            with self.assertRaises(TuneError):
                tasks_of("m.onnx", "r.db", folder)


class Limits(unittest.TestCase):
    def test_are_those_of_explain(self):
        with tempfile.TemporaryDirectory() as folder:
            fake_program(folder, [{"model": "m", "limit_ns": 5.0}, {"kernel": "matmul", "limit_ns": 3.0}])
            explained = explain_library("m.so", "r.db", 3, folder)
            self.assertEqual((explained["model"], explained["limit_ns"]), ("m", 5.0))
            self.assertGreaterEqual(explained["other_cpus"], 0.0)


class OperatorClasses(unittest.TestCase):
    def test_classes_are_those_of_the_heaviest_node(self):
        for title, name in (
            ("transpose + conv2d 7x7 3->64 s2 + add + relu", "convolution"),
            ("mul + conv2d 1x1 16->64 + add", "1x1 convolution"),
            ("conv2d 3x3 288->288 g18 + add", "grouped convolution"),
            ("conv2d 3x3 512->512 d2 + add", "dilated convolution"),
            ("depthwise2d 3x3 256 s2 + add", "depthwise convolution"),
            ("conv_transpose2d 4x4 8->4 s2", "transposed convolution"),
            ("slice + batch_matmul 8x49x49x32 + mul", "batched product"),
            ("matmul 1x10x5 + softmax", "product"),
            ("layer_norm 1x50x768", "norm"),
            ("add 1x50x768", "elementwise and moves"),
        ):
            self.assertEqual(class_of(title), name)

    def test_a_class_is_summed_over_models(self):
        def library(**ns):
            return {"tasks": [{"title": title, "ns": time} for title, time in ns.items()]}

        pairs = [
            (library(matmul=30.0, softmax=10.0), library(matmul=20.0, softmax=10.0)),
            (library(matmul=60.0), library(matmul=25.0)),
        ]
        self.assertEqual(class_shares(pairs), {"product": (0.5, 0.9), "softmax": (1.0, 0.1)})


class FloatPermissions(unittest.TestCase):
    def test_apply_to_each_verb(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tilewright")
            with open(path, "w") as file:  # writes its arguments
                file.write(f"#!{sys.executable}\nimport json, sys\n")
                file.write("print(json.dumps({'result': sys.argv[1:], 'best_ns': 1, 'weight': 1}))\n")
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
            for allow, words in (((), []), (("a", "b"), ["--allow", "a,b"])):
                tuned = run_tune("m.onnx", "r.db", 60, folder, allow=allow).result
                compiled = compile_library("m.onnx", "r.db", "m.so", folder, allow=allow)["result"]
                for said in (tuned, compiled):
                    at = said.index("--threads") + 2
                    self.assertEqual([word for word in said[at:] if word != "--json"], words)
                self.assertEqual(tasks_of("m.onnx", "r.db", folder, allow=allow)[0]["weight"], 1)
            fixed = compile_library("m.onnx", "r.db", "m.so", folder, shapes="x:[1,2]")["result"]
            self.assertEqual(fixed[fixed.index("--input-shapes") + 1], "x:[1,2]")


class Columns(unittest.TestCase):
    def test_are_named_by_what_was_tuned(self):
        for seconds, names in (
            (900.0, ("60 s", "15 min")),
            (60.0, ("60 s",)),
            (30.0, ("30 s",)),
            (90.0, ("60 s", "90 s")),
            (120.0, ("60 s", "2 min")),
        ):
            self.assertEqual(tuple(tuning_runs(seconds)), names)
        self.assertEqual(list(tuning_runs(900.0).values()), [60.0, 900.0])


class Names(unittest.TestCase):
    def test_other_numbers_of_threads_have_eight_models(self):
        two, sixteen = (model_files.default_models(threads) for threads in (2, 16))
        self.assertEqual((len(two), two[:8]), (10, sixteen))
        self.assertEqual({"maxvit_t", "efficientnet_v2_s", "unet_128"} - set(sixteen), set())


class Files(unittest.TestCase):
    def test_models_of_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("b.stripped.onnx", "a.stripped.onnx", "materialize.py"):
                with open(os.path.join(folder, name), "w"):
                    pass
            self.assertEqual(model_files.model_names(folder), ["a", "b"])
            self.assertEqual(model_files.model_names(os.path.join(folder, "none")), [])

    def test_failures_leave_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.stripped.onnx"), "w"):
                pass
            with open(os.path.join(folder, "materialize.py"), "w") as file:
                file.write("import sys\nopen(sys.argv[2], 'w').write('half')\nsys.exit('no weights')\n")
            with (
                mock.patch.object(model_files.peers, "BUILD", folder),
                mock.patch.dict(os.environ, {"TILEWRIGHT_MODELS": folder}),
                self.assertRaisesRegex(model_files.ModelError, "no weights"),
            ):
                model_files.materialized("a")
            self.assertEqual(os.listdir(os.path.join(folder, "models")), [])


class Curve(unittest.TestCase):
    def test_is_well_formed_and_has_its_lines(self):
        for points in ([], [(1.0, 3.0)], [(1.0, 3.0), (7.5, 1.0)]):
            root = xml.fromstring(curve.svg(points, {"a & b": 2.0}, "x < y"))
            texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
            self.assertIn("x < y", texts)
            self.assertTrue(any(text.startswith("a & b") for text in texts))

    def test_labels_do_not_overlap_each_other_or_lines(self):
        for close in ({"a": 0.560, "b": 0.532}, {"a": 0.5, "b": 0.5, "c": 0.501}, {"a": 0.001, "b": 0.002}):
            root = xml.fromstring(curve.svg([(1.0, 0.55), (90.0, 0.5)], close, "x"))
            ends = [float(node.get("x2")) for node in root.iter() if node.tag.endswith("line") and node.get("x2")]
            labels = [node for node in root.iter() if node.get("fill") in ("#c33", "#26c")]
            self.assertEqual(len(labels), len(close) + 1)
            self.assertTrue(all(float(node.get("x")) > max(ends) for node in labels))
            heights = sorted(float(node.get("y")) for node in labels)
            for above, below in zip(heights, heights[1:]):
                self.assertGreaterEqual(round(below - above, 1), 12)
            self.assertTrue(curve.TOP <= heights[0] and heights[-1] <= curve.HEIGHT - 20)


if __name__ == "__main__":
    unittest.main()
