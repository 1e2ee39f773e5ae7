"""Tables for display, rows for programs, and results stored between runs on one machine."""

import fcntl
import json
import math
import os

from harness import machine

ABSENT = "–"


def number(value, digits=3):
    """1234.5 -> 1235, 0.8712 -> 0.871, None -> –."""
    if value is None:
        return ABSENT
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.{digits - 1 if abs(value) < 10 else 1}f}"


def duration(nanoseconds):
    """85 ns, 412.3 us, 1.234 ms, 2.5 s, as `tilewright` prints them; None -> –."""
    if nanoseconds is None:
        return ABSENT
    if nanoseconds < 1e3:
        return f"{nanoseconds:.0f} ns"
    for limit, unit in ((1e6, "us"), (1e9, "ms")):
        if nanoseconds < limit:
            return f"{1e3 * nanoseconds / limit:.4g} {unit}"
    return f"{nanoseconds / 1e9:.4g} s"


def percent(value):
    return ABSENT if value is None else f"{100 * value:.1f} %"


def table(header, rows, left=1):
    """The first `left` columns are aligned to the left, the others to the right."""
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row):
        padded = [
            c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def geometric_mean(values):
    """None if there are no values, or if one is unknown."""
    if not values or any(value is None or value <= 0 for value in values):
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def bar_line(what, value, bar, unit, verdict):
    """A figure and its bar."""
    return f"{what:<58}{number(value):>9} {unit:<4} bar {number(bar):>7}  {verdict}"


def machine_line():
    d = machine.describe()
    caches = f"L2 {d['l2']}, L3 {d['l3']}"
    return f"machine: {d['cpu']} ({d['family']}), {d['cpus']} cpus, {d['isa']}, {caches}"


def machine_rows():
    return [{"name": "machine", "metric": k, "value": v} for k, v in machine.describe().items()]


def neighbors():
    """The largest number of benchmarks that ran on other processors at the same time; None: not known."""
    text = os.environ.get("TILEWRIGHT_BENCH_NEIGHBORS")
    return int(text) if text else None


def stated(rows, threads=None):
    """The rows with the processor's name and, unless a row has it, the number of threads; and the neighbors,
    where they are known."""
    common = {"cpu": machine.describe()["cpu"]} | ({"threads": threads} if threads else {})
    if neighbors() is not None:
        common["neighbors"] = neighbors()
    return [common | row for row in rows]


def write_rows(path, rows):
    """Writes an array of {"name", "metric", "value"}; unknown values are left out."""
    known = [row for row in rows if row["value"] is not None]
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in known) + "\n]\n")


def read_rows(path):
    with open(path) as file:
        return json.load(file)


class Kept:
    """Results by case name, valid for one key (a hash of the inputs of the measurement); one file per
    machine."""

    def __init__(self, folder, bench):
        self._path = os.path.join(folder, f"{bench}.{machine.identity()}.json")
        self._entries = self._read()

    def get(self, name, key):
        entry = self._entries.get(name)
        return entry["value"] if entry and entry["key"] == key else None

    def get_any(self, name):
        """The last stored result, under any key."""
        entry = self._entries.get(name)
        return entry["value"] if entry else None

    def put(self, name, key, value):
        """Writes the file at once, so that a killed run loses nothing. Results that other processes have
        stored meanwhile remain in the file."""
        folder = os.path.dirname(self._path)
        os.makedirs(folder, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._entries = self._read() | {name: {"key": key, "value": value}}
            unfinished = f"{self._path}.{os.getpid()}"
            with open(unfinished, "w") as file:
                json.dump(self._entries, file)
            os.replace(unfinished, self._path)
        finally:
            os.close(lock)

    def _read(self):
        try:
            with open(self._path) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}
