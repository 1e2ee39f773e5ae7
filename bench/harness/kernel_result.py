"""The result of a case of `bench kernels`: rates, shares, ratios, and their table."""

from dataclasses import dataclass

from harness import report
from harness.cases import SHARE, Case
from harness.compare import BUSY_CPUS
from harness.limits import PROBES, limit_of
from harness.rounds import QUANTILE

PEERS = {"onednn": "oneDNN", "onnxruntime": "ONNX Runtime"}
MAX_RELATIVE_ERROR = 1e-4


@dataclass(frozen=True)
class Result:
    """A measured case. Rates are flop/ns = GFLOP/s, or bytes/ns = GB/s where memory bounds it."""

    case: Case
    unit: str
    share: float | None  # of the limit
    rates: dict  # participant -> rate at the low quantile; "limit" is the fastest probe
    metrics: dict  # as in the rows of --json
    details: dict  # participant -> details from its `ready`
    failures: dict  # participant -> why it has no time
    errors: dict  # participant -> error of its output over max |out|
    other_cpus: float
    kept: bool = False

    @property
    def wrong_sample(self):
        """The wrong element that our worker reports, or nothing."""
        return self.details.get("ours", {}).get("wrong", "")

    @property
    def wrong(self):
        return bool(self.wrong_sample) or self.errors.get("ours", 0.0) > MAX_RELATIVE_ERROR

    @property
    def checked(self):
        """True if our output could be compared with that of a peer."""
        return "ours" in self.errors


def rates_at(outcome, workload, q):
    """Participant -> rate; None for one without a time."""
    limit = limit_of(workload)
    rates = {}
    for name, series in outcome.series.items():
        time_ns = series.time_ns(q)
        done = series.ready.get(limit.done) if name in PROBES else limit.work(workload)
        rates[name] = done / time_ns if time_ns and done else None
    rates["limit"] = max((rates[name] for name in PROBES if rates.get(name)), default=None)
    return rates


def ratio(a, b):
    return a / b if a and b else None


def result_of(case, workload, outcome, errors):
    low, middle = rates_at(outcome, workload, QUANTILE), rates_at(outcome, workload, 0.5)
    limit, ours, series = limit_of(workload), low.get("ours"), outcome.series["ours"]
    fastest_peer = max((low[name] for name in PEERS if low.get(name)), default=None)
    share = ratio(ours, low["limit"])
    metrics = {
        limit.share: share,
        f"{limit.share}_at_median": ratio(middle.get("ours"), middle["limit"]),
        limit.rate: ours,
        f"limit_{limit.rate}": low["limit"],
        "gflops": ratio(workload.flop, series.time_ns()),
        "median_us": ratio(series.time_ns(0.5), 1e3),
        "vs_best_peer": ratio(ours, fastest_peer),
        "max_relative_error": errors.get("ours"),
    }
    for name in PEERS:
        metrics[f"vs_{name}"] = ratio(ours, low.get(name))
        metrics[f"{name}_{limit.rate}"] = low.get(name)
    return Result(
        case=case,
        unit=limit.unit,
        share=share,
        rates=low,
        metrics=metrics,
        details={name: series.ready for name, series in outcome.series.items() if series.ready},
        failures={name: s.failure for name, s in outcome.series.items() if s.failure},
        errors=errors,
        other_cpus=outcome.other_cpus,
    )


def bar_value(result, results):
    """The value that the bar applies to; None without a bar, or if a time is missing."""
    bar = result.case.bar
    if bar is None:
        return None
    if bar.metric != SHARE:
        return result.metrics[bar.metric]
    if not bar.of:
        return result.share
    other = next((r for r in results if r.case.name == bar.of), None)
    return ratio(result.share, other.share) if other else None


def verdict(result, results=()):
    """`results` are all results of the run, for bars that refer to another case."""
    if result.wrong:
        return "WRONG"
    value = bar_value(result, results)
    if value is None:
        return report.ABSENT
    if not result.checked:
        return "unchecked"
    return "reached" if value >= result.case.bar.minimum else "short"


def rows_of(results):
    """The rows of --json."""
    rows = []
    for r in results:
        metrics = dict(r.metrics)
        if r.case.bar and r.case.bar.of:
            other = r.case.bar.of.partition("/")[0]
            metrics[f"share_vs_{other}"] = bar_value(r, results)
        named = {"name": r.case.name, "threads": r.case.threads}
        rows += [named | {"metric": m, "value": v} for m, v in metrics.items()]
    return rows


def print_results(results, rounds, slice_s):
    header = ["case", "unit", "ours", "limit", "share", "bar", "verdict"]
    header += ["oneDNN", "vs oneDNN", "ORT", "vs ORT", "error"]
    print(report.machine_line())
    print(
        f"{rounds} alternating rounds of {1000 * slice_s:g} ms slices; every time is the "
        f"{100 * QUANTILE:g}th percentile over slices of the slice's median call.\n"
        "limit: register-only FMA loop; for softmax and layer norm the faster of two copies, for "
        "the norm a sum; same threads and rounds.\n"
        "vs: our speed over the peer's. error: our output against ONNX Runtime's, over max |out|.\n"
    )
    print(report.table(header, [table_row(r, results) for r in results]))
    for note in notes(results):
        print(note)


def table_row(r, results):
    bar = str(r.case.bar) if r.case.bar else report.ABSENT
    row = [r.case.name, r.unit, report.number(r.rates.get("ours")), report.number(r.rates["limit"])]
    row += [report.percent(r.share), bar, verdict(r, results)]
    for name in PEERS:
        row += [report.number(r.rates.get(name)), report.number(r.metrics[f"vs_{name}"])]
    return [*row, error_text(r)]


def error_text(r):
    if r.checked:
        return f"{r.errors['ours']:.0e}"
    return "sampled" if r.rates.get("ours") else report.ABSENT


def notes(results):
    """Notes on the table, one line each."""
    lines = {}
    for r in results:
        for name, reason in r.failures.items():
            label = PEERS[name] if name in PEERS else name
            reason = reason.removeprefix(f"{label}: ").removeprefix(f"{name}: ")
            lines.setdefault(f"– {label}: {reason}", []).append(r.case.name)
        if r.wrong_sample:
            lines.setdefault(f"! wrong: {r.wrong_sample}", []).append(r.case.name)
        if r.errors.get("onednn", 0.0) > MAX_RELATIVE_ERROR:
            lines.setdefault("! oneDNN and ONNX Runtime disagree", []).append(r.case.name)
        if r.other_cpus > BUSY_CPUS:
            text = "other processes were running: not stored, run again on an idle machine"
            lines.setdefault(f"! {text}", []).append(f"{r.case.name} ({r.other_cpus:.1f} cpus)")
        if r.kept:
            lines.setdefault("= stored by an earlier run (--fresh measures again)", []).append(
                r.case.name
            )
        for name, label in PEERS.items():
            detail = r.details.get(name, {}).get("detail")
            if detail:
                lines.setdefault(f"  {label} used {detail}", []).append(r.case.name)
    return [f"{line}: {', '.join(names)}" for line, names in lines.items()]
