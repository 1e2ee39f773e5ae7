"""A compiled model against the same model in other libraries, in alternating rounds, with the outputs
compared. Needs the Python packages onnx and numpy."""

import os
import tempfile
import zlib
from dataclasses import dataclass, field

import numpy as np
import onnx

from harness import peers
from harness.compare import Contestant, Outcome, Played, compare, outcome_from_json

PEERS = {
    "onnxruntime": ("ONNX Runtime", lambda: peers.onnxruntime("model_worker.py")),
    "openvino": ("OpenVINO", lambda: peers.openvino("model_worker.py")),
}
REFERENCE = "onnxruntime"
MAX_RELATIVE_ERROR = 1e-4
MOST_TOKEN = 1000  # ids of tokens are below


@dataclass
class Match(Played):
    """`ours` names the libraries that took part."""

    ours: tuple
    outcome: Outcome
    errors: dict = field(default_factory=dict)  # participant -> against the reference

    def best_peer(self):
        """The name of the fastest peer whose outputs are right, or None."""
        fit = [name for name in PEERS if self.time_ns(name) and not self.is_wrong(name)]
        return min(fit, key=self.time_ns, default=None)

    def ratio(self, name, other):
        """How many times as fast as the other one; None without both times, or where it is wrong."""
        mine, others = self.time_ns(name), self.time_ns(other) if other else None
        return others / mine if mine and others and not self.is_wrong(name) else None

    def is_wrong(self, name):
        return self.errors.get(name, 0.0) > MAX_RELATIVE_ERROR

    def ready(self, name, what):
        series = self.outcome.series.get(name)
        return series.ready.get(what) if series else None


def match_from_json(fields):
    return Match(tuple(fields["ours"]), outcome_from_json(fields), fields["errors"])


def parse_shapes(text):
    """`x:[1,3,224,224];y:[1]` -> name -> shape."""
    shapes = {}
    for part in text.replace(" ", ";").split(";"):
        name, _, extents = part.rpartition(":")
        if name:
            shapes[name] = [int(word) for word in extents.strip("[]").split(",") if word]
    return shapes


def inputs_of(model_path, shapes=None):
    """Name -> array, the same each time: floats are normal, masks are one, other integers small."""
    graph = onnx.load(model_path, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    result = {}
    for value in graph.input:
        if value.name in constants:
            continue
        kind = value.type.tensor_type
        shape = (shapes or {}).get(value.name) or [d.dim_value for d in kind.shape.dim]
        if not all(extent > 0 for extent in shape):
            raise ValueError(f"{value.name}: the model leaves its shape open: say --input-shapes")
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        rng = np.random.default_rng(zlib.crc32(value.name.encode()))
        if np.issubdtype(dtype, np.floating):
            array = rng.standard_normal(shape)
        elif "mask" in value.name:
            array = np.ones(shape)
        else:
            array = rng.integers(0, 2 if "type" in value.name else MOST_TOKEN, shape)
        result[value.name] = array.astype(dtype)
    return result


def write_inputs(arrays, folder):
    """Raw bytes a file; gives the `inputs` of a request."""
    result = []
    for index, (name, array) in enumerate(arrays.items()):
        path = os.path.join(folder, f"input{index}.bin")
        array.tofile(path)
        fields = {"name": name, "file": path, "type": array.dtype.name, "shape": list(array.shape)}
        result.append(fields)
    return result


def output_types(model_path):
    graph = onnx.load(model_path, load_external_data=False).graph
    return [
        onnx.helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type) for o in graph.output
    ]


def relative_error(types, folder, reference):
    """The largest max |a - b| / max |b| of any output; infinite where sizes differ or numbers are
    none."""
    worst = 0.0
    for index, dtype in enumerate(types):
        got, wanted = (
            np.fromfile(os.path.join(where, f"{index}.bin"), dtype=dtype).astype(np.float64)
            for where in (folder, reference)
        )
        if got.size != wanted.size or not np.isfinite(got).all():
            return float("inf")
        largest = np.abs(wanted).max(initial=0.0)
        difference = np.abs(got - wanted).max(initial=0.0)
        worst = max(worst, difference / largest if largest else float(difference > 0))
    return float(worst)


def errors_of(names, outcome, model_path, folder):
    if REFERENCE not in outcome.series or outcome.series[REFERENCE].failure:
        return {}
    types = output_types(model_path)
    reference = os.path.join(folder, REFERENCE)
    fit = [name for name in names if not outcome.series[name].failure]
    return {name: relative_error(types, os.path.join(folder, name), reference) for name in fit}


def play(model_path, libraries, threads, rounds, slice_s, build_dir, with_peers, shapes=None):
    """`libraries`: name -> .so of the model. `with_peers`: names of PEERS."""
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        inputs = write_inputs(inputs_of(model_path, shapes), folder)

        def spec(name, **more):
            output = os.path.join(folder, name)
            os.makedirs(output, exist_ok=True)
            fields = {"kind": "model", "model": os.path.abspath(model_path), "threads": threads}
            return fields | {"inputs": inputs, "output_dir": output} | more

        entrants = {
            name: Contestant(lambda: peers.ours(build_dir), spec(name, library=library))
            for name, library in libraries.items()
        }
        for name in with_peers:
            entrants[name] = Contestant(PEERS[name][1], spec(name))
        outcome = compare(entrants, threads, rounds, slice_s)
        errors = errors_of(list(entrants), outcome, model_path, folder)
        return Match(tuple(libraries), outcome, errors)
