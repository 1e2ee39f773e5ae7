#!/usr/bin/env python3
"""Runs clang-tidy over the files of compile_commands.json, in parallel, and remembers the clean ones.

A file is skipped when a stamp says it was clean with the same contents, the same headers of ours
(followed through their includes), the same flags and the same .clang-tidy. Stamps lie in the
build folder; deleting them only costs time. Tests (x_test.cc) are left to the compiler's warnings
and the sanitizers: reading GoogleTest's headers takes longer than all else. The exit status is 1 when any file has a finding.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# GCC's own warning flags mean nothing to clang.
EXTRA = ("--extra-arg=-Wno-unknown-warning-option", "--quiet")


def headers_of(path, seen):
    """All headers of ours that `path` includes, directly or not, added to `seen`."""
    for name in INCLUDE.findall(path.read_text(errors="replace")):
        for base in (path.parent, ROOT / "src", ROOT):
            header = base / name
            if header.is_file():
                if header not in seen:
                    seen.add(header)
                    headers_of(header, seen)
                break
    return seen


def stamp_of(commands, path):
    digest = hashlib.sha256()
    digest.update((ROOT / ".clang-tidy").read_bytes())
    digest.update("\n".join(commands).encode())
    for part in [path, *sorted(headers_of(path, set()))]:
        digest.update(str(part.relative_to(ROOT)).encode())
        digest.update(part.read_bytes())
    return digest.hexdigest()


def check(tidy, build, path):
    command = [tidy, "-p", str(build), *EXTRA, str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    # Besides findings clang-tidy prints counts of what it suppressed in system headers.
    noise = re.compile(r"^\d+ warnings? (generated|treated as errors?)|^Suppressed|^Use -header")
    lines = (result.stdout + result.stderr).splitlines()
    text = "\n".join(line for line in lines if not noise.match(line))
    return result.returncode == 0, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--tidy", default="clang-tidy-19")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("files", nargs="*", help="only these (default: all but tests)")
    options = parser.parse_args()

    wanted = {pathlib.Path(name).resolve() for name in options.files}
    stamps = options.build / "tidy"
    stamps.mkdir(parents=True, exist_ok=True)
    commands = {}  # by file: clang-tidy goes over all that a file has in one run
    for entry in json.loads((options.build / "compile_commands.json").read_text()):
        commands.setdefault(pathlib.Path(entry["file"]), []).append(entry["command"])
    work = []
    for path, of_path in commands.items():
        ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS
        chosen = path in wanted if wanted else not path.stem.endswith("_test")
        if not ours or not chosen or not path.is_file():
            continue
        stamp = stamps / stamp_of(of_path, path)
        if not stamp.exists():
            work.append((path, stamp))

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(check, options.tidy, options.build, p): (p, s) for p, s in work}
        for number, run in enumerate(concurrent.futures.as_completed(runs), 1):
            path, stamp = runs[run]
            clean, text = run.result()
            verdict = "clean" if clean else "FINDINGS"
            print(f"[{number}/{len(work)}] {path.relative_to(ROOT)}: {verdict}", flush=True)
            if clean:
                stamp.touch()
            else:
                failures += 1
                print(text, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
