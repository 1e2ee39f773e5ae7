#!/usr/bin/env python3
"""A fake of `tilewright tune --json` and `tilewright records export` for tests: prints rounds of made-up
latencies, the first of which is that of the default schedule.

FAKE_TUNE in the environment is JSON: {"latencies": [...], "exit": 0, "trace": "..."}; each tuned word gets
the same rounds. --search random doubles all latencies.
"""

import json
import os
import sys


def print_records(told):
    """One attempt per latency, each with a separate program and trace; the fastest schedule has the trace
    from FAKE_TUNE. The finals and the attempts of another task must not count."""
    print(json.dumps({"type": "run", "id": "r"}))
    timed = [t for t in told["latencies"] if t is not None]
    for number, latency in enumerate(timed):
        fastest = latency == min(timed[1:], default=None) and number > 0
        attempt = {"type": "attempt", "task": "t", "program": str(number), "protocol": "v1;warm"}
        attempt |= {"verdict": "timed", "latency_ns": latency}
        attempt |= {"trace": told["trace"] if fastest else f"trace {number}"}
        print(json.dumps(attempt))
        final = attempt | {"protocol": "v1;warm;interleaved", "latency_ns": 0.1, "trace": "final"}
        print(json.dumps(final))
        print(json.dumps(attempt | {"task": "other", "latency_ns": 0.1, "trace": "another task"}))


def main():
    told = json.loads(os.environ["FAKE_TUNE"])
    words = sys.argv[2:]
    if sys.argv[1] == "records":
        print_records(told)
        return
    with open(words[words.index("--records") + 1], "w") as file:
        file.write(" ".join(words))
    if told.get("exit"):
        sys.exit("fake tune fails as told")
    factor = 2 if "random" in words else 1
    latencies = [None if t is None else factor * t for t in told["latencies"]]
    trials = [
        {"verdict": "crash"} if t is None else {"verdict": "timed", "latency_ns": t}
        for t in latencies
    ]
    half = len(trials) // 2
    for number, part in enumerate((trials[:half], trials[half:])):
        one = {"round": number, "tried": len(part), "propose_s": 0.1, "learn_s": 0.1}
        one |= {"trials": part, "quality": {"top5": 0.8 + 0.1 * number}}
        print(json.dumps({"round": one}))
    names = words[: words.index("--json")]
    best = min(t for t in latencies if t is not None)
    winner = {"trace": told["trace"], "latency_ns": best}
    task = {"task": "t", "winner": winner, "default_trial_ns": latencies[0]}
    tasks = [task | {"name": name} for name in names]
    result = {"tasks": tasks, "trials": len(trials), "seconds": 2.0, "trials_per_s": 10.0}
    print(json.dumps({"result": result}))


if __name__ == "__main__":
    main()
