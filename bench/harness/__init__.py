"""What the benches share: workers, alternating rounds, the suite, the machine, tables.

Every participant of a comparison (our kernel, the FMA peak, oneDNN, ONNX Runtime,
OpenVINO) is a *worker*: a
process of its own that speaks this protocol, one line per message, on stdin and stdout.

    orchestrator              worker
    prepare {json}            ready {json}    built, loaded, warmed; or
                              error {"message": "why not"}
    slice SECONDS             times {"count": n, "min_ns": a, "p10_ns": b, "p50_ns": c}
                              one untimed call, then calls for about SECONDS, at least one; or error
    quit                      leaves; so does the end of input

`prepare` of a workload has these fields, the same for every worker:

    kind         "kernel"
    name         name in the suite, such as "C2D2"
    op           what our command line takes, "C2D2" or "matmul:m=512,..."
    trace        our worker only: the schedule as text; without it the default schedule
    workload     {"op": ..., "params": {...}} as in bench/suite.json
    shapes       operand -> dimensions in the suite's order, {"X": [1,14,14,256], ...}
    inputs       the operands that are read, in the order in which the operator takes them
    constants    operands known at compile time, ["W"]; only these may be laid out in advance
    threads      how many; the process may run on exactly that many processors (affinity mask)
    input_dir    folder with <operand>.bin for each input: f32, little-endian, row-major
    output_file  optional: before `ready`, write the output there in the same form

and `ready` may have "version" (of a library), "detail" (what was chosen) and, of ours,
"compile_ms" and "wrong": a single element that differs from the operator's definition. More kinds
are served by our worker, each thread taking its part:

    {"kind": "peak", "threads": T}              a register-only FMA loop; ready {"flop": per call}
    {"kind": "copy", "method": "memcpy" | "vector", "threads": T, "bytes": B}
                                                copies B bytes; ready {"bytes": read and written}
    {"kind": "sum", "threads": T, "bytes": B}   sums floats; ready {"bytes": read}

A whole model is prepared by

    {"kind": "model", "model": FILE.onnx, "library": FILE.so, "threads": T, "output_dir": FOLDER,
     "inputs": [{"name": ..., "file": raw bytes, "type": "float32", "shape": [...]}, ...]}

of which ours opens the library and the peers read the model; each writes its outputs to
FOLDER/<index>.bin, as they are, and `ready` has "open_ms", "before_kib" and "peak_kib": the memory of
the process before the model was opened, and the most until its first run had ended.

Between slices a worker may spin for a while: the orchestrator starts a slice only when every thread
of every other worker sleeps, and counts as failed a worker that does not come to rest.
"""
