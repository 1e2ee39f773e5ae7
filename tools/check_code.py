#!/usr/bin/env python3
"""Finds constructs that the rules of CONTRIBUTING.md forbid and no compiler warning rejects."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "examples")

EVERYWHERE = re.compile("")
# Sources of the product, except for the folders of instruction sets, the loader of their objects, and the table
# of intrinsics, whose names are stored in traces. Tests may name instruction sets.
INDEPENDENT = re.compile(
    r"src/(?!target/|codegen/(?:llvm|c)/|runtime/abi/|runtime/host/elf_loader\.cc$|"
    r"schedule/intrinsics\.cc$)"
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
        re.compile(r"\bdynamic_cast\b"),
        "ask the object by a virtual function in place of dynamic_cast",
    ),
    (
        INDEPENDENT,
        re.compile(
            r"immintrin\.h|cpuid|\b_mm|__m(?:128|256|512)|(?<![a-z])(?:avx|sse[234]|amx)"
            r"|x86|vnni|aarch64",
            re.I,
        ),
        "ask the target for a capability, or move it to target/host_*: no instruction set here",
    ),
    (
        BELOW_CLI,
        re.compile(r'^(?:[^"]*"(?:[^"\\]|\\.)*")*?[^"]*"(?:[^"\\]|\\.)*?--[a-z]'),
        "name the option in Error::options, which cli renders as a flag: no flag here",
    ),
]


TRY_IN_BRACES = (
    "TRY inside the braces of an initializer leaks the members before it with GCC; give it a "
    "variable of its own"
)

# Comments, texts and characters; what they contain is no code.
NO_CODE = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z])'(?:\\[^\n]+?|[^'\\\n])'"
    r"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*",
    re.S | re.M,
)
TOKEN = re.compile(r"[A-Za-z_]\w*|[^\s\w]|\d\S*?(?=\W|$)|\n", re.S)
# After these, a parenthesis groups: it neither calls nor constructs.
GROUPS_AFTER = re.compile(r"^(?:[({\[,=;?:!&|+*/%<~^-]|return|)$")


class Bracket:
    """An open bracket of the code, and the uses of TRY that it is the innermost one of."""

    def __init__(self, kind, groups):
        self.kind = kind
        self.groups = groups
        self.has_statements = False  # a brace: of a block
        self.tries = []  # lines


def tries_in_braces(text):
    """Lines with TRY where the innermost bracket that does not just group is an initializer's. Only
    the braces of a block, a function or a class have a ; directly within them."""
    code = NO_CODE.sub(lambda found: " 0 " + "\n" * found.group().count("\n"), text)
    found, number, before = [], 1, ""
    open_brackets = [Bracket("{", False)]
    open_brackets[0].has_statements = True
    for token in TOKEN.findall(code):
        if token == "\n":
            number += 1
            continue
        if token in "([{":
            open_brackets.append(Bracket(token, token == "(" and GROUPS_AFTER.match(before)))
        elif token in ")]}" and len(open_brackets) > 1:
            closed = open_brackets.pop()
            if closed.groups:
                open_brackets[-1].tries += closed.tries
            elif closed.kind == "{" and not closed.has_statements:
                found += closed.tries
        elif token == ";":
            open_brackets[-1].has_statements = True
        elif token == "TRY":
            open_brackets[-1].tries.append(number)
        before = token
    return sorted(found)


def check_text(text, path="src/x.cc"):
    """Pairs of a line number, from 1, and what is wrong there."""
    for number in tries_in_braces(text):
        yield number, TRY_IN_BRACES
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
