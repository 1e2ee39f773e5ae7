"""Compares every peer on a small workload of every operator with the definition in numpy. Needs the packages
of the peers (./dev bench installs them into .venv), otherwise exits with 77. Run from bench/:

../.venv/bin/python -m peers.peers_test
"""

import contextlib
import itertools
import os
import sys
import tempfile
import unittest

from harness import data, peers
from harness.suite import OPERANDS, Workload
from harness.worker import Worker, WorkerError

SKIPPED = 77

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

LAUNCHERS = {
    "onednn": peers.onednn,
    "onnxruntime": peers.onnxruntime,
    "openvino": peers.openvino,
}
MAX_RELATIVE_ERROR = 1e-5


def convolution(spatial, kernel, stride=1, pad=0, dilation=1, groups=1, ci=6, co=10):
    out = [(e + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for e in spatial]
    return {
        "n": 2,
        "in_spatial": list(spatial),
        "out_spatial": out,
        "ci": ci,
        "co": co,
        "kernel": kernel,
        "stride": stride,
        "pad": pad,
        "dilation": dilation,
        "groups": groups,
    }


HEADS = {"b": 2, "seq": 5, "heads": 3, "dim": 4}
# Operator, parameters. Extents differ, so that exchanged dimensions are detected.
EXAMPLES = (
    ("matmul", {"m": 3, "n": 5, "k": 7}),
    ("batch_matmul", {"b": 2, "m": 3, "n": 5, "k": 7}),
    ("conv1d", convolution([9], 3, stride=2, pad=1)),
    ("conv2d", convolution([7, 8], 3, stride=2, pad=1)),
    ("conv2d", convolution([9, 8], 3, pad=1, dilation=2)),
    ("conv2d", convolution([5, 6], 3, pad=1, groups=2)),
    ("conv3d", convolution([4, 5, 6], 3, pad=1)),
    ("depthwise_conv2d", convolution([7, 8], 3, stride=2, pad=1, groups=10, ci=10)),
    (
        "conv2d_transpose",
        {
            "n": 2,
            "in_spatial": [3, 4],
            "out_spatial": [6, 8],
            "ci": 5,
            "co": 7,
            "kernel": 4,
            "stride": 2,
            "pad": 1,
        },
    ),
    ("conv2d_capsule", convolution([5, 6], 3, stride=2, pad=1) | {"capsule": 4}),
    ("conv2d_bias_bn_relu", convolution([5, 6], 3, pad=1)),
    ("norm", {"b": 3, "m": 4, "n": 5}),
    ("softmax", {"m": 4, "n": 9}),
    ("layer_norm", {"m": 4, "n": 9}),
    ("transpose_batch_matmul", HEADS),
    ("transpose_batch_matmul_softmax", HEADS),
    ("attention", HEADS),
    ("relu", {"extent": 9}),
)
CONSTANT = {
    "conv2d_bias_bn_relu": ("weight", "bias", "scale", "shift"),
    "layer_norm": ("scale", "shift"),
}


def workload_of(op, params):
    weight = ("weight",) if "conv" in op else ()
    return Workload(f"{op}.test", op, params, 0, CONSTANT.get(op, weight))


# --- the definitions, in f64 ---


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def define_convolution(p, x, w):
    """Sums over positions of the kernel, a product of matrices for each group."""
    groups, spatial = p["groups"], len(p["in_spatial"])
    x = np.pad(x, [(0, 0), *[(p["pad"], p["pad"])] * spatial, (0, 0)])
    y = np.zeros([p["n"], *p["out_spatial"], p["co"]])
    inputs, outputs = p["ci"] // groups, p["co"] // groups
    for position in itertools.product(range(p["kernel"]), repeat=spatial):
        window = shifted(x, position, p)
        for g in range(groups):
            part = window[..., g * inputs : (g + 1) * inputs]
            columns = slice(g * outputs, (g + 1) * outputs)
            y[..., columns] += part @ w[position][:, columns]
    return y


def shifted(x, position, p):
    """The elements of the padded X that meet this position of the kernel."""
    where = [slice(None)]
    for offset, extent in zip(position, p["out_spatial"]):
        begin = offset * p.get("dilation", 1)
        where.append(slice(begin, begin + (extent - 1) * p["stride"] + 1, p["stride"]))
    return x[tuple(where)]


def define_transposed(p, x, w):
    """Y[ho] sums X[hi] W[kh] over ho = hi * stride - pad + kh."""
    y = np.zeros([p["n"], *p["out_spatial"], p["co"]])
    positions = itertools.product(*map(range, (*p["in_spatial"], p["kernel"], p["kernel"])))
    for hi, wi, kh, kw in positions:
        ho, wo = (i * p["stride"] - p["pad"] + k for i, k in ((hi, kh), (wi, kw)))
        if 0 <= ho < p["out_spatial"][0] and 0 <= wo < p["out_spatial"][1]:
            y[:, ho, wo] += x[:, hi, wi] @ w[kh, kw]
    return y


def define_capsule(p, x, w):
    pads = [(p["pad"], p["pad"])] * 2
    x = np.pad(x, [(0, 0), *pads, (0, 0), (0, 0), (0, 0)])
    y = 0
    for position in itertools.product(range(p["kernel"]), repeat=2):
        y = y + np.einsum("nhwikc,kjcd->nhwijd", shifted(x, position, p), w[position])
    return y


def define_layer_norm(x, scale, shift):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def define(op, p, v):
    """The operator as the signatures of suite.json write it."""
    if op in ("matmul", "batch_matmul"):
        return v["A"] @ v["B"]
    if op == "depthwise_conv2d":
        return define_convolution(p, v["X"], v["W"][:, :, None, :])
    if op == "conv2d_transpose":
        return define_transposed(p, v["X"], v["W"])
    if op == "conv2d_capsule":
        return define_capsule(p, v["X"], v["W"])
    if op == "conv2d_bias_bn_relu":
        y = (define_convolution(p, v["X"], v["W"]) + v["bias"]) * v["scale"] + v["shift"]
        return np.maximum(y, 0)
    if op == "relu":
        return np.maximum(v["X"], 0)
    if op == "norm":
        return np.sqrt((v["X"] ** 2).sum((1, 2)))
    if op == "softmax":
        return softmax(v["X"])
    if op == "layer_norm":
        return define_layer_norm(v["X"], v["scale"], v["shift"])
    if op == "transpose_batch_matmul":
        return np.einsum("bshd,bthd->bhst", v["Q"], v["K"])
    if op == "transpose_batch_matmul_softmax":
        return softmax(np.einsum("bshd,bthd->bhst", v["Q"], v["K"]))
    if op == "attention":
        weights = softmax(v["Q"] @ v["K"].swapaxes(-1, -2) / np.sqrt(p["dim"]))
        return weights @ v["V"]
    return define_convolution(p, v["X"], v["W"])


class PeersTest(unittest.TestCase):
    def test_every_operator_has_an_example(self):
        self.assertEqual({op for op, _ in EXAMPLES}, set(OPERANDS))

    def test_peers_compute_the_definition(self):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            workers = {}
            for peer, launch in LAUNCHERS.items():
                command, environment = launch()
                workers[peer] = stack.enter_context(Worker(peer, command, None, environment))
            for op, params in EXAMPLES:
                workload = workload_of(op, params)
                data.write_inputs(workload, folder)
                wanted = self.write_definition(workload, folder)
                for peer, worker in workers.items():
                    with self.subTest(peer, op=op, params=params):
                        got = os.path.join(folder, peer)
                        worker.prepare(workload.prepare_fields(1, folder, got))
                        self.assertLess(data.relative_error(got, wanted), MAX_RELATIVE_ERROR)

    def write_definition(self, workload, folder):
        values = {}
        for name in workload.inputs():
            shape = workload.shapes()[name]
            numbers = np.array(data.read_floats(os.path.join(folder, name + ".bin")), np.float64)
            values[name] = numbers.reshape(shape)
        result = define(workload.op, workload.params, values)
        output = list(workload.shapes())[-1]
        self.assertEqual(list(result.shape), workload.shapes()[output], workload.op)
        path = os.path.join(folder, "definition")
        data.write_floats(path, result.ravel())
        return path


def main():
    for name, launch in LAUNCHERS.items():
        try:
            launch()
        except WorkerError as error:
            print(f"skipped: {name}: {error}")
            sys.exit(SKIPPED)
    unittest.main()


if __name__ == "__main__":
    main()
