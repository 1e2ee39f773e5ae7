#!/usr/bin/env python3
"""Checks the includes of src/ against tools/layers.txt, which lists the folders that each folder may include.

Every `#include "folder/..."` of a file under src/, or of a folder of tests/ that has a row, must name its own
folder or one that its row allows, transitively; every `#include <library/...>` of a library in the last column
must be in the folder that owns it. Entries marked `(tests)` are for x_test.cc, x_testing.h and x_testing.cc
only. Entries marked `(direct)` allow that folder and base; only tests may also include the folders that it may
include. Each folder of src/ with sources needs a row, and each row a folder with sources.
"""

import pathlib
import re
import sys

import checking

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SUFFIXES = {".h", ".cc", ".c"}
HEADER = ["folder", "purpose", "may include", "third-party only here"]
MARKS = ["", "(tests)", "(direct)"]
BASE = "base"  # every folder may include it


class TableError(Exception):
    pass


class Row:
    """The folders that one folder may include: name -> mark, "" if there is none."""

    def __init__(self, folder, may_include, libraries):
        self.folder = folder
        self.may_include = may_include  # direct ones; Table adds the transitive ones
        self.libraries = libraries


class Table:
    """The rows by folder. `reach` is the transitive closure of the folders that each may include, with
    itself; `test_reach` is the same for its tests."""

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
        for folder, row in self.rows.items():  # rows name only rows above, so one pass is sufficient
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
        """The row for a path as an include names it: the longest one that is a prefix of the path."""
        parts = path.split("/")[:-1]
        for length in range(len(parts), 0, -1):
            folder = "/".join(parts[:length])
            if folder in self.rows:
                return folder
        return None


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_file(table, file, text):
    """The violations in one file; `file` is relative to the root of the tree."""
    path = file.removeprefix("src/")  # as an include names it
    folder = table.folder_of(path)
    if folder is None:
        yield f"{file}:1: {path.split('/')[0]} has no row in tools/layers.txt"
        return
    is_test = pathlib.PurePath(path).stem.endswith(("_test", "_testing"))
    reach = (table.test_reach if is_test else table.reach)[folder]
    for match in INCLUDE.finditer(text):
        where = f"{file}:{line_of(text, match.start(2))}"
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
            top = "src/" if file.startswith("src/") else "the root of the tree"
            yield f'{where}: write "{folder}/{name}": includes are rooted at {top}'
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
    folders = ["src", *(folder for folder in table.rows if folder.startswith("tests/"))]
    for name, file in checking.files_of(root, folders, SUFFIXES):
        used.add(table.folder_of(name.removeprefix("src/")))
        problems += check_file(table, name, file.read_text())
    for folder in table.rows:
        if folder not in used:
            problems.append(f"tools/layers.txt: {folder} has a row but no sources")
    return problems


if __name__ == "__main__":
    sys.exit(checking.main(check_tree, __doc__))
