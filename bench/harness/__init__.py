"""What the benches share: workers, alternating rounds, the suite, the machine, tables.

Every participant of a comparison (our kernel, the FMA peak, oneDNN, ONNX Runtime) is a *worker*: a
process of its own that speaks this protocol, one line a message, on stdin and stdout.

    orchestrator              worker
    prepare {json}            ready {json}    built, loaded, warmed; or
                              error {"message": "why not"}
    slice SECONDS             times {"count": n, "min_ns": a, "p10_ns": b, "p50_ns": c}
                              one untimed call, then calls for about SECONDS, at least one; or error
    quit                      leaves; so does the end of input

`prepare` of a workload has these fields, the same for every worker:

    kind         "kernel"
    name         name in the suite, such as "C2D2"
    op           the operator as the command line writes it, "conv2d:n=1,h=14,..."
    trace        our worker only: the schedule as text
    workload     {"op": ..., "params": {...}} as in bench/suite.json
    shapes       operand -> dimensions in the suite's order, {"X": [1,14,14,256], ...}
    constants    operands known at compile time, ["W"]; only these may be laid out in advance
    threads      how many; the process may run on exactly that many processors (affinity mask)
    input_dir    folder with <operand>.bin for each input: f32, little-endian, row-major
    output_file  optional: before `ready`, write the output there in the same form

and `ready` may have "version" (of a library), "detail" (what was chosen) and "compile_ms" (ours).
Two more kinds are served by our worker: {"kind": "peak", "threads": T}, a register-only FMA loop,
ready {"flop": per call}; and {"kind": "copy", "method": "memcpy" | "vector", "threads": T,
"bytes": B}, which copies B bytes, each thread its part, ready {"bytes": read and written per call}.

Between slices a worker may spin for a while: the orchestrator starts a slice only when every thread
of every other worker sleeps, and counts as failed a worker that does not come to rest.
"""
