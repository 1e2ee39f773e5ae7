"""Writes ONNX's own node tests into one file, for onnx_conformance.

    .venv/bin/python tests/onnx/make_node_tests.py OUT [SEEDS]

With SEEDS, also writes each model into that folder, as a seed for fuzzing. The package `onnx` makes the tests
by running its reference code; a few draw random numbers, with a fixed seed. The file has a line of JSON about
all tests. Each test is a line of JSON with the lengths of the parts that follow: the model, its inputs and
the expected outputs, all as protobuf.
"""

import collections
import json
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

FORMAT = 1


def tensor_bytes(value):
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    if isinstance(value, (np.ndarray, np.generic)):
        return numpy_helper.from_array(np.asarray(value)).SerializeToString()
    return None  # a sequence, an optional, a map


def all_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from all_nodes(attribute.g)
            for inner in attribute.graphs:
                yield from all_nodes(inner)


def element_types(graph):
    types = set()
    for value in [*graph.input, *graph.output]:
        kind = value.type.WhichOneof("value")
        number = value.type.tensor_type.elem_type
        types.add(onnx.TensorProto.DataType.Name(number).lower() if kind == "tensor_type" else kind)
    return sorted(types)


def operator_versions():
    versions = collections.defaultdict(set)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            versions[schema.name].add(schema.since_version)
    return {name: sorted(numbers) for name, numbers in sorted(versions.items())}


def write_case(file, case):
    inputs, outputs = case.data_sets[0]
    parts = [[tensor_bytes(value) for value in values] for values in (inputs, outputs)]
    is_tensors = all(part is not None for part in [*parts[0], *parts[1]])
    if not is_tensors:
        parts = [[], []]
    model = case.model.SerializeToString()
    graph = case.model.graph
    header = {
        "name": case.name,
        "rtol": case.rtol,
        "atol": case.atol,
        "tensors": is_tensors,
        "operators": sorted({(f"{n.domain}." if n.domain else "") + n.op_type for n in all_nodes(graph)}),
        "types": element_types(graph),
        "model": len(model),
        "inputs": [len(part) for part in parts[0]],
        "outputs": [len(part) for part in parts[1]],
    }
    file.write(json.dumps(header).encode() + b"\n" + model + b"".join([*parts[0], *parts[1]]))


def write_file(out, cases):
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_suffix(".partial")
    with partial.open("wb") as file:
        about = {"format": FORMAT, "onnx": onnx.__version__, "operators": operator_versions()}
        file.write(json.dumps(about).encode() + b"\n")
        for case in cases:
            write_case(file, case)
    partial.rename(out)


def main():
    warnings.simplefilter("ignore")
    np.random.seed(0)
    from onnx.backend.test.case.node import collect_testcases  # runs every test's Python

    cases = sorted(collect_testcases(None), key=lambda case: case.name)
    write_file(pathlib.Path(sys.argv[1]), cases)
    if len(sys.argv) > 2:
        seeds = pathlib.Path(sys.argv[2])
        seeds.mkdir(parents=True, exist_ok=True)
        for case in cases:
            (seeds / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())


if __name__ == "__main__":
    main()
