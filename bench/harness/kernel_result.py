"""A case of `bench kernels` once measured: rates, shares, ratios, and the table that shows them."""

from dataclasses import dataclass

from harness import report
from harness.compare import BUSY_CPUS
from harness.rounds import QUANTILE

COPIES = ("memcpy", "vector")
PEERS = {"onednn": "oneDNN", "onnxruntime": "ONNX Runtime"}
MAX_RELATIVE_ERROR = 1e-4


@dataclass(frozen=True)
class Case:
    """A workload of the suite at a thread count; `bar` is the share it has to reach, if any."""

    workload: str
    threads: int = 2
    bar: float | None = None

    @property
    def name(self):
        return f"{self.workload}/{self.threads}t"


def memory_bound(workload):
    return workload.op == "softmax"


@dataclass(frozen=True)
class Result:
    """A case measured. Rates are flop/ns = GFLOP/s, or bytes/ns = GB/s where memory-bound."""

    case: Case
    unit: str
    rates: dict  # participant -> rate at the low quantile; "limit" is the peak or the best copy
    metrics: dict  # as in the rows of --json
    details: dict  # participant -> what it says of itself
    failures: dict  # participant -> why it has no time
    errors: dict  # participant -> error of its output over max |out|
    other_cpus: float
    kept: bool = False

    @property
    def wrong(self):
        return self.errors.get("ours", 0.0) > MAX_RELATIVE_ERROR

    @property
    def checked(self):
        """Whether there was an output of a peer to compare ours with."""
        return "ours" in self.errors


def rates_at(outcome, workload, q):
    """Participant -> rate; None for one without a time."""
    work = workload.bytes_moved() if memory_bound(workload) else workload.flop
    rates = {}
    for name, series in outcome.series.items():
        time_ns = series.time_ns(q)
        if name == "peak":
            done = series.ready.get("flop")
        elif name in COPIES:
            done = series.ready.get("bytes")
        else:
            done = work
        rates[name] = done / time_ns if time_ns and done else None
    limits = [rates[name] for name in ("peak", *COPIES) if rates.get(name)]
    rates["limit"] = max(limits) if limits else None
    return rates


def ratio(a, b):
    return a / b if a and b else None


def result_of(case, workload, outcome, errors):
    low, middle = rates_at(outcome, workload, QUANTILE), rates_at(outcome, workload, 0.5)
    ours = low.get("ours")
    fastest_peer = max((low[name] for name in PEERS if low.get(name)), default=None)
    share = "bandwidth_share" if memory_bound(workload) else "peak_share"
    rate = "gb_per_s" if memory_bound(workload) else "gflops"
    series = outcome.series["ours"]
    metrics = {
        share: ratio(ours, low["limit"]),
        f"{share}_at_median": ratio(middle.get("ours"), middle["limit"]),
        rate: ours,
        f"limit_{rate}": low["limit"],
        "gflops": ratio(workload.flop, series.time_ns()),
        "median_us": ratio(series.time_ns(0.5), 1e3),
        "vs_best_peer": ratio(ours, fastest_peer),
        "max_relative_error": errors.get("ours"),
    }
    for name in PEERS:
        metrics[f"vs_{name}"] = ratio(ours, low.get(name))
        metrics[f"{name}_{rate}"] = low.get(name)
    return Result(
        case=case,
        unit="GB/s" if memory_bound(workload) else "GFLOP/s",
        rates=low,
        metrics=metrics,
        details={name: series.ready for name, series in outcome.series.items() if series.ready},
        failures={name: s.failure for name, s in outcome.series.items() if s.failure},
        errors=errors,
        other_cpus=outcome.other_cpus,
    )


def share_of(result):
    return result.metrics.get("peak_share", result.metrics.get("bandwidth_share"))


def verdict(result):
    share, bar = share_of(result), result.case.bar
    if result.wrong:
        return "WRONG"
    if share is None or bar is None:
        return report.ABSENT
    if not result.checked:
        return "unchecked"
    return "reached" if share >= bar else "short"


def print_results(results, rounds, slice_s):
    header = ["case", "unit", "ours", "limit", "share", "bar", "verdict"]
    header += ["oneDNN", "vs oneDNN", "ORT", "vs ORT", "error"]
    rows = []
    for r in results:
        bar = report.percent(r.case.bar).replace(".0 %", " %")
        row = [
            r.case.name,
            r.unit,
            report.number(r.rates.get("ours")),
            report.number(r.rates["limit"]),
        ]
        row += [report.percent(share_of(r)), bar, verdict(r)]
        for name in PEERS:
            row += [report.number(r.rates.get(name)), report.number(r.metrics[f"vs_{name}"])]
        rows.append([*row, f"{r.errors['ours']:.0e}" if "ours" in r.errors else report.ABSENT])
    print(report.machine_line())
    print(
        f"{rounds} alternating rounds of {1000 * slice_s:g} ms slices; every time is the "
        f"{100 * QUANTILE:g}th percentile over slices of the slice's median call.\n"
        "limit: register-only FMA loop, or the faster of two copies, same threads and rounds.\n"
        "vs: our speed over the peer's. error: our output against ONNX Runtime's, over max |out|.\n"
    )
    print(report.table(header, rows))
    for note in notes(results):
        print(note)


def notes(results):
    """One line for everything that a reader of the table must know besides."""
    lines = {}
    for r in results:
        for name, reason in r.failures.items():
            label = PEERS[name] if name in PEERS else name
            lines.setdefault(f"– {label}: {reason}", []).append(r.case.name)
        if r.errors.get("onednn", 0.0) > MAX_RELATIVE_ERROR:
            lines.setdefault("! oneDNN and ONNX Runtime disagree", []).append(r.case.name)
        if r.other_cpus > BUSY_CPUS:
            text = "the machine did other work meanwhile: not kept, run again when it is quiet"
            lines.setdefault(f"! {text}", []).append(f"{r.case.name} ({r.other_cpus:.1f} cpus)")
        if r.kept:
            lines.setdefault("= kept from an earlier run here (--fresh measures anew)", []).append(
                r.case.name
            )
        detail = r.details.get("onednn", {}).get("detail")
        if detail:
            lines.setdefault(f"  oneDNN used {detail}", []).append(r.case.name)
    return [f"{line}: {', '.join(names)}" for line, names in lines.items()]
