#!/usr/bin/env python3
"""Stands in for `tilewright tune --json` in tests: answers with rounds of made-up latencies.

FAKE_TUNE in the environment is JSON: {"latencies": [...], "exit": 0, "trace": "..."}; each word
that is tuned gets the same answer. --search random doubles all latencies.
"""

import json
import os
import sys


def main():
    told = json.loads(os.environ["FAKE_TUNE"])
    words = sys.argv[2:]
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
    tasks = [{"name": name, "winner": winner} for name in names]
    result = {"tasks": tasks, "trials": len(trials), "seconds": 2.0, "trials_per_s": 10.0}
    print(json.dumps({"result": result}))


if __name__ == "__main__":
    main()
