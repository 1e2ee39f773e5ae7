"""Tests of the suite as values and of inputs as files. Needs only Python. Run from bench/:

python3 -m unittest harness.suite_test
"""

import json
import math
import os
import re
import tempfile
import unittest

from harness import data, suite

# Operators whose signature is a formula instead of a list of operands.
INFORMAL = ("conv2d_bias_bn_relu", "transpose_batch_matmul_softmax", "attention")


def signature_ranks(text):
    """X[n,m] W[m] -> y[b] = ... gives {"X": 2, "W": 1, "Y": 1}."""
    operands = text.partition(";")[0].partition(" = ")[0]
    found = re.findall(r"(\w+)\[([^\]]*)\]", operands)
    return {name.upper() if len(name) == 1 else name: dims.count(",") + 1 for name, dims in found}


class SuiteTest(unittest.TestCase):
    def setUp(self):
        self.suite = suite.load()

    def test_operands_are_those_of_the_signatures(self):
        with open(os.path.join(suite.BENCH, "suite.json")) as file:
            signatures = json.load(file)["signatures"]
        self.assertEqual(set(signatures) | {suite.FLOOR.op}, set(suite.OPERANDS))
        for workload in self.suite.values():
            if workload.op not in INFORMAL:
                ranks = {name: len(shape) for name, shape in workload.shapes().items()}
                wanted = signature_ranks(signatures[workload.op])
                if workload.params.get("b") == 1 and workload.op == "batch_matmul":
                    wanted = {name: rank - 1 for name, rank in wanted.items()}
                self.assertEqual(ranks, wanted, workload.name)
                self.assertEqual(list(ranks), list(wanted), workload.name)

    def test_shapes_agree_with_the_flop_of_the_suite(self):
        reduced = {  # multiply-adds of one element of the output
            "matmul": lambda s: s["A"][-1],
            "batch_matmul": lambda s: s["A"][-1],
            "conv1d": lambda s: math.prod(s["W"][:-1]),
            "conv2d": lambda s: math.prod(s["W"][:-1]),
            "conv3d": lambda s: math.prod(s["W"][:-1]),
            "conv2d_bias_bn_relu": lambda s: math.prod(s["W"][:-1]),
            "depthwise_conv2d": lambda s: math.prod(s["W"][:-1]),
            "conv2d_capsule": lambda s: math.prod(s["W"][:3]) * s["W"][4],
            "norm": lambda s: math.prod(s["X"][1:]),
            "transpose_batch_matmul": lambda s: s["Q"][-1],
            "transpose_batch_matmul_softmax": lambda s: s["Q"][-1],
            "attention": lambda s: 2 * s["Q"][-2],
        }
        checked = set()
        for workload in self.suite.values():
            if workload.op in reduced:
                shapes = workload.shapes()
                output = list(shapes.values())[-1]
                flop = 2 * math.prod(output) * reduced[workload.op](shapes)
                self.assertEqual(workload.flop, flop, workload.name)
                checked.add(workload.op)
        self.assertEqual(checked, set(reduced))

    def test_specs(self):
        for name, spec in (
            ("GMM3", "matmul:m=1024,n=1024,k=1024,constant=none"),
            ("MM.16x4096x4096", "matmul:m=16,n=4096,k=4096,constant=B"),
            ("C3D2", "C3D2"),
            ("TBS0", "TBS0"),
        ):
            self.assertEqual(self.suite[name].spec(), spec)
        batch = suite.Workload("x", "batch_matmul", {"b": 2, "m": 3, "n": 4, "k": 5}, 0, ())
        self.assertEqual(batch.spec(), "batch_matmul:b=2,m=3,n=4,k=5,constant=none")
        self.assertEqual(self.suite["C2D2"].batched(16).spec(), "C2D2.b16")

    def test_constants(self):
        for name, constants in (
            ("GMM3", []),
            ("C2D2", ["W"]),
            ("CBR1", ["W", "bias", "scale", "shift"]),
            ("MM.16x4096x4096", ["B"]),
            ("LN.4096x4096", ["scale", "shift"]),
        ):
            self.assertEqual(self.suite[name].constants(), constants)

    def test_bytes(self):
        norm = self.suite["NRM0"]
        self.assertEqual(norm.input_bytes(), 4 * 256 * 256)
        self.assertEqual(norm.bytes_moved(), 4 * 256 * 256 + 4)

    def test_requests_name_the_inputs_in_order(self):
        fields = self.suite["CBR1"].prepare_fields(2, "folder", "file")
        self.assertEqual(fields["inputs"], ["X", "W", "bias", "scale", "shift"])
        self.assertEqual((fields["threads"], fields["output_file"]), (2, "file"))
        self.assertNotIn("output_file", self.suite["CBR1"].prepare_fields(2, "folder"))


class DataTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_inputs_are_reproducible_and_differ(self):
        workload = suite.load()["GMM0"]
        read = {}
        for attempt in (1, 2):
            data.write_inputs(workload, self.folder)
            for name in "AB":
                values = data.read_floats(os.path.join(self.folder, name + ".bin"))
                self.assertEqual(values, read.setdefault(name, values))
        self.assertNotEqual(read["A"], read["B"])
        self.assertEqual(len(read["A"]), 128 * 128)
        self.assertTrue(all(-0.5 <= value < 0.5 for value in read["A"]))
        self.assertLess(abs(sum(read["A"])) / len(read["A"]), 0.02)

    def test_errors_are_detected(self):
        def error(got, wanted):
            paths = [os.path.join(self.folder, name) for name in ("got", "wanted")]
            for path, values in zip(paths, (got, wanted)):
                data.write_floats(path, values)
            return data.relative_error(*paths)

        nan, inf = float("nan"), float("inf")
        self.assertEqual(error([1, 2], [1, 2]), 0)
        self.assertEqual(error([1, 3], [1, 4]), 0.25)
        self.assertEqual(error([0, 0], [0, 0]), 0)
        for bad in ([1], [1, nan], [nan, 2], [1, -inf], []):
            self.assertEqual(error(bad, [1, 2]), inf)
        self.assertEqual(error([1, 2], [1, nan]), inf)


if __name__ == "__main__":
    unittest.main()
