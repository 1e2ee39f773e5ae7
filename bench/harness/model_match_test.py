"""Tests of model matches: outputs, shapes, inputs, and the names of a run with permissions. Needs numpy and
onnx; no model is run."""

import contextlib
import io
import os
import random
import sys
import tempfile
import unittest
from unittest import mock

try:
    import numpy as np
    import onnx
except ImportError as missing:
    print(f"model_match_test: Skipped\nno {missing.name}: ./dev test installs it into .venv")
    sys.exit(77)

import models
from harness import data, input_sets, set_match, suite
from harness.compare import Outcome
from harness.model_match import (
    Match,
    array_error,
    errors_of,
    inputs_of,
    match_from_json,
    parse_shapes,
)
from harness.model_tuning import ModelTuning
from harness.rounds import Series

NAN, INF = float("nan"), float("inf")


def write_model(path):
    value = onnx.helper.make_tensor_value_info
    x = value("x", onnx.TensorProto.FLOAT, [1, "n"])
    y = value("y", onnx.TensorProto.FLOAT, [1, "n"])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(onnx.helper.make_model(graph), path)
    return path


def write_token_model(path):
    """y = table[ids] * mask, where an Identity gives the table another name."""
    value = onnx.helper.make_tensor_value_info
    inputs = [value(name, onnx.TensorProto.INT64, [1, 4]) for name in ("ids", "mask")]
    y = value("y", onnx.TensorProto.FLOAT, None)
    node = onnx.helper.make_node
    nodes = [
        node("Identity", ["table"], ["shared"]),
        node("Gather", ["shared", "ids"], ["rows"]),
        node("Cast", ["mask"], ["kept"], to=onnx.TensorProto.FLOAT),
        node("Unsqueeze", ["kept", "last"], ["column"]),
        node("Mul", ["rows", "column"], ["y"]),
    ]
    table = onnx.numpy_helper.from_array(np.ones((1000, 2), np.float32), "table")
    last = onnx.numpy_helper.from_array(np.array([-1]), "last")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", inputs, [y], [table, last])), path)
    return path


def timed(ns):
    return Series(slices_ns=[ns] * 8)


class Outputs(unittest.TestCase):
    def test_nan_never_passes(self):
        good = np.array([1.0, -2.0])
        self.assertEqual(array_error(good, good), 0.0)
        self.assertAlmostEqual(array_error(np.array([1.0, -1.0]), good), 0.5)
        for bad in ([1.0, NAN], [NAN, NAN], [1.0, INF], [1.0]):
            self.assertEqual(array_error(np.array(bad), good), INF)
            self.assertEqual(array_error(good, np.array(bad)), INF)
        self.assertEqual(array_error(np.array([NAN]), np.array([NAN])), INF)
        self.assertEqual(array_error(np.zeros(2), np.zeros(2)), 0.0)
        self.assertEqual(array_error(np.ones(2), np.zeros(2)), 1.0)

    def test_a_wrong_one_has_no_ratio(self):
        series = {"ours": timed(1.0), "onnxruntime": timed(2.0), "openvino": timed(1.5)}
        for error, ratio in ((1e-6, 2.0), (2e-5, None), (NAN, None), (INF, None)):
            match = Match(("ours",), Outcome(series), {"ours": error, "onnxruntime": 0.0, "openvino": 0.0})
            self.assertEqual(match.ratio("ours", "onnxruntime"), ratio)
            self.assertEqual(match.is_wrong("ours"), ratio is None)
            self.assertIsNone(match.unchecked())
            self.assertEqual(match_from_json(match.to_json()).is_wrong("ours"), ratio is None)

    def test_peers_may_have_larger_errors(self):
        match = Match(("ours",), Outcome({}), {"ours": 2e-5, "openvino": 2e-5})
        self.assertEqual([match.is_wrong("ours"), match.is_wrong("openvino")], [True, False])
        match.errors["openvino"] = 2e-4
        self.assertTrue(match.is_wrong("openvino"))

    def test_a_failing_reference_is_reported(self):
        failed = {"ours": timed(1.0), "onnxruntime": Series(failure="no such model"), "openvino": timed(2.0)}
        self.assertEqual(errors_of(list(failed), Outcome(failed), "none.onnx", "none"), {})
        match = Match(("ours",), Outcome(failed), {})
        self.assertIn("no such model", match.unchecked())
        self.assertIsNone(match.ratio("ours", "openvino"))
        alone = {"ours": timed(1.0), "openvino": timed(2.0)}
        match = Match(("ours",), Outcome(alone), {})
        self.assertIn("did not take part", match.unchecked())
        self.assertEqual(match.ratio("ours", "openvino"), 2.0)


class Inputs(unittest.TestCase):
    def test_shapes_may_have_blanks(self):
        wanted = {"x": [1, 3, 224, 224], "a:b/0": [7], "s": []}
        for text in (
            "x:[1,3,224,224];a:b/0:[7];s:[]",
            "x:[1, 3, 224, 224]; a:b/0:[ 7 ] ;s:[]",
            " x : [1,3,224,224] a:b/0:[7] s:[]",
        ):
            self.assertEqual(parse_shapes(text), wanted)
        self.assertEqual(parse_shapes(""), {})
        for wrong in ("x", "x:1,3", "x:[1,3", "x:[a]", "x:[1];y"):
            with self.assertRaisesRegex(ValueError, "--input-shapes"):
                parse_shapes(wrong)

    def test_given_arrays_are_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(os.path.join(folder, "m.onnx"))
            array = np.arange(5, dtype=np.float32).reshape(1, 5)
            path = os.path.join(folder, "a=b.npy")
            np.save(path, array)
            for word in (f"x={path}", path):
                np.testing.assert_array_equal(inputs_of(model, given=[word])["x"], array)
            self.assertEqual(inputs_of(model, {"x": [1, 9]})["x"].shape, (1, 9))
            np.save(path, array.astype(np.float64))
            for wrong in (f"x={path}", f"x={folder}/none.npy"):
                with self.assertRaises(ValueError):
                    inputs_of(model, given=[wrong])
            with self.assertRaisesRegex(ValueError, "--input-shapes"):
                inputs_of(model)


class Files(unittest.TestCase):
    def test_numpy_and_the_standard_library_agree(self):
        workload = suite.Workload("x", "matmul", {"m": 3, "n": 5, "k": 7}, 0, ())
        with tempfile.TemporaryDirectory() as folder:
            a, b = (os.path.join(folder, name + ".bin") for name in "AB")
            read = []
            for module in (data.np, None):
                with mock.patch.object(data, "np", module):
                    data.write_inputs(workload, folder)
                    read.append([data.read_floats(path).tolist() for path in (a, b)])
            self.assertEqual(read[0], read[1])
            rng = random.Random(1)
            wanted = [rng.random() - 0.5 for _ in range(1000)]
            for got in (wanted, [x * (1 + 1e-5 * rng.random()) for x in wanted], wanted[:-1], [NAN, *wanted[1:]]):
                data.write_floats(a, got)
                data.write_floats(b, wanted)
                by_numpy = data.relative_error(a, b)
                with mock.patch.object(data, "np", None):
                    self.assertAlmostEqual(by_numpy, data.relative_error(a, b), places=15)
            data.write_floats(b, [])
            self.assertEqual(data.relative_error(b, b), INF)


class InputSets(unittest.TestCase):
    def test_floats_become_denormals(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_model(os.path.join(folder, "m.onnx"))
            sets = input_sets.input_sets(model, {"x": [1, 6]})
            self.assertEqual(list(sets), ["plain", "denormals"])
            small = np.abs(sets["denormals"]["x"][0, ::2])
            self.assertTrue((small > 0).all() and (small < np.finfo(np.float32).tiny).all())
            np.testing.assert_array_equal(sets["denormals"]["x"][0, 1::2], sets["plain"]["x"][0, 1::2])

    def test_sequences_are_halved_and_embeddings_made_small(self):
        with tempfile.TemporaryDirectory() as folder:
            model = write_token_model(os.path.join(folder, "m.onnx"))
            sets = input_sets.input_sets(model)
            self.assertEqual(list(sets), ["plain", "half"])
            np.testing.assert_array_equal(sets["half"]["mask"], [[1, 1, 0, 0]])
            self.assertEqual(sets["half"]["ids"][0, 2:].tolist(), [0, 0])
            np.testing.assert_array_equal(sets["half"]["ids"][0, :2], sets["plain"]["ids"][0, :2])
            other = os.path.join(folder, "small.onnx")
            self.assertTrue(input_sets.with_denormal_embeddings(model, other))
            table = onnx.numpy_helper.to_array(onnx.load(other).graph.initializer[0])
            self.assertEqual(np.count_nonzero(np.abs(table) < np.finfo(np.float32).tiny), table.size // 2)
            self.assertTrue((table != 0).all())
            plain = write_model(os.path.join(folder, "plain.onnx"))
            self.assertFalse(input_sets.with_denormal_embeddings(plain, other))


    def test_a_mask_leaves_denormals_where_it_hides_keys(self):
        most, seen = np.finfo(np.float32).min, np.float32(0.5)
        causal = np.array([[seen, most], [seen, seen]], np.float32)
        cases = (("mask", most, True), ("mask", seen, False), ("x", most, False), ("x", causal, True))
        with tempfile.TemporaryDirectory() as folder:
            for name, hidden, found in cases:
                value = onnx.helper.make_tensor_value_info
                x, y = (value(one, onnx.TensorProto.FLOAT, [2, 2]) for one in (name, "y"))
                hidden = onnx.numpy_helper.from_array(np.asarray(hidden), "hidden")
                add = onnx.helper.make_node("Add", [name, "hidden"], ["y"])
                stated = onnx.helper.make_node("Constant", [], ["hidden"], value=hidden)
                for nodes, constants in (([add], [hidden]), ([stated, add], [])):
                    graph = onnx.helper.make_graph(nodes, "g", [x], [y], constants)
                    path, other = (os.path.join(folder, file) for file in ("m.onnx", "weak.onnx"))
                    onnx.save(onnx.helper.make_model(graph), path)
                    self.assertEqual(input_sets.with_weak_mask(path, other), found)
                    if not found:
                        continue
                    made = onnx.load(other).graph
                    tensor = made.initializer[0] if constants else made.node[0].attribute[0].t
                    array, before = onnx.numpy_helper.to_array(tensor), onnx.numpy_helper.to_array(hidden)
                    np.testing.assert_array_equal(array, np.where(before == most, -92, before))
                    self.assertTrue(0 < np.exp(array.min()) < np.finfo(np.float32).tiny)


class SetMatches(unittest.TestCase):
    def match(self, errors, **ns):
        series = {name: timed(time) for name, time in ns.items()}
        return set_match.SetMatch(("plain", "denormals"), Outcome(series), errors)

    def test_times_are_over_those_with_plain_inputs(self):
        match = self.match({}, plain=2.0, denormals=3.0)
        self.assertEqual(match.others(), ["denormals"])
        self.assertEqual(match.over_plain("denormals"), 1.5)
        self.assertIsNone(match.over_plain("half"))

    def test_outputs_must_be_compared_and_equal(self):
        match = self.match({"plain": 9e-6, "denormals": 2e-5}, plain=1.0, denormals=1.0)
        again = set_match.set_match_from_json(match.to_json())
        wrong = [name for name in ("plain", "denormals", "half") if again.is_wrong(name)]
        self.assertEqual(wrong, ["denormals", "half"])

    def test_each_set_has_its_inputs_and_its_reference(self):
        def copy_inputs(entrants, threads, rounds, slice_s):
            """Each participant gives its input, ours with an error on denormals."""
            for name, entrant in entrants.items():
                (given,) = entrant.spec["inputs"]
                array = np.fromfile(given["file"], dtype=np.float32)
                if name == "denormals":
                    array[1] *= 2
                array.tofile(os.path.join(entrant.spec["output_dir"], "0.bin"))
            return Outcome({name: timed(1.0) for name in entrants})

        with tempfile.TemporaryDirectory() as folder:
            model = write_model(os.path.join(folder, "m.onnx"))
            inputs = input_sets.input_sets(model, {"x": [1, 6]})
            sets = {name: set_match.InputSet(model, "m.so", arrays) for name, arrays in inputs.items()}
            with mock.patch.object(set_match, "compare", copy_inputs):
                match = set_match.play_sets(sets, 2, 1, 0.1, folder)
        self.assertEqual(match.ours, ("plain", "denormals"))
        self.assertEqual(match.errors["plain"], 0.0)
        self.assertTrue(match.is_wrong("denormals"))

    def test_models_of_tokens_have_denormals_in_their_embeddings(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("models.peers.BUILD", folder):
            open(os.path.join(folder, "tilewright"), "w").close()
            bench = models.Bench(models.parse(["--build", folder]))
            tokens, floats = os.path.join(folder, "t.onnx"), os.path.join(folder, "f.onnx")
            write_token_model(tokens)
            write_model(floats)
            masked = os.path.join(folder, "masked.onnx")
            graph = onnx.load(tokens)
            graph.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(-1e9), "hidden"))
            onnx.save(graph, masked)
            with mock.patch.object(models, "compile_library") as compiled:
                sets = bench.sets_of("t", tokens, "t.so", folder)
                self.assertEqual(list(sets), ["plain", "half", "denormals"])
                self.assertEqual(sets["half"].library, "t.so")
                small = sets["denormals"]
                self.assertEqual((small.model, small.library), compiled.call_args[0][0:3:2])
                self.assertIs(small.arrays, sets["plain"].arrays)
                with mock.patch.dict(models.INPUT_SHAPES, {"f": "x:[1,6]"}):
                    sets = bench.sets_of("f", floats, "f.so", folder)
                self.assertEqual([one.library for one in sets.values()], ["f.so", "f.so"])
                self.assertEqual(compiled.call_count, 1)
                sets = bench.sets_of("t", masked, "t.so", folder)
                self.assertEqual(list(sets), ["plain", "half", "denormals", "weak_mask"])
                self.assertIs(sets["weak_mask"].arrays, sets["half"].arrays)
                self.assertNotEqual(sets["weak_mask"].library, sets["denormals"].library)

    def test_slow_and_wrong_sets_reach_no_bar(self):
        match = self.match({"plain": 1e-6, "denormals": 1e-4}, plain=1.0, denormals=1.2)
        out = models.Report(2)
        with contextlib.redirect_stdout(io.StringIO()):
            models.judge_sets(mock.Mock(sets=match), out)
        self.assertEqual(len(out.missed), 2)
        for what, missed in zip(("error on the set denormals", "time on the set denormals"), out.missed):
            self.assertIn(what, missed)


class MeasuringTime(unittest.TestCase):
    def test_is_summed_over_interrupted_runs(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("models.peers.BUILD", folder):
            open(os.path.join(folder, "tilewright"), "w").close()
            clock = iter([0.0, 60.0, 0.0, 120.0, 0.0, 600.0])
            with mock.patch("models.time.monotonic", lambda: next(clock)):
                for words in ([], [], ["--stored"]):
                    bench = models.Bench(models.parse(["--build", folder, *words]))
                    with bench.timed("m"):
                        pass
                    stored = models.Bench(models.parse(["--build", folder])).get("minutes/m")
            self.assertEqual(stored, 3.0)

    def test_is_judged_for_the_default_models(self):
        for words, minutes, missed in (([], 7.0, 1), ([], 5.0, 0), (["--only", "m"], 70.0, 0)):
            options = models.parse(words)
            names = models.names_of(options)
            bench = mock.Mock(options=options, suffix="", minutes=dict.fromkeys(names, minutes))
            out = models.Report(2)
            with contextlib.redirect_stdout(io.StringIO()):
                models.judge_time(bench, names, out)
            self.assertEqual(len(out.missed), missed, words)


class FloatPermissions(unittest.TestCase):
    def test_have_distinct_names(self):
        plain, allowed = models.parse([]), models.parse(["--allow", "winograd"])
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(models.peers, "BUILD", folder):
            with mock.patch.object(models, "build_key", lambda build: "key"):
                ours, theirs = models.Bench(plain), models.Bench(allowed)
            self.assertEqual(os.path.basename(ours.path("a.60 s", ".so")), "a.60s.so")
            self.assertEqual(os.path.basename(theirs.path("a.60 s", ".so")), "a.60s.winograd.so")
            ours.put("match/a", 1)
            self.assertIsNone(theirs.get("match/a"))
            theirs.put("match/a", 2)
            self.assertEqual((ours.get("match/a"), theirs.get("match/a")), (1, 2))

    def test_numbers_of_threads_have_distinct_names(self):
        two, sixteen = models.parse([]), models.parse(["--threads", "16", "--allow", "winograd"])
        self.assertEqual((models.suffix_of(two), models.suffix_of(sixteen)), ("", ".16t.winograd"))
        self.assertEqual(models.names_of(sixteen), models.names_of(two)[:8])
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(models.peers, "BUILD", folder):
            with mock.patch.object(models, "build_key", lambda build: "key"):
                one, other = models.Bench(two), models.Bench(sixteen)
            one.put("match/a", 1)
            self.assertIsNone(other.get("match/a"))
            self.assertEqual(os.path.basename(other.path("a", ".db")), "a.16t.winograd.db")

    def test_stored_results_are_shown_without_measuring(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(models.peers, "BUILD", folder):
            program = os.path.join(folder, "tilewright")
            with open(program, "w"):
                pass
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                models.main(["--stored", "--only", "resnet18", "--threads", "1", "--build", folder])
            self.assertIn("resnet18: no stored result", text.getvalue())
            self.assertIn("1 threads, f32", text.getvalue())

    def test_do_not_apply_to_a_library(self):
        with self.assertRaises(SystemExit), mock.patch("sys.stderr"):
            models.parse(["--match", "m.onnx", "--library", "m.so", "--allow", "winograd"])


class StoredResults(unittest.TestCase):
    def test_a_disturbed_tuning_is_repeated(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch("models.peers.BUILD", folder):
            open(os.path.join(folder, "tilewright"), "w").close()
            bench = models.Bench(models.parse(["--build", folder]))
            store = bench.path("m", ".db")
            for other_cpus, disturbed in ((0.0, False), (1.0, True)):
                bench.put("tune/m/60", vars(ModelTuning(other_cpus=other_cpus)))
                bench.put("match/m", {"ratio": 1})
                self.assertEqual(bench.was_disturbed("m"), disturbed)
            open(store, "w").close()
            bench.discard("m")
            self.assertFalse(os.path.exists(store))
            self.assertFalse(bench.was_disturbed("m"))
            self.assertIsNone(bench.get("tune/m/60"))
            self.assertIsNone(bench.get("match/m"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
