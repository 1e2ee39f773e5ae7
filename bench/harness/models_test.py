"""What `bench models` and the demo compute from a tuning, and the curve that is drawn. Standard library
only: no model is run."""

import json
import os
import stat
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

from harness import curve
from harness.model_tuning import ModelTuning, model_ns, passed_after, run_tune
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
    def test_the_model_takes_what_is_known_and_else_its_defaults(self):
        self.assertEqual(model_ns({}, TASKS), 3 * 900 + 100)
        self.assertEqual(model_ns({"a": (300.0, 3)}, TASKS), 3 * 300 + 100)
        self.assertEqual(model_ns({"a": (None, 3)}, TASKS), 3 * 900 + 100)

    def test_the_moment_is_by_the_scaled_sum(self):
        points = [(10.0, 4e6), (20.0, 2e6), (30.0, 1e6)]
        # A run takes 1.5 ms in the end where the sum says 1 ms: the peer's 3 ms are passed at 2.
        self.assertEqual(passed_after(points, 1e6, 1.5e6, 3e6), 20.0)
        self.assertIsNone(passed_after(points, 1e6, 1.5e6, 1.4e6))
        self.assertIsNone(passed_after([], None, 1.5e6, 3e6))

    def test_sittings_are_one_curve(self):
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
            self.assertEqual(both.asked_s, 840)
            self.assertEqual(ModelTuning(**vars(both)), both)
            fake_program(folder, [], code=2)
            with self.assertRaises(TuneError):
                run_tune("m.onnx", "r.db", 60, folder)


class Curve(unittest.TestCase):
    def test_is_well_formed_and_has_its_lines(self):
        for points in ([], [(1.0, 3.0)], [(1.0, 3.0), (7.5, 1.0)]):
            root = xml.fromstring(curve.svg(points, {"a & b": 2.0}, "x < y"))
            texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
            self.assertIn("x < y", texts)
            self.assertTrue(any(text.startswith("a & b") for text in texts))


if __name__ == "__main__":
    unittest.main()
