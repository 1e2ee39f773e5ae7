#!/usr/bin/env python3
"""Holds the sources to tools/layers.txt: which folder of src/ may include which.

Every `#include "folder/..."` of a file under src/ must name its own folder or one that its row
allows, transitively; every `#include <library/...>` of a library in the last column must stand in
the folder that owns it. What is marked `(tests)` is for x_test.cc, x_testing.h and x_testing.cc only.
What is marked `(direct)` allows that folder and base; only tests may include what it may in turn.
Each folder with sources needs a row, and each row a folder with sources.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".h", ".cc", ".c"}
HEADER = ["folder", "purpose", "may include", "third-party only here"]
MARKS = ["", "(tests)", "(direct)"]
BASE = "base"  # what every folder may use


class TableError(Exception):
    pass


class Row:
    """What one folder may include: name -> its mark, "" where there is none."""

    def __init__(self, folder, may_include, libraries):
        self.folder = folder
        self.may_include = may_include  # direct; Table closes it
        self.libraries = libraries


class Table:
    """The rows by folder. `reach` is what each may include, itself among it, closed under what those
    may include in turn; `test_reach` the same for its tests."""

    def __init__(self, text):
        self.rows = {}
        lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
        if not lines or self.cells(lines[0]) != HEADER:
            raise TableError(f"the first row must be: {' | '.join(HEADER)}")
        for line in lines[1:]:
            cells = self.cells(line)
            if len(cells) != len(HEADER):
                raise TableError(f"not {len(HEADER)} cells: {line}")
            row = Row(cells[0], self.items(cells[2]), self.items(cells[3]))
            for folder in row.may_include:
                if folder not in self.rows:
                    raise TableError(f"{row.folder} may include {folder}, which has no row above")
            self.rows[row.folder] = row
        self.reach, self.test_reach = {}, {}
        for folder, row in self.rows.items():  # rows name only rows above: one pass closes
            always = [f for f, mark in row.may_include.items() if mark == ""]
            direct = [f for f, mark in row.may_include.items() if mark == "(direct)"]
            self.reach[folder] = {folder}.union(*(self.reach[f] for f in always))
            if direct:
                self.reach[folder].update(direct, [BASE])
            self.test_reach[folder] = {folder}.union(*(self.reach[f] for f in row.may_include))

    @staticmethod
    def cells(line):
        return [cell.strip() for cell in line.split("|")]

    @staticmethod
    def items(cell):
        """`a, b (tests)` -> {"a": "", "b": "(tests)"}"""
        items = {}
        for item in [] if cell == "-" else cell.split(","):
            name, _, mark = item.strip().partition(" ")
            if mark not in MARKS:
                raise TableError(f"{item.strip()}: marks are {', '.join(MARKS[1:])}")
            items[name] = mark
        return items

    def folder_of(self, path):
        """The row that speaks for a path below src/: the longest that is a prefix of it."""
        parts = path.split("/")[:-1]
        for length in range(len(parts), 0, -1):
            folder = "/".join(parts[:length])
            if folder in self.rows:
                return folder
        return None


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_file(table, path, text):
    """The violations in one file; `path` is relative to src/."""
    folder = table.folder_of(path)
    if folder is None:
        yield f"src/{path}:1: {path.split('/')[0]} has no row in tools/layers.txt"
        return
    is_test = pathlib.PurePath(path).stem.endswith(("_test", "_testing"))
    reach = (table.test_reach if is_test else table.reach)[folder]
    for match in INCLUDE.finditer(text):
        where = f"src/{path}:{line_of(text, match.start(2))}"
        quoted, name = match.group(1) == '"', match.group(2)
        if quoted and "/" in name:
            other = table.folder_of(name)
            if other is None:
                yield f"{where}: {name} is not below a folder of tools/layers.txt"
            elif other not in reach:
                allowed = ", ".join(sorted(reach - {folder})) or "nothing"
                yield f"{where}: {folder} may not include {other}; it may include {allowed}"
            continue
        if quoted:
            yield f'{where}: write "{folder}/{name}": includes are rooted at src/'
            continue
        library = re.split(r"[-/.]", name)[0]
        for row in table.rows.values():
            if library not in row.libraries:
                continue
            if row.folder != folder:
                yield f"{where}: only {row.folder} may use {library}"
            elif row.libraries[library] == "(tests)" and not is_test:
                yield f"{where}: {library} is for the tests of {folder} only"


def check_tree(root):
    try:
        table = Table((root / "tools/layers.txt").read_text())
    except TableError as error:
        return [f"tools/layers.txt: {error}"]
    problems, used = [], set()
    for file in sorted((root / "src").rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        path = file.relative_to(root / "src").as_posix()
        used.add(table.folder_of(path))
        problems += check_file(table, path, file.read_text())
    for folder in table.rows:
        if folder not in used:
            problems.append(f"tools/layers.txt: {folder} has a row but no sources")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    problems = check_tree(parser.parse_args().root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
