"""For peers that run a whole model: inputs and outputs of a request as arrays, memory of the process."""

import os

import numpy as np


def read_inputs(spec):
    """Name -> array."""
    values = {}
    for one in spec["inputs"]:
        plain = np.fromfile(one["file"], dtype=np.dtype(one["type"]))
        values[one["name"]] = plain.reshape(one["shape"])
    return values


def write_outputs(spec, arrays):
    for index, array in enumerate(arrays):
        np.ascontiguousarray(array).tofile(os.path.join(spec["output_dir"], f"{index}.bin"))


def memory_kib(what):
    """`VmHWM` is the peak, `VmRSS` the current size."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(what + ":"):
                return int(line.split()[1])
    return 0
