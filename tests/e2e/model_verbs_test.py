"""Tests of the verbs for whole models as programs: tasks, tune, compile, run, bench, graph. Outputs are
compared with those of ONNX Runtime. Needs onnx, numpy and onnxruntime (./dev test installs them into .venv);
without them it is skipped with status 77.

A tuning run is killed 3 times. TILEWRIGHT_CRASH_RUNS sets the number of kills, TILEWRIGHT_CRASH_SEED their
random moments."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnxruntime

    import small_models
except ImportError as missing:
    print(f"model_verbs_test: Skipped\nno {missing.name}: ./dev test installs it into .venv")
    sys.exit(77)

import program
from deaths import attempts, kill_repeatedly, trials_after

MAX_RELATIVE_ERROR = 1e-4
TRIALS = 60
RUNS = int(os.environ.get("TILEWRIGHT_CRASH_RUNS", "3"))
SEED = int(os.environ.get("TILEWRIGHT_CRASH_SEED", "1"))


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

    def records_flag(self):
        """No flag before the first tuning run, when there is no store."""
        return ("--records", self.records if os.path.exists(self.records) else "none")

    def tasks(self, model, *more):
        words = ("tasks", model, "--threads", 1, "--json", *self.records_flag(), *more)
        return [json.loads(line) for line in self.run_verb(*words).stdout.splitlines()]

    def compile(self, model, library, *more, code=0):
        words = ("compile", model, "-o", self.path(library), "--threads", 1)
        return self.run_verb(*words, *self.records_flag(), *more, code=code)

    def tune(self, model, *more, trials=TRIALS, code=0, inside=False):
        """`inside`: with finals inside the model."""
        return program.member(self.tune_lines(model, *more, trials=trials, code=code, inside=inside), "result")

    def tune_lines(self, model, *more, trials=TRIALS, code=0, inside=False):
        words = ("tune", model, "--threads", 1, "--records", self.records, "--json")
        words += () if inside else ("--no-model-finals",)
        done = self.run_verb(*words, "--trials", trials, *more, code=code)
        return program.objects(done.stdout)

    def check_outputs(self, model, what, shape, *more):
        """Compares the outputs of `what` and of the model in ONNX Runtime for the same array."""
        x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
        np.save(self.path("x.npy"), x)
        words = ("run", what, "--input", f"x={self.path('x.npy')}", "--output", self.path("out"))
        if not what.endswith(".so"):
            words += self.records_flag()
        self.run_verb(*words, "--threads", 1, *more)
        got = np.load(self.path("out/y.npy"))
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        wanted = session.run(["y"], {"x": x})[0]
        self.assertEqual(got.shape, wanted.shape)
        error = np.abs(got - wanted).max() / np.abs(wanted).max()
        self.assertLessEqual(error, MAX_RELATIVE_ERROR)

    def test_untuned_results_equal_onnx_runtime(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        done = self.compile(model, "cnn.so")
        self.assertIn("not tuned", done.stderr)  # never silently
        self.check_outputs(model, self.path("cnn.so"), (1, 3, 16, 16))
        self.check_outputs(model, model, (1, 3, 16, 16))

    def test_outputs_of_one_file_name_are_all_written(self):
        model = small_models.two_outputs(self.path("two.onnx"), "a/b", "a:b")
        np.save(self.path("x.npy"), np.zeros(4, np.float32))
        words = ("run", model, "--input", self.path("x.npy"), "--output", self.path("out"))
        self.run_verb(*words, *self.records_flag())
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a_b.npy", "a_b_1.npy"])
        for name, value in (("a_b.npy", 1), ("a_b_1.npy", 2)):
            self.assertEqual(np.load(self.path("out/" + name)).tolist(), [value] * 4)

    def test_open_dimensions_are_given(self):
        model = small_models.attention(self.path("attention.onnx"))
        refused = self.compile(model, "a.so", code=2)
        self.assertIn("--input-shapes", refused.stderr)
        shapes = ("--input-shapes", "x:[1,12,32]")
        self.compile(model, "a.so", *shapes)
        self.check_outputs(model, self.path("a.so"), (1, 12, 32))
        self.check_outputs(model, model, (1, 12, 32), *shapes)

    def test_a_tuned_task_is_not_tuned_again(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        tasks = self.tasks(model)
        self.assertGreater(len(tasks), 2)
        self.assertFalse(any("best_ns" in task for task in tasks))
        refused = self.compile(model, "cnn.so", "--require-tuned", code=4)
        for task in tasks:
            self.assertIn(task["task"][:12], refused.stderr)

        first = self.tune(model, trials=30 * len(tasks), inside=True)
        self.assertGreater(first["measured"], 0)
        self.assertEqual(first["verdicts"].get("wrong_result", 0), 0)
        self.assertGreater(first["model_ns"], 0)
        lines = self.tune_lines(model, trials=30 * len(tasks), inside=True)
        second = program.member(lines, "result")
        self.assertEqual(second["measured"], 0)
        # The store answers without a search.
        self.assertEqual([line for line in lines if "round" in line], [])
        best = [{t["task"]: t["winner"] for t in one["tasks"]} for one in (first, second)]
        self.assertEqual(best[0], best[1])
        # Which of them began the search is known to the run that searched.
        self.assertTrue(all("winner_carried" in task for task in first["tasks"]))
        self.assertFalse(any("winner_carried" in task for task in second["tasks"]))

        # The finals inside the model were held once, and the sum is of their times.
        (inside,) = first["model_finals"]
        self.assertTrue(inside["held"], inside)
        self.assertEqual(inside["kernels"], len(tasks))
        self.assertGreater(inside["libraries"], 1)
        self.assertGreaterEqual(inside["before_ns"], inside["after_ns"])
        self.assertTrue(all("in_model" in t["winner"]["protocol"] for t in first["tasks"]))
        self.assertEqual(second["model_finals"], [])
        # The compiled schedules are those of the table.
        winners = {t["task"]: t["winner"]["latency_ns"] for t in first["tasks"]}
        self.assertEqual({t["task"]: t["best_ns"] for t in self.tasks(model)}, winners)

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

    def test_the_winner_of_the_last_finals_is_compiled(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        self.assertEqual(self.tune(model)["model_finals"], [])
        later = self.tune(model, inside=True)  # the omitted finals are held without a search
        self.assertEqual((later["measured"], later["model_finals"][0]["held"]), (0, True))
        for trials in (TRIALS, 2 * TRIALS, 3 * TRIALS):  # each run has finals, with other schedules
            shown = {t["task"]: t["winner"]["latency_ns"] for t in self.tune(model, trials=trials, inside=True)["tasks"]}
            self.assertEqual({t["task"]: t["best_ns"] for t in self.tasks(model)}, shown)

    def test_resumes_after_a_kill(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        trials = TRIALS * max(RUNS, 3)  # so that most kills are during the search
        words = ("tune", model, "--threads", 1, "--records", self.records, "--trials", 100000)  # without an end
        stored = kill_repeatedly((*words, "--json"), self.records, RUNS, trials, random.Random(SEED))
        print(f"{len(stored)} deaths (seed {SEED}), verdicts then: {stored}")
        self.assertEqual(stored, sorted(stored))  # no stored verdict is lost
        self.assertGreater(stored[0], 0)
        trials = trials_after(stored, trials)
        last = self.tune(model, trials=trials)
        counts = attempts(self.records)
        self.assertEqual([key for key, count in counts.items() if count > 1], [])
        # All trials are stored, each once: those from before the last start and those after it.
        self.assertEqual(sum(counts.values()), last["trials"])
        self.assertEqual(last["measured"], last["trials"] - stored[-1])
        self.assertEqual({t["task"] for t in last["tasks"]}, {t["task"] for t in self.tasks(model)})
        self.assertTrue(all(t["winner"]["latency_ns"] > 0 for t in last["tasks"]), last["tasks"])
        self.assertEqual(self.tune(model, trials=trials)["measured"], 0)
        self.assertEqual(attempts(self.records), counts)
        # An uninterrupted run with those verdicts has the same trajectory. It needs one trial more:
        # otherwise the store would answer.
        more = self.tune(model, trials=trials + 1)
        self.assertEqual((more["measured"], more["stored"]), (1, last["trials"]))
        self.assertEqual(len(attempts(self.records) - counts), 1)

    def test_passes_and_steps_are_disabled_by_name(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        usual = self.tasks(model)
        self.assertGreater(len(self.tasks(model, "--passes-off", "fuse")), len(usual))
        packed = self.tasks(model, "--passes-off", "pack_weights,simplify")
        self.assertFalse({t["task"] for t in packed} & {t["task"] for t in usual if t["flop"] > 1e5})
        for name in ("fuse", "concat_in_place", "pack_weights", "reuse_memory"):
            self.compile(model, "less.so", "--passes-off", name)
            self.check_outputs(model, self.path("less.so"), (1, 3, 16, 16))
        refused = self.compile(model, "less.so", "--passes-off", "luck", code=2).stderr
        for name in ("luck", "simplify", "reuse_memory"):
            self.assertIn(name, refused)

    def test_winograd_requires_its_permission(self):
        model, shape = small_models.cnn(self.path("cnn.onnx"), channels=64, size=32), (1, 3, 32, 32)
        allow = ("--allow", "winograd")
        self.tune(model)
        plain, allowed = self.tasks(model), self.tasks(model, *allow)
        by_winograd = [t for t in allowed if "by winograd" in t["title"]]
        self.assertEqual(len(by_winograd), 2)
        self.assertFalse([t for t in plain if "winograd" in t["title"]])
        # All other kernels have the records of the plain model.
        known = {t["task"]: t["best_ns"] for t in plain}
        others = {t["task"]: t["best_ns"] for t in allowed if t not in by_winograd}
        self.assertLessEqual(others.items(), known.items())
        self.assertFalse([t for t in by_winograd if "best_ns" in t])
        untuned = self.compile(model, "half.so", *allow).stderr
        self.assertIn(f"`tilewright tune {model} --allow winograd`", untuned)
        self.tune(model, *allow)
        made = self.compile(model, "fast.so", *allow, "--require-tuned")
        self.assertRegex(made.stdout, r"by Winograd's algorithm: 2 steps; rounding changes .* at most [0-9.]+e-0[0-9] ")
        bounds = program.objects(self.compile(model, "fast.so", *allow, "--json").stdout)[0]["winograd"]
        self.assertEqual({step["task"] for step in bounds}, {t["task"] for t in by_winograd})
        for step in bounds:
            self.assertLess(step["direct_error_bound"], step["error_bound"])
        self.check_outputs(model, self.path("fast.so"), shape)
        fast = np.load(self.path("out/y.npy"))
        self.check_outputs(model, model, shape, *allow)
        self.assertNotIn("Winograd", self.compile(model, "plain.so", "--require-tuned").stdout)
        self.check_outputs(model, self.path("plain.so"), shape)
        exact = np.load(self.path("out/y.npy"))
        self.assertGreater(np.abs(fast - exact).max(), 0)
        self.assertLessEqual(np.abs(fast - exact).max(), 1e-5 * np.abs(exact).max())
        refused = self.compile(model, "x.so", "--allow", "luck", code=2).stderr
        self.assertIn("there is no permission 'luck'; there are winograd and denormals (--allow)", refused)

    def run_on(self, what, feeds, *more):
        words = []
        for name, array in feeds.items():
            np.save(self.path(name + ".npy"), array)
            words += ["--input", f"{name}={self.path(name + '.npy')}"]
        if not what.endswith(".so"):
            words += self.records_flag()
        self.run_verb("run", what, *words, "--output", self.path("out"), "--threads", 1, *more)
        return np.load(self.path("out/y.npy"))

    def check_feeds(self, model, what, feeds, *more):
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        wanted = session.run(["y"], feeds)[0]
        got = self.run_on(what, feeds, *more)
        self.assertLessEqual(np.abs(got - wanted).max(), MAX_RELATIVE_ERROR * np.abs(wanted).max())

    def test_masks_and_denormals_in_the_inputs(self):
        rng = np.random.default_rng(4)
        x = rng.standard_normal((1, 16, 32)).astype(np.float32)
        half = (np.arange(16) < 8).astype(np.float32).reshape(1, 1, 16)
        tiny = x * np.where(np.arange(32) % 2 == 0, np.float32(1e-39), np.float32(1))
        self.assertGreater(((tiny != 0) & (np.abs(tiny) < np.finfo(np.float32).tiny)).sum(), 100)
        sets = (
            {"x": x, "mask": np.ones((1, 1, 16), np.float32)},
            {"x": x, "mask": half},
            {"x": tiny, "mask": half},
        )
        for hidden in (-100.0, -1e4, -np.inf):
            model = small_models.masked_attention(self.path("masked.onnx"), hidden=hidden)
            for allow in ((), ("--allow", "denormals")):
                self.compile(model, "masked.so", *allow)
                for feeds in sets:
                    self.check_feeds(model, self.path("masked.so"), feeds)
                self.check_feeds(model, model, sets[-1], *allow)
        cnn = small_models.cnn(self.path("cnn.onnx"))
        self.compile(cnn, "cnn.so")
        image = rng.standard_normal((1, 3, 16, 16)).astype(np.float32)
        image[:, :, ::2] *= np.float32(1e-39)
        self.check_feeds(cnn, self.path("cnn.so"), {"x": image})

    def check_special(self, model, feeds, expected):
        """Compares with ONNX Runtime which outputs are NaN or infinite, and the other outputs. `expected` says
        which rows have any."""
        wanted = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(["y"], feeds)[0]
        finite = np.isfinite(wanted)
        self.assertEqual(np.flatnonzero(~finite.reshape(-1, wanted.shape[-1]).all(axis=1)).tolist(), expected)
        self.compile(model, "special.so")
        for what in (self.path("special.so"), model):
            got = self.run_on(what, feeds)
            np.testing.assert_array_equal(np.isfinite(got), finite)
            error = np.abs(got[finite] - wanted[finite]).max(initial=0)
            self.assertLessEqual(error, MAX_RELATIVE_ERROR * np.abs(wanted[finite]).max(initial=1))

    def test_nan_and_infinity_in_the_inputs(self):
        rng = np.random.default_rng(5)
        images = rng.standard_normal((4, 3, 16, 16)).astype(np.float32)
        images[1, 0, 7, 7], images[2, 1, 0, 15], images[3, 2, 8, 0] = np.nan, np.inf, -np.inf
        self.check_special(small_models.cnn(self.path("cnn.onnx"), images=4), {"x": images}, [1, 2, 3])

        x = rng.standard_normal((1, 16, 32)).astype(np.float32)
        mask = (rng.random((1, 16, 16)) < 0.7).astype(np.float32)
        model = small_models.masked_attention(self.path("added.onnx"), queries=16)
        self.check_special(model, {"x": x, "mask": mask}, [])
        mask[0, 3, 5], mask[0, 6, 2], mask[0, 9, 1] = np.nan, np.inf, -np.inf  # the last one only hides a key
        self.check_special(model, {"x": x, "mask": mask}, [3, 6])
        mask[0, 12] = 0
        model = small_models.masked_attention(self.path("selected.onnx"), hidden=-np.inf, queries=16)
        self.check_special(model, {"x": x, "mask": mask}, [12])
        x[0, 4, 8] = np.nan  # in a key of all queries
        self.check_special(model, {"x": x, "mask": mask}, list(range(16)))

    def test_denormals_are_zero_unless_they_are_allowed(self):
        """The input is half of the least normal number."""
        least = np.finfo(np.float32).tiny
        model = small_models.scaled(self.path("half.onnx"), [64, 64], 0.5)
        feeds, allow = {"x": np.full((64, 64), least, np.float32)}, ("--allow", "denormals")
        for more, value in (((), 0), (allow, least / 2)):
            self.compile(model, "half.so", *more)
            for what, flags in ((self.path("half.so"), ()), (model, more)):
                got = self.run_on(what, feeds, *flags)
                self.assertTrue((got.astype(np.float64) == np.float64(value)).all(), got)
        refused = self.run_verb("run", self.path("half.so"), "--random", 1, *allow, code=2).stderr
        self.assertIn("--allow is not for a compiled model", refused)
        # Other tasks with separate records; those of the plain model stay.
        self.tune(model, trials=4)
        plain, kept = self.tasks(model), self.tasks(model, *allow)
        self.assertNotEqual(plain[0]["task"], kept[0]["task"])
        self.assertIn("best_ns", plain[0])
        self.assertNotIn("best_ns", kept[0])
        self.tune(model, *allow, trials=4)
        self.compile(model, "half.so", *allow, "--require-tuned")
        got = self.run_on(self.path("half.so"), feeds)
        self.assertTrue((got.astype(np.float64) == np.float64(least / 2)).all(), got)

    def test_bench_reports_kernels_slower_than_tuned(self):
        """Tests a library whose records have impossibly short times."""
        model = small_models.cnn(self.path("cnn.onnx"), channels=64, size=64)
        self.tune(model)
        self.compile(model, "cnn.so", "--require-tuned")
        words = ("bench", self.path("cnn.so"), "--seconds", 0.1)
        export = ("records", "export", "--records", self.records)
        names = {"title", "slow_calls", "calls", "ns", "tuned_ns"}
        for one in json.loads(self.run_verb(*words, "--json").stdout)["slow"]:
            self.assertEqual(set(one), names)
        lines = [json.loads(line) for line in self.run_verb(*export).stdout.splitlines()]
        for line in lines:
            if line.get("verdict") == "timed":
                line["latency_ns"] = line["latency_ns"] / 1000
                del line["id"]  # the id of the unchanged line
        with open(self.path("fast.ndjson"), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        self.records = self.path("fast.db")
        self.run_verb("records", "import", self.path("fast.ndjson"), "--records", self.records)
        self.compile(model, "fast.so", "--require-tuned")
        done = self.run_verb("bench", self.path("fast.so"), "--seconds", 0.1, "--json")
        slow = json.loads(done.stdout)["slow"]
        self.assertTrue(slow)
        for one in slow:
            self.assertGreaterEqual(one["ns"], 2 * one["tuned_ns"])
            self.assertIn(f"{one['title']} takes ", done.stderr)
        other = self.run_verb("bench", self.path("fast.so"), "--seconds", 0.1, "--threads", 2)
        self.assertNotIn("tuned time", other.stderr)  # the records are for one thread

    def explain(self, library, *more):
        """The object of the model, and those of its kernels."""
        lines = self.run_verb("explain", library, "--seconds", 0.1, "--json", *more).stdout.splitlines()
        return json.loads(lines[0]), [json.loads(line) for line in lines[1:]]

    def test_explain_compares_the_kernels_with_their_limits(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        library = self.path("cnn.so")
        self.compile(model, "cnn.so")
        tasks = {task["task"]: task for task in self.tasks(model)}
        whole, kernels = self.explain(library, "--records", "none")
        self.assertEqual((whole["model"], whole["threads"], whole["kernels"]), ("cnn", 1, len(tasks)))
        self.assertGreater(whole["limit_ns"], 0)
        self.assertEqual(whole["levels"][-1]["level"], "memory")
        for one in kernels:
            self.assertEqual(one["kernel"], tasks[one["task"]]["title"])
            self.assertEqual(one["calls"], tasks[one["task"]]["weight"])
            self.assertIn(one["limit"], ["FMA"] + [level["level"] for level in whole["levels"]])
            self.assertTrue({"tune", "fewer_flop", "fewer_bytes"} & set(one["remedies"]), one)

        self.tune(model, trials=10 * len(tasks))
        self.compile(model, "cnn.so", "--require-tuned")
        _, kernels = self.explain(library, "--records", self.records)
        for one in kernels:
            self.assertGreater(one["tuned_ns"], 0)
            self.assertGreater(one["trials"], 0)
            self.assertTrue(one["limits"], one)
            self.run_verb("explain", one["attempt"][:12], "--records", self.records, "--seconds", 0)
        np.save(self.path("x.npy"), np.zeros((1, 3, 16, 16), np.float32))
        words = ("--input", self.path("x.npy"), "--threads", 2, *self.records_flag())
        text = self.run_verb("explain", library, "--seconds", 0.1, *words).stdout
        self.assertIn("cnn on 2 threads: a run takes", text)
        self.assertIn("It was compiled for 1 thread and ran on 2.", text)

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_explain_refuses_libraries_that_are_older_or_for_another_machine(self):
        model = small_models.cnn(self.path("cnn.onnx"))
        self.compile(model, "cnn.c")
        with open(self.path("cnn.c")) as file:
            source = file.read()
        edits = (
            (r"\.version = \d+, \.denormals", ".version = 2, .denormals", "was compiled by an older version"),
            (r"tw_features\[\] = ", 'tw_features[] = "avx1024,"', "a processor with avx1024"),
        )
        for now, then, expected in edits:
            edited, count = re.subn(now, then, source)
            self.assertEqual(count, 1)
            with open(self.path("odd.c"), "w") as file:
                file.write(edited)
                file.write('extern const TilewrightModelApi tilewright_model __attribute__((alias("cnn_model")));')
            words = ("-std=gnu11", "-w", "-march=native", "-shared", "-fPIC", self.path("odd.c"))
            subprocess.run(("gcc", *words, "-o", self.path("odd.so")), check=True, capture_output=True)
            said = self.run_verb("explain", self.path("odd.so"), "--seconds", 0.1, code=2).stderr
            self.assertIn(expected, said)
        said = self.run_verb("explain", model, code=2).stderr
        self.assertIn(f"is not a compiled model; `tilewright compile {model}` makes one", said)

    def test_usage_errors_are_explained(self):
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
            self.run_verb("graph", model, "-o", out, *self.records_flag())
            with open(out) as file:
                self.assertIn(word, file.read())
        self.run_verb("graph", model, "-o", self.path("graph.png"), code=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
