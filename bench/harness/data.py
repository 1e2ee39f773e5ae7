"""Inputs and outputs of workloads as files: f32, little-endian, row-major. Standard library only,
at the speed of its C loops: about a second for sixteen million elements."""

import array
import math
import operator
import os
import random
import sys


def write_inputs(workload, folder, seed=1):
    """FOLDER/<operand>.bin for each input: multiples of 2^-16, uniform in [-0.5, 0.5), the same on
    every machine."""
    rng = random.Random(f"{workload.name}/{seed}")
    shapes = workload.shapes()
    for name in workload.inputs():
        integers = array.array("h", rng.randbytes(2 * math.prod(shapes[name])))
        if sys.byteorder == "big":
            integers.byteswap()
        write_floats(os.path.join(folder, name + ".bin"), map((2.0**-16).__mul__, integers))


def write_floats(path, numbers):
    values = array.array("f", numbers)
    if sys.byteorder == "big":
        values.byteswap()
    with open(path, "wb") as file:
        values.tofile(file)


def read_floats(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    if sys.byteorder == "big":
        values.byteswap()
    return values


def relative_error(path, reference_path):
    """max |a - b| / max |b|, infinite if sizes differ or anything is not a finite number."""
    got, wanted = read_floats(path), read_floats(reference_path)
    if len(got) != len(wanted) or not wanted:
        return math.inf
    if not all(map(math.isfinite, (sum(got), sum(wanted)))):  # a sum shows any NaN or infinity
        return math.inf
    worst = max(map(abs, map(operator.sub, got, wanted)))
    largest = max(map(abs, wanted))
    return worst / largest if largest else (0.0 if worst == 0.0 else math.inf)
