#!/usr/bin/env python3
"""./dev bench one_model: one cost model for all tasks of a run against one model per task.

    ./dev bench one_model resnet18 mobilenet_v2 bert_tiny_128 --seconds 120 --seeds 1 2 3

Each model is tuned from an empty store, with each scope and seed, for the same time. The table shows the time
until the kernels of a run together were within 2 % of the best result of all runs of that model, and of the
final result of the run; and the share of the wall time spent on learning, which must stay below 10 %. Arms
alternate, so that a drift of the machine affects both equally.

A completed arm is stored (build/bench/one_model), so an interrupted run resumes with the next one. --minutes
ends a call early, between two arms. Names are models of the model folder, or files.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from harness import peers, report
from harness.model_files import ModelError, materialized

SCOPES = ("task", "run")
NEAR = 0.98  # of the best result
MAX_LEARNING = 0.10  # of the wall time


class ArmError(Exception):
    """A run failed; the message is one line."""


def total_ns(best, weights, tasks):
    """The time of all kernels, weighted by their calls per run of the model; None until each has a time."""
    if len(best) < tasks:
        return None
    return sum(weights[task] * best[task] for task in best)


def curve_of(lines, tasks=None):
    """(seconds, line of JSON) pairs -> the stored form of an arm. Points are (seconds, total in ns)."""
    best, weights, points, result = {}, {}, [], {}
    learn_s = 0.0
    seen = []
    for seconds, line in lines:
        if "result" in line:
            result = line["result"]
            continue
        one = line.get("round")
        if one is None:
            continue
        learn_s += one["learn_s"]
        weights[one["task"]] = one.get("weight", 1)
        if "best_ns" in one:
            best[one["task"]] = one["best_ns"]
            seen.append((seconds, dict(best)))
    tasks = len(best) if tasks is None else tasks
    for seconds, known in seen:
        total = total_ns(known, weights, tasks)
        if total is not None and (not points or total < points[-1][1]):
            points.append((seconds, total))
    return {
        "points": points,
        "tasks": tasks,
        "learn_s": learn_s,
        "learning": result.get("learning"),
        "trials": result.get("trials"),
    }


def seconds_to(points, goal_ns):
    """The time at which the curve reached the goal; None: never."""
    return next((seconds for seconds, total in points if total <= goal_ns), None)


def run_arm(program, model, scope, seed, seconds, trials):
    with tempfile.TemporaryDirectory(prefix="tilewright-one-model-") as folder:
        command = [program, "tune", model, "--json", "--seed", str(seed), "--model-scope", scope]
        command += ["--records", os.path.join(folder, "records.db"), "--no-model-finals"]
        command += ["--seconds", str(seconds)] if seconds else ["--trials", str(trials)]
        begin = time.monotonic()
        lines = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            for text in run.stdout:
                lines.append((time.monotonic() - begin, json.loads(text)))
            said = run.stderr.read()
        if run.returncode != 0:
            raise ArmError((said.strip().splitlines() or [f"exit code {run.returncode}"])[-1])
        arm = curve_of(lines)
        arm["wall_s"] = time.monotonic() - begin
        return arm


def kept(path, make):
    """The content of the file, or the result of `make`, which is then stored in it."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    arm = make()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(arm, file)
    os.replace(unfinished, path)
    return arm


def learning_share(arm):
    """The share of all work after the verdicts of a round: encoding the samples, training, reporting to the
    explorer."""
    return arm["learn_s"] / arm["wall_s"]


def rows_of(model, arms):
    """`arms`: (scope, seed) -> arm. The goal follows from the best of all arms."""
    done = {key: arm for key, arm in arms.items() if arm["points"]}
    rows = []
    if not done:
        return rows
    best = min(arm["points"][-1][1] for arm in done.values())
    for (scope, seed), arm in sorted(done.items()):
        name = f"{model}/{scope}/{seed}"
        final = arm["points"][-1][1]
        rows += [
            {"name": name, "metric": "final_ns", "value": final},
            {"name": name, "metric": "to_98_of_best_s", "value": seconds_to(arm["points"], best / NEAR)},
            {"name": name, "metric": "to_98_of_own_s", "value": seconds_to(arm["points"], final / NEAR)},
            {"name": name, "metric": "learning_share", "value": learning_share(arm)},
        ]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--trials", type=int, default=None)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--scopes", nargs="+", choices=SCOPES, default=list(SCOPES))
    parser.add_argument("--build", default=peers.BUILD)
    parser.add_argument("--minutes", type=float, default=None, help="start no arm after N minutes")
    parser.add_argument("--json", default=None)
    options = parser.parse_args()
    if not options.seconds and not options.trials:
        options.seconds = 120.0
    budget = f"{options.seconds:g}s" if options.seconds else f"{options.trials}trials"
    program = os.path.join(options.build, "tilewright")
    folder = os.path.join(options.build, "bench", "one_model")
    begin = time.monotonic()
    arms = {model: {} for model in options.models}
    complete, failed = True, False
    for turn, seed in enumerate(options.seeds):
        for model in options.models:
            scopes = options.scopes if turn % 2 == 0 else list(reversed(options.scopes))
            for scope in scopes:
                name = os.path.basename(model).removesuffix(".onnx")
                path = os.path.join(folder, f"{name}-{scope}-{seed}-{budget}.json")
                late = options.minutes and time.monotonic() - begin > 60 * options.minutes
                if late and not os.path.exists(path):
                    complete = False
                    continue
                try:
                    what = model if os.path.exists(model) or ":" in model else materialized(model)
                    arms[model][scope, seed] = kept(
                        path,
                        lambda what=what, scope=scope, seed=seed: run_arm(
                            program, what, scope, seed, options.seconds, options.trials
                        ),
                    )
                except (ArmError, ModelError) as error:
                    print(f"{model}, {scope}, seed {seed}: {error}", file=sys.stderr)
                    failed = True
    rows = [row for model, one in arms.items() for row in rows_of(model, one)]
    metrics = ("final_ns", "to_98_of_best_s", "to_98_of_own_s", "learning_share")
    found = {(row["name"], row["metric"]): row["value"] for row in rows}
    lines = [
        [name] + [report.number(found[name, metric]) for metric in metrics]
        for name in sorted({name for name, _ in found})
    ]
    print(report.table(["model/scope/seed", *metrics], lines))
    shares = [row["value"] for row in rows if row["metric"] == "learning_share"]
    if shares:
        verdict = "below" if max(shares) < MAX_LEARNING else "NOT below"
        print(f"learning: at most {report.percent(max(shares))} of the wall time, {verdict} 10 %")
    if not complete:
        print("incomplete: repeat the command to resume")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report.stated(rows), file, indent=1)
    over = bool(shares) and max(shares) >= MAX_LEARNING
    return 1 if failed or over else 0


if __name__ == "__main__":
    sys.exit(main())
