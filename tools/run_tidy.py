#!/usr/bin/env python3
"""Runs clang-tidy over the files of compile_commands.json, in parallel, and remembers the clean ones.

Most of the time is spent on headers, so files with the same flags are read together: a unit is a generated
source with the text of several files. Private names (static or in an unnamed namespace) that occur in other
files of the unit get a suffix there. If a unit has findings, the affected files are run again one by one (all
files if the unit does not parse). Only those runs report findings and determine the exit status.

A file is skipped if a stamp shows that it was clean with the same content, the same headers of this
repository (followed through their includes), the same flags and the same checks. Stamps and units are in the
build folder; deleting them only costs time. Tests (x_test.cc) are not checked, because reading GoogleTest's
headers takes longer than all other files; compiler warnings and sanitizers cover them. Precompiled headers
are removed from the commands. --unit-size 1 reads every file separately, so a file that relies on others for
its includes does not parse; --nightly does that and adds the checks of tools/clang_tidy_nightly. The exit
status is 1 if any file has a finding.
"""

import argparse
import bisect
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "examples")
UNIT_SIZE = 24
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
INCLUDE_LINE = re.compile(r"^ *# *include .*$", re.MULTILINE)
# The flags that CMake adds to a command for precompiled headers, for GCC and for clang.
PRECOMPILED = re.compile(
    r" -Winvalid-pch(?: -Xclang -include-pch -Xclang \S+)?(?: -Xclang)? -include(?: -Xclang)? \S+\.hxx"
)
OUTPUT = re.compile(r" -o \S+ -c \S+$")
# Warning flags of GCC that clang does not know.
EXTRA = ("--extra-arg=-Wno-unknown-warning-option", "--quiet")
FINDING = re.compile(r"^(/\S+):(\d+):\d+: (?:warning|error): .* \[([\w.,-]+)\]$", re.MULTILINE)
# In addition to findings, clang-tidy prints counts of suppressed ones in system headers.
NOISE = re.compile(r"^\d+ warnings? (generated|treated as errors?)|^Suppressed|^Use -header")


# --- what a file is -----------------------------------------------------------------------------


def headers_of(path, seen):
    """Adds to `seen` all headers of this repository that `path` includes, directly or indirectly."""
    for name in INCLUDE.findall(path.read_text(errors="replace")):
        for base in (path.parent, ROOT / "src", ROOT):
            header = base / name
            if header.is_file():
                if header not in seen:
                    seen.add(header)
                    headers_of(header, seen)
                break
    return seen


def stamp_of(commands, path, checks):
    digest = hashlib.sha256()
    digest.update(checks.encode())
    digest.update("\n".join(commands).encode())
    for part in [path, *sorted(headers_of(path, set()))]:
        digest.update(str(part.relative_to(ROOT)).encode())
        digest.update(part.read_bytes())
    return digest.hexdigest()


def plain_commands(build):
    """The entries of compile_commands.json without precompiled headers."""
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    return entries


# --- units --------------------------------------------------------------------------------------

COMMENT_OR_STRING = re.compile(
    r"""R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/""", re.DOTALL
)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
OPENED = re.compile(r"^using namespace ([\w:]+);", re.MULTILINE)
USING = re.compile(r"^using (?:[\w:]*::)?(\w+)(?:;| =)", re.MULTILINE)
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?|concept|using|namespace) (\w+)(?= \{| =| :|;|$)")
VALUE = re.compile(r"[A-Za-z_][\w:<>,&* ()]*?[ &*>](\w+)(?:\[\w*\])*(?: =|\{|;)")
FUNCTION = re.compile(r"[A-Za-z_][\w:<>,&* ]*?[ &*>](\w+)\(")
MEMBER = re.compile(r"(?:\.|->)(\w+)")
HEAD = re.compile(r"^\w.* (\w+)\(.*\{$", re.MULTILINE)
WORD = re.compile(r"(?<![.:\w])(?<!->)[A-Za-z_]\w*")  # neither a member nor a qualified name


@functools.cache
def words_of(path):
    return set(WORD.findall(COMMENT_OR_STRING.sub(" ", path.read_text(errors="replace"))))


class Source:
    """One source and what decides how it shares a unit, found roughly. Sources are formatted: a
    namespace's declarations begin at the left margin, and "}  // namespace" ends an unnamed one.
    """

    def __init__(self, path):
        self.path = path
        self.text = path.read_text(errors="replace")
        bare = COMMENT_OR_STRING.sub(" ", self.text)
        self.words = words_of(path)
        self.heads = {found[0]: found[1] for found in HEAD.finditer(bare)}
        self.macros = set(MACRO.findall(bare))
        self.opened = set(OPENED.findall(bare))
        # Other files of a unit would hide an unused using-declaration or include.
        includes = INCLUDE_LINE.findall(self.text)
        self.alone = len(includes) != len(set(includes)) or any(
            len(re.findall(rf"\b{name}\b", bare)) == 1 for name in USING.findall(bare)
        )
        self.private = set()
        functions = set()
        unnamed = False
        for line in self.text.splitlines():
            if line.startswith("namespace {"):
                unnamed = True
            elif line.rstrip() == "}  // namespace":
                unnamed = False
            elif re.match(r"using (?!\w+ =)", line):
                continue
            elif unnamed or line.startswith("static "):
                line = re.sub(r"^template <.*> (?=\w)|^\[\[\w+\]\] ", "", line)
                if found := TYPE.match(line) or VALUE.match(line) or FUNCTION.match(line):
                    self.private.add(found[1])
                    if found.re is FUNCTION:
                        functions.add(found[1])
        # Private names that cannot be renamed: they are also names of members, or overloads of names in
        # headers.
        headers = set().union(*(words_of(header) for header in headers_of(path, set())))
        self.members = set(MEMBER.findall(bare))
        self.fixed = self.private & (self.members | (headers & functions))

    def goes_with(self, other):
        return (
            not (self.macros | self.fixed) & other.words
            and not (other.macros | other.fixed) & self.words
            and self.opened == other.opened
            and not ("main" in self.words and "main" in other.words)
            and not {self.heads[head] for head in self.heads.keys() & other.heads.keys()}
            & (self.members | other.members)
            and not self.alone
            and not other.alone
        )

    def renamed(self, names, number):
        """The text with `names` changed, in the same style and on the same lines."""

        def change(found):
            name = found[0]
            if name not in names:
                return name
            snake = name == name.lower()
            return f"{name}_u{number}" if snake else f"{name}U{number}"

        pieces, end = [], 0
        for skip in COMMENT_OR_STRING.finditer(self.text):
            pieces += [WORD.sub(change, self.text[end : skip.start()]), skip[0]]
            end = skip.end()
        return "".join(pieces) + WORD.sub(change, self.text[end:])


def divide(sources, size):
    """The sources in lists of at most `size`, in order."""
    units = []
    for source in sources:
        for unit in units:
            if len(unit) < size and all(source.goes_with(other) for other in unit):
                unit.append(source)
                break
        else:
            units.append([source])
    return units


def write_unit(path, unit):
    """Writes one source with the text of all, each include once. Returns the last line of each."""
    included = set()

    def once(found):
        again = found[0] in included
        included.add(found[0])
        return "" if again else found[0]

    texts = []
    ends = []  # number of the last line
    for number, source in enumerate(unit):
        others = [other for other in unit if other is not source]
        names = source.private & set().union(*(other.words for other in others))
        # Each program defines the same functions.
        names |= {
            name
            for head, name in source.heads.items()
            if any(head in other.heads for other in others)
        }
        text = source.renamed(names, number)
        texts.append(INCLUDE_LINE.sub(once, text))
        ends.append(texts[-1].count("\n") + (ends[-1] if ends else 0))
    path.write_text("".join(texts))
    return ends


def suspects(path, ends, text):
    """The numbers of the sources that the output names; all of them if it names any other file."""
    found = set()
    for where, line, check_name in FINDING.findall(text):
        if where != str(path) or check_name.startswith("clang-diagnostic-error"):
            return set(range(len(ends)))
        found.add(bisect.bisect_left(ends, int(line)))
    return found or set(range(len(ends)))


# --- running ------------------------------------------------------------------------------------


def check(tidy, commands, path):
    command = [*tidy, "-p", str(commands), *EXTRA, str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    lines = (result.stdout + result.stderr).splitlines()
    text = "\n".join(line for line in lines if not NOISE.match(line))
    return result.returncode == 0, text


class Runner:
    """Runs units and, if they are not clean, their files; writes stamps and prints verdicts."""

    def __init__(self, tidy, commands, total):
        self.tidy = tidy
        self.commands = commands
        self.total = total
        self.done = 0
        self.failures = 0

    def run(self, whole, ends, sources):  # in several threads
        alone = set(range(len(sources)))
        if whole:
            clean, text = check(self.tidy, self.commands, whole)
            alone = set() if clean else suspects(whole, ends, text)
        results = []
        for number, (path, stamp) in enumerate(sources):
            verdict = (True, "")
            if number in alone:
                verdict = check(self.tidy, self.commands, path)
            results.append((path, stamp, *verdict))
        return results

    def report(self, results):
        for path, stamp, clean, text in results:
            self.done += 1
            verdict = "clean" if clean else "FINDINGS"
            print(f"[{self.done}/{self.total}] {path.relative_to(ROOT)}: {verdict}", flush=True)
            if clean:
                stamp.touch()
            else:
                self.failures += 1
                print(text, flush=True)


def chosen(entries, wanted):
    """The commands of each file that is to be checked, each once."""
    commands = {}
    for entry in entries:
        path = pathlib.Path(entry["file"])
        ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS
        asked = path in wanted if wanted else not path.stem.endswith("_test")
        if ours and asked and path.is_file():
            flags = OUTPUT.sub("", entry["command"])
            commands.setdefault(path, {}).setdefault(flags, entry)
    return commands


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--tidy", default="clang-tidy-19")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--unit-size", type=int, default=UNIT_SIZE, help="files read together")
    parser.add_argument("--nightly", action="store_true", help="file by file, with costly checks")
    parser.add_argument("files", nargs="*", help="only these (default: all but tests)")
    options = parser.parse_args()

    folder = options.build.resolve() / "tidy"
    folder.mkdir(parents=True, exist_ok=True)
    tidy = [options.tidy, f"--config-file={ROOT / '.clang-tidy'}"]
    checks = (ROOT / ".clang-tidy").read_text()
    if options.nightly:
        options.unit_size = 1
        more = (ROOT / "tools/clang_tidy_nightly").read_text()
        checks += more
        tidy.append("--checks=" + ",".join(re.findall(r"^[\w-]+", more, re.MULTILINE)))

    wanted = {pathlib.Path(name).resolve() for name in options.files}
    commands = chosen(plain_commands(options.build), wanted)
    entries = [entry for by_flags in commands.values() for entry in by_flags.values()]
    groups = {}  # by flags: the files to be read
    stamps = {}
    for path, by_flags in sorted(commands.items()):
        stamp = folder / stamp_of(sorted(by_flags), path, checks)
        if not stamp.exists():
            stamps[path] = stamp
            groups.setdefault("\n".join(sorted(by_flags)), []).append(path)

    work = []
    for flags, paths in groups.items():
        together = "\n" not in flags and paths[0].suffix == ".cc"  # one command, in C++
        sources = [Source(path) for path in paths]
        for unit in divide(sources, options.unit_size if together else 1):
            whole, ends = None, []
            if len(unit) > 1:
                whole = folder / f"unit_{len(work)}.cc"
                ends = write_unit(whole, unit)
                entry = dict(commands[unit[0].path][flags], file=str(whole))
                near = " ".join(sorted({f"-iquote {source.path.parent}" for source in unit}))
                entry["command"] = f"{flags} {near} -o {whole}.o -c {whole}"
                entries.append(entry)
            work.append((whole, ends, [(source.path, stamps[source.path]) for source in unit]))
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))

    runner = Runner(tidy, folder, len(stamps))
    work.sort(key=lambda item: -len(item[2]))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(runner.run, *item) for item in work]
        for run in concurrent.futures.as_completed(runs):
            runner.report(run.result())
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
