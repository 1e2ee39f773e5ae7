"""The operator suite as values: operands, bytes, and the name of a workload on our command line."""

import functools
import json
import math
import os
from dataclasses import dataclass, replace

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MATMULS = ("matmul", "batch_matmul")


class Unsupported(Exception):
    """A name that is neither in the suite nor a case of a benchmark."""


def _matmul(p):
    batch = [p["b"]] if p.get("b", 1) > 1 else []
    return {
        "A": [*batch, p["m"], p["k"]],
        "B": [*batch, p["k"], p["n"]],
        "C": [*batch, p["m"], p["n"]],
    }


def _convolution(p):
    kernel = [p["kernel"]] * len(p["in_spatial"])
    return {
        "X": [p["n"], *p["in_spatial"], p["ci"]],
        "W": [*kernel, p["ci"] // p.get("groups", 1), p["co"]],
        "Y": [p["n"], *p["out_spatial"], p["co"]],
    }


def _depthwise(p):
    shapes = _convolution(p)
    return shapes | {"W": [p["kernel"], p["kernel"], p["co"]]}


def _capsule(p):
    capsule = [p["capsule"]] * 2
    return {
        "X": [p["n"], *p["in_spatial"], *capsule, p["ci"]],
        "W": [p["kernel"], p["kernel"], *capsule, p["ci"], p["co"]],
        "Y": [p["n"], *p["out_spatial"], *capsule, p["co"]],
    }


def _conv2d_bias_bn_relu(p):
    shapes = _convolution(p)
    channels = {name: [p["co"]] for name in ("bias", "scale", "shift")}
    return {"X": shapes["X"], "W": shapes["W"], **channels, "Y": shapes["Y"]}


def _scores(p):
    rows = [p["b"], p["seq"], p["heads"], p["dim"]]
    return {"Q": rows, "K": rows, "S": [p["b"], p["heads"], p["seq"], p["seq"]]}


def _attention(p):
    rows = [p["b"], p["heads"], p["seq"], p["dim"]]
    return dict.fromkeys("QKVY", rows)


def _layer_norm(p):
    rows, row = [p["m"], p["n"]], [p["n"]]
    return {"X": rows, "scale": row, "shift": row, "Y": rows}


# Parameters -> operand -> dimensions, inputs in the order of the signature, the output last.
OPERANDS = {
    "matmul": _matmul,
    "batch_matmul": _matmul,
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "depthwise_conv2d": _depthwise,
    "conv2d_transpose": _convolution,
    "conv2d_capsule": _capsule,
    "conv2d_bias_bn_relu": _conv2d_bias_bn_relu,
    "norm": lambda p: {"X": [p["b"], p["m"], p["n"]], "Y": [p["b"]]},
    "softmax": lambda p: {"X": [p["m"], p["n"]], "Y": [p["m"], p["n"]]},
    "layer_norm": _layer_norm,
    "transpose_batch_matmul": _scores,
    "transpose_batch_matmul_softmax": _scores,
    "attention": _attention,
    "relu": lambda p: {"X": [p["extent"]], "Y": [p["extent"]]},
}
BATCH = {"softmax": "m", "layer_norm": "m", "matmul": "m"}  # multiplied by .b16; otherwise b or n


@dataclass(frozen=True)
class Workload:
    """One line of suite.json, or an additional workload of a benchmark."""

    name: str
    op: str
    params: dict
    flop: int
    constant: tuple

    def shapes(self):
        """Operand -> dimensions, inputs first, the output last."""
        return OPERANDS[self.op](self.params)

    def inputs(self):
        return list(self.shapes())[:-1]

    def constants(self):
        """The constants. The suite calls the second operand "weight", whatever its name is."""
        return [self.inputs()[1] if name == "weight" else name for name in self.constant]

    def spec(self):
        """The argument of our command line: the name in the suite. Products are written out, because a batch
        of one is a plain product: GMM3 -> matmul:m=1024,n=1024,k=1024,constant=none. So are operators that are
        not in the suite."""
        if self.op == "relu":
            return f"elementwise:shape={self.params['extent']},chain=relu"
        if self.op not in MATMULS:
            return self.name if self.name.partition(".b")[0] in _names() else self.written_out()
        params = dict(self.params)
        op = "matmul" if params.get("b", 1) == 1 else self.op
        if op == "matmul":
            params.pop("b", None)
        values = ",".join(f"{key}={value}" for key, value in params.items())
        return f"{op}:{values},constant={'+'.join(self.constants()) or 'none'}"

    def written_out(self):
        """conv2d:n=1,ci=17,...,h=14,w=14 or softmax:m=64,n=49"""
        params = {key: value for key, value in self.params.items() if not key.endswith("_spatial")}
        extents = dict(zip("hw", self.params.get("in_spatial", ())))
        values = ",".join(f"{key}={value}" for key, value in (params | extents).items())
        return f"{self.op}:{values},constant={'+'.join(self.constant) or 'none'}"

    def batched(self, count):
        """C2D2 -> C2D2.b16, with `count` times the batch."""
        key = BATCH.get(self.op) or ("b" if "b" in self.params else "n")
        params = self.params | {key: count * self.params[key]}
        return replace(self, name=f"{self.name}.b{count}", params=params, flop=count * self.flop)

    def input_bytes(self):
        shapes = self.shapes()
        return 4 * sum(math.prod(shapes[name]) for name in self.inputs())

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
            "inputs": self.inputs(),
            "constants": self.constants(),
            "threads": threads,
            "input_dir": input_dir,
        }
        return fields | ({"output_file": output_file} if output_file else {})


@functools.cache
def _names():
    return frozenset(load())


# Measures the overhead of a call.
FLOOR = Workload("floor", "relu", {"extent": 16}, 16, ())


def load(path=os.path.join(BENCH, "suite.json")):
    """Name -> Workload, in the order of the file."""
    with open(path) as file:
        entries = json.load(file)["workloads"]
    return {
        entry["name"]: Workload(**entry | {"constant": tuple(entry["constant"])})
        for entry in entries
    }
