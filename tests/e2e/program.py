"""Runs the program `tilewright` that TILEWRIGHT_PROGRAM names, for the end-to-end tests."""

import contextlib
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ["TILEWRIGHT_PROGRAM"]
# Time limits are multiplied by this number: CMake sets it for programs with a sanitizer.
SLOWDOWN = float(os.environ.get("TILEWRIGHT_TEST_SLOWDOWN", "1"))


def environment():
    """The environment without TILEWRIGHT_* variables, each of which would act as a flag."""
    return {k: v for k, v in os.environ.items() if not k.startswith("TILEWRIGHT_")}


def run(*words, timeout=120, **more):
    """Runs the program. Returns the finished process with its output."""
    return subprocess.run(
        [PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=timeout * SLOWDOWN,
        env=environment(),
        **more,
    )


def start(*words, **more):
    """Starts the program with a pipe for stdout; stderr goes to a file of the caller, or is discarded."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.DEVNULL)
    return subprocess.Popen(
        [PROGRAM, *map(str, words)],
        text=True,
        env=environment(),
        **more,
    )


def workers(tuner, name):
    """Pids of the tuner's children whose program name begins with `name`."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            text = (folder / "stat").read_text()
            comm = text[text.index("(") + 1 : text.rindex(")")]
            parent = int(text[text.rindex(")") + 2 :].split()[1])
            if parent == tuner and comm.startswith(name[:15]):
                found.append(int(folder.name))
    return found


def rest(process):
    """The remaining output of a running process, after some lines were read; waits for its end."""
    with process.stdout:
        text = process.stdout.read()
    wait(process, timeout=120)
    return text


def wait(process, timeout=60):
    """Waits for the end of a process. Returns its exit code."""
    return process.wait(timeout=timeout * SLOWDOWN)


def objects(text):
    """The JSON objects of the lines. An incomplete last line is left out."""
    whole = text[: text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


def verdicts(lines):
    return [line for line in lines if "verdict" in line]


def member(lines, key):
    """The member of the only line that has it."""
    found = [line[key] for line in lines if key in line]
    assert len(found) == 1, f"{len(found)} lines have {key}"
    return found[0]
