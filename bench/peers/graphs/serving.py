"""The worker's side of the protocol of the benchmarks, for peers in Python: times calls, answers messages.
bench/harness/__init__.py defines the protocol."""

import json
import math
import sys
import time


def run_slice(call, seconds):
    """As in bench/protocol.h: one untimed call, then timed calls for about that time."""
    call()
    durations = []
    begin = before = time.perf_counter_ns()
    while not durations or before - begin < seconds * 1e9:
        call()
        after = time.perf_counter_ns()
        durations.append(after - before)
        before = after
    durations.sort()
    last = len(durations) - 1
    return {
        "count": len(durations),
        "min_ns": durations[0],
        "p10_ns": durations[math.floor(last / 10)],
        "p50_ns": durations[last // 2],
    }


def serve(prepare):
    """`prepare` takes the request and returns the fields of `ready` and a function that makes one call."""
    call = None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        try:
            if word == "quit":
                return
            if word == "prepare":
                fields, call = prepare(json.loads(rest))
                answer = "ready " + json.dumps(fields)
            elif word == "slice" and call:
                answer = "times " + json.dumps(run_slice(call, float(rest)))
            else:
                raise ValueError(f"not understood or not prepared: {word}")
        except Exception as error:  # every failure is reported; the worker continues
            message = f"{type(error).__name__}: {error}".replace("\n", " ")
            answer = "error " + json.dumps({"message": message})
        print(answer, flush=True)
