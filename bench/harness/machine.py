"""The machine that measures: its description, the processors to use, the load by other processes."""

import hashlib
import os
import platform


def _read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def describe():
    """Name -> value, for display and for the rows of --json."""
    fields = {}
    for line in _read("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    features = set(fields.get("flags", "").split())
    wanted = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile")
    return {
        "cpu": fields.get("model name", platform.machine()),
        "family": f"{fields.get('cpu family', '?')}/{fields.get('model', '?')}",
        "cpus": len(os.sched_getaffinity(0)),
        "isa": " ".join(name for name in wanted if name in features),
        "l2": _read("/sys/devices/system/cpu/cpu0/cache/index2/size"),
        "l3": _read("/sys/devices/system/cpu/cpu0/cache/index3/size"),
        "kernel": platform.release(),
    }


def identity():
    """A short hash that identifies the machine; results of other machines are never reused. Machines with the
    same description count as one if TILEWRIGHT_BENCH_MACHINE gives them the same name: rented machines have
    a new host name each time."""
    parts = [f"{key}={value}" for key, value in sorted(describe().items())]
    name = os.environ.get("TILEWRIGHT_BENCH_MACHINE")
    parts += [name] if name else [_read("/etc/machine-id"), platform.node()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def choose_cpus(threads):
    """The processors for that number of threads, one per core if there are enough; None if there are too
    few."""
    if threads > len(os.sched_getaffinity(0)):
        return None
    groups = cores()
    siblings = max(len(group) for group in groups)
    spread = [group[i] for i in range(siblings) for group in groups if i < len(group)]
    return set(spread[:threads])


def cores():
    """The processors that this process may use, as lists of the hardware threads of a core."""
    found = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        found.setdefault(_read(path) or str(cpu), []).append(cpu)
    return list(found.values())


def busy_ticks(stat, cpus):
    """The time that these processors were not idle, from the text of /proc/stat; of all processors if it does
    not list each of them."""
    fields = {line.split()[0]: line.split()[1:9] for line in stat.splitlines() if line.startswith("cpu")}
    names = [f"cpu{cpu}" for cpu in cpus]
    if not all(name in fields for name in names):
        names = ["cpu"]
    busy = 0
    for name in names:
        ticks = [int(word) for word in fields[name]]
        busy += sum(ticks) - ticks[3] - ticks[4]  # all but idle and waiting for disks
    return busy


class OtherLoad:
    """The number of processors that other processes kept busy since construction, of those that this process
    may use.

    Counts time stolen by the hypervisor too. Ours = this process and the given pids.
    """

    def __init__(self, pids):
        self._pids = [os.getpid(), *pids]
        self._tick_s = 1.0 / os.sysconf("SC_CLK_TCK")
        self._begin = self._now()

    def cpus(self):
        wall, all_busy, ours = (b - a for a, b in zip(self._begin, self._now()))
        return max(0.0, (all_busy - ours) / wall) if wall > 0 else 0.0

    def _now(self):
        busy = busy_ticks(_read("/proc/stat"), os.sched_getaffinity(0))
        ours = 0
        for pid in self._pids:
            text = _read(f"/proc/{pid}/stat")
            if text:
                ours += sum(int(word) for word in text.rsplit(")", 1)[1].split()[11:13])
        wall_s = float(_read("/proc/uptime").split()[0])
        return wall_s, busy * self._tick_s, ours * self._tick_s
