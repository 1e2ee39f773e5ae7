#!/usr/bin/env python3
"""Finds constructs that the rules of CONTRIBUTING.md forbid and no compiler warning rejects."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "examples")

EVERYWHERE = re.compile("")
# Sources of the product but for the folders of instruction sets, and for the table whose names of
# intrinsics are stored in traces. Tests name instruction sets as they need.
INDEPENDENT = re.compile(
    r"src/(?!target/|codegen/(?:llvm|c)/|runtime/abi/|schedule/intrinsics\.cc$)"
    r"(?!.*_(?:test\.cc|testing\.(?:h|cc))$)"
)
# Sources of the product below the command line, but for those that start another program. Their
# errors name options (base/result.h), which src/cli/option_flags.h renders as flags.
BELOW_CLI = re.compile(
    r"src/(?!cli/|app/peers_run\.cc$|codegen/llvm/link\.cc$)(?!.*_test\.cc$)"
)

# The paths that a row holds for, a pattern within one line of code, and what to write in its place.
FORBIDDEN = [
    (
        EVERYWHERE,
        re.compile(r"(?:^\s*|[{,(]\s*)\.\w+ = TRY\("),
        "TRY inside braces leaks the members before it with GCC; give it a variable of its own",
    ),
    (
        EVERYWHERE,
        re.compile(r"\bdynamic_cast\b"),
        "ask the object by a virtual function in place of dynamic_cast",
    ),
    (
        INDEPENDENT,
        re.compile(r"immintrin\.h|cpuid|\b_mm|__m(?:128|256|512)|(?<![a-z])(?:avx|sse[234]|amx)", re.I),
        "ask the target for a capability, or move it to target/host_*: no instruction set here",
    ),
    (
        BELOW_CLI,
        re.compile(r'^(?:[^"]*"(?:[^"\\]|\\.)*")*?[^"]*"(?:[^"\\]|\\.)*?--[a-z]'),
        "name the option in Error::options, which cli renders as a flag: no flag here",
    ),
]


def check_text(text, path="src/x.cc"):
    """Pairs of a line number, from 1, and what is wrong there."""
    rows = [row for row in FORBIDDEN if row[0].match(path)]
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//", 1)[0]
        for _, pattern, better in rows:
            if pattern.search(code):
                yield number, better


def check_tree(root):
    problems = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            path = file.relative_to(root).as_posix()
            for number, better in check_text(file.read_text(encoding="utf-8"), path):
                problems.append(f"{path}:{number}: {better}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    problems = check_tree(parser.parse_args().root)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
