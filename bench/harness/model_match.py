"""Compares a compiled model with the same model in other libraries, in alternating rounds, and compares the
outputs. Needs the Python packages onnx and numpy."""

import os
import re
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
MAX_RELATIVE_ERROR = 1e-5  # of our outputs
MAX_PEER_ERROR = 1e-4  # more lenient, so that a peer is rarely left out
MAX_TOKEN = 1000  # token ids are smaller


@dataclass
class Match(Played):
    """`ours` names the libraries that took part."""

    ours: tuple
    outcome: Outcome
    errors: dict = field(default_factory=dict)  # participant -> error relative to the reference

    def best_peer(self):
        """The name of the fastest peer whose outputs are right, or None."""
        fit = [name for name in PEERS if self.time_ns(name) and not self.is_wrong(name)]
        return min(fit, key=self.time_ns, default=None)

    def ratio(self, name, other):
        """The speed relative to the other participant; None if a time is missing, if the output is wrong, or
        if the reference took part but failed to check it."""
        mine, others = self.time_ns(name), self.time_ns(other) if other else None
        known = REFERENCE not in self.outcome.series or not self.unchecked()
        return others / mine if known and mine and others and not self.is_wrong(name) else None

    def is_wrong(self, name):
        most = MAX_PEER_ERROR if name in PEERS else MAX_RELATIVE_ERROR
        return not self.errors.get(name, 0.0) <= most  # also if it is NaN

    def unchecked(self):
        """Why outputs were not compared; None: they were."""
        if self.errors:
            return None
        reference = self.outcome.series.get(REFERENCE)
        label = PEERS[REFERENCE][0]
        if reference is None:
            return f"{label} did not take part"
        return f"{label} failed: {reference.failure or 'it gave no outputs'}"

    def ready(self, name, what):
        series = self.outcome.series.get(name)
        return series.ready.get(what) if series else None


def match_from_json(fields):
    return Match(tuple(fields["ours"]), outcome_from_json(fields), fields["errors"])


def parse_shapes(text):
    """`x:[1,3,224,224];y:[1]`, with blanks anywhere -> name -> shape."""
    shape = re.compile(r"([^;\s][^;]*?)\s*:\s*\[([\d\s,]*)\]")
    if shape.sub("", text).strip("; \t\n"):
        raise ValueError(f"--input-shapes is '{text}'; write it as x:[1,3,224,224];y:[1]")
    return {
        name: [int(word) for word in extents.split(",") if word.strip()]
        for name, extents in shape.findall(text)
    }


def given_arrays(words, names):
    """`NAME=FILE.npy`, or `FILE.npy` if the model has one input -> name -> array."""
    arrays = {}
    for word in words:
        name, equals, path = word.partition("=")
        if not equals or name not in names:
            if len(names) != 1:
                raise ValueError(f"{word}: say NAME=FILE.npy with one of {', '.join(names)}")
            name, path = names[0], word
        try:
            arrays[name] = np.load(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    return arrays


def inputs_of(model_path, shapes=None, given=()):
    """Name -> array: the given ones (see given_arrays); the others are the same each time: floats are
    normally distributed, masks are one, other integers are small."""
    graph = onnx.load(model_path, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    values = [value for value in graph.input if value.name not in constants]
    arrays = given_arrays(given, [value.name for value in values])
    return {
        value.name: _checked(value, arrays[value.name])
        if value.name in arrays
        else _made(value, (shapes or {}).get(value.name))
        for value in values
    }


def _checked(value, array):
    kind = value.type.tensor_type
    extents = [d.dim_value for d in kind.shape.dim]
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    fits = len(extents) == array.ndim and all(e in (0, n) for e, n in zip(extents, array.shape))
    if array.dtype != dtype or not fits:
        raise ValueError(f"{value.name}: the model wants {dtype}{extents}, the file has {array.dtype}{list(array.shape)}")
    return np.ascontiguousarray(array)


def _made(value, shape):
    kind = value.type.tensor_type
    shape = shape if shape is not None else [d.dim_value for d in kind.shape.dim]
    if not all(extent > 0 for extent in shape):
        raise ValueError(f"{value.name}: the model leaves its shape open: say --input-shapes")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    rng = np.random.default_rng(zlib.crc32(value.name.encode()))
    if np.issubdtype(dtype, np.floating):
        array = rng.standard_normal(shape)
    elif "mask" in value.name:
        array = np.ones(shape)
    else:
        array = rng.integers(0, 2 if "type" in value.name else MAX_TOKEN, shape)
    return array.astype(dtype)


def write_inputs(arrays, folder):
    """Writes one file of raw bytes per input. Returns the `inputs` of a request."""
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


def array_error(got, wanted):
    """max |got - wanted| / max |wanted|; infinite if shapes differ or an element is not finite."""
    got, wanted = (np.asarray(one, dtype=np.float64) for one in (got, wanted))
    if got.shape != wanted.shape or not (np.isfinite(got).all() and np.isfinite(wanted).all()):
        return float("inf")
    largest = np.abs(wanted).max(initial=0.0)
    difference = np.abs(got - wanted).max(initial=0.0)
    return float(difference / largest if largest else difference > 0)


def relative_error(types, folder, reference):
    """The largest array_error of any output."""
    worst = 0.0
    for index, dtype in enumerate(types):
        got, wanted = (
            np.fromfile(os.path.join(where, f"{index}.bin"), dtype=dtype)
            for where in (folder, reference)
        )
        worst = max(worst, array_error(got, wanted))
    return worst


def errors_of(names, outcome, model_path, folder):
    if REFERENCE not in outcome.series or outcome.series[REFERENCE].failure:
        return {}
    types = output_types(model_path)
    reference = os.path.join(folder, REFERENCE)
    fit = [name for name in names if not outcome.series[name].failure]
    return {name: relative_error(types, os.path.join(folder, name), reference) for name in fit}


def play(model_path, libraries, threads, rounds, slice_s, build_dir, with_peers, arrays=None):
    """`libraries`: name -> .so of the model. `with_peers`: names of PEERS. `arrays`: from inputs_of."""
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        inputs = write_inputs(arrays or inputs_of(model_path), folder)

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
