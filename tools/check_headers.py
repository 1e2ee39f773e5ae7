#!/usr/bin/env python3
"""Finds functions that a source file below src/ defines for other files without declaring them in the
header of the same name.

It relies on the format: at the beginning of a line stand only declarations of a namespace. Functions
of an anonymous namespace, static functions and members need no declaration.
"""

import pathlib
import re
import sys

import checking

# Families behind one header: rows of one table or cases of one visitor (CONTRIBUTING.md).
FAMILIES = (
    "src/cli/records_*.cc",
    "src/cli/verb*.cc",
    "src/graph/ops/*.cc",
    "src/graph/passes/arrange_*.cc",
    "src/graph/passes/simplify_*.cc",
    "src/onnx/convert/*.cc",
)
NOT_CALLED = ("*_test.cc", "*_fuzz.cc")

# `Result<int> name(`: a type, then a name without ::, so not a member.
FUNCTION = re.compile(
    r"(?!(?:using|namespace|static|template|typedef|extern|return|struct|class|enum|union)\b)"
    r"\w[\w:<>,&*\s]*?[\s*&](\w+)\("
)
END = re.compile(r"[;{}]\s*(?://.*)?$")


def functions_of(text):
    """Pairs of a line number, from 1, and the name of a function defined there for other files."""
    lines = text.splitlines()
    anonymous = False
    number = 0
    while number < len(lines):
        start, line = number, lines[number]
        number += 1
        if line == "namespace {":
            anonymous = True
        elif line == "}  // namespace":
            anonymous = False
        match = None if anonymous else FUNCTION.match(line)
        if match is None:
            continue
        while not END.search(lines[number - 1]) and number < len(lines):
            number += 1
        is_definition = not lines[number - 1].split("//")[0].rstrip().endswith(";")
        if is_definition and match[1] != "main":
            yield start + 1, match[1]


def check_tree(root):
    problems = []
    for path, file in checking.files_of(root, ["src"], {".cc"}):
        if any(pathlib.PurePath(path).match(pattern) for pattern in FAMILIES + NOT_CALLED):
            continue
        header = file.with_suffix(".h")
        declared = header.read_text() if header.exists() else ""
        for number, name in functions_of(file.read_text()):
            if re.search(rf"\b{name}\(", declared) is None:
                problems.append(
                    f"{path}:{number}: declare {name} in {header.name}, or define it where its "
                    f"header is, or in an anonymous namespace"
                )
    return problems


if __name__ == "__main__":
    sys.exit(checking.main(check_tree, __doc__))
