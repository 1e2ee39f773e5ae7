"""Alternating rounds: every worker gets one slice per round, in a new random order each round.

A slice counts as the median of its calls. A participant's time is a low quantile of its slices, the same
quantile for all, so occasional disturbances do not affect ratios.
"""

import random
from dataclasses import dataclass, field

from harness.worker import WorkerError, wait_for_rest

MIN_ROUNDS = 20
QUANTILE = 0.10


@dataclass
class Series:
    """The times of one participant over the rounds, or why there are none (`failure`)."""

    slices_ns: list = field(default_factory=list)
    ready: dict = field(default_factory=dict)
    failure: str = ""

    def time_ns(self, q=QUANTILE):
        """None for a failed participant."""
        return None if self.failure or not self.slices_ns else quantile(self.slices_ns, q)


def quantile(values, q):
    """Linear between order statistics: quantile([1, 2, 3, 4, 5], 0.1) = 1.4."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def alternate(workers, rounds, slice_s, seed=1, on_round=None):
    """Runs prepared workers (name -> Worker). Returns name -> Series. A worker that fails is left out of the
    remaining rounds, and its series has the reason; the others continue."""
    rng = random.Random(seed)
    series = {name: Series() for name in workers}
    alive = dict(workers)
    for index in range(rounds):
        order = list(alive)
        rng.shuffle(order)
        for name in order:
            if name not in alive:
                continue
            try:
                _rest(alive, series, except_for=name)
                series[name].slices_ns.append(alive[name].slice(slice_s).p50_ns)
            except WorkerError as error:
                series[name].failure = str(error)
                alive.pop(name).close()
        if on_round:
            on_round(index + 1)
    return series


def _rest(alive, series, except_for):
    """Waits until the others sleep; a worker that never does has failed."""
    for name, worker in list(alive.items()):
        if name != except_for:
            try:
                wait_for_rest([worker])
            except WorkerError as error:
                series[name].failure = str(error)
                alive.pop(name).close()
