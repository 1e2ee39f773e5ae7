"""Shared by the benchmarks: workers, alternating rounds, the suite, the machine, tables.

Every participant of a comparison (our kernel, the FMA peak, oneDNN, ONNX Runtime,
OpenVINO) is a *worker*: a separate process that implements this protocol on stdin and stdout, one line per
message.

    orchestrator              worker
    prepare {json}            ready {json}    built, loaded, warmed; or
                              error {"message": "why not"}
    slice SECONDS             times {"count": n, "min_ns": a, "p10_ns": b, "p50_ns": c}
                              one untimed call, then calls for about SECONDS, at least one; or error
    quit                      leaves; so does the end of input

`prepare` of a workload has these fields, the same for every worker:

    kind         "kernel"
    name         name in the suite, such as "C2D2"
    op           argument of our command line, "C2D2" or "matmul:m=512,..."
    trace        our worker only: the schedule as text; without it the default schedule
    workload     {"op": ..., "params": {...}} as in bench/suite.json
    shapes       operand -> dimensions in the suite's order, {"X": [1,14,14,256], ...}
    inputs       the operands that are read, in the order in which the operator takes them
    constants    operands known at compile time, ["W"]; only these may be packed in advance
    threads      number of threads, and of processors in the affinity mask of the process
    input_dir    folder with <operand>.bin for each input: f32, little-endian, row-major
    output_file  optional: file to which the output is written before `ready`, in the same form

`ready` may have "version" (of a library) and "detail" (the selected implementation). Our worker adds
"compile_ms" and "wrong": a single element that differs from the operator's definition. Our worker also serves
these kinds, whose work is divided between the threads:

    {"kind": "peak", "threads": T}              a register-only FMA loop; ready {"flop": per call}
    {"kind": "copy", "method": "memcpy" | "vector", "threads": T, "bytes": B}
                                                copies B bytes; ready {"bytes": read and written}
    {"kind": "sum", "threads": T, "bytes": B}   sums floats; ready {"bytes": read}

The request for a whole model:

    {"kind": "model", "model": FILE.onnx, "library": FILE.so, "threads": T, "output_dir": FOLDER,
     "inputs": [{"name": ..., "file": raw bytes, "type": "float32", "shape": [...]}, ...]}

Our worker opens the library, the peers read the model. Each writes its raw outputs to FOLDER/<index>.bin.
`ready` has "open_ms", "before_kib" and "peak_kib": the memory of the process before the model was opened, and
its peak until the end of the first run.

A worker may spin for a short time after a slice. The orchestrator starts a slice only when all threads of all
other workers sleep. A worker that keeps spinning has failed.
"""
