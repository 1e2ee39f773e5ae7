"""Tuners that die in the midst of a search, for the tests of what their stores then hold.

A death is decided by what the store holds, not by a clock: fast and slow machines die alike.
"""

import collections
import contextlib
import os
import sqlite3
import subprocess
import time

import program


def attempts(records):
    """How often each (task, program) was measured by itself, not in finals."""
    with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as store:
        rows = store.execute(
            "SELECT a.task, c.program FROM attempts a JOIN candidates c ON c.id = a.candidate "
            "JOIN protocols p ON p.id = a.protocol "
            "WHERE p.text NOT LIKE '%interleaved%' AND a.verdict <> 'device'"
        ).fetchall()
    return collections.Counter(rows)


def verdicts_by_now(records):
    """While a tuner writes, and perhaps has not made the store's tables yet."""
    if os.path.exists(records):
        with contextlib.suppress(sqlite3.OperationalError):
            return attempts(records).total()
    return 0


def die_in_the_midst(words, records, deaths, trials, rng):
    """Starts it so often, killed each time when the store has as many verdicts as were drawn.

    The verdicts in the store after each death; more at each, and never all of `trials`, unless it
    ended before it could be killed.
    """
    stored = []
    for death in range(deaths):
        wanted = trials * (death + rng.uniform(0.1, 0.7)) / deaths
        process = program.start(*words, stdout=subprocess.DEVNULL)  # a pipe that nobody reads fills
        while process.poll() is None and verdicts_by_now(records) < wanted:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.wait()
        stored.append(verdicts_by_now(records))
    return stored
