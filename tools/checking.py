"""Shared by the checkers: the files of a tree, and a main function that prints the problems of one."""

import argparse
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def files_of(root, folders, suffixes):
    """Pairs of a path relative to `root`, with slashes, and its pathlib.Path: the files with one of the suffixes
    below the folders, in alphabetical order per folder."""
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in suffixes and file.is_file():
                yield file.relative_to(root).as_posix(), file


def main(check_tree, doc):
    """Prints the problems that `check_tree` finds below --root. Returns the exit code: 1 if there are any."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    problems = check_tree(parser.parse_args().root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0
