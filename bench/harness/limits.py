"""What bounds a workload on this machine, and who measures that: a register-only FMA loop, or
memory traffic of as many bytes on the same threads."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Limit:
    """`work` of a workload is counted in the unit of `done`, the field that a measuring worker
    reports for one of its calls; the faster of several measuring workers is the limit."""

    done: str  # "flop" or "bytes"
    work: Callable  # workload -> how much of it a call does
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
