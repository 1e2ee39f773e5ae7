"""The cases of `bench kernels`: workloads with thread counts and bars."""

import os
from dataclasses import dataclass

from harness import suite
from harness.suite import Workload

TRACES = os.path.join(suite.BENCH, "traces")
LONG_FLOP = 2e10  # --full leaves out cases with seconds per call; they run only by name
SHARE = "share"  # of the peak or of the bandwidth, whichever bounds the workload


@dataclass(frozen=True)
class Bar:
    """The minimum of a metric: SHARE, `vs_onednn` or `vs_onnxruntime`. With `of`, it applies to the ratio to
    another case in the same run."""

    minimum: float
    metric: str = SHARE
    of: str | None = None

    def __str__(self):
        if self.metric != SHARE:
            peer = {"vs_onednn": "oneDNN", "vs_onnxruntime": "ORT"}[self.metric]
            return f"{self.minimum:g} x {peer}"
        percent = f"{100 * self.minimum:g} %"
        return f"{percent} of {self.of.partition('/')[0]}" if self.of else percent


@dataclass(frozen=True)
class Case:
    """A workload with a thread count and, if it has one, a bar."""

    workload: str
    threads: int = 2
    bar: Bar | None = None

    @property
    def name(self):
        return f"{self.workload}/{self.threads}t"


# Primes, so that no tile divides anything. Neither operand is constant, as in GMM2.
PRIME = Workload(
    "PRIME.509x521x523",
    "matmul",
    {"m": 509, "n": 521, "k": 523},
    2 * 509 * 521 * 523,
    (),
)

CASES = (
    Case("GMM3", 1, Bar(0.90)),
    Case("GMM3", 2, Bar(0.85)),
    Case("GMM2", 2, Bar(0.85)),
    Case(PRIME.name, 2, Bar(0.80, of="GMM2/2t")),
    Case("C1D3", 2, Bar(0.75)),
    Case("C2D2", 1, Bar(0.90)),
    Case("C2D2", 2, Bar(0.85)),
    Case("C2D3", 2, Bar(0.80)),
    Case("C3D2", 2, Bar(0.80)),
    Case("GRP2", 2, Bar(0.80)),
    Case("DIL2", 2, Bar(0.80)),
    Case("CBR1", 2, Bar(0.80)),
    Case("T2D1", 2, Bar(0.60)),
    Case("DEP0", 2, Bar(1.0, "vs_onednn")),
    Case("NRM3", 2, Bar(0.70)),
    Case("SFM2", 2, Bar(0.70)),
    Case("LN.4096x4096", 2, Bar(0.70)),
    Case("TBS0", 2, Bar(2.0, "vs_onnxruntime")),
)


def load_workloads():
    """The suite and the additional workloads of this benchmark, by name."""
    return suite.load() | {PRIME.name: PRIME}


def choose_cases(names, full, workloads):
    """Names are GMM3 or GMM3/1t; without names, the cases with a bar; --full adds the whole suite. Cases that
    a bar refers to are included. An unknown name raises Unsupported."""
    known = {case.name: case for case in CASES}
    if not names and full:
        for workload in workloads.values():
            if workload.flop <= LONG_FLOP:
                known.setdefault(f"{workload.name}/2t", Case(workload.name))
    if not names:
        return list(known.values())
    chosen = {}
    for name in names:
        for case in _named(name, known, workloads):
            if case.bar and case.bar.of:
                chosen.setdefault(case.bar.of, known[case.bar.of])
            chosen.setdefault(case.name, case)
    return list(chosen.values())


def _named(name, known, workloads):
    base, slash, threads = name.partition("/")
    count = threads.removesuffix("t")
    if base not in workloads or (slash and not (count.isdigit() and int(count) > 0)):
        raise suite.Unsupported(
            f"no case {name}: say GMM3 or GMM3/1t, a name of bench/suite.json or {PRIME.name}"
        )
    if not slash:
        return [case for case in CASES if case.workload == base] or [Case(base)]
    case = Case(base, int(count))
    return [known.get(case.name, case)]


def trace_path(case, folder=TRACES):
    """The trace for this thread count, else the one for all, else None."""
    for name in (f"{case.workload}.{case.threads}t.trace", f"{case.workload}.trace"):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None
