"""Kills tuners during a search, for tests of the content of their stores.

The moment of a kill depends on the number of stored verdicts, not on a clock, so it is the same on fast and
slow machines.
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


def die_in_the_midst(words, records, deaths, trials, rng):
    """Starts the program `deaths` times, and kills it each time when the store has a random number of
    verdicts, at most two thirds of `trials`. The program must not end by itself: `words` give it a budget far
    above `trials`.

    Returns the number of verdicts in the store after each kill.
    """
    stored = []
    for death in range(deaths):
        wanted = trials * 0.66 * (death + rng.uniform(0.1, 0.9)) / deaths
        process = program.start(*words, stdout=subprocess.DEVNULL)  # an unread pipe would fill
        while verdicts_by_now(records) < wanted:
            if process.poll() is not None:
                raise AssertionError(f"the program ended with {process.returncode} before it was killed")
            time.sleep(POLL_SECONDS)
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.wait()
        stored.append(attempts(records).total())
    return stored
