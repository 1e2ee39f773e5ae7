"""A worker for tests: answers the protocol as the fields of `prepare` specify.

ns       the time that every slice reports, in nanoseconds
ready    fields of the `ready` line
fail     "prepare" answers error, "slice" dies in the second slice, "hang" never answers a slice,
         "spin" keeps a thread running after each slice, "babble" answers with something else
log      file to which "NAME begin" and "NAME end" are appended around each slice
output   list of numbers written to `output_file` as f32
"""

import array
import json
import sys
import threading
import time


def spin():
    while True:
        pass


def log(spec, event):
    if spec.get("log"):
        with open(spec["log"], "a") as file:
            file.write(f"{spec['name']} {event}\n")


def answer_slice(spec, count, seconds):
    fail = spec.get("fail")
    if fail == "slice" and count == 2:
        sys.exit("fake worker dies as told")
    if fail == "hang":
        time.sleep(3600)
    if fail == "spin" and count == 1:
        threading.Thread(target=spin, daemon=True).start()
    if fail == "babble":
        return "hello"
    log(spec, "begin")
    time.sleep(seconds)
    log(spec, "end")
    ns = spec["ns"]
    return "times " + json.dumps({"count": 1, "min_ns": ns, "p10_ns": ns, "p50_ns": ns})


def main():
    spec, count = {}, 0
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "quit":
            return
        if word == "slice":
            count += 1
            answer = answer_slice(spec, count, float(rest))
        else:
            spec = json.loads(rest)
            if "output" in spec:
                with open(spec["output_file"], "wb") as file:
                    array.array("f", spec["output"]).tofile(file)
            answer = "ready " + json.dumps(spec.get("ready", {}))
            if spec.get("fail") == "prepare":
                answer = 'error {"message": "told to refuse"}'
        print(answer, flush=True)


if __name__ == "__main__":
    main()
