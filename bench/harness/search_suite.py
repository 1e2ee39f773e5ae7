"""Parts 2 and 3 of `bench search`: the results of the search against the peers, MetaSchedule and the
schedules written by hand, all in alternating rounds."""

import hashlib
import os
import tempfile
from dataclasses import dataclass

from harness import data, metaschedule, peers, report, suite, versus
from harness.cases import CASES, Case, load_workloads, trace_path
from harness.compare import BUSY_CPUS, Contestant, compare
from harness.tuned import NotStored, Request, Tuned, TuneError, build_key
from harness.versus import PEERS, THREADS, Match, match_from_json
from harness.worker import WorkerError

COMPUTE_BOUND = ("C1D", "C2D", "C3D", "GMM", "GRP", "DIL", "CBR")
OTHERS = ("DEP", "T2D", "CAP", "NRM", "SFM", "TBG", "TBS")
BARS = {COMPUTE_BOUND: 1.0, OTHERS: 1.3}
WORST, MIN_OVER_ONEDNN = 0.97, 1.03
BATCH, MAX_BATCH_S = 16, 0.3  # workloads with calls below this time are also run with that batch
TRIALS, SECONDS = 200, 60.0
HAND_MATCHED, PEAK_SHARE = 0.97, 0.85
METHOD_FILES = ("suite.json", "protocol.h", "harness/rounds.py", "harness/data.py")


def classes():
    return (*COMPUTE_BOUND, *OTHERS)


def class_of(name):
    return name[:3]


def choose(full, only, workloads):
    """The workloads of part 2: number 2 of each class, or number 0 of DEP, TBG and TBS; with `full` all of
    them; or the names in `only`."""
    number = dict.fromkeys(classes(), 2) | dict.fromkeys(("DEP", "TBG", "TBS"), 0)
    subset = [f"{name}{number[name]}" for name in classes()]
    if only:
        return [named(name, workloads) for name in only]
    if not full:
        return [workloads[name] for name in subset]
    return [w for w in workloads.values() if class_of(w.name) in number and "." not in w.name]


def batches_of(lines):
    """The workloads of these lines with batch 16, where a call takes less than 0.3 s, estimated as 16 times its
    measured time. A workload without a time is left out."""
    single = [line for line in lines if "." not in line.workload.name and line.match]
    times = [(line.workload, line.match.time_ns("tuned")) for line in single]
    return [w.batched(BATCH) for w, time_ns in times if time_ns and BATCH * time_ns < MAX_BATCH_S * 1e9]


def named(name, workloads):
    base, dot, batch = name.partition(".b")
    if name in workloads:
        return workloads[name]
    if base in workloads and dot and batch.isdigit():
        return workloads[base].batched(int(batch))
    raise suite.Unsupported(f"no workload {name}: say C2D2 or C2D2.b16")


def request_of(workload, seed=1, **changes):
    fields = {"name": f"{workload.name}/{seed}", "what": (workload.spec(),), "seed": seed}
    return Request(**fields | {"trials": TRIALS, "seconds": SECONDS} | changes)


class Matches:
    """Plays matches, or returns their stored results."""

    def __init__(self, options, kept):
        self._options, self._kept = options, kept
        worker = build_key(options.build, (os.path.join("bench", "bench_worker"),))
        digest = hashlib.sha256(b"" if options.any_build else worker.encode())
        files = [os.path.join(suite.BENCH, name) for name in METHOD_FILES]
        files += [path for name in PEERS for path in peers.source_files(name)]
        for path in files:
            with open(path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
        digest.update(f"{options.rounds} {options.slice}".encode())
        self._method = digest.hexdigest()

    def play(self, name, workload, traces, with_peers):
        key = f"{self._method} {with_peers} {sorted(traces.items(), key=str)}"
        stored = None if self._options.fresh else self._kept.get(f"match/{name}", key)
        if stored:
            return match_from_json(workload, stored)
        if self._options.stored:
            raise NotStored()
        o = self._options
        match = versus.play(workload, traces, o.rounds, o.slice, o.build, with_peers)
        if match.trustworthy:
            self._kept.put(f"match/{name}", key, match.to_json())
        return match


@dataclass
class Line:
    """A workload of part 2 with its figures, or the reason why it has none."""

    workload: object
    tuned: Tuned | None = None
    match: Match | None = None
    problem: str = ""

    @property
    def trustworthy(self):
        """True if no other processes were running during tuning and measuring."""
        return all(part.trustworthy for part in (self.tuned, self.match) if part)

    @property
    def ratio(self):
        """The speed over the best peer; None if it is not known or the output is wrong."""
        return self.ratio_to(self.match.best_peer()) if self.match else None

    def ratio_to(self, peer):
        """The speed over a peer; None if it is not known or an output is wrong."""
        took_part = self.match and peer in self.match.outcome.series
        if not took_part or self.match.is_wrong("tuned") or self.match.is_wrong(peer):
            return None
        return self.match.ratio("tuned", peer)


def tune_and_play(workload, tuner, matches, shared="suite"):
    """The runs of one name share a store."""
    try:
        tuned = tuner.run(request_of(workload, shared=shared))
        trace = tuned.winner()
        if trace is None:
            return Line(workload, tuned, problem="nothing valid was found")
        traces = {"tuned": trace, "default": None}
        match = matches.play(f"{shared}/{workload.name}", workload, traces, True)
    except TuneError as error:
        return Line(workload, problem=str(error))
    return Line(workload, tuned, match)


def run_suite(options, tuner, matches, out):
    workloads = load_workloads()
    out.title(
        f"2. results of {TRIALS} trials or {SECONDS:g} s, against the best peer "
        f"({THREADS} threads, warm; one store for all, so later ones begin with its records; GFLOP/s)"
    )
    if not (options.only or options.stored):
        floor(options, matches, out)
    lines = []

    def run(chosen):
        for workload in chosen:
            lines.append(tune_and_play(workload, tuner, matches))
            out.progress(workload.name, lines[-1].ratio)

    run(choose(options.full, options.only, workloads))
    if options.full or options.batch:
        run(batches_of(lines))
    show(lines, out)
    for group, minimum in BARS.items():
        judge_group(lines, group, minimum, out)
    for batch in (1, BATCH):
        judge_onednn(lines, batch, out)
        judge_worst(lines, batch, out)
    run_metaschedule(options, tuner, workloads, out)


def show(lines, out):
    """The table of the lines, their notes and rows."""
    header = ["workload", "tuned", "share", "default", *(label for label, _ in PEERS.values())]
    header += ["best peer", "ratio", "trials", "s"]
    out.table(header, [row_of(line) for line in lines])
    for line in lines:
        note(line, out)
        add_rows(line, out)


def floor(options, matches, out):
    match = matches.play("floor", suite.FLOOR, {"default": None}, True)
    labels = {"default": "ours"} | {name: label for name, (label, _) in PEERS.items()}
    texts = []
    for name, label in labels.items():
        time_ns = match.time_ns(name)
        texts.append(f"{label} {report.number(time_ns / 1e3 if time_ns else None)}")
        out.row("floor", f"{name}_us", time_ns / 1e3 if time_ns else None)
    out.say("overhead of a call, us: " + ", ".join(texts))


def row_of(line):
    name, match = line.workload.name, line.match
    if match is None:
        return [name, *[report.ABSENT] * (8 + len(PEERS) - 1)]
    best = match.best_peer()
    row = [name, report.number(match.gflops("tuned")), report.percent(match.share("tuned"))]
    row += [report.number(match.gflops("default"))]
    row += [report.number(match.gflops(peer)) for peer in PEERS]
    row += [PEERS[best][0] if best else report.ABSENT, report.number(line.ratio)]
    result = line.tuned.result
    return [*row, str(result["trials"]), report.number(result["seconds"])]


def note(line, out):
    name = line.workload.name
    if line.problem:
        out.say(f"! {name}: {line.problem}")
    if line.tuned and not line.tuned.trustworthy:
        out.say(f"! {name}: tuned under load ({line.tuned.other_cpus:.1f} CPUs): not stored")
    if line.match is None:
        return
    if not line.match.trustworthy:
        out.say(f"! {name}: measured under load ({line.match.outcome.other_cpus:.1f} CPUs)")
    for who, reason in line.match.failures().items():
        out.say(f"– {name}: {reason if reason.startswith(who) else f'{who}: {reason}'}")
    for who in (*line.match.ours, *(p for p in PEERS if p in line.match.outcome.series)):
        if line.match.is_wrong(who):
            error = line.match.errors.get(who)
            out.say(f"! {name}: the output of {who} is WRONG ({error})")


def add_rows(line, out):
    name, match = line.workload.name, line.match
    out.row(name, "quiet", int(match is not None and line.trustworthy))
    if match is None:
        return
    out.row(name, "gflops", match.gflops("tuned"))
    out.row(name, "share", match.share("tuned"))
    out.row(name, "vs_best_peer", line.ratio)
    out.row(name, "vs_default", match.ratio("tuned", "default"))
    out.row(name, "trials", line.tuned.result["trials"])
    out.row(name, "seconds", line.tuned.result["seconds"])
    out.row(name, "other_cpus", max(line.tuned.other_cpus, match.outcome.other_cpus))
    for peer in PEERS:
        out.row(name, f"vs_{peer}", match.ratio("tuned", peer))
        out.row(name, f"{peer}_gflops", match.gflops(peer))


def at_batch(lines, batch):
    suffix = f".b{BATCH}"
    return [line for line in lines if line.workload.name.endswith(suffix) == (batch == BATCH)]


def judge_group(lines, group, minimum, out):
    for batch in (1, BATCH):
        chosen = [x for x in at_batch(lines, batch) if class_of(x.workload.name) in group]
        if not chosen:
            continue
        name = "compute-bound classes" if group == COMPUTE_BOUND else "the other classes"
        mean = report.geometric_mean([line.ratio for line in chosen])
        what = f"{name}, batch {batch}, {len(chosen)} workloads: geometric mean"
        if batch == 1:
            out.bar(what, mean, minimum, trusted=all(line.trustworthy for line in chosen))
        else:
            out.say(f"{what} {report.number(mean)}")
        out.row(f"{'compute' if group == COMPUTE_BOUND else 'others'}.b{batch}", "vs_best", mean)


def judge_onednn(lines, batch, out):
    chosen = [x for x in at_batch(lines, batch) if class_of(x.workload.name) in COMPUTE_BOUND]
    if not chosen:
        return
    mean = report.geometric_mean([line.ratio_to("onednn") for line in chosen])
    what = f"compute-bound classes, batch {batch}, over oneDNN: geometric mean"
    out.bar(what, mean, MIN_OVER_ONEDNN, trusted=all(line.trustworthy for line in chosen))
    out.row(f"compute.b{batch}", "vs_onednn", mean)


def judge_worst(lines, batch, out):
    single = at_batch(lines, batch)
    if not single:
        return
    known = [line for line in single if line.ratio is not None]
    worst = min(known, key=lambda line: line.ratio, default=None)
    value = worst.ratio if worst and len(known) == len(single) else None
    what = f"the worst workload of batch {batch}, {worst.workload.name if worst else 'none'}"
    out.bar(what, value, WORST, trusted=all(line.trustworthy for line in single))
    if len(known) < len(single):
        out.say(f"! {len(single) - len(known)} workloads have no ratio, so no worst is known")


# --- MetaSchedule ---


def run_metaschedule(options, tuner, workloads, out):
    names = [n for n in metaschedule.WORKLOADS if not options.only or n in options.only]
    if options.no_metaschedule or options.stored or not names:
        return
    out.title(f"   against TVM MetaSchedule, {metaschedule.TRIALS} trials each")
    rows = []
    for name in names:
        try:
            theirs = metaschedule.tune(workloads[name], THREADS)
            request = request_of(workloads[name], name=f"{name}/ms", seconds=None)
            ours = tuner.run(request)
            outcome = against(workloads[name], ours.winner(), options)
        except (WorkerError, TuneError) as error:
            out.say(f"! {name}: {error}")
            continue
        times = [outcome.series[who].time_ns() for who in ("tuned", "metaschedule")]
        speed = times[1] / times[0] if all(times) else None
        rate = ours.trials_per_s / theirs["trials_per_second"] if ours.trials_per_s else None
        rows.append(
            [name, *(report.number(t / 1e3 if t else None) for t in times), report.number(speed)]
            + [report.number(ours.trials_per_s), report.number(theirs["trials_per_second"])]
            + [report.number(rate)]
        )
        quiet = outcome.other_cpus <= BUSY_CPUS
        alone = ours.trustworthy and theirs["other_cpus"] <= BUSY_CPUS
        what = f"{name}: our kernel over MetaSchedule's"
        out.bar(what, speed, metaschedule.MIN_SPEED, trusted=quiet and alone)
        what = f"{name}: our trials per second over its"
        out.bar(what, rate, metaschedule.MIN_RATE, trusted=alone)
        out.row(name, "vs_metaschedule", speed)
        out.row(name, "trials_rate_vs_metaschedule", rate)
        for who, series in outcome.series.items():
            if series.failure:
                out.say(f"– {name}: {who}: {series.failure}")
    header = ["workload", "ours us", "theirs us", "speed", "ours trials/s", "theirs", "rate"]
    out.table(header, rows)


def against(workload, trace, options):
    if trace is None:
        raise TuneError("nothing valid was found")
    with tempfile.TemporaryDirectory(prefix="tilewright-bench-") as folder:
        data.write_inputs(workload, folder)
        ours = workload.prepare_fields(THREADS, folder, os.path.join(folder, "tuned.out"))
        theirs = metaschedule.spec_of(
            workload, THREADS, metaschedule.TRIALS, folder, os.path.join(folder, "ms.out")
        )
        entrants = {
            "tuned": Contestant(lambda: peers.ours(options.build), ours | {"trace": trace}),
            "metaschedule": Contestant(metaschedule.launcher(THREADS), theirs),
        }
        outcome = compare(entrants, THREADS, options.rounds, options.slice)
        outputs = [os.path.join(folder, name) for name in ("tuned.out", "ms.out")]
        if all(map(os.path.exists, outputs)):
            error = data.relative_error(*outputs)
            if error > versus.MAX_RELATIVE_ERROR:
                outcome.series["metaschedule"].failure = f"outputs differ by {error:.0e}"
        return outcome


# --- part 3 ---


def run_hand(options, tuner, matches, out):
    workloads = load_workloads()
    out.title("3. schedules written by hand, matched by search (same rounds)")
    names = [c.workload for c in CASES if c.threads == THREADS and trace_path(c)]
    names = [name for name in names if not options.only or name in options.only]
    rows, ratios, share, quiet = [], {}, None, {}
    for name in names:
        workload = workloads[name]
        with open(trace_path(Case(name, THREADS))) as file:
            hand = file.read()
        try:
            tuned = tuner.run(request_of(workload))
        except TuneError as error:
            out.say(f"! {name}: {error}")
            continue
        if tuned.winner() is None:
            out.say(f"! {name}: nothing valid was found")
            continue
        traces = {"tuned": tuned.winner(), "hand": hand}
        match = matches.play(f"hand/{name}", workload, traces, False)
        ratios[name] = None if match.is_wrong("tuned") else match.ratio("tuned", "hand")
        texts = [report.number(match.gflops(who)) for who in traces]
        rows.append([name, *texts, report.number(ratios[name]), report.percent(match.share("tuned"))])
        out.row(name, "vs_hand", ratios[name])
        share = match.share("tuned") if name == "GMM3" else share
        line = Line(workload, tuned, match)
        quiet[name] = line.trustworthy
        note(line, out)
    out.table(["workload", "tuned", "by hand", "ratio", "share"], rows)
    if "GMM3" in names:
        what = "GMM3 by search, share of the FMA peak"
        out.bar(what, share, PEAK_SHARE, trusted=quiet.get("GMM3", False))
        out.row("GMM3", "tuned_peak_share", share)
    known = len(ratios) == len(names) and None not in ratios.values()
    least = min(ratios.values()) if ratios and known else None
    what = f"the least ratio to a schedule by hand, of {len(names)}"
    out.bar(what, least, HAND_MATCHED, trusted=all(quiet.values()))
