"""Kills tuners during a search, for tests of the content of their stores.

The moment of a kill depends on the number of stored verdicts, so it is about the same on fast and slow
machines. A tuner is faster than its observer by any number of verdicts: a test must hold for all of them.
"""

import collections
import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time

import program

POLL_SECONDS = 0.002
DEADLINE_SECONDS = 120 * program.SLOWDOWN  # for the verdicts before a kill
IN_FLIGHT = 2 * 64  # candidates of rounds that a kill interrupts, at most: of two tasks


def attempts(records):
    """The number of times that each (task, program) was measured outside of finals. No process writes to the
    store. A copy is read, so that SQLite may recover it and the next program recovers the store itself."""
    with tempfile.TemporaryDirectory(prefix="tilewright-deaths-") as folder:
        copy = os.path.join(folder, "records.db")
        shutil.copy(records, copy)
        if os.path.exists(records + "-wal"):
            shutil.copy(records + "-wal", copy + "-wal")
        with contextlib.closing(sqlite3.connect(copy)) as store:
            rows = store.execute(
                "SELECT a.task, c.program FROM attempts a JOIN candidates c ON c.id = a.candidate "
                "JOIN protocols p ON p.id = a.protocol "
                "WHERE p.text NOT LIKE '%interleaved%' AND a.verdict <> 'device'"
            ).fetchall()
    return collections.Counter(rows)


def verdicts_by_now(records):
    """The number of stored verdicts while a tuner is running, at least: 0 if the store cannot be read yet."""
    if os.path.exists(records):
        with contextlib.suppress(sqlite3.OperationalError):
            with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as store:
                return store.execute("SELECT count(*) FROM attempts WHERE verdict <> 'device'").fetchone()[0]
    return 0


def kill_repeatedly(words, records, deaths, trials, rng):
    """Starts the program `deaths` times, and kills it each time when the store has a random number of
    verdicts: at most two thirds of `trials`, and those that it stores in the meantime. The program must not
    end by itself: `words` give it a budget far above `trials`.

    Returns the number of verdicts in the store after each kill. The workers end with the program.
    """
    stored = []
    for death in range(deaths):
        wanted = trials * 0.66 * (death + rng.uniform(0.1, 0.9)) / deaths
        process = program.start(*words, stdout=subprocess.DEVNULL)  # an unread pipe would fill
        try:
            wait_for_verdicts(records, wanted, process)
            time.sleep(rng.uniform(0, 0.02))
        finally:
            process.kill()
            process.wait()
        stored.append(attempts(records).total())
    return stored


def wait_for_verdicts(records, wanted, process):
    """Waits until the store of a running tuner has that many verdicts."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while verdicts_by_now(records) < wanted:
        if process.poll() is not None:
            raise AssertionError(f"the program ended with {process.returncode} before it was killed")
        if time.monotonic() > deadline:
            raise AssertionError(f"{verdicts_by_now(records)} verdicts in {DEADLINE_SECONDS} s, not {wanted}")
        time.sleep(POLL_SECONDS)


def trials_after(stored, trials):
    """The trials of a run that completes a killed search: `trials`, or more if the last kill came late. They
    include the rounds that the kill interrupted, any of whose candidates may have a verdict."""
    return max(trials, stored[-1] + IN_FLIGHT)
