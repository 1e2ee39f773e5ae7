"""Part 4 of `bench search`: the search against random candidates of the same space, and the contribution of
each part of the search. The default schedule, which every run tries first, counts for neither side, because
it would hide the results of the search."""

import statistics
from dataclasses import replace

from harness import report
from harness.cases import load_workloads
from harness.search_suite import TRIALS, request_of
from harness.tuned import TuneError, best_so_far, trials_to_reach

# One of each kind of operator that is compute-bound enough for schedules to differ.
WORKLOADS = ("C1D2", "C2D2", "GMM2", "GRP2", "T2D2", "TBG0")
SEEDS = (1, 2, 3)
MAX_TRIALS, MIN_GAIN, MIN_TOP5 = 70, 1.05, 0.9
SCHEDULED_TRIALS = 64  # per task, under one budget for all

# Omitted part -> flags of tune; names of rules and extensions as in `tilewright space --list`.
ABLATIONS = {
    "limited space: no fusion, no rfactor": ("--space-off", "tile_and_fuse,rfactor"),
    "beam search": ("--search", "beam"),
    "no fine-tuning: random samples only": ("--search", "random"),
    "no model": ("--cost", "none"),
    "analytic model only": ("--cost", "analytic"),
    "no packing": ("--space-off", "pack"),
    "no tails": ("--space-off", "tails"),
    "no register-level cache read": ("--space-off", "register_read"),
    "no unroll-and-jam": ("--space-off", "unroll_and_jam"),
    "no prefetch": ("--space-off", "prefetch"),
    "one tile structure": ("--space-off", "tile_structures"),
    "no further locations": ("--space-off", "locations"),
    "no lanes in reductions": ("--space-off", "reduction_lanes"),
    "no rows": ("--space-off", "rows"),
    "no streams": ("--space-off", "stream"),
}


def random_request(workload, seed):
    name = f"{workload.name}/random{seed}"
    return request_of(workload, seed, name=name, seconds=None, flags=("--search", "random"))


def search_request(workload, seed):
    return request_of(workload, seed, name=f"{workload.name}/search{seed}", seconds=None)


def compare_seed(workload, seed, tuner, matches):
    """Trials until the best random sample is reached (None: never), the final gain, the top-5 score, and
    whether the machine was idle otherwise."""
    found = tuner.run(search_request(workload, seed))
    drawn = tuner.run(random_request(workload, seed))
    if found.found() is None or drawn.found() is None:
        raise TuneError(f"{workload.name}: nothing valid was found")
    target = best_so_far(drawn.latencies_ns())[-1]
    reached = trials_to_reach(found.latencies_ns(), target) if target else None
    traces = {"search": found.found(), "random": drawn.found()}
    match = matches.play(f"random/{workload.name}/{seed}", workload, traces, False)
    quality = found.last_quality()
    quiet = all(part.trustworthy for part in (found, drawn, match))
    return reached, match.ratio("search", "random"), quality["top5"] if quality else None, quiet


def middle(values, missing):
    """The median, with `missing` in place of None; None if `missing` is the median."""
    value = statistics.median(missing if v is None else v for v in values)
    return None if value == missing else value


def run_random(options, tuner, matches, out):
    workloads = load_workloads()
    out.title(f"4. search against random, {TRIALS} trials, {len(SEEDS)} seeds, medians")
    rows, medians, quiet = [], [], True
    for name in [n for n in WORKLOADS if not options.only or n in options.only]:
        try:
            seeds = [compare_seed(workloads[name], seed, tuner, matches) for seed in SEEDS]
        except TuneError as error:
            out.say(f"! {error}")
            continue
        quiet = quiet and all(s[3] for s in seeds)
        never = float("inf")
        reached = middle([s[0] for s in seeds], never)
        gain, top5 = (middle([s[k] for s in seeds], 0.0) for k in (1, 2))
        medians.append((reached, gain, top5))
        told = "never" if reached is None else f"{reached:g}"
        rows.append([name, told, report.number(gain), report.number(top5)])
        out.row(name, "trials_to_random_best", reached)
        out.row(name, "gain_over_random", gain)
        out.row(name, "top5", top5)
    out.table(["workload", "trials to random's best", "gain", "top-5"], rows)
    if not medians:
        return
    trials = statistics.median(m[0] or float("inf") for m in medians)
    what = "trials to random's best, median of the workloads"
    out.bar_max(what, trials, MAX_TRIALS, trusted=quiet)
    for index, what, least in ((1, "gain over random", MIN_GAIN), (2, "top-5", MIN_TOP5)):
        value = middle([m[index] for m in medians], 0.0)
        out.bar(f"{what}, median of the workloads", value, least, trusted=quiet)
    alone = sum(1 for m in medians if (m[0] or 1e9) <= MAX_TRIALS and (m[1] or 0) >= MIN_GAIN)
    out.say(f"both of the first two alone: {alone} of {len(medians)} workloads")


# --- ablations ---


def run_ablations(options, tuner, matches, out):
    workloads = load_workloads()
    names = [n for n in WORKLOADS if not options.only or n in options.only]
    out.title(
        f"   left out, {TRIALS} trials: speed against the whole search (1 = as fast; lower: it "
        "was worth something)"
    )
    rows = []
    ratios = {what: {} for what in ABLATIONS}
    for name in names:
        for what, ratio in ablate(workloads[name], tuner, matches, out).items():
            ratios[what][name] = ratio
    for what in ABLATIONS:
        mean = report.geometric_mean([ratios[what].get(name) for name in names])
        rows.append([what, *(report.number(ratios[what].get(n)) for n in names)])
        rows[-1].append(report.number(mean))
        out.row(f"without: {what}", "speed_vs_whole", mean)
    rows.append(no_scheduler(names, workloads, tuner, matches, out))
    header = ["left out", *names, "mean"]
    out.table(header, rows)
    if options.write_docs and out.disturbed:
        out.say(f"! {options.write_docs} is not written: the machine did other work meanwhile")
    elif options.write_docs:
        write_docs(options.write_docs, header, rows)


def ablate(workload, tuner, matches, out):
    """Omitted part -> speed of the winner without it over that of the whole search, in the same rounds."""
    traces = {}
    try:
        whole = tuner.run(search_request(workload, 1))
    except TuneError as error:
        out.say(f"! {error}")
        return {}
    traces["whole"], busy = whole.found(), not whole.trustworthy
    for number, (what, flags) in enumerate(ABLATIONS.items()):
        request = request_of(
            workload, name=f"{workload.name}/without{number}", seconds=None, flags=flags
        )
        try:
            tuned = tuner.run(request)
        except TuneError as error:
            out.say(f"! {what}: {error}")
            continue
        traces[what], busy = tuned.found(), busy or not tuned.trustworthy
    usable = {what: trace for what, trace in traces.items() if trace is not None}
    if "whole" not in usable:
        return {}
    match = matches.play(f"ablation/{workload.name}", workload, usable, False)
    if not match.trustworthy or busy:
        out.say(f"! ablations of {workload.name}: other processes were running")
        out.disturbed = True
    return {what: match.ratio(what, "whole") for what in usable if what != "whole"}


def no_scheduler(names, workloads, tuner, matches, out):
    """All workloads under one budget: the speed with round robin over the speed with the scheduler."""
    words = tuple(workloads[name].spec() for name in names)
    runs = {}
    for label, flags in (("scheduler", ()), ("turns", ("--no-scheduler",))):
        trials = SCHEDULED_TRIALS * len(names)
        request = request_of(workloads[names[0]], name=f"all/{label}", what=words, trials=trials)
        try:
            runs[label] = tuner.run(replace(request, flags=flags, seconds=None))
        except TuneError as error:
            out.say(f"! no scheduler: {error}")
            return ["no scheduler", *[report.ABSENT] * (len(names) + 1)]
    ratios = []
    for index, name in enumerate(names):
        traces = {label: run.found(index) for label, run in runs.items()}
        if None in traces.values():
            ratios.append(None)
            continue
        match = matches.play(f"scheduler/{name}", workloads[name], traces, False)
        quiet = match.trustworthy and all(run.trustworthy for run in runs.values())
        out.disturbed = out.disturbed or not quiet
        ratios.append(match.ratio("turns", "scheduler"))
    mean = report.geometric_mean(ratios)
    out.row("without: no scheduler", "speed_vs_whole", mean)
    return ["no scheduler", *map(report.number, ratios), report.number(mean)]


def write_docs(path, header, rows):
    lines = [
        "# Contribution of each part of the search",
        "",
        f"Made by `./dev bench search --part 4 --write-docs {path}`. {report.machine_line()}.",
        "",
        f"Speed of the winner of {TRIALS} trials without a part, relative to the whole search;",
        "1 = as fast, lower = the part contributes. Winners run in the same alternating",
        "rounds; the default schedule, which every run tries first, does not count. The scheduler's row: all workloads under one budget of "
        f"{SCHEDULED_TRIALS} trials each.",
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
