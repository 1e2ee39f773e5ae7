"""Verbs that take whole models, from outside: tasks, tune, compile, run, bench, graph. Outputs are
held against ONNX Runtime's. Needs onnx, numpy and onnxruntime (./dev test installs them into
.venv); without them it is skipped with status 77."""

import collections
import json
import os
import sqlite3
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
    import onnxruntime

    import small_models
except ImportError as missing:
    print(f"no {missing.name}: ./dev test installs it into .venv")
    sys.exit(77)

import program

MAX_RELATIVE_ERROR = 1e-4
TRIALS = 60


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Models(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilewright-models-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.records = self.path("r.db")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_verb(self, *words, code=0):
        done = program.run(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def compile(self, model, library, *more, code=0):
        words = ("compile", model, "-o", self.path(library), "--threads", 1)
        return self.run_verb(*words, "--records", self.records, *more, code=code)

    def tune(self, model, *more, trials=TRIALS, code=0):
        words = ("tune", model, "--threads", 1, "--records", self.records, "--json")
        done = self.run_verb(*words, "--trials", trials, *more, code=code)
        return program.member(program.objects(done.stdout), "result")

    def check_outputs(self, model, what, shape, *more):
        """`what` is run on an array, and so is the model by ONNX Runtime."""
        x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
        np.save(self.path("x.npy"), x)
        words = ("run", what, "--input", f"x={self.path('x.npy')}", "--output", self.path("out"))
        self.run_verb(*words, "--threads", 1, "--records", self.records, *more)
        got = np.load(self.path("out/y.npy"))
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        wanted = session.run(["y"], {"x": x})[0]
        self.assertEqual(got.shape, wanted.shape)
        error = np.abs(got - wanted).max() / np.abs(wanted).max()
        self.assertLessEqual(error, MAX_RELATIVE_ERROR)

    def attempts(self):
        """How often each (task, program) was measured by itself, not in finals."""
        with sqlite3.connect(f"file:{self.records}?mode=ro", uri=True) as store:
            rows = store.execute(
                "SELECT a.task, c.program FROM attempts a JOIN candidates c ON c.id = a.candidate "
                "JOIN protocols p ON p.id = a.protocol "
                "WHERE p.text NOT LIKE '%interleaved%' AND a.verdict <> 'device'"
            ).fetchall()
        return collections.Counter(rows)

    def test_untuned_it_computes_what_onnx_runtime_computes(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        done = self.compile(model, "cnn.so")
        self.assertIn("not tuned", done.stderr)  # never silently
        self.check_outputs(model, self.path("cnn.so"), (1, 3, 16, 16))
        self.check_outputs(model, model, (1, 3, 16, 16))

    def test_open_dimensions_are_given(self):
        model = small_models.attention(self.path("attention.onnx"))
        refused = self.compile(model, "a.so", code=2)
        self.assertIn("--input-shapes", refused.stderr)
        shapes = ("--input-shapes", "x:[1,12,32]")
        self.compile(model, "a.so", *shapes)
        self.check_outputs(model, self.path("a.so"), (1, 12, 32))
        self.check_outputs(model, model, (1, 12, 32), *shapes)

    def test_tuned_once_is_tuned(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        listed = self.run_verb("tasks", model, "--threads", 1, "--json").stdout
        tasks = [json.loads(line) for line in listed.splitlines()]
        self.assertGreater(len(tasks), 2)
        self.assertFalse(any("best_ns" in task for task in tasks))
        refused = self.compile(model, "cnn.so", "--require-tuned", code=4)
        for task in tasks:
            self.assertIn(task["task"][:12], refused.stderr)

        first = self.tune(model, trials=30 * len(tasks))
        self.assertGreater(first["measured"], 0)
        self.assertEqual(first["verdicts"].get("wrong_result", 0), 0)
        self.assertGreater(first["model_ns"], 0)
        begin = time.monotonic()
        second = self.tune(model, trials=30 * len(tasks))
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(second["measured"], 0)
        best = [{t["task"]: t["winner"] for t in one["tasks"]} for one in (first, second)]
        self.assertEqual(best[0], best[1])

        self.compile(model, "cnn.so", "--require-tuned")
        self.check_outputs(model, self.path("cnn.so"), (1, 3, 16, 16))
        words = ("bench", self.path("cnn.so"), "--seconds", 0.2, "--json")
        bench = json.loads(self.run_verb(*words).stdout)
        self.assertEqual(sum(t["calls"] for t in bench["tasks"]), sum(t["weight"] for t in tasks))
        self.assertGreater(bench["p50_ns"], 0)
        once = read(self.path("cnn.so"))
        self.compile(model, "cnn.so", "--require-tuned")
        self.assertEqual(read(self.path("cnn.so")), once)

    def test_models_share_tasks(self):
        a = small_models.cnn(self.path("a.onnx"), seed=1)
        b = small_models.cnn(self.path("b.onnx"), seed=2)  # the same kernels, other weights
        first = self.tune(a)
        self.assertEqual(self.tune(b)["measured"], 0)
        self.assertEqual(
            {t["task"] for t in first["tasks"]}, {t["task"] for t in self.tune(b)["tasks"]}
        )
        self.compile(b, "b.so", "--require-tuned")

    def test_killed_it_goes_on(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        words = ("tune", model, "--threads", 1, "--records", self.records, "--trials", 3 * TRIALS)
        died_early = 0
        for wait_s in (1.0, 1.7, 2.3):
            process = program.start(*words, "--json")
            time.sleep(wait_s)
            died_early += process.poll() is None
            process.kill()
            program.rest(process)
        self.assertGreater(died_early, 0)
        last = self.tune(model, trials=3 * TRIALS)
        self.assertEqual([key for key, count in self.attempts().items() if count > 1], [])
        self.assertGreaterEqual(sum(self.attempts().values()), last["measured"])
        self.assertEqual(self.tune(model, trials=3 * TRIALS)["measured"], 0)

    def test_bad_use_says_what_is_wrong(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        self.assertIn("none.onnx", self.run_verb("tune", "none.onnx", code=2).stderr)
        data = read(model)
        with open(self.path("cut.onnx"), "wb") as file:
            file.write(data[: len(data) // 2])
        for verb in (("tasks",), ("tune",), ("compile", "-o", self.path("x.so"))):
            done = self.run_verb(verb[0], self.path("cut.onnx"), *verb[1:], code=2)
            self.assertIn("cut.onnx", done.stderr)
        unsupported = small_models.unsupported(self.path("odd.onnx"))
        said = self.run_verb("tasks", unsupported, code=2).stderr
        for word in ("find_them", "NonZero", "only_once", "Unique"):
            self.assertIn(word, said)

        np.save(self.path("x.npy"), np.zeros((1, 3, 8, 8), np.float32))
        for given, expected in (
            (f"z={self.path('x.npy')}", "x f32[1,3,16,16]"),
            (f"x={self.path('x.npy')}", "[1,3,8,8]"),
            (f"x={self.path('gone.npy')}", "gone.npy"),
        ):
            said = self.run_verb("run", model, "--input", given, code=2).stderr
            self.assertIn(expected, said)
        self.assertIn("--random", self.run_verb("run", model, code=2).stderr)
        self.assertIn(".so", self.run_verb("compile", model, "-o", "x.exe", code=2).stderr)
        self.assertIn("--onnx", self.run_verb("bench", "x.so", "--peers", "openvino", code=2).stderr)

    def test_the_graph_is_drawn(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        for ending, word in ((".svg", "<svg"), (".txt", "conv2d"), (".json", '"groups"')):
            out = self.path("graph" + ending)
            self.run_verb("graph", model, "-o", out, "--records", self.records)
            with open(out) as file:
                self.assertIn(word, file.read())
        self.run_verb("graph", model, "-o", self.path("graph.png"), code=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
