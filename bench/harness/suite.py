"""The operator suite as values: shapes, inputs, and the operator as our command line writes it."""

import array
import json
import math
import os
import random
import sys
from dataclasses import dataclass

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "depthwise_conv2d")
MATMULS = ("matmul", "batch_matmul")


class Unsupported(Exception):
    """A name or an operator that this bench does not know."""


@dataclass(frozen=True)
class Workload:
    """One line of suite.json."""

    name: str
    op: str
    params: dict
    flop: int
    constant: tuple

    def shapes(self):
        """Operand -> dimensions, inputs first, the output last."""
        p = self.params
        if self.op in MATMULS:
            batch = [p["b"]] if p.get("b", 1) > 1 else []
            return {
                "A": [*batch, p["m"], p["k"]],
                "B": [*batch, p["k"], p["n"]],
                "C": [*batch, p["m"], p["n"]],
            }
        if self.op in CONVOLUTIONS:
            kernel = [p["kernel"]] * len(p["in_spatial"])
            return {
                "X": [p["n"], *p["in_spatial"], p["ci"]],
                "W": [*kernel, p["ci"] // p["groups"], p["co"]],
                "Y": [p["n"], *p["out_spatial"], p["co"]],
            }
        if self.op == "softmax":
            return {"X": [p["m"], p["n"]], "Y": [p["m"], p["n"]]}
        raise Unsupported(f"{self.op} is not in this bench")

    def inputs(self):
        return list(self.shapes())[:-1]

    def constants(self):
        """The suite says "weight"; the operand is W or B."""
        weight = "B" if self.op in MATMULS else "W"
        return [weight if name == "weight" else name for name in self.constant]

    def spec(self):
        """The operator for our command line: C2D2 -> conv2d:n=1,h=14,w=14,ci=256,..."""
        p = self.params
        name, values = self.op, dict(p)
        if self.op == "batch_matmul" and p["b"] == 1:
            name, values = "matmul", {key: p[key] for key in "mnk"}
        if self.op in CONVOLUTIONS:
            letters = {1: "l", 2: "hw", 3: "dhw"}[len(p["in_spatial"])]
            values = {"n": p["n"], **dict(zip(letters, p["in_spatial"]))}
            keys = ("ci", "co", "kernel", "stride", "pad", "dilation", "groups")
            values.update((key, p[key]) for key in keys)
        return f"{name}:" + ",".join(f"{key}={value}" for key, value in values.items())

    def bytes_moved(self):
        """Inputs read once and the output written once, f32."""
        return 4 * sum(math.prod(shape) for shape in self.shapes().values())

    def prepare_fields(self, threads, input_dir, output_file=None):
        """The `prepare` of this workload, the same for every worker."""
        fields = {
            "kind": "kernel",
            "name": self.name,
            "op": self.spec(),
            "workload": {"op": self.op, "params": self.params},
            "shapes": self.shapes(),
            "constants": self.constants(),
            "threads": threads,
            "input_dir": input_dir,
        }
        return fields | ({"output_file": output_file} if output_file else {})


def load(path=os.path.join(BENCH, "suite.json")):
    """Name -> Workload, in the order of the file."""
    with open(path) as file:
        entries = json.load(file)["workloads"]
    return {
        entry["name"]: Workload(**entry | {"constant": tuple(entry["constant"])})
        for entry in entries
    }


def write_inputs(workload, folder, seed=1):
    """Uniform in [-0.5, 0.5), the same on every machine."""
    rng = random.Random(f"{workload.name}/{seed}")
    for operand in workload.inputs():
        count = math.prod(workload.shapes()[operand])
        values = array.array("f", (rng.random() - 0.5 for _ in range(count)))
        if sys.byteorder == "big":
            values.byteswap()
        with open(os.path.join(folder, operand + ".bin"), "wb") as file:
            values.tofile(file)


def read_floats(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def relative_error(path, reference_path):
    """max |a - b| / max |b|, infinite if sizes differ or anything is not a number."""
    got, wanted = read_floats(path), read_floats(reference_path)
    if len(got) != len(wanted) or not wanted:
        return math.inf
    worst = 0.0
    for a, b in zip(got, wanted):
        error = abs(a - b)
        if not error <= worst:  # also true for NaN
            worst = error
            if worst != worst:
                return math.inf
    largest = max(map(abs, wanted))
    return worst / largest if largest else (0.0 if worst == 0.0 else math.inf)
