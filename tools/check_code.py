#!/usr/bin/env python3
"""Finds constructs that the rules of CONTRIBUTING.md forbid and no compiler warning rejects."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "examples")

# A pattern within one line of code, and what to write in its place.
FORBIDDEN = [
    (
        re.compile(r"(?:^\s*|[{,(]\s*)\.\w+ = TRY\("),
        "TRY inside braces leaks the members before it with GCC; give it a variable of its own",
    ),
    (
        re.compile(r"\bdynamic_cast\b"),
        "ask the object by a virtual function in place of dynamic_cast",
    ),
]


def check_text(text):
    """Pairs of a line number, from 1, and what is wrong there."""
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//", 1)[0]
        for pattern, better in FORBIDDEN:
            if pattern.search(code):
                yield number, better


def check_tree(root):
    problems = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            path = file.relative_to(root).as_posix()
            for number, better in check_text(file.read_text(encoding="utf-8")):
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
