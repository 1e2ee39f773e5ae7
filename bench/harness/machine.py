"""The machine that measures: what it is, which processors to use, what else ran meanwhile."""

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
    """Name -> value, for people and for the rows of --json."""
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
    """A short hash that differs between machines; results under another one are never reused."""
    parts = [f"{key}={value}" for key, value in sorted(describe().items())]
    parts += [_read("/etc/machine-id"), platform.node()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def choose_cpus(threads):
    """The processors for that many threads, one per core while cores last; None if too few."""
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        return None
    cores = {}
    for cpu in allowed:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        cores.setdefault(_read(path) or str(cpu), []).append(cpu)
    siblings = max(len(group) for group in cores.values())
    spread = [group[i] for i in range(siblings) for group in cores.values() if i < len(group)]
    return set(spread[:threads])


class OtherLoad:
    """How many processors were busy with something that is not ours since this was made.

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
        fields = [int(word) for word in _read("/proc/stat").splitlines()[0].split()[1:9]]
        busy = sum(fields) - fields[3] - fields[4]  # all but idle and waiting for disks
        ours = 0
        for pid in self._pids:
            text = _read(f"/proc/{pid}/stat")
            if text:
                ours += sum(int(word) for word in text.rsplit(")", 1)[1].split()[11:13])
        wall_s = float(_read("/proc/uptime").split()[0])
        return wall_s, busy * self._tick_s, ours * self._tick_s
