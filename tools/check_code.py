#!/usr/bin/env python3
"""Finds constructs that the rules of CONTRIBUTING.md forbid and no compiler warning rejects."""

import re
import sys

import checking

FOLDERS = ("src", "tests", "bench", "examples")

EVERYWHERE = re.compile("")
# Sources of the product, except for the folders of instruction sets, the loader of their objects, and the table
# of intrinsics, whose names are stored in traces. Tests may name instruction sets.
INDEPENDENT = re.compile(
    r"src/(?!target/|codegen/(?:llvm|c)/|runtime/abi/|runtime/host/elf_loader\.cc$|"
    r"schedule/intrinsics\.cc$)"
    r"(?!.*_(?:test\.cc|testing\.(?:h|cc))$)"
)
# Sources of the product below the command line, except for those that start another program. Their errors
# name options (base/result.h), which src/cli/option_flags.h renders as flags.
BELOW_CLI = re.compile(
    r"src/(?!cli/|app/peers_run\.cc$|codegen/llvm/link\.cc$)(?!.*_test\.cc$)"
)

# Sources of the program. app gives it values, whose types and members it may use, but no functions.
CLI = re.compile(r"src/cli/(?!.*_(?:test\.cc|testing\.h)$)")
BELOW_APP = (
    "ansor_log|arith|codegen|cost|deploy|feature|graph|heuristic|ir|layout|lower|measure|onnx|"
    "oracle|record|runtime|schedule|search|space|target|task|te|tune"
)

# Sources of the product except for the function that answers whether a program is known.
KNOWN_ELSEWHERE = re.compile(r"src/(?!measure/proposal\.cc$)(?!.*_test\.cc$)")

# Sources of the product in C++, except for the function that has the reasons of the operating system.
NO_REASONS = re.compile(r"src/(?!base/system_error\.cc$)(?!.*_test\.cc$)")

LET_APP_CALL = "let app call it and return the value: cli calls app and base only"

# The paths that a row applies to, a pattern within one line of code, and the replacement.
FORBIDDEN = [
    (
        EVERYWHERE,
        re.compile(r"\bdynamic_cast\b"),
        "ask the object by a virtual function in place of dynamic_cast",
    ),
    (
        INDEPENDENT,
        re.compile(
            r"immintrin\.h|cpuid|\b_mm|__m(?:128|256|512)|(?<![a-z])(?:avx|sse[234]|amx|neon|sve(?![a-z]))"
            r"|x86|vnni|aarch64|\b[xyz]mm(?:\d|\b)|mxcsr|(?<![a-z])sm_\d",
            re.I,
        ),
        "ask the target for a capability, or move it to target/host_*: no instruction set here",
    ),
    (
        BELOW_CLI,
        re.compile(r'^(?:[^"]*"(?:[^"\\]|\\.)*")*?[^"]*"(?:[^"\\]|\\.)*?--[a-z]'),
        "name the option in Error::options, which cli renders as a flag: no flag here",
    ),
    (
        BELOW_CLI,
        re.compile(r'"[^"]*`(?:tilewright|records) [a-z]'),
        "name the function of app in Error::jobs, which cli renders as a verb: no verb here",
    ),
    (
        CLI,
        re.compile(rf"\b(?:{BELOW_APP})::(?:\w+::)*[a-z]\w*\("),
        LET_APP_CALL,
    ),
    (
        EVERYWHERE,
        re.compile(r"__builtin_cpu_(?:supports|is|init)\b"),
        "ask host_features(): target/host_features.h is the one place that detects them",
    ),
    (
        NO_REASONS,
        re.compile(r"\bstrerror\(|\b(?:generic|system)_category\(\)"),
        "call system_error or system_reason (base/system_error.h)",
    ),
    (
        KNOWN_ELSEWHERE,
        re.compile(r"\bknown\w*(?:\.|->)peek\("),
        "call measure::known_verdict: one function decides whether a program is known",
    ),
]


TRY_IN_BRACES = (
    "TRY inside the braces of an initializer leaks the members before it with GCC; give it a "
    "separate variable"
)

PASSED_ON = re.compile(
    r"\bif \((?:[^;]*; )?!(?P<result>[\w.>\[\]-]+)\)\s*\{?\s*return (?:std::unexpected\()?"
    r"(?:std::move\()?\*?(?P=result)\)?(?:(?:\.|->)error\(\))\)?;"
    r"|\bif \([^;]*\b(?P<named>\w+) = [^;]*; !(?P=named)\)\s*\{?\s*return (?P=named);"
)
TRY_INSTEAD = "pass an error on with TRY; of a Result with a name, TRY(std::move(result))"

# Comments, strings and characters, whose content is not code.
NO_CODE = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z])'(?:\\[^\n]+?|[^'\\\n])'"
    r"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*",
    re.S | re.M,
)
# A function of a namespace, a member function and a lambda, each where it is declared; a call.
FUNCTION = re.compile(
    r"^(?!(?:using|namespace|template|typedef|return|struct|class|enum|union)\b)"
    r"\w[\w:<>,&* ]*?[ *&](\w+)\(",
    re.M,
)
MEMBER = re.compile(r"^  (?:\w[\w:<>,&* ]*?[ *&])(\w+)\([^;]*?\)(?: const)?(?: override)? \{", re.M)
LAMBDA = re.compile(r"\bauto (\w+) = \[")
CALL = re.compile(r"(?P<before>\w+)?\s*(?<![\w.:>~])(?P<name>[a-z]\w*)\(")
STATEMENTS = ("return", "else", "case", "throw")
TOKEN = re.compile(r"[A-Za-z_]\w*|[^\s\w]|\d\S*?(?=\W|$)|\n", re.S)
# After these, a parenthesis groups; it is neither a call nor a construction.
GROUPS_AFTER = re.compile(r"^(?:[({\[,=;?:!&|+*/%<~^-]|return|)$")


class Bracket:
    """An open bracket of the code, and the uses of TRY directly inside it."""

    def __init__(self, kind, groups):
        self.kind = kind
        self.groups = groups
        self.has_statements = False  # a brace: of a block
        self.tries = []  # lines


def code_of(text):
    """The text without comments, strings and macros; lines keep their numbers."""
    return NO_CODE.sub(lambda found: " 0 " + "\n" * found.group().count("\n"), text)


def without_comments(text):
    """The text with its strings and macros; lines keep their numbers."""

    def stripped(found):
        code = found.group()
        if code.startswith(("//", "/*")):
            return " " + "\n" * code.count("\n")
        if code.lstrip().startswith("#"):  # a directive, which may end with a comment
            begin, end = code.split("#", 1)
            return f"{begin}#{without_comments(end)}"
        return code

    return NO_CODE.sub(stripped, text)


def functions_of(text):
    """Names of the functions of a namespace that the text declares: by the format, they begin a line."""
    return set(FUNCTION.findall(code_of(text)))


def calls_below_app(text, below):
    """Lines that call a function of `below` without its namespace, which C++ finds by its arguments."""
    code = code_of(text)
    below = below - functions_of(text) - set(MEMBER.findall(code)) - set(LAMBDA.findall(code))
    for found in CALL.finditer(code):
        is_declared = found["before"] and found["before"] not in STATEMENTS  # after its type
        if found["name"] in below and not is_declared:
            yield code.count("\n", 0, found.start("name")) + 1


def functions_below_app(root):
    """Names of functions that headers below app declare, without those that app, base and cli have too."""
    below, above = set(), set()
    for path, file in checking.files_of(root, ["src"], {".h"}):
        if path.endswith("_testing.h"):
            continue
        own = path.split("/")[1] in ("app", "base", "cli")
        (above if own else below).update(functions_of(file.read_text(encoding="utf-8")))
    return below - above


def errors_passed_on(text):
    """Lines that return the error of a Result unchanged, which TRY does."""
    code = code_of(text)
    return [code.count("\n", 0, found.start()) + 1 for found in PASSED_ON.finditer(code)]


def tries_in_braces(text):
    """Lines with TRY whose innermost bracket, except for grouping ones, is that of an initializer. Only the
    braces of a block, a function or a class have a ; directly within them."""
    found, number, before = [], 1, ""
    open_brackets = [Bracket("{", False)]
    open_brackets[0].has_statements = True
    for token in TOKEN.findall(code_of(text)):
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


def check_text(text, path="src/x.cc", below_app=frozenset()):
    """Pairs of a line number, from 1, and the problem. `below_app`: the functions that cli does not call."""
    for number in tries_in_braces(text):
        yield number, TRY_IN_BRACES
    for number in errors_passed_on(text):
        yield number, TRY_INSTEAD
    if CLI.match(path):
        for number in calls_below_app(text, below_app):
            yield number, LET_APP_CALL
    rows = [row for row in FORBIDDEN if row[0].match(path)]
    for number, code in enumerate(without_comments(text).splitlines(), 1):
        for _, pattern, better in rows:
            if pattern.search(code):
                yield number, better


def check_tree(root):
    problems = []
    below_app = functions_below_app(root)
    for path, file in checking.files_of(root, FOLDERS, {".h", ".cc"}):
        for number, better in check_text(file.read_text(encoding="utf-8"), path, below_app):
            problems.append(f"{path}:{number}: {better}")
    return problems


if __name__ == "__main__":
    sys.exit(checking.main(check_tree, __doc__))
