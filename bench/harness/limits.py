"""The limit of a workload on this machine, and the workers that measure it: a register-only FMA loop, or
memory traffic of the same number of bytes, on the same threads."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Limit:
    """`work` is the work of a workload, in the unit of `done`, which is the field that a probe reports for
    one call. The fastest of several probes is the limit."""

    done: str  # "flop" or "bytes"
    work: Callable  # workload -> work per call
    probes: Callable  # (work, threads) -> name -> `prepare` of our worker

    @property
    def share(self):
        return "peak_share" if self.done == "flop" else "bandwidth_share"

    @property
    def rate(self):
        return "gflops" if self.done == "flop" else "gb_per_s"

    @property
    def unit(self):
        return "GFLOP/s" if self.done == "flop" else "GB/s"


def _copies(work, threads):
    """Half of the bytes are read, half are written."""
    fields = {"kind": "copy", "bytes": work // 2, "threads": threads}
    return {method: fields | {"method": method} for method in ("memcpy", "vector")}


PEAK = Limit("flop", lambda w: w.flop, lambda _, t: {"peak": {"kind": "peak", "threads": t}})
COPY = Limit("bytes", lambda w: w.bytes_moved(), _copies)
SUM = Limit(
    "bytes",
    lambda w: w.input_bytes(),
    lambda work, t: {"sum": {"kind": "sum", "bytes": work, "threads": t}},
)
BY_OPERATOR = {"softmax": COPY, "layer_norm": COPY, "norm": SUM}
PROBES = ("peak", "memcpy", "vector", "sum")


def limit_of(workload):
    return BY_OPERATOR.get(workload.op, PEAK)


def probes_of(workload, threads):
    limit = limit_of(workload)
    return limit.probes(limit.work(workload), threads)
