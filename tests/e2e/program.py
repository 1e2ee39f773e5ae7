"""Runs the program `tilewright` that TILEWRIGHT_PROGRAM names, for the end-to-end tests."""

import contextlib
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ["TILEWRIGHT_PROGRAM"]


def environment():
    """Without TILEWRIGHT_* variables: each would be a flag."""
    return {k: v for k, v in os.environ.items() if not k.startswith("TILEWRIGHT_")}


def run(*words, timeout=120, **more):
    """The finished process, with its text."""
    return subprocess.run(
        [PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(),
        **more,
    )


def start(*words, **more):
    """A running process with a pipe; its stderr goes to a file of the caller's, or nowhere."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.DEVNULL)
    return subprocess.Popen(
        [PROGRAM, *map(str, words)],
        text=True,
        env=environment(),
        **more,
    )


def workers(tuner, name):
    """Pids of the tuner's children whose program's name begins so."""
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
    """What a running process still writes, after lines were read from it; waits for its end."""
    with process.stdout:
        text = process.stdout.read()
    process.wait(timeout=120)
    return text


def objects(text):
    """One JSON object a line. A last line that was cut off is left out."""
    whole = text[: text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


def verdicts(lines):
    return [line for line in lines if "verdict" in line]


def member(lines, key):
    """Of the one line that has it."""
    found = [line[key] for line in lines if key in line]
    assert len(found) == 1, f"{len(found)} lines have {key}"
    return found[0]
