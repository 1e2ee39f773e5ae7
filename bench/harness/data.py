"""Inputs and outputs of workloads as files: f32, little-endian, row-major. Uses numpy if it is installed, else
the standard library, whose C loops take about a second for sixteen million elements."""

import array
import math
import operator
import os
import random
import sys

try:
    import numpy as np
except ImportError:
    np = None


def write_inputs(workload, folder, seed=1):
    """FOLDER/<operand>.bin for each input: multiples of 2^-16, uniform in [-0.5, 0.5), the same on
    every machine."""
    rng = random.Random(f"{workload.name}/{seed}")
    shapes = workload.shapes()
    for name in workload.inputs():
        path, integers = os.path.join(folder, name + ".bin"), rng.randbytes(2 * math.prod(shapes[name]))
        if np is not None:
            (np.frombuffer(integers, "<i2") * np.float32(2.0**-16)).astype("<f4", copy=False).tofile(path)
            continue
        integers = array.array("h", integers)
        if sys.byteorder == "big":
            integers.byteswap()
        write_floats(path, map((2.0**-16).__mul__, integers))


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
    """max |a - b| / max |b|, infinite if sizes differ or an element is not finite."""
    if np is not None:
        return _relative_error(np.fromfile(path, "<f4"), np.fromfile(reference_path, "<f4"))
    got, wanted = read_floats(path), read_floats(reference_path)
    if len(got) != len(wanted) or not wanted:
        return math.inf
    if not all(map(math.isfinite, (sum(got), sum(wanted)))):  # a sum shows any NaN or infinity
        return math.inf
    worst = max(map(abs, map(operator.sub, got, wanted)))
    largest = max(map(abs, wanted))
    return worst / largest if largest else (0.0 if worst == 0.0 else math.inf)


def _relative_error(got, wanted):
    """The same by numpy, in pieces, so that no large array is converted at once."""
    if len(got) != len(wanted) or not len(wanted):
        return math.inf
    worst = largest = 0.0
    for begin in range(0, len(wanted), 1 << 20):
        a, b = (one[begin : begin + (1 << 20)].astype(np.float64) for one in (got, wanted))
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            return math.inf
        worst, largest = max(worst, float(np.abs(a - b).max())), max(largest, float(np.abs(b).max()))
    return worst / largest if largest else (0.0 if worst == 0.0 else math.inf)
